"""Steering from the client's side: every fate of a text (PROTOCOL section 7)."""

from __future__ import annotations

from tests.support.client_side import ClientSide, Dialogue, fates, kinds
from tests.support.tables import each
from tui.core.wire import events
from tui.core.wire.endpoint_facts import Capabilities

STEERED = {
    "it is accepted, cuts the answer, and is used by the successor": """
        accept a -> 1 accepted / knows steer / delta -> TextDelta / cut steered -> Incomplete / busy
        / is STEERING / begin #2 -> 1 used, Created / delta -> TextDelta / end #2 -> Completed
        / free / sent nothing""",
    "an answer that was whole has a successor all the same": """
        accept a / end -> Completed / busy / begin #2 -> 1 used, Created""",
    "who says that it is not supported is not asked again": """
        refuse steering_not_supported -> 1 returned / knows no steer / steer cannot
        / sent nothing""",
    "an unknown event is the text's error, not the answer's": """
        unknown event -> 1 returned / knows no steer / delta -> TextDelta / end -> Completed""",
    "silence says no": """
        wait 1.99 -> nothing / wait 0.01 -> 1 returned / knows no steer / delta -> TextDelta""",
    "one silence proves nothing where it has worked": """
        accept a / steer / wait 2 -> 2 returned / knows steer""",
    "after the end an undecided text is waited for two seconds at most": """
        wait 1.5 / end / busy / wait 0.49 -> nothing / wait 0.01 -> 1 returned / free""",
    "a successor that does not come gives the text back and loses the lane": """
        accept a / end / wait 9.99 -> nothing / wait 0.01 -> 1 returned / free / is ABANDONED
        / begin #2 -> nothing / delta -> nothing / end #2 -> nothing / is IDLE""",
    "a cut for steering proves a lost acknowledgement": """
        cut steered -> 1 accepted, Incomplete / knows steer / begin #2 -> 1 used, Created""",
    "a successor that comes at all proves it too": """
        end -> Completed / begin #2 -> 1 used, Created""",
    "several are matched in order and used together": """
        steer / steer / accept a -> 1 accepted / accept b -> 2 accepted
        / refuse too_many_pending_steers -> 3 returned / cut steered
        / begin #2 -> 1 used, 2 used, Created""",
    "a failure may come after the acceptance and is found by its id": """
        steer / accept a / accept b / refuse successor_creation_failed a -> 1 returned / end / busy
        / refuse successor_creation_failed b -> 2 returned / free / is IDLE""",
    "an acceptance that is said twice counts once": """
        steer / accept a / accept a -> nothing / accept b -> 2 accepted""",
    "with a call it waits for the outputs, however long": """
        accept a / call / end -> 1 pending, Completed / free / pending a -> nothing
        / wait 60 -> nothing / ask after #1 / begin #2 -> 1 used, Created""",
    "pending that is said before the end is told once": """
        accept a / call / pending a -> 1 pending / end -> Completed""",
    "a create without that parent gives it back first": """
        accept a / call / end / ask -> 1 returned / begin #2 -> Created""",
    "a create that fails before it began gives it back": """
        accept a / call / end / ask after #1
        / error 400 previous_response_not_found -> 1 returned, ErrorEvent""",
    "accepted after an end with calls it waits for the create too": """
        call / end / free / accept a -> 1 accepted, 1 pending / ask after #1
        / begin #2 -> 1 used, Created""",
    "a response that we asked for proves no text that was never accepted": """
        call / end / ask after #1 / begin #2 -> Created / wait 2 -> 1 returned / is CREATED""",
    "a failed response gives all back": """
        accept a / steer / fail -> 1 returned, 2 returned, Failed / free""",
    "so does an error": """
        accept a / steer / error 500 server_error -> 1 returned, 2 returned, ErrorEvent / free""",
    "so does an interrupt": """
        accept a / steer / stop / cut interrupted -> 1 returned, 2 returned, Incomplete / free""",
    "so does the time limit": """
        accept a / steer
        / error 400 websocket_connection_limit_reached -> 1 returned, 2 returned, ErrorEvent
        / free""",
    "so does a lane that is abandoned": """
        accept a / steer / abandon -> 1 returned, 2 returned / free""",
    "so does a connection that is lost": """
        accept a / steer / lose -> 1 returned, 2 returned / free""",
    "a stop while a successor is owed stops the successor": """
        accept a / cut steered / stop / stop / sent nothing / begin #2 -> 1 used, Created
        / sent interrupt #2 / delta -> nothing / cut interrupted #2 -> Incomplete / free""",
    "an interrupt that loses the race stops the successor too": """
        accept a / stop / sent interrupt #1 / end -> Completed / is STEERING
        / begin #2 -> 1 used, Created / sent interrupt #2 / is INTERRUPTING / delta -> nothing""",
    "a stopped successor that does not come drops the socket": """
        accept a / end / stop / wait 1 / drops / lose -> 1 returned""",
    "a stop while only an undecided text is out frees the lane in a second": """
        end / stop / wait 0.99 -> nothing / wait 0.01 -> 1 returned / stays / is IDLE""",
    "a text for an owed successor goes to it": """
        accept a / end / steer / sent nothing / begin #2 / sent steer #2""",
    "the successor that cannot be made gives it back": """
        accept a / end / error 500 server_error -> 1 returned / is IDLE""",
}
UNSTEERED = {
    "a text before the id is sent when the id comes": """
        ask / sent create / steer / sent nothing / begin #7 / sent steer #7""",
    "a text that was not sent comes back at the stop": """
        ask / sent create / steer / stop -> 1 returned / begin / sent interrupt #1""",
    "there is nothing to steer at rest, in a prewarm, after a stop, after the loss": """
        steer cannot / ask ahead / steer cannot / begin / end / stream #2 / stop / steer cannot
        / lose / steer cannot""",
    "a response that is cut for a text that is not ours is over": """
        stream / cut steered -> Incomplete / is IDLE / begin #2 -> nothing""",
}


def steered() -> ClientSide:
    """A response streams and one text was sent to it."""
    side = ClientSide().streaming()
    assert side.client.steer("smaller", None, side.now) == 1
    assert side.sent() == [
        {"type": "response.steer", "previous_response_id": "resp_1", "input": "smaller"}
    ]
    return side


@each("rule", STEERED)
def test_a_text_that_was_sent(rule: str) -> None:
    Dialogue(steered()).play(STEERED[rule])


@each("rule", UNSTEERED)
def test_before_and_after(rule: str) -> None:
    Dialogue(ClientSide()).play(UNSTEERED[rule])


def test_refused_texts_come_back_with_the_reason() -> None:
    side = steered()
    (news,) = side.steer_failed("response_already_completed", text="smaller")
    assert isinstance(news, events.SteerNews)
    assert (news.number, news.fate, news.text) == (1, "returned", "smaller")
    assert news.why == "response_already_completed"
    assert side.known.steer == {}
    assert kinds(side.completed()) == ["Completed"]


def test_what_another_model_cannot_do_does_not_matter() -> None:
    side = ClientSide(Capabilities(steer={"other": False})).streaming()
    assert side.client.steer("x", None, 0.0) == 1


def test_a_text_finds_its_lane_by_the_response_it_was_sent_to() -> None:
    side = ClientSide(Capabilities(lanes=True)).streaming("a", "resp_1").streaming("b", "resp_2")
    assert side.client.steer("x", "b", 0.0) == 1
    (news,) = side.accepted("steer_a", "resp_2")
    assert fates([news]) == [(1, "accepted")]
    assert news.stream_id == "b"
    Dialogue(side).play("end #1 @a / is IDLE @a / end #2 @b / is STEERING @b")
