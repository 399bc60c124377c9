"""The command that the package installs."""

import subprocess
import sys

import numpy as np
from sklearn.datasets import load_iris

import widemargin as wm


def command(*arguments, cwd):
    run = [sys.executable, "-m", "widemargin", *map(str, arguments)]
    return subprocess.run(run, cwd=cwd, capture_output=True, text=True, check=False)


def test_the_command_trains_what_python_loads(tmp_path):
    X, y = load_iris(return_X_y=True)
    np.savetxt(tmp_path / "iris.csv", np.column_stack([y, X]), delimiter=",", header="label,a,b,c,d", comments="")
    trained = command("train", "iris.csv", "-o", "iris.model", cwd=tmp_path)
    assert trained.returncode == 0, trained.stderr
    predicted = command("predict", "iris.model", "iris.csv", "--quiet", cwd=tmp_path)
    assert predicted.stdout.split() == [str(label) for label in wm.load(tmp_path / "iris.model").predict(X)]


def test_a_mistake_has_the_exit_code_of_the_command(tmp_path):
    mistaken = command("trian", "iris.csv", cwd=tmp_path)
    assert mistaken.returncode == 2
    assert "train" in mistaken.stderr
