"""Keys that come in one read take effect in their order."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest
from textual import events
from textual.geometry import Size
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input

from tests.support.scripted_app import exercise, running, scripted_app, settled, until
from tests.support.scripted_session import ScriptedSession
from tui.ui.editor.editor import Editor
from tui.ui.files.file_tree import FileTree
from tui.ui.key_decoder import KeyDecoder
from tui.ui.key_queue import KeyQueue, TypedKey
from tui.ui.terminal.input_stream import InputStream
from tui.ui.terminal.terminal_app import TerminalApp


class Clock(asyncio.SelectorEventLoop):
    """A loop whose time passes when it is told to."""

    now = 0.0

    def time(self) -> float:
        return self.now

    def go_on(self, seconds: float) -> None:
        end = self.now + seconds
        while self.now < end:
            self.now = min(self.now + 0.01, end)
            self.call_soon(self.stop)
            self.run_forever()


@pytest.fixture
def clock() -> Iterator[Clock]:
    with closing(Clock()) as made:
        yield made


def post(order: KeyQueue, sent: str) -> None:
    """As the driver does with one read."""
    for message in KeyDecoder().messages(InputStream().feed(sent, 0.0)):
        if isinstance(message, events.Key):
            message = TypedKey(message)
        order.add(message)


async def test_a_burst_is_what_was_typed(session: ScriptedSession) -> None:
    async with running(session) as (app, pilot):
        prompt = app.bench.prompt_box.prompt
        for sent, text in (
            ("ab\x1b[D\x1b[Dx", "xab"),
            ("one\x1b[13;2utwo\x1b[H!\x1b[A?", "o?ne\n!two"),
            ("ab cd\x1b[1;5Dx", "ab xcd"),
            ("abc\x7f\x7f\x1b[Dx\x15y", "ya"),
            ("one\x1b[13;2utwo" + "\x7f" * 5 + "ab" + "\x7f" * 3 + "c", "oc"),
        ):
            prompt.clear()
            post(KeyQueue(app.post_message, asyncio.get_running_loop()), sent)
            await until(pilot, lambda text=text: prompt.text == text)


@pytest.mark.parametrize(
    ("sent", "focus", "typed"),
    [
        ("\x06", "find-needle", "xyz"),
        ("\x12q\t", "find-replacement", "xyz"),
        ("\x06q\x1b[27u", "editor-text", "xyz"),
        ("\x1bOS", "tree", "xyz"),
    ],
)
async def test_what_is_typed_at_once_behind_a_key_of_the_editor_goes_where_the_key_leads(
    sent: str, focus: str, typed: str
) -> None:
    session = ScriptedSession()
    exercise(session)
    async with running(session) as (app, pilot):
        await settled(session, pilot)
        app.bench.pane_actions.enter_editor()
        await pilot.pause()
        order = KeyQueue(app.post_message, asyncio.get_running_loop())
        post(order, sent + "xyz")
        await until(pilot, lambda: app.focused is not None and app.focused.id == focus)
        await until(pilot, lambda: _text_of(app.focused) == typed)


@pytest.mark.parametrize("pump", ["prompt-box", "whole", "_default"])
async def test_what_is_typed_behind_a_key_waits_for_what_the_key_has_others_do(pump: str) -> None:
    async with running(ScriptedSession()) as (app, pilot):
        prompt, held = app.bench.prompt_box.prompt, asyncio.Event()
        (app.bench if pump == "_default" else app.bench.query_one(f"#{pump}")).call_later(held.wait)
        post(KeyQueue(app.post_message, asyncio.get_running_loop()), "\x06xyz")
        for _ in range(10):
            await asyncio.sleep(0)
        held.set()
        await until(pilot, lambda: app.focused is not prompt and _text_of(app.focused) == "xyz")
        assert prompt.text == ""


async def test_a_widget_that_never_gets_round_to_it_holds_no_key_up_for_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("tui.ui.key_queue._LOOK_S", 0.001)
    async with running(ScriptedSession()) as (app, _):
        prompt, held = app.bench.prompt_box.prompt, asyncio.Event()
        app.bench.prompt_box.call_later(held.wait)
        post(KeyQueue(app.post_message, asyncio.get_running_loop()), "\x06xyz")
        while prompt.text != "xyz":
            await asyncio.sleep(0)
        held.set()


async def test_a_burst_in_the_editor_is_what_was_typed_and_is_painted_a_few_times(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    session = ScriptedSession()
    exercise(session)
    async with running(session) as (app, pilot):
        app.bench.pane_actions.enter_editor()
        await pilot.pause()
        editor, painted = app.bench.editor.editor, list[int]()
        monkeypatch.setattr(editor, "repaint", lambda: painted.append(1))
        monkeypatch.setattr("tui.ui.editor.editor._BURST_S", 60.0)
        for sent, text in (
            ("ab\x1b[D\x1b[Dx", "xab"),
            ("one\rtwo\x1b[H!\x1b[A?", "o?ne\n!two"),
            ("abc\x7f\x7f\x1b[Dx\x1b[Cy", "xay"),
            ("abc\x1b[1;2D\x1b[1;2Dx", "ax"),
            ("word " * 400, "word " * 400),
            ("ab\x1b[D" * 200, "a" * 200 + "b" * 200),
        ):
            await pilot.press("ctrl+home")
            wanted = text + editor.view.buffer.text()
            painted.clear()
            post(KeyQueue(app.post_message, asyncio.get_running_loop()), sent)
            await until(pilot, lambda wanted=wanted: editor.view.buffer.text() == wanted)
            assert len(painted) < 10


async def test_text_behind_a_key_whose_action_takes_long_goes_where_the_key_leads(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("tui.ui.key_queue._LOOK_S", 0.001)
    session = ScriptedSession()
    exercise(session)
    async with running(session) as (app, pilot):
        app.bench.pane_actions.enter_editor()
        await pilot.pause()
        run_action, before = app.run_action, app.bench.editor.editor.view.buffer.text()

        async def slowly(*arguments: Any) -> bool:
            await asyncio.sleep(0.03)
            return await run_action(*arguments)

        monkeypatch.setattr(app, "run_action", slowly)
        post(KeyQueue(app.post_message, asyncio.get_running_loop()), "\x12q\txyz")
        await until(pilot, lambda: _text_of(app.focused) == "xyz")
        assert app.focused is not None
        assert app.focused.id == "find-replacement"
        assert app.bench.editor.editor.view.buffer.text() == before


def test_a_key_waits_for_the_one_before_it_but_not_for_ever(clock: Clock) -> None:
    posted: list[Message] = []
    order = KeyQueue(posted.append, clock)
    keys = [TypedKey(events.Key(name, name)) for name in "abcd"]
    for key in keys:
        order.add(key)
    clock.go_on(5.0)
    assert posted == keys[:1], "however slow the machine is"
    keys[0].stop()
    clock.go_on(0.01)
    assert posted == keys[:2]
    keys[1].holder = Widget()  # it is on no screen any more
    clock.go_on(0.2)
    assert posted == keys[:3]
    clock.go_on(5.0)
    assert posted == keys[:3]
    clock.now += 3600.0  # the process was stopped: that is no time in which a key is taken
    clock.go_on(1.0)
    assert posted == keys[:3]
    clock.go_on(15.0)
    assert posted == keys, "no message says that the key was taken"


def test_only_the_key_that_is_being_taken_takes_others_and_only_those_right_behind_it() -> None:
    posted: list[Message] = []
    loop = asyncio.new_event_loop()
    order = KeyQueue(posted.append, loop)
    keys = {name: TypedKey(events.Key(name, name)) for name in "abcd"}
    for message in (keys["a"], keys["b"], events.AppFocus(), keys["c"]):
        order.add(message)
    assert keys["b"].further(lambda _: True) is None
    assert keys["a"].further(lambda key: key.key != "b") is None
    assert keys["a"].further(lambda _: True) is keys["b"]
    assert keys["a"].further(lambda _: True) is None  # something else stands there
    assert posted == [keys["a"]]
    loop.close()


def _text_of(widget: Widget) -> str:
    """What was typed into an input, into the tree's filter, or at the start of the editor."""
    if isinstance(widget, Input):
        return widget.value
    if isinstance(widget, FileTree):
        return widget.list.words
    assert isinstance(widget, Editor)
    return widget.view.buffer.lines[0].removesuffix("import threading")


async def test_a_key_that_comes_alone_is_posted_at_once() -> None:
    posted: list[Message] = []
    order = KeyQueue(posted.append, asyncio.get_running_loop())
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


def test_what_is_typed_before_anybody_takes_keys_waits_however_long_that_takes(
    clock: Clock,
) -> None:
    posted: list[Message] = []
    order = KeyQueue(posted.append, clock)
    order.hold()
    post(order, "a")
    order.add(events.Paste("pasted"))
    post(order, "bc")
    size = events.Resize(Size(80, 24), Size(80, 24))
    order.add(size)
    clock.go_on(60.0)
    assert posted == [size], "only what is typed waits"
    order.release()
    for _ in range(3):
        message = posted[-1]
        assert isinstance(message, TypedKey)
        message.stop()
        clock.go_on(0.01)
    assert [getattr(one, "text", getattr(one, "key", "")) for one in posted[1:]] == [
        *("a", "pasted", "b", "c")
    ]


async def test_keys_wait_no_longer_once_the_first_picture_is_there_and_nobody_has_the_focus(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    app, released = scripted_app(ScriptedSession()), list[int]()
    monkeypatch.setattr(TerminalApp, "on_descendant_focus", lambda self, event: None)
    app.hold_keys(lambda: released.append(1))
    async with app.run_test() as pilot:
        await until(pilot, lambda: released)
