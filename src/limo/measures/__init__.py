"""The eleven measures: row functions, a registry, conventions, and a function for each."""
