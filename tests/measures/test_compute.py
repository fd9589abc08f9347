import numpy as np
import pytest

import limo
from limo._checks import check_inputs
from limo.measures import _compute as computing
from limo.measures import make_measure

Y, S = [[1, 0, 1], [0, 1, 0]], [[0.3, 0.2, 0.1], [0.5, 0.6, 0.7]]


def test_each_view_is_read_once(monkeypatch):
    seen = []
    read = computing.read_any_profiles
    monkeypatch.setattr(
        computing,
        "read_any_profiles",
        lambda view, *rest: seen.append(view.name) or read(view, *rest),
    )
    limo.evaluate(Y, S, Y)
    assert seen == ["entries", "rows", "columns"]


def test_a_single_measure_reads_its_own_view_only(monkeypatch):
    seen = []
    read = computing.read_any_profiles
    monkeypatch.setattr(
        computing,
        "read_any_profiles",
        lambda view, *rest: seen.append(view.name) or read(view, *rest),
    )
    limo.macro_auc(Y, S)
    limo.hamming_loss(Y, Y)
    assert seen == ["columns"]


def test_plain_values_are_those_of_evaluate():
    """Also with weights, missing labels, and measures of whole matrices."""

    def share(Y, P):
        return float((Y == P).mean())

    whole = make_measure(share, needs="labels", better="high")
    rng = np.random.default_rng(0)
    labels = (rng.random((20, 4)) < 0.4).astype(float)
    labels[:, 3], labels[0] = 0, 0
    scores, P = rng.normal(size=labels.shape), rng.random(labels.shape) < 0.5
    gaps = np.where(rng.random(labels.shape) < 0.2, np.nan, labels)
    own = list(limo.MEASURES)
    for Y, given, measures in (
        (labels, {}, [*own, whole]),
        (gaps, {"missing": np.nan, "sample_weight": rng.random(20)}, own),
    ):
        checked = check_inputs(Y, scores, P, **given)
        for name in ("standard", "paper"):
            expected = limo.evaluate(Y, scores, P, measures=measures, conventions=name, **given)
            kinds = [limo.MEASURES[m] if isinstance(m, str) else m for m in measures]
            found = computing.plain_values(kinds, checked, computing.check_conventions(name))
            assert found == pytest.approx(dict(expected), nan_ok=True, abs=0)


def test_more_can_be_read_from_every_view():
    found = computing.compute(
        [],
        check_inputs(Y, S),
        limo.Conventions(),
        lambda view, before: {"pairs": lambda profile: profile.n_pairs},
    ).others
    assert {view: rows["pairs"].tolist() for view, rows in found.items()} == {
        "rows": [2, 2],
        "columns": [1, 1, 1],
        "entries": [9],
    }


def test_what_was_found_in_the_whole_matrix_guides_the_other_views():
    seen = {}

    def also(view, before):
        seen[view.name] = {name: found["top"].tolist() for name, found in before.items()}
        return {"top": lambda profile: profile.top_irrelevant}

    computing.compute([], check_inputs(Y, S), limo.Conventions(), also)
    assert seen["entries"] == {}
    assert seen["rows"] == {"entries": [0.7]}


def test_conventions_by_name_and_by_record():
    record = limo.Conventions()
    assert computing.check_conventions(record) is record
    assert computing.check_conventions("paper").name == "paper"
    with pytest.raises(ValueError, match="Unknown conventions"):
        computing.check_conventions("")
