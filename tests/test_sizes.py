"""How large a piece may be, counted so that cutting a piece in two does not help.

Where today's code breaks a rule, the list beside it names the piece with its figure of today: the
figure may only shrink, and the name goes when it keeps the rule.
"""

from __future__ import annotations

import ast
import importlib
from collections import Counter
from collections.abc import Iterable
from functools import cache
from types import FunctionType

import pytest

from tests.support.sources import Function, package, reads_all, sources

pytestmark = reads_all

MODULE_LINES = 800
FUNCTION_LINES = 60
PARAMETERS = 5
METHODS = 45
"""Of one class, with all that it inherits from ours."""
ANCESTORS = 2
"""Of ours, one above the other."""

TOO_MANY_METHODS: dict[str, int] = {}
TOO_DEEP: dict[str, int] = {}
IN_SEVERAL_MODULES: set[str] = set()


def test_a_module_is_short() -> None:
    lengths = {source.path: len(source.text.splitlines()) for source in sources()}
    assert over(MODULE_LINES, lengths) == {}


def test_a_function_is_short() -> None:
    lengths = {
        f"{source.path}:{one.lineno} {one.name}": (one.end_lineno or one.lineno) - one.lineno + 1
        for source in sources()
        for one in source.functions()
    }
    assert over(FUNCTION_LINES, lengths) == {}


def test_a_function_takes_few_parameters() -> None:
    counts = {
        f"{source.path}:{one.lineno} {one.name}": parameters(one)
        for source in sources()
        for one in source.functions()
    }
    assert over(PARAMETERS, counts) == {}


def test_a_class_has_few_methods_with_those_it_inherits() -> None:
    counts = {name(one): len(methods(one)) for one in classes()}
    assert grown(over(METHODS, counts), TOO_MANY_METHODS) == {}


def test_inheritance_of_ours_is_not_deep() -> None:
    depths = {name(one): depth(one) for one in classes()}
    assert grown(over(ANCESTORS, depths), TOO_DEEP) == {}


def test_a_class_is_written_in_one_module() -> None:
    """A base that only its one heir imports, and that is never made, is a part of that heir."""
    importers = Counter(which for source in package() for which, _line in set(source.imports()))
    made = {
        node.func.id
        for source in package()
        for node in source.nodes
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    cut_off = {
        name(base)
        for one in classes()
        for base in one.__bases__
        if ours(base) and base.__module__ != one.__module__ and importers[name(base)] == 1
        if base.__name__ not in made
        if all(heir.__module__ == one.__module__ for heir in base.__subclasses__())
    }
    assert cut_off == IN_SEVERAL_MODULES


def test_no_class_name_stands_twice_in_the_package() -> None:
    names = Counter(
        node.name
        for source in package()
        for node in source.tree.body
        if isinstance(node, ast.ClassDef)
    )
    assert [name for name, count in names.items() if count > 1] == []


def over(limit: int, figures: dict[str, int]) -> dict[str, int]:
    """Those above the limit, by name."""
    return {which: figure for which, figure in figures.items() if figure > limit}


def grown(figures: dict[str, int], known: dict[str, int]) -> dict[str, int]:
    """What is worse than the list says, and what the list names although it keeps the rule."""
    worse = {which: figure for which, figure in figures.items() if figure > known.get(which, 0)}
    return worse | {which: 0 for which in known if which not in figures}


def parameters(function: Function) -> int:
    """How many arguments it has, keyword-only ones counted, self and cls not."""
    arguments = function.args
    named = [*arguments.posonlyargs, *arguments.args]
    own = int(bool(named) and named[0].arg in ("self", "cls"))
    return len(named) - own + len(arguments.kwonlyargs)


@cache
def classes() -> tuple[type, ...]:
    """Every class of the package, nested ones of functions left out."""
    found: dict[type, None] = {}
    for source in package():
        if not source.path.endswith("__main__.py"):
            waiting = list(vars(importlib.import_module(source.module)).values())
            for one in waiting:
                if isinstance(one, type) and one.__module__ == source.module and one not in found:
                    found[one] = None
                    waiting += vars(one).values()
    return tuple(found)


def ours(one: type) -> bool:
    return one.__module__.split(".")[0] == "tui"


def name(one: type) -> str:
    return f"{one.__module__}.{one.__qualname__}"


def depth(one: type) -> int:
    """How many of its ancestors of ours stand one above the other."""
    return max((1 + depth(base) for base in one.__bases__ if ours(base)), default=0)


def methods(one: type) -> set[str]:
    """Names of what is written as a method in it or in an ancestor of ours."""
    return {
        key
        for base in one.__mro__
        if ours(base)
        for key, value in vars(base).items()
        if any(map(written, parts(value)))
    }


def parts(value: object) -> Iterable[object]:
    """The functions behind an attribute of a class."""
    if isinstance(value, property):
        return value.fget, value.fset, value.fdel
    if isinstance(value, (classmethod, staticmethod)):
        return (value.__func__,)
    return (getattr(value, "func", value),)


def written(value: object) -> bool:
    """Whether it is a function of a file, not one that dataclasses made up."""
    return isinstance(value, FunctionType) and value.__code__.co_filename.endswith(".py")


def test_parameters_are_counted_as_the_rule_says() -> None:
    tree = ast.parse("def f(self, a, /, b, *, c, **rest): ...\ndef g(): ...")
    counts = [parameters(node) for node in tree.body if isinstance(node, Function)]
    assert counts == [3, 0]


class _Part:
    @property
    def one(self) -> int:
        return 1

    def two(self) -> None: ...


class _Whole(_Part):
    def two(self) -> None: ...

    @staticmethod
    def three() -> None: ...


def test_methods_are_counted_with_inherited_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "ours", lambda one: one.__module__ == __name__)
    assert methods(_Part) == {"one", "two"}
    assert methods(_Whole) == {"one", "two", "three"}
