"""The results as Markdown."""

from __future__ import annotations

from collections.abc import Iterable

from timing import Row


def render(results: Row) -> str:
    sections = results["sections"]
    parts = [f"# Power mean SVM and its peers, {results['date']}", _head(results)]
    if "peers" in sections or "ours" in sections:
        parts.append(_accuracy_and_seconds(sections))
    if "peers" in sections:
        parts += [_search(sections["peers"]), _exact(sections)]
    if "ours" in sections:
        parts.append(_variants(sections["ours"]))
    for name, section in (("classes", _classes), ("predict", _predict), ("grid", _grid)):
        if name in sections:
            parts.append(section(sections[name]))
    return "\n\n".join(parts) + "\n"


def table(header: list[str], rows: Iterable[list[str]]) -> str:
    lines = [header, ["---"] + ["---:"] * (len(header) - 1), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _head(results: Row) -> str:
    machine, data = results["machine"], results["data"]["set"]
    lines = [
        f"- Machine: {machine['cpu']} (family/model {machine['cpu_family_model']}, "
        f"AVX-512: {'yes' if machine['avx512'] else 'no'}), {machine['cores']} cores, {machine['memory_gib']} GiB, "
        f"{machine['system']}, Python {machine['python']}",
        f"- Data: {data['train_rows']:,} + {data['test_rows']:,} rows of {data['columns']:,} word counts, "
        f"{data['nonzeros_a_row']:.0f} non-zeros a row, {data['distinct_values_after_scaling']:,} distinct values "
        "after scaling",
    ]
    for name, section in results["sections"].items():
        programs = {**({"widemargin": section["widemargin"]} if "widemargin" in section else {}), **section["versions"]}
        loads = [section["load_average_before"], section["load_average_after"]]
        load = " to ".join("?" if v is None else f"{v:.1f}" for v in loads)
        versions = ", ".join(f"{k} {v.removeprefix('widemargin ')}" for k, v in programs.items())
        lines.append(f"- Section {name}: run of {section['run']}, load average {load}; {versions}")
    if len({section["run"] for section in results["sections"].values()}) > 1:
        lines.append("- **The sections are of different runs**; times of different runs are not strictly comparable.")
    return "\n".join(lines)


def _accuracy_and_seconds(sections: Row) -> str:
    rows = sections.get("peers", {}).get("rows", []) + sections.get("ours", {}).get("rows", [])
    header = ["engine", "C", "fit s", "stages", "accuracy %", "epochs", "gap", "ns / nz·class·epoch", "MiB", "runs"]
    text = (
        "One thread. Fit seconds are everything from counts in memory to a model: scaling, feature map or "
        "precomputation, solving; reading files and converting between formats are left out for all. Accuracy is on "
        "the test rows. MiB is the peak memory of the whole command."
    )
    return f"## Ten classes, all rows\n\n{text}\n\n{table(header, map(_fit_cells, rows))}"


def _fit_cells(row: Row) -> list[str]:
    name = row["engine"] + (" (best C)" if row.get("best_C") else "")
    if "error" in row:
        return [name, f"{row['C']:g}", row["error"], *[""] * 7]
    return [
        name,
        f"{row['C']:g}",
        f"{row['fit_seconds']:.2f}",
        _stages(row["stages"]),
        _percent(row.get("accuracy")),
        str(row.get("epochs", "")),
        _gap(row.get("gap")) if "gap" in row else "",
        _number(row.get("ns_per_nonzero_class_epoch"), ".2f"),
        _number(row.get("peak_mib"), ".0f"),
        str(row.get("repeats", 1)),
    ]


def _search(section: Row) -> str:
    rows = [row for row in section["rows"] + section["exact"] if row.get("search")]
    cells = []
    for row in rows:
        scores = [_percent(trial["held_out_accuracy"]) for trial in row["search"]]
        cells.append([row["engine"], *scores])
    header = ["accuracy % on a held-out sixth of the training rows", *(f"C = {t['C']:g}" for t in rows[0]["search"])]
    return f"## How the peers' C was chosen\n\n{table(header, cells)}"


def _exact(sections: Row) -> str:
    exact = sections["peers"]["exact"]
    first = sections.get("ours", {}).get("first_rows", [])
    header = ["engine", "C", "fit s", "stages", "accuracy %"]
    cells = [_fit_cells(row)[:5] for row in exact + first]
    text = f"The first {exact[0]['rows']:,} rows alone, all test rows; the kernel matrix is part of the fit."
    return f"## Compared with the exact kernel\n\n{text}\n\n{table(header, cells)}"


def _variants(section: Row) -> str:
    header = ["flags", "fit s", "stages", "accuracy %", "epochs", "gap"]
    cells = []
    for row in section["variants"]:
        _, _, seconds, stages, accuracy, epochs, gap, *_ = _fit_cells(row)
        cells.append([f"`{row['flags']}`", seconds, stages, accuracy, epochs, gap])
    return f"## Variants: more nodes, the other loss\n\n{table(header, cells)}"


def _classes(section: Row) -> str:
    header = ["classes", "engine", "threads", "fit s", "solve s", "accuracy %", "epochs", "ns / nz·class·epoch", "runs"]
    cells = []
    for row in section["rows"]:
        start = [str(row["classes"]), "Widemargin", str(row["threads"])]
        if "error" in row:
            cells.append([*start, row["error"], *[""] * 5])
            continue
        cells.append(
            [
                *start,
                f"{row['fit_seconds']:.2f}",
                f"{row['stages']['solve']:.2f}",
                _percent(row.get("accuracy")),
                str(row["epochs"]),
                f"{row['ns_per_nonzero_class_epoch']:.2f}",
                str(row["repeats"]),
            ]
        )
    for row in section["peers"]:
        start = [str(row["classes"]), row["engine"], "1", f"{row['fit_seconds']:.2f}"]
        cells.append([*start, f"{row['stages']['train']:.2f}", _percent(row["accuracy"]), "", "", "1"])
    text = "χ² (p = −1), C = 0.01. With several threads the nanoseconds are of wall-clock time, all threads together."
    return f"## Many classes\n\n{text}\n\n{table(header, cells)}"


def _predict(section: Row) -> str:
    header = ["file", "rows", "command s", "rows a second", "runs"]
    cells = []
    for row in section["rows"]:
        if "error" in row:
            cells.append([row.get("file", "training"), "", row["error"], "", ""])
            continue
        seconds, speed = f"{row['seconds']:.2f}", f"{row['rows_a_second']:,.0f}"
        cells.append([row["file"], f"{row['rows']:,}", seconds, speed, str(row["repeats"])])
    text = "One thread, ten classes, the whole command: start, read the model and the rows, score, write labels."
    return f"## Prediction\n\n{text}\n\n{table(header, cells)}"


def _grid(section: Row) -> str:
    rows = section["rows"]
    text = (
        "10,000 rows with features in [0, 1], multiplied by the scale, `scale=no`. A cell is the relative duality "
        "gap and the fit's seconds; what did not converge says so."
    )
    parts = [f"## Robustness\n\n{text}"]
    for approximation in dict.fromkeys(row["approximation"] for row in rows):
        mine = [row for row in rows if row["approximation"] == approximation]
        parts.append(f"### {approximation}\n\n{_worst(mine)}\n\n{_grid_table(mine)}")
    return "\n\n".join(parts)


def _worst(rows: list[Row]) -> str:
    failed = [row for row in rows if "error" in row]
    unknown = [row for row in rows if "error" not in row and row["gap"] is None]
    unfinished = [row for row in rows if row.get("status", "converged") != "converged"]
    known = [row for row in rows if row.get("gap") is not None]
    line = f"Of {len(rows)} fits {len(rows) - len(failed) - len(unfinished)} converged"
    for some, what in ((failed, "failed"), (unfinished, "stopped early"), (unknown, "have no gap")):
        line += f", {len(some)} {what}" if some else ""
    if known:
        worst = max(known, key=lambda row: row["gap"])
        slowest = max(known, key=lambda row: row["fit_seconds"])
        line += (
            f". **Worst gap {worst['gap']:.1e}** ({_cell_name(worst)}, {worst['status']}); "
            f"slowest fit {slowest['fit_seconds']:.1f} s ({_cell_name(slowest)})"
        )
    return line + "."


def _cell_name(row: Row) -> str:
    return f"{row['kernel']}, C = {row['C']:g}, data × {row['scale']:g}"


def _grid_table(rows: list[Row]) -> str:
    grid = dict.fromkeys(row["C"] for row in rows)
    lines = dict.fromkeys((row["kernel"], row["scale"]) for row in rows)
    at = {(row["kernel"], row["scale"], row["C"]): row for row in rows}
    cells = [
        [f"{kernel}, data × {scale:g}", *(_grid_cell(at[kernel, scale, c]) for c in grid)] for kernel, scale in lines
    ]
    return table(["kernel", *(f"C = {c:g}" for c in grid)], cells)


def _grid_cell(row: Row) -> str:
    if "error" in row:
        return row["error"]
    mark = "" if row["status"] == "converged" else f" **{row['status']}**"
    return f"{_gap(row['gap'])}, {row['fit_seconds']:.2f} s{mark}"


def _stages(stages: dict[str, float]) -> str:
    return ", ".join(f"{name} {seconds:.2f}" for name, seconds in stages.items() if seconds >= 0.005)


def _percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.2f}"


def _gap(gap: float | None) -> str:
    return "none" if gap is None else f"{gap:.1e}"


def _number(value: float | None, form: str) -> str:
    return "" if value is None else format(value, form)
