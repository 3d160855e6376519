"""Where standard NMF stops on TF-IDF, beside scikit-learn's NMF.

    python benches/text_stopping.py POSTS    # shared/data/20newsgroups/20n_subset_1500.jsonl.gz

Relative errors ‖X − WH‖/‖X‖ and processor seconds of the default fit (four starts, the best kept), of the same
starts with a tight tolerance, and of scikit-learn from its default start with its default and with a tight tolerance.
"""

import gzip
import json
import sys
import time
import warnings

import numpy as np
from sklearn.decomposition import NMF
from sklearn.feature_extraction.text import TfidfVectorizer

from fairer_nmf import FairerNMF


SEEDS = 3
OURS = {"default": {}, "tol=1e-7": {"tol": 1e-7}}


def timed(work):
    """Give what work gives, and the processor seconds of all threads."""
    begin = time.process_time()
    result = work()
    return result, time.process_time() - begin


def main(path):
    warnings.simplefilter("ignore")
    with gzip.open(path, "rt") as posts:
        texts = [json.loads(line)["clean"] for line in posts]
    for words in (2000, None):
        X = TfidfVectorizer(stop_words="english", max_features=words).fit_transform(texts)
        norm = np.sqrt(X.multiply(X).sum())
        print(f"{X.shape[0]} posts, {X.shape[1]} terms")
        print(f"| rank | fit | relative error, mean of {SEEDS} seeds | processor seconds | iterations |")
        print("|---|---|---|---|---|")
        for rank in (6, 10, 20):
            rows = {}

            def note(name, error, seconds, iterations):
                rows.setdefault(name, []).append((error / norm, seconds, iterations))

            for seed in range(SEEDS):
                for name, more in OURS.items():
                    model = FairerNMF(rank, method="standard", random_state=seed, **more)
                    fitted, seconds = timed(lambda model=model: model.fit(X))
                    note(name, fitted.reconstruction_err_, seconds, fitted.n_iter_)
            for name, more in (("scikit-learn", {}), ("scikit-learn, tol=1e-7", {"tol": 1e-7, "max_iter": 5000})):
                model, seconds = timed(lambda more=more: NMF(rank, random_state=0, **more).fit(X))
                note(name, model.reconstruction_err_, seconds, model.n_iter_)
            for name, found in rows.items():
                error, seconds, iterations = np.mean(found, axis=0)
                print(f"| {rank} | {name} | {error:.5f} | {seconds:.2f} | {iterations:.0f} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
