"""The worst phrases do not come back: docs/style.md says what to write instead."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tests.support.sources import ROOT, package, reads_all

PHRASES = (
    r"nobody who",
    r"as if rejected",
    r"bracket with a partner",
    r"has these letters",
    r"asks to (?:wait|be left)",
    r"the log has (?:it|what)",
    r"otherwise than",
    r"not fit together",
    r"by somebody else",
    r"is not to be had",
    r"without a word",
    r"no sign of life",
    r"is put away",
    r"are? gone to\b",
    r"\bthe dearest\b",
    r"\bpartial: ",
    r"\bdropped: ",
    r"\b(?:sorry|successfully)\b",
    r"(?<!there )\b(?:is|are|was|were) no (?!longer|more\b|less\b|better|worse|matter|such)[a-z]+",
)
FOUND = re.compile("|".join(PHRASES), re.IGNORECASE)


def sentences() -> Iterator[tuple[str, str]]:
    """Where, and each text of at least three words that the program may show."""
    for source in package():
        docs = {
            id(node.value)
            for parent in source.nodes
            if isinstance(body := getattr(parent, "body", None), list)
            for node in body
            if isinstance(node, ast.Expr)
        }
        for node in source.nodes:
            if not isinstance(node, ast.Constant) or id(node) in docs:
                continue
            if isinstance(node.value, str) and node.value.count(" ") >= 2:
                yield f"{source.path}:{node.lineno}", node.value


def lines_of_docs() -> Iterator[tuple[str, str]]:
    """The same of what is written for users."""
    for file in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))):
        if file.name != "style.md":
            for number, line in enumerate(file.read_text().splitlines(), 1):
                yield f"{file.name}:{number}", line


@reads_all
def test_no_sentence_has_one_of_the_worst_phrases() -> None:
    texts = (*sentences(), *lines_of_docs())
    found = [f"{where}: {match[0]}" for where, text in texts if (match := FOUND.search(text))]
    assert found == []
