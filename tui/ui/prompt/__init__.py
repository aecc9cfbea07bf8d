"""The prompt, its history, the queue and open questions."""
