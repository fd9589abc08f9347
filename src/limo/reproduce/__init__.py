"""The paper's tables and figures, made anew from stored results, beside the printed numbers."""

from limo.reproduce.record import Reproduction
from limo.reproduce.theory import theory

__all__ = ["Reproduction", "theory"]
