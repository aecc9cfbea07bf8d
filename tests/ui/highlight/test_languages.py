from __future__ import annotations

from time import perf_counter, process_time
from typing import ClassVar

import pytest
from pygments.lexer import RegexLexer
from pygments.lexers import find_lexer_class_for_filename, get_all_lexers
from pygments.token import Name

from tui.ui.highlight.checkpoints import checkpointed
from tui.ui.highlight.languages import (
    Language,
    by_alias,
    by_first_line,
    candidates,
    choice,
    language,
)

NAMES = sorted({name for _, _, globs, _ in get_all_lexers(plugins=False) for name in globs})


def chosen(path: str, sample: str) -> str | None:
    found = None
    for step in choice(candidates(path), sample):
        found = step
    return None if found is None else found.name


@pytest.mark.parametrize("sample", ["", "x = 1\n", "<?php\nclass A {}\n", "#include <a>\n"])
def test_a_files_name_means_what_it_means_to_pygments(sample: str) -> None:
    for glob in NAMES:
        for path in {glob.replace("*", "some.file"), f"folder.d/{glob.replace('*', 'x')}"}:
            stock = find_lexer_class_for_filename(path, sample)
            assert chosen(path, sample) == (None if stock is None else stock.name), path


@pytest.mark.parametrize("path", ["notes", "a.zzz", "py", ".py.bak", "a.", "", "Ünï.cödé"])
def test_unknown_names_have_no_language(path: str) -> None:
    assert candidates(path) == []


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("a/b.ipynb", "JSON"),
        ("tsconfig.jsonc", "JSON"),
        ("a.mts", "TypeScript"),
        ("page.mdx", "Markdown"),
        ("App.svelte", "HTML"),
        ("Cargo.lock", "TOML"),
        ("Containerfile", "Docker"),
        ("show.html.erb", "RHTML"),
        ("mail.txt.erb", "ERB"),
        ("nginx.conf.j2", "Django/Jinja"),
        ("a.csproj", "XML"),
        ("a.tfvars", "Terraform"),
    ],
)
def test_names_that_pygments_does_not_know_have_a_language(path: str, name: str) -> None:
    assert [lexer for lexer, _ in candidates(path)] == [name]
    assert language(name).lexer_class() is not None


def test_candidates_load_nothing() -> None:
    candidates("a.py")
    began = process_time()
    for _ in range(100):
        candidates("some/folder/a.html")
    assert process_time() - began < 0.05


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("#!/usr/bin/env python3", "Python"),
        ("#!/bin/sh", "Bash"),
        ("#!/usr/bin/env -S node --x", "JavaScript"),
        ("#! /usr/bin/perl -w", "Perl"),
        ("#!/usr/bin/python3.11", "Python"),
        ("#!/usr/local/bin/nope", None),
        ("import os", None),
        ("#!", None),
        ("", None),
    ],
)
def test_a_script_is_known_by_its_first_line(line: str, name: str | None) -> None:
    found = by_first_line(line)
    assert (found and found.name) == name


def test_a_fence_names_a_language_by_any_alias() -> None:
    found = by_alias("Py")
    assert found is language("Python")
    assert by_alias("nope") is None


def test_a_language_is_loaded_in_many_small_steps() -> None:
    class Fresh(RegexLexer):
        name = "Fresh"
        tokens: ClassVar = {
            "root": [(rf"word{number}", Name, "other") for number in range(50)],
            "other": [(rf"end{number}", Name, "#pop") for number in range(50)],
        }

    made = Language("Fresh", Fresh)
    steps = 0
    while not made.step(perf_counter()):
        steps += 1
        assert not made.ready
    assert steps >= 100
    assert made.ready


@pytest.mark.parametrize(
    "name", ["Python", "C++", "Objective-C", "C#", "YAML", "Ruby", "Scheme", "EmacsLisp", "Lua"]
)
def test_lexers_with_methods_of_their_own_can_start_in_the_middle(name: str) -> None:
    """All 489 that are made of expressions can (Pygments 2.21)."""
    lexer_class = language(name).lexer_class()
    assert lexer_class is not None
    assert checkpointed(lexer_class) is not None


@pytest.mark.parametrize("name", ["JSON", "HTML+Django/Jinja", "Python console session"])
def test_lexers_that_begin_at_the_top_are_told_apart(name: str) -> None:
    lexer_class = language(name).lexer_class()
    assert lexer_class is not None
    assert checkpointed(lexer_class) is None
