import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import LinearRegression, RidgeCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import limo
from limo._views import ROWS
from limo.thresholds import best_instance_thresholds
from limo.thresholds._instance import finite_thresholds, fit_ridge
from limo.thresholds._scores import check_pair
from limo.thresholds._search import best_thresholds
from limo.thresholds._target import TARGETS
from naive import thresholds as naive

RNG = np.random.default_rng(100)
X = RNG.normal(size=(200, 3))
S = X @ RNG.normal(size=(3, 5)) + RNG.normal(scale=0.1, size=(200, 5))
TRUE_T = X[:, 0] + 0.5 * X[:, 1]
Y = (TRUE_T[:, None] < S).astype(int)


class Remember(DummyRegressor):
    """Keeps what it was given to learn."""

    def fit(self, X, y):
        self.seen_, self.targets_ = X, y
        return super().fit(X, y)


@pytest.mark.parametrize("source", ["scores", "features", "both"])
@pytest.mark.parametrize("regressor", ["ridge", "svr", LinearRegression()], ids=str)
def test_a_threshold_that_depends_on_x_is_learnt(source, regressor):
    rule = limo.InstanceThreshold(source=source, regressor=regressor).fit(Y, S, X)
    found = limo.instance_f1(Y, rule.predict(S, X))
    flat = limo.GlobalThreshold("instance_f1").fit(Y, S).predict(S)
    if source != "scores":
        assert found > limo.instance_f1(Y, flat) + 0.02
    assert rule.thresholds(S, X).shape == (200,)


def test_what_the_regression_reads():
    for source, width in (("scores", 5), ("features", 3), ("both", 8)):
        rule = limo.InstanceThreshold(source=source, regressor=Remember()).fit(Y, S, X)
        assert rule.regressor_.seen_.shape == (200, width)
    assert (rule.regressor_.seen_[:, :3] == X).all()
    assert (rule.regressor_.seen_[:, 3:] == -np.sort(-S, axis=1)).all()


def test_sparse_features_stay_sparse():
    rule = limo.InstanceThreshold(source="both", regressor=Remember()).fit(
        Y, S, sparse.csr_array(X)
    )
    assert sparse.issparse(rule.regressor_.seen_)
    dense = limo.InstanceThreshold(source="both").fit(Y, S, X).predict(S, X)
    found = limo.InstanceThreshold(source="both").fit(Y, S, sparse.csr_array(X))
    assert (found.predict(S, sparse.csr_array(X)) == dense).mean() > 0.99


def test_training_targets_are_the_best_ones():
    rule = limo.InstanceThreshold("hamming_loss", regressor=Remember()).fit(Y, S)
    best = best_instance_thresholds(Y, S, "hamming_loss")
    inside = np.isfinite(best)
    assert (rule.regressor_.targets_[inside] == best[inside]).all()


@pytest.mark.parametrize("end_gap", [0.0, 0.5, 2.0])
@pytest.mark.parametrize("name", ["f1", "hamming_loss", "balanced_accuracy"])
def test_finite_targets_part_as_the_infinite_ones(end_gap, name):
    rng = np.random.default_rng(101)
    for _ in range(50):
        m, l = rng.integers(1, 6, 2)
        labels = (rng.random((m, l)) < 0.5).astype(int)
        scores = rng.integers(0, 3, (m, l)) / 2.0
        pair = check_pair(labels, scores)
        best = best_thresholds(ROWS, TARGETS[name], *pair)
        finite = finite_thresholds(best, pair[1], end_gap)
        assert np.isfinite(finite).all()
        assert naive.cut(scores, finite, "instance") == naive.cut(scores, best.values, "instance")


def test_ends_lie_a_share_of_the_average_gap_beyond():
    scores = [[0.0, 1.0, 3.0], [0.0, 1.0, 3.0]]
    rule = limo.InstanceThreshold("hamming_loss", regressor=Remember(), end_gap=0.5)
    rule.fit([[1, 1, 1], [0, 0, 0]], scores)
    assert rule.regressor_.targets_ == pytest.approx([-0.75, 3.75])


def test_ties_can_go_either_way():
    found = {
        ties: limo.InstanceThreshold("hamming_loss", regressor=Remember(), ties=ties)
        .fit([[1, 0, 1, 0]], [[4.0, 3.0, 2.0, 1.0]]).regressor_.targets_.tolist()
        for ties in ("fewest", "most")
    }  # fmt: skip
    assert found == {"fewest": [3.5], "most": [1.5]}


def released_hamming_threshold(y, s):
    """The rule of the authors' released program, from its description, for scores without ties.

    Start below all scores, remove items from the lowest up, but never the highest; keep the first
    place with the fewest errors.
    """
    order = np.argsort(s)
    ordered = s[order]
    best, place = np.sum(y == 0), None
    for k in range(1, len(s)):
        errors = np.sum(y[order[:k]] == 1) + np.sum(y[order[k:]] == 0)
        if errors < best:
            best, place = errors, k
    return None if place is None else (ordered[place - 1] + ordered[place]) / 2


def test_at_least_one_is_the_rule_of_the_released_program():
    rng = np.random.default_rng(103)
    scores, labels = rng.normal(size=(300, 5)), (rng.random((300, 5)) < 0.3).astype(int)
    rule = limo.InstanceThreshold(
        "hamming_loss", regressor=Remember(), end_gap=0, ties="most", at_least_one=True
    )
    found = rule.fit(labels, scores).regressor_.targets_
    expected = [released_hamming_threshold(y, s) for y, s in zip(labels, scores, strict=True)]
    for t, e, s in zip(found, expected, scores, strict=True):
        assert t == pytest.approx(e) if e is not None else t < s.min() and t > s.min() - 1e-5
    assert (found < scores.max(axis=1)).all()
    plain = rule.set_params(at_least_one=False).fit(labels, scores).regressor_.targets_
    assert (plain == scores.max(axis=1)).any()  # elsewhere nothing is predicted


@pytest.mark.parametrize("target", ["f1", "hamming_loss", "jaccard"])
@pytest.mark.parametrize("ties", ["fewest", "most"])
def test_at_least_one_label_is_above_every_training_threshold(target, ties):
    rng = np.random.default_rng(104)
    scores = rng.integers(0, 3, (60, 4)) / 2.0
    labels = (rng.random((60, 4)) < 0.3).astype(int)
    assert (labels.sum(axis=1) == 0).any()
    rule = limo.InstanceThreshold(target, regressor=Remember(), ties=ties, at_least_one=True)
    found = rule.fit(labels, scores).regressor_.targets_
    assert (found < scores.max(axis=1)).all()
    function = naive.FUNCTIONS[target]
    for y, s, t in zip(labels.tolist(), scores.tolist(), found, strict=True):
        values = [
            function(*naive.counts(y, [int(v > c) for v in s])) for c in {*s, -1.0} if c < max(s)
        ]
        own = function(*naive.counts(y, [int(v > t) for v in s]))
        assert own == pytest.approx(max(values))


def test_an_instance_without_scores_has_nothing_above_its_threshold():
    scores = sparse.csr_array(([0.5], ([0], [1])), shape=(2, 3))
    rule = limo.InstanceThreshold("hamming_loss", regressor=Remember(), at_least_one=True)
    found = rule.fit([[0, 0, 1], [0, 0, 1]], scores).regressor_.targets_
    assert found[0] < 0.5
    assert found[1] == 0


def test_scores_far_below_the_others_move_no_threshold():
    """Labels that are constant in training get any low score, another one in every model."""
    rng = np.random.default_rng(102)
    scores = np.sort(rng.normal(size=(80, 30)), axis=1)[:, ::-1]
    labels = (scores > rng.normal(1, 0.3, (80, 1))).astype(int)
    rule = limo.InstanceThreshold().fit(labels, scores)
    sunk = scores.copy()
    sunk[:, -5:] -= 1000
    assert (rule.thresholds(sunk) == rule.thresholds(scores)).all()


def test_sparse_scores_with_short_rows():
    kept = RNG.random(S.shape) < 0.5
    T = sparse.csr_array((S[kept], np.nonzero(kept)), shape=S.shape)
    P = limo.InstanceThreshold().fit(Y, T).predict(T)
    assert not P.toarray()[~kept].any()
    assert limo.instance_f1(Y, P) > 0.3


def test_one_label_and_one_instance():
    assert limo.InstanceThreshold().fit([[1], [0]], [[0.75], [0.25]]).predict([[0.5]]).shape == (
        1,
        1,
    )


def test_wrong_input_is_refused():
    for source in ("features", "both"):
        rule = limo.InstanceThreshold(source=source)
        with pytest.raises(
            ValueError,
            match=f"source='{source}'.* reads the features: pass X to fit and to predict",
        ):
            rule.fit(Y, S)
        rule.fit(Y, S, X)
        with pytest.raises(ValueError, match="pass X to fit and to predict"):
            rule.predict(S)
        with pytest.raises(ValueError, match=r"expected 200 rows, got shape \(100, 3\)"):
            rule.predict(S, X[:100])
    with pytest.raises(
        ValueError, match="Unknown source of .* 'x'. Choose from: scores, features, both"
    ):
        limo.InstanceThreshold(source="x").fit(Y, S, X)
    with pytest.raises(ValueError, match="Unknown regressor 'svm'. Did you mean 'svr'"):
        limo.InstanceThreshold(regressor="svm").fit(Y, S)
    with pytest.raises(ValueError, match="end_gap must be a number from 0 up, got -1"):
        limo.InstanceThreshold(end_gap=-1).fit(Y, S)
    with pytest.raises(ValueError, match="at_least_one=True needs a target that judges each inst"):
        limo.InstanceThreshold("micro_f1", at_least_one=True).fit(Y, S)
    with pytest.raises(ValueError, match="Unknown rule for ties 'all'"):
        limo.InstanceThreshold(ties="all").fit(Y, S)
    with pytest.raises(
        ValueError, match="threshold for each instance cannot be fitted to 'macro_f1'"
    ):
        limo.InstanceThreshold("macro_f1").fit(Y, S)


@pytest.mark.parametrize("n_rows", [3, 40, 200])
def test_the_ridge_is_that_of_scikit_learn(n_rows):
    rows = np.column_stack([S[:n_rows, :3], np.ones(n_rows)])  # one constant column
    goal = TRUE_T[:n_rows]
    peer = make_pipeline(StandardScaler(with_mean=False), RidgeCV(np.logspace(-2, 4, 13)))
    coef, level = fit_ridge(rows, goal)
    assert rows @ coef + level == pytest.approx(peer.fit(rows, goal).predict(rows), abs=1e-8)


@pytest.mark.parametrize("target", ["macro_f1", "micro_f1", "hamming_loss", "instance_f1"])
@pytest.mark.parametrize("offset", ["global", "label"])
def test_the_offset_is_best_for_scores_minus_t_of_x(target, offset):
    rule = limo.InstanceThreshold(target, offset=offset).fit(Y, S)
    plain = TARGETS["instance_" + ("hamming_loss" if target == "hamming_loss" else "f1")]
    assert rule.thresholds(S) == pytest.approx(
        limo.InstanceThreshold(plain).fit(Y, S).thresholds(S)
    )
    rest = S - rule.thresholds(S)[:, np.newaxis]
    if offset == "global":
        expected = limo.GlobalThreshold(target).fit(Y, rest).threshold_
    else:
        joint = "micro_f1" if target == "instance_f1" else target
        expected = limo.LabelThreshold(joint).fit(Y, rest).thresholds_
    assert rule.offset_ == pytest.approx(expected)
    assert (rule.predict(S) == (rest > rule.offset_)).all()


def test_an_unknown_offset_is_refused():
    with pytest.raises(ValueError, match="offset"):
        limo.InstanceThreshold(offset="row").fit(Y, S)


def test_instances_without_a_known_label_have_no_say():
    rng = np.random.default_rng(5)
    labels = (rng.random((40, 5)) < 0.4).astype(float)
    scores = labels + rng.standard_normal(labels.shape)
    labels[:6] = np.nan
    for rule in (limo.InstanceThreshold(), limo.InstanceThreshold("micro_f1", offset="global")):
        found = clone(rule).fit(labels, scores, missing=np.nan)
        expected = clone(rule).fit(labels[6:], scores[6:])
        np.testing.assert_allclose(found.thresholds(scores), expected.thresholds(scores), atol=1e-9)
        np.testing.assert_allclose(found.offset_, expected.offset_)
