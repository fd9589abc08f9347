import pytest

from limo.experiment import Data, Outcome, Plan, Progress, Splits
from limo.experiment._runner import TimeEstimate


def outcome(dataset, method, seconds):
    return Outcome("0", dataset, 0, method, 0, (), seconds, "{}", (), "")


def test_what_is_left_is_estimated_from_the_most_similar_runs():
    plan = Plan([Data("a", "figure1"), Data("b", "figure1")], ["limo", "br"], ["coverage"],
                splits=Splits(number=1))  # fmt: skip
    a_limo, a_br, b_limo, b_br = plan.jobs()
    estimate = TimeEstimate(n_jobs=2)
    assert estimate.seconds([a_limo]) is None
    estimate.add(outcome("a", "limo", 4.0))
    assert estimate.seconds([a_limo]) == 2.0  # the same
    assert estimate.seconds([b_limo]) == 2.0  # the same method
    assert estimate.seconds([a_br]) == 2.0  # the same data
    assert estimate.seconds([b_br]) == 2.0  # anything at all
    estimate.add(outcome("b", "br", 10.0))
    estimate.add(outcome("b", "br", 90.0))
    estimate.add(outcome("b", "br", 10.0))
    assert estimate.seconds([b_br, b_limo, a_br]) == (10 + 4 + 10) / 2
    assert estimate.seconds([]) == 0


@pytest.mark.parametrize(
    ("seconds", "text"), [(12.4, "12 s"), (75, "1 min 15 s"), (3700, "1 h 1 min")]
)
def test_progress_in_a_sentence(seconds, text):
    now = Progress(10, skipped=2, done=3, failed=1, running=("a", "b"), seconds_left=seconds)
    assert str(now) == f"5 of 10 runs, 1 failed; running a; b; about {text} left"
    assert now.left == 5
    assert str(Progress(2, skipped=2, seconds_left=0.0)) == "2 of 2 runs"
