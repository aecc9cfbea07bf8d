"""The conversation: streamed Markdown, hunk cards, the welcome."""
