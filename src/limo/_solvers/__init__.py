"""Solvers: from a problem to weights, and how good they are."""
