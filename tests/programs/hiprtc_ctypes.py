#!/usr/bin/env python3
"""Compiles a kernel by hiprtc, loads it, launches it and checks the result, all through ctypes.

    atoll run -- tests/programs/hiprtc_ctypes.py

Python loads HIP with dlopen, as plug-ins and other languages do, so that Atoll's runtime comes into a process that runs
already. Works with the libraries of HIP 5.2 to 7.2.
"""

import ctypes
import ctypes.util
import os
import re
import sys

SOURCE = b"""
extern "C" __global__ void scale_and_add(const float* in, double* out, float factor, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) out[i] = double(in[i]) * factor + i;
}
"""
COUNT = 10_000
HOST_TO_DEVICE, DEVICE_TO_HOST = 1, 2


def load(name):
    """The library of the highest version, whether or not its development package is there."""
    pattern = re.compile(rf"lib{name}\.so(\.\d+)?$")
    folders = ["/usr/lib/x86_64-linux-gnu", "/opt/rocm/lib"]
    found = [os.path.join(folder, file) for folder in folders if os.path.isdir(folder)
             for file in os.listdir(folder) if pattern.match(file)]
    return ctypes.CDLL(max(found, key=lambda path: int((path.rsplit(".so.", 1) + ["0"])[1]))) if found else None


hip = load("amdhip64") or sys.exit("there is no libamdhip64")
# Until HIP 5.7 hiprtc is a part of HIP's own library.
hiprtc = load("hiprtc") or hip
hip.hipGetErrorString.restype = ctypes.c_char_p
hiprtc.hiprtcGetErrorString.restype = ctypes.c_char_p


def check(status, library=hip):
    if status != 0:
        name = library.hipGetErrorString if library is hip else library.hiprtcGetErrorString
        sys.exit(f"line {sys._getframe(1).f_lineno}: {name(status).decode()}")


def compiled(source):
    program = ctypes.c_void_p()
    check(hiprtc.hiprtcCreateProgram(ctypes.byref(program), source, b"scale.hip", 0, None, None))
    status = hiprtc.hiprtcCompileProgram(program, 0, None)
    if status != 0:
        size = ctypes.c_size_t()
        hiprtc.hiprtcGetProgramLogSize(program, ctypes.byref(size))
        log = ctypes.create_string_buffer(size.value)
        hiprtc.hiprtcGetProgramLog(program, log)
        sys.exit(log.value.decode())
    size = ctypes.c_size_t()
    check(hiprtc.hiprtcGetCodeSize(program, ctypes.byref(size)))
    code = ctypes.create_string_buffer(size.value)
    check(hiprtc.hiprtcGetCode(program, code))
    check(hiprtc.hiprtcDestroyProgram(ctypes.byref(program)))
    return code


def main():
    version = ctypes.c_int()
    check(hip.hipRuntimeGetVersion(ctypes.byref(version)))
    check(hip.hipInit(0))
    code = compiled(SOURCE)
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    check(hip.hipModuleLoadData(ctypes.byref(module), code))
    check(hip.hipModuleGetFunction(ctypes.byref(function), module, b"scale_and_add"))

    values = (ctypes.c_float * COUNT)(*(i * 0.5 for i in range(COUNT)))
    results = (ctypes.c_double * COUNT)()
    device_in, device_out = ctypes.c_void_p(), ctypes.c_void_p()
    check(hip.hipMalloc(ctypes.byref(device_in), ctypes.c_size_t(ctypes.sizeof(values))))
    check(hip.hipMalloc(ctypes.byref(device_out), ctypes.c_size_t(ctypes.sizeof(results))))
    check(hip.hipMemcpy(device_in, values, ctypes.c_size_t(ctypes.sizeof(values)), HOST_TO_DEVICE))
    arguments = [device_in, device_out, ctypes.c_float(3.0), ctypes.c_int(COUNT)]
    pointers = (ctypes.c_void_p * len(arguments))(*(ctypes.addressof(argument) for argument in arguments))
    check(hip.hipModuleLaunchKernel(function, (COUNT + 255) // 256, 1, 1, 256, 1, 1, 0, None, pointers, None))
    check(hip.hipDeviceSynchronize())
    check(hip.hipMemcpy(results, device_out, ctypes.c_size_t(ctypes.sizeof(results)), DEVICE_TO_HOST))
    wrong = [i for i in range(COUNT) if results[i] != i * 1.5 + i]
    if wrong:
        sys.exit(f"{len(wrong)} of {COUNT} values are wrong, the first at {wrong[0]}: {results[wrong[0]]}")
    check(hip.hipFree(device_in))
    check(hip.hipFree(device_out))
    check(hip.hipModuleUnload(module))
    print(f"HIP {version.value // 10_000_000}.{version.value // 100_000 % 100}: {COUNT} values are right")


main()
