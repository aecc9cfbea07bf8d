"""Names of efforts: what is near, and what a refusal says that a model takes."""

from __future__ import annotations

from tests.support.tables import each
from tui.core.wire.efforts import effort_refusal, efforts_named


@each("message, refused, named", [
    ("reasoning.effort Unsupported value: 'max' is not supported with the 'm' model."
     " Supported values are: 'low', 'medium', and 'high'.", "max", ("low", "medium", "high")),
    ("reasoning_effort must be one of `none` or `default`, or 'low'", "high", ("none", "low")),
    ("Invalid value for reasoning.effort: 'minimal'. Expected one of: none, low, high", "minimal",
     ("none", "low", "high")),
    ("reasoning effort xhigh is not supported by this model", "xhigh", ()),
    ("This model does not support reasoning.effort", "low", ()),
    ("Your prompt is too high for low traffic; supported: high", "max", ()),
])  # fmt: skip
def test_what_a_refusal_names_instead(message: str, refused: str, named: tuple[str, ...]) -> None:
    assert efforts_named(message, refused) == named


def test_a_level_that_a_model_lacks_is_refused_with_those_that_it_has() -> None:
    assert effort_refusal("max", "m", ("low", "high")) == "m has no effort max: it has low, high."
    assert effort_refusal("low", "m", ()) == "m has no levels of effort."
    unknown = "m has no level of effort that duetto knows: it has turbo."
    for effort in ("auto", "low", "turbo"):
        assert effort_refusal(effort, "m", ("turbo",)) == unknown
    assert effort_refusal("max", "m", None) == effort_refusal("auto", "m", ("high",)) == ""
    assert effort_refusal("low", "m", ("low", "high")) == ""
