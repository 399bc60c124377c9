"""Times the grid similarities and the HOG descriptor on one thread, next to a plain matrix product.

    python similarities.py [--images IMAGES.bin] [--seconds 1]

Builds and runs `cargo bench --bench similarity_speed` and writes results/DATE_MACHINE_similarities.json and .md.
Needs cargo, and no package but Python itself.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "power_mean"))

import timing
from timing import Row


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--images", type=Path, help="raw images, 32 x 32 x 3 bytes each; made up without")
    parser.add_argument("--seconds", type=float, default=1.0, help="how long each figure is tried")
    parser.add_argument("--repeats", type=int, default=3, help="runs; the best figure counts")
    arguments = parser.parse_args()
    load = timing.load_average()
    options = ["--seconds", str(arguments.seconds)]
    if arguments.images:
        options += ["--images", str(arguments.images.resolve())]
    rows = best([measured(options) for _ in range(arguments.repeats)])
    result = {
        "date": timing.now(),
        "machine": timing.machine(),
        "load_average_before": load,
        "images": arguments.images.name if arguments.images else "made up",
        "repeats": arguments.repeats,
        "rows": rows,
    }
    folder = HERE / "results"
    folder.mkdir(exist_ok=True)
    cores = result["machine"]["cores"]
    cpu = "-".join(result["machine"]["cpu"].replace("(R)", "").lower().split())
    stem = folder / f"{timing.today()}_{cpu}-{cores}-cores_similarities"
    stem.with_suffix(".json").write_text(json.dumps(result, indent=1) + "\n")
    stem.with_suffix(".md").write_text(table(result))
    print(table(result))


def measured(options: list[str]) -> list[Row]:
    command = ["cargo", "bench", "--quiet", "--package", "widemargin", "--bench", "similarity_speed", "--", *options]
    done = subprocess.run(command, cwd=HERE, check=True, capture_output=True, text=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def best(runs: list[list[Row]]) -> list[Row]:
    """The fastest of each line: what disturbs a machine only ever slows it."""
    return [max(same, key=speed) for same in zip(*runs, strict=True)]


def speed(row: Row) -> float:
    return row.get("gflops", row.get("images_a_second", 0.0))


def table(result: Row) -> str:
    rows = result["rows"]
    product = next(row for row in rows if row["what"] == "matrix product")
    lines = [
        "# Grid similarities and HOG, one thread",
        "",
        f"{result['date']}, {result['machine']['cpu']}, load average before {result['load_average_before']}. "
        f"A plain f32 matrix product of side {product['side']}, by the library's linear algebra: "
        f"**{product['gflops']:.0f} GFLOP/s**. Images: {result['images']}.",
        "",
        "| similarity | spec | useful flops a pair | µs a pair | useful GFLOP/s | of the matrix product |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for row in rows:
        if row["what"] == "similarity":
            share = row["gflops"] / product["gflops"]
            lines.append(
                f"| {row['name']} | `{row['spec']}` | {row['useful_flops']:,} | {row['microseconds_a_pair']:.3f} "
                f"| {row['gflops']:.0f} | {share:.0%} |"
            )
    lines += ["", "| descriptor of 32 × 32 color images | images/s |", "| --- | --- |"]
    lines += [f"| `{row['spec']}` | {row['images_a_second']:,.0f} |" for row in rows if row["what"] == "descriptor"]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
