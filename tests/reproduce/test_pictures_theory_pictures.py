import numpy as np

import limo
from limo.reproduce._pictures import plot_bounds, plot_table2, plot_theorem3
from limo.reproduce._theory_facts import bound_facts, table2_facts, theorem3_facts


def test_table_2_shows_every_cell_and_rounds_nothing_up_to_a_whole():
    facts = table2_facts(1)
    facts["predictors"] = 10_000
    facts["perfect"] = np.where(facts["optimised"] == "yes", 10_000, 9_999)
    ax = plot_table2(facts).axes[0]
    texts = [text.get_text() for text in ax.texts]
    assert texts.count("✓") == 32
    assert texts.count("✗") == 11
    assert texts.count("100 %") == 32
    assert texts.count("99.9 %") == 12
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
