"""The Rust side. Arrays must be what `_data.py` makes of them."""

from collections.abc import Callable, Sequence
from os import PathLike
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray

__version__: str

_Float = np.floating[Any]
_Groups = tuple[Sequence[str], NDArray[np.int64]] | None
# stage, restart, restarts, done, total (0 where unknown), worst loss
_Listener = Callable[[str, int, int, int, int, float], None] | None

class Settings(TypedDict):
    rank: int
    method: str
    fairness: float
    ties: str
    worst_share: float | None
    discover: str | None
    discover_groups: int
    alpha_w: float
    alpha_h: float | None
    l1_ratio: float
    unobserved: bool
    update: str
    init: str
    baseline: str | None
    baseline_runs: int
    baseline_errors: list[float] | None
    n_init: int
    tolerance: float
    max_iterations: int
    time_limit: float | None
    start_weights: str | None
    given_weights: list[float] | None
    normalize: bool
    polish: bool
    bound: bool
    allow_small_groups: bool
    seed: int
    threads: int
    feature_names: list[str] | None
    checkpoint: str | None
    every: float
    resume: bool

class ReportSettings(TypedDict):
    title: str
    normalize: bool
    scale: list[float] | None
    unobserved: bool
    baselines: list[float]
    baseline_run_errors: list[list[float]]
    baseline_runs: int
    feature_names: list[str] | None
    draws: int
    permutations: int
    folds: int
    compare: bool
    level: float
    matters: float
    min_group_size: int
    refit: int
    fitted_by: str | None
    baseline: str | None
    allow_small_groups: bool
    chance_draws: int
    chance_time: float
    seed: int
    threads: int

class About(TypedDict):
    names: list[str]
    features: int
    single: bool
    normalize: bool
    scale: list[float] | None

class Reading(TypedDict):
    normalize: bool
    scale: list[float] | None
    unobserved: bool
    threads: int

class Yardstick(TypedDict):
    baseline: str | None
    runs: int
    errors: Sequence[float] | None
    seed: int

class Offsets(TypedDict):
    errors: Sequence[float]
    relative: bool

class Draws(TypedDict):
    baselines: Sequence[float]
    draws: int
    level: float
    seed: int

# H, and W where it is known.
_Factors = tuple[NDArray[np.float64], NDArray[np.float64] | None]

# The same, and the model that it is of, where that is ours.
Dictionary = tuple[NDArray[np.float64], NDArray[np.float64] | None, "Model | None"]

# A question, and what makes the whole of it; gives the sum of all answers.
_Ask = Callable[[bytes, Callable[[], bytes]], NDArray[np.float64]]

class Share:
    def __init__(self, x: Any, codes: NDArray[np.int64], groups: int, first: int) -> None: ...
    def answer(
        self, questions: Sequence[bytes], threads: int
    ) -> list[NDArray[np.float64] | None]: ...

class OnDisk:
    def __init__(self, path: str, group_by: list[str], memory: str, threads: int) -> None: ...
    @property
    def rows(self) -> int: ...
    @property
    def features(self) -> int: ...
    @property
    def note(self) -> str | None: ...
    @property
    def notes(self) -> list[str]: ...
    @property
    def feature_names(self) -> list[str] | None: ...
    @property
    def groups(self) -> list[str] | None: ...

def columns_on_disk(path: str, memory: str) -> list[str] | None: ...
def fit_on_disk(
    held: OnDisk,
    groups: _Groups,
    settings: Settings,
    wanted: bool,
    listener: _Listener = None,
) -> tuple[Model, NDArray[Any] | None, int]: ...

def evaluate_on_disk(
    held: OnDisk,
    groups: _Groups,
    components: NDArray[np.float64],
    yardstick: Yardstick,
    reading: Reading,
    listener: _Listener = None,
) -> tuple[list[int], list[float], list[float], list[float]]: ...

class Report:
    def html(self) -> str: ...
    def json(self) -> str: ...
    def charts(self) -> list[tuple[str, bytes]]: ...

class Model:
    @property
    def components(self) -> NDArray[np.float64]: ...
    @property
    def scale(self) -> NDArray[np.float64] | None: ...
    @property
    def groups(self) -> list[str]: ...
    @property
    def families(self) -> list[str | None]: ...
    @property
    def total_error(self) -> float: ...
    @property
    def rows(self) -> list[int]: ...
    @property
    def norms(self) -> NDArray[np.float64]: ...
    @property
    def baseline_errors(self) -> NDArray[np.float64]: ...
    @property
    def relative_errors(self) -> NDArray[np.float64]: ...
    @property
    def losses(self) -> NDArray[np.float64]: ...
    @property
    def weights(self) -> NDArray[np.float64]: ...
    @property
    def worst_loss(self) -> float: ...
    @property
    def worst_criterion(self) -> float: ...
    @property
    def criterion(self) -> str: ...
    @property
    def offsets(self) -> NDArray[np.float64]: ...
    @property
    def allowances(self) -> NDArray[np.float64]: ...
    @property
    def random_groups(self) -> NDArray[np.float64] | None: ...
    @property
    def outside(self) -> list[bool]: ...
    def evened_out(self, names: list[str]) -> bool: ...
    @property
    def step_gap(self) -> float | None: ...
    @property
    def global_bound(self) -> float | None: ...
    @property
    def certificate(self) -> str: ...
    @property
    def history(self) -> NDArray[np.float64]: ...
    @property
    def iterations(self) -> int: ...
    @property
    def status(self) -> str: ...
    @property
    def warnings(self) -> list[tuple[str, str]]: ...
    @property
    def feature_names(self) -> list[str] | None: ...
    @property
    def parameters(self) -> str: ...
    @property
    def observed(self) -> NDArray[np.float64] | None: ...
    @property
    def worst_share(self) -> tuple[float, float, list[float]] | None: ...
    @property
    def found_labels(self) -> list[int] | None: ...
    @property
    def found_by(self) -> tuple[str, int] | None: ...
    def transform(self, x: Any, threads: int, unobserved: bool = False) -> NDArray[_Float]: ...
    @property
    def kept(self) -> str | None: ...
    @property
    def overlaps(self) -> bool: ...
    def save(self, path: str | PathLike[str], kept: str | None = None) -> None: ...
    @staticmethod
    def load(path: str | PathLike[str]) -> Model: ...

def fit(
    x: Any,
    groups: _Groups,
    settings: Settings,
    components: NDArray[np.float64] | None = None,
    representation: NDArray[np.float64] | None = None,
    listener: _Listener = None,
) -> tuple[Model, NDArray[_Float]]: ...
def chance(
    x: Any,
    groups: _Groups,
    components: NDArray[np.float64],
    yardstick: Yardstick,
    reading: Reading,
    listener: _Listener = None,
) -> list[list[float]]: ...
def rises(fits: Sequence[tuple[str, int, float, float, list[tuple[str, int, float]]]]) -> list[str]: ...
def compare(
    x: Any,
    groups: _Groups,
    methods: Sequence[str],
    settings: Settings,
    listener: _Listener = None,
) -> str: ...
def choose_rank(
    x: Any,
    groups: _Groups,
    normalize: bool,
    seed: int,
    threads: int,
    listener: _Listener = None,
) -> str: ...
def estimate_baselines(
    x: Any,
    groups: _Groups,
    rank: int,
    yardstick: Yardstick,
    reading: Reading,
    listener: _Listener = None,
) -> tuple[list[float], list[float], list[list[float]]]: ...
def evaluate(
    x: Any,
    groups: _Groups,
    factors: _Factors,
    offsets: Offsets,
    reading: Reading,
) -> tuple[list[float], list[float], list[float], NDArray[_Float]]: ...
def intervals(
    x: Any,
    groups: tuple[Sequence[str], NDArray[np.int64]],
    factors: _Factors,
    drawn: Draws,
    reading: Reading,
    listener: _Listener = None,
) -> list[list[float]]: ...
def report(
    x: Any,
    groups: tuple[Sequence[str], NDArray[np.int64]],
    dictionary: Dictionary,
    settings: ReportSettings,
    listener: _Listener = None,
) -> Report: ...
def fit_shares(
    ask: _Ask, about: About, settings: Settings, listener: _Listener = None
) -> Model: ...
def evaluate_shares(
    ask: _Ask,
    about: About,
    components: NDArray[np.float64],
    yardstick: Yardstick,
    draws_level: tuple[int, float] | None,
    threads: int,
    listener: _Listener = None,
) -> tuple[list[int], list[float], list[float], list[float], list[list[float]]]: ...
def program(arguments: Sequence[str]) -> int: ...
def heart_disease_csv() -> str: ...
def synthetic(number: int, seed: int) -> tuple[NDArray[np.float64], list[str]]: ...
def _data_pointer(x: Any) -> int: ...
