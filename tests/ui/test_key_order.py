"""Keys that come in one read take effect in their order."""

from __future__ import annotations

import asyncio

import pytest
from textual import events
from textual.app import App
from textual.geometry import Size
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input
from textual.widgets.text_area import Edit, EditResult

from tests.support.scripted_app import exercise, running, settled
from tests.support.scripted_session import ScriptedSession
from tui.engine.intents import Accept
from tui.ui.app import DuettoApp
from tui.ui.editor.editor import Editor
from tui.ui.files.tree import FileTree
from tui.ui.key_order import PATIENCE_S, KeyOrder, TypedKey
from tui.ui.key_words import KeyWords
from tui.ui.terminal.input_stream import InputStream
from tui.ui.widgets.field import Field


def post(order: KeyOrder, sent: str) -> None:
    """As the driver does with one read."""
    for message in KeyWords().messages(InputStream().feed(sent, 0.0)):
        if isinstance(message, events.Key):
            message = TypedKey(message)
        order.add(message)


@pytest.mark.parametrize(
    ("sent", "text"),
    [
        ("ab\x1b[D\x1b[Dx", "xab"),
        ("ab\x1b[Dx\x1b[Dy\x1b[Cz", "ayxzb"),
        ("one\x1b[13;2utwo\x1b[H!\x1b[A?", "o?ne\n!two"),
        ("abc\x01x\x05y", "xabcy"),
        ("ab cd\x1b[1;5Dx", "ab xcd"),
        ("abc\x7f\x7f\x1b[Dx\x15y", "ya"),
    ],
)
async def test_a_burst_is_what_was_typed(sent: str, text: str) -> None:
    session = ScriptedSession()
    async with running(session) as (app, pilot):
        order = KeyOrder(app.post_message, asyncio.get_running_loop())
        post(order, sent)
        for _ in range(50):
            await pilot.pause()
            if app.bench.prompt_box.prompt.text == text:
                break
        assert app.bench.prompt_box.prompt.text == text


async def test_what_is_typed_behind_a_change_of_focus_goes_there() -> None:
    session = ScriptedSession()
    exercise(session)
    async with running(session) as (app, pilot):
        await settled(session, pilot)
        order = KeyOrder(app.post_message, asyncio.get_running_loop())
        post(order, "\x1b[17~x")
        await pilot.pause(PATIENCE_S * 2)
        assert app.bench.prompt_box.prompt.text == ""
        post(order, "\x1b[17~x")
        await pilot.pause(PATIENCE_S * 2)
        assert app.bench.prompt_box.prompt.text == "x"


@pytest.mark.parametrize(
    ("sent", "focus", "typed"),
    [
        ("\x06", "find-needle", "xyz"),
        ("\x12", "find-needle", "xyz"),
        ("\x07", "find-needle", "xyz"),
        ("\x12q\t", "find-replacement", "xyz"),
        ("\x06q\x1b[27u", "editor-text", "xyz"),
        ("\x0f\x1b[27u", "editor-text", "xyz"),
        ("\x1bOS", "tree", "xyz"),
        ("\x1bOS\x1b[27u", "editor-text", "xyz"),
    ],
)
async def test_what_is_typed_at_once_behind_a_key_of_the_editor_goes_where_the_key_leads(
    sent: str, focus: str, typed: str
) -> None:
    session = ScriptedSession()
    exercise(session)
    async with running(session) as (app, pilot):
        await settled(session, pilot)
        app.bench.enter_editor()
        await pilot.pause()
        order = KeyOrder(app.post_message, asyncio.get_running_loop())
        post(order, sent + "xyz")
        focused = None
        for _ in range(50):
            await pilot.pause(0.02)
            focused = app.focused
            if focused is not None and focused.id == focus and _text_of(focused) == typed:
                break
        assert focused is not None
        assert (focused.id, _text_of(focused)) == (focus, typed)


@pytest.mark.parametrize(
    ("sent", "text"),
    [
        ("ab\x1b[D\x1b[Dx", "xab"),
        ("one\rtwo\x1b[H!\x1b[A?", "o?ne\n!two"),
        ("abc\x7f\x7f\x1b[Dx\x1b[Cy", "xay"),
        ("abc\x1b[1;2D\x1b[1;2Dx", "ax"),
        ("word " * 400, "word " * 400),
        ("ab\x1b[D" * 200, "a" * 200 + "b" * 200),
    ],
)
async def test_a_burst_in_the_editor_is_what_was_typed_and_is_painted_a_few_times(
    sent: str, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = ScriptedSession()
    exercise(session)
    async with running(session) as (app, pilot):
        await settled(session, pilot)
        app.bench.enter_editor()
        await pilot.pause()
        editor = app.bench.editor.editor
        assert editor.view is not None
        before, painted = editor.view.buffer.text(), list[int]()
        monkeypatch.setattr(editor, "repaint", lambda: painted.append(1))
        monkeypatch.setattr("tui.ui.editor.editor._BURST_S", 60.0)
        order = KeyOrder(app.post_message, asyncio.get_running_loop())
        post(order, sent)
        for _ in range(50):
            await pilot.pause(0.02)
            if editor.view.buffer.text().startswith(text):
                break
        assert editor.view.buffer.text() == text + before
        assert len(painted) < 10


async def test_a_burst_in_the_prompt_is_put_in_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    session = ScriptedSession()
    async with running(session) as (app, pilot):
        prompt = app.bench.prompt_box.prompt
        edits: list[str] = []
        plain = prompt.edit

        def kept(edit: Edit) -> EditResult:
            edits.append(edit.text)
            return plain(edit)

        monkeypatch.setattr(prompt, "edit", kept)
        order = KeyOrder(app.post_message, asyncio.get_running_loop())
        post(order, "word " * 100 + "\x7f!")
        for _ in range(50):
            await pilot.pause(0.02)
            if prompt.text.endswith("!"):
                break
        assert prompt.text == "word " * 99 + "word!"
        assert len(edits) < 10


async def test_a_burst_in_a_field_is_put_in_and_looked_for_a_few_times(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    session = ScriptedSession()
    exercise(session)
    async with running(session) as (app, pilot):
        await settled(session, pilot)
        app.bench.enter_editor()
        await pilot.pause()
        await pilot.press("ctrl+f")
        field = app.focused
        assert isinstance(field, Field)
        values: list[str] = []

        def kept(value: str) -> str:
            values.append(value)
            return value

        monkeypatch.setattr(field, "validate_value", kept)
        order = KeyOrder(app.post_message, asyncio.get_running_loop())
        post(order, "word " * 100 + "\x7f!" + "\x1b[D" * 3 + "in here")
        for _ in range(50):
            await pilot.pause(0.02)
            if field.value.endswith("woin hererd!"):
                break
        assert field.value == "word " * 99 + "woin hererd!"
        assert len(values) < 15


def test_only_the_key_that_is_being_taken_takes_others_and_only_those_right_behind_it() -> None:
    posted: list[Message] = []
    loop = asyncio.new_event_loop()
    order = KeyOrder(posted.append, loop)
    keys = {name: TypedKey(events.Key(name, name)) for name in "abcd"}
    for message in (keys["a"], keys["b"], events.AppFocus(), keys["c"]):
        order.add(message)
    assert keys["b"].further(lambda _: True) is None
    assert keys["a"].further(lambda key: key.key != "b") is None
    assert keys["a"].further(lambda _: True) is keys["b"]
    assert keys["a"].further(lambda _: True) is None  # something else stands there
    assert posted == [keys["a"]]
    loop.close()


async def test_a_review_key_right_behind_the_way_there_is_no_letter_of_the_prompt() -> None:
    session = ScriptedSession()
    exercise(session)
    async with running(session) as (app, pilot):
        await settled(session, pilot)
        order = KeyOrder(app.post_message, asyncio.get_running_loop())
        post(order, "\x1bja")
        for _ in range(50):
            await pilot.pause(0.02)
            if any(isinstance(intent, Accept) for intent in session.intents):
                break
        assert any(isinstance(intent, Accept) for intent in session.intents)
        assert app.bench.prompt_box.prompt.text == ""


def _text_of(widget: Widget) -> str:
    """What was typed into an input, into the tree's filter, or at the start of the editor."""
    if isinstance(widget, Input):
        return widget.value
    if isinstance(widget, FileTree):
        return widget.words
    assert isinstance(widget, Editor)
    assert widget.view is not None
    return widget.view.buffer.lines[0].removesuffix("import threading")


async def test_a_key_that_comes_alone_is_posted_at_once() -> None:
    posted: list[Message] = []
    order = KeyOrder(posted.append, asyncio.get_running_loop())
    first, second = TypedKey(events.Key("a", "a")), TypedKey(events.Key("b", "b"))
    order.add(first)
    assert posted == [first]
    order.add(second)
    moved = events.AppFocus()
    order.add(moved)
    assert posted == [first]  # what came behind waits too
    first.stop()
    await asyncio.sleep(0)
    assert posted == [first, second]
    second.on_taken()
    await asyncio.sleep(0)
    assert posted == [first, second, moved]
    order.add(events.AppBlur())
    assert len(posted) == 4


async def test_a_key_that_nobody_takes_holds_up_nobody_for_long() -> None:
    posted: list[Message] = []
    order = KeyOrder(posted.append, asyncio.get_running_loop())
    for name in "ab":
        order.add(TypedKey(events.Key(name, name)))
    await asyncio.sleep(PATIENCE_S / 2)
    assert len(posted) == 1
    await asyncio.sleep(PATIENCE_S)
    assert len(posted) == 2


@pytest.mark.parametrize("over", ["", "help", "status", "command_palette"])
async def test_every_key_is_told_to_be_taken(over: str) -> None:
    """By a widget, by a binding, by a priority binding, or by nobody; under a dialog too."""
    session = ScriptedSession()
    async with running(session) as (app, pilot):
        if over:
            await app.run_action(over)
            await pilot.pause()
            assert app.screen is not app.bench
        for sent in ("x", "\x1b[D", "\x1b[17~", "\x1b[17~", "\x1b[24~", "\t", "\x1b[27u", "x"):
            (token,) = KeyWords().messages(InputStream().feed(sent, 0.0))
            assert isinstance(token, events.Key)
            key, taken = TypedKey(token), asyncio.Event()
            key.on_taken = taken.set
            app.post_message(key)
            await asyncio.wait_for(taken.wait(), 2)
            await pilot.pause()


def test_textual_hands_keys_on_as_the_order_leans_on() -> None:
    assert TypedKey.handler_name == "on_key"
    assert isinstance(TypedKey(events.Key("a", "a")), events.Key)
    assert DuettoApp.on_event is not App.on_event


async def test_what_is_typed_before_anybody_takes_keys_is_not_lost() -> None:
    posted: list[Message] = []
    order = KeyOrder(posted.append, asyncio.get_running_loop())
    order.hold()
    post(order, "abc")
    size = events.Resize(Size(80, 24), Size(80, 24))
    order.add(size)
    assert posted == [size], "only keys wait"
    order.release()
    for _ in range(3):
        message = posted[-1]
        assert isinstance(message, TypedKey)
        message.stop()
        await asyncio.sleep(0)
        await asyncio.sleep(0)
    assert [key.character for key in posted if isinstance(key, TypedKey)] == ["a", "b", "c"]
