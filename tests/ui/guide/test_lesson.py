"""The lesson sees what was done, in whatever order, and forgives."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tui.ui.guide.lesson import STEPS, Lesson, Sight


class Pupil:
    """Somebody who does things; the lesson looks after each."""

    def __init__(self) -> None:
        self.lesson = Lesson()
        self.sight = Sight(10.0)
        self.lesson.begin(self.sight)

    def sees(self, **changes: object) -> str | None:
        """A second later this is so; returns the step that is next."""
        self.sight = replace(self.sight, now_s=self.sight.now_s + 1.0, **changes)
        self.lesson.look(self.sight)
        return self.lesson.step

    def asks(self) -> str | None:
        return self.sees(prompts=self.sight.prompts + 1, busy=True, outcome="", stopped="")

    def lands(self) -> str | None:
        return self.sees(landed=1, pending=True, tokens_s=50.0, ttft_s=0.07)

    def stops(self) -> str | None:
        self.sees(stops=self.sight.stops + 1, stopped="stopped after 9 tokens, 0.4 ms")
        return self.sees(busy=False, outcome="interrupted")

    def gets_it_all(self, tokens_s: float = 1000.0) -> str | None:
        return self.sees(busy=False, outcome="completed", tokens_s=tokens_s)


def test_the_steps_in_their_order() -> None:
    pupil = Pupil()
    assert pupil.lesson.step == "prompt"
    assert pupil.lesson.slow
    assert pupil.asks() == "watch"
    assert pupil.lands() == "stop"
    assert pupil.lesson.slow
    assert pupil.stops() == "redirect"
    assert not pupil.lesson.slow
    assert pupil.asks() == "accept"
    assert pupil.gets_it_all() == "accept"
    assert pupil.sees(accepted=True, pending=False) == "switch"
    assert pupil.sees(role="deep") is None


def test_the_figures_are_what_was_measured() -> None:
    pupil = Pupil()
    pupil.asks()
    pupil.lands()
    pupil.stops()
    pupil.sees(tokens_s=70.0)  # the server's count of what was stopped has more than came
    pupil.asks()
    pupil.gets_it_all()
    pupil.sees(accepted=True)
    pupil.sees(role="deep")
    figures = pupil.lesson.figures
    assert (figures.slow_tokens_s, figures.own_tokens_s) == (50.0, 1000.0)
    assert figures.first_output_s == 0.07
    assert figures.first_edit_s == 1.0
    assert figures.stopped == "stopped after 9 tokens, 0.4 ms"
    assert figures.accepted_s == 2.0
    assert figures.ended_s is not None
    assert figures.ended_s - figures.began_s == 9.0


def test_an_answer_that_is_handed_to_the_other_model_was_not_stopped() -> None:
    pupil = Pupil()
    pupil.asks()
    pupil.sees(stops=1, stopped="stopped after 25 tokens, 0.1 ms", role="deep")
    assert pupil.lands() == "stop"
    assert pupil.lesson.slow
    assert pupil.gets_it_all() == "stop"
    assert pupil.lesson.missed == 1
    assert pupil.asks() == "stop"
    assert pupil.stops() == "redirect"
    assert pupil.lesson.figures.stopped == "stopped after 9 tokens, 0.4 ms"


def test_an_answer_that_was_slow_for_a_part_of_it_says_nothing_of_speed() -> None:
    pupil = Pupil()
    pupil.asks()
    pupil.stops()
    pupil.asks()
    pupil.lands()  # from here on nothing is slowed down
    pupil.gets_it_all(222.0)
    assert pupil.lesson.figures.own_tokens_s is None
    assert pupil.lesson.figures.slow_tokens_s is None


def test_nothing_is_done_because_time_goes_by() -> None:
    pupil = Pupil()
    for _ in range(600):
        assert pupil.sees() == "prompt"


def test_typing_over_an_answer_is_stopping_and_redirecting() -> None:
    pupil = Pupil()
    pupil.asks()
    pupil.lands()
    assert pupil.sees(stops=1, prompts=2) == "accept"
    assert pupil.lesson.typed_over


def test_the_same_when_the_stop_is_seen_a_frame_before() -> None:
    pupil = Pupil()
    pupil.asks()
    pupil.lands()
    assert pupil.sees(stops=1, stopped="stopped after 9 tokens, 0.4 ms") == "redirect"
    assert pupil.sees(prompts=2, stopped="") == "accept"
    assert pupil.lesson.typed_over


def test_a_stop_by_the_key_is_no_typing_over() -> None:
    pupil = Pupil()
    pupil.asks()
    pupil.stops()
    pupil.asks()
    assert not pupil.lesson.typed_over


def test_who_stops_before_anything_lands_still_sees_an_edit_land() -> None:
    pupil = Pupil()
    pupil.asks()
    assert pupil.stops() == "watch"
    assert pupil.asks() == "watch"
    assert pupil.lands() == "accept"


def test_who_is_too_slow_gets_another_answer_to_stop() -> None:
    pupil = Pupil()
    pupil.asks()
    pupil.lands()
    assert pupil.gets_it_all(50.0) == "stop"
    assert pupil.lesson.missed == 1
    assert pupil.lesson.slow
    assert pupil.asks() == "stop"
    assert pupil.stops() == "redirect"


def test_who_never_stops_goes_on_without() -> None:
    pupil = Pupil()
    pupil.asks()
    pupil.lands()
    pupil.gets_it_all(50.0)
    pupil.asks()
    assert pupil.gets_it_all(50.0) == "accept"
    assert pupil.lesson.skipped == {"stop"}
    assert pupil.sees(accepted=True) == "switch"
    assert pupil.sees(role="deep") is None


def test_a_step_that_was_given_up_may_still_be_done() -> None:
    pupil = Pupil()
    pupil.asks()
    pupil.lands()
    pupil.gets_it_all(50.0)
    pupil.asks()
    pupil.gets_it_all(50.0)
    pupil.asks()
    pupil.stops()
    assert "stop" in pupil.lesson.done
    assert pupil.lesson.skipped == set()


def test_steps_done_early_are_not_asked_for_again() -> None:
    pupil = Pupil()
    assert pupil.sees(role="deep") == "prompt"
    pupil.asks()
    pupil.lands()
    pupil.stops()
    assert pupil.sees(accepted=True) == "redirect"
    assert pupil.asks() is None


def test_a_rejection_is_a_decision_too() -> None:
    pupil = Pupil()
    pupil.asks()
    pupil.lands()
    pupil.stops()
    pupil.asks()
    pupil.gets_it_all()
    assert pupil.sees(rejected=True, pending=False) == "switch"


def test_switching_and_back_again_was_switching() -> None:
    pupil = Pupil()
    pupil.sees(role="deep")
    pupil.sees(role="fast")
    assert "switch" in pupil.lesson.done


def test_an_answer_that_failed_is_not_one_that_was_missed() -> None:
    pupil = Pupil()
    pupil.asks()
    pupil.lands()
    assert pupil.sees(busy=False, outcome="failed") == "stop"
    assert pupil.lesson.missed == 0


@pytest.mark.parametrize("first", STEPS)
def test_any_one_step_first_leaves_the_others(first: str) -> None:
    pupil = Pupil()
    pupil.lesson.done = {first}
    left = [step for step in STEPS if step != first]
    assert pupil.lesson.step == left[0]
