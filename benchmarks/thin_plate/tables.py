"""The results as Markdown."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable

from timing import Row


def standard_error(values: list[float]) -> float:
    return statistics.stdev(values) / math.sqrt(len(values))


def markdown(results: Row) -> str:
    machine = results["machine"]
    parts = [
        f"# Thin plate SVM, {results['date']}",
        f"- Machine: {machine['cpu']} (AVX-512: {'yes' if machine['avx512'] else 'no'}), {machine['cores']} cores, "
        f"{machine['memory_gib']} GiB, {machine['system']}, Python {machine['python']}",
        _runs(results["sections"]),
    ]
    writers = {"table1": _table_1, "usps": _usps, "ijcnn1": _ijcnn1, "million": _million}
    parts += [write(results["sections"][name]) for name, write in writers.items() if name in results["sections"]]
    return "\n\n".join(parts) + "\n"


def _runs(sections: Row) -> str:
    lines = []
    for name, section in sections.items():
        versions = ", ".join(f"{package} {version}" for package, version in section["versions"].items())
        loads = f"{section['load_average_before']:.1f} to {section['load_average_after']:.1f}"
        lines.append(
            f"- Section {name}: run of {section['run']}, load average {loads}; {section['widemargin']}, {versions}"
        )
    lines.append(
        "- Where the load average is above 1 other work ran at the same time: wall-clock seconds are then too high on "
        "both sides, which took turns, and CPU seconds are the better measure."
    )
    return "\n".join(lines)


def _table_1(section: Row) -> str:
    head = ["set", "samples", "error %", "± s.e.", "reference %", "paper %", "SVC error %"]
    head += ["tune s", "CPU s", "SVC tune s", "CPU s", "times"]
    rows = []
    for name, found in section["sets"].items():
        ours, peer = found["ours"], found["peer"]
        errors = [100 * run["error"] for run in ours]
        cpu, peer_cpu = (_sum(ours, "command_cpu_seconds"), _sum(peer, "cpu_seconds"))
        rows.append(
            [
                name,
                f"{ours[0]['samples']:,}",
                f"{statistics.mean(errors):.2f}",
                f"{standard_error(errors):.2f}",
                f"{found['reference']:.2f}",
                f"{found['paper']:.2f}",
                f"{100 * statistics.mean(run['error'] for run in peer):.2f}",
                f"{_sum(ours, 'fit_seconds'):.2f}",
                f"{cpu:.2f}",
                f"{_sum(peer, 'fit_seconds'):.2f}",
                f"{peer_cpu:.2f}",
                f"{peer_cpu / cpu:.1f}",
            ]
        )
    sets = section["sets"].values()
    ours_mean = statistics.mean(run["error"] for found in sets for run in found["ours"])
    peer_mean = statistics.mean(run["error"] for found in sets for run in found["peer"])
    references = statistics.mean(found["reference"] for found in sets)
    papers = statistics.mean(found["paper"] for found in sets)
    means = f"**{100 * ours_mean:.2f}**"
    rows.append(["mean", "", means, "", f"{references:.2f}", f"{papers:.2f}", f"{100 * peer_mean:.2f}", *[""] * 5])
    text = (
        "Distinct (x, y) pairs, at most 1,500 a class, five disjoint fifths tested in turn, columns standardized by "
        "the other four. Ours: `--standardize=no --threads=1`, everything else as it comes, so C by leave-one-out on a "
        "path. SVC: a Gaussian kernel, 7 C × 5 gamma by 5-fold cross-validation, `n_jobs=1`. Seconds are all five "
        "splits, fits included; our CPU seconds also start the program and read the file. Reference is another "
        "implementation on its own splits, paper the paper's on its own; *times* is the ratio of CPU seconds."
    )
    return f"## Table 1 of the paper\n\n{text}\n\n{table(head, rows)}"


def _usps(section: Row) -> str:
    head = ["flags", "wrong of 2007", "error %", "fit s", "command CPU s", "polynomials", "C", "MiB"]
    rows = [
        [
            f"`{row['flags'] or '(none)'}`",
            str(row["wrong"]),
            f"{100 * row['error']:.2f}",
            f"{row['fit_seconds']:.1f}",
            f"{row['command_cpu_seconds']:.1f}",
            row["polynomials"],
            f"{row['C']:.3g}",
            f"{row['peak_mib']:,.0f}",
        ]
        for row in section["rows"]
    ]
    text = (
        "7,291 digits of 256 pixels, ten classes one-vs-rest, one thread. By default: C by leave-one-out, and "
        "only the constant kept of the polynomials, because they separate a digit. Seconds have the whole path in them."
    )
    return f"## USPS\n\n{text}\n\n{table(head, rows)}"


def _ijcnn1(section: Row) -> str:
    head = ["flags", "error %", "left-out error %", "fit s", "stages", "command CPU s", "C", "MiB"]
    rows = [
        [
            f"`{row['flags']}`",
            f"{100 * row['error']:.2f}",
            f"{100 * row['loo_error']:.2f}",
            f"{row['fit_seconds']:.1f}",
            _stages(row["stages"]),
            f"{row['command_cpu_seconds']:.1f}",
            f"{row['C']:.3g}",
            f"{row['peak_mib']:,.0f}",
        ]
        for row in section["rows"]
    ]
    text = "49,990 rows of 22 columns, 1,000 bases, one thread; tested on the 91,701 test rows."
    return f"## ijcnn1\n\n{text}\n\n{table(head, rows)}"


def _million(section: Row) -> str:
    head = ["rows", "flags", "error %", "fit s", "stages", "C values", "MiB"]
    rows = [
        [
            f"{row['samples']:,}",
            f"`{row['flags']}`",
            f"{100 * row['error']:.2f}",
            f"{row['fit_seconds']:.0f}",
            _stages(row["stages"]),
            str(row["path_points"]),
            f"{row['peak_mib']:,.0f}",
        ]
        for row in section["rows"]
    ]
    text = (
        "Made data: 20 columns, a curved border, one label in twenty wrong (an error of 5 % is the least there is). "
        "The second line has the features of the bases computed anew at every pass instead of held."
    )
    return f"## A million rows\n\n{text}\n\n{table(head, rows)}"


def _stages(stages: dict[str, float]) -> str:
    return ", ".join(f"{name} {seconds:.1f}" for name, seconds in stages.items() if seconds >= 0.05)


def _sum(runs: list[Row], key: str) -> float:
    return sum(run[key] for run in runs)


def table(head: list[str], rows: Iterable[list[str]]) -> str:
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
