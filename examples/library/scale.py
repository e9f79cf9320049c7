"""The same as scale.cpp, in Python: python3 scale.py scale.co"""

import sys

import atoll
import numpy as np

gpu = atoll.Gpu("mi250x")
code = gpu.load(sys.argv[1] if len(sys.argv) > 1 else "scale.co")

data = np.arange(1000, dtype=np.float32)
done = gpu.launch(code, "scale", data, 2.5, 1000, grid=1024, block=256)
print(f"data[3] is {data[3]:g} after {done.wave_instructions} instructions of {done.waves} waves")

# An array in the GPU's memory is not copied to it and back, and is what a stream's kernels take.
on_gpu = gpu.array(data)
stream = gpu.stream()
for _ in range(2):
    stream.launch(code, "scale", on_gpu, 2.0, 1000, grid=1024, block=256)
stream.synchronize()
print(f"data[3] is {on_gpu[3]:g}")

# 1280 floats are more than there are.
try:
    gpu.launch(code, "scale", on_gpu, 2.0, 1280, grid=1280, block=256)
except atoll.Error as error:
    print(f"{error.status}: {error}")
    fault = error.fault
    print(f"in fields: {fault.kind} in line {fault.line} of {fault.source_file}, "
          f"work-group {fault.work_group[0]}, lane {fault.lane}")
