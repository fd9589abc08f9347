"""The paper's synthetic experiment: its twelve -t and twelve -t(x) numbers, by these rules."""

import numpy as np
import pytest

import limo
from naive.algorithm1 import train

# Typed from the paper's appendix (classification on the synthetic data).
PRINTED_T = {
    "hamming_loss": {"LIMO-inst": 0.172, "LIMO-label": 0.188, "LIMO": 0.163},
    "micro_f1": {"LIMO-inst": 0.837, "LIMO-label": 0.840, "LIMO": 0.858},
    "macro_f1": {"LIMO-inst": 0.869, "LIMO-label": 0.861, "LIMO": 0.872},
    "instance_f1": {"LIMO-inst": 0.804, "LIMO-label": 0.835, "LIMO": 0.858},
}
PRINTED_TX = {
    "hamming_loss": {"LIMO-inst": 0.160, "LIMO-label": 0.131, "LIMO": 0.134},
    "micro_f1": {"LIMO-inst": 0.860, "LIMO-label": 0.890, "LIMO": 0.885},
    "macro_f1": {"LIMO-inst": 0.857, "LIMO-label": 0.859, "LIMO": 0.852},
    "instance_f1": {"LIMO-inst": 0.883, "LIMO-label": 0.904, "LIMO": 0.900},
}
LAMBDAS = {"LIMO-inst": (0, 100), "LIMO-label": (100, 0), "LIMO": (100, 100)}
# The printed -t columns mix thresholds: which rule is behind which measure.
RULES_T = {
    "hamming_loss": limo.LabelThreshold("hamming_loss", shrinkage=0),
    "macro_f1": limo.LabelThreshold("macro_f1", shrinkage=0),
    "micro_f1": limo.GlobalThreshold("micro_f1"),
    "instance_f1": limo.GlobalThreshold("micro_f1"),
}
RULE_TX = limo.InstanceThreshold(
    "hamming_loss", source="features", regressor="svr", end_gap=0, ties="most"
)
N_SAMPLES, N_SPLITS = 12, 3


def results(found, model, seed, split):
    """Add the measures of one re-split of one sample to ``found``."""
    data = limo.datasets.figure1(2000, seed=seed)
    X = np.column_stack([data.X, np.ones(2000)])
    rng = np.random.default_rng([seed, split])
    order = rng.permutation(2000)
    learn, test = order[:1000], order[1000:]
    S = X @ train(X[learn], data.Y[learn], *LAMBDAS[model], rng=rng)
    for name, rule in RULES_T.items():
        P = rule.fit(data.Y[learn], S[learn]).predict(S[test])
        found["t", name, model].append(getattr(limo, name)(data.Y[test], P))
    P = RULE_TX.fit(data.Y[learn], S[learn], X[learn]).predict(S[test], X[test])
    for name in PRINTED_TX:
        found["t(x)", name, model].append(getattr(limo, name)(data.Y[test], P))


@pytest.mark.slow
@pytest.mark.parametrize("model", list(LAMBDAS))
def test_synthetic_classification_tables(model):
    found = {(kind, name, model): [] for kind in ("t", "t(x)") for name in PRINTED_T}
    for seed in range(N_SAMPLES):
        for split in range(N_SPLITS):
            results(found, model, seed, split)
    means = {key: float(np.mean(values)) for key, values in found.items()}
    for name in PRINTED_T:
        assert means["t", name, model] == pytest.approx(PRINTED_T[name][model], abs=0.015)
        assert means["t(x)", name, model] == pytest.approx(PRINTED_TX[name][model], abs=0.02)
