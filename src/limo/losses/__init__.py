"""Losses of labels and scores: one for each way to add up pairs, seen in three views.

A loss is a list of :class:`Term` records. A pair is a relevant and an irrelevant item of the same
row, with scores s_u and s_v. In the three views a row is an instance, a label, or the whole matrix.
With d = s_u - s_v and a base loss phi, a row with p relevant and n irrelevant items has the loss

    mean       1/(pn) sum over u and v of phi(1 - d)           bounds ranking loss and 1 - AUC
    top        1/p sum over u of log(1 + sum over v exp(-d))   bounds one-error and 1 - AP
    bottom     1/n sum over v of log(1 + sum over u exp(-d))   bounds coverage and 1 - F1
    worst      log(1 + sum over u and v of exp(-d))            bounds "not all pairs in order"
    pointwise  sum of phi((2y - 1) s) over single entries      bounds Hamming loss

:func:`loss` gives the value; :func:`derivatives` also the gradient and second derivatives;
:func:`bounds` what the value guarantees about measures.
``limo.MarginClassifier`` learns a linear model for any list of terms.
"""

from limo.losses._bounds import bounds
from limo.losses._sums import Derivatives, derivatives, loss
from limo.losses._term import Term

__all__ = ["Derivatives", "Term", "bounds", "derivatives", "loss"]
