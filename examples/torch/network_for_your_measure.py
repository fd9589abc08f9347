"""
A network for your measure
==========================

Three small networks that differ only in their loss: cross-entropy, cross-entropy with pairs of
labels and of instances, and the loss of the top label. limo's thresholds turn their scores into
labels.

Reads yeast from the folder named by ``LIMO_DATA`` or, without it, makes data. Needs
``pip install 'limo-ml[torch]'``.
"""

import os
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import torch

import limo
from limo.torch import MarginLoss

torch.set_num_threads(1)  # so small a network does not gain from more

yeast = Path(os.environ.get("LIMO_DATA", "")) / "yeast" / "yeast.arff.xz"
data = limo.read(yeast) if yeast.exists() else limo.datasets.figure1(1000, seed=0)
train, test = limo.datasets.split(data)
# thresholds are fitted on instances that the network has not been trained on
learn, held_out = limo.datasets.split(train)
mean, spread = learn.X.mean(axis=0), learn.X.std(axis=0)


def tensor(X: np.ndarray) -> torch.Tensor:
    """Standardised features."""
    return torch.tensor((X - mean) / spread, dtype=torch.float32)


def scores_of_a_network(terms: list[str], n_epochs: int = 15) -> list[np.ndarray]:
    """Train a network on the loss; return its scores of the held-out and of the test instances."""
    torch.manual_seed(0)
    X, Y = tensor(learn.X), torch.tensor(learn.Y, dtype=torch.float32)
    network = torch.nn.Sequential(
        torch.nn.Linear(X.shape[1], 128),
        torch.nn.ReLU(),
        torch.nn.Dropout(0.3),
        torch.nn.Linear(128, Y.shape[1]),
    )
    loss = MarginLoss(terms)
    optimiser = torch.optim.AdamW(network.parameters(), lr=3e-3, weight_decay=1e-2)
    for _ in range(n_epochs):
        for batch in torch.randperm(len(X)).split(128):
            optimiser.zero_grad()
            loss(network(X[batch]), Y[batch]).backward()
            optimiser.step()
    network.eval()
    with torch.no_grad():
        return [network(tensor(part.X)).numpy() for part in (held_out, test)]


def judge(terms: list[str]) -> dict[str, float]:
    """Measures of the test instances: of the scores, and of labels cut for macro-F1."""
    known, new = scores_of_a_network(terms)
    rule = limo.suggest_threshold("macro_f1").fit(held_out.Y, known)
    found = limo.evaluate(test.Y, new, rule.predict(new))
    at_zero = limo.macro_f1(test.Y, (new > 0).astype(int))
    measures = ("ranking_loss", "one_error", "macro_auc", "micro_auc", "macro_f1")
    return {name: found[name] for name in measures} | {"macro_f1 at 0": at_zero}


losses = {
    "cross-entropy": ["pointwise"],
    "and pairs": ["pointwise", "rows mean", "columns mean"],
    "rows top": ["rows top"],
}
results = {name: judge(terms) for name, terms in losses.items()}
print(f"{'on the test instances':28}" + "".join(f"{name:>16}" for name in results))
for measure in results["and pairs"]:
    print(f"{measure:28}" + "".join(f"{found[measure]:16.3f}" for found in results.values()))

# %%
# How much each network gains over cross-entropy; greater is better, also for losses.

signs = {"macro_f1 at 0": 1} | {
    m: limo.MEASURES[m].sign for m in results["and pairs"] if m in limo.MEASURES
}
figure, ax = plt.subplots(figsize=(7, 3.4), layout="constrained")
base = results["cross-entropy"]
for k, name in enumerate(["and pairs", "rows top"]):
    gains = [signs[m] * (results[name][m] - base[m]) for m in base]
    places = np.arange(len(base)) + 0.3 * (k - 0.5)
    ax.barh(places, gains, height=0.28, label=name, color=f"C{k}")
ax.axvline(0, color="black", linewidth=1)
ax.set_yticks(range(len(base)), [m.replace("_", " ") for m in base])
ax.invert_yaxis()
ax.set(xlabel="gain over cross-entropy on test instances")
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False)
plt.show()
