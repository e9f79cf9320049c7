"""Code without a GPU: what `atoll asm`, `link`, `disasm`, `inspect` and `eval` do."""

import ctypes
import json
import os
import pathlib
import struct
from dataclasses import dataclass, field
from typing import Dict, List, Optional

from . import _library, errors


def _name(text):
    return None if text is None else text.encode()


def _bytes_of(file):
    """The bytes that are meant: a path's, or those of an object with a buffer."""
    if isinstance(file, (str, os.PathLike)):
        return pathlib.Path(file).read_bytes()
    return bytes(file)


def _take(handle):
    """The bytes of an atoll_data, which is freed."""
    try:
        return ctypes.string_at(_library.data_bytes(handle), _library.data_size(handle))
    finally:
        _library.data_free(handle)


def asm(text, gpu, *, name="<text>", relocatable=False, wave_size=0, code_object_version=6):
    """Assembles text in LLVM's syntax; the bytes of a code object, or of an object for link().

    The error's message lists all mistakes, each with its line.
    """
    options = _library.AssembleOptions(ctypes.sizeof(_library.AssembleOptions), _name(gpu), _name(name), relocatable,
                                       wave_size, code_object_version)
    return _take(errors.make("assemble", text.encode(), ctypes.byref(options)))


def link(objects):
    """Links relocatable objects, each as bytes or a path, to the bytes of a code object."""
    inputs = []
    for number, each in enumerate(objects):
        data = _bytes_of(each)
        name = os.fspath(each) if isinstance(each, (str, os.PathLike)) else f"object {number + 1}"
        inputs.append(_library.LinkInput(name.encode(), data, len(data)))
    array = (_library.LinkInput * len(inputs))(*inputs)
    return _take(errors.make("link", array, len(inputs)))


def disasm(file, gpu=None, *, kernel=None, bytes=False):  # pylint: disable=redefined-builtin
    """The text of the code objects in a file, a path or bytes; `gpu` and `kernel` choose among several."""
    data = _bytes_of(file)
    return _take(errors.make("disassemble", data, len(data), _name(gpu), _name(kernel), bytes)).decode(errors="replace")


@dataclass(frozen=True)
class Instruction:
    offset: int
    size: int
    text: str  # empty when no instruction has these bytes


def decode(code, gpu, *, wave_size=0):
    """Instructions that stand alone, without a file around them: bytes, or 32-bit words as a list of integers."""
    if isinstance(code, (list, tuple)):
        code = struct.pack(f"<{len(code)}I", *code)
    data = bytes(code)
    instructions: List[Instruction] = []

    @_library.DECODED
    def add(_, offset, size, text):
        instructions.append(Instruction(offset, size, text.decode(errors="replace")))

    errors.call("decode", data, len(data), _name(gpu), wave_size, add, None)
    return instructions


def inspect(file, gpu=None, *, kernel=None, work_group_size=0):
    """What is in a file with code objects: for each a dictionary, as `atoll inspect --json` prints it."""
    data = _bytes_of(file)
    return json.loads(_take(errors.make("inspect", data, len(data), _name(gpu), _name(kernel), work_group_size)))


_FORMATS = {"f16": "<e", "f32": "<f", "f64": "<d", "i16": "<h", "i32": "<i", "i64": "<q"}


def _value_of(text, kind, bits):
    """A register's bits as a number of its type, where that is one."""
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
    """A register that has changed. Of a vector register `before` and `after` are dictionaries by lane."""

    name: str
    type: str
    before: object
    after: object


@dataclass
class Evaluation:
    """What instructions have changed: `result["v0"][3]` is what lane 3 of v0 has now."""

    text: str  # a line for each change
    processor: str
    wave_size: int
    instructions: int  # that were carried out
    registers: Dict[str, Register] = field(default_factory=dict)
    memory: Dict[int, bytes] = field(default_factory=dict)  # by address; of LDS: lds
    lds: Dict[int, bytes] = field(default_factory=dict)
    error: Optional[errors.Error] = None  # a fault, or that it had to be stopped

    def __getitem__(self, register):
        return self.registers[register].after

    def __str__(self):
        return self.text


def _evaluation_of(text, found, error):
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


def _spelt(value):
    """A value as `atoll eval` takes it."""
    if hasattr(value, "dtype"):  # of NumPy: the same bits, whatever the type
        flat = value.reshape(-1)
        prefix = {"f": "f", "i": "i", "u": "u"}.get(value.dtype.kind)
        if prefix is None:
            raise TypeError(f"arrays of {value.dtype} are no values for registers")
        value = flat.tolist()
        return f"{prefix}{8 * flat.dtype.itemsize}:" + ",".join(map(repr, value))
    if isinstance(value, (list, tuple)):
        return ",".join(map(repr, value))
    return str(value)


def eval(code, gpu, values=None, *, wave_size=0, most_instructions=0, timeout=0, **registers):  # noqa: A001
    """Runs assembly text, a string or a list of lines, on one wave.

    Registers and memory begin with `values`, a dictionary: {"v1": 1.5, "s[2:3]": "0x10000000", "mem[0x10000000]":
    numpy_array}; registers may be given as keywords, too: v1=1.5, v2="lane*4", exec=0xff. `atoll eval --help` explains
    the values that are strings. A fault does not raise an exception: it is the result's `error`.
    """
    lines = [code] if isinstance(code, str) else list(code)
    given = [f"{name}={_spelt(value)}".encode() for name, value in {**(values or {}), **registers}.items()]
    options = _library.EvaluateOptions(ctypes.sizeof(_library.EvaluateOptions), _name(gpu),
                                       (ctypes.c_char_p * len(given))(*given), len(given), wave_size,
                                       most_instructions, timeout)
    handle = errors.make("evaluate", (ctypes.c_char_p * len(lines))(*(line.encode() for line in lines)), len(lines),
                         ctypes.byref(options))
    try:
        error = _library.evaluation_error(handle)
        return _evaluation_of(_library.evaluation_text(handle).decode(),
                              json.loads(_library.evaluation_json(handle)),
                              errors.of_handle(error) if error else None)
    finally:
        _library.evaluation_free(handle)
