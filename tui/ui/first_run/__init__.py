"""The very first start: what was found on this machine, and three ways to begin."""
