"""Models that the command line trained on tables with categories, booleans and missing values take data frames."""

import json
import subprocess

import numpy as np
import pandas as pd
import pytest
from test_files import PROGRAM

import widemargin as wm

pytestmark = pytest.mark.skipif(PROGRAM is None, reason="the command `widemargin` is not built")


def frame(n, seed):
    random = np.random.default_rng(seed)
    y = random.integers(0, 2, n)
    color = np.where(
        y ^ (random.random(n) < 0.2), random.choice(["red", "amber"], n), random.choice(["blue", "green"], n)
    )
    table = pd.DataFrame(
        {"size": random.integers(0, 50, n) + 20.0 * y, "color": color, "member": random.random(n) < 0.5}
    )
    table.loc[::9, "size"] = np.nan
    table.loc[5, "color"] = None
    return table, np.where(y, "high", "low")


@pytest.mark.parametrize("method", ["thin-plate", "basis-expansion", "power-mean"])
def test_frames_and_files_give_the_same_values(tmp_path, method):
    (X, y), (A, _) = frame(120, 0), frame(50, 1)
    X.assign(kind=y).to_csv(tmp_path / "train.csv", index=False)
    A.to_csv(tmp_path / "test.csv", index=False)
    run = {"cwd": tmp_path, "check": True, "capture_output": True, "text": True}
    train = [PROGRAM, "train", method, "train.csv", "--label", "kind", "-o", "m"]
    subprocess.run(train, **run)
    told = subprocess.run([PROGRAM, "predict", "m", "test.csv", "--scores"], **run).stdout.splitlines()
    expected = [float(line.split("\t")[1]) for line in told]

    svc = wm.load(tmp_path / "m")
    np.testing.assert_allclose(svc.decision_function(A), expected, atol=1e-5)
    np.testing.assert_array_equal(svc.decision_function(A[["member", "color", "size"]]), svc.decision_function(A))
    assert svc.predict(A).tolist() == [line.split("\t")[0] for line in told]
    assert list(svc.feature_names_in_[:3]) == ["size", "size is missing", f"color={X.color[0]}"]
    # The features themselves are taken too.
    n = len(svc.feature_names_in_)
    assert svc.decision_function(pd.DataFrame(np.zeros((2, n)), columns=svc.feature_names_in_)).shape == (2,)
    with pytest.warns(UserWarning, match=r"'color'.*pink.*not seen in training"):
        svc.predict(A.assign(color="pink"))
    with pytest.raises(ValueError, match=r"Missing here: .'size'"):
        svc.predict(A[["color", "member"]])
    with pytest.raises(ValueError, match=r"Unknown: .'age'"):
        svc.predict(A.assign(age=1))
    with pytest.raises(ValueError, match="'size': 'big' is not a number"):
        svc.predict(A.assign(size="big"))
    # Saved again, the file still knows the columns; fitted again, they are those of the new samples.
    wm.save(svc, tmp_path / "again")
    again = subprocess.run([PROGRAM, "predict", "again", "test.csv", "--scores"], **run).stdout.splitlines()
    assert again == told
    assert "columns" in json.loads(svc._model.header())
    svc.fit(pd.DataFrame({"a": [0.0, 1.0, 2.0, 3.0], "b": [1.0, 0.0, 1.0, 2.0]}), [0, 0, 1, 1])
    assert svc.predict(pd.DataFrame({"b": [1.0], "a": [0.0]})).shape == (1,)
