def g():
    a()
    b()
