"""Connecting against a stand-in provider: what is asked, kept and written, and no trace else."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import keyring
import pytest
from keyring.backends.fail import Keyring as NoKeyring

from tests.cli.conftest import Memory
from tests.support.stand_in import KEY, NUMBERS, StandIn, stand_in
from tests.support.tables import case
from tui.cli import endpoints
from tui.cli.catalogue import Probing
from tui.cli.connecting import Connector
from tui.cli.models import ResolvedModels, SessionSetup
from tui.core.wire.events import Delta, Event
from tui.effects.known_models import MeasuredSpeeds
from tui.engine.connecting import Connecting, Measured, ModelSource
from tui.settings import Paths, Settings, load


@pytest.fixture
def provider() -> Iterator[StandIn]:
    with stand_in() as provider:
        yield provider


@pytest.fixture
def setup(tmp_path: Path, provider: StandIn, monkeypatch: pytest.MonkeyPatch) -> SessionSetup:
    monkeypatch.delenv("MINE_API_KEY", raising=False)
    provider.is_provider(tmp_path)
    paths = Paths.find({"DUETTO_HOME": str(tmp_path)})
    return SessionSetup(tmp_path, Settings(), ResolvedModels({}, {}, rehearsal=True), paths)


MINE = ModelSource("mine", "Mine", "needs a key", needs_key=True, ready=False)
CHOSEN = Connecting(MINE, key=KEY).with_model("fast", "tiny-8b").with_model("deep", "large-32b")


def files(setup: SessionSetup) -> set[str]:
    return {str(one) for one in setup.paths.config_file.parent.rglob("*") if one.is_file()}


async def test_who_could_answer_is_found_with_what_each_needs(
    setup: SessionSetup, ring: Memory
) -> None:
    found = {one.name: one for one in await Connector(setup).look(lambda one: None)}
    assert found["mine"].needs_key
    assert not found["mine"].ready
    assert found["azure"].needs_address
    assert found[""].needs_address
    assert list(found)[-1] == "", "another server comes last"
    assert ring.looks == 0, "nothing is looked up before it is asked for"


async def test_a_key_and_two_models_are_kept_and_written(setup: SessionSetup, ring: Memory) -> None:
    port = Connector(setup)
    listed = await port.models(CHOSEN)
    assert [one.model for one in listed.models] == ["tiny-8b", "large-32b"]
    assert listed.models[0].context_window == 131072
    before = files(setup)
    plan = await port.plan(CHOSEN)
    assert "[models.fast]" in [line.text for line in plan.lines]
    assert "keyring" in plan.key
    assert files(setup) == before
    assert ring.entries == {}
    written = await port.write(CHOSEN)
    assert (written.wrong, written.kept, written.notes) == ("", True, ())
    assert ring.entries == {("duetto", "mine"): KEY}
    assert endpoints.names(setup.paths.state_dir) == ["mine"]
    models = load(setup.paths.config_file).models
    assert models.fast is not None
    assert (models.fast.name, models.fast.endpoint) == ("tiny-8b", "mine")
    assert all(KEY not in Path(one).read_text() for one in files(setup))
    assert KEY not in repr(CHOSEN)


async def test_what_is_wrong_is_said_of_the_field_that_it_is_about(
    setup: SessionSetup, provider: StandIn, ring: Memory
) -> None:
    other = ModelSource("", "Another server", "", needs_address=True)
    for chosen, says, field in (
        (Connecting(MINE, key="sk-wrong-123456"), "refused this key", "key"),
        (Connecting(MINE, key="two words"), "spaces", "key"),
        (Connecting(other, url="ftp://x/v1"), "", "address"),
        (Connecting(other, url="http://example.com/v1", key=KEY), "clear text", "address"),
        (Connecting(other, url="http://127.0.0.1:9/v1"), "cannot be reached", "address"),
        (Connecting(other, url="https://u:p@example.com/v1"), "password", "address"),
        (Connecting(other), "address", "address"),
    ):
        with case(chosen.url, says):
            listed = await Connector(setup).models(chosen)
            assert listed.models == ()
            assert says in listed.wrong
            assert KEY not in listed.wrong
            assert listed.field == field


async def test_servers_that_are_none_and_lists_of_any_size(
    setup: SessionSetup, provider: StandIn, ring: Memory
) -> None:
    port = Connector(setup)
    provider.is_web_page = True
    assert "a web page" in (await port.models(CHOSEN)).wrong
    provider.is_web_page, provider.models = False, ()
    assert "no model" in (await port.models(CHOSEN)).wrong
    provider.lists = False
    for provider.listless in (404, 403):
        listed = await port.models(CHOSEN)
        assert listed.is_typed, "its models' names are typed"
    provider.lists, provider.models = True, [f"model-{number}" for number in range(5000)]
    assert len((await port.models(CHOSEN)).models) == 5000


@pytest.fixture
def apart(provider: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first piece of an answer is heard before the second goes: two at once take no time."""
    heard, hear, sent = threading.Event(), Probing._event, count()

    def noted(probing: Probing, event: Event, now: float) -> None:
        hear(probing, event, now)
        if isinstance(event, Delta):
            heard.set()

    def between() -> None:
        match next(sent) % len(NUMBERS):
            case 0:
                heard.clear()
            case 1:
                assert heard.wait(60)

    monkeypatch.setattr(Probing, "_event", noted)
    provider.between = between


async def test_a_short_answer_of_each_is_measured(
    setup: SessionSetup, provider: StandIn, ring: Memory, apart: None
) -> None:
    told: list[Measured] = []
    await Connector(setup).test(CHOSEN, told.append)
    over = {one.model: one for one in told if one.is_over}
    assert list(over) == ["tiny-8b", "large-32b"]
    assert provider.asked == ["tiny-8b", "large-32b"]
    for one in over.values():
        assert one.wrong == ""
        assert one.tokens == 80
        assert one.tokens_s
        assert one.ttft_s
    provider.key = "another"
    told.clear()
    await Connector(setup).test(CHOSEN, told.append)
    assert all(one.wrong for one in told if one.is_over)
    assert all(KEY not in one.wrong for one in told)
    assert ring.entries == {}


async def test_what_was_measured_is_ones_own_speed_once_it_is_written(
    setup: SessionSetup, ring: Memory
) -> None:
    port, speeds = Connector(setup), MeasuredSpeeds(setup.paths.state_dir)
    told: list[Measured] = []
    await port.test(CHOSEN, told.append)
    await port.plan(CHOSEN)
    assert speeds.all() == {}
    await port.write(CHOSEN)
    kept = {name.split()[-1]: speed.tokens_s for name, speed in speeds.all().items()}
    measured = {one.model: one.tokens_s for one in told if one.is_over and one.tokens_s}
    assert kept == pytest.approx(measured, abs=1)  # kept to a tenth: 0.05 may turn the rounding


async def test_settings_that_cannot_be_written_keep_no_key(
    setup: SessionSetup, ring: Memory
) -> None:
    for before in ({}, {("duetto", "mine"): "sk-the-old-one"}):
        with case(before):
            ring.entries = dict(before)
            port = Connector(setup)
            await port.plan(CHOSEN)
            setup.paths.config_file.write_text("# somebody else's\n")
            written = await port.write(CHOSEN)
            assert "changed meanwhile" in written.wrong
            assert ring.entries == before
            assert endpoints.names(setup.paths.state_dir) == []
            assert setup.paths.config_file.read_text() == "# somebody else's\n"
            setup.paths.config_file.unlink()


async def test_without_a_keyring_the_key_is_for_this_session_only(setup: SessionSetup) -> None:
    before = keyring.get_keyring()
    keyring.set_keyring(NoKeyring())
    try:
        port = Connector(setup)
        plan = await port.plan(CHOSEN)
        assert "no keyring" in plan.key
        written = await port.write(CHOSEN)
    finally:
        keyring.set_keyring(before)
    assert written.wrong == ""
    assert not written.kept
    assert written.notes[-1] == "read -rs MINE_API_KEY && export MINE_API_KEY"
    assert setup.given == {"MINE_API_KEY": KEY}
    assert "MINE_API_KEY" not in os.environ
    assert all(KEY not in Path(one).read_text() for one in files(setup))
    assert KEY not in repr(setup)


async def test_a_keyring_that_is_a_plain_file_is_none(setup: SessionSetup, ring: Memory) -> None:
    class PlaintextKeyring(Memory):
        """As keyrings.alt has one."""

    before = keyring.get_keyring()
    keyring.set_keyring(PlaintextKeyring())
    try:
        assert "no keyring" in (await Connector(setup).plan(CHOSEN)).key
    finally:
        keyring.set_keyring(before)


async def test_a_variable_that_goes_first_is_said(
    setup: SessionSetup, ring: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MINE_API_KEY", "sk-the-old-one")
    port = Connector(setup)
    assert (await port.models(CHOSEN)).models, "the key that was typed is the one that is sent"
    await port.plan(CHOSEN)
    written = await port.write(CHOSEN)
    assert "MINE_API_KEY is set to another key and goes first" in written.notes[0]
    assert setup.given == {"MINE_API_KEY": KEY}


async def test_a_server_by_its_address_gets_a_name_and_a_variable(
    setup: SessionSetup, provider: StandIn, ring: Memory
) -> None:
    other = ModelSource("", "Another server", "", needs_address=True)
    chosen = Connecting(other, url=provider.url, key=KEY).with_model("fast", "tiny-8b")
    port = Connector(setup)
    assert (await port.models(chosen)).models
    await port.plan(chosen)
    written = await port.write(chosen)
    assert written.endpoint == "localhost"
    settings = load(setup.paths.config_file)
    assert settings.endpoints["localhost"].key_env == "LOCALHOST_API_KEY"
    assert ring.entries == {("duetto", "localhost"): KEY}
    again = await port.plan(chosen)
    assert again.lines == (), "the same server is the same table"
