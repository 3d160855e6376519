"""docs/recipes.md, command by command, on files that pandas, openpyxl, SciPy and anndata made."""

import gzip
import json
import pathlib
import re
import shlex
import subprocess

import numpy as np
import pandas as pd
import pytest
import scipy.io
import scipy.sparse
from test_program import PROGRAM

ROOT = pathlib.Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs/recipes.md").read_text()


def survey():
    rng = np.random.default_rng(0)
    n = 120
    sex = rng.choice(["female", "male"], n)
    taste = rng.gamma(2.0, 1.0, (n, 3))
    frame = pd.DataFrame(taste @ rng.random((3, 8)), columns=[f"q{i}" for i in range(1, 9)])
    frame.insert(0, "id", np.arange(5000, 5000 + n))
    frame.insert(1, "date", pd.date_range("2024-01-01", periods=n).strftime("%d.%m.%Y"))
    frame.insert(2, "sex", sex)
    frame.insert(3, "region", rng.choice(["Nord", "Süd", "West"], n))
    frame.insert(4, "income", 1000 + np.round(4000 * rng.random(n), 2))
    frame.loc[np.flatnonzero(sex == "female")[:6], "income"] = np.nan
    return frame


def cells(folder, frame):
    """A folder as Cell Ranger writes it: genes in rows, three packed files."""
    rng = np.random.default_rng(1)
    counts = rng.poisson(rng.gamma(0.5, 1.0, (90, 3)) @ rng.gamma(0.3, 2.0, (3, 40)))
    folder.mkdir()
    scipy.io.mmwrite(folder / "matrix.mtx", scipy.sparse.coo_matrix(counts.T))
    plain = (folder / "matrix.mtx").read_bytes()
    (folder / "matrix.mtx").unlink()
    (folder / "matrix.mtx.gz").write_bytes(gzip.compress(plain))
    genes = "".join(f"ENSG{i:05}\tGENE{i % 39}\tGene Expression\n" for i in range(40))
    (folder / "features.tsv.gz").write_bytes(gzip.compress(genes.encode()))
    barcodes = "".join(f"AAAC{i:04}-1\n" for i in range(90))
    (folder / "barcodes.tsv.gz").write_bytes(gzip.compress(barcodes.encode()))
    pd.DataFrame({"donor": rng.choice(["d1", "d2"], 90)}).to_csv(frame, index=False)
    return counts


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    place = tmp_path_factory.mktemp("recipes")
    frame = survey()
    frame.to_excel(place / "survey.xlsx", index=False)
    written = frame.copy()
    written["income"] = [
        "k.A." if np.isnan(v) else f"{v:,.2f}".translate(str.maketrans(",.", ".,")) + " €"
        for v in frame["income"]
    ]
    written.to_csv(place / "survey.csv", sep=";", decimal=",", index=False, encoding="cp1252")
    words = {"anna": "sea boat wind sail wave", "bert": "field plough corn barn horse"}
    rng = np.random.default_rng(2)
    letters = [
        (author, " ".join(rng.choice([*own.split(), "day", "night", "letter"], 12)))
        for author, own in words.items()
        for _ in range(30)
    ]
    pd.DataFrame(letters, columns=["author", "body"]).to_csv(place / "letters.csv", index=False)
    cells(place / "cells", place / "cells.csv")
    return place


def commands():
    for block in re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL):
        yield from block.replace("\\\n", " ").strip().splitlines()


def program_of(place, *arguments):
    assert PROGRAM, "build the program first: cargo build --release -p fairer-nmf-cli"
    return subprocess.run(
        [PROGRAM, *arguments], cwd=place, capture_output=True, text=True, timeout=300
    )


def test_every_command_of_the_page_works(place):
    found = list(commands())
    assert len(found) >= 10
    for command in found:
        words = shlex.split(command)
        assert words[0] == "fairer-nmf"
        done = program_of(place, *words[1:])
        if "which this build cannot read" in done.stderr:
            assert ".xlsx" in command and "--features excel" in done.stderr
            continue
        # An inspection of a file that a fit would refuse says so with its exit code.
        assert done.returncode == 0 or words[1] == "inspect", (command, done.stderr)
    left = json.loads((place / "survey.json").read_text())["data"]["left_out"]
    assert [(g["group"], g["rows"]) for g in left if g["rows"]] == [("female", 6)]
    scores = pd.read_csv(place / "scores.csv")
    assert scores["id"].tolist() == survey()["id"].tolist()
    assert scores["topic_1"].isna().sum() == 6
    topics = pd.read_csv(place / "cells-topics.csv")
    assert topics["barcode"][0] == "AAAC0000-1" and len(topics) == 90


def test_a_spreadsheet_is_the_same_table(place):
    options = ["--group-by", "sex", "--drop", "id,date", "--one-hot", "region", "--missing"]
    options += ["drop-rows", "--rank", "2", "--no-compare", "--quiet", "--json"]
    done = program_of(place, "fit", "survey.xlsx", *options, "x.json")
    if "which this build cannot read" in done.stderr:
        pytest.skip("built without the feature excel")
    assert done.returncode == 0, done.stderr
    assert program_of(place, "fit", "survey.csv", *options, "c.json").returncode == 0
    sheet, table = (json.loads((place / name).read_text()) for name in ("x.json", "c.json"))
    for a, b in zip(sheet["groups"], table["groups"], strict=True):
        assert a["norm"] == pytest.approx(b["norm"], rel=1e-9)
        assert a["rows"] == b["rows"]


def test_cells_have_the_names_of_their_genes(place):
    done = program_of(place, "inspect", "cells/matrix.mtx.gz", "--groups", "cells.csv:donor")
    assert "--transpose" in done.stderr
    program_of(place, "fit", "cells", "--groups", "cells.csv:donor", "--rank", "2", "--model", "g", "--force")
    done = program_of(place, "topics", "g", "--json", "-")
    names = {f["name"] for t in json.loads(done.stdout)["topics"] for f in t["features"]}
    assert names and all(name.startswith("GENE") for name in names)


def test_the_lines_for_anndata_run(place, monkeypatch):
    anndata = pytest.importorskip("anndata")
    counts = scipy.io.mmread(gzip.open(place / "cells/matrix.mtx.gz")).T.tocsr().astype(float)
    donors = pd.read_csv(place / "cells.csv")
    donors.index = donors.index.astype(str)
    anndata.AnnData(counts, obs=donors).write_h5ad(place / "cells.h5ad")
    done = program_of(place, "fit", "cells.h5ad", "--rank", "2")
    assert done.returncode == 2 and "fairer_nmf.fit_anndata" in done.stderr
    monkeypatch.chdir(place)
    (block,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    names = {}
    exec(compile(block, "docs/recipes.md", "exec"), names)
    assert names["model"].components_.shape == (3, 40)
