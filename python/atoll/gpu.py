"""GPUs, their code and memory, and launches."""

from __future__ import annotations

import ctypes
import os
import sys
import threading
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Optional, Sequence, Tuple, Union

from . import _library, errors
from .arguments import Arguments, Memory, integer, seconds, shape, text, untyped

if TYPE_CHECKING:
    import numpy

_KINDS = ("value", "pointer", "local_memory", "unsupported")
Sizes = Union[int, Sequence[int]]  # of a grid or a block: X, or up to X, Y and Z


@dataclass(frozen=True)
class Parameter:
    """A parameter of a kernel. `str(parameter)` names it in messages."""

    name: str  # empty where the compiler left names out
    type: str  # "float*"
    element: str  # "f32": the type of the number, or of the numbers it points to; empty where not known
    kind: str  # "value", "pointer", "local_memory" or "unsupported"
    offset: int
    size: int
    number: int = 0  # from 1 on

    def __str__(self) -> str:
        if self.name:
            return f"parameter '{self.type} {self.name}'" if self.type else f"parameter '{self.name}'"
        return f"parameter {self.number}" + (f" '{self.type}'" if self.type else "")


@dataclass(frozen=True)
class Kernel:
    """A kernel, as its metadata describes it."""

    name: str
    parameters: Tuple[Parameter, ...]
    lds_bytes: int
    scratch_bytes: int
    vgprs: int
    agprs: int
    sgprs: int
    max_block_size: int
    required_block: Tuple[int, int, int]  # zeroes where any will do
    max_blocks: Tuple[int, int, int]
    whole_blocks: bool  # the grid has to be a multiple of the block
    is_shader: bool = False  # a compute shader of amdpal or mesa3d, for Gpu.launch_shader()
    argument_bytes: int = 0  # of a kernel of mesa3d, whose parameters are unknown


@dataclass(frozen=True)
class LaunchResult:
    """The work of a launch. `seconds` are the host's."""

    work_groups: int
    waves: int
    wave_instructions: int
    seconds: float


class Code:
    """Loaded code. `code.kernels` are names, `code.kernel(name)` describes one."""

    def __init__(self, gpu: Gpu, handle: ctypes.c_void_p) -> None:
        self._gpu = gpu  # to which what its kernels print goes
        self._handle = handle
        self._kernels: Dict[str, Kernel] = {}

    def __del__(self) -> None:
        _library.code_free(self._handle)

    def __repr__(self) -> str:
        names = self.kernels
        listed = ", ".join(names[:4]) + (", ..." if len(names) > 4 else "")
        return f"<atoll.Code for {self._gpu.target_id}: {listed or 'no kernels'}>"

    @property
    def kernels(self) -> List[str]:
        """The names of the kernels."""
        count = _library.code_kernel_count(self._handle)
        return [_library.code_kernel_name(self._handle, index).decode() for index in range(count)]

    def kernel(self, name: str) -> Kernel:
        """Describes a kernel: its parameters, registers and limits."""
        if name not in self._kernels:
            place = ctypes.POINTER(_library.KernelInfo)()
            errors.call("code_describe", self._handle, text(name, "the kernel's name"), ctypes.byref(place))
            of = place.contents
            parameters = tuple(
                Parameter(each.name.decode(), each.type.decode(), each.element.decode(), _KINDS[each.kind], each.offset,
                          each.size, number)
                for number, each in enumerate(of.parameters[:of.parameter_count], 1))
            self._kernels[name] = Kernel(of.name.decode(), parameters, of.lds_bytes, of.scratch_bytes, of.vgprs,
                                         of.agprs, of.sgprs, of.max_block_size, tuple(of.required_block),
                                         tuple(of.max_blocks), bool(of.whole_blocks), bool(of.is_shader),
                                         of.argument_bytes)
        return self._kernels[name]

    def variable(self, name: str) -> memoryview:
        """Returns a device variable as a writable memoryview of its bytes.

        `variable("table").cast("f")[3] = 1.5` sets an element. A kernel takes the view for a pointer, as it is.
        """
        address, size = ctypes.c_void_p(), ctypes.c_size_t()
        errors.call("code_variable", self._handle, text(name, "the variable's name"), ctypes.byref(address), ctypes.byref(size))
        memory = (ctypes.c_ubyte * size.value).from_address(address.value)
        memory._atoll_code = self  # type: ignore[attr-defined]  # which so lives as long as the view
        return memoryview(memory).cast("B")


def _result(place: _library.LaunchResult) -> LaunchResult:
    return LaunchResult(place.work_groups, place.waves, place.wave_instructions, place.seconds)


class Event:
    """Something that a stream does."""

    def __init__(self, gpu: Gpu, handle: ctypes.c_void_p, keep: List[Any]) -> None:
        self._gpu, self._handle, self._keep = gpu, handle, keep

    def __del__(self) -> None:
        _library.event_free(self._handle)

    @property
    def done(self) -> bool:
        """Whether it has been done."""
        return bool(_library.event_is_done(self._handle))

    def wait(self, timeout: Optional[float] = None) -> LaunchResult:
        """Waits until it is done, and returns the launch's result. Raises TimeoutError after `timeout` seconds.

        Ctrl-C stops what runs on the GPU.
        """
        try:
            if timeout is not None:
                if not _library.event_wait_for(self._handle, seconds(timeout, "timeout")):
                    raise TimeoutError(f"not done within {timeout} s")
            else:
                while not _library.event_wait_for(self._handle, 0.1):
                    pass
        except KeyboardInterrupt:
            _library.gpu_interrupt(self._gpu._handle)
            while not _library.event_wait_for(self._handle, 1):
                pass
            raise
        place = _library.LaunchResult()
        errors.call("event_wait", self._handle, ctypes.byref(place))
        return _result(place)


class Stream:
    """Work that is done one after the other, while the program goes on."""

    def __init__(self, gpu: Gpu) -> None:
        self._gpu = gpu
        self._handle = errors.make("stream_create", gpu._handle)
        self._keep: List[Tuple[Event, List[Any]]] = []  # arrays of kernels that may not have run

    def __del__(self) -> None:
        if hasattr(self, "_handle"):
            _library.stream_free(self._handle)

    def launch(self, code: Code, kernel: str, *arguments: Any, grid: Sizes, block: Sizes = 64, lds: int = 0) -> Event:
        """Launches as Gpu.launch does, but returns an Event at once. Arrays must be in the GPU's memory."""
        made = Arguments(self._gpu, code.kernel(kernel), arguments, may_copy=False)
        handle = errors.make("stream_launch", self._handle, code._handle, kernel.encode(),
                             ctypes.byref(shape(grid, block, lds)), made.array, made.count)
        event = Event(self._gpu, handle, made.keep)
        self._keep = [(other, keep) for other, keep in self._keep if not other.done]
        self._keep.append((event, made.keep))
        return event

    def wait(self, event: Event) -> None:
        """Makes later work of this stream wait for an event of another stream."""
        errors.call("stream_wait", self._handle, event._handle)

    def synchronize(self) -> None:
        """Waits until all work is done. Raises the first error since the last time."""
        for event, _ in self._keep:
            while not _library.event_wait_for(event._handle, 0.1):
                pass
        self._keep = []
        errors.call("stream_synchronize", self._handle)


@dataclass(frozen=True)
class Finding:
    """A mistake of a kernel's, found by a checker; `count` says how often it was made."""

    checker: str
    kind: str
    message: str
    report: str
    kernel: str
    source_file: str
    line: int
    column: int
    count: int
    is_note: bool


class Gpu:
    """A virtual GPU: a product ("mi250x"), a processor ("gfx90a") or a target ID ("gfx90a:xnack+").

    `timeout` is in seconds, for one launch. What kernels print goes to `on_output(text, is_standard_error)`, or to
    sys.stdout and sys.stderr. `check` names checkers ("memory", "all"), whose findings are then in `findings`, and are
    reported to `on_finding(text)` or on sys.stderr; `check_suppressions` and `check_report` are paths.
    """

    def __init__(self, name: str, *, threads: int = 0, timeout: float = 0, engine: str = "",
                 on_output: Optional[Callable[[str, bool], object]] = None, check: str = "",
                 check_suppressions: Union[str, os.PathLike[str]] = "", check_report: Union[str, os.PathLike[str]] = "",
                 on_finding: Optional[Callable[[str], object]] = None) -> None:
        receive_finding = on_finding or (lambda report: self._print(report, True))

        @_library.OUTPUT
        def finding(_: Any, data: int, size: int, is_standard_error: int) -> None:
            receive_finding(ctypes.string_at(data, size).decode(errors="replace"))

        self._on_finding = finding
        receive = on_output or self._print

        @_library.OUTPUT
        def output(_: Any, data: int, size: int, is_standard_error: int) -> None:
            receive(ctypes.string_at(data, size).decode(errors="replace"), bool(is_standard_error))

        self._output = output
        options = _library.GpuOptions(ctypes.sizeof(_library.GpuOptions), integer(threads, "threads", 0, 0xFFFFFFFF),
                                      seconds(timeout, "timeout"), text(engine, "engine"), output, None,
                                      text(check, "check"), os.fsencode(check_suppressions), os.fsencode(check_report),
                                      finding)
        self._stream: Optional[ctypes.c_void_p] = None  # for launch()
        self._handle = errors.make("gpu_create", text(name, "the GPU's name"), ctypes.byref(options))
        self._waiting = threading.Lock()

    def __del__(self) -> None:
        if hasattr(self, "_handle"):
            _library.stream_free(self._stream)
            _library.gpu_free(self._handle)

    def __repr__(self) -> str:
        return f"<atoll.Gpu {self.product} ({self.target_id})>"

    @staticmethod
    def _print(output: str, is_standard_error: bool) -> None:
        print(output, end="", file=sys.stderr if is_standard_error else sys.stdout, flush=True)

    @property
    def product(self) -> str:
        """The product's name: "AMD Instinct MI250X"."""
        return _library.gpu_product(self._handle).decode()

    @property
    def target_id(self) -> str:
        """The target ID, with all settings: "gfx90a:sramecc+:xnack-"."""
        return _library.gpu_target_id(self._handle).decode()

    @property
    def findings(self) -> List[Finding]:
        """The findings of the checkers until now."""
        found = []
        for index in range(_library.gpu_finding_count(self._handle)):
            each = _library.gpu_finding(self._handle, index).contents
            found.append(Finding(each.checker.decode(), each.kind.decode(), each.message.decode(errors="replace"),
                                 each.report.decode(errors="replace"), each.kernel.decode(errors="replace"),
                                 each.source_file.decode(errors="replace"), each.line, each.column, each.count,
                                 bool(each.is_note)))
        return found

    def load(self, code: Union[str, os.PathLike[str], bytes, bytearray, memoryview]) -> Code:
        """Loads the path of a code object, a bundle or a program with one, or the bytes of such a file."""
        if isinstance(code, (str, os.PathLike)):
            return Code(self, errors.make("code_load_file", self._handle, os.fsencode(code)))
        if not isinstance(code, (bytes, bytearray, memoryview)):
            raise errors.ArgumentError(f"code must be a path or bytes, not {type(code).__name__}")
        data = bytes(code)
        return Code(self, errors.make("code_load", self._handle, data, len(data)))

    def _allocate(self, size: int) -> Memory:
        return Memory(errors.make("buffer_create", self._handle, size), size)

    def zeros(self, shape: Union[int, Sequence[int]], dtype: Any = "float32") -> numpy.ndarray:
        """Returns a NumPy array in the GPU's memory, which kernels and the program share."""
        import numpy

        dtype = numpy.dtype(dtype)
        if dtype.hasobject:
            raise errors.ArgumentError("an array of Python objects cannot be in the GPU's memory")
        sizes = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
        count = 1
        for size in sizes:
            count *= integer(size, "a dimension of the array", 0, (1 << 63) - 1)
        size = integer(count * dtype.itemsize, "the array's size in bytes", 0, (1 << 63) - 1)
        return numpy.asarray(self._allocate(size)).view(dtype).reshape(sizes)

    def array(self, values: Any, dtype: Any = None) -> numpy.ndarray:
        """Returns a copy of an array, or of values that NumPy makes one of, in the GPU's memory."""
        import numpy

        values = numpy.asarray(values, dtype)
        copy = self.zeros(values.shape, values.dtype)
        copy[...] = values
        return copy

    def launch(self, code: Code, kernel: str, *arguments: Any, grid: Sizes, block: Sizes = 64,
               lds: int = 0) -> LaunchResult:
        """Runs a kernel to its end. `grid` counts work-items; `lds` is dynamic LDS in bytes.

        Arguments are numbers, NumPy values and structures, bytes, LocalMemory, None, and NumPy arrays or memoryviews.
        Arrays of array() and zeros() are passed as they are; others are copied to the GPU and, if they are writable,
        back. An array must have the parameter's element type, where the code object has it. Raises atoll.Error if the
        kernel fails, atoll.ArgumentError before the launch if an argument cannot be passed. Ctrl-C stops the kernel.
        """
        made = Arguments(self, code.kernel(kernel), arguments, may_copy=True)
        sizes = shape(grid, block, lds)
        if threading.current_thread() is threading.main_thread() and self._waiting.acquire(blocking=False):
            try:
                result = self._launch_and_wait(code, kernel, made, sizes)
            finally:
                self._waiting.release()
        else:
            place = _library.LaunchResult()
            errors.call("launch", self._handle, code._handle, kernel.encode(), ctypes.byref(sizes), made.array,
                        made.count, ctypes.byref(place))
            result = _result(place)
        made.copy_back()
        return result

    def launch_shader(self, code: Code, shader: str, user_data: Dict[int, Any], *, grid: Sizes,
                      block: Sizes = 64) -> LaunchResult:
        """Runs a compute shader of OS ABI amdpal or mesa3d to its end, with user data entries in place of arguments.

        The dwords of `user_data[n]` are the entries from n on; a Python number is one, an array's address two. The
        code's metadata maps entries to SGPRs; without user data registers in it, entry n is in sn.
        """
        kernel = code.kernel(shader)
        if not kernel.is_shader:
            raise errors.ArgumentError(f"{shader} is a kernel, which takes arguments and no user data")
        entries = [integer(entry, "a user data entry", 0, 127) for entry in user_data]
        parameters = tuple(untyped(value, number) for number, value in enumerate(user_data.values(), 1))
        made = Arguments(self, replace(kernel, parameters=parameters), tuple(user_data.values()), may_copy=True)
        place = _library.LaunchResult()
        errors.call("launch_shader", self._handle, code._handle, shader.encode(), ctypes.byref(shape(grid, block, 0)),
                    (ctypes.c_uint32 * len(entries))(*entries), made.array, made.count, ctypes.byref(place))
        made.copy_back()
        return _result(place)

    def _launch_and_wait(self, code: Code, kernel: str, made: Arguments, sizes: _library.Shape) -> LaunchResult:
        """The main thread is the one that Ctrl-C interrupts, and only between calls: another one runs the kernel."""
        if self._stream is None:
            self._stream = errors.make("stream_create", self._handle)
        handle = errors.make("stream_launch", self._stream, code._handle, kernel.encode(), ctypes.byref(sizes),
                             made.array, made.count)
        try:
            return Event(self, handle, made.keep).wait()
        except BaseException:
            try:
                errors.call("stream_synchronize", self._stream)  # the next launch begins anew
            except errors.Error:
                pass
            raise

    def stream(self) -> Stream:
        """Creates a stream, whose kernels run while the program goes on."""
        return Stream(self)

    def interrupt(self) -> None:
        """Stops the kernels that run on the GPU. Their launches raise an Error."""
        _library.gpu_interrupt(self._handle)
