"""The charts of the page as Matplotlib figures."""

import numpy as np
import pytest

from fairer_nmf import FairerNMF, audit, sweep
from fairer_nmf.datasets import load_heart_disease

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")


@pytest.fixture(scope="module")
def report():
    heart = load_heart_disease()
    s = heart.sensitive_features
    model = FairerNMF(3, method="standard", random_state=0).fit(heart.data, sensitive_features=s)
    return audit(heart.data, model, sensitive_features=s).report(draws=50, permutations=50)


def test_there_is_a_figure_for_every_chart_of_the_page(report):
    stems = {name.rsplit(".", 1)[0] for name in report.charts()}
    figures = report.figures()
    assert set(figures) == stems and len(stems) == 6
    for figure in figures.values():
        figure.canvas.draw()
        assert figure.axes[0].has_data()


def test_the_first_figure_shows_the_numbers_of_the_report(report):
    axes = report.plot("who-pays")
    table = report.to_frame()
    models = list(dict.fromkeys(table.index.get_level_values("model")))
    lines = {line.get_label(): line for line in axes.get_lines() if line.get_label() in models}
    assert set(lines) == set(models)
    groups = [label.get_text() for label in axes.get_yticklabels()]
    for model, line in lines.items():
        losses = [table.loc[(group, model), "loss"] for group in groups]
        np.testing.assert_allclose(line.get_xdata(), losses)
    # The band of chance under each group.
    bands = {round(bar.get_x(), 12) for bar in axes.patches}
    assert bands == {round(low, 12) for low in table.xs(models[0], level="model")["chance_low"]}


def test_a_chart_is_drawn_where_one_says(report):
    from matplotlib.figure import Figure

    axes = Figure().add_subplot()
    assert report.plot("trade-off", ax=axes) is axes
    with pytest.raises(ValueError, match="'who-pays'"):
        report.plot("pie")


def test_labels_are_text_and_a_chart_that_is_not_there_is_said():
    rng = np.random.default_rng(0)
    s = np.repeat(["$x$ and $\\frac", "b_2 <i>"], 20)
    found = audit(rng.random((40, 5)), rng.random((2, 5)), sensitive_features=s)
    report = found.report(draws=0, permutations=0, compare=False)
    figures = report.figures()
    figures["who-pays"].canvas.draw()
    assert "trade-off" not in figures
    with pytest.raises(ValueError, match="nothing for the chart 'trade-off'"):
        report.plot("trade-off")


def test_a_sweep_has_a_figure_per_method_and_measure():
    rng = np.random.default_rng(1)
    s = np.repeat([1, 2, 3], 15)
    found = sweep(
        rng.random((45, 6)), [1, 2], sensitive_features=s, methods=["standard", "am"], trials=2
    )
    figures = found.figures()
    assert set(figures) == {f"{m}-by-rank-{k}" for m in ("loss", "error") for k in ("standard", "am")}
    axes = figures["loss-by-rank-am"].axes[0]
    records = found.records[found.records["method"] == "am"]
    names = records.columns[records.columns.get_loc("seed") + 1]
    means = records[records[names] == 2].groupby("rank")["loss"].mean()
    (line,) = [line for line in axes.get_lines() if line.get_label() == "2"]
    np.testing.assert_allclose(line.get_ydata(), means)
