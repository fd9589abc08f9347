"""Whether the intervals of measures keep what they promise.

Coverage: instances are drawn from a known model of labels, scores and predictions. The true value
of each measure is its value on a very large sample. The table says how many 95 % intervals of small
samples contain it, with the standard error of that share. Three worlds: easy labels (values near
the best), hard ones, and labels that are rare.

Agreement: on real data, the standard errors from formulas over those of the bootstrap. They differ
where labels are so rare that they are absent from many resamples, as in enron.
"""

import argparse
import time
import warnings

import numpy as np
from scipy.stats import norm
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import StandardScaler
from timing import verdict

import limo

WORLDS = {"easy": (0.3, 3.0), "hard": (0.3, 0.7), "rare": (0.08, 1.5)}
N_LABELS = 8
SIZES = (200, 1000, 5000)


def draw(rng: np.random.Generator, m: int, world: str) -> tuple[np.ndarray, ...]:
    """Instances of a world: labels depend on each other through a common factor, scores too."""
    frequency, signal = WORLDS[world]
    level = np.linspace(0.6, 1.4, N_LABELS) * frequency
    common = rng.standard_normal((m, 1))
    hidden = (common + 2 * rng.standard_normal((m, N_LABELS))) / np.sqrt(5)
    Y = (hidden < _quantile(level)).astype(np.int64)
    noise = 0.5 * rng.standard_normal((m, 1)) + rng.standard_normal((m, N_LABELS))
    S = 1 / (1 + np.exp(-(signal * (Y - 0.5) + noise)))
    return Y, S, (0.5 + 0.1 * (level < frequency) < S).astype(np.int64)


def _quantile(level: np.ndarray) -> np.ndarray:
    return np.asarray(norm.ppf(level))


def true_values(world: str, measures: str | None, large: int) -> dict[str, float]:
    """Means over several large samples."""
    rng = np.random.default_rng(12345)
    parts = [dict(limo.evaluate(*draw(rng, large, world), measures=measures)) for _ in range(10)]
    return {name: float(np.mean([part[name] for part in parts])) for name in parts[0]}


def coverage(measures: str | None, repeat: int, large: int, worlds: list[str]) -> None:
    """The share of intervals that contain the true value, by world and number of instances."""
    for world in worlds:
        truth = true_values(world, measures, large)
        hits = {name: [] for name in truth}
        for m in SIZES:
            rng = np.random.default_rng(m)
            found = dict.fromkeys(truth, 0)
            for _ in range(repeat):
                data = draw(rng, m, world)
                intervals = limo.evaluate(*data, measures=measures, intervals=0.95).intervals
                for name, interval in intervals.items():
                    found[name] += truth[name] in interval
            for name in truth:
                hits[name].append(found[name] / repeat)
        spread = (0.95 * 0.05 / repeat) ** 0.5
        print(f"world {world}: share of 95 % intervals with the true value (± {spread:.1%})")
        print(f"  {'measure':28}{'truth':>8}" + "".join(f"{m:>9}" for m in SIZES))
        for name, shares in hits.items():
            outside = [m for m, s in zip(SIZES, shares, strict=True) if not 0.93 <= s <= 0.97]
            note = f"   outside 93-97 % at {outside}" if outside else ""
            cells = "".join(f"{share:9.1%}" for share in shares)
            print(f"  {name:28}{truth[name]:8.3f}{cells}{note}", flush=True)


def agreement(measures: str | None, resamples: int, names: list[str]) -> None:
    """Errors by formula over errors by bootstrap, on the second half of real data."""
    for name in names:
        whole = limo.datasets.load(name, download=False)
        train, test = np.arange(whole.Y.shape[0]) % 2 == 0, np.arange(whole.Y.shape[0]) % 2 == 1
        scaled = StandardScaler(with_mean=False).fit_transform(whole.X)
        warnings.simplefilter("ignore")  # labels without a positive in one half
        model = OneVsRestClassifier(LogisticRegression(C=0.01, max_iter=2000))
        S = model.fit(scaled[train], whole.Y[train]).predict_proba(scaled[test])
        Y = whole.Y[test]
        data = (Y, S, (S > 0.5).astype(np.int64))
        start = time.perf_counter()
        formula = limo.evaluate(*data, measures=measures, intervals=0.95).intervals
        middle = time.perf_counter()
        drawn = limo.evaluate(
            *data, measures=measures, intervals=0.95, method="bootstrap", n_resamples=resamples
        ).intervals
        end = time.perf_counter()
        ratios = {n: formula[n].error / e.error for n, e in drawn.items() if e.error > 0}
        worst = max(ratios, key=lambda n: abs(np.log(ratios[n])))
        met = verdict(all(0.9 <= r <= 1.1 for r in ratios.values()))
        print(
            f"{name}: {Y.shape[0]} instances, {len(ratios)} measures, errors by formula over "
            f"bootstrap {min(ratios.values()):.2f} to {max(ratios.values()):.2f}, furthest {worst} "
            f"(target 0.9 to 1.1: {met}); {middle - start:.2f} s and {end - middle:.2f} s"
        )
        for n, r in ratios.items():
            if not 0.9 <= r <= 1.1:
                print(f"    {n}: {r:.2f}")


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=2000)
    parser.add_argument("--large", type=int, default=100_000)
    parser.add_argument("--resamples", type=int, default=2000)
    parser.add_argument("--measures", default=None, help="'all' for the further ones too")
    parser.add_argument("--worlds", default=",".join(WORLDS), help="for the coverage; '' for none")
    parser.add_argument("--sets", default="emotions,CAL500,bibtex,enron", help="'' for none")
    given = parser.parse_args()
    agreement(given.measures, given.resamples, [name for name in given.sets.split(",") if name])
    worlds = [world for world in given.worlds.split(",") if world]
    coverage(given.measures, given.repeat, given.large, worlds)


if __name__ == "__main__":
    main()
