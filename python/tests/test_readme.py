"""The README's Python tour, run as it stands."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_tour_of_the_readme_runs(tmp_path):
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    assert blocks
    (tmp_path / "tour.py").write_text("\n".join(blocks), encoding="utf-8")
    subprocess.run([sys.executable, "tour.py"], cwd=tmp_path, check=True)


def test_the_table_says_what_the_comparison_says():
    # Without the range of the repeated runs.
    compared = re.sub(r" \([\d.,–]+\)", "", (ROOT / "COMPARE.md").read_text(encoding="utf-8"))
    table = (ROOT / "README.md").read_text(encoding="utf-8").split("## Benchmarks", 1)[1].split("\n## ", 1)[0]
    figures = re.findall(r"[\d.]+ % in [\d.]+ s", table)
    assert len(figures) == 2 * 5
    assert [figure for figure in figures if figure not in compared] == []


def test_the_readme_is_short():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 120
