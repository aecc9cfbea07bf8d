"""duetto as lines of text: nothing is drawn over, everything is said in words."""
