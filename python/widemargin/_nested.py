"""Nested parameters of a similarity that is a spec: ``similarity__gamma`` where ``similarity`` is ``"rbf"``."""

from __future__ import annotations

import inspect
from typing import Any, ClassVar, Self

from . import similarity
from ._specs import Named, Similarity, _parameters, steps_of, with_hyphens


class NestedSpecMixin:
    """Must precede scikit-learn's `BaseEstimator` in the bases of an estimator."""

    # The parameters that may be a spec or an object.
    _spec_parameters: ClassVar[tuple[str, ...]] = ("similarity",)

    def set_params(self, **params: object) -> Self:
        """Sets parameters, including those of a similarity: ``similarity__gamma=0.1``.

        A name such as ``"rbf"`` is then replaced by the corresponding object of `widemargin.similarity`.

        Parameters
        ----------
        **params : dict

        Returns
        -------
        estimator
            The estimator itself.
        """
        for name in self._spec_parameters:
            nested = {key[len(name) + 2 :]: value for key, value in params.items() if key.startswith(f"{name}__")}
            value = params.get(name, getattr(self, name))
            if nested and isinstance(value, str):
                params[name] = object_of(value, name, nested)
            elif nested and not hasattr(value, "set_params"):
                raise ValueError(
                    f"'{name}__{next(iter(nested))}' cannot be set: {name} is {value!r}, which has no such parameters; "
                    "pass an object of widemargin.similarity, such as RBF()"
                )
        return super().set_params(**params)  # type: ignore[misc]


def object_of(spec: str, name: str, requested: dict[str, Any]) -> Similarity:
    """The object for a spec of one step, whose parameters can be set.

    Parameters
    ----------
    spec : str
    name : str
        The corresponding parameter of the estimator.
    requested : dict
        The parameters to set, used here if the constructor requires them.

    Raises
    ------
    ValueError
        For a spec of several steps, and one without a corresponding object.
    """
    *before, last = steps_of(with_hyphens(spec))
    step, _, rest = last.partition(":")
    known = {one._name: one for one in vars(similarity).values() if _is_named(one)}
    key = f"{name}__{next(iter(requested))}"
    hint = f"{key!r} cannot be set: {name} is the spec {spec!r}; pass an object of widemargin.similarity, such as "
    if before:
        raise ValueError(f"{hint}HOG() >> RBF(), whose parameters are those of its two parts, {name}__then__gamma")
    if step not in known:
        raise ValueError(f"{hint}RBF()")
    pairs = [pair.partition("=") for pair in rest.split(",")] if rest else []
    values = {key.replace("-", "_"): _value(text) for key, _, text in pairs}
    required = [key for key, default in _parameters(known[step]) if default is inspect.Parameter.empty]
    missing = {key: requested[key] for key in required if key not in values and key in requested}
    try:
        return known[step](**values, **missing)
    except TypeError:  # an unknown parameter, or a missing one
        raise ValueError(f"{hint}{known[step].__name__}()") from None


def _is_named(one: Any) -> bool:
    return isinstance(one, type) and issubclass(one, Named) and issubclass(one, Similarity)


def _value(text: str) -> Any:
    """A value of a spec as a constructor argument."""
    if text in ("true", "false"):
        return text == "true"
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            continue
    return text
