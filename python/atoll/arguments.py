"""What kernels are launched with, from what Python has."""

import ctypes
import struct

from . import _library

# Types as OpenCL's metadata and names in C++ spell them, and how struct packs them.
_FORMATS = {
    "char": "b", "uchar": "B", "short": "h", "ushort": "H", "int": "i", "uint": "I", "long": "q", "ulong": "Q",
    "half": "e", "float": "f", "double": "d", "bool": "?", "size_t": "Q",
    "signed char": "b", "unsigned char": "B", "unsigned short": "H", "unsigned int": "I", "unsigned long": "Q",
    "long long": "q", "unsigned long long": "Q", "_Float16": "e", "__half": "e"
}
_BY_SIZE = {int: {1: "b", 2: "h", 4: "i", 8: "q"}, float: {2: "e", 4: "f", 8: "d"}}


class LocalMemory:
    """So many bytes of LDS, for a parameter that is a pointer to it (OpenCL's `__local` pointers)."""

    def __init__(self, size):
        self.size = size


class Memory:
    """Memory of a GPU. NumPy arrays of Gpu.array() and Gpu.zeros() are views of it, and keep it alive."""

    def __init__(self, handle, size):
        self.handle = handle
        self.size = size
        # NumPy wants an address that is not null even where there is nothing.
        self.__array_interface__ = {"version": 3, "typestr": "|u1", "shape": (size,),
                                    "data": (_library.buffer_data(handle), False)}

    def __del__(self):
        _library.buffer_free(self.handle)


def is_array(value):
    """Whether it is an array of NumPy's, which need not be there."""
    return hasattr(value, "__array_interface__") and hasattr(value, "ctypes") and hasattr(value, "base")


def memory_of(array):
    """The Memory that an array is a view of, or None."""
    while is_array(array):
        array = array.base
    return array if isinstance(array, Memory) else None


def is_contiguous(array):
    return array.flags["C_CONTIGUOUS"] or array.flags["F_CONTIGUOUS"]


def _number(value, parameter):
    form = _FORMATS.get(parameter.type) or _BY_SIZE[type(value)].get(parameter.size)
    if form is None:
        raise TypeError(f"{parameter} has {parameter.size} bytes: say which they are, by a NumPy value or bytes")
    if isinstance(value, float) and form not in "efd":
        raise TypeError(f"{parameter} is an integer, {value!r} is not")
    try:
        if form not in "efd?" and value >= 0:  # 0xffffffff is an int, too, as in C
            form = form.upper()
        return struct.pack("<" + form, value)
    except (struct.error, OverflowError) as error:
        raise ValueError(f"{value!r} for {parameter}: {error}") from None


def bytes_of(value, parameter):
    """The bytes of a number, a structure or a pointer."""
    if value is None:
        return bytes(8)
    if isinstance(value, (bool, int)) and parameter.kind == "pointer":
        return struct.pack("<Q", value)
    if isinstance(value, bool):
        value = int(value)
    if isinstance(value, (int, float)) and type(value) in (int, float):
        return _number(value, parameter)
    if hasattr(value, "dtype") and getattr(value, "shape", None) == ():  # a number or a structure of NumPy's
        return value.tobytes()
    if isinstance(value, (bytes, bytearray, memoryview, ctypes.Structure, ctypes.Union, ctypes.Array, ctypes._SimpleCData)):
        return bytes(value)
    raise TypeError(f"{type(value).__name__} is nothing that {parameter} can be")
