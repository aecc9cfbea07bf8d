from __future__ import annotations

import datetime
import subprocess
import sys
import tomllib
from pathlib import Path

import msgspec
import pytest

from tests.support.sources import ROOT
from tests.support.tables import each
from tui.bridge.endpoints.base import EndpointSpec, ModelFacts, Target
from tui.bridge.providers import provider_files
from tui.bridge.providers.provider_files import (
    near,
    of_url,
    provider,
    providers,
    readable,
    wrong_in,
)
from tui.core.wire.address import Address
from tui.errors import EndpointError, SettingsError

OURS = [
    "openai",
    "xai",
    "azure",
    "cerebras",
    "groq",
    "sambanova",
    "openrouter",
    "mistral",
    "gemini",
    "anthropic",
    "deepseek",
    "together",
    "fireworks",
    "ollama",
    "lmstudio",
    "llamacpp",
    "vllm",
    "sglang",
    "litellm",
    "local",
    "rehearsal",
]


def test_all_the_providers_are_there_and_each_file_holds() -> None:
    known = providers(None)
    assert set(OURS) <= set(known)
    for name in OURS:
        one = known[name]
        assert one.name == name
        assert [*wrong_in(msgspec.structs.replace(one, name=""))] == []
        assert one.title
        assert one.kind in {"openai-chat", "anthropic", "responses-ws", "local", "rehearsal"}
        assert one.kind in ("local", "rehearsal") or one.source.startswith("https://")


def test_each_fact_says_where_it_is_from_or_that_it_is_not_verified() -> None:
    # who read it may have been ahead of this machine's time zone
    latest = datetime.date.today() + datetime.timedelta(days=1)
    for one in providers(None).values():
        if one.kind == "rehearsal":
            continue
        told = [one, *one.models.values(), *one.sources.values()]
        for fact in told:
            assert fact.read is not None or not fact.verified, f"{one.name}: {fact}"
            assert not fact.verified or fact.source
            assert fact.read is None or fact.read <= latest


@each('name, model, successor', [
    ("xai", "grok-code-fast-1", "grok-4.3"),
    ("deepseek", "deepseek-chat", "deepseek-flash"),
    ("deepseek", "deepseek-reasoner", "deepseek-flash"),
    ("cerebras", "zai-glm-4.6", "gpt-oss-120b"),
    ("gemini", "gemini-3-pro", "gemini-3.1-pro-preview"),
    ("gemini", "gemini-3-flash", "gemini-3.8-flash"),
    ("openai", "gpt-5.3-codex-spark", ""),
])  # fmt: skip
def test_names_that_are_gone(name: str, model: str, successor: str) -> None:
    spec = provider(name, None).spec({})
    known = Target(name, spec, Address(spec.url)).facts(model)
    assert (known.state, known.successor) == ("gone", successor)


def test_what_is_known_of_models_today() -> None:
    def known(name: str, model: str) -> ModelFacts:
        spec = provider(name, None).spec({})
        return Target(name, spec, Address(spec.url)).facts(model)

    assert known("deepseek", "deepseek-flash").images is True
    assert known("openai", "gpt-6.1-sol").steers is True
    assert known("openai", "gpt-5.6-sol").steers is False
    assert known("openai", "o9").steers is None
    legacy = known("anthropic", "claude-opus-5")
    assert (legacy.state, legacy.successor) == ("legacy", "claude-opus-5-5")
    assert known("anthropic", "claude-opus-5-5").state == ""
    claude = known("openrouter", "anthropic/claude-opus-5.5").options
    assert claude["body"] == {"cache_control": {"type": "ephemeral"}}
    assert claude["forced_calls"] is False
    assert known("openrouter", "openai/gpt-oss-120b").options == {}


def test_an_endpoint_of_a_provider() -> None:
    spec = provider("cerebras", None).spec({})
    assert (spec.kind, spec.url) == ("openai-chat", "https://api.cerebras.ai/v1")
    assert (spec.provider, spec.key_env) == ("cerebras", "CEREBRAS_API_KEY")
    target = Target("fast", spec, Address(spec.url))
    known = target.facts("gpt-oss-120b")
    assert known.images is False
    # quota is reserved by what may be answered
    assert known.ask_output_tokens is not None
    assert known.ask_output_tokens <= 16_384
    assert target.facts("a model of tomorrow").ask_output_tokens == known.ask_output_tokens


def test_the_first_variable_that_is_set_has_the_key() -> None:
    gemini = provider("gemini", None)
    assert gemini.variable({}) == "GEMINI_API_KEY"
    assert gemini.variable({"GOOGLE_API_KEY": "k"}) == "GOOGLE_API_KEY"
    assert gemini.variable({"GOOGLE_API_KEY": "k", "GEMINI_API_KEY": " "}) == "GOOGLE_API_KEY"
    assert gemini.spec({"GOOGLE_API_KEY": "k"}).key_env == "GOOGLE_API_KEY"


def test_an_address_that_depends_on_a_variable() -> None:
    azure = provider("azure", None)
    said = {"AZURE_OPENAI_ENDPOINT": "https://res.openai.azure.com/"}
    assert azure.address(said) == "https://res.openai.azure.com/openai/v1"
    with pytest.raises(EndpointError, match="set AZURE_OPENAI_ENDPOINT, or write url under"):
        azure.address({})
    assert azure.spec({}, "https://other.openai.azure.com/openai/v1").key_header == "api-key"


@each(
    "url, name",
    [
        ("https://api.groq.com/openai/v1", "groq"),
        ("https://API.GROQ.COM/v1/chat/completions", "groq"),
        ("https://res.openai.azure.com/openai/v1", "azure"),
        ("wss://api.openai.com/v1/responses", "openai"),
        ("http://localhost:11434/v1", "ollama"),
        ("http://[::1]:1234/v1", "lmstudio"),
        ("http://10.0.0.7:11434/v1", None),
        ("https://groq.com.evil.example/v1", None),
        ("https://evil.example/api.groq.com", None),
        ("https://[half", None),
    ],
)
def test_whose_address_it_is(url: str, name: str | None) -> None:
    found = of_url(providers(None), url)
    assert (found.name if found else None) == name


def test_a_users_file_overrides_key_by_key(tmp_path: Path) -> None:
    (tmp_path / "cerebras.toml").write_text(
        'key_env = "MY_KEY"\n[models."gpt-oss*"]\ncontext_window = 65536\n[headers]\nX-Team = "a"\n'
    )
    one = providers(tmp_path)["cerebras"]
    assert (one.key_env, one.url) == ("MY_KEY", "https://api.cerebras.ai/v1")
    assert one.models["gpt-oss*"].context_window == 65536
    assert one.models["gpt-oss*"].images is False
    assert one.headers == {"X-Team": "a"}
    assert one.limits.ask_output_tokens == provider("cerebras", None).limits.ask_output_tokens


def test_a_provider_of_the_users_own(tmp_path: Path) -> None:
    (tmp_path / "house.toml").write_text(
        'kind = "openai-chat"\nurl = "https://llm.house.example/v1"\nkey_env = "HOUSE_KEY"\n'
        '[models."qwen*"]\nfallbacks = ["groq/qwen-3"]\n'
    )
    one = providers(tmp_path)["house"]
    assert one.title == "house"
    assert one.spec({}).known_models["qwen*"].fallbacks == ("groq/qwen-3",)


WRONG = [
    ("kind = 3", "line 1: kind: expected a string, got a whole number"),
    ("a = 1", "line 1: unknown key 'a'; remove it"),
    ('\nkeyenv = "X"', "line 2: unknown key 'keyenv'; did you mean 'key_env'?"),
    ('url = "ftp://x"', "line 1: url is not an address; write one like https://HOST/v1"),
    ('key_env = "sk-12345"', "line 1: key_env is not the name of an environment variable"),
    ('key_env_also = ["a b"]', "line 1: key_env_also is not the name of an environment variable"),
    ('key_header = "a b"', "line 1: key_header is not the name of a header"),
    ('[headers]\nX-A = "a\\nb"', "line 2: headers.X-A holds a line break"),
    ('[models."m.1"]\nimages = 3', "line 2: models.m.1.images: expected true or false"),
    (
        "[models.m]\ncontext_window = 0",
        "line 2: models.m.context_window: expected a whole number >= 1",
    ),
    ("[models.m]\nwindow = 1", "line 2: unknown key 'models.m.window'"),
    ('[models.m]\nfallbacks = ["x"]', "line 2: models.m.fallbacks names 'x'"),
    ('model_route = "a/b"', "line 1: model_route has to hold {model} once"),
    ('discovery = "x"', "one of auto, gemini, litellm, llamacpp, lmstudio, none, ollama"),
    ("port = 0", "line 1: port: expected a whole number >= 1"),
    ('name = "x"', "line 1: name is not said here"),
    ("[options]\nmax_token = 'x'", "line 2: options.max_token is not an option of openai-chat"),
    ("[options]\nmax_token = 'x'", "did you mean 'max_tokens'?"),
    ("[options]\nmax_tokens = 'x'", "line 2: options.max_tokens is wrong: invalid enum value 'x'"),
    ("[options]\ntier = 3", "line 2: options.tier is wrong: expected true or false, got a"),
    ("kind = 'anthropic'\n[options]\nfats = true", "line 3: options.fats is not an option of anth"),
    ("kind = 'anthropic'\n[options]\nfast = 3", "line 3: options.fast is wrong: expected true or"),
    ("kind = 'responses-ws'\n[options]\nomit = 'x'", "options.omit is wrong: expected a list"),
    (
        "[models.m]\noptions = { effort = 3 }",
        "line 2: models.m.options.effort is wrong: expected a",
    ),
    (
        '[models.m]\noptions = { efort = "x" }',
        "models.m.options.efort is not an option of openai-chat",
    ),
    ('[models.m]\nstate = "dead"', "models.m.state: invalid enum value 'dead'; one of"),
    ('[models.m]\nsuccessor = "n"', "line 2: models.m.successor is for what goes: add state ="),
    ("read = 'today'", "line 1: read: is not a date; write one like 2026-11-23"),
    ("read = 2026", "line 1: read: expected a date"),
    ("verified = 1", "line 1: verified: expected true or false"),
    ("same_tiers = ['fast']", "same_tiers"),
    ('[sources."options.nix"]\nsource = "x"', "names a key that this file does not say; remove it"),
    ("[sources.tier]\nread = 2026-11-23", "lacks 'source'; add it"),
    ("schema = 2", "line 1: schema 2 is newer than this duetto"),
    ("url =", "line 1: not valid TOML"),
]


@each("text, says", WRONG)
def test_a_wrong_file_is_told_in_one_sentence(tmp_path: Path, text: str, says: str) -> None:
    file = tmp_path / "groq.toml"
    file.write_text(text)
    with pytest.raises(SettingsError) as caught:
        providers(tmp_path)
    words = str(caught.value)
    assert words.startswith(str(file))
    assert says in words
    assert "\n" not in words
    assert "sk-12345" not in words


def test_one_wrong_file_does_not_hide_the_others(tmp_path: Path) -> None:
    (tmp_path / "groq.toml").write_text("titel = 'x'")
    (tmp_path / "mine.toml").write_text('kind = "openai-chat"\nurl = "https://h/v1"\n')
    assert {*providers(None), "mine"} - {"groq"} == set(readable(tmp_path))


@each("name", ["Mine", "a b", ".hidden"])
def test_a_name_that_no_provider_can_have(tmp_path: Path, name: str) -> None:
    (tmp_path / f"{name}.toml").write_text('kind = "openai-chat"\nurl = "https://x.example"\n')
    with pytest.raises(SettingsError, match="cannot be a provider's name"):
        provider(name, tmp_path)


def test_bytes_that_are_no_text_and_a_folder_that_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "groq.toml").write_bytes(b"\n\xff")
    with pytest.raises(SettingsError, match="line 2: not UTF-8"):
        providers(tmp_path)
    assert set(OURS) <= set(providers(tmp_path / "nowhere"))


def test_a_name_that_is_not_known_is_answered_with_the_nearest() -> None:
    with pytest.raises(EndpointError, match=r"no provider 'grok': did you mean groq\?"):
        provider("grok", None)
    assert near("zzz", ["a", "b"]) == ": there are a, b."
    with pytest.raises(EndpointError):
        provider("../../etc/passwd", None)


def test_what_is_known_of_a_model_comes_from_three_places() -> None:
    spec = EndpointSpec(
        "openai-chat",
        "https://x.example/v1",
        models={"m-1": ModelFacts(context_window=1)},
        known_models={
            "*": ModelFacts(ask_output_tokens=7, images=True, context_window=9),
            "m*": ModelFacts(images=False, efforts=("low",), max_output_tokens=5),
        },
    )
    target = Target("x", spec, Address(spec.url))
    target.discovered["m-1"] = ModelFacts(context_window=2, efforts=())
    known = target.facts("m-1")
    assert known.context_window == 1  # the user's word
    assert known.efforts == ()  # the server's
    assert (known.images, known.max_output_tokens) == (False, 5)  # the most exact pattern's
    assert known.ask_output_tokens == 7
    assert target.facts("other") == ModelFacts(ask_output_tokens=7, images=True, context_window=9)


def test_the_name_that_a_model_goes_by_at_its_provider() -> None:
    spec = provider("fireworks", None).spec({})
    target = Target("x", spec, Address(spec.url))
    assert target.route("glm-5") == "accounts/fireworks/models/glm-5"
    assert target.route("accounts/me/models/own") == "accounts/me/models/own"
    own = EndpointSpec("k", "https://x", models={"short": ModelFacts(route="vendor/long-name")})
    assert Target("x", own, Address("https://x")).route("short") == "vendor/long-name"


def test_a_plug_ins_options_are_its_own_business(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(
        'kind = "carrier-pigeon"\nurl = "https://x.example"\n[options]\nbirds = 2\n'
    )
    assert provider("mine", tmp_path).spec({}).options == {"birds": 2}


def test_the_document_names_every_key_and_every_provider() -> None:
    from tui.bridge.endpoints.anthropic.request import AnthropicOptions
    from tui.bridge.endpoints.openai_chat.dialect import ChatOptions
    from tui.bridge.endpoints.openai_responses.request import ResponsesOptions
    from tui.bridge.providers.provider_files import ModelEntry, ProviderFacts

    text = (ROOT / "docs" / "providers.md").read_text("utf-8")
    keys = {*ProviderFacts.__struct_fields__, *ModelEntry.__struct_fields__} - {"name"}
    keys |= {*AnthropicOptions.__struct_fields__, *ResponsesOptions.__struct_fields__}
    keys |= set(ChatOptions.__struct_fields__)
    assert [name for name in sorted(keys) if f"`{name}`" not in text] == []
    assert [one.title for one in providers(None).values() if one.title not in text] == []


def test_our_files_stand_beside_their_reader() -> None:
    folder = Path(provider_files.__file__).parent
    assert {file.stem for file in folder.glob("*.toml")} == set(OURS)
    for file in folder.glob("*.toml"):
        assert tomllib.loads(file.read_text("utf-8"))


@each(
    "provider, model, small, large",
    [
        ("anthropic", "claude-opus-5-5", 1229, 4784),
        ("anthropic", "claude-opus-4-8", 1229, 4784),
        ("anthropic", "claude-sonnet-4-5", 1229, 1600),
        ("openai", "gpt-6.1-sol", 920, 1536),
        ("openai", "gpt-4o", 1105, 765),
        ("openai", "gpt-5-mini", 1491, 2489),
        ("gemini", "gemini-3.8-flash", 1120, 1120),
        ("mistral", "mistral-large", 1196, 2310),
        ("xai", "grok-4.3", 1792, 1792),
    ],
)
def test_an_image_costs_what_its_provider_says(
    provider: str, model: str, small: int, large: int
) -> None:
    spec = provider_files.provider(provider, None).spec({})
    rules = Target(provider, spec, Address(spec.url)).facts(model).image_rules
    assert rules is not None
    assert (rules.tokens(1280, 720), rules.tokens(4000, 3000)) == (small, large)


def test_several_threads_may_be_the_first_to_read_a_provider() -> None:
    """Two prices that are looked up at once did: the process ended by a signal."""
    code = (
        "import sys, threading\nsys.setswitchinterval(1e-6)\n"
        "from tui.bridge.providers import provider_files\n"
        "together = threading.Barrier(8)\n"
        "def run():\n    together.wait()\n    assert provider_files.readable(None)\n"
        "threads = [threading.Thread(target=run) for _ in range(8)]\n"
        "[one.start() for one in threads]\n[one.join() for one in threads]\n"
    )
    for _ in range(3):
        subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
