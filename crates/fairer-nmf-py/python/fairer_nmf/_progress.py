"""What ``verbose`` shows: a bar where tqdm is installed, lines where it is not."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from types import TracebackType
from typing import Any

#: Seconds between two lines.
PAUSE = 0.5
#: Seconds after which somebody who waits is shown how far it is, without having asked.
PATIENCE = 1.0


def listener(verbose: int, max_iterations: int) -> AbstractContextManager[Progress | None]:
    """Give who listens to a fit: nobody, unless `verbose` asks for it."""
    return Progress(max_iterations) if verbose else nullcontext()


def patient() -> AbstractContextManager[Progress | None]:
    """Give who listens to what is computed on the way, as to print an audit: shown where somebody waits for it."""
    return Progress(0, PATIENCE) if somebody_waits() else nullcontext()


def somebody_waits() -> bool:
    """Tell whether this is a terminal or a notebook."""
    return sys.stderr.isatty() or "ipykernel" in sys.modules


class Progress:
    """A listener of a fit."""

    def __init__(self, max_iterations: int, patience: float = 0.0) -> None:
        self._max_iterations = max_iterations
        self._silent_until = time.monotonic() + patience
        self._bar: Any = None
        self._stage = ""
        self._last = 0.0
        try:
            from tqdm.auto import tqdm
        except ImportError:
            tqdm = None
        self._tqdm = tqdm

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.close()

    def __call__(
        self, stage: str, restart: int, restarts: int, done: int, total: int, worst_loss: float
    ) -> None:
        """Show how far a stage is."""
        if time.monotonic() < self._silent_until:
            return
        total = total or self._max_iterations
        title = stage if restarts == 1 else f"{stage} {restart + 1}/{restarts}"
        if self._tqdm is None:
            self._line(title, done, total, worst_loss)
        else:
            self._draw(title, done, total, worst_loss)

    def _draw(self, title: str, done: int, total: int, worst_loss: float) -> None:
        if self._bar is None or self._stage != title:
            if self._bar is not None:
                self._bar.close()
            self._bar, self._stage = self._tqdm(total=total, desc=title), title
        self._bar.n = done
        if worst_loss == worst_loss:
            self._bar.set_postfix_str(f"worst loss {worst_loss:.4f}", refresh=False)
        self._bar.refresh()

    def _line(self, title: str, done: int, total: int, worst_loss: float) -> None:
        now = time.monotonic()
        if self._stage == title and now - self._last < PAUSE:
            return
        self._stage, self._last = title, now
        loss = "" if worst_loss != worst_loss else f", worst loss {worst_loss:.4f}"
        print(f"{title}: {done} of at most {total}{loss}", file=sys.stderr, flush=True)


def counted(jobs: list[Any], verbose: int, title: str) -> Iterator[Any]:
    """Give one job after the other, and show how many are done."""
    with listener(verbose, len(jobs)) as progress:
        for done, job in enumerate(jobs):
            if progress is not None:
                progress(title, 0, 1, done, len(jobs), float("nan"))
            yield job
        if progress is not None:
            progress(title, 0, 1, len(jobs), len(jobs), float("nan"))
