"""Decides what the rehearsal model answers to a request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from tui.bridge.rehearsal import phrases
from tui.bridge.rehearsal.beats import Beat, Call, Reason, Say, function_call
from tui.bridge.rehearsal.generator import FreeForm, free_form, free_lines, free_text
from tui.bridge.rehearsal.notations import in_prose, write_patch
from tui.bridge.rehearsal.patch_writer import (
    Change,
    FilePlan,
    lines_of,
    plan_file,
)
from tui.bridge.rehearsal.scene import Scene, read_scene, shows_failure
from tui.bridge.rehearsal.script import ORIGINAL, Fix, Script, Version, load_scripts
from tui.bridge.rehearsal.words import has_all, words_of

DEFAULT_SEED = 4
DEFAULT_MISTAKES = 0.4
_GO_ON = [["again", "continue", "go", "retry", "finish", "redo", "fix", "resume", "wrong"]]
_MOST_SAID = 50
"""Of what was said before: what a conversation is about now is in the newest."""
_GO_ON_WORDS = 8


@dataclass(frozen=True, slots=True)
class Manner:
    """How a model answers."""

    deep: bool = False
    """Thinks longer, and is right the first time."""
    seed: int = DEFAULT_SEED
    mistakes: float = DEFAULT_MISTAKES
    """Share of the exercises that the fast model gets wrong at first, 0 to 1."""
    effort: str = ""
    """``low`` and ``minimal`` think one paragraph, ``none`` not at all."""


@dataclass(frozen=True, slots=True)
class Choice:
    """An exercise and what to make of it."""

    script: Script
    wishes: frozenset[str] = frozenset()


def answer(
    request: Mapping[str, Any], items: Sequence[Mapping[str, Any]], manner: Manner
) -> list[Beat]:
    """The answer to a request, ``items`` being the whole chain of items behind it."""
    scene = read_scene(request, items)
    outputs = [reply.output for reply in scene.answers if reply.name == "apply_patch"]
    if outputs and len(outputs) == len(scene.answers) and not phrases.was_cut(outputs):
        return [Say(phrases.after_patch(outputs))]
    wanted = free_form(scene.prompt)
    if wanted is not None:
        return _free(scene, wanted, manner)
    last = _last_worked(scene)
    choice = choose(scene.prompt, last)
    if choice is None:
        known = last.script if last is not None else None
        return [Say(phrases.about(scene.prompt, shows_failure(scene.prompt), known))]
    return _perform(scene, choice, manner)


def choose(prompt: str, last: Choice | None) -> Choice | None:
    """The exercise that a prompt means after the one before; None: it means none."""
    if shows_failure(prompt):
        return _failed_exercise(prompt, last)
    if last is not None and last.script.asked(prompt):
        return Choice(last.script, last.script.asked(prompt, last.wishes))
    best = best_match(prompt)
    if best is not None:
        before = last.wishes if last is not None and last.script is best else frozenset()
        return Choice(best, best.asked(prompt, before))
    words = words_of(prompt)
    if last is not None and len(words) <= _GO_ON_WORDS and has_all(words, _GO_ON):
        return last
    return None


def best_match(prompt: str) -> Script | None:
    """The exercise that a prompt means on its own."""
    ranked = sorted(load_scripts(), key=lambda script: -script.matches(prompt))
    return ranked[0] if ranked and ranked[0].matches(prompt) > 0 else None


def _last_worked(scene: Scene) -> Choice | None:
    """The exercise that the conversation was about, and the wishes told since."""
    last = _followed(scene.answered[-_MOST_SAID:]) or _followed(scene.said[-_MOST_SAID:-1])
    if last is None:
        touched = [s for s in load_scripts() if scene.patched.intersection(s.paths)]
        last = Choice(touched[-1]) if touched else None
    return last


def _followed(said: Sequence[str]) -> Choice | None:
    """Follow a conversation from exercise to exercise, from wish to wish."""
    last: Choice | None = None
    for text in said:
        if shows_failure(text):
            continue
        found = best_match(text)
        if found is not None and (last is None or found is not last.script):
            last = Choice(found)
        if last is not None:
            last = Choice(last.script, last.script.asked(text, last.wishes))
    return last


def _failed_exercise(output: str, last: Choice | None) -> Choice | None:
    """The exercise whose tests fail; the one that was worked on comes first."""
    named = [script for script in load_scripts() if script.test in output]
    if last is not None and (last.script in named or not named):
        return last
    return Choice(named[0]) if named else None


def is_slip(script: Script, manner: Manner) -> bool:
    """Whether the model gets this exercise wrong at its first try."""
    if manner.deep:
        return False
    return Random(f"{manner.seed}/{script.name}").random() < manner.mistakes


def _perform(scene: Scene, choice: Choice, manner: Manner) -> list[Beat]:
    """Play an exercise: read what is missing, then patch."""
    script = choice.script
    missing = [path for path in script.paths if _must_read(scene, script, path)]
    unread = [path for path in missing if path in scene.unreadable or not scene.can_read]
    if unread:
        return [Say(phrases.no_file(unread[0], scene.unreadable.get(unread[0], "")))]
    if missing:
        reads = [function_call("read_file", path=path) for path in missing]
        return [*_reasoning([phrases.reading(missing)], manner), *reads]
    first_try = not scene.failed and scene.patched.isdisjoint(script.paths)
    version = script.version_for(choice.wishes)
    slips = first_try and not choice.wishes and is_slip(script, manner)
    if slips and not _slipped(scene, script):
        version = script.versions["slip"]
    return _patch(scene, script, version, manner)


def _must_read(scene: Scene, script: Script, path: str) -> bool:
    """Whether the request does not say how a file stands now."""
    if path in scene.files:
        return path in scene.stale and scene.can_read
    new = all(not region.states[ORIGINAL] for region in script.regions if region.path == path)
    return not new or path in scene.listed


def _slipped(scene: Scene, script: Script) -> bool:
    """Whether the files hold the wrong try already."""
    wrong, right = script.versions["slip"].states, script.versions["solution"].states
    return any(
        state not in (ORIGINAL, better)
        and region.states[state].strip("\n") in scene.files.get(region.path, "")
        for region, state, better in zip(script.regions, wrong, right, strict=True)
    )


def _patch(scene: Scene, script: Script, version: Version, manner: Manner) -> list[Beat]:
    """The reasoning, the prose and the patch of one version."""
    plans = [_plan(scene, script, version, path) for path in script.paths]
    lost = [region for plan in plans for region in plan.lost]
    if lost:
        return [Say(phrases.lost(lost[0]))]
    patch = write_patch(plans, scene.notation)
    if not patch:
        return [Say(phrases.solved(script, failed=scene.failed))]
    told: Version | Fix = version
    if version is script.versions["solution"] and _slipped(scene, script):
        told = script.fix
    return [*_reasoning(told.reasoning, manner), *deliver(scene, told.prose, patch)]


def _plan(scene: Scene, script: Script, version: Version, path: str) -> FilePlan:
    wanted = [
        (region, state)
        for region, state in zip(script.regions, version.states, strict=True)
        if region.path == path
    ]
    return plan_file(path, scene.files.get(path), wanted)


def _reasoning(paragraphs: Sequence[str], manner: Manner) -> list[Beat]:
    if manner.effort == "none" or not paragraphs:
        return []
    brief = not manner.deep or manner.effort in ("low", "minimal")
    return [Reason("\n\n".join(paragraphs[:1] if brief else paragraphs))]


def deliver(scene: Scene, prose: str, patch: str) -> list[Beat]:
    """Prose and a patch, in the way that the request allows."""
    if scene.channel == "custom":
        return [Say(prose), Call("apply_patch", patch, custom=True)]
    if scene.channel == "function":
        return [Say(prose), function_call("apply_patch", **{scene.patch_argument: patch})]
    return [Say(f"{prose}\n\n{in_prose(patch, scene.notation)}\n{phrases.REVIEW}")]


def _free(scene: Scene, wanted: FreeForm, manner: Manner) -> list[Beat]:
    """Output without meaning, as it was asked for."""
    if wanted.kind == "calls":
        return _calls(scene, wanted)
    if wanted.kind == "reasoning":
        text = free_text("reasoning", wanted.count, manner.seed)
        return [Reason(text), Say(phrases.REHEARSED)]
    if wanted.kind != "lines":
        return [Say(free_text(wanted.kind, wanted.count, manner.seed))]
    path, known = wanted.path, wanted.path in scene.files
    if (not known or path in scene.stale) and scene.can_read and path not in scene.unreadable:
        return [function_call("read_file", path=path)]
    lines = lines_of(scene.files[path]) if known else []
    added = free_lines(path, len(lines) + 1, wanted.count, manner.seed)
    plan = FilePlan(path, scene.files.get(path))
    plan.changes.append(Change(len(lines), 0, tuple(added)))
    patch = write_patch([plan], scene.notation)
    return deliver(scene, phrases.lines_follow(wanted.count, path), patch)


def _calls(scene: Scene, wanted: FreeForm) -> list[Beat]:
    """The calls that were asked for, then what they gave."""
    if scene.answers:
        return [Say(phrases.called([(reply.name, reply.output) for reply in scene.answers]))]
    missing = [name for name, _ in wanted.calls if name not in scene.declared]
    if missing:
        return [Say(phrases.not_declared(missing[0]))]
    return [
        Call(name, text, custom=scene.declared[name] == "custom") for name, text in wanted.calls
    ]
