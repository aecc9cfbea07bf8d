"""Calls of a shell: the ways in which models write them, and what they are answered.

A plain function (``shell``), Codex's ``shell`` (an argv), ``exec_command`` and ``local_shell``,
OpenAI's ``shell`` with several commands, Anthropic's ``bash``: all become one `ShellCall`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from msgspec import Struct

from tui.core.conversation import Item
from tui.core.programs import RunResult
from tui.engine.tools import Arguments, CallError

LONGEST_S = 3600.0
_LINE_CHARS = 100_000
_COMMAND = ("command", "cmd", "commands", "script", "input")
_FOLDER = ("workdir", "cwd", "working_directory", "directory", "dir_path")
_WHY = ("justification", "description", "reason")


class ShellCall(Struct, frozen=True):
    """A command that the model wants to run."""

    line: str
    """As the user sees it and as it is judged; run by bash unless there is an `argv`."""
    argv: tuple[str, ...] = ()
    folder: str = ""
    """As the call names it; empty: the workspace's root."""
    deadline_s: float = 0.0
    """0: none is named."""
    pty: bool = False
    background: bool = False
    free: bool = False
    """It asks to run outside the sandbox."""
    why: str = ""
    """In the model's words."""
    screen: bool = False
    """It runs on what the screen shows, in a shadow."""

    @property
    def command(self) -> str | tuple[str, ...]:
        """What is handed to the runner."""
        return self.argv or self.line


def shell_call(item: Item) -> ShellCall:
    """What a call asks for. Raises CallError: it cannot be told what."""
    kind = item.get("type")
    action = item.get("action")
    if kind in ("local_shell_call", "shell_call"):
        if not isinstance(action, dict):
            raise CallError("the call has no action")
        return _of(Arguments.of(action))
    if kind == "custom_tool_call":
        return _checked(ShellCall(str(item.get("input") or "")))
    arguments = item.get("arguments")
    text = arguments if isinstance(arguments, str) else json.dumps(arguments or {})
    return _of(Arguments(text))


def _of(arguments: Arguments) -> ShellCall:
    from tui.core.shell.judging import for_argv  # after the first paint

    argv = arguments.strings(*_COMMAND)
    several = arguments.has("commands") and len(argv) > 1
    line, argv = ("\n".join(argv), ()) if several or len(argv) == 1 else (for_argv(argv), argv)
    milliseconds = arguments.decimal(0.0, "timeout_ms", "timeout")
    seconds = arguments.decimal(0.0, "timeout_s", "deadline_s") or milliseconds / 1000
    if seconds < 0:
        raise CallError("a timeout cannot be negative")
    folders = [arguments.text(name, "") for name in _FOLDER]
    return _checked(
        ShellCall(
            line,
            argv,
            folder=next(filter(None, folders), ""),
            deadline_s=min(seconds, LONGEST_S),
            pty=arguments.flag("tty") or arguments.flag("pty"),
            background=arguments.flag("background") or arguments.flag("run_in_background"),
            free=arguments.first("sandbox_permissions") == "require_escalated"
            or arguments.flag("unsandboxed"),
            why=arguments.first(*_WHY)[:200],
            screen=arguments.flag("screen"),
        )
    )


def _checked(call: ShellCall) -> ShellCall:
    if not call.line.strip():
        raise CallError("the command is empty")
    if "\0" in call.line + call.folder:
        raise CallError("a command and its folder cannot hold a NUL character")
    if len(call.line) > _LINE_CHARS:
        raise CallError(f"the command is longer than {_LINE_CHARS:,} characters")
    return call


def line_so_far(item: Item) -> str:
    """The command line of a call, for its title; empty if it cannot be told."""
    try:
        return shell_call(item).line
    except CallError:
        return ""


def told(
    result: RunResult, output: str, notes: Sequence[str] = (), *, deadline_s: float = 0.0
) -> str:
    """What a command that ended has the model told."""
    seconds = f"{result.seconds:.1f} s"
    if result.error:
        ending = result.error
    elif result.timed_out:
        ending = f"stopped at its deadline of {deadline_s:g} s"
    elif result.stopped:
        ending = f"stopped by the user after {seconds}"
    elif result.status is not None and result.status < 0:
        ending = f"ended by signal {-result.status} after {seconds}"
    else:
        ending = f"exit code {result.status} after {seconds}"
    return "\n".join([ending, *notes, "output:" if output else "no output", output]).rstrip("\n")


def as_answer(kind: str, output: str, result: RunResult | None) -> object:
    """The output member of a call's answer, in the form that its kind has."""
    if kind != "shell_call":
        return output
    timed_out = result is not None and result.timed_out
    code = result.status if result is not None and result.status is not None else 1
    outcome: Mapping[str, object] = (
        {"type": "timeout"} if timed_out else {"type": "exit", "exit_code": code}
    )
    return [{"stdout": output, "stderr": "", "outcome": outcome}]
