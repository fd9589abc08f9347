from itertools import combinations

import numpy as np
import pytest

import limo
from limo.reproduce._benchmark_plans import DATASETS
from limo.reproduce._benchmark_tables import printed_ranks
from limo.reproduce._pictures import (
    STYLES,
    figure,
    plot_average_ranks,
    plot_bounds,
    plot_relative,
    plot_table2,
    plot_theorem3,
    style,
)
from limo.reproduce._synthetic import beside_printed, experiment_means, printed_synthetic
from limo.reproduce._theory_facts import bound_facts, table2_facts, theorem3_facts
from reproduce.fabricated import synthetic_rows


def test_every_rank_is_drawn_in_every_panel():
    table = printed_ranks(DATASETS)
    upper, lower = plot_average_ranks({"one": table, "two": table}).axes
    for ax in (upper, lower):
        drawn = {line.get_label(): line.get_ydata().tolist() for line in ax.lines[:6]}
        assert drawn == {method: table[method].tolist() for method in table}
        assert ax.yaxis_inverted()
    assert lower.get_xticklabels()[0].get_text() == "Hamming\nloss"
    assert upper.get_title(loc="left") == "one"


def test_no_two_methods_look_alike():
    for a, b in combinations(STYLES, 2):
        assert STYLES[a]["color"] != STYLES[b]["color"]
        assert STYLES[a]["marker"] != STYLES[b]["marker"]


def test_thresholds_per_label_are_hollow():
    assert style("LIMO-inst-t") == STYLES["LIMO-inst"] | {"markerfacecolor": "white"}
    assert style("LIMO-inst-t(x)") == style("LIMO-inst") == STYLES["LIMO-inst"]


def test_figures_come_with_a_grid_of_axes():
    made, axes = figure(4, 3, 2, 1)
    assert axes.shape == (2, 1)
    assert made.get_size_inches().tolist() == [4, 3]


def test_both_panels_show_every_method_where_its_value_is():
    table = beside_printed(experiment_means(synthetic_rows()), printed_synthetic().iloc[:21])
    left, right = plot_relative(table).axes
    assert [ax.get_title() for ax in (left, right)] == ["ours", "printed"]
    for ax, column in ((left, "relative"), (right, "printed_relative")):
        drawn = {line.get_label(): line.get_xdata() for line in ax.lines}
        for method in ("LIMO", "LIMO-inst", "LIMO-label"):
            own = table[table["method"] == method]
            assert drawn[method].tolist() == pytest.approx(own[column].tolist())
    # the worst value of each measure is on the right: ranking loss .027
    assert right.texts[0].get_text() == "0.027"
    assert left.xaxis_inverted()


def test_table_2_shows_every_cell_and_rounds_nothing_up_to_a_whole():
    facts = table2_facts(1)
    facts["predictors"] = 10_000
    facts["perfect"] = np.where(facts["optimised"] == "yes", 10_000, 9_999)
    ax = plot_table2(facts).axes[0]
    texts = [text.get_text() for text in ax.texts]
    assert texts.count("✓") == 43
    assert texts.count("✗") == 11
    assert texts.count("100 %") == 43
    assert texts.count("99.9 %") == 11  # no share beside the tick in the limit
    assert len(ax.get_yticklabels()) == len(limo.MEASURES)


def test_theorem_3_has_a_curve_and_a_bound_for_each_density():
    facts = theorem3_facts(1)
    ax = plot_theorem3(facts).axes[0]
    assert len(ax.lines) == 2 * 3 + 1
    own = facts[facts["density"] == 0.1]
    assert np.array_equal(ax.lines[0].get_ydata(), own["median"])
    assert np.array_equal(ax.lines[1].get_ydata(), own["bound"])


def test_bounds_are_drawn_point_by_point():
    facts = bound_facts(5)
    panels = plot_bounds(facts).axes
    assert [ax.get_title() for ax in panels] == [
        "Theorem 4: instance-F1",
        "Theorem 4: micro-F1",
        "Theorem 5: macro-F1",
        "Theorem 5: Hamming loss",
    ]
    own = facts[facts["measure"] == "macro_f1"]
    assert np.array_equal(panels[2].collections[-1].get_offsets(), own[["bound", "value"]])
