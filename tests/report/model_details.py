"""The thresholds of one model, from labels, scores and predictions."""

import limo
from limo._checks import check_inputs
from limo._evaluate import evaluate_checked
from limo.report import _details as details


def details_of(Y, S, P):
    checked = check_inputs(Y, S, P)
    found = evaluate_checked(checked, limo.Conventions(), details.threshold_functions)[1]
    return details.threshold_details(checked, found)
