"""The charts of the page as Matplotlib axes, from the content that the page is made of."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

Content = dict[str, Any]

# The palette of the page: told apart by colour-blind readers, and by the shape beside it.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#b5578b", "#6a35c9", "#2b2b2b", "#8a8a3c")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
CHANCE = "#d9d9d9"


def new_axes(rows: int = 8) -> Axes:
    """Make axes in a figure of their own, as high as that many rows need.

    The figure is not pyplot's: nothing has to be closed, and a loop over many reports holds none.
    """
    from matplotlib.figure import Figure

    return Figure(figsize=(7, 1.2 + 0.35 * rows), layout="constrained").add_subplot()


def axes_or(ax: Any, size: tuple[float, float]) -> Any:
    """Give the axes, or those of a new figure of this size in inches."""
    if ax is not None:
        return ax
    from matplotlib import pyplot

    return pyplot.subplots(figsize=size)[1]


def names_down(axes: Axes, names: list[str]) -> None:
    """Write labels from the top down, as text: a label may hold what Matplotlib reads as maths."""
    axes.set_yticks(range(len(names)), names, parse_math=False)
    axes.set_ylim(len(names) - 0.5, -0.5)


def in_percent(axis: Any) -> None:
    """Show shares as the page does."""
    from matplotlib.ticker import MaxNLocator, PercentFormatter

    axis.set_major_locator(MaxNLocator(5))
    axis.set_major_formatter(PercentFormatter(1.0))


def legend(axes: Axes) -> None:
    """Name the series, as text, above the picture: nothing is hidden behind it."""
    place: dict[str, Any] = {"loc": "lower left", "bbox_to_anchor": (0.0, 1.0), "ncols": 2}
    if axes.get_legend_handles_labels()[1]:
        for text in axes.legend(frameon=False, fontsize="small", **place).get_texts():
            text.set_parse_math(False)


def style(index: int, models: int) -> tuple[str, str]:
    """Colour and marker of a model: the one reported on is blue, the reference vermilion."""
    place = 0 if index == models - 1 else 1 if index == 0 else index + 1
    return COLOURS[place % len(COLOURS)], MARKERS[place % len(MARKERS)]


def by_loss(content: Content) -> list[dict[str, Any]]:
    """Give the groups from the largest loss under the first model to the smallest."""
    groups: list[dict[str, Any]] = content["who_pays"]["groups"]
    return sorted(groups, key=lambda group: -group["results"][0]["loss"])


def loss_axes(content: Content, axes: Axes | None, *, intervals: bool) -> Axes | None:
    """Draw every group's loss under every model."""
    low, high = ("loss_low", "loss_high") if intervals else ("chance_low", "chance_high")
    groups, models = by_loss(content), content["models"]
    if intervals:
        groups = [g for g in groups if any(r.get(low) is not None for r in g["results"])]
    if not groups:
        return None
    axes = axes if axes is not None else new_axes(len(groups))
    names_down(axes, [group["name"] for group in groups])
    axes.axvline(0.0, color="#888888", linewidth=0.8)
    bands = [(at, g["results"][0]) for at, g in enumerate(groups)] if not intervals else []
    bands = [(at, first) for at, first in bands if first.get(low) is not None]
    for at, first in bands:
        label = "random groups of the same size" if at == bands[0][0] else None
        width = first[high] - first[low]
        axes.barh(at, width, left=first[low], height=0.6, color=CHANCE, label=label, zorder=0)
    for index, model in enumerate(models):
        colour, marker = style(index, len(models))
        shown: list[tuple[float, Any]] = [
            (at, group["results"][index])
            for at, group in enumerate(groups)
            if not intervals or group["results"][index].get(low) is not None
        ]
        if not shown:
            continue
        if intervals:
            # Models side by side within the row, so that no interval hides another.
            shift = 0.5 * (index + 0.5) / len(models) - 0.25
            shown = [(at + shift, result) for at, result in shown]
            for place, result in shown:
                axes.hlines(place, result[low], result[high], color=colour, linewidth=1.5)
        losses = [result["loss"] for _, result in shown]
        if intervals and content["is_it_real"]["draws"][index]["bootstrap"] is None:
            # On samples not seen the middle is to be expected, not the loss in the sample.
            losses = [0.5 * (result[low] + result[high]) for _, result in shown]
        places = [at for at, _ in shown]
        axes.plot(losses, places, marker, color=colour, label=model["name"])
    level = f", with {content['is_it_real']['level']:.0%} interval" if intervals else ""
    axes.set_xlabel(f"loss: more is lost than with a model of its own{level}")
    in_percent(axes.xaxis)
    legend(axes)
    return axes


def who_pays(content: Content, axes: Axes | None) -> Axes | None:
    """Losses of every group, over the band of chance."""
    return loss_axes(content, axes, intervals=False)


def is_it_real(content: Content, axes: Axes | None) -> Axes | None:
    """Losses with their intervals."""
    return loss_axes(content, axes, intervals=True) if content.get("is_it_real") else None


def trade_off(content: Content, axes: Axes | None) -> Axes | None:
    """Total error against worst loss, from all of one to all of the other."""
    curve = (content.get("cost") or {}).get("curve") or []
    if len(curve) < 2:
        return None
    axes = axes if axes is not None else new_axes()
    total, worst = ([point[key] for point in curve] for key in ("total_error", "worst_criterion"))
    axes.plot(total, worst, "o-", color=COLOURS[0])
    for point, said in ((curve[0], "α = 0: total only"), (curve[-1], "α = 1: worst group only")):
        place = (point["total_error"], point["worst_criterion"])
        axes.annotate(said, place, xytext=(6, 6), textcoords="offset points", fontsize="small")
    axes.set(xlabel="total error", ylabel=f"worst {content['cost']['criterion']}")
    in_percent(axes.xaxis)
    in_percent(axes.yaxis)
    return axes


def better_and_worse_off(content: Content, axes: Axes | None) -> Axes | None:
    """Change of every group's error under Fairer-NMF."""
    changes = (content.get("cost") or {}).get("changes") or []
    if not changes:
        return None
    changes = sorted(changes, key=lambda change: -change["change"])
    axes = axes if axes is not None else new_axes(len(changes))
    names_down(axes, [change["group"] for change in changes])
    colours = [COLOURS[1] if change["change"] > 0 else COLOURS[0] for change in changes]
    axes.barh(range(len(changes)), [change["change"] for change in changes], color=colours)
    axes.axvline(0.0, color="#888888", linewidth=0.8)
    axes.set_xlabel("change of error: right is worse off, left better")
    in_percent(axes.xaxis)
    return axes


def convergence(content: Content, axes: Axes | None) -> Axes | None:
    """Worst loss after each iteration."""
    fits = [fit for fit in (content.get("quality") or {}).get("fits", []) if fit["history"]]
    longest = max((len(fit["history"]) for fit in fits), default=0)
    if longest < 2:
        return None
    axes = axes if axes is not None else new_axes()
    models = [model["name"] for model in content["models"]]
    for at, fit in enumerate(fits):
        index = models.index(fit["model"]) if fit["model"] in models else at
        colour, _ = style(index, len(models))
        axes.plot(range(1, len(fit["history"]) + 1), fit["history"], color=colour, label=fit["model"])
    if longest > 30:
        axes.set_xscale("log")
    axes.set(xlabel="iteration", ylabel=f"worst {content['quality']['criterion']}")
    in_percent(axes.yaxis)
    legend(axes)
    return axes


def topic_use(content: Content, axes: Axes | None) -> Axes | None:
    """How much each group uses each topic."""
    topics = (content.get("topics") or {}).get("topics") or []
    if not any(topic["usage"] for topic in topics):
        return None
    names = [group["name"] for group in content["who_pays"]["groups"]]
    share = [{use["group"]: use["share"] for use in topic["usage"]} for topic in topics]
    values = [[uses.get(name, float("nan")) for uses in share] for name in names]
    axes = axes if axes is not None else new_axes(len(names))
    picture = axes.imshow(values, cmap="Blues", vmin=0.0, aspect="auto")
    axes.set_yticks(range(len(names)), names, parse_math=False)
    labels = [topic["name"] for topic in topics]
    axes.set_xticks(range(len(topics)), labels, rotation=45, ha="right", parse_math=False)
    figure = axes.get_figure()
    if figure is not None:
        bar = figure.colorbar(picture, ax=axes, label="share of weight")
        in_percent(bar.ax.yaxis)
    return axes


def over_ranks(records: pd.DataFrame, features: list[Any], column: str) -> Axes:
    """Draw a column's mean and standard deviation over trials, for every group of a sweep."""
    axes = new_axes()
    for at, (group, table) in enumerate(records.groupby(features, sort=False)):
        values = table.groupby("rank")[column].agg(["mean", "std"]).fillna({"std": 0.0})
        colour, marker = COLOURS[at % len(COLOURS)], MARKERS[at % len(MARKERS)]
        names = group if isinstance(group, tuple) else (group,)
        label = ", ".join(str(name) for name in names)
        axes.plot(values.index, values["mean"], f"{marker}-", color=colour, label=label)
        low, high = values["mean"] - values["std"], values["mean"] + values["std"]
        axes.fill_between(values.index, low, high, color=colour, alpha=0.15, linewidth=0)
    axes.set_xlabel("rank")
    in_percent(axes.yaxis)
    legend(axes)
    return axes


# In the order of the page, under the names of its files.
CHARTS: dict[str, Callable[[Content, Any], Any]] = {
    "who-pays": who_pays,
    "is-it-real": is_it_real,
    "trade-off": trade_off,
    "better-and-worse-off": better_and_worse_off,
    "convergence": convergence,
    "topic-use": topic_use,
}


def draw(content: Content, chart: str, axes: Axes | None) -> Axes:
    """Draw one chart of a report."""
    if chart not in CHARTS:
        raise ValueError(f"chart is {chart!r}: expected one of {', '.join(map(repr, CHARTS))}")
    drawn: Axes | None = CHARTS[chart](content, axes)
    if drawn is None:
        raise ValueError(f"this report has nothing for the chart {chart!r}")
    return drawn


def figures(content: Content) -> dict[str, Any]:
    """Draw every chart that a report has, each as a figure of its own."""
    drawn = {name: chart(content, None) for name, chart in CHARTS.items()}
    return {name: axes.get_figure() for name, axes in drawn.items() if axes is not None}
