"""duetto: a terminal pair-programmer that you can interrupt."""
