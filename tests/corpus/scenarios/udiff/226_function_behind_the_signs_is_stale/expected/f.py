def other():
    x = 2
