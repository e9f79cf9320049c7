"""Turns Python values into kernel arguments, and refuses those of another type than the kernel's parameter."""

from __future__ import annotations

import ctypes
import operator
import struct
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Tuple

from . import _library
from .errors import ArgumentError

if TYPE_CHECKING:
    from .gpu import Gpu, Kernel, Parameter

# The library's element types: NumPy's name, and the format of module struct.
_ELEMENTS: Dict[str, Tuple[str, str]] = {
    "i8": ("int8", "b"), "u8": ("uint8", "B"), "i16": ("int16", "h"), "u16": ("uint16", "H"), "i32": ("int32", "i"),
    "u32": ("uint32", "I"), "i64": ("int64", "q"), "u64": ("uint64", "Q"), "f16": ("float16", "e"),
    "f32": ("float32", "f"), "f64": ("float64", "d")
}
# Formats of numbers without a known type, by their size.
_BY_SIZE: Dict[type, Dict[int, str]] = {int: {1: "b", 2: "h", 4: "i", 8: "q"}, float: {2: "e", 4: "f", 8: "d"}}


class LocalMemory:
    """A number of bytes of LDS, for a parameter that points to it (OpenCL's `__local` pointers)."""

    def __init__(self, size: int) -> None:
        self.size = integer(size, "LocalMemory", 0, 0xFFFFFFFF)

    def __repr__(self) -> str:
        return f"atoll.LocalMemory({self.size})"


class Memory:
    """Memory of a GPU. NumPy arrays of Gpu.array() and Gpu.zeros() are views of it, and keep it alive."""

    def __init__(self, handle: ctypes.c_void_p, size: int) -> None:
        self.handle = handle
        self.size = size
        # NumPy wants an address that is not null even for an empty array.
        self.__array_interface__ = {"version": 3, "typestr": "|u1", "shape": (size,),
                                    "data": (_library.buffer_data(handle), False)}

    def __del__(self) -> None:
        _library.buffer_free(self.handle)


def integer(value: Any, what: str, low: int, high: int) -> int:
    """Returns an integer of Python or NumPy that lies in this range."""
    try:
        number = operator.index(value)
    except TypeError:
        raise ArgumentError(f"{what} must be an integer, not {_article(value)}") from None
    if not low <= number <= high:
        raise ArgumentError(f"{what} {number} is out of range: the least is {low}, the most {high}")
    return number


def text(value: Any, what: str) -> bytes:
    """Returns a string as the C interface takes it."""
    if not isinstance(value, str):
        raise ArgumentError(f"{what} must be a string, not {_article(value)}")
    if "\0" in value:
        raise ArgumentError(f"{what} contains a null character")
    return value.encode(errors="surrogateescape")


def _article(value: Any) -> str:
    """Returns "an int", "a numpy.float64", "an array.array", "None"."""
    if value is None:
        return "None"
    kind = type(value)
    name = kind.__qualname__ if kind.__module__ in ("builtins", "ctypes", "__main__") else f"{kind.__module__}.{kind.__qualname__}"
    return ("an " if name[0] in "aeiouAEIOU" else "a ") + name


def is_array(value: Any) -> bool:
    """Whether a value is a NumPy array. NumPy need not be installed."""
    return hasattr(value, "__array_interface__") and hasattr(value, "ctypes") and hasattr(value, "base")


def owner_of(value: Any) -> Any:
    """Returns the object whose GPU memory an array or a memoryview shows, or None."""
    while is_array(value):
        value = value.base
    if isinstance(value, memoryview):
        value = value.obj
    return value if isinstance(value, Memory) or hasattr(value, "_atoll_code") else None


def _is_contiguous(array: Any) -> bool:
    return array.flags["C_CONTIGUOUS"] or array.flags["F_CONTIGUOUS"]


def _is_floating(element: str) -> bool:
    return element.startswith("f")


def _size(element: str) -> int:
    return int(element[1:]) // 8


def _pairs(parameter: Parameter) -> bool:
    """Whether the parameter points to vectors of two numbers, which a complex number is laid out as."""
    pointee = parameter.type.split("*")[0].replace("const", "").strip()
    return pointee.endswith("2") and pointee[:-1].isalpha() or pointee.replace(" ", "").endswith(",2u>")


def _same_numbers(kind: str, size: int, parameter: Parameter) -> bool:
    """Whether numbers of NumPy's kind ("f", "i", "u", "b", "c") and this size are those of the parameter."""
    element = parameter.element
    if kind == "c":
        return _is_floating(element) and size == 2 * _size(element) and _pairs(parameter)
    return (kind == "f") == _is_floating(element) and kind in "fiub" and size == _size(element)


def _check_dtype(dtype: Any, parameter: Parameter) -> None:
    """Refuses an array whose elements are not what the parameter points to."""
    numpy_name = _ELEMENTS[parameter.element][0] if parameter.element else ""
    if dtype.hasobject:
        raise ArgumentError(f"cannot pass an array of Python objects for {parameter}")
    is_raw = parameter.type.split("*")[0].replace("const", "").strip() == "void"
    if not dtype.isnative and not is_raw:
        raise ArgumentError(f"cannot pass a big-endian {dtype.name} array for {parameter}; "
                            f"use array.astype(array.dtype.newbyteorder('<'))")
    if parameter.element and not _same_numbers(dtype.kind, dtype.itemsize, parameter):
        name = "structured" if dtype.names else dtype.name
        raise ArgumentError(f"cannot pass a {name} array for {parameter}; use array.astype(numpy.{numpy_name})")


def _kind_of_format(form: str) -> str:
    return "f" if form in "efd" else "b" if form == "?" else "i" if form in "bBhHiIlLqQnN" else "u" if form == "c" else "V"


def _check_view(view: memoryview, parameter: Parameter) -> None:
    """Refuses a memoryview whose elements are not what the parameter points to."""
    form = view.format
    if form[0] in ">!":
        raise ArgumentError(f"cannot pass a big-endian memoryview for {parameter}")
    if parameter.element and not _same_numbers(_kind_of_format(form.lstrip("@=<")), view.itemsize, parameter):
        wanted = _ELEMENTS[parameter.element][1]
        raise ArgumentError(f"cannot pass a memoryview of format '{form}' for {parameter}; use view.cast('{wanted}')")
    if not view.contiguous:
        raise ArgumentError(f"cannot pass a memoryview with gaps for {parameter}")


def _number(value: Any, parameter: Parameter) -> bytes:
    """Returns the bytes of a Python number as the parameter's type."""
    form = _ELEMENTS[parameter.element][1] if parameter.element else _BY_SIZE[type(value)].get(parameter.size)
    if form is None:
        raise ArgumentError(f"cannot pass {_article(value)} for {parameter} of {parameter.size} bytes; "
                            f"use a NumPy value, a ctypes structure or bytes")
    if isinstance(value, float) and form not in "efd":
        raise ArgumentError(f"cannot pass the float {value!r} for {parameter}, an integer")
    if not parameter.element and form not in "efd" and value >= 0:  # 0xffffffff is an int, too, as in C
        form = form.upper()
    elif form in "bhiq" and value >= 0:
        form = form.upper()
    try:
        return struct.pack("<" + form, value)
    except (struct.error, OverflowError):
        raise ArgumentError(f"{value!r} does not fit in {parameter}") from None


def _scalar(value: Any, parameter: Parameter) -> bytes:
    """Returns the bytes of a NumPy number or structure."""
    dtype = value.dtype
    if dtype.hasobject:
        raise ArgumentError(f"cannot pass a Python object in a NumPy array for {parameter}")
    if parameter.element and not _same_numbers(dtype.kind, dtype.itemsize, parameter):
        raise ArgumentError(f"cannot pass a {dtype.name} for {parameter}; "
                            f"use numpy.{_ELEMENTS[parameter.element][0]} or a Python number")
    return value.astype(dtype.newbyteorder("<")).tobytes() if not dtype.isnative else value.tobytes()


def _address(value: Any, parameter: Parameter) -> bytes:
    """Returns the bytes of an address: an integer, None or a ctypes pointer."""
    if value is None:
        return bytes(8)
    if isinstance(value, (ctypes.c_void_p, ctypes._Pointer)):
        address = ctypes.cast(value, ctypes.c_void_p).value or 0
        return address.to_bytes(8, "little")
    if hasattr(value, "__index__") and not isinstance(value, bool) and not is_array(value):
        return integer(value, f"the address for {parameter}", 0, (1 << 64) - 1).to_bytes(8, "little")
    hint = "array.reshape(1)" if is_array(value) else "a NumPy array"
    what = "a NumPy array without dimensions" if is_array(value) else _article(value)
    raise ArgumentError(f"cannot pass {what} for {parameter}; use {hint}")


def _ctypes_number(value: ctypes._SimpleCData, parameter: Parameter) -> bytes:
    kind, size = _kind_of_format(value._type_), ctypes.sizeof(value)
    if parameter.element and not _same_numbers("u" if kind == "b" else kind, size, parameter):
        raise ArgumentError(f"cannot pass {_article(value)} for {parameter}; use a Python number")
    return bytes(value)


def bytes_of(value: Any, parameter: Parameter) -> bytes:
    """Returns the bytes of a number, a structure or an address for the parameter."""
    if parameter.kind == "pointer":
        return _address(value, parameter)
    if isinstance(value, bool):
        value = int(value)
    if isinstance(value, (int, float)) and not hasattr(value, "dtype"):
        return _number(int(value) if isinstance(value, int) else float(value), parameter)
    if is_array(value) and value.shape != ():
        raise ArgumentError(f"cannot pass an array for {parameter}, which is not a pointer")
    if hasattr(value, "dtype") and getattr(value, "shape", None) == ():
        data = _scalar(value, parameter)
    elif isinstance(value, ctypes._SimpleCData):
        data = _ctypes_number(value, parameter)
    elif isinstance(value, (bytes, bytearray, memoryview, ctypes.Structure, ctypes.Union, ctypes.Array)):
        data = bytes(value)
    else:
        raise ArgumentError(f"cannot pass {_article(value)} for {parameter}; use a number, a NumPy value or bytes")
    if len(data) != parameter.size:
        raise ArgumentError(f"cannot pass {_article(value)} of {len(data)} bytes for {parameter} of {parameter.size} bytes")
    return data


def untyped(value: Any, number: int) -> Parameter:
    """Returns a parameter that takes the value, where the code has no metadata for it: numbers of Python have 4 bytes."""
    from .gpu import Parameter

    if (is_array(value) and value.shape != ()) or isinstance(value, memoryview) or value is None:
        return Parameter("", "", "", "pointer", 0, 8, number)
    if isinstance(value, (int, float)) and not hasattr(value, "dtype"):
        return Parameter("", "", "", "value", 0, 4, number)
    if hasattr(value, "dtype"):
        return Parameter("", "", "", "value", 0, value.dtype.itemsize, number)
    is_ctypes = isinstance(value, (ctypes._SimpleCData, ctypes.Structure, ctypes.Union, ctypes.Array))
    size = ctypes.sizeof(value) if is_ctypes else len(value) if isinstance(value, (bytes, bytearray)) else 4
    return Parameter("", "", "", "value", 0, size, number)


class Arguments:
    """The arguments of one launch, and the arrays to copy back after it."""

    def __init__(self, gpu: Gpu, kernel: Kernel, values: Tuple[Any, ...], may_copy: bool) -> None:
        parameters = kernel.parameters
        if kernel.argument_bytes:
            parameters = tuple(untyped(value, number) for number, value in enumerate(values, 1))
        if len(values) != len(parameters):
            raise ArgumentError(f"kernel {kernel.name} takes {len(kernel.parameters)} arguments, {len(values)} are given")
        self.keep: List[Any] = []
        self._copies: List[Tuple[Any, Memory, Any]] = []  # array, copy on the GPU, view of the copy
        made = [self._make(gpu, value, parameter, may_copy) for value, parameter in zip(values, parameters)]
        self.array = (_library.Argument * len(made))(*made)
        self.count = len(made)

    def _make(self, gpu: Gpu, value: Any, parameter: Parameter, may_copy: bool) -> _library.Argument:
        if isinstance(value, LocalMemory):
            if parameter.kind != "local_memory":
                raise ArgumentError(f"cannot pass LDS for {parameter}, which does not point to it")
            return _library.Argument(_library.LOCAL_MEMORY, value.size, None)
        if parameter.kind == "local_memory":
            raise ArgumentError(f"cannot pass {_article(value)} for {parameter}, which points to LDS; "
                                f"use atoll.LocalMemory(bytes)")
        # A structure of eight bytes may be nothing but a pointer.
        may_be_pointer = parameter.kind == "pointer" or (parameter.kind == "value" and not parameter.element and
                                                         parameter.size == 8)
        if may_be_pointer and is_array(value) and value.shape != ():
            return self._make_array(gpu, value, parameter, may_copy)
        if parameter.kind == "pointer" and isinstance(value, memoryview):
            return self._make_view(gpu, value, parameter, may_copy)
        return self._make_value(bytes_of(value, parameter))

    def _make_value(self, data: bytes) -> _library.Argument:
        buffer = ctypes.create_string_buffer(data, len(data))
        self.keep.append(buffer)
        return _library.Argument(_library.VALUE, len(data), ctypes.addressof(buffer))

    def _make_array(self, gpu: Gpu, array: Any, parameter: Parameter, may_copy: bool) -> _library.Argument:
        _check_dtype(array.dtype, parameter)
        if owner_of(array) is not None:
            if not _is_contiguous(array):
                raise ArgumentError(f"cannot pass a slice with gaps of GPU memory for {parameter}; "
                                    f"use numpy.ascontiguousarray(array), or array.ctypes.data for its address")
            self.keep.append(array)
            return self._make_value(array.ctypes.data.to_bytes(8, "little"))
        self._refuse_copy(parameter, may_copy)
        memory = gpu._allocate(array.nbytes)
        self.keep.append(memory)
        if _is_contiguous(array):
            view = None
            ctypes.memmove(_library.buffer_data(memory.handle), array.ctypes.data, array.nbytes)
        else:
            import numpy
            view = numpy.asarray(memory).view(array.dtype).reshape(array.shape)
            view[...] = array
        if array.flags["WRITEABLE"]:
            self._copies.append((array, memory, view))
        return _library.Argument(_library.BUFFER, 0, memory.handle)

    def _make_view(self, gpu: Gpu, view: memoryview, parameter: Parameter, may_copy: bool) -> _library.Argument:
        _check_view(view, parameter)
        if owner_of(view) is not None:
            self.keep.append(view)
            return self._make_value(ctypes.addressof(ctypes.c_char.from_buffer(view)).to_bytes(8, "little"))
        self._refuse_copy(parameter, may_copy)
        memory = gpu._allocate(view.nbytes)
        self.keep.append(memory)
        ctypes.memmove(_library.buffer_data(memory.handle), view.tobytes(), view.nbytes)
        if not view.readonly:
            self._copies.append((view, memory, None))
        return _library.Argument(_library.BUFFER, 0, memory.handle)

    @staticmethod
    def _refuse_copy(parameter: Parameter, may_copy: bool) -> None:
        if not may_copy:
            raise ArgumentError(f"cannot pass an array outside the GPU's memory to a stream for {parameter}; "
                                f"use Gpu.array or Gpu.zeros")

    def copy_back(self) -> None:
        """Copies what the kernel may have changed to the caller's arrays."""
        for array, memory, view in self._copies:
            if view is not None:
                array[...] = view
            elif isinstance(array, memoryview):
                if array.nbytes:
                    array.cast("B")[:] = ctypes.string_at(_library.buffer_data(memory.handle), array.nbytes)
            else:
                ctypes.memmove(array.ctypes.data, _library.buffer_data(memory.handle), array.nbytes)


def shape(grid: Any, block: Any, lds: Any) -> _library.Shape:
    """Returns a launch's shape; sizes are an integer or up to three of them."""

    def triple(sizes: Any, what: str, most: int) -> Any:
        try:
            given = list(sizes) if not hasattr(sizes, "__index__") or getattr(sizes, "shape", ()) != () else [sizes]
        except TypeError:
            raise ArgumentError(f"{what} must be an integer or up to three of them, not {_article(sizes)}") from None
        if not 1 <= len(given) <= 3:
            raise ArgumentError(f"{what} has {len(given)} dimensions; use one to three")
        return (ctypes.c_uint32 * 3)(*([integer(size, what, 1, most) for size in given] + [1] * (3 - len(given))))

    return _library.Shape(ctypes.sizeof(_library.Shape), triple(grid, "grid", 0xFFFFFFFF), triple(block, "block", 0xFFFF),
                          integer(lds, "lds", 0, 0xFFFFFFFF))


def seconds(value: Optional[float], what: str) -> float:
    """Returns a time that is not negative."""
    try:
        number = float(value) if not isinstance(value, (str, bytes)) else None  # type: ignore[arg-type]
    except (TypeError, ValueError):
        number = None
    if number is None:
        raise ArgumentError(f"{what} must be a number of seconds, not {_article(value)}")
    if not number >= 0:
        raise ArgumentError(f"{what} is {number} seconds; it must not be negative")
    return number
