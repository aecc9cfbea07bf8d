"""When a start is the first one, what is remembered of it, and how it goes on."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import io
import json
import os
from collections.abc import AsyncIterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.tables import case
from tui.bridge.providers.model_lists import name_of
from tui.cli import first_run
from tui.cli.first_run import FirstRun, Surroundings, remember, text_of, write
from tui.cli.open_app import FIRST_RUN, is_first
from tui.cli.options import ModelFlags
from tui.cli.practice import Guided, guided, load_scripts, rehearsed
from tui.engine.session import SessionOptions
from tui.settings import Paths, load, parse
from tui.ui.app import DuettoApp
from tui.ui.first_run.port import Choice, FoundHere, Listed, ModelSource


def test_both_models_and_their_endpoint() -> None:
    settings = parse(text_of("ollama", "qwen3:8b", "qwen3:32b"), "config.toml")
    assert settings.models.fast is not None
    assert settings.models.deep is not None
    assert settings.models.fast.name == "qwen3:8b"
    assert settings.models.deep.name == "qwen3:32b"
    assert {settings.models.fast.endpoint, settings.models.deep.endpoint} == {"ollama"}


@given(st.text(min_size=1).filter(lambda name: bool(name_of({"id": name}))))
def test_any_name_that_a_server_may_give_reads_back(name: str) -> None:
    settings = parse(text_of("ollama", name, name), "config.toml")
    assert settings.models.fast is not None
    assert settings.models.fast.name == name_of({"id": name}) or settings.models.fast.name == name


def test_it_is_written_whole_and_for_its_owner(tmp_path: Path) -> None:
    file = tmp_path / "new" / "config.toml"
    assert write(file, text_of("ollama", "a", "b")) == ""
    assert load(file).models.fast is not None
    assert os.listdir(file.parent) == ["config.toml"]
    assert file.stat().st_mode & 0o077 == 0


def test_settings_that_came_meanwhile_are_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text("# mine\n")
    assert "there already" in write(file, text_of("ollama", "a", "b"))
    assert file.read_text() == "# mine\n"
    assert os.listdir(tmp_path) == ["config.toml"]


def test_a_link_that_leads_nowhere_is_left_alone_too(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.symlink_to(tmp_path / "dotfiles" / "duetto.toml")
    assert "there already" in write(file, text_of("ollama", "a", "b"))
    assert file.is_symlink()


def test_a_disk_that_is_full_leaves_no_half_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Full(io.StringIO):
        def write(self, text: str) -> int:
            raise OSError(errno.ENOSPC, "No space left on device")

    def opened(descriptor: int, mode: str, encoding: str) -> Full:
        os.close(descriptor)
        return Full()

    monkeypatch.setattr(os, "fdopen", opened)
    assert "No space left" in write(tmp_path / "config.toml", text_of("ollama", "a", "b"))
    assert os.listdir(tmp_path) == []


def test_a_folder_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    wrong = write(tmp_path / "file" / "config.toml", text_of("ollama", "a", "b"))
    assert "cannot be written" in wrong


@pytest.mark.parametrize("text", ["[models.fast]\nnam = 1\n", "schema ="])
def test_what_duetto_could_not_read_is_not_written(tmp_path: Path, text: str) -> None:
    assert write(tmp_path / "config.toml", text)
    assert os.listdir(tmp_path) == []


KEY = "sk-correct-horse-battery"
LIST = json.dumps({"data": [{"id": "qwen3:32b"}, {"id": "qwen3:8b"}]}).encode()


class Server:
    """Says one thing to everybody, and keeps what it was asked."""

    def __init__(self, said: bytes | None) -> None:
        self.said = said
        """None: nothing, ever."""
        self.heard: list[bytes] = []
        self.port = 0

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            self.heard.append(await reader.readuntil(b"\r\n\r\n"))
            if self.said is None:
                await asyncio.sleep(30)
            writer.write(self.said or b"")
            await writer.drain()
        writer.close()


def http(body: bytes, status: str = "200 OK") -> bytes:
    head = f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    return head.encode() + body


@contextlib.asynccontextmanager
async def serving(said: bytes | None) -> AsyncIterator[Server]:
    server = Server(said)
    listening = await asyncio.start_server(server.answer, "127.0.0.1", 0)
    server.port = listening.sockets[0].getsockname()[1]
    try:
        yield server
    finally:
        listening.close()


@pytest.fixture(autouse=True)
def _nobody_else(monkeypatch: pytest.MonkeyPatch) -> None:
    """What really runs on this machine is none of the tests' business."""
    monkeypatch.setattr(first_run, "SERVERS", ())


def place(tmp_path: Path, port: int = 0, **environment: str) -> Surroundings:
    """A home in which the one server of one's own listens on this port."""
    paths = Paths.find({"DUETTO_HOME": str(tmp_path)})
    paths.providers_dir.mkdir(parents=True, exist_ok=True)
    for name in ("ollama", "lmstudio", "llamacpp", "vllm", "sglang", "litellm"):
        (paths.providers_dir / f"{name}.toml").write_text("port = 1\n")
    if port:
        text = (
            f'title = "Mine"\nkind = "openai-chat"\nurl = "http://127.0.0.1:{port}/v1"\n'
            f'port = {port}\nkey_env = "MINE_KEY"\nkey_optional = true\n'
        )
        (paths.providers_dir / "mine.toml").write_text(text)
    return Surroundings(paths, None, environment)


async def looked(where: Surroundings) -> tuple[tuple[ModelSource, ...], Mapping[str, FoundHere]]:
    told: dict[str, FoundHere] = {}
    sources = await first_run.look(where, lambda one: told.__setitem__(one.name, one))
    return sources, told


async def test_a_server_names_its_models_smallest_first(tmp_path: Path) -> None:
    async with serving(http(LIST)) as server:
        sources, told = await looked(place(tmp_path, server.port))
    assert sources[0].models == ("qwen3:8b", "qwen3:32b")
    assert told["Mine"] == FoundHere("Mine", f"2 models on 127.0.0.1:{server.port}", "found")


async def test_no_key_is_sent_to_whoever_listens(tmp_path: Path) -> None:
    async with serving(http(LIST)) as server:
        await looked(place(tmp_path, server.port, MINE_KEY=KEY, GROQ_API_KEY=KEY))
        assert server.heard
        assert KEY.encode() not in b"".join(server.heard)


@pytest.mark.parametrize(
    "said",
    [
        http(b"<html>a page</html>"),
        http(b'{"data": []}'),
        http(b"not json"),
        http(b"{}", "404 Not FoundHere"),
        http(b"{}", "500 Oops"),
        b"SSH-2.0-OpenSSH_9.2\r\n",
        b"\x00\xff" * 200,
        b"",
    ],
    ids=["page", "no models", "no json", "404", "500", "ssh", "bytes", "hangs up"],
)
async def test_whoever_else_listens_there_is_said_and_not_offered(
    tmp_path: Path, said: bytes
) -> None:
    async with serving(said) as server:
        sources, told = await looked(place(tmp_path, server.port))
    assert sources == ()
    assert told["Mine"].state == "odd"
    assert f"something on 127.0.0.1:{server.port}" in told["Mine"].words


async def test_one_who_hangs_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(first_run, "LIST_S", 0.2)
    async with serving(None) as server, asyncio.timeout(60):
        sources, told = await looked(place(tmp_path, server.port))
    assert sources == ()
    assert "No answer within" in told["Mine"].words


async def test_one_who_wants_a_key_is_offered_with_it(tmp_path: Path) -> None:
    async with serving(http(b"{}", "401 No")) as server:
        sources, _ = await looked(place(tmp_path, server.port, MINE_KEY=KEY))
        assert [source.name for source in sources] == ["mine"]
        assert "MINE_KEY" in sources[0].asks
        assert KEY not in str(sources)
        server.said = http(LIST)
        listed = await first_run.models_of(sources[0], place(tmp_path, server.port, MINE_KEY=KEY))
        assert listed.models == ("qwen3:8b", "qwen3:32b")
        assert KEY.encode() in server.heard[-1]


async def test_a_key_that_is_refused_is_said_by_its_name(tmp_path: Path) -> None:
    async with serving(http(b"{}", "401 No")) as server:
        where = place(tmp_path, server.port, MINE_KEY=KEY)
        listed = await first_run.models_of(ModelSource("mine", "Mine", ""), where)
    assert listed.models == ()
    assert "refused the key: check MINE_KEY" in listed.wrong
    assert KEY not in listed.wrong


async def test_a_provider_whose_address_is_not_known_says_what_is_missing(tmp_path: Path) -> None:
    sources, told = await looked(place(tmp_path, AZURE_OPENAI_API_KEY=KEY))
    assert sources == ()
    assert told["Azure OpenAI"].state == "odd"
    assert "AZURE_OPENAI_ENDPOINT" in told["Azure OpenAI"].words


async def test_nothing_at_all_is_no_error(tmp_path: Path) -> None:
    sources, _ = await looked(place(tmp_path))
    assert sources == ()


async def test_somebody_nobody_knows_is_an_answer_too(tmp_path: Path) -> None:
    listed = await first_run.models_of(ModelSource("gone", "Gone", ""), place(tmp_path))
    assert listed == Listed((), "There is no provider 'gone' any more.")


async def test_what_breaks_while_one_looks_leaves_the_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(port: int) -> bool:
        raise RuntimeError(f"a bug at {port}")

    monkeypatch.setattr(first_run, "_listens", broken)
    sources, told = await looked(place(tmp_path, 1, GROQ_API_KEY=KEY))
    assert [source.name for source in sources] == ["groq"]
    assert told["Groq"].state == "found"


async def test_a_folder_with_tests_says_how_they_are_run(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "test_one.py").write_text("")
    where = place(tmp_path)
    _, told = await looked(Surroundings(where.paths, tmp_path / "work", {}))
    assert told["tests"] == FoundHere("tests", "pytest found", "found")


NOW = datetime(2026, 11, 22, 12)


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    """A home in which nothing was ever started, but whose log has been begun."""
    found = Paths.find({"DUETTO_HOME": str(tmp_path)})
    found.make_state_dir()
    return found


def test_nothing_there_is_a_first_run(paths: Paths) -> None:
    assert is_first(ModelFlags(), paths)
    assert is_first(ModelFlags(debug=True), paths)


@pytest.mark.parametrize(
    "flags",
    [
        ModelFlags(endpoint="groq", fast="m"),
        ModelFlags(fast="rehearsal-fast"),
        ModelFlags(config=Path("x.toml")),
    ],
    ids=["endpoint", "model", "config"],
)
def test_who_says_what_they_want_is_not_asked(paths: Paths, flags: ModelFlags) -> None:
    assert not is_first(flags, paths)


def test_settings_are_a_sign_of_an_earlier_start(paths: Paths) -> None:
    paths.config_file.write_text("")
    assert not is_first(ModelFlags(), paths)


def test_settings_in_another_place_that_is_gone_are_one_too(paths: Paths) -> None:
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
        (True, "connected", True),
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


def test_a_folder_that_is_gone_is_not_offered(
    paths: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone() -> Path:
        raise FileNotFoundError

    monkeypatch.setattr(first_run.Path, "cwd", gone)
    assert first(paths, []).here == ""
