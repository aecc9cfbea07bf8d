"""What the guide says: one thing to do, with the keys as they are now."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from tui.ui import keymap
from tui.ui.guide.lesson import STEPS, Figures, Lesson, Sight
from tui.ui.guide.words import Place, key_of, said, sentence, summary

NOTHING_YET, EMPTY = Sight(), Place()


def words_of(lesson: Lesson, place: Place = EMPTY) -> str:
    page = said(lesson, place)
    to_do = "".join(text for text, _ in page.to_do)
    return "\n".join((page.title, page.happened, to_do, page.why))


def at(step: str, sight: Sight = NOTHING_YET) -> Lesson:
    """A lesson that has come to this step."""
    before = STEPS[: STEPS.index(step)]
    return Lesson(done=set(before), sight=sight)


def test_each_step_has_a_number_and_something_to_do() -> None:
    for number, step in enumerate(STEPS, 1):
        page = said(at(step), Place(offered="make it safe"))
        assert page.title.startswith(f"{number} of 6 · ")
        assert page.to_do


def test_the_key_for_the_suggestion_then_the_one_that_sends() -> None:
    lesson = at("prompt")
    assert "Tab takes the suggestion" in words_of(lesson, Place(offered="make it safe"))
    assert "Enter sends it" in words_of(lesson, Place(drafted=True, offered="make it safe"))
    assert "Type what you want" in words_of(lesson)


def test_where_to_look_depends_on_how_much_is_in_sight() -> None:
    watching = at("watch", Sight(prompts=1, busy=True))
    assert "on the right" in words_of(watching)
    assert "on the right" not in words_of(watching, Place(narrow=True))


def test_what_came_to_its_end_too_soon_is_no_harm() -> None:
    lesson = at("stop", Sight(prompts=1, outcome="completed", landed=1))
    lesson.missed = 1
    assert "no harm" in words_of(lesson, Place(offered="use a plain Lock"))


def test_a_failure_is_said_and_can_be_tried_again() -> None:
    lesson = at("watch", Sight(prompts=1, outcome="failed"))
    words = words_of(lesson, Place(offered="make it safe"))
    assert "No answer came" in words
    assert "Tab takes the suggestion" in words


def test_the_gap_is_said_as_it_was_measured() -> None:
    lesson = at("accept", Sight(prompts=2, outcome="completed", pending=True))
    lesson.figures = Figures(slow_tokens_s=50.0, own_tokens_s=1000.0)
    assert "1,000 tokens/s, 20 times as fast" in words_of(lesson)


def test_no_gap_is_claimed_that_there_was_not() -> None:
    lesson = at("accept", Sight(prompts=2, outcome="completed", pending=True))
    lesson.figures = Figures(slow_tokens_s=50.0, own_tokens_s=60.0)
    assert "times" not in words_of(lesson)


def test_nothing_pending_is_not_asked_to_be_accepted() -> None:
    words = words_of(at("accept", Sight(prompts=2, outcome="completed")), Place(offered="again"))
    assert "Alt+A" not in words
    assert "Tab takes the suggestion" in words


def test_who_has_no_alt_key_and_no_function_keys_is_told_of_the_leader() -> None:
    pending = Sight(prompts=2, outcome="completed", pending=True)
    assert "Alt+A or Ctrl+N a accepts" in words_of(at("accept", pending))
    assert "F2 or Ctrl+N m hands over" in words_of(at("switch", Sight(accepted=True)))


def test_a_rejection_is_told_as_one() -> None:
    words = words_of(at("switch", Sight(prompts=2, rejected=True)))
    assert "Rejected" in words
    assert "written" not in words


def test_the_other_model_is_the_other_one() -> None:
    assert "to the deep model" in words_of(at("switch", Sight(accepted=True)))
    assert "to the fast model" in words_of(at("switch", Sight(accepted=True, role="deep")))


def test_the_end_names_only_what_was_measured() -> None:
    assert summary(Figures()) == []
    figures = Figures(own_tokens_s=1004.0, stopped="stopped after 9 tokens, 0.4 ms")
    assert summary(figures) == [
        ("own speed", "1,004 tokens/s"),
        ("stopped in", "0.4 ms, after 9 tokens"),
    ]


@pytest.fixture
def remapped() -> Iterator[None]:
    """F9 accepts, and the key for the other model was taken away."""
    assert keymap.use({"global": {"accept": "f9", "switch": ""}}) == []
    yield
    keymap.use({})


@pytest.mark.usefixtures("remapped")
def test_remapped_keys_are_said_as_they_are() -> None:
    pending = Sight(prompts=2, outcome="completed", pending=True)
    assert "F9 or Ctrl+N a accepts all hunks" in words_of(at("accept", pending))


@pytest.mark.usefixtures("remapped")
def test_an_action_whose_key_was_taken_away_is_reached_by_the_leader() -> None:
    words = words_of(at("switch", replace(Sight(), accepted=True)))
    assert "Ctrl+N m hands over" in words


def test_an_action_without_any_key_is_in_the_palette() -> None:
    assert key_of("dance_for_me") == "Ctrl+P, “dance for me”"


def test_a_sentence_has_its_keys_apart() -> None:
    assert sentence("{} stops it.", "Esc") == [("Esc", "key"), (" stops it.", "text")]
    two = [("F2", "key"), (" or ", "text"), ("Alt+M", "key"), (" switches.", "text")]
    assert sentence("{} switches.", "F2 or Alt+M") == two
