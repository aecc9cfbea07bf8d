"""Writes that were cut short, for the commands that ask nobody: a sentence, and the way out."""

from __future__ import annotations

import shlex

from tui.effects.files import Files
from tui.effects.write_ahead_log import WriteAheadLog
from tui.engine.unfinished import Way, look, sentence, settle
from tui.settings import Paths


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
        refusals |= dict.fromkeys(others, "somebody changed it since: duetto shows all versions")
        refusals |= settle(files, journal, (one, findings), ways)
        done += [path for path in ways if path not in refusals]
    return done, refusals
