"""The project's own Python files, read and parsed once: what the house rules are checked on."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DATA = ("tests/corpus", "tests/counterparts")
"""Python files in here are data (recordings, another make's server), not code."""
reads_all = pytest.mark.xdist_group("sources")
"""For tests that look at every file: one worker runs them, which reads and parses each once."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Source:
    """One module."""

    path: str
    """Relative to the repository, with ``/``."""

    @cached_property
    def text(self) -> str:
        """What the file holds."""
        return (ROOT / self.path).read_text(encoding="utf-8")

    @cached_property
    def tree(self) -> ast.Module:
        """The text, parsed."""
        return ast.parse(self.text, self.path)

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        """Every node of the tree."""
        return tuple(ast.walk(self.tree))

    @property
    def module(self) -> str:
        """Dotted name."""
        return self.path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")

    def functions(self) -> Iterator[Function]:
        """All functions and methods, nested ones too."""
        return (node for node in self.nodes if isinstance(node, Function))

    def imports(self) -> Iterator[tuple[str, int]]:
        """Dotted names that are imported anywhere in the module, with their line."""
        for node in self.nodes:
            if isinstance(node, ast.Import):
                yield from ((name.name, node.lineno) for name in node.names)
            elif isinstance(node, ast.ImportFrom):
                yield from ((f"{node.module}.{name.name}", node.lineno) for name in node.names)


@cache
def sources() -> tuple[Source, ...]:
    """Every module of tui and of the tests."""
    return tuple(map(Source, python_files()))


def package() -> tuple[Source, ...]:
    """The modules of tui."""
    return tuple(source for source in sources() if source.path.startswith("tui/"))


@cache
def python_files() -> tuple[str, ...]:
    """Paths of all Python files that are code of ours."""
    found = (
        path.relative_to(ROOT).as_posix()
        for folder in ("tui", "tests")
        for path in (ROOT / folder).rglob("*.py")
    )
    return tuple(sorted(path for path in found if not path.startswith(DATA)))
