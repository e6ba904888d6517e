"""Colours of models for Pygments, and so for Sphinx, MkDocs, nbconvert and LaTeX's minted.

The rules are those of the editors' grammar, vphi.tmLanguage.json, which is written from the word tables
of the compiler. An installed package has the file beside this one.
"""

import json
import pathlib

from pygments.lexer import RegexLexer
from pygments.token import (Comment, Keyword, Name, Number, Operator, Punctuation, String, Text,
                            Whitespace)

__all__ = ["VphiLexer"]  # what Pygments asks a module for

# The longest beginning of a scope's name that stands here decides.
TOKENS = {
    "comment.line": Comment.Single,
    "comment.line.documentation": Comment.Special,
    "string.quoted": String.Double,
    "keyword.control": Keyword,
    "keyword.operator": Operator,
    "keyword.operator.word": Operator.Word,
    "entity.name.function": Name.Function,
    "support.type": Keyword.Type,
    "support.function": Name.Builtin,
    "constant.numeric": Number,
    "constant.language": Name.Constant,
}


def token(scope):
    """The token of a scope of the grammar; KeyError for one that is not known."""
    parts = scope.split(".")
    for count in range(len(parts), 0, -1):
        if found := TOKENS.get(".".join(parts[:count])):
            return found
    raise KeyError(f"no colour for {scope}")


def _regex(match):
    """Classes of letters and digits as `re` writes them."""
    for theirs, ours in ((r"[\p{L}\p{N}_]", r"\w"), (r"[\p{L}_]", r"[^\W\d]")):
        match = match.replace(theirs, ours)
    return match


def _by_captures(captures):
    """What a rule with captures gives: a token for each, text between them."""
    tokens = {int(number): token(capture["name"]) for number, capture in captures.items()}

    def pieces(lexer, match, context=None):
        at = match.start()
        for number in sorted(tokens):
            begin, end = match.span(number)
            if begin > at:
                yield at, Text, match.string[at:begin]
            if end > begin:
                yield begin, tokens[number], match.group(number)
                at = end
        if match.end() > at:
            yield at, Text, match.string[at:match.end()]

    return pieces


def _rules():
    here = pathlib.Path(__file__).resolve().parent
    name = "vphi.tmLanguage.json"
    places = (here / name, here.parents[1] / "editors/vscode/syntaxes" / name)
    grammar = json.loads(next(place for place in places if place.exists()).read_text())
    rules = [(_regex(p["match"]), token(p["name"]) if "name" in p else _by_captures(p["captures"]))
             for p in grammar["patterns"]]
    return rules + [(r"[^\W\d]\w*", Name), (r"\n", Whitespace), (r"[^\S\n]+", Whitespace),
                    (r"[()\[\]{},:;|]", Punctuation), (r".", Text)]


class VphiLexer(RegexLexer):
    """A model of vphi."""

    name = "vphi"
    aliases = ["vphi"]
    filenames = ["*.vphi"]
    mimetypes = ["text/x-vphi"]
    tokens = {"root": _rules()}
