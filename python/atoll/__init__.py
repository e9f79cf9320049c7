"""A virtual AMD GPU, and tools for its code.

    >>> import atoll, numpy as np
    >>> gpu = atoll.Gpu("mi250x")
    >>> code = gpu.load("kernels.co")
    >>> x = np.arange(1000, dtype=np.float32)
    >>> gpu.launch(code, "scale", x, 2.5, 1000, grid=1000, block=256)
    >>> x[3]
    7.5
    >>> print(atoll.eval("v_perm_b32 v0, v1, v2, v3", gpu="gfx1100", v1=0x11223344, v2=0x55667788, v3=0x07060100))

All failures are atoll.Error; those about an argument are atoll.ArgumentError. NumPy is needed only for arrays in the GPU's
memory.
"""

from . import _library
from .arguments import LocalMemory
from .errors import ArgumentError, Error, Fault
from .gpu import Code, Event, Finding, Gpu, Kernel, LaunchResult, Parameter, Stream
from .tools import Evaluation, Instruction, Register, asm, decode, disasm, eval, gpus, inspect, link  # noqa: A004

__version__: str = _library.version().decode()
__all__ = [
    "ArgumentError", "Code", "Error", "Evaluation", "Event", "Fault", "Finding", "Gpu", "Instruction", "Kernel",
    "LaunchResult", "LocalMemory", "Parameter", "Register", "Stream", "asm", "decode", "disasm", "eval", "gpus", "inspect",
    "link"
]
