"""Summarise the authors' published results: ../shared/data/paper-results -> paper_cells.csv.

    python references/make_paper_cells.py

Mean and sample standard deviation (n - 1) over the 10 trials of every cell, plus
`worst_loss`: the largest loss of any group in a trial, then mean and sd over trials.
Standard library only.
"""

import collections
import csv
import gzip
import pathlib
import statistics

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parents[1] / "shared/data/paper-results/paper_results.csv.gz"
TARGET = HERE / "paper_cells.csv"
HEADER = """\
# Mean and sd (n - 1) over trials of the results published with "Towards a Fairer Non-negative
# Matrix Factorization" (Kassab et al., arXiv 2411.09847; arrays MIT, copyright 2025 Erin George).
# Made by make_paper_cells.py; columns are explained in README.md. Heart Disease groups carry the
# paper's names: its "female" is UCI's male (sex = 1).
"""


def main():
    values = collections.defaultdict(list)  # cell -> the value of each trial
    worst = {}  # (dataset, method, rank, trial) -> largest loss
    with gzip.open(SOURCE, "rt", newline="") as file:
        for row in csv.DictReader(file):
            metric, value = row["metric"], float(row["value"])
            if metric == "time_s" and "_f_times_" in row["source_array"]:
                metric = "time_s_loss_runs"  # times of the runs behind the losses; in no figure
            cell = row["dataset"], row["method"], metric, row["group"], int(row["rank"])
            values[cell].append(value)
            if metric == "loss":
                trial = row["dataset"], row["method"], int(row["rank"]), row["trial"]
                worst[trial] = max(value, worst.get(trial, value))
    for (dataset, method, rank, _), value in worst.items():
        values[dataset, method, "worst_loss", "all", rank].append(value)

    order = ["ortho1", "ortho2", "hd", "20n"]
    with TARGET.open("w", newline="") as file:
        file.write(HEADER)
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["dataset", "method", "metric", "group", "rank", "mean", "sd", "n"])
        for cell in sorted(values, key=lambda cell: (order.index(cell[0]), *cell[1:])):
            trials = values[cell]
            mean, sd = statistics.fmean(trials), statistics.stdev(trials)
            writer.writerow([*cell, f"{mean:.10g}", f"{sd:.6g}", len(trials)])


if __name__ == "__main__":
    main()
