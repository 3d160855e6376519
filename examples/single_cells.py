"""Single cells: gene programmes that do not forget the donor with few cells.

Counts are simulated: four donors share three programmes, and the smallest donor has one of its
own. `fit_anndata` reads the groups from `obs` and writes the factors into the object.

    python examples/single_cells.py
"""

import anndata
import numpy as np
import pandas as pd
from scipy import sparse

from fairer_nmf import fit_anndata

rng = np.random.default_rng(0)
genes, cells = 300, {"donor A": 400, "donor B": 300, "donor C": 250, "donor D": 50}
programmes = rng.gamma(0.3, 1.0, (4, genes))

blocks = []
for donor, count in cells.items():
    usage = rng.dirichlet([0.4] * 4, count)
    if donor != "donor D":
        usage[:, 3] = 0.0
    depth = rng.lognormal(1.0, 0.3, (count, 1))
    blocks.append(rng.poisson(depth * (usage @ programmes)))

donors = np.repeat(list(cells), list(cells.values()))
adata = anndata.AnnData(
    sparse.csr_matrix(np.vstack(blocks).astype(np.float32)),
    obs=pd.DataFrame({"donor": donors}, index=[f"cell{i}" for i in range(len(donors))]),
    var=pd.DataFrame(index=[f"gene{i}" for i in range(genes)]),
)

standard = fit_anndata(
    adata, "donor", n_components=3, method="standard", key_added="standard", random_state=0
)
fair = fit_anndata(adata, "donor", n_components=3, random_state=0, n_init=5)
for name, model in (("standard NMF", standard), ("Fairer-NMF", fair)):
    losses = ", ".join(f"{g} {loss:.3f}" for g, loss in zip(model.groups_, model.group_losses_))
    print(f"{name}: worst loss {model.worst_loss_:.3f} ({losses})")

print(adata)
for topic in range(3):
    top = adata.var_names[np.argsort(adata.varm["fairer_nmf"][:, topic])[::-1][:5]]
    print(f"programme {topic + 1}: {', '.join(top)}")
