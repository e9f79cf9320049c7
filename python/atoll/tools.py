"""Functions that need no GPU: `atoll asm`, `link`, `disasm`, `inspect`, `eval` and `gpus`."""

from __future__ import annotations

import ctypes
import json
import os
import pathlib
import struct
from dataclasses import dataclass, field
from typing import Any, Dict, Iterable, List, Mapping, Optional, Sequence, Union

from . import _library, errors
from .arguments import integer, seconds, text as encoded

File = Union[str, "os.PathLike[str]", bytes, bytearray, memoryview]  # a path, or a file's bytes


def _name(value: Optional[str], what: str) -> Optional[bytes]:
    return None if value is None else encoded(value, what)


def _bytes_of(file: File) -> bytes:
    """Returns the bytes of a path's file, or of an object with a buffer."""
    if isinstance(file, (str, os.PathLike)):
        try:
            return pathlib.Path(file).read_bytes()
        except OSError as error:
            raise errors.Error(f"cannot read {os.fspath(file)}: {error.strerror}", "system") from None
    if not isinstance(file, (bytes, bytearray, memoryview)):
        raise errors.ArgumentError(f"a file must be a path or bytes, not {type(file).__name__}")
    return bytes(file)


def _take(handle: ctypes.c_void_p) -> bytes:
    """Returns the bytes of an atoll_data, and frees it."""
    try:
        return ctypes.string_at(_library.data_bytes(handle), _library.data_size(handle))
    finally:
        _library.data_free(handle)


def gpus() -> List[Dict[str, Any]]:
    """Lists the GPUs: for each product a dictionary, as `atoll gpus --json` prints it.

    `name` is what Gpu takes, `product` the full name, `target_id` the target ID.
    """
    return json.loads(_take(errors.make("gpus")))


def asm(text: str, gpu: str, *, name: str = "<text>", relocatable: bool = False, wave_size: int = 0,
        code_object_version: int = 6) -> bytes:
    """Assembles text in LLVM's syntax to the bytes of a code object or, if relocatable, of an object for link().

    The error's message lists all mistakes, each with its line.
    """
    options = _library.AssembleOptions(ctypes.sizeof(_library.AssembleOptions), _name(gpu, "gpu"), _name(name, "name"),
                                       relocatable, integer(wave_size, "wave_size", 0, 64),
                                       integer(code_object_version, "code_object_version", 0, 0xFFFF))
    return _take(errors.make("assemble", encoded(text, "the text"), ctypes.byref(options)))


def link(objects: Iterable[File]) -> bytes:
    """Links relocatable objects, each as bytes or a path, to the bytes of a code object."""
    if isinstance(objects, (str, bytes, bytearray, memoryview, os.PathLike)):
        raise errors.ArgumentError("link() takes a list of objects")
    inputs = []
    for number, each in enumerate(objects):
        data = _bytes_of(each)
        name = os.fspath(each) if isinstance(each, (str, os.PathLike)) else f"object {number + 1}"
        inputs.append(_library.LinkInput(name.encode(), data, len(data)))
    array = (_library.LinkInput * len(inputs))(*inputs)
    return _take(errors.make("link", array, len(inputs)))


def disasm(file: File, gpu: Optional[str] = None, *, kernel: Optional[str] = None,
           bytes: bool = False) -> str:  # pylint: disable=redefined-builtin
    """Disassembles the code objects in a file, a path or bytes; `gpu` and `kernel` choose among several."""
    data = _bytes_of(file)
    handle = errors.make("disassemble", data, len(data), _name(gpu, "gpu"), _name(kernel, "kernel"), bytes)
    return _take(handle).decode(errors="replace")


@dataclass(frozen=True)
class Instruction:
    """An instruction of machine code."""

    offset: int
    size: int
    text: str  # empty when no instruction has these bytes


def decode(code: Union[bytes, bytearray, memoryview, Sequence[int]], gpu: str, *,
           wave_size: int = 0) -> List[Instruction]:
    """Decodes instructions without a file around them: bytes, or 32-bit words as a list of integers."""
    if isinstance(code, (list, tuple)):
        code = struct.pack(f"<{len(code)}I", *(integer(word, "a word of code", 0, 0xFFFFFFFF) for word in code))
    if not isinstance(code, (bytes, bytearray, memoryview)):
        raise errors.ArgumentError(f"code must be bytes or a list of words, not {type(code).__name__}")
    data = bytes(code)
    instructions: List[Instruction] = []

    @_library.DECODED
    def add(_: Any, offset: int, size: int, text: bytes) -> None:
        instructions.append(Instruction(offset, size, text.decode(errors="replace")))

    errors.call("decode", data, len(data), _name(gpu, "gpu"), integer(wave_size, "wave_size", 0, 64), add, None)
    return instructions


def inspect(file: File, gpu: Optional[str] = None, *, kernel: Optional[str] = None,
            work_group_size: int = 0) -> List[Dict[str, Any]]:
    """Describes each code object in a file as a dictionary, as `atoll inspect --json` prints it."""
    data = _bytes_of(file)
    return json.loads(_take(errors.make("inspect", data, len(data), _name(gpu, "gpu"), _name(kernel, "kernel"),
                                        integer(work_group_size, "work_group_size", 0, 0xFFFFFFFF))))


_FORMATS = {"f16": "<e", "f32": "<f", "f64": "<d", "i16": "<h", "i32": "<i", "i64": "<q"}


def _value_of(text: str, kind: str, bits: int) -> Union[int, float]:
    """Returns a register's bits as a number of its type, or as an integer."""
    number = int(text, 16)
    form = _FORMATS.get(kind)
    if form is None:
        return number
    size = struct.calcsize(form)
    if number >> (8 * size):  # two halves
        return number
    return struct.unpack(form, number.to_bytes(max(bits // 8, size), "little")[:size])[0]


@dataclass
class Register:
    """A register that has changed. For a vector register, `before` and `after` are dictionaries by lane."""

    name: str
    type: str
    before: Any
    after: Any


@dataclass
class Evaluation:
    """The changes that instructions made: `result["v0"][3]` is lane 3 of v0 afterwards."""

    text: str  # a line for each change
    processor: str
    wave_size: int
    instructions: int  # that were carried out
    registers: Dict[str, Register] = field(default_factory=dict)
    memory: Dict[int, bytes] = field(default_factory=dict)  # by address; of LDS: lds
    lds: Dict[int, bytes] = field(default_factory=dict)
    error: Optional[errors.Error] = None  # a fault, or that it had to be stopped

    def __getitem__(self, register: str) -> Any:
        return self.registers[register].after

    def __str__(self) -> str:
        return self.text


def _evaluation_of(text: str, found: Dict[str, Any], error: Optional[errors.Error]) -> Evaluation:
    evaluation = Evaluation(text, found["processor"], found["wave_size"], found["instructions"], error=error)
    for each in found["registers"]:
        kind, bits = each["type"], each["bits"]
        if "lanes" in each:
            before = {int(lane): _value_of(of["before"], kind, bits) for lane, of in each["lanes"].items()}
            after = {int(lane): _value_of(of["after"], kind, bits) for lane, of in each["lanes"].items()}
        else:
            before, after = (_value_of(each[when], kind, bits) for when in ("before", "after"))
        evaluation.registers[each["name"]] = Register(each["name"], kind, before, after)
    for each in found["memory"]:
        where = evaluation.lds if each["memory"] == "lds" else evaluation.memory
        where[int(each["address"], 16)] = struct.pack(f"<{len(each['dwords'])}I", *each["dwords"])
    return evaluation


def _spelt(value: Any) -> str:
    """Returns a value as `atoll eval` takes it."""
    if hasattr(value, "dtype"):  # of NumPy: the same bits, whatever the type
        flat = value.reshape(-1)
        prefix = {"f": "f", "i": "i", "u": "u"}.get(value.dtype.kind)
        if prefix is None:
            raise errors.ArgumentError(f"cannot pass a {value.dtype.name} array for a register; use an integer or "
                                       f"floating-point type")
        value = flat.tolist()
        return f"{prefix}{8 * flat.dtype.itemsize}:" + ",".join(map(repr, value))
    if isinstance(value, (list, tuple)):
        return ",".join(map(repr, value))
    return str(value)


def eval(code: Union[str, Sequence[str]], gpu: str, values: Optional[Mapping[str, Any]] = None, *,  # noqa: A001
         wave_size: int = 0, most_instructions: int = 0, timeout: float = 0, **registers: Any) -> Evaluation:
    """Runs assembly text, a string or a list of lines, on one wave.

    Registers and memory begin with `values`, a dictionary: {"v1": 1.5, "s[2:3]": "0x10000000", "mem[0x10000000]":
    numpy_array}; registers may be given as keywords, too: v1=1.5, v2="lane*4", exec=0xff. `atoll eval --help` explains
    the values that are strings. A fault does not raise an exception: it is the result's `error`.
    """
    lines = [code] if isinstance(code, str) else list(code)
    given = [encoded(f"{name}={_spelt(value)}", "a value") for name, value in {**(values or {}), **registers}.items()]
    options = _library.EvaluateOptions(ctypes.sizeof(_library.EvaluateOptions), _name(gpu, "gpu"),
                                       (ctypes.c_char_p * len(given))(*given), len(given),
                                       integer(wave_size, "wave_size", 0, 64),
                                       integer(most_instructions, "most_instructions", 0, (1 << 64) - 1),
                                       seconds(timeout, "timeout"))
    handle = errors.make("evaluate", (ctypes.c_char_p * len(lines))(*(encoded(line, "a line") for line in lines)),
                         len(lines), ctypes.byref(options))
    try:
        error = _library.evaluation_error(handle)
        return _evaluation_of(_library.evaluation_text(handle).decode(),
                              json.loads(_library.evaluation_json(handle)),
                              errors.of_handle(error) if error else None)
    finally:
        _library.evaluation_free(handle)
