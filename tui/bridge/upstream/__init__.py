"""HTTP to the providers: the client, server-sent events, what refusals say."""
