"""`%load_ext vphi`, then a model as a cell of a notebook:

    %%vphi r --device native --lattice 16^3 --steps 100 --set g=0.1
    model ...

The cell is run, and the result is bound to the name (`r`; without one to `result`). A mistake is
shown as the command shows it.
"""

import argparse
import shlex

from .errors import UsageError


class _Words(argparse.ArgumentParser):
    def error(self, message):
        raise UsageError(message, "E0810", self.format_usage().strip())


def _words():
    words = _Words(prog="%%vphi", add_help=False)
    words.add_argument("name", nargs="?", default="result")
    words.add_argument("--device", default="auto")
    words.add_argument("--ranks", type=int)
    words.add_argument("--cut")
    words.add_argument("--set", action="append", default=[], metavar="NAME=VALUE")
    words.add_argument("--lattice")
    words.add_argument("--until")
    words.add_argument("--precision")
    words.add_argument("--seed")
    words.add_argument("--out")
    words.add_argument("--steps", type=int)
    return words


def run_cell(line, cell):
    """(name, result) of a cell."""
    from .model import load

    given = _words().parse_args(shlex.split(line))
    if not given.name.isidentifier():
        raise UsageError(f"`{given.name}` is no name of Python", "E0810", "%%vphi result --steps 100")
    changes = {}
    for text in given.set:
        name, equals, value = text.partition("=")
        if not (name and equals and value):
            raise UsageError(f"--set takes NAME=VALUE, not `{text}`", "E0810", "--set g=0.1")
        changes[name] = value
    model = load(cell if "\n" in cell else cell + "\n", name="cell", set=changes,
                 lattice=given.lattice, until=given.until, precision=given.precision,
                 seed=given.seed, steps=given.steps)
    return given.name, model.run(given.device, out=given.out, ranks=given.ranks,
                                 cut=given.cut)


def register(shell):
    """Adds the magic to IPython."""

    def vphi(line, cell):
        name, result = run_cell(line, cell)
        shell.user_ns[name] = result
        return result

    shell.register_magic_function(vphi, magic_kind="cell", magic_name="vphi")
