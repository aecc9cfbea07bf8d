"""The guided exercise: a panel over the prompt with one instruction at a time.

`lesson` knows the steps and what proves that one was done, `pages` has the sentences, `guide`
shows them over a workbench.
"""
