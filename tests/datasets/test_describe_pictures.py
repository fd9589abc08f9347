"""Pictures hold what they claim to show."""

from collections.abc import Iterator

import matplotlib.pyplot as plt
import numpy as np
import pytest

import limo
from limo.datasets import Dataset, plot_regions, plot_triangles


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    backend = plt.get_backend()
    plt.switch_backend("agg")
    yield
    plt.close("all")
    plt.switch_backend(backend)


@pytest.mark.parametrize("n_labels", [3, 60])
def test_a_description(n_labels: int) -> None:
    data = limo.datasets.make_multilabel(400, 5, n_labels)
    figure = limo.describe(data).plot()
    left, middle, right = figure.axes
    assert left.get_title() == "positives of each label"
    assert sum(bar.get_height() for bar in middle.patches) == 400
    assert len(right.get_yticklabels()) == min(10, n_labels * (n_labels - 1) // 2)
    figure.canvas.draw()


def test_a_small_description_with_long_names() -> None:
    Y = np.array([[1, 1], [0, 1]])
    data = Dataset(np.eye(2), Y, ("f", "g"), ("a" * 30, "b"), "toy")
    figure = limo.describe(data).plot()
    assert figure.axes[2].get_yticklabels()[0].get_text() == "a" * 17 + "… + b"
    figure.canvas.draw()


def test_triangles() -> None:
    figure = plot_triangles()
    texts = {text.get_text() for text in figure.axes[0].texts}
    assert texts == {"{A}", "{A, B, C}", "{B, D}", "{A, B, C, D}"}
    assert len(plot_triangles(limo.datasets.figure1(1)).axes[0].texts) == 1
    figure.canvas.draw()


def test_regions() -> None:
    data = limo.datasets.figure1(300)
    figure = plot_regions(data)
    assert [ax.get_title() for ax in figure.axes] == [f"label {name}" for name in "ABCD"]
    for j, ax in enumerate(figure.axes):
        without, having = ax.collections
        assert len(having.get_offsets()) == data.Y[:, j].sum()
        assert len(without.get_offsets()) == 300 - data.Y[:, j].sum()
    plot_regions().canvas.draw()
