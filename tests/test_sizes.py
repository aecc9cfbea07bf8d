"""How large a piece may be. There is no list of exceptions."""

from __future__ import annotations

import ast

import pytest

from tests.support.sources import Function, Source, sources

MODULE_LINES = 400
CLASS_METHODS = 25
FUNCTION_LINES = 40
PARAMETERS = 5

each_source = pytest.mark.parametrize("source", sources(), ids=lambda source: source.path)


@each_source
def test_a_module_is_short(source: Source) -> None:
    lines = len(source.text.splitlines())
    assert lines <= MODULE_LINES, f"{source.path} has {lines} lines: split it by what it is about"


@each_source
def test_a_class_has_few_methods(source: Source) -> None:
    crowded = [
        f"{source.path}:{one.lineno} {one.name} has {count} methods"
        for one in source.classes()
        if (count := sum(isinstance(node, Function) for node in one.body)) > CLASS_METHODS
    ]
    assert crowded == []


@each_source
def test_a_function_is_short(source: Source) -> None:
    long = [
        f"{source.path}:{one.lineno} {one.name} has {lines} lines"
        for one in source.functions()
        if (lines := (one.end_lineno or one.lineno) - one.lineno + 1) > FUNCTION_LINES
    ]
    assert long == []


@each_source
def test_a_function_takes_few_parameters(source: Source) -> None:
    greedy = [
        f"{source.path}:{one.lineno} {one.name} takes {count} parameters"
        for one in source.functions()
        if (count := parameters(one)) > PARAMETERS
    ]
    assert greedy == []


def parameters(function: Function) -> int:
    """How many arguments it has, keyword-only ones counted, self and cls not."""
    arguments = function.args
    named = [*arguments.posonlyargs, *arguments.args]
    own = int(bool(named) and named[0].arg in ("self", "cls"))
    return len(named) - own + len(arguments.kwonlyargs)


def test_parameters_are_counted_as_the_rule_says() -> None:
    tree = ast.parse("def f(self, a, /, b, *, c, **rest): ...\ndef g(): ...")
    counts = [parameters(node) for node in tree.body if isinstance(node, Function)]
    assert counts == [3, 0]
