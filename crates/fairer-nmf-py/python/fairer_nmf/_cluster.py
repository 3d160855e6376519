"""Questions to shares of the rows that Dask workers hold, and the sums of their answers.

Questions and answers are the library's (`rows/request.rs`); here they are only carried. A share is a
future like any other, so that Dask makes it anew where its worker is lost. It then has rows but no W,
says so, and is asked again with the whole question, which tells how to make W.
"""

from __future__ import annotations

import itertools
import threading
import uuid
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from distributed import CancelledError, Client, KilledWorker, TimeoutError, wait
from distributed.client import ClosedClientError
from distributed.comm.core import CommClosedError
from numpy.typing import NDArray
from scipy import sparse

from fairer_nmf import _core, _data

#: Answers that one task, or the driver at the end, adds up.
FAN_IN = 8
#: Bytes of questions that are sent with every task; larger ones are a task of their own.
LARGE = 1 << 18
#: Seconds between two looks at whether anybody is still at work, and looks without a worker.
LOOK = 1.0
PATIENCE = 120
#: Questions under way at a time: the runs of baselines and restarts beside each other.
AT_A_TIME = 8

#: What Dask raises where workers or the scheduler are gone.
LOST = (CancelledError, ClosedClientError, KilledWorker, CommClosedError)
#: The sum of the answers to a question, if anybody had one, and the shares that had lost their W.
Answer = tuple[NDArray[np.float64] | None, list[int]]


class Part(NamedTuple):
    """A partition: rows, the number of every row's group and of all groups, and of its first row."""

    X: Any
    codes: NDArray[np.int64]
    groups: int
    first: int


class Held:
    """The shares of some partitions, on a worker; the library checks their entries.

    Its pickle has the rows and no W.
    """

    def __init__(self, number: int, partitions: list[int], parts: list[Part]) -> None:
        self._made_of = (number, partitions, parts)
        self.number = number
        self.shares = []
        for partition, part in zip(partitions, parts, strict=True):
            try:
                # What came over the network may lie anywhere in memory.
                self.shares.append(_core.Share(_data.native(part.X), *part[1:]))
            except ValueError as error:
                last = part.first + part.X.shape[0] - 1
                raise ValueError(
                    f"partition {partition} (rows {part.first} to {last} of the data): {error}"
                ) from None

    def __reduce__(self) -> Any:
        return Held, self._made_of

    def __sizeof__(self) -> int:
        return sum(nbytes(part.X) for part in self._made_of[2])

    def answer(self, questions: list[bytes], threads: int) -> list[Answer]:
        """Answer questions with the sums over the partitions."""
        by_share = [share.answer(questions, threads) for share in self.shares]
        answers: list[Answer] = []
        for parts in zip(*by_share, strict=True):
            known = [part for part in parts if part is not None]
            # Some have W, others not: all make it anew.
            whole = len(known) == len(parts)
            answers.append((_added(known), []) if whole else (None, [self.number]))
        return answers


def nbytes(X: Any) -> int:
    """Give the memory of rows."""
    arrays = (X.data, X.indices, X.indptr) if sparse.issparse(X) else (X,)
    return sum(int(array.nbytes) for array in arrays)


def answer(held: Held, questions: list[bytes], threads: int) -> list[Answer]:
    """Answer on a worker."""
    return held.answer(questions, threads)


def merge(*partial: list[Answer]) -> list[Answer]:
    """Add up answers, in their order."""
    merged = []
    for answers in zip(*partial, strict=True):
        known = [numbers for numbers, _ in answers if numbers is not None]
        lost = [number for _, numbers in answers for number in numbers]
        merged.append((_added(known) if known else None, lost))
    return merged


def _added(parts: list[NDArray[np.float64]]) -> NDArray[np.float64]:
    if len(parts) == 1:
        return parts[0]
    total = parts[0].copy()
    for part in parts[1:]:
        total += part
    return total


def same(questions: list[bytes]) -> list[bytes]:
    """Hold questions on a worker, from where the others fetch them."""
    return questions


class _Entry:
    """A question that waits for its round."""

    def __init__(self, question: bytes, whole: Callable[[], bytes]) -> None:
        self.question = question
        self.whole = whole
        self.done = threading.Event()
        self.sum: NDArray[np.float64] | None = None
        self.error: BaseException | None = None


class Rounds:
    """Carries questions to all shares, those that wait together in one round.

    Attributes
    ----------
    rounds, questions : int
        How many there were.
    sent, received : int
        Bytes of questions, once for every share, and of the answers that reached the driver.
    """

    def __init__(self, client: Client, held: list[Any]) -> None:
        self._client = client
        self._held = held
        self._pending: list[_Entry] = []
        self._wake = threading.Condition()
        self._closed = False
        self._name = uuid.uuid4().hex[:8]
        self._attempts = itertools.count()
        self._places: dict[int, str] = {}
        self._threads: dict[str, int] = {}
        self.rounds = self.questions = self.sent = self.received = 0
        self._thread = threading.Thread(target=self._work, name="fairer-nmf-rounds", daemon=True)
        self._thread.start()

    def __enter__(self) -> Rounds:
        return self

    def __exit__(self, *_: object) -> None:
        with self._wake:
            self._closed = True
            self._wake.notify()
        self._thread.join()

    def traffic(self) -> dict[str, int]:
        """Give what was sent and received so far."""
        names = ("rounds", "questions", "sent", "received")
        return {name: int(getattr(self, name)) for name in names}

    def ask(self, question: bytes, whole: Callable[[], bytes]) -> NDArray[np.float64]:
        """Give the sum of all shares' answers; may be called from many threads."""
        entry = _Entry(question, whole)
        with self._wake:
            self._pending.append(entry)
            self._wake.notify()
        entry.done.wait()
        if entry.error is not None:
            raise entry.error
        assert entry.sum is not None, "a round gives sums or errors"
        return entry.sum

    def _work(self) -> None:
        while True:
            with self._wake:
                while not self._pending and not self._closed:
                    self._wake.wait()
                batch, self._pending = self._pending, []
            if not batch:
                return
            try:
                self._round(batch)
            except BaseException as error:  # the threads that wait raise it
                for entry in batch:
                    entry.error = error
            for entry in batch:
                entry.done.set()

    def _round(self, batch: list[_Entry]) -> None:
        """Ask all shares."""
        self.rounds += 1
        self.questions += len(batch)
        questions = [entry.question for entry in batch]
        answers = self._asked(list(range(len(self._held))), questions)
        for entry, (total, lost) in zip(batch, answers, strict=True):
            if lost:
                ((again, still_lost),) = self._asked(sorted(lost), [entry.whole()])
                if still_lost or again is None:
                    raise RuntimeError(
                        f"partitions {sorted(still_lost)} could not make their rows of W anew: "
                        "this is a fault of fairer-nmf, please report it"
                    )
                total = again if total is None else _added([total, again])
            entry.sum = total

    def _asked(self, held: list[int], questions: list[bytes]) -> list[Answer]:
        """Send questions to shares, and bring back the sums of the answers.

        A worker that leaves ends the attempt. The next goes to where Dask has made its shares anew;
        the others answer again what they have answered.
        """
        self.sent += sum(map(len, questions)) * len(held)
        while True:
            try:
                futures = self._submitted(held, questions)
                partial = gathered(self._client, futures, lambda: self._stay(held))
                break
            except _Moved:
                continue
            except LOST as error:
                raise explained(self._client, error) from error
        for answers in partial:
            self.received += sum(a.nbytes for a, _ in answers if a is not None)
        return merge(*partial)

    def _submitted(self, held: list[int], questions: list[bytes]) -> list[Any]:
        """Give the futures of the last sums, of which the driver makes one."""
        client, attempt = self._client, next(self._attempts)
        given: Any = questions
        if sum(map(len, questions)) * len(held) > LARGE:
            key = f"fairer_nmf_questions-{self._name}-{attempt}"
            given = client.submit(same, questions, key=key)
        by_worker: dict[str, list[int]] = {}
        for number, place in zip(held, self._located(held), strict=True):
            by_worker.setdefault(place, []).append(number)
        answers: dict[int, Any] = {}
        for worker, numbers in by_worker.items():
            # Tied to its worker: a copy of a share elsewhere would have no W.
            made = client.map(
                answer,
                [self._held[number] for number in numbers],
                [given] * len(numbers),
                # All threads of the worker, where it has fewer shares than threads.
                threads=max(1, self._threads.get(worker, 1) // len(numbers)),
                # What is before the first dash is a line of the dashboard.
                key=[f"fairer_nmf_round_{attempt}-{self._name}-{number}" for number in numbers],
                workers=[worker],
                pure=False,
            )
            answers.update(zip(numbers, made, strict=True))
        futures = [answers[number] for number in held]
        for level in itertools.count():
            if len(futures) <= FAN_IN:
                return futures
            groups = [futures[i : i + FAN_IN] for i in range(0, len(futures), FAN_IN)]
            key = f"fairer_nmf_merge-{self._name}-{attempt}-{level}"
            futures = [client.submit(merge, *g, key=f"{key}-{i}") for i, g in enumerate(groups)]
        raise AssertionError("unreachable: every level is shorter than the last")

    def _located(self, held: list[int]) -> list[str]:
        """Give the worker of every share, once all of them are there."""
        if any(number not in self._places for number in held):
            futures = [self._held[number] for number in held]
            gathered(self._client, futures, None, results=False)
            places = self._client.who_has(futures)
            self._threads = self._client.nthreads()
            for number in held:
                holders = places.get(self._held[number].key)
                if holders:
                    self._places[number] = min(holders)
            return self._located(held)
        return [self._places[number] for number in held]

    def _stay(self, held: list[int]) -> None:
        """End the attempt if a worker of its shares is gone."""
        there = set(self._client.nthreads())
        gone = [number for number in held if self._places[number] not in there]
        for number in gone:
            del self._places[number]
        if gone:
            raise _Moved


class _Moved(Exception):
    """A worker has left."""


def gathered(
    client: Client,
    futures: list[Any],
    look: Callable[[], None] | None = None,
    *,
    results: bool = True,
) -> list[Any]:
    """Give results; end with a sentence where nobody is left to make them.

    `look` is called every now and then, and may raise.
    """
    alone = 0
    while True:
        try:
            # `wait` asks the current client, which need not be this one.
            with client.as_current():
                wait(futures, timeout=LOOK)
            return list(client.gather(futures)) if results else []
        except TimeoutError:
            if client.status != "running":
                raise explained(client, None) from None
            alone = 0 if client.nthreads() else alone + 1
            if alone >= PATIENCE:
                raise RuntimeError(
                    f"the Dask cluster has had no workers for {PATIENCE * LOOK:.0f} seconds: "
                    "the fit cannot go on. Start workers and fit again"
                ) from None
            if look is not None:
                look()


def explained(client: Client, error: BaseException | None) -> RuntimeError:
    """Give the error that says what happened to the cluster and what to do."""
    if isinstance(error, KilledWorker):
        return RuntimeError(
            f"a Dask worker died whenever it worked on the rows of {error.task!r}, most often because "
            "it ran out of memory: give workers more memory, or make partitions smaller"
        )
    address = client.scheduler.address if client.scheduler is not None else "unknown"
    # Other errors are of the connection, which the client may not have noticed yet.
    if isinstance(error, CancelledError) and client.status == "running":
        return RuntimeError(
            f"the Dask cluster at {address} has lost partitions that it cannot make anew "
            f"({type(error).__name__}): give data that Dask can compute again (a Dask collection "
            "from files or arrays), not data that were scattered to a worker that died"
        )
    return RuntimeError(
        f"the connection to the Dask scheduler at {address} was lost: the fit cannot go on. "
        "Connect a Client to a running scheduler and fit again"
    )
