"""GPUs, their code and memory, and launches."""

import ctypes
import os
import sys
import threading
from dataclasses import dataclass
from typing import Tuple

from . import _library, errors
from .arguments import LocalMemory, Memory, bytes_of, is_array, is_contiguous, memory_of

_KINDS = ("value", "pointer", "local_memory", "unsupported")


@dataclass(frozen=True)
class Parameter:
    name: str  # empty where the compiler left names out
    type: str  # "float*"
    kind: str  # "value", "pointer", "local_memory" or "unsupported"
    offset: int
    size: int

    def __str__(self):
        return "the parameter " + " ".join(filter(None, (self.type, self.name))) if self.name else "the parameter"


@dataclass(frozen=True)
class Kernel:
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


@dataclass(frozen=True)
class LaunchResult:
    work_groups: int
    waves: int
    wave_instructions: int
    seconds: float


def _shape(grid, block, lds):
    def triple(sizes):
        sizes = (sizes,) if isinstance(sizes, int) else tuple(sizes)
        return (ctypes.c_uint32 * 3)(*(sizes + (1,) * (3 - len(sizes))))

    return _library.Shape(ctypes.sizeof(_library.Shape), triple(grid), triple(block), lds)


class Code:
    """Loaded code. `code.kernels` are names, `code.kernel(name)` describes one."""

    def __init__(self, gpu, handle):
        self._gpu = gpu  # to which what its kernels print goes
        self._handle = handle
        self._kernels = {}

    def __del__(self):
        _library.code_free(self._handle)

    @property
    def kernels(self):
        count = _library.code_kernel_count(self._handle)
        return [_library.code_kernel_name(self._handle, index).decode() for index in range(count)]

    def kernel(self, name):
        if name not in self._kernels:
            place = ctypes.POINTER(_library.KernelInfo)()
            errors.call("code_describe", self._handle, name.encode(), ctypes.byref(place))
            of = place.contents
            parameters = tuple(
                Parameter(each.name.decode(), each.type.decode(), _KINDS[each.kind], each.offset, each.size)
                for each in of.parameters[:of.parameter_count])
            self._kernels[name] = Kernel(of.name.decode(), parameters, of.lds_bytes, of.scratch_bytes, of.vgprs,
                                         of.agprs, of.sgprs, of.max_block_size, tuple(of.required_block),
                                         tuple(of.max_blocks), bool(of.whole_blocks))
        return self._kernels[name]

    def variable(self, name):
        """A device variable, as a memoryview of its bytes, which can be written."""
        address, size = ctypes.c_void_p(), ctypes.c_size_t()
        errors.call("code_variable", self._handle, name.encode(), ctypes.byref(address), ctypes.byref(size))
        memory = (ctypes.c_ubyte * size.value).from_address(address.value)
        memory.code = self  # which so lives as long
        return memoryview(memory).cast("B")


class _Arguments:
    """The arguments of a launch, and what has to be copied back after it."""

    def __init__(self, gpu, kernel, values, may_copy):
        if len(values) != len(kernel.parameters):
            raise TypeError(f"kernel {kernel.name} takes {len(kernel.parameters)} arguments, {len(values)} are given")
        self.keep, self.copies = [], []
        made = [self._make(gpu, value, parameter, may_copy) for value, parameter in zip(values, kernel.parameters)]
        self.array = (_library.Argument * len(made))(*made)
        self.count = len(made)

    def _make(self, gpu, value, parameter, may_copy):
        if isinstance(value, LocalMemory):
            return _library.Argument(_library.LOCAL_MEMORY, value.size, None)
        if is_array(value) and value.shape != ():
            return self._make_pointer(gpu, value, may_copy)
        return self._make_value(bytes_of(value, parameter))

    def _make_value(self, data):
        buffer = ctypes.create_string_buffer(data, len(data))
        self.keep.append(buffer)
        return _library.Argument(_library.VALUE, len(data), ctypes.addressof(buffer))

    def _make_pointer(self, gpu, array, may_copy):
        if memory_of(array) is not None:
            self.keep.append(array)
            return self._make_value(array.ctypes.data.to_bytes(8, "little"))
        if not may_copy:
            raise TypeError("a stream's kernels take arrays in the GPU's memory: see Gpu.array and Gpu.zeros")
        if not is_contiguous(array):
            raise TypeError("an array with gaps is no memory for a kernel: numpy.ascontiguousarray makes one without")
        memory = gpu._allocate(array.nbytes)
        ctypes.memmove(_library.buffer_data(memory.handle), array.ctypes.data, array.nbytes)
        self.keep.append(memory)
        if array.flags["WRITEABLE"]:
            self.copies.append((array, memory))
        return _library.Argument(_library.BUFFER, 0, memory.handle)

    def copy_back(self):
        for array, memory in self.copies:
            ctypes.memmove(array.ctypes.data, _library.buffer_data(memory.handle), array.nbytes)


def _result(place):
    return LaunchResult(place.work_groups, place.waves, place.wave_instructions, place.seconds)


class Event:
    """Something that a stream does."""

    def __init__(self, gpu, handle, keep):
        self._gpu, self._handle, self._keep = gpu, handle, keep

    def __del__(self):
        _library.event_free(self._handle)

    @property
    def done(self):
        return bool(_library.event_is_done(self._handle))

    def wait(self, timeout=None):
        """Waits until it is done; what the launch took. Raises TimeoutError after `timeout` seconds.

        Ctrl-C stops what runs on the GPU.
        """
        try:
            if timeout is not None:
                if not _library.event_wait_for(self._handle, timeout):
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

    def __init__(self, gpu):
        self._gpu = gpu
        self._handle = errors.make("stream_create", gpu._handle)
        self._keep = []  # arrays of kernels that may not have run

    def __del__(self):
        if hasattr(self, "_handle"):
            _library.stream_free(self._handle)

    def launch(self, code, kernel, *arguments, grid, block=64, lds=0):
        """As Gpu.launch, but returns an Event at once. Arrays must be in the GPU's memory."""
        made = _Arguments(self._gpu, code.kernel(kernel), arguments, may_copy=False)
        return self._launch(code, kernel, made, _shape(grid, block, lds))

    def _launch(self, code, kernel, made, shape):
        handle = errors.make("stream_launch", self._handle, code._handle, kernel.encode(), ctypes.byref(shape),
                             made.array, made.count)
        event = Event(self._gpu, handle, made.keep)
        self._keep = [(other, keep) for other, keep in self._keep if not other.done]
        self._keep.append((event, made.keep))
        return event

    def wait(self, event):
        """What comes later in the stream waits for an event of another one."""
        errors.call("stream_wait", self._handle, event._handle)

    def synchronize(self):
        """Waits until all is done. Raises the first error since the last time."""
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

    def __init__(self, name, *, threads=0, timeout=0, engine="", on_output=None, check="", check_suppressions="",
                 check_report="", on_finding=None):
        receive_finding = on_finding or (lambda text: self._print(text, True))

        @_library.OUTPUT
        def finding(_, text, size, is_standard_error):
            receive_finding(ctypes.string_at(text, size).decode(errors="replace"))

        self._on_finding = finding
        receive = on_output or self._print

        @_library.OUTPUT
        def output(_, text, size, is_standard_error):
            receive(ctypes.string_at(text, size).decode(errors="replace"), bool(is_standard_error))

        self._output = output
        options = _library.GpuOptions(ctypes.sizeof(_library.GpuOptions), threads, timeout, engine.encode(), output, None,
                                      check.encode(), os.fsencode(check_suppressions), os.fsencode(check_report),
                                      finding)
        self._stream = None  # for launch()
        self._handle = errors.make("gpu_create", name.encode(), ctypes.byref(options))
        self._waiting = threading.Lock()

    def __del__(self):
        if hasattr(self, "_handle"):
            _library.stream_free(self._stream)
            _library.gpu_free(self._handle)

    def __repr__(self):
        return f"<atoll.Gpu {self.product} ({self.target_id})>"

    @staticmethod
    def _print(text, is_standard_error):
        print(text, end="", file=sys.stderr if is_standard_error else sys.stdout, flush=True)

    @property
    def product(self):
        return _library.gpu_product(self._handle).decode()

    @property
    def target_id(self):
        return _library.gpu_target_id(self._handle).decode()

    @property
    def findings(self):
        """What the checkers have found until now: a list of Finding."""
        found = []
        for index in range(_library.gpu_finding_count(self._handle)):
            each = _library.gpu_finding(self._handle, index).contents
            found.append(Finding(each.checker.decode(), each.kind.decode(), each.message.decode(errors="replace"),
                                 each.report.decode(errors="replace"), each.kernel.decode(errors="replace"),
                                 each.source_file.decode(errors="replace"), each.line, each.column, each.count,
                                 bool(each.is_note)))
        return found

    def load(self, code):
        """Code: the path of a code object, a bundle or a program with one, or the bytes of such a file."""
        if isinstance(code, (str, os.PathLike)):
            return Code(self, errors.make("code_load_file", self._handle, os.fsencode(code)))
        data = bytes(code)
        return Code(self, errors.make("code_load", self._handle, data, len(data)))

    def _allocate(self, size):
        return Memory(errors.make("buffer_create", self._handle, size), size)

    def zeros(self, shape, dtype="float32"):
        """A NumPy array in the GPU's memory, which kernels and the program see alike."""
        import numpy

        dtype = numpy.dtype(dtype)
        count = int(numpy.prod(shape, dtype=numpy.int64))
        return numpy.asarray(self._allocate(count * dtype.itemsize)).view(dtype).reshape(shape)

    def array(self, values, dtype=None):
        """A copy of an array, or of what becomes one, in the GPU's memory."""
        import numpy

        values = numpy.asarray(values, dtype)
        copy = self.zeros(values.shape, values.dtype)
        copy[...] = values
        return copy

    def launch(self, code, kernel, *arguments, grid, block=64, lds=0):
        """Runs a kernel to its end. `grid` counts work-items; `lds` is dynamic LDS in bytes.

        Arguments are numbers, NumPy values and structures, bytes, LocalMemory, None, and NumPy arrays: those of array()
        and zeros() as they are; others are copied to the GPU and back. Raises atoll.Error if the kernel fails. Ctrl-C
        stops it.
        """
        made = _Arguments(self, code.kernel(kernel), arguments, may_copy=True)
        shape = _shape(grid, block, lds)
        if threading.current_thread() is threading.main_thread() and self._waiting.acquire(blocking=False):
            try:
                result = self._launch_and_wait(code, kernel, made, shape)
            finally:
                self._waiting.release()
        else:
            place = _library.LaunchResult()
            errors.call("launch", self._handle, code._handle, kernel.encode(), ctypes.byref(shape), made.array,
                        made.count, ctypes.byref(place))
            result = _result(place)
        made.copy_back()
        return result

    def _launch_and_wait(self, code, kernel, made, shape):
        """The main thread is the one that Ctrl-C interrupts, and only between calls: another one runs the kernel."""
        if self._stream is None:
            self._stream = errors.make("stream_create", self._handle)
        handle = errors.make("stream_launch", self._stream, code._handle, kernel.encode(), ctypes.byref(shape),
                             made.array, made.count)
        try:
            return Event(self, handle, made.keep).wait()
        except BaseException:
            try:
                errors.call("stream_synchronize", self._stream)  # the next launch begins anew
            except errors.Error:
                pass
            raise

    def stream(self):
        return Stream(self)

    def interrupt(self):
        """Stops what runs on the GPU, with an Error."""
        _library.gpu_interrupt(self._handle)
