"""The command `vphi` that the package brings: the program beside this file takes this process over."""

import os
import sys


def main() -> None:
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "vphi")
    if not os.path.exists(program):
        sys.exit("vphi: this package was built without the command; `import vphi` works")
    os.execv(program, ["vphi", *sys.argv[1:]])
