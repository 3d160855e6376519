"""The report of an audit: its page, the same as JSON, and its charts as files."""

from __future__ import annotations

import html
import json
import os
import pathlib
from typing import TYPE_CHECKING, Any, NamedTuple

from fairer_nmf import _core, _data, _figures
from fairer_nmf._progress import listener, patient
from fairer_nmf._remarks import warn_of_rise

if TYPE_CHECKING:
    import pandas as pd


def in_words(verdict: dict[str, Any]) -> list[str]:
    """Give the verdict's sentence, and what a reader has to know besides."""
    return [verdict["sentence"], *(note["sentence"] for note in verdict.get("notes", []))]


def first(said: list[str]) -> str:
    """What is said first as HTML: the verdict's sentence, and the rest below it."""
    sentence, *notes = (html.escape(line) for line in said)
    return f"<p><b>{sentence}</b></p>" + "".join(f"<p>{note}</p>" for note in notes)


class Subject(NamedTuple):
    """What was audited; the data are the caller's, not a copy."""

    X: Any
    groups: _data.Groups
    dictionary: _core.Dictionary
    settings: _core.ReportSettings


class Report:
    """All that an audit has to say, computed once; made by :meth:`Audit.report`.

    Printed and in a notebook it begins with the verdict.
    """

    def __init__(self, found: _core.Report) -> None:
        self._found = found

    def html(self) -> str:
        """Give the report as one self-contained HTML page, as the program writes it."""
        return self._found.html()

    def json(self) -> str:
        """Give what the page shows as JSON: what the program writes as `report`.

        docs/report.md names the fields, docs/schema/report.json is their schema. Numbers that do
        not exist are null.
        """
        return self._found.json()

    def to_dict(self) -> dict[str, Any]:
        """Give the content of :meth:`json` as dicts and lists."""
        content: dict[str, Any] = json.loads(self.json())
        return content

    def charts(self) -> dict[str, bytes]:
        """Give the charts of the page by the names of their files, each as SVG and as PNG."""
        return dict(self._found.charts())

    def figures(self) -> dict[str, Any]:
        """Draw the charts of the page with Matplotlib, to be changed and saved as one likes.

        Returns
        -------
        dict of str to matplotlib.figure.Figure
            Under the names of :meth:`charts`, without their endings: "who-pays", "is-it-real",
            "trade-off", "better-and-worse-off", "convergence", "topic-use"; those that the page
            has.
        """
        return _figures.figures(self.to_dict())

    def plot(self, chart: str = "who-pays", ax: Any = None) -> Any:
        """Draw one chart of the page with Matplotlib.

        Parameters
        ----------
        chart : str, default="who-pays"
            One of the names of :meth:`figures`.
        ax : matplotlib.axes.Axes, optional
            Where to draw; a new figure if absent.

        Returns
        -------
        matplotlib.axes.Axes
            The axes.
        """
        return _figures.draw(self.to_dict(), chart, ax)

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> list[pathlib.Path]:
        """Write the report to a file, or its charts into a folder.

        Parameters
        ----------
        path : path
            `….html` for the page, `….json` for its content, a folder (made if it is not there)
            for the charts.
        overwrite : bool, default=False
            Replace files that exist.

        Returns
        -------
        list of pathlib.Path
            The files.
        """
        place = pathlib.Path(path)
        kind = place.suffix.lower()
        if kind in (".html", ".htm"):
            files = {place: self.html().encode()}
        elif kind == ".json":
            files = {place: self.json().encode()}
        elif kind and not place.is_dir():
            raise ValueError(
                f"{place}: give a name that ends in .html or .json, or a folder for the charts"
            )
        else:
            place.mkdir(exist_ok=True)
            files = {place / name: content for name, content in self.charts().items()}
        there = [file for file in files if file.exists()]
        if there and not overwrite:
            raise FileExistsError(f"{there[0]} exists: give another name, or overwrite=True")
        for file, content in files.items():
            file.write_bytes(content)
        return list(files)

    @property
    def verdict(self) -> dict[str, Any]:
        """What is said first: `code`, `group`, `excess_loss`, `adjusted_p`, `sentence` and more."""
        found: dict[str, Any] = self.to_dict()["verdict"]
        return found

    def to_frame(self) -> pd.DataFrame:
        """Give one row per group and model, with the names of the JSON."""
        import pandas as pd

        content = self.to_dict()
        models = [model["name"] for model in content["models"]]
        rows = [
            {"group": group["name"], "model": model, "rows": group["rows"], **result}
            for group in content["who_pays"]["groups"]
            for model, result in zip(models, group["results"], strict=True)
        ]
        return pd.DataFrame(rows).set_index(["group", "model"])

    def __repr__(self) -> str:
        content = self.to_dict()
        said = "\n".join(in_words(content["verdict"]))
        return (
            f"{said}\n"
            f"<Report of {content['data']['groups']} groups: {content['title']}>"
        )

    def _repr_html_(self) -> str:
        verdict = self.verdict
        columns = ["rows", "relative_error", "loss", "chance_mean", "chance_low", "chance_high"]
        columns += ["excess_loss", "difference", "adjusted_p"]
        frame = self.to_frame()
        table: str = frame[[c for c in columns if c in frame]].to_html(
            float_format="{:.4f}".format, na_rep="–"
        )
        return first(in_words(verdict)) + table


class Pages:
    """What an audit says in full, for people and for programs."""

    _subject: Subject
    #: What the audit was asked to show.
    _verbose = 0

    def report(
        self,
        title: str | None = None,
        *,
        draws: int = 2000,
        permutations: int = 2000,
        folds: int = 5,
        compare: bool = True,
        level: float = 0.95,
        matters: float = 0.05,
        min_group_size: int = 0,
        chance_draws: int = 40,
        chance_time: float = 60.0,
        refit: int = 0,
        fitted_by: str | None = None,
        verbose: int | None = None,
    ) -> Report:
        """Find all that there is to say, once: page, JSON and charts are made of it.

        It says who pays, whether it is real, what fairness would cost and whom, how good the fit
        is, and what the topics are. The code behind it is that of the program `fairer-nmf`.

        Parameters
        ----------
        title : str, optional
            Heading of the page; "Audit", with the names of the sensitive features where they have any.
        draws : int, default=2000
            Bootstrap draws with the dictionary fixed; the report shows intervals that hold for small
            groups too in their place. 0 leaves them out.
        permutations : int, default=2000
            Random groups behind the test; 0 leaves it out.
        folds : int, default=5
            Folds of the held-out baselines, at least 2; 0 leaves them out.
        compare : bool, default=True
            Fit standard NMF and Fairer-NMF of the same rank and set them beside the dictionary:
            who would be better and worse off under Fairer-NMF, the trade-off between total error
            and worst loss, topics matched with those of standard NMF.
        level : float, default=0.95
            Level of the intervals and of the verdict.
        matters : float, default=0.05
            The difference between a group's loss and the others' that would matter: the verdict
            rules it out, or says that the rows are too few to.
        min_group_size : int, default=0
            Groups with fewer rows appear nowhere in the report, and no totals with them.
        chance_draws : int, default=40
            Random groups drawn of every size, what chance would show: 20 at least; 0 leaves them out.
        chance_time : float, default=60
            Seconds at the most for those draws.
        refit : int, default=0
            Bootstrap draws in which baselines and dictionary, also those it is compared with, are
            fitted anew, so that the luck of the fit counts too, for a second interval of every loss
            (`refit_loss_low`, `refit_loss_high`), and draws of the test of standard NMF with new
            baselines (slow).
        fitted_by : {"standard", "am", "mu"}, optional
            How the dictionary was fitted, for `refit`: "standard" is any usual NMF, such as
            scikit-learn's; "am" and "mu" are the methods of :class:`FairerNMF`.
        verbose : int, optional
            1 shows progress, 0 does not. By default it is shown where the audit was asked for it, and
            in a terminal or a notebook once it takes longer than a second.

        Returns
        -------
        Report
            With `html()`, `json()`, `to_dict()`, `charts()` and `save(path)`.

        Examples
        --------
        >>> from sklearn.decomposition import NMF
        >>> from fairer_nmf import audit
        >>> from fairer_nmf.datasets import load_heart_disease
        >>> heart = load_heart_disease()
        >>> H = NMF(2, max_iter=1000, random_state=0).fit(heart.data).components_
        >>> found = audit(heart.data, H=H, sensitive_features=heart.sensitive_features)
        >>> report = found.report("Heart Disease by sex", draws=100, permutations=100)
        >>> report.html().startswith("<!doctype html>"), report.to_dict()["title"]
        (True, 'Heart Disease by sex')
        """
        refit = _data.count("refit", refit, least=0)
        if refit and fitted_by not in ("standard", "am", "mu"):
            raise ValueError(
                f"fitted_by is {fitted_by!r}: to refit a dictionary, say how it was fitted, "
                "'standard' (any usual NMF, such as scikit-learn's), 'am' or 'mu'"
            )
        X, groups, dictionary, settings = self._subject
        if groups.members is not None and (refit or min_group_size):
            raise ValueError(
                "refit and min_group_size do not go with groups that overlap: draws of rows would tear "
                "them apart, and one would tell what is hidden of another"
            )
        if refit and dictionary[1] is not None:
            raise ValueError("refit finds the coordinates anew: leave W out of the audit")
        settings = {
            **settings,
            "title": settings["title"] if title is None else title,
            "draws": _data.count("draws", draws, least=0),
            "permutations": _data.count("permutations", permutations, least=0),
            "folds": _data.count("folds", folds, least=0),
            "compare": bool(compare),
            "level": _data.number("level", level),
            "matters": _data.number("matters", matters),
            "min_group_size": _data.count("min_group_size", min_group_size, least=0),
            "chance_draws": _data.count("chance_draws", chance_draws, least=0),
            "chance_time": _data.number("chance_time", chance_time),
            "refit": refit,
            "fitted_by": fitted_by,
        }
        asked = self._verbose if verbose is None else verbose
        shown = patient() if verbose is None and not asked else listener(asked, 0)
        with shown as progress:
            found = Report(_core.report(X, groups, dictionary, settings, progress))
        warn_of_rise(found.to_dict()["warnings"])
        return found
