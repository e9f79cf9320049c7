#!/usr/bin/env python3
"""A Python program that allocates by ctypes and does not free: the report names its own line, not the interpreter's."""

import ctypes
import sys

HIP = ctypes.CDLL("libamdhip64.so.5")


def allocate(size):
    memory = ctypes.c_void_p()
    if HIP.hipMalloc(ctypes.byref(memory), ctypes.c_size_t(size)) != 0:  # FINDING: leak not-freed  FRAME: allocated
        sys.exit("no memory")
    return memory


block = allocate(400)
if sys.argv[1:] == ["mended"] and HIP.hipFree(block) != 0:
    sys.exit("not freed")
