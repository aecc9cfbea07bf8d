"""Answers as the real servers of Chat Completions give them."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.support.chat_answers import call, chunk, counted, told
from tests.support.endpoint_kinds import Stand, failure, standing, text_of
from tests.support.endpoint_servers import CUT, Mark, Plan, Script, sse
from tests.support.endpoint_servers_chat import Chat
from tests.support.tables import each
from tui.bridge.endpoints.openai_chat.stream import ThinkTagParser

DONE = b"[DONE]"
READ = {"type": "function", "name": "read", "parameters": {"type": "object", "properties": {}}}
PATCH = {"type": "custom", "name": "apply_patch"}
TOOLS = [READ, PATCH]
TEXT = chunk(content="Hello")


def test_a_server_that_does_not_close_is_not_waited_for() -> None:
    answer = told(TEXT, chunk("stop"), counted(), chunk(content="never heard"))
    assert answer.texts() == [("message", "Hello")]


@each('thoughts', [
        [chunk(reasoning_content="so"), chunk(reasoning_content=None, content="Hello")],
        [chunk(reasoning="so"), chunk(reasoning=None, content="Hello")],
        [chunk(reasoning="so", reasoning_content="so"), TEXT],
        [chunk(thinking="so"), TEXT],
        [chunk(reasoning_text="so", reasoning={}), TEXT],
        [chunk(content=[{"type": "thinking", "thinking": [{"type": "text", "text": "so"}]}]), TEXT],
        [chunk(content=[{"thinking": "so", "type": "thinking"}, {"text": "Hello"}])],
        [chunk(content="<thi"), chunk(content="nk>\ns"), chunk(content="o\n</think>\n\nHello")],
        [chunk(content="<thought>so</thought>"), TEXT],
        [chunk(reasoning_details=[{"type": "reasoning.text", "text": "so", "index": 0}]), TEXT],
    ])  # fmt: skip
def test_thoughts_in_all_forms(thoughts: list[dict[str, Any]]) -> None:
    answer = told(*thoughts, chunk("stop"), DONE)
    assert answer.texts() == [("reasoning", "so"), ("message", "Hello")]


@each("index", [0, 1, "0"])
def test_the_choice_that_comes_first_is_the_answer(index: int | str) -> None:
    def chosen(told: dict[str, Any], at: object) -> dict[str, Any]:
        return {**told, "choices": [{**told["choices"][0], "index": at}]}

    begun, ended = chosen(chunk(content="Hel"), index), chosen(chunk("stop"), index)
    other = chosen(chunk(content="Another"), 2)
    unnamed = {**TEXT, "choices": [{"delta": {"content": "lo"}}]}
    answer = told(begun, other, unnamed, ended, DONE)
    assert answer.texts() == [("message", "Hello")]


def test_a_content_that_is_one_part_is_read() -> None:
    answer = told(chunk(content={"type": "text", "text": "Hello"}), chunk("stop"), DONE)
    assert answer.texts() == [("message", "Hello")]


def test_a_byte_that_is_no_utf8_is_one_sign_of_the_answer() -> None:
    broken = sse(TEXT).removeprefix(b"data: ").replace(b"Hello", b"Hel\xfflo")
    answer = told(broken, chunk("stop"), DONE)
    assert answer.texts() == [("message", "Hel\ufffdlo")]


def test_tags_are_text_where_they_are_not_at_the_beginning() -> None:
    answer = told(TEXT, chunk(content=" <think>x</think>"), chunk("stop"))
    assert answer.texts() == [("message", "Hello <think>x</think>")]
    answer = told(chunk(content="<think>x"), chunk("stop"), options={"think_tags": False})
    assert answer.texts() == [("message", "<think>x")]


def test_blank_text_before_calls_is_no_message() -> None:
    answer = told(
        chunk(content="\n\n"), call(0, "read", "{}", id="c1"), chunk("tool_calls"), tools=TOOLS
    )
    assert answer.texts() == [("function_call", "{}")]


@each('usage, expected', [
        ({"x_groq": {"usage": {"prompt_tokens": 9, "completion_tokens": 4}}}, (9, 4, 0, 0)),
        ({"usage": {"prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 20,
                    "completion_tokens_details": {"reasoning_tokens": 7}}}, (9, 11, 0, 7)),
        ({"usage": {"prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 20}},
         (9, 11, 0, 7)),
        ({"usage": {"input_tokens": 9, "output_tokens": 4, "reasoning_tokens": 3,
                    "input_tokens_details": {"cached_tokens": 5}}}, (9, 4, 5, 3)),
        ({"usage": {"prompt_tokens": 9, "total_tokens": 9, "num_cached_tokens": 2}}, (9, 0, 2, 0)),
        ({"choices": [{"usage": {"prompt_tokens": 9, "completion_tokens": 4}}]}, (9, 4, 0, 0)),
        ({"usage": {"prompt_tokens": True, "completion_tokens": -1},
          "x_groq": {"usage": {"prompt_tokens": 1e15, "completion_tokens": 4.0}}}, (0, 4, 0, 0)),
        ({"usage": {"prompt_tokens": 9, "completion_tokens": 4, "prompt_cache_hit_tokens": 8}},
         (9, 4, 8, 0)),
        ({"timings": {"prompt_n": 3, "cache_n": 6, "predicted_n": 4}}, (9, 4, 6, 0)),
    ])  # fmt: skip
def test_counts(usage: dict[str, Any], expected: tuple[int, ...]) -> None:
    answer = told(TEXT, {**chunk("stop"), **usage}, DONE)
    told_usage = answer.last["usage"]
    assert "estimated" not in told_usage
    assert expected == (
        told_usage["input_tokens"],
        told_usage["output_tokens"],
        told_usage["input_tokens_details"]["cached_tokens"],
        told_usage["output_tokens_details"]["reasoning_tokens"],
    )


@each(
    "told_of_it",
    [
        {"prompt_tokens_details": {"cached_tokens": 1000, "cache_write_tokens": 150}},
        {"prompt_tokens_details": {"cached_tokens": 1000, "cache_creation_tokens": 150}},
        {"cache_read_input_tokens": 1000, "cache_creation_input_tokens": 150},
    ],
)
def test_what_is_written_into_a_cache_is_counted(told_of_it: dict[str, Any]) -> None:
    counts = {"prompt_tokens": 1200, "completion_tokens": 5, **told_of_it}
    answer = told(TEXT, {**chunk("stop"), "usage": counts}, DONE)
    details = answer.last["usage"]["input_tokens_details"]
    assert details == {"cached_tokens": 1000, "cache_write_tokens": 150}


def test_tier_and_provider_are_told() -> None:
    begun = {**TEXT, "service_tier": "priority", "provider": "Cerebras"}
    answer = told(begun, chunk("stop"), DONE)
    assert answer.last["service_tier"] == "priority"
    assert answer.last["metadata"] == {"duetto_provider": "Cerebras"}


class Raw(Script):
    """An answer, byte by byte."""

    def __init__(self, *parts: bytes | Mark) -> None:
        super().__init__()
        object.__setattr__(self, "parts", list(parts))


class Bytes(Chat):
    """Says the bytes of a `Raw` as they are."""

    def plan(self, script: Script) -> Plan:
        return list(script.parts) if isinstance(script, Raw) else super().plan(script)


async def said(stand: Stand, *parts: bytes | Mark) -> list[dict[str, Any]]:
    stand.server.dialect = Bytes()
    return await stand.answered(Raw(*parts))


@each(
    "body",
    [
        b'{"error": {"message": "No quota.", "code": 429}}',
        b'\r\n[{"error": {"message": "No quota.", "code": 429}}]\r\n',
        b'error: {"message": "No quota.", "code": 429}\n\n',
        b'event: error\ndata: {"message": "No quota.", "code": 429}\n\n',
        b"event: error\ndata: No quota.\n\n",
        b'data: data: {"error": {"message": "No quota."}}\n\n',
    ],
)
async def test_an_error_in_place_of_events(body: bytes) -> None:
    async with standing("openai-chat") as stand:
        events = await said(stand, body)
    assert "No quota." in failure(events)[1]


@each("begun", [b"", sse(TEXT)])
@each(
    "words",
    [
        b'data: {"error": {"message": "CUDA out of memory"}}\n\n',
        b'data: {"error": "CUDA out of memory"}\n\n',
        b"data: [ERROR] CUDA out of memory\n\n",
        b"data: CUDA out of memory",
        b"CUDA out of memory",
        b"Internal Server Error: CUDA out of memory\r\n\r\n",
        b"<html>\n<head><title>\nCUDA out of memory</title>\n</head></html>",
        b"error: CUDA out of memory\n",
    ],
)
async def test_an_error_that_comes_as_text(begun: bytes, words: bytes) -> None:
    async with standing("openai-chat") as stand:
        events = await said(stand, b": one\n\n" + begun, words)
    assert "CUDA out of memory" in failure(events)[1]


async def test_an_error_as_text_is_heard_though_the_connection_breaks() -> None:
    async with standing("openai-chat") as stand:
        events = await said(stand, sse(TEXT), b"CUDA out of memory", CUT)
    assert "CUDA out of memory" in failure(events)[1]


async def test_a_page_in_place_of_an_answer_is_named() -> None:
    async with standing("openai-chat") as stand:
        events = await said(
            stand, b"<!DOCTYPE html><html><title>Sign in to the wifi</title></html>"
        )
    assert 'answered with a web page ("Sign in to the wifi"): is' in failure(events)[1]


async def test_text_behind_an_answer_that_is_whole_says_nothing() -> None:
    async with standing("openai-chat") as stand:
        events = await said(stand, sse(TEXT), sse(chunk("stop")), b"Bad gateway\n")
    assert text_of(events) == "Hello"
    assert events[-1]["type"] == "response.completed"


async def test_chunks_without_an_empty_line_between_them() -> None:
    chunks = [chunk(content="Hel"), chunk(content="lo"), chunk("stop")]
    lines = b"".join(sse(one).strip() + b"\n" for one in chunks)
    async with standing("openai-chat") as stand:
        events = await said(stand, lines + b"data: [DONE]\n")
    assert text_of(events) == "Hello"


def split(*pieces: str, begun: bool = False) -> tuple[str, str]:
    tags = ThinkTagParser(begun=begun)
    told = [part for piece in pieces for part in tags.feed(piece)] + tags.end()
    thought = "".join(text for is_thought, text in told if is_thought)
    return thought, "".join(text for is_thought, text in told if not is_thought)


def cut(text: str, places: list[int]) -> list[str]:
    at = sorted({place % (len(text) + 1) for place in places})
    return [text[start:end] for start, end in zip([0, *at], [*at, len(text)], strict=True)]


WORDS = st.text(alphabet="ab </>thinkoug\n", max_size=30)


@given(thought=WORDS, text=WORDS, places=st.lists(st.integers(0, 200)), begun=st.booleans())
def test_cut_anywhere_it_says_the_same(
    thought: str, text: str, places: list[int], begun: bool
) -> None:
    whole = f"{'' if begun else '<think>'}{thought}</think>{text}"
    told_thought, told_text = split(*cut(whole, places), begun=begun)
    known = split(whole, begun=begun)
    assert (told_thought.strip(), told_text) == (known[0].strip(), known[1])
    if not any(tag in thought for tag in ("</think>", "</thinking>", "</thought>")):
        assert (told_thought.strip(), told_text.strip()) == (thought.strip(), text.strip())
