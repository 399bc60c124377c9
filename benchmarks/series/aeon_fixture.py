"""Writes what aeon's MiniRocket learns from a few series and makes of them, for the tests of ours.

    python aeon_fixture.py FILE.json

It needs aeon 1.6 and numba. The values of the series are multiples of 1/16: sums of them have no rounding, so that the
features must agree exactly.
"""

import json
import sys

import numpy as np
from aeon.transformations.collection.convolution_based import MiniRocket


def case(channels: int, steps: int, n_kernels: int) -> dict:
    random = np.random.default_rng(channels)
    series = random.integers(-64, 64, (3, channels, steps)).astype(np.float32) / 16
    transform = MiniRocket(n_kernels=n_kernels, random_state=1, n_jobs=1).fit(series)
    sizes, indices, dilations, counts, biases = transform.parameters
    sets = np.split(indices, np.cumsum(sizes)[:-1])
    return {
        # [series][time][channel], as ours are.
        "series": series.swapaxes(1, 2).ravel().tolist(),
        "n_channels": channels,
        "dilations": dilations.tolist(),
        "counts": counts.tolist(),
        "channels": [one.tolist() for one in sets] if channels > 1 else [],
        "biases": [float(bias) for bias in biases],
        "features": [float(f"{share:.9g}") for share in np.asarray(transform.transform(series)).ravel()],
    }


if __name__ == "__main__":
    cases = [case(1, 43, 252), case(3, 30, 168)]
    with open(sys.argv[1], "w") as file:
        file.write("[\n" + ",\n".join(json.dumps(one) for one in cases) + "\n]\n")
