"""Running commands: the runner, what confines them, and what ends them with duetto."""
