"""Solvers: from features and labels to weights, with a word on how good they are."""
