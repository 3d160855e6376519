"""The estimator."""

from __future__ import annotations

import json
import os
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, cast

from numpy.typing import NDArray
from sklearn.utils.validation import validate_data

from fairer_nmf import _choices, _core, _data, _disk, _meaning
from fairer_nmf._align import aligned, index_of
from fairer_nmf._fitted import Fitted
from fairer_nmf._messages import in_names_of
from fairer_nmf._progress import listener
from fairer_nmf._types import Discover, Grouping, Init, Method, Missing, Normalize, Ties, Update

if TYPE_CHECKING:
    from fairer_nmf._types import Baseline, Weights


class FairerNMF(Fitted):
    """Non-negative matrix factorisation that minimises the loss of the worst-off group.

    X ≈ WH with one dictionary H for all rows. A group's loss is what it pays for sharing the
    dictionary: (‖X_g − W_g H‖ − E_g)/‖X_g‖, where E_g is what a dictionary of its own would
    leave. Without `sensitive_features` the fit is plain NMF.

    Parameters
    ----------
    n_components : int or "auto", default=2
        Number of topics. "auto" chooses it by bi-cross-validation, as the program's
        ``--rank auto`` does: as many as foretell entries that were held out, of all rows and of
        the worst-off group; see `rank_choice_`.
    method : {"am", "mu", "standard"}, default="am"
        Alternating minimisation with an exact min-max step, multiplicative updates as in the
        paper, or standard NMF (which groups do not influence, but whose losses are reported).
    groups : {"combined", "each", "each-and-combined", "members"}, default="combined"
        What several sensitive features mean: their combinations are the groups; or each is a family of
        groups of its own, so that a row is in one group of every family, without or with one more family of
        their combinations; or each is the 0/1
        membership of one group.
    fairness : float, default=1.0
        How fair, from 0 (standard NMF) to 1 (the worst loss alone): the weight α of the worst loss
        against the total error in (1 − α)·‖X − WH‖/‖X‖ + α·max_g loss_g; for the method "am".
    ties : {"any", "leximin"}, default="any"
        What is done once the worst loss cannot be lowered: nothing, or the next largest loss is
        lowered, and so on, with the total error at last; for the method "am".
    worst_share : float, optional
        Without groups: minimise the mean relative error of this worst share of rows (0.1 for the
        worst tenth); groups that are given are reported only. See `worst_share_error_`.
    discover : {"topics", "errors", "held-out-errors"}, optional
        Find the groups in the data where nobody knows them: by the topics of standard NMF, by the
        rows' errors (iterated), or by errors under dictionaries that have not seen the rows. See
        `discovered_labels_`; no test against chance holds for such groups.
    discover_groups : int, default=2
        How many groups to find.
    alpha_W : float, default=0.0
        Penalty on W, with scikit-learn's meaning; for the method "standard".
    alpha_H : float or "same", default="same"
        Penalty on H, as there.
    l1_ratio : float, default=0.0
        What part of the penalties is on absolute values (1) rather than squares (0).
    missing : {"error", "unobserved"}, default="error"
        What NaN means, and a masked entry of a NumPy masked array: an error, or a cell that is
        unobserved. Errors and norms are then of observed cells, `transform` is exact for the
        observed features of every row, and there is no `global_bound_`. See `observed_shares_`.
    update : {"auto", "mu", "hals", "nnls"}, default="auto"
        The update of both factors when the method is "standard"; otherwise the method's own.
    init : {"auto", "random", "nndsvd", "nndsvda"}, default="auto"
        The start. Those from singular vectors are not random: there is one run, whatever `n_init`
        is. `fit` also takes a start of your own as `W` and `H`.
    start_weights : {"even", "bound"}, array-like or mapping, default="even"
        The weights of the groups that a run of the method "am" begins with: even, those of the
        lower bound (the mixture of groups that is hardest to serve), or one per group, in the
        order of `groups_` or by label.
    baseline : {"adjusted", "best", "held-out", "paper", "zero"}, array-like or mapping, default="adjusted"
        Where the E_g come from: the lowest error of `baseline_runs` tight runs ("best"), the mean of
        as many runs of multiplicative updates ("paper"), errors on rows that the group's own
        dictionary has not seen ("held-out"), 0 ("zero"), or values per group in the order of
        `groups_`, by label, or as :func:`estimate_baseline` returns. "adjusted" is "best" with a fit
        that allows every group what chance explains (what random groups of its size pay, or, where
        it pays like them, what it pays under plain NMF), so that chance hardly steers it:
        docs/calibration.md. Plain NMF needs none and takes zero.
    baseline_runs : int, default=5
        Runs per group behind the baseline.
    allow_small_groups : bool, default=False
        Let groups into the maximum that have no more rows than topics; otherwise they count in the
        total only.
    merge_small : int, default=0
        Put groups with fewer rows together as "Other".
    n_init : int, default=4
        How long to search: restarts, of which the one with the lowest worst loss is kept; for the method
        "am" a quarter as many, one from standard NMF, and rounds of exchanges and splits of topics.
    tol : float, default=1e-5
        Largest relative change of a group's error from one iteration to the next that counts
        as standing still.
    max_iter : int, default=10000
        Iterations at the most.
    time_limit : float, optional
        Seconds at the most, baselines included; looked at once an iteration.
    normalize : {"features"} or None, default=None
        "features" scales every feature to unit norm over the rows of the fit, the paper's
        preprocessing and the default of the program `fairer-nmf`. Here the default takes the
        data as given, so that without groups the estimator is the NMF that scikit-learn's users
        know, and scaling is a step they choose. The data are not copied; the factors are
        remembered and applied to new rows. `components_` and `inverse_transform` always speak of
        the original features; errors and losses are those of the scaled ones.
    bound : bool, default=True
        Compute `global_bound_`, which takes time of its own on wide data.
    memory : str or int, optional
        Where X is a path: what the fit may take in memory, as in "2GB", or in bytes. The rows stay on
        disk and are read block by block; :meth:`fit` says which files. docs/scaling.md.
    checkpoint : path-like, optional
        Keep the state of the fit in this file and, one a run, in files beside it.
    every : float, default=30.0
        Seconds between two states.
    resume : bool, default=False
        Go on from the checkpoint: the model is the one that the fit would have ended with. A
        checkpoint of other data or parameters is refused.
    max_groups : int, default=100
        The most groups that a fit takes, so that a column of numbers is not taken for labels.
    n_jobs : int, optional
        Threads; None and -1 are all. The result does not depend on it.
    random_state : int, RandomState, Generator or None, default=None
        An integer is the program's ``--seed``.
    verbose : int, default=0
        1 shows progress.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The dictionary H, in the original features: X ≈ ``transform(X) @ components_``.
    groups_ : ndarray of shape (n_groups,)
        Labels of the groups, with their type; of several sensitive features their tuples. Of a
        model from a file: their names, the parts of a combination joined by " | ".
    group_losses_, group_errors_ : ndarray of shape (n_groups,)
        Losses, and relative errors ‖X_g − W_g H‖/‖X_g‖.
    baseline_errors_ : ndarray of shape (n_groups,)
        E_g, in the units of ‖X_g‖.
    group_norms_ : ndarray of shape (n_groups,)
        ‖X_g‖.
    worst_loss_ : float
        The largest loss against the baselines, of the groups inside the maximum.
    worst_criterion_ : float
        The largest of what the fit made small: `criterion_`.
    criterion_ : str
        What `worst_criterion_`, `step_gap_`, `global_bound_`, `history_` and :meth:`score` are of:
        "loss", or "adjusted-loss", that beyond `group_allowances_` where the baseline is "adjusted".
    group_allowances_ : ndarray of shape (n_groups,)
        The loss that chance explains, which the fit allowed every group; 0 where it did not. Where it did,
        `group_chance_` has the loss of random groups under plain NMF: mean, and the range of nine of ten.
    notes_ : list of str
        Which groups pay under plain NMF what chance explains, so that the fit helps none of them.
    reconstruction_err_ : float
        ‖X − WH‖ over all rows; of the scaled features where `normalize` scales them.
    step_gap_ : float or None
        How far the dictionary is at the most from the best for its representation, in loss;
        for the method "am".
    global_bound_ : float or None
        No model with as many topics has a lower `worst_criterion_`, where it could be computed.
        Plain NMF does not compute it, nor does ``bound=False``.
    n_iter_ : int
        Iterations of the kept run.
    rank_choice_ : dict
        After ``n_components="auto"``: `rank`, `rank_of_all`, `worst_off` (a group and its rank) and
        `points`, the held-out errors and the stability of the topics of every rank tried.
    history_ : ndarray of shape (n_iter_, n_groups)
        Losses after every iteration; where `criterion_` is "adjusted-loss", less `group_allowances_` (not of
        groups outside the maximum that are allowed nothing).
    worst_share_error_ : float
        After ``worst_share=``: the mean relative error of the worst share of rows;
        `worst_share_history_` has it after every round.
    discovered_labels_ : ndarray of shape (n_samples,)
        After ``discover=``: the number of every row's group, from 0; `groups_` has their names. Of
        groups by errors the last has the largest errors.
    observed_shares_ : ndarray of shape (n_groups,)
        With ``missing="unobserved"``: the share of every group's cells that are observed.
    reads_ : int
        How often all rows were read, where they stayed on disk.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where X had them.

    Examples
    --------
    >>> from fairer_nmf import FairerNMF
    >>> from fairer_nmf.datasets import make_synthetic_1
    >>> X, groups = make_synthetic_1(random_state=0)
    >>> model = FairerNMF(n_components=4, random_state=0)
    >>> W = model.fit_transform(X, sensitive_features=groups)
    >>> W.shape, model.components_.shape
    ((1000, 4), (4, 12))
    >>> bool(model.global_bound_ <= model.worst_loss_ < 0.5)
    True
    """

    # Groups are always wanted when they are routed; no `set_fit_request` is needed.
    __metadata_request__fit = {"sensitive_features": True}
    __metadata_request__score = {"sensitive_features": True}

    def __init__(
        self,
        n_components: int | Literal["auto"] = 2,
        *,
        method: Method = "am",
        groups: Grouping = "combined",
        fairness: float = 1.0,
        ties: Ties = "any",
        worst_share: float | None = None,
        discover: Discover | None = None,
        discover_groups: int = _choices.FOUND_GROUPS,
        alpha_W: float = 0.0,
        alpha_H: float | Literal["same"] = "same",
        l1_ratio: float = 0.0,
        missing: Missing = "error",
        update: Update = "auto",
        init: Init = "auto",
        start_weights: Weights = "even",
        baseline: Baseline = "adjusted",
        baseline_runs: int = 5,
        allow_small_groups: bool = False,
        merge_small: int = 0,
        n_init: int = 4,
        tol: float = 1e-5,
        max_iter: int = 10_000,
        time_limit: float | None = None,
        normalize: Normalize = None,
        bound: bool = True,
        memory: str | int | None = None,
        checkpoint: str | PathLike[str] | None = None,
        every: float = 30.0,
        resume: bool = False,
        max_groups: int = _data.MOST_GROUPS,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.method = method
        self.groups = groups
        self.fairness = fairness
        self.ties = ties
        self.worst_share = worst_share
        self.discover = discover
        self.discover_groups = discover_groups
        self.alpha_W = alpha_W
        self.alpha_H = alpha_H
        self.l1_ratio = l1_ratio
        self.missing = missing
        self.update = update
        self.init = init
        self.start_weights = start_weights
        self.baseline = baseline
        self.baseline_runs = baseline_runs
        self.allow_small_groups = allow_small_groups
        self.merge_small = merge_small
        self.n_init = n_init
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.normalize = normalize
        self.bound = bound
        self.memory = memory
        self.checkpoint = checkpoint
        self.every = every
        self.resume = resume
        self.max_groups = max_groups
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        sensitive_features: Any = None,
        sample_weight: Any = None,
        W: Any = None,
        H: Any = None,
    ) -> FairerNMF:
        """Fit the dictionary.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), or path
            Non-negative data. float32 and float64 arrays of any order and CSR matrices are read
            where they are. With `memory`, the path of rows that stay on disk: a ``.npy`` or ``.npz``
            file, a folder of such shards, a folder with ``data.npy``, ``indices.npy`` and
            ``indptr.npy`` (CSR), or a CSV file, a Parquet file or a folder of Parquet, which are converted
            once into a folder beside them.
        y : ignored
            For scikit-learn's conventions.
        sensitive_features : array-like or frame, optional
            One label per row: a list, array, Series or categorical, or a frame of several
            columns, whose combinations are the groups. Where X and the labels are of pandas,
            rows are matched by their index. Of a table on disk also the name of its column, or a list of
            names: a list whose entries are all columns, none of them twice.
        sample_weight : array-like of shape (n_samples,), optional
            How many rows of the population each row stands for, as in surveys: a row of weight 2 is
            as if it stood there twice, one of weight 0 as if absent.
        W, H : array-like, optional
            A start instead of `init`; `H` in the original features. Rows of W and columns of H
            are matched by name where they and X have names.

        Returns
        -------
        FairerNMF
            The estimator.
        """
        self._fit(X, y, sensitive_features, sample_weight, W, H, wanted=False)
        return self

    def fit_transform(
        self,
        X: Any,
        y: Any = None,
        *,
        sensitive_features: Any = None,
        sample_weight: Any = None,
        W: Any = None,
        H: Any = None,
    ) -> NDArray[Any]:
        """Fit the dictionary and give the coordinates of the rows.

        Parameters
        ----------
        X, y, sensitive_features, sample_weight, W, H
            As for `fit`.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            W.
        """
        return cast(NDArray[Any], self._fit(X, y, sensitive_features, sample_weight, W, H))

    def _fit(
        self,
        X: Any,
        y: Any,
        sensitive_features: Any,
        sample_weight: Any,
        W: Any,
        H: Any,
        wanted: bool = True,
    ) -> NDArray[Any] | None:
        if self.checkpoint is not None and not (W is None and H is None):
            raise ValueError("a start of your own is not kept in checkpoints: leave W and H out")
        if isinstance(X, (str, PathLike)):
            _disk.refuse(self, sample_weight, W, H)
            return _disk.fit(self, os.fspath(X), y, sensitive_features, wanted)
        if self.memory is not None:
            raise ValueError("memory is for rows that stay on disk: give X as their path")
        index = index_of(X)
        X = _data.named(_choices.unmasked(self.missing, X))
        X = _data.native(validate_data(self, X, **_data.VALIDATION))
        groups = self._groups(sensitive_features, index)
        settings = self._settings(groups)
        _meaning.warn_of_lasting_zeros(settings)
        asked = settings["discover"] is None and settings["worst_share"] is None
        if groups is None and asked and settings["method"] in ("am", "mu"):
            _meaning.warn_of_no_groups(settings["method"], y)
        names = getattr(self, "feature_names_in_", None)
        if isinstance(self.n_components, str):
            if settings["unobserved"]:
                raise ValueError(
                    "n_components='auto' holds out cells of its own, and does not go with missing='unobserved': "
                    "give the number of topics"
                )
            weighted = _data.weighted(groups, sample_weight, index, X.shape[0])
            self._choose_rank(X, weighted, settings)
        _data.room(X, groups, settings["rank"])
        with listener(self.verbose, settings["max_iterations"]) as progress, in_names_of(names):
            model, representation = _core.fit(
                X,
                _data.weighted(groups, sample_weight, index, X.shape[0]),
                settings,
                _data.factor(_data.in_order_of(names, H)),
                _data.factor(aligned(index, W, "W"), "W"),
                progress,
            )
        self._set_fitted(model)
        if groups is not None:
            self.groups_ = groups.to_array()
        _meaning.pass_on_warnings(model, groups)
        return representation

    def _choose_rank(self, X: Any, groups: Any, settings: _core.Settings) -> None:
        names = getattr(self, "feature_names_in_", None)
        with listener(self.verbose, settings["max_iterations"]) as progress, in_names_of(names):
            found = _core.choose_rank(
                X, groups, settings["normalize"], settings["seed"], settings["threads"], progress
            )
        self.rank_choice_ = json.loads(found)
        settings["rank"] = self.rank_choice_["rank"]
