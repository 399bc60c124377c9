"""The results of run.py as a Markdown table: means over the seeds that all engines of a task have.

Seconds are means over those of them that were timed for all.

python table.py results/DATE.json
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from statistics import mean

OURS = ("BasisExpansionRegressor", "ThinPlateRegressor")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=Path)
    results = json.loads(parser.parse_args().results.read_text())["results"]
    tasks: dict[str, dict[str, dict[int, dict[str, float]]]] = {}
    for one in results:
        tasks.setdefault(one["task"], {}).setdefault(one["engine"], {})[one["seed"]] = one
    print("| task | seeds | engine | RMSE | CPU s | SVR's CPU s over it |\n|---|---|---|---|---|---|")
    for task, engines in tasks.items():
        seeds = sorted(set.intersection(*(set(of_engine) for of_engine in engines.values())))
        timed = [seed for seed in seeds if all("cpu_seconds" in engines[name][seed] for name in engines)]
        least = min(mean(engines[name][seed]["rmse"] for seed in seeds) for name in engines)
        slowest = engines.get("SVR")
        for name in sorted(engines, key=lambda name: (name not in OURS, name)):
            rmse = mean(engines[name][seed]["rmse"] for seed in seeds)
            seconds = mean(engines[name][seed]["cpu_seconds"] for seed in timed)
            ratio = ""
            if slowest and name in OURS:
                ratio = f"{mean(slowest[seed]['cpu_seconds'] for seed in timed) / seconds:.1f}"
            shown = f"**{rmse:.4g}**" if rmse == least else f"{rmse:.4g}"
            print(f"| {task} | {len(seeds)} | `{name}` | {shown} | {seconds:.2f} | {ratio} |")


if __name__ == "__main__":
    main()
