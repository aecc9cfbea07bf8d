"""The use cases: intents in, notices out; effects come in through ports."""
