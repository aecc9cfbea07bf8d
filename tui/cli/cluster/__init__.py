"""Commands on the machines of a Dask cluster: the process that asks it, and what runs there."""
