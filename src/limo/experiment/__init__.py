"""Experiments: rows of results, and what they say about the methods compared."""
