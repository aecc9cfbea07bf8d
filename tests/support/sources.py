"""The project's own Python files, parsed once: what the house rules are checked on."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DATA = ("tests/corpus", "tests/counterparts")
"""Python files in here are data (recordings, another make's server), not code."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Source:
    """One module."""

    path: str
    """Relative to the repository, with ``/``."""
    text: str
    tree: ast.Module

    @property
    def module(self) -> str:
        """Dotted name."""
        return self.path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")

    def classes(self) -> Iterator[ast.ClassDef]:
        """All classes, nested ones too."""
        return (node for node in ast.walk(self.tree) if isinstance(node, ast.ClassDef))

    def functions(self) -> Iterator[Function]:
        """All functions and methods, nested ones too."""
        return (node for node in ast.walk(self.tree) if isinstance(node, Function))

    def imports(self) -> Iterator[tuple[str, int]]:
        """Dotted names that are imported anywhere in the module, with their line."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                yield from ((name.name, node.lineno) for name in node.names)
            elif isinstance(node, ast.ImportFrom):
                yield from ((f"{node.module}.{name.name}", node.lineno) for name in node.names)


@cache
def sources() -> tuple[Source, ...]:
    """Every module of tui and of the tests."""
    return tuple(
        Source(path, text := (ROOT / path).read_text(encoding="utf-8"), ast.parse(text, path))
        for path in python_files()
    )


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
