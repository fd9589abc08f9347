"""The paper's tables and figures, computed again from stored results, beside printed numbers."""

from limo.reproduce._benchmark import benchmark, draw_benchmark
from limo.reproduce._reproduction import Reproduction
from limo.reproduce._synthetic import draw_synthetic, synthetic
from limo.reproduce._theory import theory
from limo.reproduce._theory_facts import COUNTEREXAMPLES, Counterexample

__all__ = [
    "COUNTEREXAMPLES",
    "Counterexample",
    "Reproduction",
    "benchmark",
    "draw_benchmark",
    "draw_synthetic",
    "synthetic",
    "theory",
]
