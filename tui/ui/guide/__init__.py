"""The guided exercise: a panel over the prompt with one instruction at a time.

`lesson` knows the steps and what proves that one was done, `facts` reads that from the session,
`words` has the sentences, `panel` paints them, `guide` brings them together.
"""
