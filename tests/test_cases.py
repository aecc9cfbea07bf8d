"""Every case of the catalogue is named by a test: ``test_a05_...`` or `pytest.mark.case`."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from functools import cache
from pathlib import Path

from tests.support.sources import Function, Source, reads_all, sources

pytestmark = reads_all

CATALOGUE = Path(__file__).parent / "corpus/EDIT-CASES.md"
SECTIONS = "ABCDEFGHIJ"
_CASE = re.compile(r"^([A-J]\d\d) ", re.MULTILINE)
_IN_NAME = re.compile(r"_([a-j]\d\d)(?=_)")
_AGAIN = re.compile(r" (J\d\d) ")
"""Section J has several cases in a line."""


@cache
def catalogue() -> frozenset[str]:
    """The ids of all cases."""
    text = CATALOGUE.read_text(encoding="utf-8")
    last = text[text.index("\n## J ") :]
    return frozenset([*_CASE.findall(text), *_AGAIN.findall(last)])


@cache
def named() -> dict[str, list[str]]:
    """Case -> the tests that name it, as ``file:line``."""
    found: dict[str, list[str]] = defaultdict(list)
    for source in sources():
        if Path(source.path).name.startswith("test_"):
            for node in source.nodes:
                if isinstance(node, Function) and node.name.startswith("test_"):
                    for case in _IN_NAME.findall(node.name):
                        found[case.upper()].append(f"{source.path}:{node.lineno}")
            for mark in _marks(source):
                for argument in mark.args:
                    where = f"{source.path}:{mark.lineno}"
                    assert isinstance(argument, ast.Constant), f"{where}: name the case"
                    found[str(argument.value)].append(where)
    return dict(found)


def _marks(source: Source) -> list[ast.Call]:
    """The marks of cases that count: of a test, of a class or machine of tests, of a module."""
    holders: list[ast.expr] = []
    for node in source.nodes:
        if isinstance(node, Function | ast.ClassDef):
            is_test = node.name.lower().startswith("test")
            holders += node.decorator_list if is_test else []
        elif isinstance(node, ast.Assign):
            names = [ast.unparse(target) for target in node.targets]
            if any(name.rpartition(".")[2] == "pytestmark" for name in names):
                holders.append(node.value)
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("pytest.param"):
            holders += [keyword.value for keyword in node.keywords if keyword.arg == "marks"]
    return [
        call
        for holder in holders
        for call in ast.walk(holder)
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "pytest.mark.case"
    ]


def test_the_catalogue_is_read_whole() -> None:
    counts = {section: sum(c[0] == section for c in catalogue()) for section in SECTIONS}
    assert counts == {
        **{"A": 16, "B": 18, "C": 16, "D": 11, "E": 5},
        **{"F": 7, "G": 10, "H": 8, "I": 7, "J": 3},
    }


def test_every_case_has_a_test_that_names_it() -> None:
    assert sorted(catalogue() - named().keys()) == []


def test_every_case_that_is_named_is_in_the_catalogue() -> None:
    assert {case: named()[case] for case in named().keys() - catalogue()} == {}
