"""The paper's tables and figures, made anew from stored results, beside the printed numbers."""

from limo.reproduce.benchmark import benchmark, draw_benchmark
from limo.reproduce.record import Reproduction
from limo.reproduce.synthetic import draw_synthetic, synthetic
from limo.reproduce.theory import theory

__all__ = ["Reproduction", "benchmark", "draw_benchmark", "draw_synthetic", "synthetic", "theory"]
