import math

import matplotlib.pyplot as plt
import pytest

from experiment.cases import DEMSAR, rows_of
from limo.experiment import compare_methods, diagram_layout, plot_critical_difference


@pytest.fixture
def comparison():
    return compare_methods(rows_of(DEMSAR), "macro_auc", alpha=0.1)


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def lines(figure, gid):
    return [line for line in figure.axes[0].lines if line.get_gid() == gid]


def test_every_method_stands_at_its_rank_and_every_group_is_a_bar(comparison):
    figure = plot_critical_difference(comparison)
    texts = [text.get_text() for text in figure.axes[0].texts]
    for name, rank in comparison.average_ranks.items():
        assert any(name in text and f"{rank:.2f}" in text for text in texts)
    bars = lines(figure, "group")
    assert len(bars) == len(comparison.groups) == 2
    for bar, group in zip(bars, comparison.groups, strict=True):
        first, last = bar.get_xdata()
        assert first < comparison.average_ranks[group[0]]
        assert last > comparison.average_ranks[group[-1]]
    left, right = lines(figure, "ruler")[0].get_xdata()
    assert right - left == pytest.approx(comparison.critical_difference)


def test_wilcoxon_groups_have_no_ruler(comparison):
    figure = plot_critical_difference(comparison, test="wilcoxon")
    assert not lines(figure, "ruler")
    assert len(lines(figure, "group")) == len(comparison.wilcoxon_groups)
    assert "average ranks on 14 blocks" in figure.axes[0].get_title(loc="left")


def test_axes_of_ones_own_are_used(comparison):
    figure, ax = plt.subplots()
    assert plot_critical_difference(comparison, ax=ax) is figure


def test_the_layout_in_plain_numbers():
    """Two names left and two right, read from the outside in; bars from best to worst member."""
    ranks = {"A": 1.25, "B": 2.0, "C": 2.75, "D": 4.0}
    found = diagram_layout(ranks, (("A", "B"), ("B", "C")), 1.0)
    places = {one["name"]: (one["rank"], one["side"], one["line"]) for one in found["names"]}
    assert places == {
        "A": (1.25, "left", 0), "B": (2.0, "left", 1), "C": (2.75, "right", 1), "D": (4.0, "right", 0),
    }  # fmt: skip
    assert found["ticks"] == [1, 2, 3, 4]
    assert found["bars"] == [
        {"start": 1.25, "end": 2.0, "line": 0}, {"start": 2.0, "end": 2.75, "line": 1},
    ]  # fmt: skip
    assert found["ruler"] == [1.0, 2.0]


def test_one_method_has_an_axis_and_no_ruler():
    found = diagram_layout({"A": 1.0}, (), math.nan)
    assert (found["ticks"], found["ruler"], found["bars"]) == ([1, 2], None, [])


def test_an_unknown_test_is_rejected(comparison):
    with pytest.raises(ValueError, match="Unknown test 'holm'"):
        plot_critical_difference(comparison, test="holm")
