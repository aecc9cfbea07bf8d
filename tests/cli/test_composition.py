from __future__ import annotations

import asyncio
import fcntl
import json
import threading
import time
from pathlib import Path

import pytest

from tests.support.composed import composed
from tui.bridge.providers import provider_files
from tui.bridge.providers.provider_files import ProviderFacts
from tui.cli.composition import Consents
from tui.cli.models import SessionSetup, resolve
from tui.cli.network import Network, rehearsal_words
from tui.cli.options import ModelFlags
from tui.core.wire.events import Usage
from tui.effects import known_endpoints
from tui.effects.system import MonotonicClock
from tui.engine import intents
from tui.settings import Paths, RehearsalSettings, Settings, parse

QUICK = Settings(rehearsal=RehearsalSettings(fast_tokens_s=20_000, mistakes=0.0))


def test_the_bridge_is_told_the_rates() -> None:
    assert json.loads(rehearsal_words(RehearsalSettings())) == {
        "fast_tokens_s": 1000,
        "deep_tokens_s": 65,
    }
    chosen = RehearsalSettings(fast_tokens_s=50, seed=3, mistakes=0.0)
    assert json.loads(rehearsal_words(chosen)) == {
        "fast_tokens_s": 50,
        "deep_tokens_s": 65,
        "seed": 3,
        "mistakes": 0,
    }


def test_consents_outlive_the_process(tmp_path: Path) -> None:
    paths = Paths.find({"DUETTO_HOME": str(tmp_path)})
    Consents(paths, "/one").remember("make test")
    Consents(paths, "/one").remember("make lint")
    Consents(paths, "/two").remember("tox")
    assert Consents(paths, "/one").known() == {"make test", "make lint"}
    assert Consents(paths, "/two").known() == {"tox"}
    (paths.state_dir / "consents.jsonl").write_text('broken\n7\n{}\n["/one"]\n["/one", "x')
    assert Consents(paths, "/one").known() == set()
    Consents(paths, "/one").remember("make test")
    assert Consents(paths, "/one").known() == {"make test"}


def test_two_instances_do_not_lose_each_others_consents(tmp_path: Path) -> None:
    paths = Paths.find({"DUETTO_HOME": str(tmp_path)})
    first, second = Consents(paths, "/one"), Consents(paths, "/one")
    assert first.known() == second.known() == set()
    threads = [
        threading.Thread(target=one.remember, args=(f"{name} {number}",))
        for name, one in (("first", first), ("second", second))
        for number in range(20)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(first.known()) == 40


async def test_what_endpoints_teach_holds_up_nothing_and_is_there_at_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = Paths.find({"DUETTO_HOME": str(tmp_path / "home")})
    settings = parse(
        '[endpoints.here]\nurl = "wss://models.example/v1/responses"\nkey_env = ""\n'
        '[models.fast]\nname = "m"\nendpoint = "here"\n',
        "config.toml",
    )
    place = SessionSetup(tmp_path, settings, resolve(settings, ModelFlags(), {}), paths)
    network = Network(place, MonotonicClock())
    endpoint = network.endpoint("here")
    paths.state_dir.mkdir(parents=True)
    waiting: list[threading.Thread] = []
    pause = time.sleep

    def noted(seconds: float) -> None:
        waiting.append(threading.current_thread())
        pause(seconds)

    monkeypatch.setattr(known_endpoints.time, "sleep", noted)
    with (paths.state_dir / "endpoints.lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        endpoint.capabilities.lanes = True
        endpoint.on_learnt(endpoint.capabilities)
        async with asyncio.timeout(60):
            while not waiting:
                await asyncio.sleep(0.01)
    await network.close()
    assert threading.main_thread() not in waiting
    assert network.facts("here")["lanes"].value is True


async def test_a_session_over_a_real_bridge_socket_and_disk(tmp_path: Path) -> None:
    root = tmp_path / "work"
    root.mkdir()
    (root / "AGENTS.md").write_text("Use tabs.\n")
    async with composed(root, QUICK, watched=True) as (seat, _):
        await seat.session.run()
        await seat.ask("hello")
        assert seat.session.status.outcome == "completed"
        assert seat.session.status.rehearsal
        assert seat.session.status.connection == "ready"
        assert seat.session.listing() == ["AGENTS.md"]


async def test_a_change_on_disk_reaches_the_open_buffer(tmp_path: Path) -> None:
    root = tmp_path / "work"
    root.mkdir()
    (root / "a.py").write_text("one\n")
    async with composed(root, QUICK, watched=True) as (seat, _), asyncio.timeout(60):
        seat.session.submit(intents.OpenFile("a.py"))
        await seat.session.run()
        buffer, count = seat.session.workspace.buffers["a.py"], 0
        while buffer.text() == "one\n" or count == 0:
            count += 1
            # the watcher may not have begun when the first one is written
            (root / "a.py").write_text(f"two {count}\n")
            await asyncio.sleep(0.2)
        assert buffer.text().startswith("two ")


HOUSE = """
[endpoints.house]
kind = "openai-chat"
url = "http://127.0.0.1:9/v1"
key_env = ""

[models.fast]
name = "m"
endpoint = "house"
price = { input = 1.0, output = 2.0 }
"""


async def test_a_wrong_file_of_a_provider_that_nobody_asks_is_no_matter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "work"
    root.mkdir()
    providers = Paths.find({"DUETTO_HOME": f"{root}-home"}).providers_dir
    providers.mkdir(parents=True)
    (providers / "other.toml").write_text("titel = 'x'")
    readers, readable = list[threading.Thread](), provider_files.readable

    def read(folder: Path | None) -> dict[str, ProviderFacts]:
        readers.append(threading.current_thread())
        return readable(folder)

    monkeypatch.setattr(provider_files, "readable", read)
    used = Usage(1_000_000, 1_000_000)
    async with composed(root, parse(HOUSE, "FILE")) as (_, made):
        quotes = await asyncio.gather(*(made.quote("house", ["m"], used, "") for _ in range(2)))
    assert [quote.usd for quote in quotes] == [3.0, 3.0]
    (reader,) = readers  # for both: two threads that read the same broke msgspec
    assert reader is not threading.main_thread()  # the turn's last frame goes first


async def test_a_start_clears_the_shadows_that_a_killed_one_left(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    async with composed(tmp_path / "work") as (seat, composition):
        left = tmp_path / "work-home/state/shadows/left"
        left.mkdir(parents=True)
        await composition.session.run()
        await seat.until(lambda: bool(composition.session.status.sandbox))
        assert not left.exists()
