"""Chat Completions, the language that nearly every server of models understands."""
