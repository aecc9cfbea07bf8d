def other():
    x = 1
