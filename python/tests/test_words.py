"""scripts/words finds what it is to find, and nothing else."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def words(*paths):
    return subprocess.run(
        [sys.executable, ROOT / "scripts" / "words", *paths], capture_output=True, text=True, cwd=ROOT
    )


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("planted.md", "One\nchooses with nothing\ngiven.\n", "planted.md:2: nothing given → default parameters"),
        ("planted.rs", "/// A fit with nothing\n/// given.\n", "planted.rs:1: nothing given → default parameters"),
        ("planted.py", "def normalise(colour): ...\n", "planted.py:1: colour → color"),
        ("planted.rs", "const ROWS_A_CHUNK: usize = 1;\n", "planted.rs:1: ROWS_A_CHUNK → _PER_, or the unit last"),
        ("planted.rs", "const MOST_ROWS: usize = 1;\n", "planted.rs:1: MOST_ROWS → MAX_ or MIN_ and what it limits"),
    ],
)
def test_fails_on_a_planted_phrase(tmp_path, name, text, found):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    done = words(path)
    assert done.returncode == 1
    assert found in done.stdout


def test_accepts_standard_terms_and_names_of_code_in_documents(tmp_path):
    path = tmp_path / "clean.md"
    path.write_text("By default the basis is normalized (`normalise`, [link](colour.md)).\n", encoding="utf-8")
    assert words(path).returncode == 0
