"""The pure core: no sockets, no clock, no files, no screen."""
