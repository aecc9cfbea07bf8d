"""What the rehearsal answers to: files changed by the user, halves of patches, other tools."""

from __future__ import annotations

import json
from typing import Any

from tests.support.rehearsed import CUSTOM, FUNCTION, READ, Conversation, user
from tests.support.strict_patch import apply_patch
from tests.support.tables import each
from tui.bridge.rehearsal import TRY_HERE
from tui.bridge.rehearsal.answers import (
    ELSEWHERE,
    JUDGES_NOTHING,
    AnswerPart,
    AnswerStyle,
    CallPart,
    ReasoningPart,
    TextPart,
    answer,
)
from tui.core.files import file_block
from tui.core.instructions import STOPPED_BY_ACCIDENT, instruction_parts
from tui.engine.noting import findings, numbered_diff

DEEP = AnswerStyle(deep=True)


def test_a_function_tool_gets_the_patch_as_its_argument() -> None:
    tool = json.loads(json.dumps(FUNCTION).replace('"input"', '"patch"'))
    block = file_block("ledger/money.py", Conversation().files["ledger/money.py"])
    parts = answer({"tools": [tool]}, [user(block), user("split loses cents")], DEEP)
    assert isinstance(parts[-1], CallPart)
    assert not parts[-1].custom
    assert json.loads(parts[-1].text)["patch"].startswith("*** Begin Patch\n")


@each("effort, count", [("none", 0), ("low", 1), ("high", 3)])
def test_effort_decides_how_much_is_thought(effort: str, count: int) -> None:
    talk = Conversation(AnswerStyle(deep=True, effort=effort), shown=("ledger/cache.py",))
    talk.ask("make the cache safe for threads")
    assert sum(text.count("\n\n") + 1 for text in talk.thought) == count


def test_a_text_that_the_user_changed_is_left_alone_and_it_says_so() -> None:
    talk = Conversation(DEEP, shown=("ledger/cache.py",))
    talk.files["ledger/cache.py"] = talk.files["ledger/cache.py"].replace("oldest", "eldest")
    text = talk.ask("make the cache safe for threads")
    assert talk.patches == []
    assert "You have changed the body of put" in text
    assert "duetto practice --new" in text


def test_what_is_solved_already_is_not_done_again() -> None:
    talk = Conversation(DEEP, shown=("ledger/cache.py",))
    talk.ask("make the cache safe for threads")
    text = talk.ask("make the cache safe for threads, please")
    assert talk.patches == []
    assert "already done" in text


def test_a_redirect_that_is_not_understood_names_those_that_are() -> None:
    talk = Conversation(shown=("ledger/cache.py",))
    talk.ask("make the cache safe for threads")
    text = talk.ask("paint it blue")
    assert talk.patches == []
    assert "use a plain Lock" in text
    assert "rehearsal" in text


def test_a_rejected_hunk_is_written_again_on_demand() -> None:
    talk = Conversation(DEEP, shown=("ledger/cache.py",))
    before = talk.files["ledger/cache.py"]
    talk.ask("make the cache safe for threads")
    talk.files["ledger/cache.py"] = before
    talk.ask("try again")
    assert "with self._lock" in talk.files["ledger/cache.py"]


def test_an_answer_that_broke_off_in_an_earlier_run_is_given_anew() -> None:
    talk = Conversation(DEEP, shown=("ledger/cache.py",))
    before = talk.files["ledger/cache.py"]
    talk.ask("make the cache safe for threads")
    talk.files["ledger/cache.py"] = before
    talk.items.append(user("Your last answer broke off, as duetto ended, after 93 characters."))
    talk.ask(f"{STOPPED_BY_ACCIDENT} duetto was started anew since: see what stands now.")
    assert "with self._lock" in talk.files["ledger/cache.py"]


def test_one_change_is_made_anew_as_the_user_wants_it() -> None:
    talk = Conversation(DEEP, shown=("ledger/cache.py",))
    wanted = "Above line 14 of ledger/cache.py lines were to be put in, like this:"
    diff = "```diff\n+        self._lock = threading.RLock()\n```"
    talk.ask(f"{wanted}\n{diff}\nThe user rejected that: use a plain Lock\n\nMake it anew.")
    assert "self._lock = threading.Lock()" in talk.files["ledger/cache.py"]


def test_what_was_not_placed_is_said() -> None:
    talk = Conversation(DEEP, shown=("ledger/cache.py",))
    talk.ask("make the cache safe for threads")
    talk.items.pop()
    talk.items[-1]["output"] = "hunk 1 placed, pending review\nhunk 2 not placed: 2 places fit"
    parts = answer({"tools": [CUSTOM]}, talk.items, DEEP)
    assert isinstance(parts[0], TextPart)
    assert "hunk 2 not placed" in parts[0].text
    assert "Done" not in parts[0].text


@each("prompt", ["hello", "", "\x1b[31mred", "[bold]x[/bold]", "x" * 100_000])
def test_to_anything_else_it_says_what_it_is(prompt: str) -> None:
    items = [user(prompt)] if prompt else []
    parts = answer({}, items, AnswerStyle())
    assert len(parts) == 1
    assert isinstance(parts[0], TextPart)
    assert "rehearsal model" in parts[0].text
    assert all(word in parts[0].text for word in ("/connect", "--endpoint", "--fast", "--deep"))
    assert "\x1b" not in parts[0].text


def test_a_workspace_without_the_file_is_said() -> None:
    talk = Conversation(DEEP)
    del talk.files["ledger/cache.py"]
    text = talk.ask("make the cache safe for threads")
    assert "cannot see it (there is no file ledger/cache.py" in text
    assert "duetto practice" in text
    blind = Conversation(DEEP, tools=(CUSTOM,))
    assert "cannot see it." in blind.ask("make the cache safe for threads")


def test_a_failure_that_means_no_exercise_is_not_guessed_at() -> None:
    text = Conversation().ask("FAILED tests/test_other.py::test_x - ValueError")
    assert "cannot tell what is wrong" in text


def test_the_exercise_at_hand_comes_first_when_several_tests_fail() -> None:
    talk = Conversation(AnswerStyle(mistakes=1), shown=("ledger/names.py",))
    talk.ask("let slug take a max_length")
    talk.ask("FAILED tests/test_cache.py::a\nFAILED tests/test_names.py::b\n2 failed")
    assert "*** Update File: ledger/names.py" in talk.patches[0]
    assert "dash" in talk.said[0]


def test_a_failure_of_the_right_answer_is_not_patched_over() -> None:
    talk = Conversation(DEEP, shown=("ledger/cache.py",))
    talk.ask("make the cache safe for threads")
    text = talk.ask("FAILED tests/test_cache.py::a - AssertionError")
    assert talk.patches == []
    assert "accept it" in text


def test_free_prose_has_the_length_that_was_asked_for() -> None:
    parts = answer({}, [user("please rehearse 5,000 tokens of prose")], AnswerStyle())
    assert [len(part.text) for part in parts] == [20_000]
    thought, said = answer({}, [user("rehearse 100 tokens of reasoning")], AnswerStyle())
    assert isinstance(thought, ReasoningPart)
    assert len(thought.text) == 400
    assert isinstance(said, TextPart)


def test_lines_are_written_into_a_new_file_and_behind_an_old_one() -> None:
    talk = Conversation()
    talk.ask("write 30 lines in notes.txt")
    assert talk.read == ["notes.txt"]
    assert talk.files["notes.txt"].count("\n") == 30
    talk.ask("write 10 lines in notes.txt")
    assert talk.files["notes.txt"].count("\n") == 40
    assert "line 40: " in talk.files["notes.txt"]
    talk.ask("write 5 lines to ledger/money.py")
    compile(talk.files["ledger/money.py"], "money.py", "exec")


SHELL = {"type": "function", "name": "exec_command", "parameters": {}}
EXEC = {"type": "custom", "name": "exec"}


def test_a_tool_that_travels_in_the_input_counts_as_declared() -> None:
    tools = [{"type": "namespace", "name": "functions", "tools": [EXEC]}]
    items = [{"type": "additional_tools", "tools": tools}, user("rehearse call exec text(1);")]
    assert answer({}, items, DEEP) == [CallPart("exec", "text(1);", custom=True)]


def test_what_the_call_gave_is_told() -> None:
    call = {"type": "function_call", "call_id": "c", "name": "exec_command", "arguments": "{}"}
    output = {"type": "function_call_output", "call_id": "c", "output": "friday\n"}
    items = [user("rehearse call exec_command {}"), call, output]
    assert answer({"tools": [SHELL]}, items, DEEP) == [TextPart("`exec_command` answered: friday")]


def test_a_tool_that_is_not_declared_is_not_called() -> None:
    (part,) = answer({"tools": []}, [user("rehearse call rm {}")], DEEP)
    assert isinstance(part, TextPart)
    assert "`rm`" in part.text


def elsewhere(prompt: str, files: dict[str, str], *listed: str) -> list[str]:
    """What it says and patches in a project that is not the practice."""
    paths = sorted({*files, *listed})
    shown = [user(file_block(path, text)) for path, text in files.items()]
    words = "\n".join(instruction_parts(paths, {}, "custom").values())
    parts = answer({"tools": [CUSTOM, READ], "instructions": words}, [*shown, user(prompt)], DEEP)
    return [part.text for part in parts if isinstance(part, TextPart | CallPart)]


def test_in_another_project_it_says_shortly_what_it_is_and_how_to_connect() -> None:
    (text,) = elsewhere("rename all my variables", {"app.py": "x = 1\n"})
    assert text == ELSEWHERE
    assert "/connect" in text
    assert len(text) < 300


@each(
    "path, text, added",
    [
        ("app.py", "x = 1\n", "+# A comment from duetto's rehearsal, written while you watch."),
        (
            "page.css",
            "a {}\n",
            "+/* A comment from duetto's rehearsal, written while you watch. */",
        ),
        (
            "notes.md",
            "Hi\n",
            "+<!-- A comment from duetto's rehearsal, written while you watch. -->",
        ),
        ("Makefile", "all:\n", "+# A comment from duetto's rehearsal, written while you watch."),
    ],
)
def test_tried_here_it_writes_a_comment_that_applies(path: str, text: str, added: str) -> None:
    prose, patch = elsewhere("try it here", {"data.json": "{}\n", path: text})
    assert path in prose
    assert added in patch.splitlines()
    assert apply_patch({path: text}, patch)[path].startswith(text)


def test_a_file_is_read_before_it_is_written_and_one_without_comments_is_left_alone() -> None:
    (call,) = elsewhere("try it here", {}, "src/app.go", "x.json")
    assert json.loads(call) == {"path": "src/app.go"}
    (call,) = elsewhere("try it here", {}, "docs/Makefile", "Makefile", "a/setup.cfg", "src/b.py")
    assert json.loads(call) == {"path": "src/b.py"}
    said, patch = elsewhere(TRY_HERE, {})
    assert "A new file" in said
    assert apply_patch({}, patch)["try-it-here.md"].startswith("<!-- A comment from duetto")
    (text,) = elsewhere("try it in data.json", {"data.json": "{}"})
    assert "has no comments" in text
    (text,) = elsewhere("try it here", {"data.json": "{}"})
    assert "I see no file with comments" in text


RUNS = {
    "type": "function",
    "name": "shell",
    "parameters": {"type": "object", "properties": {"command": {"type": "string"}}},
}


def told_to_run(prompt: str, *outputs: str, tool: dict[str, Any] = RUNS) -> list[AnswerPart]:
    """What it answers when its command gave this."""
    cache = file_block("ledger/cache.py", Conversation().files["ledger/cache.py"])
    items = [user(cache), user(prompt)]
    for text in outputs:
        call = {"type": "function_call", "call_id": "c", "name": "shell", "arguments": "{}"}
        items += [call, {"type": "function_call_output", "call_id": "c", "output": text}]
    return answer({"tools": [CUSTOM, tool]}, items, AnswerStyle(mistakes=1.0))


RED = (
    'exit code 1 after 0.2 s\nFAIL: test_a\n  File "/x/tests/test_cache.py", line 3\nAssertionError'
)


def test_it_runs_the_tests_sees_red_and_mends() -> None:
    prompt = "run the tests of the cache and mend what fails"
    call = told_to_run(prompt)[-1]
    assert isinstance(call, CallPart)
    assert json.loads(call.text) == {"command": "python3 -m unittest tests/test_cache.py"}
    *_, patch = told_to_run(prompt, RED)
    assert isinstance(patch, CallPart)
    files = apply_patch(Conversation().files, patch.text)
    assert "RLock" in files["ledger/cache.py"]  # no slip: it has seen what fails


@each(
    "output, said",
    [
        ("exit code 0 after 0.2 s\nRan 3 tests\n\nOK", "All green"),
        ("this command was declined; go on without it", "F5 runs them"),
        ("exit code 127 after 0.0 s\nsh: python3: not found", "not know how the tests stand"),
    ],
)
def test_where_nothing_is_red_nothing_is_written(output: str, said: str) -> None:
    (part,) = told_to_run("run the tests", output)
    assert isinstance(part, TextPart)
    assert said in part.text


def test_the_command_is_in_the_form_that_the_tool_takes() -> None:
    tool = json.loads(json.dumps(RUNS).replace('"string"', '"array"'))
    call = told_to_run("please run all the tests", tool=tool)[-1]
    assert isinstance(call, CallPart)
    assert json.loads(call.text)["command"] == ["python3", "-m", "unittest"]


def test_an_inspection_is_answered_with_findings_that_stand_on_new_lines() -> None:
    parts = [
        f"=== {path} ({state})\n{numbered_diff(old, new, 1000)}"
        for path, state, old, new in (
            ("a.py", "changed", "one\ntwo\n", "one\nTWO\nthree\n"),
            ("gone.py", "deleted", "x\n", ""),
            ("b.py", "new file", "", "\nfirst\n"),
        )
    ]
    text = "\n\n".join(["Write each finding on one line of its own, exactly so:", *parts])
    (said,) = answer({}, [user(text)], DEEP)
    assert isinstance(said, TextPart)
    assert [(one.path, one.line, one.severity) for one in findings(said.text)] == [
        ("a.py", 2, "hint"),
        ("b.py", 2, "hint"),
    ]
    assert said.text.endswith(JUDGES_NOTHING)
