"""libatoll.so and its C interface (atoll_c.h), as ctypes sees them."""

from __future__ import annotations

import ctypes
import os
import pathlib
from typing import Any
from ctypes import POINTER, c_char_p, c_double, c_int, c_size_t, c_uint32, c_uint64, c_void_p

INTERFACE = "0.1"  # of the SONAME: until 1.0 a minor version may change the interface


def _load() -> ctypes.CDLL:
    name = "libatoll.so." + INTERFACE
    given = os.environ.get("ATOLL_LIBRARY")
    if given:
        return ctypes.CDLL(given)
    beside = pathlib.Path(__file__).resolve().parent / "lib" / name  # in a wheel
    if beside.exists():
        return ctypes.CDLL(str(beside))
    try:
        return ctypes.CDLL(name)
    except OSError as error:
        raise ImportError(f"{error}: install Atoll, or say in ATOLL_LIBRARY where its {name} is") from None


OUTPUT = ctypes.CFUNCTYPE(None, c_void_p, c_void_p, c_size_t, c_int)
CALL = ctypes.CFUNCTYPE(None, c_void_p)
DECODED = ctypes.CFUNCTYPE(None, c_void_p, c_uint64, c_uint32, c_char_p)


class GpuOptions(ctypes.Structure):
    _fields_ = [("struct_size", c_size_t), ("threads", c_uint32), ("timeout_seconds", c_double), ("engine", c_char_p),
                ("on_output", OUTPUT), ("user", c_void_p), ("check", c_char_p), ("check_suppressions", c_char_p),
                ("check_report", c_char_p), ("on_finding", OUTPUT)]


class Finding(ctypes.Structure):
    _fields_ = [("struct_size", c_size_t), ("checker", c_char_p), ("kind", c_char_p), ("message", c_char_p),
                ("report", c_char_p), ("kernel", c_char_p), ("source_file", c_char_p), ("line", c_uint32),
                ("column", c_uint32), ("count", c_uint64), ("is_note", c_int)]


class Fault(ctypes.Structure):
    _fields_ = [("struct_size", c_size_t), ("kind", c_int), ("kind_name", c_char_p), ("kernel", c_char_p),
                ("function", c_char_p), ("instruction", c_char_p), ("program_counter", c_uint64),
                ("source_file", c_char_p), ("line", c_uint32), ("column", c_uint32), ("address_known", c_int),
                ("address", c_uint64), ("is_write", c_int), ("near", c_char_p), ("work_group", c_uint32 * 3),
                ("work_item", c_uint32 * 3), ("wave", c_uint32), ("lane", c_uint32), ("lane_known", c_int)]


class Parameter(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("type", c_char_p), ("element", c_char_p), ("kind", c_int), ("offset", c_uint32), ("size", c_uint32)]


class KernelInfo(ctypes.Structure):
    _fields_ = [("struct_size", c_size_t), ("name", c_char_p), ("parameter_count", c_size_t),
                ("parameters", POINTER(Parameter)), ("lds_bytes", c_uint32), ("scratch_bytes", c_uint32),
                ("vgprs", c_uint32), ("agprs", c_uint32), ("sgprs", c_uint32), ("max_block_size", c_uint32),
                ("required_block", c_uint32 * 3), ("max_blocks", c_uint32 * 3), ("whole_blocks", c_int),
                ("on_load", c_int), ("on_unload", c_int), ("is_shader", c_int), ("argument_bytes", c_uint32)]


class Argument(ctypes.Structure):
    _fields_ = [("kind", c_int), ("size", c_size_t), ("value", c_void_p)]


class Shape(ctypes.Structure):
    _fields_ = [("struct_size", c_size_t), ("grid", c_uint32 * 3), ("block", c_uint32 * 3),
                ("dynamic_lds_bytes", c_uint32)]


class LaunchResult(ctypes.Structure):
    _fields_ = [("work_groups", c_uint64), ("waves", c_uint64), ("wave_instructions", c_uint64), ("seconds", c_double)]


class AssembleOptions(ctypes.Structure):
    _fields_ = [("struct_size", c_size_t), ("gpu", c_char_p), ("name", c_char_p), ("relocatable", c_int),
                ("wave_size", c_uint32), ("code_object_version", c_uint32)]


class LinkInput(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("bytes", c_char_p), ("size", c_size_t)]


class EvaluateOptions(ctypes.Structure):
    _fields_ = [("struct_size", c_size_t), ("gpu", c_char_p), ("values", POINTER(c_char_p)), ("value_count", c_size_t),
                ("wave_size", c_uint32), ("most_instructions", c_uint64), ("timeout_seconds", c_double)]


VALUE, BUFFER, LOCAL_MEMORY = range(3)  # kinds of arguments; of parameters: a value, a pointer, local memory

_H, _PH = c_void_p, POINTER(c_void_p)  # a handle, and a place for one
_LAUNCH = [_H, _H, c_char_p, POINTER(Shape), POINTER(Argument), c_size_t]

# Result and parameters; those that return a status also take a place for the error, which is added below.
_STATUS = object()
_FUNCTIONS = {
    "version": (c_char_p, []),
    "status_name": (c_char_p, [c_int]),
    "error_status": (c_int, [_H]),
    "error_message": (c_char_p, [_H]),
    "error_fault": (POINTER(Fault), [_H]),
    "error_free": (None, [_H]),
    "gpu_create": (_STATUS, [c_char_p, POINTER(GpuOptions), _PH]),
    "gpu_create_for_file": (_STATUS, [c_char_p, POINTER(GpuOptions), _PH]),
    "gpu_product": (c_char_p, [_H]),
    "gpu_target_id": (c_char_p, [_H]),
    "gpu_finding_count": (c_size_t, [_H]),
    "gpu_finding": (POINTER(Finding), [_H, c_size_t]),
    "gpu_interrupt": (None, [_H]),
    "gpu_free": (None, [_H]),
    "code_load_file": (_STATUS, [_H, c_char_p, _PH]),
    "code_load": (_STATUS, [_H, c_char_p, c_size_t, _PH]),
    "code_kernel_count": (c_size_t, [_H]),
    "code_kernel_name": (c_char_p, [_H, c_size_t]),
    "code_variable": (_STATUS, [_H, c_char_p, _PH, POINTER(c_size_t)]),
    "code_describe": (_STATUS, [_H, c_char_p, POINTER(POINTER(KernelInfo))]),
    "code_free": (None, [_H]),
    "buffer_create": (_STATUS, [_H, c_size_t, _PH]),
    "buffer_data": (c_void_p, [_H]),
    "buffer_size": (c_size_t, [_H]),
    "buffer_free": (None, [_H]),
    "launch": (_STATUS, _LAUNCH + [POINTER(LaunchResult)]),
    "launch_shader": (_STATUS, [_H, _H, c_char_p, POINTER(Shape), POINTER(c_uint32), POINTER(Argument), c_size_t,
                                POINTER(LaunchResult)]),
    "stream_create": (_STATUS, [_H, _PH]),
    "stream_launch": (_STATUS, _LAUNCH + [_PH]),
    "stream_wait": (_STATUS, [_H, _H]),
    "stream_synchronize": (_STATUS, [_H]),
    "stream_free": (None, [_H]),
    "event_is_done": (c_int, [_H]),
    "event_wait_for": (c_int, [_H, c_double]),
    "event_wait": (_STATUS, [_H, POINTER(LaunchResult)]),
    "event_free": (None, [_H]),
    "data_bytes": (c_void_p, [_H]),
    "data_size": (c_size_t, [_H]),
    "data_free": (None, [_H]),
    "gpus": (_STATUS, [_PH]),
    "assemble": (_STATUS, [c_char_p, POINTER(AssembleOptions), _PH]),
    "link": (_STATUS, [POINTER(LinkInput), c_size_t, _PH]),
    "disassemble": (_STATUS, [c_char_p, c_size_t, c_char_p, c_char_p, c_int, _PH]),
    "decode": (_STATUS, [c_char_p, c_size_t, c_char_p, c_uint32, DECODED, c_void_p]),
    "inspect": (_STATUS, [c_char_p, c_size_t, c_char_p, c_char_p, c_uint32, _PH]),
    "evaluate": (_STATUS, [POINTER(c_char_p), c_size_t, POINTER(EvaluateOptions), _PH]),
    "evaluation_text": (c_char_p, [_H]),
    "evaluation_json": (c_char_p, [_H]),
    "evaluation_error": (c_void_p, [_H]),
    "evaluation_free": (None, [_H]),
}



def __getattr__(name: str) -> Any:  # for type checkers: the functions are added below
    raise AttributeError(name)


_library = _load()
CAN_FAIL = set()
for _name, (_result, _parameters) in _FUNCTIONS.items():
    _function = getattr(_library, "atoll_" + _name)
    if _result is _STATUS:
        CAN_FAIL.add(_name)
        _result, _parameters = c_int, _parameters + [_PH]
    _function.restype, _function.argtypes = _result, _parameters
    globals()[_name] = _function
