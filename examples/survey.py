"""Survey data: do women and men with heart trouble get an equally good summary?

297 patients, 12 measurements each. Topics are profiles of measurements that go together.
Standard NMF serves the larger group (men, 201) first; Fairer-NMF makes both pay alike.

    python examples/survey.py
"""

from fairer_nmf import FairerNMF, audit
from fairer_nmf.datasets import load_heart_disease

heart = load_heart_disease(as_frame=True)
X, sex = heart.data, heart.sensitive_features

# Measurements have different units, so every feature is scaled to unit norm (the paper's
# preprocessing). Nothing else is needed: `components_` speaks of the original units again.
settings = {"n_components": 5, "normalize": "features", "random_state": 0, "n_init": 10}
standard = FairerNMF(method="standard", **settings).fit(X, sensitive_features=sex)
fair = FairerNMF(method="am", **settings).fit(X, sensitive_features=sex)

for name, model in (("standard NMF", standard), ("Fairer-NMF", fair)):
    losses = ", ".join(f"{g} {loss:.4f}" for g, loss in zip(model.groups_, model.group_losses_))
    print(f"{name}: worst loss {model.worst_loss_:.4f} ({losses})")
print(f"no model of rank 5 can be below {fair.global_bound_:.4f}")

# Which measurements make up a topic? Compare with each feature's mean to see what stands out.
for number, topic in enumerate(fair.components_ / X.mean().to_numpy(), start=1):
    words = [heart.feature_names[i] for i in topic.argsort()[::-1][:3]]
    print(f"topic {number}: {', '.join(words)}")

# Intersections: the same dictionary, seen by sex and age together.
groups = X[["age"]].assign(age=(X["age"] >= 55).map({True: "55+", False: "under 55"}))
groups.insert(0, "sex", sex)
result = audit(X, fair.components_, sensitive_features=groups, normalize="features")
print(result.to_frame().round(4).to_string(index=False))
