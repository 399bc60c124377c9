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
