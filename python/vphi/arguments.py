"""Arguments of `load`, `run`, `start` and `changed`: what cannot be obeyed is a UsageError that says so."""

import difflib
import math
import operator
import os

from .errors import UsageError

LARGEST = 2**63 - 1  # of whole numbers
CHANGES = ("set", "lattice", "until", "precision", "seed", "steps", "batch", "free")
OF_A_RUN = ("device", "out", "threads", "progress", "init", "ranks", "cut")


def whole(name, value, least, most=LARGEST):
    """`value` as an int from `least` to `most`; numbers of numpy are taken, 1.5 and True are not."""
    try:
        number = None if isinstance(value, bool) else operator.index(value)
    except TypeError:
        number = None
    if number is None or number < least or number > most:
        bounds = f"of at least {least}" if most == LARGEST else f"from {least} to {most}"
        raise UsageError(f"{name}={value!r} is no whole number {bounds}", "E0810",
                         f"{name}={max(least, 1)}")
    return number


def text(name, value, example):
    """`value`, which must be a str of characters that a text can have."""
    if not isinstance(value, str):
        raise UsageError(f"{name}={value!r} is no text", "E0810", f'{name}="{example}"')
    return encoded(name, value)


def encoded(name, value):
    """A str without halves of characters, which files of the system have in names that are no text."""
    try:
        value.encode()
    except UnicodeEncodeError:
        raise UsageError(f"{name}={value!r} is no text: it does not encode to UTF-8", "E0810",
                         "letters of Unicode") from None
    return value


def place(name, value):
    """A path as a str: of a str, of bytes or of what has one (pathlib)."""
    try:
        path = os.fsdecode(value)
    except TypeError:
        raise UsageError(f"{name}={value!r} is no path", "E0810", f'{name}="results/first"') from None
    if not path or "\0" in path:
        raise UsageError(f"{name}={value!r} names no place", "E0810", f'{name}="results/first"')
    return encoded(name, path)


def real_numbers(what, values, shape):
    """An array of numpy of double precision."""
    import numpy

    fix = f"an array of the shape {shape}, or one number"
    if numpy.ma.is_masked(values):
        raise UsageError(f"some of {what} are masked", "E0810", fix)
    try:
        found = numpy.asarray(values)
    except ValueError:  # lists of several lengths
        found = None
    if found is None or found.dtype.kind not in "biuf":
        raise UsageError(f"{what} are no real numbers", "E0810", fix)
    return found.astype(numpy.float64)


def number(value):
    """A number or a formula as the language writes it, with all its digits."""
    if isinstance(value, str):
        return encoded("set", value)
    if getattr(value, "shape", None) == () and hasattr(value, "item"):  # of numpy
        value = value.item()
    if isinstance(value, bool):
        raise UsageError(f"{value} is no number of the language", "E0810", "1 or 0")
    if not isinstance(value, (int, float, complex)):
        raise UsageError(f"{value!r} is neither a number nor a formula", "E0810",
                         "set={'g': 5e-4}, set={'g': '100*m'}")
    if isinstance(value, int):
        return repr(value)
    value = complex(value)
    if not (math.isfinite(value.real) and math.isfinite(value.imag)):
        raise UsageError(f"{value.real if value.imag == 0 else value} is no finite number", "E0810",
                         "every parameter has a finite value")
    return repr(value.real) if value.imag == 0 else f"({value.real!r} + ({value.imag!r})*1i)"


def ranks(value):
    """`value` as an int, 0 where it is None."""
    if value is None:
        return 0
    if hasattr(value, "Get_size"):
        raise UsageError("ranks= is a number of threads of this process, and not a communicator of MPI",
                         "E0810", "ranks=2; processes of MPI share a run by "
                         "`mpirun vphi run MODEL`, and vphi.open reads its files")
    return whole("ranks", value, 1)


def cut(value):
    """`value` as the text of the command, "z=4"; empty where it is None."""
    if value is None:
        return ""
    if hasattr(value, "items"):
        return ",".join(f"{axis}={whole(f'cut of {axis}', ranks, 1)}" for axis, ranks in value.items())
    return text("cut", value, "z=4")


def assignments(values):
    """The pairs of `set`, which must be a dictionary or None."""
    if values is None:
        return []
    if not hasattr(values, "items"):
        raise UsageError(f"set={values!r} is no dictionary", "E0810", "set={'g': 5e-4}")
    return values.items()


def lattice(value):
    """The shape as the language writes it: of a text, a number, or several numbers (numpy's too)."""
    if value is None:
        return ""
    if isinstance(value, str):
        return text("lattice", value, "64^3")
    if hasattr(value, "tolist"):  # of numpy
        value = value.tolist()
    if not isinstance(value, (tuple, list)):
        return str(whole("lattice", value, 1))
    return " * ".join(str(whole("lattice", sites, 1)) for sites in value)


def names(name, values):
    """A list of names."""
    if values is None:
        return []
    if isinstance(values, str):
        raise UsageError(f"{name}={values!r} is one text, not a list of names", "E0810",
                         f"{name}=[{values!r}]")
    if not hasattr(values, "__iter__"):
        raise UsageError(f"{name}={values!r} is no list of names", "E0810", f"{name}=['g']")
    return [text(name, one, "g") for one in values]


def no_others(unknown):
    """Raises for keywords that no argument has."""
    for name, value in unknown.items():
        near = difflib.get_close_matches(name, CHANGES + OF_A_RUN, 1)
        if name in OF_A_RUN:
            fix = f"`run` and `start` take {name}="
        elif near:
            fix = f"did you mean {near[0]}=?"
        else:
            fix = f"a parameter of the model is changed by set={{{name!r}: {value!r}}}"
        raise UsageError(f"there is no argument {name}=", "E0810", fix)
