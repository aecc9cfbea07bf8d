"""What tui/ui takes from inside Textual and Pygments, whole: an update that moves it fails here.

A private name that Textual stops reading or calling raises nothing: the screen is just not
painted any more. So every such name in the sources is in one of these tables, and every name in
them is where it was.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pkgutil import walk_packages

import pytest
from pygments.lexer import RegexLexerMeta
from rich.style import Style
from textual._compositor import Compositor
from textual.app import App
from textual.dom import DOMNode
from textual.driver import Driver
from textual.message import Message
from textual.message_pump import MessagePump
from textual.screen import Screen
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Input, TextArea

import tui.ui
from tests.support.sources import package, reads_all
from tests.support.tables import each

USED: dict[str, type] = {
    "_ansi": Style,
    "_app": Driver,
    "_auto_restart": Driver,
    "_background_screens": App,
    "_batch_count": App,
    "_compositor": Screen,
    "_delete_cursor_line": TextArea,
    "_delete_via_keyboard": TextArea,
    "_dirty_regions": Compositor,
    "_dirty_widgets": Screen,
    "_driver": App,
    "_full_map": Compositor,
    "_filters": App,
    "_invoke_and_clear_callbacks": Screen,
    "_layout_required": Widget,
    "_link": Style,
    "_link_id": Style,
    "_on_timer_update": Screen,
    "_merge_bindings": DOMNode,
    "_merged_bindings": DOMNode,
    "_process_regex": RegexLexerMeta,
    "_process_state": RegexLexerMeta,
    "_recompose_required": Widget,
    "_render_cache": Strip,
    "_repaint_required": Widget,
    "_replace_via_keyboard": TextArea,
    "_scroll_required": Widget,
    "_set_dirty": Widget,
    "_sync_available": App,
    "_update_mouse_over": App,
    "_validate_selection": TextArea,
}
"""Read or called, and whose it is."""

REPLACED: dict[str, type] = {
    "_bubble_to": Message,
    "_cell_offset_to_index": Input,
    "_clipboard": App,
    "_compositor_refresh": Screen,
    "_display": App,
    "_on_idle": Screen,
    "_position_to_cell": Input,
    "_refresh_layout": Screen,
    "_refresh_size": TextArea,
    "_value": Input,
}
"""Ours in place of Textual's: it must still be Textual that asks for them."""
ASKED_AS = {
    "_bubble_to": ("textual.message_pump", "message._bubble_to"),
    "_display": ("textual.screen", "app._display"),
}
"""Where another object than the owner asks."""


def is_private(name: str) -> bool:
    return re.match(r"_[a-z]", name) is not None


def own() -> set[str]:
    """Names that are made somewhere in the project."""
    found: set[str] = set()
    for node in (node for source in package() for node in source.nodes):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif (
            isinstance(node, ast.Attribute)
            and isinstance(node.ctx, ast.Store)
            and isinstance(node.value, ast.Name)
            and node.value.id in ("self", "cls")
        ):
            found.add(node.attr)
    return found


@cache
def names_of(owner: type) -> frozenset[str]:
    """Private names that a class has, or that it sets on itself."""
    found = {name for name in dir(owner) if is_private(name)}
    if owner.__module__.startswith("textual"):
        found.update(re.findall(r"self\.(_[a-z]\w*)", inspect.getsource(owner)))
    for base in owner.__bases__:
        found |= names_of(base)
    return frozenset(found)


@each("name, owner", [*USED.items(), *REPLACED.items()])
def test_it_is_where_it_was(name: str, owner: type) -> None:
    assert name in names_of(owner)


@each("name", sorted(set(REPLACED) - {"_on_idle"}))  # which is a message's name
def test_textual_still_asks_for_what_is_replaced(name: str) -> None:
    module, asked = ASKED_AS.get(name, (REPLACED[name].__module__, f"self.{name}"))
    assert re.search(rf"\b{re.escape(asked)}\b", inspect.getsource(sys.modules[module]))


@reads_all
def test_no_other_private_name_of_theirs_is_used() -> None:
    used = {
        node.attr
        for source in package()
        if source.path.startswith("tui/ui/")
        for node in source.nodes
        if isinstance(node, ast.Attribute) and is_private(node.attr)
    }
    assert used - own() <= set(USED)
    assert set(USED) <= used


@pytest.mark.slow
@reads_all
def test_no_private_name_of_theirs_is_replaced_by_chance() -> None:
    for module in walk_packages(tui.ui.__path__, "tui.ui."):
        import_module(module.name)
    taken: set[str] = set()
    for ours in (*below(MessagePump), *below(Driver), *below(Message)):
        if not ours.__module__.startswith("tui."):
            continue
        for base in ours.__mro__:
            if base.__module__.startswith("textual"):
                taken |= made_by(ours) & names_of(base)
    assert taken == set(REPLACED)


def below(base: type) -> Iterator[type]:
    for found in base.__subclasses__():
        yield found
        yield from below(found)


def made_by(ours: type) -> set[str]:
    """Private names that a class defines or sets."""
    text = inspect.getsource(ours)
    found = set(re.findall(r"self\.(_[a-z]\w*)(?:: [^=\n]*)? = ", text))
    found |= set(re.findall(r"^    (?:async )?def (_[a-z]\w*)\(", text, re.MULTILINE))
    return found | set(re.findall(r"^    (_[a-z]\w*)(?:: [^=\n]*)? = ", text, re.MULTILINE))
