"""The thresholds of one model, from labels, scores and predictions."""

import limo
from limo._checks import check_inputs
from limo._evaluation import evaluate_checked
from limo.report import _details as details


def cut_of(Y, S, P):
    checked = check_inputs(Y, S, P)
    found = evaluate_checked(checked, limo.Conventions(), details.cut_functions)[1]
    return details.cut_of(checked, found)
