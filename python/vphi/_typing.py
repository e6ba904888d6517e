"""Types of arguments, for type checkers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, TypedDict, Union

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    Initial = Mapping[str, ArrayLike]

Value = Union[str, float]
"""A number or a formula."""

Report = Callable[[int, int, float, float, float], object]
"""Called with the step, the number of steps, t, the seconds left, the site updates per second."""


class Changes(TypedDict, total=False):
    """What changes a model beside its text."""

    set: Mapping[str, Value | Sequence[Value]] | None
    lattice: str | int | Sequence[int] | None
    until: str | None
    precision: str | None
    seed: int | str | None
    steps: int | None
    batch: int | None
    free: Sequence[str] | None
