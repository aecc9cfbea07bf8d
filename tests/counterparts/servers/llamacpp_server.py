"""llama.cpp's own server, in this process: ``llamacpp_server.py FILE PORT CONTEXT``. Takes xllamacpp.

One slot and one thread; the model is called "tiny". It ends with its process.
"""

from __future__ import annotations

import signal
import sys

import xllamacpp

parameters = xllamacpp.CommonParams()
parameters.model.path = sys.argv[1]
parameters.model_alias = {"tiny"}
parameters.hostnames = ["127.0.0.1"]
parameters.port = int(sys.argv[2])
parameters.n_ctx = int(sys.argv[3])
parameters.n_parallel = 1
parameters.n_gpu_layers = 0
parameters.warmup = False
parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = 1
server = xllamacpp.Server(parameters)
signal.pause()
