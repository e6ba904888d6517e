"""Arguments of `load`, `run`, `start` and `changed`: what cannot be obeyed is a UsageError that says so."""

import difflib
import operator

from .errors import UsageError

CHANGES = ("set", "lattice", "until", "precision", "seed", "steps", "batch", "free")
OF_A_RUN = ("device", "out", "threads", "progress", "init", "ranks", "cut")


def whole(name, value, least):
    """`value` as an int of at least `least`; numbers of numpy are taken, 1.5 and True are not."""
    try:
        number = None if isinstance(value, bool) else operator.index(value)
    except TypeError:
        number = None
    if number is None or number < least:
        raise UsageError(f"{name}={value!r} is no whole number of at least {least}", "E0810",
                         f"{name}={max(least, 1)}")
    return number


def text(name, value, example):
    """`value`, which must be a str."""
    if not isinstance(value, str):
        raise UsageError(f"{name}={value!r} is no text", "E0810", f'{name}="{example}"')
    return value


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
        return ",".join(f"{axis}={whole('cut', number, 1)}" for axis, number in value.items())
    return text("cut", value, "z=4")


def assignments(values):
    """The pairs of `set`, which must be a dictionary or None."""
    if values is None:
        return []
    if not hasattr(values, "items"):
        raise UsageError(f"set={values!r} is no dictionary", "E0810", "set={'g': 5e-4}")
    return values.items()


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
