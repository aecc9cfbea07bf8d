"""A model that runs on this machine, in a process of the bridge's: kind ``local``."""
