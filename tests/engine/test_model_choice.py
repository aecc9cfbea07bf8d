"""Another model while the session runs: which one is meant, and what becomes of what streams."""

from __future__ import annotations

from tests.support.fakes import World, settle
from tests.support.stepped_rehearsal import SteppedRehearsal
from tests.support.tables import case
from tests.support.turns import begun
from tui.engine import intents
from tui.engine.intents import Role
from tui.engine.model_choice import find_offer, offer_words
from tui.engine.ports import ModelOffer, ModelOffers, RoleSpec
from tui.errors import EndpointError

GROQ = ModelOffer("groq", "gpt-oss-120b", 131072, (0.15, 0.6), 950.0, 0.084)
OTHER = ModelOffer("openrouter", "gpt-oss-120b")
QWEN = ModelOffer("groq", "qwen-3-32b")
KNOWN = ModelOffers((GROQ, OTHER, QWEN), {"azure": "It gives no list."})


def test_what_is_typed_means_a_model_or_a_sentence() -> None:
    for name, here, meant in (
        ("qwen-3-32b", "openrouter", QWEN),
        ("QWEN-3-32B", "groq", QWEN),
        ("gpt-oss-120b", "groq", GROQ),
        ("gpt-oss-120b", "openrouter", OTHER),
        ("openrouter/gpt-oss-120b", "groq", OTHER),
        ("azure/my-deployment", "groq", ModelOffer("azure", "my-deployment")),
        ("gpt-oss-120b", "ollama", "groq/gpt-oss-120b or openrouter/gpt-oss-120b"),
        ("qwen", "groq", "Did you mean qwen-3-32b?"),
        ("gpt-os-120b", "groq", "Did you mean gpt-oss-120b"),
        ("zzz", "groq", "/model lists all"),
    ):
        with case(name, here):
            found = find_offer(name, KNOWN, here)
            assert found == meant if isinstance(meant, ModelOffer) else meant in str(found)


def test_only_what_is_known_is_said_of_a_model() -> None:
    assert offer_words(GROQ) == "128k · $0.15 / $0.6 · 950 tok/s · ttft 84 ms"
    assert offer_words(OTHER) == ""
    assert offer_words(ModelOffer("o", "m", 1_000_000, (0.0, 0.0))) == "1M · free"


class Catalogue:
    """Two endpoints, one of them without a key."""

    def __init__(self) -> None:
        self.speeds: list[tuple[str, str]] = []

    async def offers(self) -> ModelOffers:
        return KNOWN

    async def spec(self, role: Role, endpoint: str, model: str) -> RoleSpec:
        if endpoint == "openrouter":
            raise EndpointError("no key for openrouter.ai")
        return RoleSpec(role, model, endpoint)

    async def learnt_window(self, endpoint: str, model: str) -> int | None:
        return None

    def learn_window(self, endpoint: str, model: str, tokens: int) -> None:
        """What is here is not shown."""

    def measured(self, endpoint: str, model: str, tokens_s: float, ttft_s: float) -> None:
        self.speeds.append((endpoint, model))


def world() -> World:
    """A session whose models can be changed."""
    made = World()
    catalogue = Catalogue()
    made.ports.catalogue = lambda: catalogue
    return made


async def test_a_model_that_was_chosen_answers_the_next_prompt() -> None:
    place = world()
    place.session.submit(intents.ChooseModel("qwen-3-32b"))
    await settle()
    assert place.session.status.models["fast"] == "qwen-3-32b"
    assert place.session.status.endpoint == "groq"
    assert place.wires["groq"].dials == 1, "it is dialled before the first prompt"
    place.session.submit(intents.Prompt("hello"))
    assert (await place.wires["groq"].request(1))["model"] == "qwen-3-32b"


async def test_the_other_role_changes_beside_what_streams() -> None:
    place = world()
    await begun(place, "sort it")
    place.session.submit(intents.UseModel("deep", "groq", "qwen-3-32b"))
    await settle()
    assert place.wire.interrupts == 0
    assert place.session.status.models["deep"] == "qwen-3-32b"


async def test_what_cannot_be_asked_changes_nothing_and_is_said() -> None:
    place = world()
    for intent, says in (
        (intents.UseModel("fast", "openrouter", "m"), "no key for openrouter.ai"),
        (intents.ChooseModel("qwen"), "Did you mean qwen-3-32b?"),
    ):
        place.session.submit(intent)
        await settle()
        troubles = place.session.drain().troubles
        assert any(says in f"{one.what} {one.why}" for one in troubles)
        assert place.session.status.models["fast"] == "quick-1"


async def test_the_speed_of_a_turn_is_kept_unless_it_was_slowed_down() -> None:
    place = world()
    assert place.ports.catalogue is not None
    catalogue = place.ports.catalogue()
    assert isinstance(catalogue, Catalogue)
    for throttle, kept in ((None, 1), (50.0, 1)):
        place.session.submit(intents.Throttle(throttle))
        place.session.submit(intents.Prompt("go"))
        await settle()
        model = SteppedRehearsal(place.wire)
        key = model.open_text()
        model.say(key, "word " * 40)
        place.clock.advance(1.0)
        model.say(key, "word " * 40)
        model.complete(100)
        await settle()
        assert len(catalogue.speeds) == kept, throttle
