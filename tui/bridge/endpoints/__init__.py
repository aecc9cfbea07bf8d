"""The kinds of endpoints: each asks a provider in its own language and tells a run of it."""
