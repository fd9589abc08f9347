"""What can be wrong with a plan or a store."""

__all__ = ["Interrupted", "PlanError", "StoreError"]


class PlanError(ValueError):
    """A plan that cannot be carried out as it stands: what was expected, what came."""


class StoreError(RuntimeError):
    """A store of results that is damaged, or none at all. Nothing was changed."""


class Interrupted(KeyboardInterrupt):
    """Stopped by the user; says what is kept and how to go on."""
