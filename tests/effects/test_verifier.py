import asyncio
import contextlib
import os
import sys
from pathlib import Path

import pytest

from tests.support.tables import each
from tui.effects import verifier
from tui.effects.verifier import Verifier

PY = sys.executable


class Lines:
    """Collects output; `has` waits for a text in it."""

    def __init__(self) -> None:
        self.text = ""
        self._news = asyncio.Event()

    def __call__(self, data: bytes) -> None:
        self.text += data.decode(errors="replace")
        self._news.set()

    async def has(self, text: str) -> None:
        async with asyncio.timeout(60):
            while text not in self.text:
                self._news.clear()
                await self._news.wait()


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    with contextlib.suppress(OSError):
        stat = Path(f"/proc/{pid}/stat").read_text()
        return stat.rsplit(")", 1)[1].split()[0] != "Z"
    return True


async def gone(pid: int) -> None:
    async with asyncio.timeout(60):
        while alive(pid):
            await asyncio.sleep(0.02)


async def test_all_output_is_handed_on(tmp_path: Path) -> None:
    output = Lines()
    result = await Verifier(str(tmp_path)).run([PY, "-c", "print('x' * 2_000_000)"], output, 60)
    assert result.status == 0
    assert output.text == "x" * 2_000_000 + "\n"


async def test_the_deadline_ends_the_whole_group(tmp_path: Path) -> None:
    output = Lines()
    result = await Verifier(str(tmp_path)).run("sleep 60 & echo $!; wait", output, 0.5)
    assert result.timed_out
    await gone(int(output.text))


async def test_what_ignores_sigterm_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verifier, "GRACE_S", 0.2)
    output = Lines()
    command = "trap '' TERM; echo $$; while :; do sleep 0.05; done"
    result = await Verifier(str(tmp_path)).run(command, output, 0.5)
    assert result.timed_out
    assert result.status == -9
    await gone(int(output.text))


async def test_cancelling_ends_the_whole_group(tmp_path: Path) -> None:
    output = Lines()
    running = asyncio.create_task(
        Verifier(str(tmp_path)).run("sleep 60 & echo $!; echo ok; wait", output, 60)
    )
    await output.has("ok")
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    await gone(int(output.text.split()[0]))


@each("command", [["no-such-command-here"], [], ["a\0b"]])
async def test_what_cannot_be_started_says_so(tmp_path: Path, command: list[str]) -> None:
    result = await Verifier(str(tmp_path)).run(command, Lines(), 10)
    assert result.status is None
    assert result.error.startswith("cannot start")


async def test_a_workspace_that_is_gone_says_so(tmp_path: Path) -> None:
    result = await Verifier(str(tmp_path / "gone")).run("true", Lines(), 10)
    assert result.status is None


async def test_nothing_is_on_stdin(tmp_path: Path) -> None:
    output = Lines()
    await Verifier(str(tmp_path)).run("wc -c", output, 10)
    assert output.text.strip() == "0"
