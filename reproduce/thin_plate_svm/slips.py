"""What goes wrong where the paper is followed to the letter: the literal kernel, the stop rule, the linear system.

    python slips.py

Small made problems, solved in NumPy as the paper prints it and by the library. The case of the stop rule is among the
tests' data in this repository; no other files are read.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from common import Study
from declared import TOP

# isort: split
import numpy as np

from choosing import machine

Array = np.ndarray

CASE = TOP / "crates" / "widemargin" / "tests" / "data" / "cpdsvm_premature.csv"
CASE_LAMBDA = 3.162277660168379e-07

SHIFT = 1e6


def distances(points: Array) -> Array:
    return np.sqrt(((points[:, None] - points) ** 2).sum(-1))


def thin_plate(r: Array) -> Array:
    return np.where(r > 0, r**2 * np.log(np.where(r > 0, r, 1)), 0.0)


def cubic(r: Array) -> Array:
    return r**3


def literal(r: Array, columns: int) -> Array:
    """Definition 5.1 with m = 2 at any dimension, up to its sign: r^(4 − d), times log r where d is even."""
    safe = np.where(r > 0, r, 1)
    values = safe ** (4 - columns) * (np.log(safe) if columns % 2 == 0 else 1)
    return np.where(r > 0, values, 0.0)


def linear(points: Array) -> Array:
    """The polynomials that come with the kernels: 1 and the coordinates."""
    return np.c_[points, np.ones(len(points))]


@dataclass(frozen=True)
class Problem:
    kernel: Array
    polynomials: Array
    y: Array
    lam: float

    def scores(self, alpha: Array, beta: Array) -> Array:
        return self.kernel @ alpha + self.polynomials @ beta

    def objective(self, alpha: Array, beta: Array) -> float:
        losses = np.maximum(0, 1 - self.y * self.scores(alpha, beta)) ** 2
        return float(self.lam * alpha @ self.kernel @ alpha + losses.sum())

    def newton(self, full_step: bool, most: int = 200) -> tuple[float, int]:
        """Algorithm 1 with a step that is halved until the objective falls: the objective, and the steps.

        It ends when the violators are those of the step before, and with `full_step` only if that step was whole.
        """
        n, m = self.polynomials.shape
        alpha, beta, violators = np.zeros(n), np.zeros(m), np.ones(n, dtype=bool)
        value = self.objective(alpha, beta)
        steps = 0
        while steps < most:
            steps += 1
            k, at = int(violators.sum()), self.polynomials[violators]
            kernel = self.lam * np.eye(k) + self.kernel[np.ix_(violators, violators)]
            system = np.block([[kernel, at], [at.T, np.zeros((m, m))]])
            solved = np.linalg.solve(system, np.r_[self.y[violators], np.zeros(m)])
            toward = np.zeros(n)
            toward[violators] = solved[:k]
            step = 1.0
            while True:
                new = alpha + step * (toward - alpha), beta + step * (solved[k:] - beta)
                if self.objective(*new) <= value * (1 + 1e-12) or step < 1e-8:
                    break
                step /= 2
            alpha, beta = new
            value, before = self.objective(alpha, beta), violators
            violators = self.y * self.scores(alpha, beta) < 1
            if np.array_equal(before, violators) and (step == 1 or not full_step):
                break
        return value, steps


def definite(kernel: Array, points: Array) -> bool:
    """Whether the kernel, or its negative, has one sign on all that is orthogonal to the polynomials."""
    basis, _ = np.linalg.qr(linear(points), mode="complete")
    outside = basis[:, points.shape[1] + 1 :]
    values = np.linalg.eigvalsh(outside.T @ kernel @ outside)
    rounding = 1e-10 * np.abs(values).max()
    return bool(values[0] > -rounding or values[-1] < rounding)


def kernels_section(study: Study) -> None:
    random = np.random.default_rng(0)
    rows = []
    for columns in range(1, 11):
        points = random.standard_normal((120, columns))
        r = distances(points)
        rows.append([columns, definite(literal(r, columns), points), definite(thin_plate(r), points)])
    study.found("dimensions of 10 in which m = 2 to the letter is definite", sum(row[1] for row in rows))
    study.found("dimensions of 10 in which r² log r is definite", sum(row[2] for row in rows))
    text = "Of one sign on 120 normal points, orthogonal to 1 and the coordinates; diagonals without a value are 0."
    results = [[str(row[0]), *["yes" if one else "no" for one in row[1:]]] for row in rows]
    study.table("The kernel", text, ["columns", "m = 2 to the letter", "r² log r"], results)


def stop_section(study: Study) -> None:
    table = np.loadtxt(CASE, delimiter=",", skiprows=1)
    points, y = table[:, :-1], table[:, -1]
    problem = Problem(cubic(distances(points)), linear(points), y, CASE_LAMBDA)
    (printed, printed_steps), (right, steps) = problem.newton(full_step=False), problem.newton(full_step=True)
    fitted = machine("cubic", C=0.5 / CASE_LAMBDA, polynomials="free").fit(points, y.astype(int))
    ours = 2 * CASE_LAMBDA * fitted.report_["objective"]
    study.found("% above the minimum: the stop rule as printed", 100 * (printed / right - 1))
    study.found("relative distance from the minimum: the library", abs(ours / right - 1))
    rows = [
        ["as printed: violators as before", f"{printed:.9e}", printed_steps],
        ["and the last step a whole one", f"{right:.9e}", steps],
        ["the library", f"{ours:.9e}", ""],
    ]
    study.table(
        "When to stop", f"r³ on {len(y)} samples at λ = {CASE_LAMBDA:.3g}.", ["rule", "objective", "steps"], rows
    )

    worst, early, trials = 0.0, 0, 100 if study.quick else 400
    for seed in range(trials):
        random = np.random.default_rng(seed)
        points = random.standard_normal((60, int(random.integers(2, 7))))
        y = np.where(random.random(60) < 0.5, 1.0, -1.0)
        kernel = (cubic, thin_plate)[seed % 2](distances(points))
        q, _ = np.linalg.qr(linear(points))
        inside = kernel - q @ (q.T @ kernel)
        unit = np.trace(inside - (inside @ q) @ q.T) / 60
        problem = Problem(kernel, linear(points), y, unit * 10.0 ** -(2 * (seed // 2 % 4) + 2))
        above = problem.newton(full_step=False)[0] / problem.newton(full_step=True)[0] - 1
        early, worst = early + (above > 1e-6), max(worst, above)
    study.found("% of made problems that the printed rule ends early", 100 * early / trials)
    study.note("made problems", {"tried": trials, "early": early, "worst above the minimum, %": 100 * worst})


def system_section(study: Study) -> None:
    points = np.random.default_rng(0).standard_normal((200, 2))
    rows = []
    for name, at in (("as they are", points), (f"moved by {SHIFT:.0e}", points + SHIFT)):
        kernel, polynomials = thin_plate(distances(at)), linear(at)
        naive = np.block([[np.eye(200) + kernel, polynomials], [polynomials.T, np.zeros((3, 3))]])
        # Centered columns span the same polynomials and lose nothing to the shift.
        q, _ = np.linalg.qr(linear((at - at.mean(0)) / at.std(0)))
        off = np.eye(200) - q @ q.T
        projected = np.eye(200) + off @ kernel @ off
        negative = int((np.linalg.eigvalsh(np.eye(200) + kernel) < 0).sum())
        rows.append([name, np.linalg.cond(naive), np.linalg.cond(projected), negative])
    study.found("negative eigenvalues of λI + Φ", rows[0][3])
    study.found("condition of the printed system, moved", rows[1][1])
    study.found("condition of the projected system, moved", rows[1][2])
    results = [[name, f"{naive:.1e}", f"{projected:.1e}", negative] for name, naive, projected, negative in rows]
    head = ["points", "condition as printed", "projected", "negative eigenvalues of λI + Φ"]
    study.table("The linear system", "r² log r on 200 normal points in the plane, λ = 1.", head, results)


SECTIONS: tuple[Callable[[Study], None], ...] = (kernels_section, stop_section, system_section)


def main() -> int:
    study = Study(__file__, __doc__)
    warnings.simplefilter("ignore")
    for section in SECTIONS:
        section(study)
    return study.finish()


if __name__ == "__main__":
    raise SystemExit(main())
