"""Similarities that are Python's, on samples of any kind."""

import pickle
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from compared import on_bases
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import cross_val_score

import widemargin as wm
from widemargin.similarity import Edit, pairs


class Counting:
    """Shared characters of two strings over all, counting the pairs."""

    def __init__(self):
        self.pairs = 0
        self.calls = 0

    def __call__(self, samples, bases):
        self.calls += 1
        self.pairs += len(samples) * len(bases)
        sets = [set(text) for text in bases]
        return np.array([[len(set(a) & b) / max(len(set(a) | b), 1) for b in sets] for a in samples])


def words(n, seed=0):
    """Words of two alphabets that overlap, and which it is."""
    rng = np.random.default_rng(seed)
    letters = np.array(list("abcdefghijklmnopqrstuvwxyz"))
    y = rng.integers(0, 2, n)
    made = ["".join(rng.choice(letters[8 * c : 8 * c + 16], rng.integers(4, 9))) for c in y]
    return made, y


def test_only_samples_times_bases_are_compared():
    X, y = words(10_000)
    similarity = Counting()
    svc = on_bases(similarity, n_basis=200).fit(X, y)
    assert similarity.pairs == 200 * len({*zip(X, y.tolist(), strict=True)})  # each once
    similarity.pairs = 0
    more, truth = words(37, seed=1)
    assert svc.score(more, truth) > 0.8
    assert similarity.pairs == 37 * 200
    assert len(svc.basis_) == 200
    assert svc.basis_ == [X[row] for row in svc.basis_indices_]


def test_what_the_choice_of_bases_asks_is_documented():
    X, y = words(300)
    similarity = Counting()
    on_bases(similarity, n_basis=20, basis="kmedoids").fit(X, y)
    assert similarity.pairs > 300 * 20
    for basis, pairs_asked in [("random", 6000), ("auto", 6000), ([3, 5, 250, 299], 1200)]:
        similarity.pairs = 0
        on_bases(similarity, n_basis=20, basis=basis).fit(X, y)
        assert similarity.pairs == pairs_asked


def test_a_callable_is_as_good_as_the_same_similarity_by_name():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    ours = on_bases("rbf:gamma=0.5", n_basis=60, basis="index").fit(X, y)
    theirs = on_bases(lambda A, B: rbf_kernel(A, B, gamma=0.5), n_basis=60, basis="index").fit(X, y)
    np.testing.assert_allclose(theirs.decision_function(X), ours.decision_function(X), atol=2e-4)
    assert theirs.n_features_in_ == 4
    for normalization in ("nystroem", "z_score", "none"):
        svc = wm.BasisExpansionSVC(lambda A, B: rbf_kernel(A, B), n_basis=30, normalization=normalization, C=1.0).fit(
            X, y
        )
        assert svc.score(X, y) > 0.85


def test_frames_arrive_as_frames():
    import pandas

    frame = pandas.DataFrame({"length": [1.0, 2.0, 3.0, 4.0] * 10, "name": list("abcd") * 10})
    y = [0, 0, 1, 1] * 10
    kinds = set()

    def similarity(samples, bases):
        kinds.add((type(samples), type(bases)))
        return -np.abs(samples["length"].to_numpy()[:, None] - bases["length"].to_numpy())

    svc = on_bases(similarity, n_basis=4).fit(frame, y)
    assert svc.score(frame, y) == 1.0
    assert kinds == {(pandas.DataFrame, pandas.DataFrame)}
    assert list(svc.feature_names_in_) == ["length", "name"]


def test_graphs_or_anything_else_in_a_list():
    rng = np.random.default_rng(0)

    def graph(dense):
        return {"edges": int(rng.integers(20, 30) if dense else rng.integers(5, 15)), "nodes": 10}

    y = rng.integers(0, 2, 80)
    X = [graph(c) for c in y]
    svc = on_bases(pairs(lambda a, b: float(-abs(a["edges"] - b["edges"]))), n_basis=10).fit(X, y)
    assert svc.score(X, y) == 1.0


def test_named_and_python_similarities_side_by_side():
    X, y = words(200)
    both = on_bases([Counting(), "edit", Edit(metric="lcs")], n_basis=25).fit(X, y)
    assert both.coef_.shape == (1, 75)
    assert both.similarity_[:2] == ["edit", "edit:metric=lcs"]


def test_the_whole_training_set_is_not_stored():
    X, y = words(2000)
    svc = on_bases(Counting(), n_basis=10).fit(X, y)
    assert len(pickle.dumps(svc)) < 20_000


def test_precomputed_blocks():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    y = (np.linalg.norm(X, axis=1) > 1.5).astype(int)
    assert cross_val_score(on_bases("precomputed", n_basis=30), rbf_kernel(X), y, cv=3).mean() > 0.85
    # A block of samples and bases of one's own.
    block = rbf_kernel(X, rng.normal(size=(40, 3)))
    fitted = on_bases("precomputed").fit(block, y)
    assert fitted.score(block, y) > 0.85
    with pytest.raises(ValueError, match="features"):
        fitted.predict(block[:, :7])


def test_several_threads_at_once():
    rng = np.random.default_rng(0)
    X = rng.random((300, 8))
    y = rng.integers(0, 3, 300)
    strings, of_them = words(120)
    tasks = [
        (wm.PowerMeanSVC(C=1.0, random_state=0), X, y),
        (wm.ThinPlateSVC(n_basis=40, random_state=0, kernel="distance", standardize=False), X, y),
        (on_bases(n_basis=40, n_jobs=2), X, y),
        (on_bases(Counting(), n_basis=15), strings, of_them),
    ]
    alone = [clone(e).fit(A, b).decision_function(A) for e, A, b in tasks]
    shared = [clone(e).fit(A, b) for e, A, b in tasks]
    wrong: list[object] = []

    def work(which):
        try:
            for _ in range(5):
                estimator, samples, labels = tasks[which]
                fitted = clone(estimator).fit(samples, labels)
                np.testing.assert_array_equal(fitted.decision_function(samples), alone[which])
                np.testing.assert_array_equal(shared[which].decision_function(samples), alone[which])
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=work, args=(i % 4,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


INTERRUPTED = """
import os, signal, sys, threading, time
import numpy as np
import widemargin as wm

# Programs that are started in the background begin with the signal ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)

asked = threading.Event()

def slow(samples, bases):
    asked.set()
    # A signal that comes before a single sleep begins would wait for its end.
    for _ in range(10_000):
        time.sleep(0.1)
    return np.zeros((len(samples), len(bases)))

rng = np.random.default_rng(0)
if sys.argv[1] == "call":
    svc, X = wm.BasisExpansionSVC(slow, n_basis=10), list(range(4000))
elif sys.argv[1] == "block":
    svc, X = wm.BasisExpansionSVC("dtw", n_basis=1000), rng.normal(size=(4000, 400))
elif sys.argv[1] == "solve":
    svc, X = wm.ThinPlateSVC(), rng.normal(size=(4000, 20))
else:
    svc, X = wm.PowerMeanSVC(C=1e4, tol=1e-9, max_iter=10**6), rng.random((4000, 200))
y = rng.integers(0, 5, 4000)
sent = []
def interrupt():
    # Under way: the similarity is asked, or the process has worked for a second since it was ready.
    while not asked.is_set() and time.process_time() < ready + 1:
        time.sleep(0.01)
    sent.append(time.process_time())
    os.kill(os.getpid(), signal.SIGINT)
ready = time.process_time()
threading.Thread(target=interrupt).start()
try:
    svc.fit(X, y)
except KeyboardInterrupt:
    print(time.process_time() - sent[0])
    assert not hasattr(svc, "_model") and not hasattr(svc, "report_")
    # The process is well.
    wm.PowerMeanSVC().fit([[1.0, 0.0], [0.0, 1.0]], [0, 1]).predict([[1.0, 0.0]])
    print("well")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent otherwise there")
@pytest.mark.parametrize("where", ["call", "block", "solve", "descent"])
def test_ctrl_c_ends_a_fit_early(where):
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, where], capture_output=True, text=True, timeout=280, check=False
    )
    assert done.returncode == 0, done.stderr
    seconds, well = done.stdout.split()
    assert well == "well"
    # In CPU seconds, which a loaded machine does not lengthen: uninterrupted, each works for half a minute and more, or
    # sleeps for longer than the test may take.
    assert float(seconds) < 10


def test_an_interrupted_fit_leaves_an_estimator_unfitted():
    X, y = words(600)
    svc = on_bases(Counting(), n_basis=5).fit(X, y)

    def interrupted(samples, bases):
        raise KeyboardInterrupt

    svc.set_params(similarity=interrupted)
    with pytest.raises(KeyboardInterrupt):
        svc.fit(X, y)
    with pytest.raises(NotFittedError):
        svc.predict(X)


def test_progress_is_reported_and_may_stop_the_work(capsys):
    X, y = words(800)
    svc = on_bases(Counting(), n_basis=20, verbose=1).fit(X, y)
    printed = capsys.readouterr().err
    assert "BasisExpansionSVC: similarity" in printed
    svc.set_params(verbose=0).fit(X, y)
    assert capsys.readouterr().err == ""


def test_scikit_learns_callbacks_hear_of_every_stage():
    pytest.importorskip("sklearn.callback")

    class Recorder:
        def __init__(self):
            self.begun, self.ended, self.state = [], [], []

        def setup(self, estimator, context):
            self.state.append("setup")

        def teardown(self, estimator, context):
            self.state.append("teardown")

        def on_fit_task_begin(self, estimator, context, **kwargs):
            self.begun.append(context.task_name)

        def on_fit_task_end(self, estimator, context, **kwargs):
            self.ended.append(context.task_name)

    X, y = words(600)
    recorder = Recorder()
    on_bases(Counting(), n_basis=5).set_callbacks(recorder).fit(X, y)
    assert recorder.state == ["setup", "teardown"]
    assert {"fit", "similarity", "solve"} <= set(recorder.begun)
    assert sorted(recorder.begun) == sorted(recorder.ended)


def test_other_threads_run_while_a_fit_works():
    rng = np.random.default_rng(0)
    # Two seconds, whatever the machine: it would need minutes.
    svc = wm.PowerMeanSVC(C=1e4, tol=1e-9, max_iter=10**6, loss="hinge", time_limit=2)
    X, y = rng.random((4000, 50)), rng.integers(0, 5, 4000)
    seen, done = [], threading.Event()

    def look():
        while not done.wait(0.001):
            seen.append(time.perf_counter())

    other = threading.Thread(target=look)
    other.start()
    start = time.perf_counter()
    with pytest.warns(ConvergenceWarning, match="time limit"):
        svc.fit(X, y)
    end = time.perf_counter()
    done.set()
    other.join()
    # In the middle of the fit, where nothing but the work goes on. Some thousand times in the two seconds on an idle
    # machine; never where the interpreter is held.
    assert any(0.75 * start + 0.25 * end < moment < 0.25 * start + 0.75 * end for moment in seen)
