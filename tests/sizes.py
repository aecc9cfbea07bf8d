"""Who imports whom: ``python -m tests.sizes`` prints what is imported most, and imports most.

A module that many import is dear to change; one that imports many knows too much. A report, no
rule: the rules are in `test_sizes` and `test_layers`.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Mapping

from tests.support.sources import Function, Source, package

Graph = Mapping[str, frozenset[str]]
"""Module -> those it imports."""
SHOWN = 20


def imports_of_modules() -> Graph:
    """What each module of tui imports of tui when it is loaded or, for types, only checked."""
    names = {source.module for source in package()}
    return {source.module: frozenset(imported(source, names)) for source in package()}


def imported(source: Source, names: set[str]) -> Iterator[str]:
    """The modules among ``names`` that are imported outside of functions."""
    for node in outside_functions(source.tree):
        if isinstance(node, ast.Import):
            yield from (one.name for one in node.names if one.name in names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            for one in node.names:
                whole = f"{node.module}.{one.name}"
                yield from {whole, node.module} & names if whole not in names else {whole}


def outside_functions(tree: ast.Module) -> Iterator[ast.AST]:
    """The statements that run when the module is loaded, and those for a type checker."""
    waiting: list[ast.AST] = [*tree.body]
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, Function):
            for part in ("body", "orelse", "handlers", "finalbody"):
                waiting += getattr(node, part, ())


def cycles(graph: Graph) -> set[frozenset[str]]:
    """Groups of modules that import each other, if over others."""
    left = set(graph)
    while ends := {one for one in left if not graph[one] & left}:
        left -= ends
    reached = {one: reach(graph, one, left) for one in left}
    rings = {one: frozenset(two for two in reached[one] if one in reached[two]) for one in left}
    return {ring for ring in rings.values() if ring}


def reach(graph: Graph, start: str, among: set[str]) -> set[str]:
    """What a module imports, and what that imports, and so on."""
    found: set[str] = set()
    waiting = [start]
    while waiting:
        new = (graph[waiting.pop()] & among) - found
        found |= new
        waiting += new
    return found


def main() -> None:
    """Print both lists and the cycles."""
    graph = imports_of_modules()
    counts = {
        "imported by": Counter(one for found in graph.values() for one in found),
        "imports": Counter({one: len(found) for one, found in graph.items()}),
    }
    for title, count in counts.items():
        print(f"{title} (of {len(graph)} modules)")
        print(*(f"{figure:5}  {name}" for name, figure in count.most_common(SHOWN)), sep="\n")
    print("in cycles")
    print(*sorted("  " + " ".join(sorted(ring)) for ring in cycles(graph)), sep="\n")


if __name__ == "__main__":
    main()
