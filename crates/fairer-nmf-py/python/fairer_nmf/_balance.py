"""Which worker has which partitions, and in which of its shares."""

from __future__ import annotations

import bisect


def evenly(numbers: list[int], rows: dict[int, int], count: int) -> list[list[int]]:
    """Give shares of partitions with about as many rows each: the next largest goes to the emptiest."""
    shares: list[list[int]] = [[] for _ in range(count)]
    load = [0] * count
    for number in sorted(numbers, key=lambda number: (-rows[number], number)):
        emptiest = load.index(min(load))
        shares[emptiest].append(number)
        load[emptiest] += rows[number]
    return [sorted(share) for share in shares]


def balanced(at: dict[int, str], rows: dict[int, int], threads: dict[str, int]) -> dict[int, str]:
    """Give the worker of every partition, so that each has rows in proportion to its threads.

    A round waits for the slowest, and Dask leaves partitions where they are: on one worker, if they were
    made there or copied to it. One is moved, once, where the fuller of two workers then waits a tenth
    less or more.
    """
    if not threads:
        return at
    own: dict[str, list[tuple[int, int]]] = {worker: [] for worker in sorted(threads)}
    load = dict.fromkeys(own, 0)
    homeless = []
    for number, worker in at.items():
        if worker in own:
            own[worker].append((rows[number], number))
            load[worker] += rows[number]
        else:
            homeless.append((rows[number], number))
    for held in own.values():
        held.sort()

    def waits(worker: str) -> float:
        return load[worker] / threads[worker]

    def give(part: tuple[int, int], worker: str) -> None:
        bisect.insort(own[worker], part)
        load[worker] += part[0]

    for part in sorted(homeless, reverse=True):
        give(part, min(own, key=waits))
    while True:
        fullest, emptiest = max(own, key=waits), min(own, key=waits)
        # The largest partition after which the emptiest waits a tenth less than the fullest did.
        room = 0.9 * waits(fullest) * threads[emptiest] - load[emptiest]
        place = bisect.bisect_right(own[fullest], room, key=lambda part: part[0])
        if fullest == emptiest or place == 0:
            return {number: worker for worker, held in own.items() for _, number in held}
        part = own[fullest].pop(place - 1)
        load[fullest] -= part[0]
        give(part, emptiest)
