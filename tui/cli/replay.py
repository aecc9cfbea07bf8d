"""``duetto replay``: a recording played back into the app, or as text; nothing is dialled."""

from __future__ import annotations

import asyncio
import contextlib
import math
import signal
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click
from msgspec import structs

from tui.cli.appearance import start_theme
from tui.cli.exec_reports import summary
from tui.cli.open_app import complaints_at_start, require_screen, trouble_with
from tui.cli.options import ModelFlags, settings_for
from tui.cli.process import end_in_time
from tui.core.conversation import Block, BlockKind
from tui.core.inert_text import PROSE, inert
from tui.core.wire.recording import Recording, read
from tui.engine.intents import Answer
from tui.engine.notices import Trouble
from tui.engine.session import Session
from tui.errors import EXIT_FAILED, EXIT_INTERRUPTED, EXIT_OK, UsageError
from tui.settings import Paths, ProjectSettings, Settings

if TYPE_CHECKING:
    from tui.cli.replay_session import ReplaySession


class TranscriptText:
    """Gives every block once, when it is closed; blocks are set apart by an empty line."""

    def __init__(self) -> None:
        self._told = 0

    def new(self, session: Session) -> Iterator[str]:
        """What was closed since the last look, and what went wrong; questions get a no."""
        troubles = session.drain().troubles
        for ask in list(session.status.asks):
            session.submit(Answer(ask.id, ask.choices[-1]))
        blocks = session.transcript.blocks
        while self._told < len(blocks) and blocks[self._told].state != "open":
            yield from self._next(session)
        for trouble in troubles:
            yield from ("", f"! {_words(trouble)}")

    def rest(self, session: Session) -> Iterator[str]:
        """What is left, open or not, and what became of the files."""
        yield from self.new(session)
        while self._told < len(session.transcript.blocks):
            yield from self._next(session)
        if lines := summary(session.workspace.hunks):
            yield from ("", *lines)

    def _next(self, session: Session) -> Iterator[str]:
        block = session.transcript.blocks[self._told]
        text = _told(block, session)
        if text:
            yield from (("",) if self._told else ())
            yield text
        self._told += 1


def _told(block: Block, session: Session) -> str:
    text = block.text.replace("\r", "").strip("\n")
    cut = " (cut)" if block.state == "cut" else ""
    match block.kind:
        case BlockKind.USER:
            return "\n".join(f"> {line}" for line in text.split("\n"))
        case BlockKind.TEXT:
            return text + (" (cut)" if block.state == "failed" else cut)
        case BlockKind.REASONING:
            return "\n".join(f"~ {line}" for line in text.split("\n")) if text else ""
        case BlockKind.PATCH:
            mine = [hunk for hunk in session.workspace.hunks if hunk.call_id == block.call_id]
            return "\n".join(f"= {line}" for line in summary(mine)) or f"= patch{cut}"
        case BlockKind.PACE:
            return ""
        case _:
            words = ": ".join(filter(None, (block.title, text)))
            return f"* {words}" if words else ""


def _words(trouble: Trouble) -> str:
    words = trouble.words
    return words + (f" ({trouble.next_step})" if trouble.next_step else "")


FRAME_S = 0.01
NEWS: Literal["information"] = "information"


def _speed(context: click.Context, parameter: click.Parameter, value: str | None) -> float | None:
    """A factor; 0 (also written max): as fast as possible. Raises click.BadParameter."""
    if value is None:
        return None
    try:
        speed = 0.0 if value.lower() == "max" else float(value)
    except ValueError:
        speed = -1.0
    if speed < 0 or not math.isfinite(speed):
        words = (
            f"{value} is not a speed: 1 is as recorded, 4 four times as fast, max as fast as can be"
        )
        raise click.BadParameter(words)
    return speed


@click.command("replay")
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
@click.option(
    "--speed",
    callback=_speed,
    metavar="X",
    help="Recorded time is divided by X; max: as fast as possible [default: 1, max with --text].",
)
@click.option("--text", "as_text", is_flag=True, help="Print the conversation; no screen.")
@click.option(
    "--config",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Read this config.toml instead of your own (for the theme).",
)
@click.option("--debug", is_flag=True, help="Write more to the log file.")
def replay_command(
    file: Path, speed: float | None, as_text: bool, config: Path | None, debug: bool
) -> int:
    """Play back what --record FILE has written (or a recording of another client).

    The app gets a workspace of its own with the files that were quoted; it is removed at the end.
    Nothing is dialled and no command is run. Esc stops an answer as ever.
    """
    recording = recorded(file)
    settings = settings_for(ModelFlags(config=config, debug=debug), Paths.find())
    if not as_text:
        require_screen()
    from tui.cli.replay_session import ReplaySession

    for sentence in remarks(file, recording):
        click.echo(f"duetto: {inert(sentence)}", err=True)
    chosen = (0.0 if as_text else 1.0) if speed is None else speed
    stage = ReplaySession(recording, chosen)
    if not stage.exchanges:
        click.echo(f"duetto: {inert(nothing_to_play(file, recording))}", err=True)
        asyncio.run(stage.close())
        return EXIT_OK
    if as_text:
        return asyncio.run(_printed_till_told(stage))
    return asyncio.run(_shown(stage, settings))


def recorded(file: Path) -> Recording:
    """The recording in a file. Raises UsageError: it cannot be read, or is none."""
    try:
        if not file.exists():
            raise UsageError(f"there is no recording {file}")
        if not file.is_file():
            raise UsageError(f"{file} is not a file: name one that duetto --record wrote")
        with file.open("rb") as opened:
            recording = read(opened)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "not a usable path"
        raise UsageError(f"cannot read {file}: {why.lower()}") from error
    if not recording.entries:
        what = "holds no recorded frames" if recording.broken else "is empty"
        raise UsageError(f"{file} {what}: make a recording with duetto --record FILE")
    return recording


def remarks(file: Path, recording: Recording) -> list[str]:
    """What is to be said before a recording is played."""
    if not recording.broken:
        return []
    lines = "line is" if recording.broken == 1 else "lines are"
    return [f"{file}: {recording.broken} {lines} not of a recording, and passed over"]


def nothing_to_play(file: Path, recording: Recording) -> str:
    """What a recording holds in which no model was asked over a WebSocket."""
    parts = [
        (recording.count("handshake_rejected"), "refused upgrades"),
        (recording.count("http_post"), "requests by HTTP"),
    ]
    counts = " and ".join(f"{count} {what}" for count, what in parts if count)
    return f"{file} holds no answer to play" + (f", only {counts}" if counts else "")


async def _printed_till_told(stage: ReplaySession) -> int:
    """As `_printed`; a signal ends it, and the scratch workspace goes all the same."""
    printing = asyncio.create_task(_printed(stage))
    for name in ("SIGTERM", "SIGHUP"):
        # Windows has none of this, and only the main thread may
        with contextlib.suppress(NotImplementedError, AttributeError, RuntimeError, ValueError):
            loop = asyncio.get_running_loop()
            loop.add_signal_handler(getattr(signal, name), printing.cancel)
    await asyncio.wait({printing})
    return EXIT_INTERRUPTED if printing.cancelled() else printing.result()


async def _printed(stage: ReplaySession) -> int:
    """The conversation on stdout, as it comes."""
    from tui.cli.open_app import log_broken

    asyncio.get_running_loop().set_exception_handler(log_broken)
    session, printer = stage.session, TranscriptText()
    woken = asyncio.Event()
    session.on_wake = woken.set
    playing = asyncio.create_task(stage.play())
    playing.add_done_callback(lambda _: woken.set())
    try:
        while not (playing.done() and not session.status.busy):
            await woken.wait()
            woken.clear()
            if playing.done():
                playing.result()
            for line in printer.new(session):
                click.echo(inert(line, PROSE))
            await asyncio.sleep(FRAME_S)
        await playing
        for line in printer.rest(session):
            click.echo(inert(line, PROSE))
    finally:
        playing.cancel()
        await asyncio.gather(playing, return_exceptions=True)
        await stage.close()
    if count := stage.elsewhere:
        many = f"{count} requests of other conversations are"
        which = "a request of another conversation is" if count == 1 else many
        click.echo(f"duetto: {which} not shown", err=True)
    return EXIT_OK


async def _shown(stage: ReplaySession, settings: Settings) -> int:
    """The app, with the recording playing in it."""
    from tui.cli.open_app import log_broken, made_app

    asyncio.get_running_loop().set_exception_handler(log_broken)
    paths = Paths.find()
    theme = start_theme(settings.editor, ProjectSettings(), stage.root, paths, paths.config_file)
    config = paths.config_file
    if wrong := trouble_with(complaints_at_start(settings, config, stage.root, theme)):
        stage.session.warn(structs.replace(wrong, noted=False))  # the conversation is the record's
    app = made_app(stage.session, settings, stage.root, theme)
    playing: asyncio.Task[None] | None = None

    async def play() -> None:
        await stage.play()
        over = Trouble("The recording is over", "", "look around: nothing is sent", severity=NEWS)
        stage.session.warn(over)

    def begin() -> None:
        nonlocal playing
        playing = asyncio.create_task(play())

    app.call_after_refresh(begin)
    last = app.leaving.give_terminal_back
    app.leaving.on_begun = partial(end_in_time, last=last)
    try:
        code = await app.run_async()
    finally:
        end_in_time(EXIT_FAILED, last)
        if playing is not None:
            playing.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await playing
        await stage.close()
    if getattr(app, "broken", False):
        return EXIT_FAILED
    return code if isinstance(code, int) else EXIT_OK
