"""What the rehearsal answers to: files changed by the user, halves of patches, other tools."""

from __future__ import annotations

import json

import pytest

from tests.support.rehearsed import CUSTOM, FUNCTION, READ, Conversation, fresh_files, user
from tests.support.strict_patch import apply_patch
from tui.bridge.rehearsal.beats import Call, Reason, Say
from tui.bridge.rehearsal.director import Manner, answer
from tui.bridge.rehearsal.script import load_scripts
from tui.core.file_block import file_block

CACHE = next(script for script in load_scripts() if script.name == "cache")
DEEP = Manner(deep=True)


def test_a_file_that_is_not_in_the_request_is_read_first() -> None:
    talk = Conversation(DEEP)
    talk.ask("make the cache safe for threads")
    assert talk.read == ["ledger/cache.py"]
    assert len(talk.patches) == 1


def test_two_files_are_read_and_changed_by_one_patch() -> None:
    talk = Conversation(DEEP)
    talk.ask("give accounts a currency and show it in the statement")
    assert talk.read == ["ledger/accounts.py", "ledger/statement.py"]
    assert len(talk.patches) == 1
    assert talk.patches[0].count("*** Update File: ") == 2


def test_a_refactoring_has_hunks_in_several_places_of_one_file() -> None:
    talk = Conversation(DEEP, shown=("ledger/report.py",))
    talk.ask("move the amount formatting of both reports into one function")
    assert talk.patches[0].count("@@\n") >= 2


def test_a_new_file_is_added() -> None:
    talk = Conversation(DEEP)
    talk.ask("add a module that finds the tags in a note")
    assert talk.read == []
    assert "*** Add File: ledger/tags.py" in talk.patches[0]


def test_a_new_file_that_is_listed_already_is_read_first() -> None:
    request = {"tools": [CUSTOM, READ], "instructions": "Files\nledger/tags.py\nREADME.md"}
    beats = answer(request, [user("add a module that finds the tags in a note")], DEEP)
    assert isinstance(beats[-1], Call)
    assert beats[-1].name == "read_file"


def test_without_tools_the_patch_is_in_the_text() -> None:
    talk = Conversation(DEEP, tools=(), shown=("ledger/cache.py",))
    text = talk.ask("make the cache safe for threads")
    assert talk.patches == []
    patch = text[text.index("*** Begin Patch") : text.index("*** End Patch") + 13]
    assert "with self._lock" in apply_patch(talk.files, patch)["ledger/cache.py"]
    assert text.rstrip().endswith("run the tests.")


def test_a_function_tool_gets_the_patch_as_its_argument() -> None:
    tool = json.loads(json.dumps(FUNCTION).replace('"input"', '"patch"'))
    block = file_block("ledger/money.py", Conversation().files["ledger/money.py"])
    beats = answer({"tools": [tool]}, [user(block), user("split loses cents")], DEEP)
    assert isinstance(beats[-1], Call)
    assert not beats[-1].custom
    assert json.loads(beats[-1].text)["patch"].startswith("*** Begin Patch\n")


def test_the_deep_model_thinks_longer() -> None:
    fast, deep = (Conversation(manner, shown=("ledger/cache.py",)) for manner in (Manner(), DEEP))
    for talk in (fast, deep):
        talk.ask("make the cache safe for threads")
    assert len(deep.thought[0]) > 2 * len(fast.thought[0])
    unread = Conversation(DEEP)
    unread.ask("make the cache safe for threads")
    assert unread.thought[-1] == deep.thought[0]


@pytest.mark.parametrize(("effort", "count"), [("none", 0), ("low", 1), ("high", 3)])
def test_effort_decides_how_much_is_thought(effort: str, count: int) -> None:
    talk = Conversation(Manner(deep=True, effort=effort), shown=("ledger/cache.py",))
    talk.ask("make the cache safe for threads")
    assert sum(text.count("\n\n") + 1 for text in talk.thought) == count


def test_lines_the_user_added_elsewhere_do_not_matter() -> None:
    talk = Conversation(DEEP, shown=("ledger/cache.py",))
    talk.files["ledger/cache.py"] = "# mine\n\n" + talk.files["ledger/cache.py"] + "\n\nMORE = 1\n"
    talk.ask("make the cache safe for threads")
    after = talk.files["ledger/cache.py"]
    assert after.startswith("# mine\n\n")
    assert after.endswith("\n\nMORE = 1\n")
    assert "with self._lock" in after


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


@pytest.mark.parametrize("kept", range(5))
def test_half_an_interrupted_patch_is_completed(kept: int) -> None:
    """Any one region landed, the rest did not; then the redirect comes."""
    talk = Conversation(shown=CACHE.paths and ("ledger/cache.py",))
    states = CACHE.versions["solution"].states
    region, state = CACHE.regions[kept], states[kept]
    talk.files["ledger/cache.py"] = talk.files["ledger/cache.py"].replace(
        region.states["original"], region.states[state]
    )
    talk.items.append(user("make the cache safe for threads"))
    talk.items.append({"type": "reasoning", "summary": []})
    talk.ask("use a plain Lock, and only in put")
    after = talk.files["ledger/cache.py"]
    assert after.count("with self._lock") == 1
    assert "threading.Lock()" in after
    assert "RLock" not in after


def test_a_wish_told_with_the_prompt_counts() -> None:
    talk = Conversation(shown=("ledger/cache.py",))
    talk.ask("make the cache safe for threads, but only lock in put and with a simple lock")
    assert talk.files["ledger/cache.py"].count("with self._lock") == 1
    assert "threading.Lock()" in talk.files["ledger/cache.py"]


def test_a_second_redirect_adds_to_the_first() -> None:
    talk = Conversation(shown=("ledger/cache.py",))
    for said in ("make the cache safe for threads", "use a plain Lock", "and only in put"):
        talk.ask(said)
    assert talk.files["ledger/cache.py"].count("with self._lock") == 1
    assert "threading.Lock()" in talk.files["ledger/cache.py"]


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


def test_what_was_not_placed_is_said() -> None:
    talk = Conversation(DEEP, shown=("ledger/cache.py",))
    talk.ask("make the cache safe for threads")
    talk.items.pop()
    talk.items[-1]["output"] = "hunk 1 placed, pending review\nhunk 2 not placed: 2 places fit"
    beats = answer({"tools": [CUSTOM]}, talk.items, DEEP)
    assert isinstance(beats[0], Say)
    assert "hunk 2 not placed" in beats[0].text
    assert "Done" not in beats[0].text


@pytest.mark.parametrize("prompt", ["hello", "", "\x1b[31mred", "[bold]x[/bold]", "x" * 100_000])
def test_to_anything_else_it_says_what_it_is(prompt: str) -> None:
    items = [user(prompt)] if prompt else []
    beats = answer({}, items, Manner())
    assert len(beats) == 1
    assert isinstance(beats[0], Say)
    assert "rehearsal model" in beats[0].text
    assert all(word in beats[0].text for word in ("--endpoint", "--fast", "--deep", "--key-env"))
    assert "\x1b" not in beats[0].text


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
    talk = Conversation(Manner(mistakes=1), shown=("ledger/names.py",))
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
    beats = answer({}, [user("please rehearse 5,000 tokens of prose")], Manner())
    assert [len(beat.text) for beat in beats] == [20_000]
    thought, said = answer({}, [user("rehearse 100 tokens of reasoning")], Manner())
    assert isinstance(thought, Reason)
    assert len(thought.text) == 400
    assert isinstance(said, Say)


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


def test_what_the_client_tells_between_the_prompts_changes_no_wish() -> None:
    """An interrupted turn as duetto tells it: reports that name other exercises' files."""
    talk = Conversation(shown=("ledger/cache.py",))
    report = (
        "Your last answer was interrupted by the user after 300 characters.\n"
        "Do not send kept hunks again. What stands in the buffers now:\n"
        "ledger/cache.py: hunk 1 placed, pending review, line 3: import threading"
    )
    edited = "The user edited meanwhile:\nledger/report.py line 9: amount format, total, report"
    for prompt in ("make the cache safe for threads", "use a plain Lock", "and only in put"):
        talk.ask(prompt)
        talk.items += [user(report), user(edited)]
    talk.ask("continue")
    assert talk.patches == []
    assert "already done" in talk.said[0]
    after = talk.files["ledger/cache.py"]
    assert after.count("with self._lock") == 1
    assert "threading.Lock()" in after


def test_a_prompt_that_was_interrupted_before_any_output_is_still_the_exercise() -> None:
    talk = Conversation(shown=("ledger/cache.py",))
    talk.items.append(user("make the cache safe for threads"))
    talk.ask("use a plain Lock, and only in put")
    assert "threading.Lock()" in talk.files["ledger/cache.py"]


@pytest.mark.parametrize(
    "opening", ["`pytest` failed (exit 1). Find the cause", "`pytest` ran into its deadline. Find"]
)
def test_a_failure_as_duetto_sends_it(opening: str) -> None:
    talk = Conversation(Manner(mistakes=1), shown=("ledger/cache.py",))
    talk.ask("make the cache safe for threads")
    talk.ask(f"{opening} and fix it. Its output:\n\ntests/test_cache.py ..")
    assert "RLock" in talk.files["ledger/cache.py"]


def test_a_patch_that_was_cut_on_the_way_is_sent_again() -> None:
    files = dict(fresh_files())
    path = CACHE.paths[0]
    asked = user(f"{file_block(path, files[path])}\nmake the cache safe for threads")
    request = {"tools": [CUSTOM, READ]}
    first = next(b for b in answer(request, [asked], DEEP) if isinstance(b, Call))
    cut = {"type": "custom_tool_call", "call_id": "c1", "name": "apply_patch"}
    told = {
        "type": "custom_tool_call_output",
        "call_id": "c1",
        "output": "the patch was interrupted: 0 of 1 hunks placed\n...",
    }
    items = [asked, {**cut, "input": first.text[: len(first.text) // 2]}, told]
    reads = answer(request, items, DEEP)[-1]
    assert isinstance(reads, Call)
    assert reads.name == "read_file"
    call = {"type": "function_call", "call_id": "c2", "name": "read_file", "arguments": reads.text}
    output = file_block(path, files[path])
    items += [call, {"type": "function_call_output", "call_id": "c2", "output": output}]
    again = answer(request, items, DEEP)[-1]
    assert isinstance(again, Call)
    assert again.text == first.text


SHELL = {"type": "function", "name": "exec_command", "parameters": {}}
EXEC = {"type": "custom", "name": "exec"}


def test_a_tool_of_the_client_is_called_as_it_was_asked() -> None:
    lines = 'rehearse call exec_command {"cmd": "date"}\nrehearse call exec text(1);'
    beats = answer({"tools": [SHELL, EXEC]}, [user(lines)], DEEP)
    assert beats == [
        Call("exec_command", '{"cmd": "date"}'),
        Call("exec", "text(1);", custom=True),
    ]


def test_a_tool_that_travels_in_the_input_counts_as_declared() -> None:
    tools = [{"type": "namespace", "name": "functions", "tools": [EXEC]}]
    items = [{"type": "additional_tools", "tools": tools}, user("rehearse call exec text(1);")]
    assert answer({}, items, DEEP) == [Call("exec", "text(1);", custom=True)]


def test_what_the_call_gave_is_told() -> None:
    call = {"type": "function_call", "call_id": "c", "name": "exec_command", "arguments": "{}"}
    output = {"type": "function_call_output", "call_id": "c", "output": "friday\n"}
    items = [user("rehearse call exec_command {}"), call, output]
    assert answer({"tools": [SHELL]}, items, DEEP) == [Say("`exec_command` answered: friday")]


def test_a_tool_that_is_not_declared_is_not_called() -> None:
    (beat,) = answer({"tools": []}, [user("rehearse call rm {}")], DEEP)
    assert isinstance(beat, Say)
    assert "`rm`" in beat.text
