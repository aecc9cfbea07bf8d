"""The server's side: `protocol.ServerProtocol` is its door."""
