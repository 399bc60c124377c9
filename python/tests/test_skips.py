"""A test that is skipped for an unknown reason fails the run."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = {
    "passes": ("def test(): pass", 0),
    "is_skipped": ("import pytest\ndef test(): pytest.skip('no reason')", 1),
    "lacks_a_package": ("import pytest\npytest.importorskip('no_such_package')\ndef test(): pass", 1),
    "may_be_skipped": ("import pytest\ndef test(): pytest.skip('signals are sent otherwise there')", 0),
}


@pytest.mark.parametrize("workers", [[], ["--numprocesses", "1"]], ids=["one process", "xdist"])
@pytest.mark.parametrize("name", TESTS)
def test_skips_that_are_not_listed_fail_the_run(name, workers, tmp_path):
    code, status = TESTS[name]
    shutil.copy(Path(__file__).with_name("conftest.py"), tmp_path)
    (tmp_path / "test_one.py").write_text(f"{code}\n\ndef test_another(): pass\n")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *workers, "--rootdir", str(tmp_path)]
    done = subprocess.run([*command, str(tmp_path)], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == status, done.stdout
    assert ("not in ALLOWED_SKIPS" in done.stdout) == (status == 1)
