"""The losses of :mod:`limo.losses` as custom objectives of XGBoost and LightGBM.

:class:`MarginObjective` gives a booster the gradient and the diagonal of the Hessian by the scores
of all labels at once, so that pairs across labels count. ``limo.BoostedMarginClassifier`` is a
classifier trained with it.
"""

from limo.objectives._objective import MarginObjective

__all__ = ["MarginObjective"]
