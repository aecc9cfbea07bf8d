"""``duetto apply``: a patch through the same engine as a model's, with no model: an accept."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections import Counter
from typing import get_args

import click
from msgspec import Struct, field
from msgspec.structs import replace

from tui.cli.process import text_of
from tui.core.document.hunk import PLACED, Hunk, Kind
from tui.core.document.waiting_places import nearest
from tui.core.document.workspace import Workspace
from tui.core.files import FileRead
from tui.core.inert_text import inert
from tui.core.patches.landing import Landing
from tui.core.typed_data import typed
from tui.effects.files import Files
from tui.effects.listing import Listing
from tui.effects.write_ahead_log import WriteAheadLog
from tui.engine.saving import bring
from tui.engine.unfinished import Way, look, sentence, settle
from tui.errors import EXIT_FAILED, EXIT_OK, UsageError
from tui.settings import PatchFormat, Paths


def journal_of(files: Files) -> WriteAheadLog:
    """The journal of a workspace, in the state folder; nothing is made yet."""
    return WriteAheadLog(Paths.find().state_dir, files.root)


def unfinished_sentences(files: Files, journal: WriteAheadLog) -> list[str]:
    """What an earlier duetto did not write to the end in this workspace; empty: nothing."""
    command = f"duetto apply --root {shlex.quote(files.root)} --recover"
    return [
        f"{sentence(findings)}; {command} finish writes the rest, {command} undo takes it back"
        for _, findings in look(files, journal, journal.unfinished())
    ]


def recover(files: Files, journal: WriteAheadLog, way: Way) -> tuple[list[str], dict[str, str]]:
    """Settle all of it in one way; what was done, and path -> why something was not.

    A file that somebody changed since is left as it is: of three versions a person chooses.
    """
    done: list[str] = []
    refusals: dict[str, str] = {}
    unfinished = journal.unfinished()
    found = (each for one in unfinished for each in look(files, journal, [one]))
    for one, findings in found:  # one after the other: what is done for one may be another's
        ways: dict[str, Way] = {
            each.step.path: way
            for each in findings
            if way == "keep" or each.state in ("new", "old")
        }
        others = [each.step.path for each in findings if each.step.path not in ways]
        refusals |= dict.fromkeys(others, "it was changed since: duetto shows all versions")
        refusals |= settle(files, journal, (one, findings), ways)
        done += [path for path in ways if path not in refusals]
    return done, refusals


CALL_ID = "apply"
_SIGNS = {Kind.ADD: "new", Kind.DELETE: "deleted", Kind.MOVE: "moved"}


class ApplyFlags(Struct, frozen=True):
    """The command line of ``duetto apply``."""

    root: str
    format: PatchFormat
    chunk: int | None
    """Characters a piece; None: all at once."""
    cut: bool
    check: bool
    linked: bool
    """Write hard links, too, that lead out of the workspace or to a private file."""
    as_json: bool
    report: bool
    """Say what a model would be told of it."""
    file: str
    recover: Way | None
    """Settle what an earlier duetto did not write to the end, instead of applying something."""


class ApplyOutcome(Struct):
    """What became of a patch."""

    hunks: list[Hunk]
    failure: str
    """Why the text is no patch, or was read only so far."""
    placed_all: bool
    """All of the patch came, and all of it is in the buffers."""
    written: list[str] = field(default_factory=list)
    deleted: list[str] = field(default_factory=list)
    refusals: dict[str, str] = field(default_factory=dict)
    """Path -> why it was not written."""
    told: str = ""
    """What a model would be told of it (EDITS.md section 10)."""

    @property
    def exit_code(self) -> int:
        """0 if everything is placed (and written)."""
        return EXIT_OK if self.placed_all and not self.refusals else EXIT_FAILED


@click.command("apply")
@click.option("--root", default=".", metavar="DIR", help="The workspace [default: this folder].")
@click.option(
    "--format",
    type=click.Choice(get_args(PatchFormat)),
    default="auto",
    help="What the patch is written in [default: auto, which knows them all].",
)
@click.option(
    "--chunk",
    type=click.IntRange(min=1),
    metavar="N",
    help="Feed N characters at a time, as a model would.",
)
@click.option("--cut", is_flag=True, help="Take the end of the input as an interrupted stream.")
@click.option("--check", is_flag=True, help="Write nothing, only say what would happen.")
@click.option(
    "--linked",
    is_flag=True,
    help="Write hard links, too, whose other names are private or outside.",
)
@click.option("--report", is_flag=True, help="Print what a model would be told of it.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option(
    "--recover",
    type=click.Choice(["finish", "undo", "keep"]),
    help="Settle writes that were cut short, and apply nothing.",
)
@click.argument("file", default="-", metavar="[FILE|-]")
def apply_command(**given: object) -> int:
    """Apply a patch from FILE or standard input to the files of a folder.

    It is an explicit accept: what can be placed is written, with a note where a person should
    look. Exit status: 0 all placed, 1 something refused (the reasons are on standard error),
    2 a wrong command line.
    """
    flags = typed(given, ApplyFlags)
    if flags.recover is not None:
        return _recovered(_files(flags.root), flags.recover)
    patch = _patch(flags.file)
    outcome = _applied(_files(flags.root), patch, flags)
    for reason in _reasons(outcome):
        click.echo(f"duetto: {inert(reason)}", err=True)
    if flags.as_json:
        click.echo(json.dumps(_report(outcome, flags), ensure_ascii=False))
    elif flags.report:
        click.echo("\n".join(map(inert, outcome.told.split("\n"))))
    else:
        for line in _summary(outcome, flags):
            click.echo(inert(line))
    return outcome.exit_code


def _files(root: str) -> Files:
    if not os.path.isdir(root):
        what = "is not a folder" if os.path.lexists(root) else "does not exist"
        raise UsageError(f"--root {root} {what}")
    if not os.access(root, os.R_OK | os.X_OK):
        raise UsageError(f"--root {root} may not be read")
    return Files(root, Listing(root))


def _recovered(files: Files, way: Way) -> int:
    """Settle what was cut short; the exit code."""
    journal = journal_of(files)
    done, refusals = recover(files, journal, way)
    journal.close()
    for path, why in refusals.items():
        click.echo(f"duetto: {inert(f'{path}: {why}')}", err=True)
    words = {"finish": "new", "undo": "old again", "keep": "left as it is"}[way]
    for path in done:
        click.echo(inert(f"{path}  {words}"))
    if not done and not refusals:
        click.echo("nothing was cut short here")
    return EXIT_FAILED if refusals else EXIT_OK


def _is_terminal() -> bool:
    return sys.stdin is None or sys.stdin.isatty()


def _patch(file: str) -> str:
    """The text of the patch, line endings as they are."""
    if file == "-":
        if _is_terminal():
            raise UsageError("no patch: name a FILE, or send one to standard input")
        return text_of(sys.stdin.buffer, "stdin")
    if not file:
        raise UsageError("the argument '' names no file")
    try:
        with open(file, "rb") as opened:
            return text_of(opened, f"the patch {file}")
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise UsageError(f"cannot read the patch {file}: {why}") from error


def _applied(files: Files, patch: str, flags: ApplyFlags) -> ApplyOutcome:
    def read(path: str) -> FileRead:
        """Rights are looked at when it is written: all of the patch, or nothing."""
        return replace(files.read(path), unwritable="")

    # looking puts right what was half written, which a check does not
    unfinished = [] if flags.check else unfinished_sentences(files, journal_of(files))
    for words in unfinished:
        click.echo(f"duetto: {inert(words)}", err=True)
    workspace = Workspace(read, files.root, files.named_root)
    workspace.documents.names = files.listing
    landing = Landing(workspace, turn=1, call_id=CALL_ID, channel="custom", fmt=flags.format)
    size = flags.chunk or max(1, len(patch))
    for at in range(0, len(patch), size):
        landing.feed(patch[at : at + size])
        landing.tail()
    landing.finish(flags.cut)
    outcome = ApplyOutcome(list(landing.hunks), landing.failure, landing.placed_all)
    if not flags.check:
        _write(files, workspace, outcome, linked=flags.linked)
    if flags.report:
        outcome.told = _told(files, landing, outcome)
    return outcome


def _told(files: Files, landing: Landing, outcome: ApplyOutcome) -> str:
    """The report to a model, from the hunks as they are now; what could not be written, too.

    It quotes nothing of a file that no model would be sent unasked (a key, an ignored one).
    """
    private = files.privacy_of({hunk.path for hunk in landing.hunks})
    refused = [f"{path} was not written: {why}" for path, why in outcome.refusals.items()]
    return "\n".join([landing.report(lambda path: private.get(path, "")), *refused])


def _write(files: Files, workspace: Workspace, outcome: ApplyOutcome, *, linked: bool) -> None:
    """Accept what landed and bring it to the disk: all files, or none."""
    paths = workspace.accept([hunk.id for hunk in outcome.hunks if hunk.decidable])
    plans = {path: workspace.disk_plan(path) for path in paths}
    reasons: dict[str, str] = {}

    def why_linked(path: str) -> str:
        if linked or path not in files.linked:
            return ""
        reasons.update(reasons or files.links_of(paths))  # one walk for all
        return reasons[path] and f"{reasons[path]}; --linked writes it all the same"

    journal = journal_of(files)
    outcome.refusals = bring(files, plans, journal, why_linked)
    journal.close()
    if outcome.refusals:
        for path in plans:
            workspace.write_failed(path)
        return
    for path, plan in plans.items():
        workspace.written(path, plan.data)
        if plan.data != plan.expected:
            (outcome.deleted if plan.data is None else outcome.written).append(path)


def _reason(hunk: Hunk, outcome: ApplyOutcome) -> str:
    refusal = outcome.refusals.get(hunk.path) or outcome.refusals.get(hunk.target or hunk.path)
    if not refusal and outcome.refusals and hunk.stage in PLACED:
        refusal = "not written, because another file of the patch was refused"
    return "; ".join(part for part in (hunk.reason, refusal) if part)


def _reasons(outcome: ApplyOutcome) -> list[str]:
    """Everything that was refused, in words."""
    reasons = []
    for hunk in outcome.hunks:
        if hunk.stage != "landed" or hunk.reason:
            where = f"{hunk.path}: " if hunk.path else ""  # a block may name no file
            reasons.append(f"{where}hunk {hunk.id} {hunk.stage}: {hunk.reason}")
    reasons += [f"{path}: {reason}" for path, reason in outcome.refusals.items()]
    if outcome.failure:
        reasons.append(outcome.failure)
    if not reasons and not outcome.placed_all:
        reasons.append("incomplete: the stream was cut before the patch was whole")
    return list(dict.fromkeys(reasons))


def hunk_fields(hunk: Hunk) -> dict[str, object]:
    """A hunk as programs are told of it; lines are 1-based."""
    return {
        "id": hunk.id,
        "path": hunk.path,
        "kind": hunk.kind.value,
        "target": hunk.target,
        "stage": hunk.stage.value,
        "decision": hunk.decision.value,
        "line": None if hunk.start is None else hunk.start.line + 1,
        "added": hunk.added,
        "removed": hunk.removed,
        "flags": list(hunk.flags),
        "reason": hunk.reason,
    }


def _report(outcome: ApplyOutcome, flags: ApplyFlags) -> dict[str, object]:
    told = {"report": outcome.told} if flags.report else {}
    return {
        **told,
        "ok": outcome.exit_code == EXIT_OK,
        "checked": flags.check,
        "failure": outcome.failure,
        "written": outcome.written,
        "deleted": outcome.deleted,
        "hunks": [
            {
                **hunk_fields(hunk),
                "section": hunk.section,
                "reason": _reason(hunk, outcome),
                "candidates": [line + 1 for line in nearest(hunk.candidates)],
                "places": len(hunk.candidates),
            }
            for hunk in outcome.hunks
        ],
    }


def _summary(outcome: ApplyOutcome, flags: ApplyFlags) -> list[str]:
    """One line a hunk that is in, and one for all."""
    placed = [hunk for hunk in outcome.hunks if hunk.stage in PLACED]
    lines = []
    if not outcome.refusals:
        for hunk in placed:
            where = f" -> {hunk.target}" if hunk.target else ""
            if hunk.kind is Kind.EDIT and hunk.start is not None:
                where = f":{hunk.start.line + 1}"
            what = _SIGNS.get(hunk.kind, f"+{hunk.added} -{hunk.removed}")
            flagged = f"  ({'; '.join(hunk.flags)})" if hunk.flags else ""
            lines.append(f"{hunk.path}{where}  {what}{flagged}")
    counts = Counter(hunk.stage.value for hunk in outcome.hunks)
    told = ", ".join(f"{count} {stage}" for stage, count in counts.items()) or "no hunks"
    ending = "; nothing was written" if flags.check or outcome.refusals else ""
    lines.append(f"{told}{ending}")
    return lines
