"""What a client makes of servers that name lanes or not, answer late, twice, or under other ids."""

from __future__ import annotations

from tests.support.client_side import ClientSide, Dialogue
from tests.support.tables import each
from tui.core.wire.endpoint_facts import Capabilities

LANES = {"lanes": True}
STEERS = {"steer": {"m": True}}
RULES = {
    "without an echo two requests cannot be told apart": (
        LANES,
        "ask @a / ask @b / begin -> nothing / drops / knows no lanes",
    ),
    "the source of a fork waits until the fork works": (
        LANES,
        """stream @main / end @main / ask after @fork / sent create @fork #1 / ask after @main
        / sent nothing / begin #2 @fork / sent nothing / works #2 @fork / sent create @main #1""",
    ),
    "a late word about the response before does not free the source of a fork": (
        LANES,
        """stream @main / end @main / stream #0 @fork / end #0 @fork / ask after @fork / ask @main
        / sent create @fork #1 / works #0 @fork / sent nothing""",
    ),
    "a fork that is abandoned frees its source": (
        LANES,
        """stream @main / end @main / ask after @fork / sent create @fork #1 / ask @main
        / sent nothing / abandon @fork / sent create @main""",
    ),
    "a held create is abandoned without a trace": (
        {},
        """ask @a / ask @b / sent create @a / abandon @b / begin @a / sent nothing
        / ask @b / sent create @b""",
    ),
    "creates held behind a lane that is abandoned unproven go elsewhere": (
        {},
        "ask @a / ask @b / abandon @a / elsewhere @b",
    ),
    "held creates outlive the time limit": (
        {},
        "ask @a / ask @b / error 400 websocket_connection_limit_reached / elsewhere @b",
    ),
    "an event of a lane that was never used is nobody's": (
        LANES,
        """stream @a / delta @b -> nothing / begin #9 @b -> nothing / end #9 @b -> nothing
        / delta @a -> TextDelta""",
    ),
    "an end under an id never seen is the end of what goes silent": (
        {},
        "ask / begin / end #rewritten -> nothing / wait 10 -> Completed / is IDLE / drops",
    ),
    "or of what brings nothing": (
        {},
        "ask ahead / begin / end #rewritten -> Completed / is IDLE / knows prewarm",
    ),
    "an end under an unknown id ends nothing while an unwanted answer is expected": (
        STEERS,
        "stream / steer / wait 2 / accept a / end #orphan -> nothing / is STREAMING",
    ),
    "an unwanted answer that is over is known by its id": (
        STEERS,
        """stream / steer / end / wait 2 / ask after / accept a / begin #orphan -> nothing
        / begin #orphan -> nothing / end #orphan / begin #2 -> Created / end #orphan -> nothing
        / end #2 -> Completed""",
    ),
    "a text is used though its response ends under another id": (
        {},
        """stream / steer / accept a / cut steered #rewritten / is STEERING
        / begin #2 -> 1 used, Created""",
    ),
    "and comes back if no successor does": (
        {},
        "stream / steer / accept a / end #rewritten / wait 10 -> 1 returned",
    ),
    "a late answer is not the next text's, however late it comes": (
        STEERS,
        """stream / steer / wait 2 -> 1 returned / steer / accept a -> nothing
        / refuse too_many_pending_steers -> 2 returned / end / begin #2 -> nothing""",
    ),
    "a lane abandoned before its own response began waits for both": (
        STEERS,
        """stream / steer / wait 2 -> 1 returned / end / ask / accept a / abandon / is ABANDONED
        / begin #orphan -> nothing / end #orphan -> nothing / is ABANDONED
        / begin #2 -> nothing / end #2 -> nothing / is IDLE""",
    ),
    "a beginning said twice is told once": (
        {},
        "stream / begin -> nothing / is STREAMING / delta -> TextDelta",
    ),
    "a late acceptance at rest loses the lane to the unseen answer": (
        {},
        """stream / steer / end / wait 2 / accept a / is ABANDONED
        / refuse successor_creation_failed a -> nothing / is IDLE""",
    ),
    "an interrupt whose id never comes drops the socket and proves nothing": (
        {},
        "ask / stop / wait 0.99 / stays / wait 0.01 / drops / knows nothing of interrupt",
    ),
    "a failed prewarm is told and remembered": (
        {},
        "ask ahead / begin / fail -> Failed / knows no prewarm",
    ),
    "an abandoned neighbour keeps no socket": (
        {**LANES, "interrupt": {"m": False}},
        "stream @a / stream #2 @b / stop @a / stays / stop @b / drops",
    ),
    "a late error with the old lane's name does not end what runs on there": (
        LANES,
        """stream #3 @main / stream #4 @helper / stop @main / wait 1
        / unknown event @main -> nothing / is ABANDONED @main / end #3 @main -> nothing
        / is IDLE @main""",
    ),
    "each error about a steer is for one text, in order": (
        {**LANES, **STEERS},
        """stream @main / steer @main / wait 2 / steer @main / wait 0.1
        / unknown event -> nothing / unknown event -> 2 returned / delta @main -> TextDelta""",
    ),
    "a failure under a neighbour's old id ends the lane that it names": (
        LANES,
        "stream @b / end @b / ask @a / fail #1 @a / wait 10 -> Failed / is IDLE @a",
    ),
    "requests that cannot be told apart get connections of their own": (
        LANES,
        "ask @a / ask @b / error 400 invalid_prompt / stays / wait 10 / drops / knows no lanes",
    ),
}


@each("rule", RULES)
def test_what_the_client_makes_of_it(rule: str) -> None:
    known, script = RULES[rule]
    Dialogue(ClientSide(Capabilities(**known))).play(script)


@each("said", ["", "/ begin #2 @fork", "/ begin #2 @fork / queued #2 @fork"])
def test_the_source_of_a_fork_waits_for_a_few_seconds_only(said: str) -> None:
    Dialogue(ClientSide(Capabilities(**LANES))).play(
        f"""stream @main / end @main / ask after @fork / sent create @fork #1 / wait 60
        / ask after @main / sent nothing {said} / wait 2.99 / sent nothing / busy / wait 0.01
        / sent create @main #1 / rests"""
    )
