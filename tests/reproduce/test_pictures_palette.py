from itertools import combinations

from limo.reproduce._pictures import STYLES, figure, style


def test_no_two_methods_look_alike():
    for a, b in combinations(STYLES, 2):
        assert STYLES[a]["color"] != STYLES[b]["color"]
        assert STYLES[a]["marker"] != STYLES[b]["marker"]


def test_a_cut_per_label_is_hollow():
    assert style("LIMO-inst-t") == STYLES["LIMO-inst"] | {"markerfacecolor": "white"}
    assert style("LIMO-inst-t(x)") == style("LIMO-inst") == STYLES["LIMO-inst"]


def test_figures_come_with_a_grid_of_axes():
    made, axes = figure(4, 3, 2, 1)
    assert axes.shape == (2, 1)
    assert made.get_size_inches().tolist() == [4, 3]
