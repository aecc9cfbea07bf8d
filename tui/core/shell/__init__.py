"""A model's command lines: what they would do, and how their output is kept."""
