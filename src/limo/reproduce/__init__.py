"""The paper's tables and figures, made anew from stored results, beside the printed numbers."""

from limo.reproduce._benchmark import benchmark, draw_benchmark
from limo.reproduce._pages import Reproduction
from limo.reproduce._synthetic import draw_synthetic, synthetic
from limo.reproduce._theory import theory

__all__ = ["Reproduction", "benchmark", "draw_benchmark", "draw_synthetic", "synthetic", "theory"]
