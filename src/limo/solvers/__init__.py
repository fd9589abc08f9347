"""Solvers: records of settings that turn features and labels into weights."""
