import math
import pickle

import pytest

import limo


def test_presets_are_the_table_of_the_documentation():
    standard, paper, sklearn = (limo.CONVENTIONS[n] for n in ("standard", "paper", "sklearn"))
    assert (standard.auc_tie, paper.auc_tie, sklearn.auc_tie) == (0.5, 1.0, 0.5)
    assert (standard.tied_rank, paper.tied_rank, sklearn.tied_rank) == ("worst", "best", "worst")
    assert {c.ranking_loss_tie for c in (standard, paper, sklearn)} == {1.0}
    assert {c.coverage_offset for c in (standard, paper, sklearn)} == {-1.0}
    assert dict(standard.undefined) == dict(paper.undefined) == {}


@pytest.mark.parametrize("preset", limo.CONVENTIONS.values(), ids=limo.CONVENTIONS)
def test_records_travel_to_other_processes(preset):
    copy = pickle.loads(pickle.dumps(preset))
    assert {k: str(v) for k, v in vars(copy).items()} == {
        k: str(v) for k, v in vars(preset).items()
    }


def test_records_cannot_be_changed():
    with pytest.raises(TypeError):
        limo.CONVENTIONS["sklearn"].undefined["coverage"] = 3.0
    with pytest.raises(TypeError):
        limo.CONVENTIONS["mine"] = limo.Conventions()


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"auc_tie": -0.1}, "auc_tie must be between 0 and 1, got -0.1"),
        ({"ranking_loss_tie": 2}, "ranking_loss_tie must be between 0 and 1, got 2"),
        ({"tied_rank": "mean"}, "tied_rank must be 'worst' or 'best', got 'mean'"),
        ({"one_error_tie": "any"}, "one_error_tie must be 'worst' or 'best', got 'any'"),
        ({"f1_of_nothing": 3}, "f1_of_nothing must be between 0 and 1, or be nan, got 3"),
        ({"undefined": {"macro_acu": 0}}, "Unknown measure 'macro_acu'. Did you mean 'macro_auc'"),
    ],
)
def test_wrong_choices_are_refused(wrong, message):
    with pytest.raises(ValueError, match=message):
        limo.macro_auc([[1], [0]], [[1.0], [0.5]], conventions=limo.Conventions(**wrong))


def test_each_field_acts():
    Y, S, P = [[1, 0, 0]], [[0.5, 0.5, 0.1]], [[0, 0, 0]]
    given = limo.Conventions
    assert limo.ranking_loss(Y, S, conventions=given(ranking_loss_tie=0.0)) == 0
    assert limo.instance_auc(Y, S, conventions=given(auc_tie=0.0)) == 0.5
    assert limo.coverage(Y, S, conventions=given(tied_rank="best")) == 0
    assert limo.coverage(Y, S, conventions=given(coverage_offset=0)) == 2
    assert limo.one_error(Y, S, conventions=given(one_error_tie="best")) == 0
    assert limo.instance_f1(P, P, conventions=given(f1_of_nothing=1.0)) == 1
    assert limo.ranking_loss(P, S, conventions=given(undefined={"ranking_loss": 0.25})) == 0.25


def test_nan_for_f1_of_nothing_leaves_the_row_out():
    skip = limo.Conventions(f1_of_nothing=math.nan)
    found = limo.evaluate([[1, 0], [0, 0]], y_pred=[[1, 0], [0, 0]], conventions=skip)
    assert found["instance_f1"] == 1
    assert found.skipped["instance_f1"] == 1
    assert found.undefined["instance_f1"] == {"no relevant label": 1}
