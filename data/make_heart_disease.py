"""Rebuild heart_disease.csv from the Orange3 wheel and check it.

    python data/make_heart_disease.py [--wheel FILE] [--check]

Without --wheel the wheel is fetched with `pip download --no-deps` (no install).
The result is compared, row by row, with UCI's processed.cleveland.data where
that file is present. --check compares with the stored CSV and writes nothing.
Needs the standard library only.
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
CSV = HERE / "heart_disease.csv"
ORIGINAL = HERE.parents[1] / "shared/data/heart-disease/processed.cleveland.data"
PACKAGE = "Orange3==3.40.0"
MEMBER = "Orange/datasets/heart_disease.tab"

COLUMNS = ["age", "sex", "cp", "trestbps", "chol", "fbs", "restecg", "thalach",
           "exang", "oldpeak", "slope", "ca", "thal", "disease"]  # fmt: skip

# Orange spells these categories out; the codes are those of heart-disease.names.
CODES = {
    "cp": {"typical ang": "1", "atypical ang": "2", "non-anginal": "3", "asymptomatic": "4"},
    "restecg": {"normal": "0", "ST-T abnormal": "1", "left vent hypertrophy": "2"},
    "slope": {"upsloping": "1", "flat": "2", "downsloping": "3"},
    "thal": {"normal": "3", "fixed defect": "6", "reversable defect": "7"},
    "sex": {"male": "male", "female": "female"},
}
SEX = {"0": "female", "1": "male"}  # UCI: "sex (1 = male; 0 = female)"


def shortest(text):
    """A number as its shortest decimal form: 63.0 -> 63, 2.3 -> 2.3."""
    value = float(text)
    return str(int(value)) if value.is_integer() else repr(value)


def fetch_wheel():
    folder = tempfile.mkdtemp(prefix="orange3-")
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps",
               "--only-binary", ":all:", "--dest", folder, PACKAGE]  # fmt: skip
    subprocess.run(command, check=True)
    return next(pathlib.Path(folder).glob("*.whl"))


def rows_from_wheel(wheel):
    """The 303 rows as lists of text cells; a missing cell is empty."""
    with zipfile.ZipFile(wheel) as archive:
        lines = archive.read(MEMBER).decode("utf-8").splitlines()
    rows = []
    for line in lines[3:]:  # three header lines: names, types, roles
        cells = line.split("\t")
        assert len(cells) == len(COLUMNS), line
        row = []
        for column, cell in zip(COLUMNS, cells):
            if cell in ("", "?"):
                row.append("")
            elif column in CODES:
                row.append(CODES[column][cell])
            else:
                row.append(shortest(cell))
        rows.append(row)
    return rows


def rows_from_original(path):
    """The same table read from UCI's file."""
    rows = []
    for line in path.read_text().split():
        row = ["" if cell == "?" else shortest(cell) for cell in line.split(",")]
        row[1] = SEX[row[1]]
        row[-1] = "1" if int(row[-1]) > 0 else "0"
        rows.append(row)
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--wheel", type=pathlib.Path)
    parser.add_argument("--original", type=pathlib.Path, default=ORIGINAL)
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()

    rows = rows_from_wheel(arguments.wheel or fetch_wheel())
    assert len(rows) == 303, len(rows)
    assert sum("" in row for row in rows) == 6

    if arguments.original.exists():
        original = rows_from_original(arguments.original)
        different = [i for i, pair in enumerate(zip(rows, original), 1) if pair[0] != pair[1]]
        if len(rows) != len(original) or different:
            sys.exit(f"differs from {arguments.original} in rows {different}")
        print(f"equal, in the same order, to {arguments.original}")
    else:
        print(f"{arguments.original} is absent: not compared")

    text = "".join(",".join(row) + "\n" for row in [COLUMNS, *rows])
    if arguments.check:
        if CSV.read_text() != text:
            sys.exit(f"{CSV} differs from the wheel")
        print(f"{CSV} is up to date")
    else:
        CSV.write_text(text)
        print(f"wrote {CSV}")


if __name__ == "__main__":
    main()
