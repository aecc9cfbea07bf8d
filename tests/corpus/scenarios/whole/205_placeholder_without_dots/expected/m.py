def f0(): pass
def f1(): pass
def f2(): pass
