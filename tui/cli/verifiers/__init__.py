"""What can judge a project: found by the rules of ``verifiers.toml``, run on a part, and read."""
