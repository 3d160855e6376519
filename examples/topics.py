"""A topic model on text: does every newsroom desk find itself in the topics?

A small corpus is put together from word lists (nothing is downloaded): a large sports desk, and a
small science desk whose vocabulary is richer. Standard NMF spends its topics on sports.

    python examples/topics.py
"""

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer

from fairer_nmf import FairerNMF, audit

TOPICS = {
    "football": "goal keeper striker penalty league coach pitch referee",
    "tennis": "serve racket court set volley umpire rally ace",
    "cycling": "stage climb sprint bike peloton jersey descent team",
    "cells": "cell gene protein tissue enzyme membrane tumour antibody",
    "stars": "galaxy star planet orbit telescope comet gravity dust",
    "climate": "ocean ice carbon storm drought warming glacier monsoon",
    "physics": "quark laser photon magnet plasma vacuum spin crystal",
}
DESKS = {
    "sports": (["football", "tennis", "cycling"], 240),
    "science": (["cells", "stars", "climate", "physics"], 60),
}
COMMON = "today report people year said week city plan".split()

rng = np.random.default_rng(0)
texts, desks = [], []
for desk, (topics, count) in DESKS.items():
    for _ in range(count):
        vocabulary = TOPICS[rng.choice(topics)].split()
        words = [*rng.choice(vocabulary, 12), *rng.choice(COMMON, 4)]
        texts.append(" ".join(rng.permutation(words)))
        desks.append(desk)

vectorizer = TfidfVectorizer()
X = vectorizer.fit_transform(texts)  # sparse, and stays so
words = vectorizer.get_feature_names_out()

settings = {"n_components": 5, "random_state": 0, "n_init": 5}
standard = FairerNMF(method="standard", **settings).fit(X, sensitive_features=desks)
fair = FairerNMF(method="am", **settings).fit(X, sensitive_features=desks)
for name, model in (("standard NMF", standard), ("Fairer-NMF", fair)):
    print(f"{name}: worst loss {model.worst_loss_:.3f}")
    for topic in model.components_:
        print("   ", " ".join(words[topic.argsort()[::-1][:5]]))

result = audit(X, fair.components_, sensitive_features=desks)
print(result.by_group.round(3))

# A new text needs no desk.
print(fair.transform(vectorizer.transform(["the comet left a trail of dust in its orbit"])).round(2))
