"""Pieces of streamed text, as frozen structs: the only events that come per token."""

from __future__ import annotations

import msgspec


class Delta(msgspec.Struct, frozen=True, gc=False, tag_field="type"):
    """Base of all pieces of streamed text; `gc=False`: it holds only strings and a number."""

    item_id: str = ""
    delta: str = ""
    stream_id: str | None = None
    output_index: int = 0


class TextDelta(Delta, frozen=True, gc=False, tag="response.output_text.delta"):
    """More of the assistant's message."""


class RefusalDelta(Delta, frozen=True, gc=False, tag="response.refusal.delta"):
    """More of a refusal, to be shown like a message."""


class ArgumentsDelta(Delta, frozen=True, gc=False, tag="response.function_call_arguments.delta"):
    """More of a function call's arguments: a piece of JSON text."""


class InputDelta(Delta, frozen=True, gc=False, tag="response.custom_tool_call_input.delta"):
    """More of a custom tool call's free-form input."""


class PatchDelta(
    Delta, frozen=True, gc=False, tag="response.apply_patch_call_operation_diff.delta"
):
    """More of the diff of a built-in apply_patch call."""


class ReasoningDelta(Delta, frozen=True, gc=False, tag="response.reasoning_text.delta"):
    """More reasoning; `summary` tells the summary from the reasoning itself."""

    summary: bool = False


class SummaryDelta(
    msgspec.Struct,
    frozen=True,
    gc=False,
    tag_field="type",
    tag="response.reasoning_summary_text.delta",
):
    """The wire's other form of `ReasoningDelta`; no `Delta`, so that nobody takes it for one."""

    item_id: str = ""
    delta: str = ""
    stream_id: str | None = None
    output_index: int = 0

    @property
    def told(self) -> ReasoningDelta:
        """As the rest of the house knows it."""
        return ReasoningDelta(self.item_id, self.delta, self.stream_id, self.output_index, True)


class ToolDelta(msgspec.Struct, frozen=True, gc=False, tag_field="type"):
    """Base of the pieces that a tool of the server's own streams: what they say is not read."""

    item_id: str = ""
    stream_id: str | None = None

    @property
    def kind(self) -> str:
        """The event's type on the wire."""
        return str(self.__struct_config__.tag)


class CodeDelta(ToolDelta, frozen=True, gc=False, tag="response.code_interpreter_call_code.delta"):
    """More of the code that the server is about to run."""


class McpDelta(ToolDelta, frozen=True, gc=False, tag="response.mcp_call_arguments.delta"):
    """More of the arguments of a call that the server makes."""


class OldMcpDelta(ToolDelta, frozen=True, gc=False, tag="response.mcp_call.arguments_delta"):
    """The same by its former name."""


class CommandDelta(ToolDelta, frozen=True, gc=False, tag="response.shell_call_command.delta"):
    """More of a command for the server's shell."""


class OutputDelta(ToolDelta, frozen=True, gc=False, tag="response.shell_call_output_content.delta"):
    """More of what a command of the server's shell prints."""


class AudioDelta(ToolDelta, frozen=True, gc=False, tag="response.audio.delta"):
    """More sound."""


class TranscriptDelta(ToolDelta, frozen=True, gc=False, tag="response.audio.transcript.delta"):
    """More of what the sound says."""


class PictureDelta(
    ToolDelta, frozen=True, gc=False, tag="response.image_generation_call.partial_image"
):
    """A picture so far, in up to megabytes."""


AnyToolDelta = (
    CodeDelta
    | McpDelta
    | OldMcpDelta
    | CommandDelta
    | OutputDelta
    | AudioDelta
    | TranscriptDelta
    | PictureDelta
)
AnyDelta = TextDelta | RefusalDelta | ArgumentsDelta | InputDelta | PatchDelta | ReasoningDelta
