"""The client's side: `protocol.ClientProtocol` is its door."""
