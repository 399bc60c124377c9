"""Every public name has an example in its documentation, and the examples run."""

import doctest
import importlib
import inspect

import matplotlib
import pytest

MODULES = ["widemargin", "widemargin.inspection", "widemargin.similarity", "widemargin.testing"]
DASK = "widemargin.dask"


def documented(module):
    """Classes and functions of a module by their names."""
    found = importlib.import_module(module)
    return {name: getattr(found, name) for name in found.__all__ if not inspect.ismodule(getattr(found, name))}


def run(module):
    """Runs the examples; what they draw is not shown."""
    matplotlib.use("Agg")
    finder, runner = doctest.DocTestFinder(recurse=False), doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    for name, public in documented(module).items():
        for test in finder.find(public, f"{module}.{name}", globs={}):
            runner.run(test)
    assert runner.tries > 0
    assert runner.failures == 0


@pytest.mark.parametrize("module", MODULES)
def test_the_examples_run(module):
    run(module)


def test_the_examples_on_dask_run():
    run(DASK)


@pytest.mark.parametrize("module", [*MODULES, DASK])
def test_everything_public_has_an_example(module):
    lacking = [name for name, public in documented(module).items() if "Examples\n" not in inspect.getdoc(public)]
    assert not lacking, f"{module} has no example of {', '.join(lacking)}"
