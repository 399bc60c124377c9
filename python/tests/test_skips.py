"""A test that is skipped for an unknown reason fails the run."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

GOOD = {
    "passes": "def test(): pass",
    "may_be_skipped": "import pytest\ndef test(): pytest.skip('signals are sent otherwise there')",
}
BAD = {
    "is_skipped": "import pytest\ndef test(): pytest.skip('no reason')",
    "lacks_a_package": "import pytest\npytest.importorskip('no_such_package')\ndef test(): pass",
}


@pytest.mark.parametrize("workers", [[], ["--numprocesses", "1"]], ids=["one process", "xdist"])
@pytest.mark.parametrize("tests", [GOOD, BAD], ids=["good", "bad"])
def test_skips_that_are_not_listed_fail_the_run(tests, workers, tmp_path):
    shutil.copy(Path(__file__).with_name("conftest.py"), tmp_path)
    for name, code in tests.items():
        (tmp_path / f"test_{name}.py").write_text(f"{code}\n\ndef test_another(): pass\n")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *workers, "--rootdir", str(tmp_path)]
    done = subprocess.run([*command, str(tmp_path)], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == (tests is BAD), done.stdout
    _, _, listed = done.stdout.partition("not in ALLOWED_SKIPS")
    assert all((f"test_{name}.py" in listed) == (tests is BAD) for name in tests), done.stdout
