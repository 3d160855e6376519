"""What a fitted estimator does (coordinates, scores, files), and what every kind of fit shares."""

from __future__ import annotations

from os import PathLike
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted, validate_data

from fairer_nmf import _choices, _core, _data, _meaning
from fairer_nmf._align import index_of
from fairer_nmf._messages import in_names_of
from fairer_nmf._parameters import Parameters
from fairer_nmf._progress import counted

_Kind = TypeVar("_Kind", bound="Fitted")

#: Rows that `transform` takes at once where it shows how far it is.
BLOCK = 20_000


class Fitted(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator, Parameters):  # type: ignore[misc]
    """The half of :class:`FairerNMF` that comes after its fit, and what every kind of fit shares."""

    def transform(self, X: Any) -> NDArray[Any]:
        """Give the best coordinates of rows for the dictionary; groups are not needed.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Non-negative data.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            The exact non-negative least squares solution of every row.
        """
        check_is_fitted(self)
        X = _data.named(_choices.unmasked(self.missing, X))
        X = validate_data(self, X, reset=False, **_data.VALIDATION)
        threads, gaps = _data.threads(self.n_jobs), _choices.is_unobserved(self.missing)
        with in_names_of(getattr(self, "feature_names_in_", None)):
            if not self.verbose or X.shape[0] <= BLOCK:
                return self._model.transform(_data.native(X), threads, gaps)
            # A row's coordinates are its own: in blocks, so that something can be shown.
            blocks = [X[start : start + BLOCK] for start in range(0, X.shape[0], BLOCK)]
            parts = counted(blocks, self.verbose, "transform, blocks")
            solved = [self._model.transform(_data.native(b), threads, gaps) for b in parts]
            return np.concatenate(solved)

    def inverse_transform(self, X: Any) -> NDArray[Any]:
        """Give the rows that coordinates stand for, in the original features.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_components)
            Coordinates W.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            ``W @ components_``.
        """
        check_is_fitted(self)
        W = check_array(X, dtype=[np.float64, np.float32])
        if W.shape[1] != len(self.components_):
            raise ValueError(
                f"the coordinates have {W.shape[1]} columns, "
                f"the model has {len(self.components_)} topics"
            )
        rows: NDArray[Any] = W @ self.components_.astype(W.dtype, copy=False)
        return rows

    def score(
        self, X: Any, y: Any = None, *, sensitive_features: Any = None, sample_weight: Any = None
    ) -> float:
        """Give minus the worst `criterion_` on data, so that larger is better.

        Baselines and allowances are the fit's, as shares of the groups' norms, so that new data can
        be scored.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Non-negative data.
        y : ignored
            For scikit-learn's conventions.
        sensitive_features : array-like or frame, optional
            Groups that the fit has seen, wherever it had any. After a fit without groups the
            score is minus the relative error of all rows together.
        sample_weight : array-like of shape (n_samples,), optional
            The weights of the rows, as for `fit`.

        Returns
        -------
        float
            Minus the worst loss, or adjusted loss, as `criterion_` says.
        """
        check_is_fitted(self)
        index = index_of(X)
        X = _data.named(_choices.unmasked(self.missing, X))
        X = _data.native(validate_data(self, X, reset=False, **_data.VALIDATION))
        groups = self._groups(sensitive_features, index, self._model.groups)
        shares = [0.0]
        if groups is not None or self._model.groups != ["all"]:
            shares = _meaning.baseline_shares(self._model, groups)
        scale = self._model.scale
        reading: _core.Reading = {
            "normalize": False,
            "scale": None if scale is None else scale.tolist(),
            "unobserved": _choices.is_unobserved(self.missing),
            "threads": _data.threads(self.n_jobs),
        }
        with in_names_of(getattr(self, "feature_names_in_", None)):
            _, _, losses, _ = _core.evaluate(
                X,
                _data.weighted(groups, sample_weight, index, X.shape[0]),
                (self.components_, None),
                {"errors": shares, "relative": True},
                reading,
            )
        return -max(losses)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the model to a file that the program `fairer-nmf` reads.

        Parameters
        ----------
        path : path-like
            The file; safetensors by content.
        """
        check_is_fitted(self)
        self._model.save(path, _meaning.parameters_to_keep(self.get_params(deep=False)))

    @classmethod
    def load(cls: type[_Kind], path: str | PathLike[str]) -> _Kind:
        """Read a model that `save` or the program `fairer-nmf` wrote.

        The estimator has the parameters that it was saved with, but for those of a machine or a
        run: `n_jobs`, `verbose`, `memory`, `checkpoint`, `every` and `resume`. A `random_state` that
        is no number comes back as the seed of the fit, values per group (`baseline`,
        `start_weights`) by name of the group.

        Parameters
        ----------
        path : path-like
            The file.

        Returns
        -------
        FairerNMF
            A fitted estimator.
        """
        model = _core.Model.load(path)
        estimator = cls(**_meaning.constructor_arguments(model, cls._get_param_names()))
        estimator._set_fitted(model)
        estimator.n_features_in_ = model.components.shape[1]
        if model.feature_names is not None:
            estimator.feature_names_in_ = np.array(model.feature_names, dtype=object)
        return estimator

    def _groups(
        self, labels: Any, index: Any, known: list[str] | None = None
    ) -> _data.Groups | None:
        most = _data.count("max_groups", self.max_groups)
        groups = _data.encode_groups(labels, index, most, how=self.groups)
        least = _data.count("merge_small", self.merge_small, least=0)
        if groups is None or known is None or not least:
            return _data.merged(groups, least)
        # New data have the groups of the fit.
        return _data.together(groups, [name not in known for name in groups.names])

    def _settings(self, groups: _data.Groups | None) -> _core.Settings:
        return _meaning.settings(self, groups, getattr(self, "feature_names_in_", None))

    def _set_fitted(self, model: _core.Model) -> None:
        scale = model.scale
        self._model = model
        self.components_ = model.components if scale is None else model.components / scale
        self.groups_ = np.array(model.groups)
        self.group_losses_ = model.losses
        self.group_errors_ = model.relative_errors
        self.group_norms_ = model.norms
        self.baseline_errors_ = model.baseline_errors
        self.worst_loss_ = model.worst_loss
        self.worst_criterion_ = model.worst_criterion
        self.criterion_ = model.criterion
        self.group_allowances_ = model.allowances
        self.notes_ = [sentence for _, sentence in _meaning.notes(model)]
        self.reconstruction_err_ = model.total_error
        self.step_gap_ = model.step_gap
        self.global_bound_ = model.global_bound
        self.n_iter_ = model.iterations
        self.history_ = model.history
        self._set_found(model)

    def _set_found(self, model: _core.Model) -> None:
        """Set what a fit with choices beyond the paper leaves, and nothing after one without."""
        found = ("worst_share_error_", "worst_share_history_", "discovered_labels_", "observed_shares_")
        for name in (*found, "group_chance_"):
            self.__dict__.pop(name, None)
        if model.worst_share is not None:
            self.worst_share_error_, _, history = model.worst_share
            self.worst_share_history_ = np.array(history)
        if model.found_labels:
            self.discovered_labels_ = np.array(model.found_labels)
        if model.observed is not None:
            self.observed_shares_ = model.observed
        if model.random_groups is not None and not model.found_labels:
            self.group_chance_ = model.random_groups

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_model")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
