"""Weights of samples and fairness in Python: the laws of the library, through the estimator."""

import numpy as np
import pytest

from fairer_nmf import FairerNMF, audit, estimate_baseline
from fairer_nmf.datasets import make_synthetic_1


@pytest.fixture(scope="module")
def small():
    rng = np.random.default_rng(3)
    X = rng.random((60, 8)) * (rng.random((60, 8)) > 0.3)
    groups = np.array(["a", "b", "c"])[np.arange(60) % 5 % 3]
    weights = np.array([1, 0, 2, 3, 1])[np.arange(60) % 5].astype(float)
    weights[groups == "c"] += 1
    return X, groups, weights


def test_whole_weights_are_repeated_rows(small):
    X, groups, weights = small
    rows = np.repeat(np.arange(60), weights.astype(int))
    H, W = np.full((3, 8), 0.5) + np.eye(3, 8), np.full((60, 3), 0.5)
    E = [0.1, 0.2, 0.1]
    model = FairerNMF(3, baseline=E, max_iter=20, normalize="features", bound=False)
    with pytest.warns(UserWarning):
        one = model.fit(X, sensitive_features=groups, sample_weight=weights, W=W, H=H)
        losses, coordinates = one.group_losses_, one.transform(X)
        other = model.fit(X[rows], sensitive_features=groups[rows], W=W[rows], H=H)
    np.testing.assert_allclose(losses, other.group_losses_, atol=1e-5)
    np.testing.assert_allclose(coordinates, other.transform(X), atol=1e-3)
    score = one.score(X, sensitive_features=groups, sample_weight=weights)
    assert score == pytest.approx(one.score(X[rows], sensitive_features=groups[rows]))
    weighted = audit(X, other, sensitive_features=groups, sample_weight=weights, baseline="zero")
    plain = audit(X[rows], other, sensitive_features=groups[rows], baseline="zero")
    np.testing.assert_allclose(weighted.by_group["loss"], plain.by_group["loss"])
    assert (weighted.by_group["effective_rows"] <= weighted.by_group["rows"]).all()


def test_rows_without_weight_are_absent_but_have_coordinates(small):
    X, groups, weights = small
    model = FairerNMF(2, random_state=0, n_init=1)
    W = model.fit_transform(X, sensitive_features=groups, sample_weight=weights)
    np.testing.assert_allclose(W[weights == 0], model.transform(X)[weights == 0], atol=1e-12)
    with pytest.raises(ValueError, match="all rows of group 'b' have weight zero"):
        model.fit(X, sensitive_features=groups, sample_weight=(groups != "b").astype(float))
    with pytest.raises(ValueError, match="one weight for each of 60 rows"):
        estimate_baseline(X, 2, sensitive_features=groups, sample_weight=[1.0])


def test_the_page_says_that_rows_are_weighted(small):
    X, groups, weights = small
    found = audit(X, np.ones((1, 8)), sensitive_features=groups, sample_weight=weights, baseline="zero")
    report = found.report(draws=20, permutations=20, folds=0, compare=False)
    assert any("Kish" in note["sentence"] for note in report.to_dict()["notes"])


def test_fairness_between_the_ends(tmp_path):
    X, groups = make_synthetic_1(random_state=0)
    fits = {
        alpha: FairerNMF(4, fairness=alpha, n_init=4, random_state=0, bound=False).fit(
            X, sensitive_features=groups
        )
        for alpha in (0.0, 0.5, 1.0)
    }
    standard = FairerNMF(4, method="standard", n_init=4, random_state=0, bound=False)
    standard.fit(X, sensitive_features=groups)
    np.testing.assert_array_equal(fits[0.0].components_, standard.components_)
    total = [fits[alpha].reconstruction_err_ for alpha in (0.0, 0.5, 1.0)]
    worst = [fits[alpha].worst_loss_ for alpha in (0.0, 0.5, 1.0)]
    assert total[0] <= total[1] + 1e-3 and total[1] <= total[2] + 1e-3
    assert worst[0] >= worst[1] - 1e-3 and worst[1] >= worst[2] - 1e-3
    fits[0.5].save(tmp_path / "m")
    assert FairerNMF.load(tmp_path / "m").fairness == 0.5
    with pytest.raises(ValueError, match="fairness is 1.5"):
        FairerNMF(2, fairness=1.5).fit(X, sensitive_features=groups)
    with pytest.raises(ValueError, match="fairness is '0.5': expected 1 unless the method is 'am'"):
        FairerNMF(2, fairness=0.5, method="mu").fit(X, sensitive_features=groups)


def test_families_and_members(small):
    pd = pytest.importorskip("pandas")
    X, groups, weights = small
    region = np.array(["east", "west"])[np.arange(60) % 7 % 2]
    frame = pd.DataFrame({"kind": groups, "region": region})
    model = FairerNMF(2, groups="each", random_state=0, n_init=1, baseline="zero")
    W = model.fit_transform(X, sensitive_features=frame)
    assert model.groups_.tolist() == [
        ("kind", "a"), ("kind", "b"), ("kind", "c"), ("region", "east"), ("region", "west"),
    ]  # fmt: skip
    # Totals count a row once.
    direct = np.linalg.norm(X - W @ model.components_)
    assert model.reconstruction_err_ == pytest.approx(direct, rel=1e-8)
    members = np.stack(
        [groups == g for g in "abc"] + [region == r for r in ("east", "west")], axis=1
    ).astype(int)
    other = FairerNMF(2, groups="members", random_state=0, n_init=1, baseline="zero")
    other.fit(X, sensitive_features=members)
    np.testing.assert_array_equal(other.group_losses_, model.group_losses_)
    found = audit(X, model, sensitive_features=frame, groups="each", baseline="zero", sample_weight=weights)
    assert found.by_group.index.names == ["family", "group"]
    assert found.by_group.loc[("region", "east"), "rows"] == ((region == "east") & (weights > 0)).sum()
    with pytest.raises(ValueError, match="do not go with groups that overlap"):
        found.report(min_group_size=3)
    with pytest.raises(ValueError, match="groups is 'odd': expected 'combined', 'each', 'each-and-combined' or 'members'"):
        FairerNMF(2, groups="odd").fit(X, sensitive_features=frame)
    with pytest.raises(ValueError, match="table of 0 and 1"):
        other.fit(X, sensitive_features=frame)


def test_leximin_is_never_above_the_plain_fit(small):
    X, groups, _ = small
    plain = FairerNMF(2, random_state=0, n_init=1, bound=False).fit(X, sensitive_features=groups)
    lex = FairerNMF(2, ties="leximin", random_state=0, n_init=1, bound=False)
    lex.fit(X, sensitive_features=groups)
    for a, b in zip(sorted(lex.group_losses_)[::-1], sorted(plain.group_losses_)[::-1], strict=True):
        assert a <= b + 1e-6
        if a < b - 1e-6:
            break
    with pytest.raises(ValueError, match="leave fairness at 1"):
        FairerNMF(2, ties="leximin", fairness=0.5).fit(X, sensitive_features=groups)
