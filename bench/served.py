"""Time of an answer of served models as the training table grows, and their error beside noise in every answer.

Run: python bench/served.py [--rows 1000 10000 100000]. Everything is measured in this run; times are also given as
ratios to the smallest table, and to scikit-learn's own estimator, which keeps the rows.
"""

import argparse
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.neighbors import KernelDensity as Plain

from ziggurat.learn import GaussianProcessRegression, KernelDensity, KernelSVM, OutputPerturbation, ServedHistogram

ASKED = np.random.default_rng(1).random((100, 1))


def table(rows):
    draw = np.random.default_rng(0)
    features = np.clip(draw.normal(0.5, 0.15, (rows, 1)), 0, 1)
    return features, np.sin(6 * features[:, 0]) + 0.1 * draw.normal(size=rows)


def per_answer(ask, repeats=15):
    ask(ASKED)
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        ask(ASKED)
        times.append(time.perf_counter() - start)
    return float(np.median(times)) / len(ASKED)


def fitted(rows):
    features, target = table(rows)
    common = {"bounds": (0, 1), "random_state": 0}
    return {
        "histogram": ServedHistogram(1, **common).fit(features).density,
        "density": KernelDensity(1, bandwidth=0.1, **common).fit(features).density,
        "machine": KernelSVM(1, classes=2, C=0.01, bandwidth=0.1, **common).fit(features, target > 0).predict,
        "process": GaussianProcessRegression(1, bandwidth=0.1, y_bounds=(-1.5, 1.5), **common)
        .fit(features, target)
        .predict,
        "scikit-learn density": Plain(bandwidth=0.1).fit(features).score_samples,
    }


def flatness(sizes):
    first = {}
    print("microseconds an answer (ratio to the smallest table)")
    for rows in sizes:
        start = time.perf_counter()
        models = fitted(rows)
        took = time.perf_counter() - start
        cells = []
        for name, ask in models.items():
            seconds = per_answer(ask)
            first.setdefault(name, seconds)
            cells.append(f"{name} {seconds * 1e6:.2f} ({seconds / first[name]:.2f})")
        print(f"{rows:>7} rows: {', '.join(cells)}; all fitted in {took:.1f} s")


def paths(folder, questions=(100, 200, 400, 800, 1600)):
    """A lazily drawn path answers more slowly the more it has answered; questions it knows cost a look."""
    features, _ = table(1000)
    model = KernelDensity(1, bandwidth=0.1, bounds=(0, 1), path=str(folder / "path")).fit(features)
    points, done = np.random.default_rng(2).random((sum(questions), 1)), 0
    for count in questions:
        new = points[done : done + count]
        start = time.perf_counter()
        model.density(new)
        drawn = (time.perf_counter() - start) / count
        start = time.perf_counter()
        model.density(new)
        known = (time.perf_counter() - start) / count
        done += count
        print(f"path after {done:>5} questions: {drawn * 1e6:.0f} us a new one, {known * 1e6:.1f} us a known one")


def errors(counts=(1, 10, 100, 1000)):
    """Root mean square error of a density at (0.4, 1e-3), noise in the function against noise in every answer."""
    features, _ = table(1000)
    model = KernelDensity("0.4", "1e-3", bandwidth=0.1, bounds=(0, 1))
    for count in counts:
        asked = np.random.default_rng(3).random((count, 1))
        truth = np.exp(Plain(bandwidth=0.1).fit(features).score_samples(asked))
        found = {
            "function": rms(truth, [model.set_params(random_state=i).fit(features).density(asked) for i in range(20)])
        }
        for name, delta in (("Gaussian answers", "1e-3"), ("Laplace answers", 0)):
            made = [
                OutputPerturbation(model, "0.4", delta, questions=asked, random_state=i).fit(features).answers_
                for i in range(20)
            ]
            found[name] = rms(truth, made)
        shown = ", ".join(f"{name} {value:.4f} ({value / found['function']:.2f})" for name, value in found.items())
        print(f"{count:>5} questions: {shown}")


def rms(truth, answers):
    return float(np.sqrt(np.mean((np.array(answers) - truth) ** 2)))


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rows", type=int, nargs="+", default=[1000, 10_000, 100_000])
    sizes = options.parse_args().rows
    warnings.simplefilter("ignore")
    flatness(sizes)
    with tempfile.TemporaryDirectory() as folder:
        paths(Path(folder))
    errors()


if __name__ == "__main__":
    main()
