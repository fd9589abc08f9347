import matplotlib.pyplot as plt
import numpy as np

from limo._drawing import draw_dots, draw_lines, new_axes


def test_new_axes_are_unknown_to_pyplot():
    before = plt.get_fignums()
    ax = new_axes(None, 3, 2)
    assert plt.get_fignums() == before
    assert new_axes(ax, 1, 1) is ax


def test_more_lines_than_colours():
    ax = new_axes(None, 3, 2)
    curves = [(np.arange(2.0), np.arange(2.0) + k) for k in range(12)]
    draw_lines(ax, curves, [f"{k}" for k in range(12)], list(range(10)))
    assert len(ax.lines) == 12
    assert len(ax.get_legend().get_texts()) == 10


def test_the_first_name_is_on_top():
    ax = new_axes(None, 3, 2)
    draw_dots(ax, ["a", "b"], np.array([0.1, 0.2]), None, None)
    bottom, top = ax.get_ylim()
    assert top < 0 < 1 < bottom
