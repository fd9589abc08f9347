"""The losses of :mod:`limo.losses` as custom objectives of XGBoost, LightGBM and CatBoost.

:class:`MarginObjective` gives a booster the gradient and the diagonal of the Hessian by the scores
of all labels at once, so that pairs across labels count. ``limo.BoostedMarginClassifier`` is a
classifier trained with it. :func:`catboost_objective` is for CatBoost, which asks for derivatives
instance by instance.
"""

from limo.objectives._objective import MarginObjective, catboost_objective

__all__ = ["MarginObjective", "catboost_objective"]
