"""The very first start: when it is one, the guide's workspace, and how it goes on."""

from __future__ import annotations

import os
from _thread import LockType
from datetime import datetime
from pathlib import Path
from queue import SimpleQueue
from typing import cast

import pytest

from tests.support.tables import case, each
from tui.cli import practice, process
from tui.cli.open_app import FIRST_RUN, Beginning, is_first
from tui.cli.options import Invocation, ModelFlags
from tui.cli.practice import (
    FirstRun,
    Guided,
    guided,
    load_scripts,
    open_first,
    rehearsed,
    remember,
)
from tui.engine.session import SessionOptions
from tui.errors import EXIT_FAILED, EXIT_OK
from tui.settings import Paths
from tui.ui.app import DuettoApp
from tui.ui.first_run.screen import Choice

NOW = datetime(2026, 11, 22, 12)


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    """A home in which nothing was ever started, but whose log has been begun."""
    found = Paths.find({"DUETTO_HOME": str(tmp_path)})
    found.make_state_dir()
    return found


@each(
    "flags, asks",
    [
        (ModelFlags(), True),
        (ModelFlags(debug=True), True),
        (ModelFlags(endpoint="groq", fast="m"), False),
        (ModelFlags(fast="rehearsal-fast"), False),
        (ModelFlags(config=Path("x.toml")), False),
    ],
)
def test_who_says_nothing_of_what_they_want_is_asked(
    paths: Paths, flags: ModelFlags, asks: bool
) -> None:
    assert is_first(flags, paths) is asks


def test_settings_are_a_sign_of_an_earlier_start(paths: Paths) -> None:
    paths.config_file.write_text("")
    assert not is_first(ModelFlags(), paths)
    paths.config_file.unlink()
    paths.config_file.symlink_to(paths.state_dir / "unmounted" / "config.toml")
    assert not is_first(ModelFlags(), paths)


def test_it_is_asked_once(paths: Paths) -> None:
    remember(paths.state_dir, "look")
    assert not is_first(ModelFlags(), paths)
    assert os.listdir(paths.state_dir) == [FIRST_RUN]


def test_where_nothing_can_be_remembered_nothing_is_asked(
    paths: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # root may write anywhere
    assert not is_first(ModelFlags(), paths)


def test_a_state_folder_that_is_none_is_no_first_run(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("")
    assert not is_first(ModelFlags(), Paths.find({"DUETTO_HOME": str(tmp_path)}))


def test_what_cannot_be_remembered_is_no_error(tmp_path: Path) -> None:
    remember(tmp_path / "nowhere", "look")


# -- the guide's workspace


def test_the_guide_plays_the_first_exercise_that_can_be_redirected(tmp_path: Path) -> None:
    lesson = guided(tmp_path, NOW)
    assert lesson.script.asks
    assert lesson.script.prompt == load_scripts()[0].prompt
    assert lesson.kept is None


def test_the_lesson_is_the_same_whatever_the_settings_say_of_reviewing(tmp_path: Path) -> None:
    lesson = guided(tmp_path, NOW)
    options = lesson.options(SessionOptions(save="manual", auto_accept=True))
    assert (options.save, options.auto_accept) == ("on-accept", False)
    assert options.prompts[:2] == (lesson.script.prompt, "use a plain Lock")
    assert options.suggest is not None
    assert options.suggest() == lesson.script.prompt


def test_one_that_was_begun_is_left_alone(tmp_path: Path) -> None:
    first = guided(tmp_path, NOW)
    _touch(first)
    second = guided(tmp_path, NOW)
    assert second.script.name != first.script.name
    assert second.kept is None


def test_where_all_were_begun_it_starts_over_and_keeps_the_old_one(tmp_path: Path) -> None:
    lesson = guided(tmp_path, NOW)
    while lesson.kept is None:
        _touch(lesson)
        lesson = guided(tmp_path, NOW)
    assert (lesson.kept / "ledger").is_dir()
    assert lesson.root == tmp_path / "practice"
    assert lesson.script.prompt == load_scripts()[0].prompt


def _touch(lesson: Guided) -> None:
    file = lesson.root / lesson.script.paths[0]
    file.write_text(file.read_text() + "# mine\n")


def test_the_guide_asks_no_model_that_is_not_named() -> None:
    assert rehearsed(ModelFlags()).fast == "rehearsal-fast"
    named = ModelFlags(endpoint="groq", fast="m")
    assert rehearsed(named) == named


# -- going on


class App:
    """What a first run needs of the app."""

    def __init__(self) -> None:
        self.calls: list[object] = []

    def call_later(self, callback: object) -> None:
        self.calls.append(callback)

    def action_quit(self) -> None:
        """Leave."""


def first(paths: Paths, opened: list[str], *, over_practice: bool = True) -> FirstRun:
    def reopen(choice: Choice) -> int:
        opened.append(choice)
        return 0

    lesson = guided(paths.data_dir, NOW) if over_practice else None
    return FirstRun(paths, lesson, reopen)


def go_on(run: FirstRun) -> App:
    app = App()
    run.go_on(cast("DuettoApp", app))
    return app


def test_looking_stays_where_it_is(paths: Paths) -> None:
    opened: list[str] = []
    run = first(paths, opened)
    run.choose("look")
    assert go_on(run).calls == []
    assert run.again is None
    assert not is_first(ModelFlags(), paths)


def test_what_was_chosen_is_opened_when_this_app_has_ended(paths: Paths) -> None:
    for over_practice, choice, reopens in (
        (True, "connected", False),
        (True, "here", True),
        (False, "practice", True),
        (False, "look", False),
    ):
        with case(over_practice, choice):
            opened: list[str] = []
            run = first(paths, opened, over_practice=over_practice)
            run.choose(cast("Choice", choice))
            app = go_on(run)
            assert bool(app.calls) == reopens
            assert bool(run.again and run.again() == 0) == reopens
            assert opened == [choice] * reopens


def test_what_was_chosen_is_not_ended_by_the_way_out_of_the_first_screen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    let_go: SimpleQueue[bool] = SimpleQueue()

    def play(asked: Invocation, beginning: Beginning | None = None) -> int:
        if isinstance(beginning, FirstRun):
            beginning.choose("here")
            go_on(beginning)
            process.end_in_time(EXIT_OK)
            return EXIT_OK
        assert let_go.get(timeout=10)
        return EXIT_FAILED

    def watch(way_out: LockType, code: int, last: object) -> None:
        let_go.put(way_out.acquire(timeout=60))

    monkeypatch.setenv("DUETTO_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(practice, "open_app", play)
    monkeypatch.setattr(process, "_end_overdue", watch)
    assert open_first(ModelFlags()) == EXIT_FAILED


def test_a_folder_that_is_gone_is_not_offered(
    paths: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone() -> Path:
        raise FileNotFoundError

    monkeypatch.setattr(practice.Path, "cwd", gone)
    assert first(paths, []).here == ""
