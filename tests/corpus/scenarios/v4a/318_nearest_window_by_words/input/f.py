def f():
    return compute_total(order)
