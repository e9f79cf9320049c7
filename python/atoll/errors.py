"""The exceptions of the module: Error, and ArgumentError for what the caller passed."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any, Optional, Tuple

from . import _library


@dataclass(frozen=True)
class Fault:
    """Where and how a kernel failed. Texts that are not known are empty."""

    kind: str  # "memory", "illegal_instruction", "abort", "timeout", ...
    kernel: str
    function: str  # around the instruction, when that is not the kernel itself
    instruction: str
    program_counter: int
    source_file: str
    line: int  # in the source file; 0 when not known
    column: int
    address: Optional[int]  # that was accessed
    is_write: bool
    near: str  # what lies next to the address, in words
    work_group: Tuple[int, int, int]
    work_item: Tuple[int, int, int]
    wave: int
    lane: int
    lane_known: bool  # otherwise lane and work-item are the wave's first active ones


class Error(Exception):
    """A failure that Atoll reports. `status` is its kind, "memory_fault"; `fault` describes where a kernel failed."""

    message: str
    status: str
    fault: Optional[Fault]

    def __init__(self, message: str, status: str = "invalid_argument", fault: Optional[Fault] = None) -> None:
        super().__init__(message)
        self.message = message
        self.status = status
        self.fault = fault

    def __reduce__(self) -> Any:
        return type(self), (self.message, self.status, self.fault)


class ArgumentError(Error, TypeError, ValueError):
    """An Error about an argument of a function or a kernel: a type, a size or a value that cannot be passed."""


def _text(value: bytes) -> str:
    return value.decode(errors="replace")


def of_handle(handle: ctypes.c_void_p) -> Error:
    """The exception for an atoll_error, which stays the caller's."""
    pointer = _library.error_fault(handle)
    fault = None
    if pointer:
        of = pointer.contents
        fault = Fault(_text(of.kind_name), _text(of.kernel), _text(of.function), _text(of.instruction),
                      of.program_counter, _text(of.source_file), of.line, of.column,
                      of.address if of.address_known else None, bool(of.is_write), _text(of.near),
                      tuple(of.work_group), tuple(of.work_item), of.wave, of.lane, bool(of.lane_known))
    status = _text(_library.status_name(_library.error_status(handle)))
    kind = ArgumentError if status == "invalid_argument" else Error
    return kind(_text(_library.error_message(handle)), status, fault)


def call(name: str, *arguments: Any) -> None:
    """Calls a function of the C interface that can fail; raises its error."""
    place = ctypes.c_void_p()
    if getattr(_library, name)(*arguments, ctypes.byref(place)) == 0:
        return
    try:
        raise of_handle(place)
    finally:
        _library.error_free(place)


def make(name: str, *arguments: Any) -> ctypes.c_void_p:
    """Calls such a function whose last parameter is a place for the handle that it makes; returns the handle."""
    handle = ctypes.c_void_p()
    call(name, *arguments, ctypes.byref(handle))
    return handle
