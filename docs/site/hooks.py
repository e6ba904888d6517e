"""MkDocs: models are coloured by the lexer of the Python package, whether or not it is installed."""

import importlib.util
import os
import sys

from pygments.lexers import LEXERS


def on_startup(command, dirty):
    path = os.path.join(os.environ["VPHI_SOURCE"], "python", "vphi", "lexer.py")
    spec = importlib.util.spec_from_file_location("vphi_lexer", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    sys.modules["vphi_lexer"] = module
    lexer = module.VphiLexer
    LEXERS["VphiLexer"] = ("vphi_lexer", lexer.name, tuple(lexer.aliases),
                           tuple(lexer.filenames), tuple(lexer.mimetypes))
