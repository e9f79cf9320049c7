"""The Python module, as it is installed from its wheel; results against NumPy's for the same."""

import array as array_module
import ctypes
import inspect
import os
import pathlib
import pickle
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import typing
import unittest

import atoll
import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCE = """
typedef struct { int a; double b; } Pair;
kernel void scale(global float* data, float factor, int count) {
  int i = __builtin_amdgcn_workgroup_id_x() * __builtin_amdgcn_workgroup_size_x() + __builtin_amdgcn_workitem_id_x();
  if (i < count) data[i] *= factor;
}
kernel void types(global double* out, char c, ushort s, long l, double d, Pair p) {
  out[0] = c; out[1] = s; out[2] = l; out[3] = d; out[4] = p.a; out[5] = p.b;
}
kernel void reverse(global int* data, local int* part) {
  uint i = __builtin_amdgcn_workitem_id_x();
  part[i] = data[i];
  __builtin_amdgcn_s_barrier();
  data[i] = part[63 - i];
}
kernel void stray(global int* out) {
  out[1 << 28] = 1;
}
kernel void forever(global volatile int* out) { while (*out == 0) {} }
__attribute__((visibility("default"))) global int counter;
__attribute__((visibility("default"))) global float table[8];
kernel void look(global float* out) { *out = table[0]; }
kernel void count(void) { counter++; }
"""
PRINTING = """
__attribute__((used)) global char* __printf_alloc(uint bytes) {  // one work-item is all that prints
  global uint* buffer = (global uint*)((constant size_t*)__builtin_amdgcn_implicitarg_ptr())[9];
  buffer[0] += bytes;
  return (global char*)buffer + 8 + buffer[0] - bytes;
}
int printf(constant const char* format, ...);
kernel void hello(int i) { printf("hello %d\\n", i); }
"""


MULTIPLY = """
  %e = getelementptr i32, ptr addrspace(1) %p, i32 %i
  %v = load i32, ptr addrspace(1) %e
  %r = mul i32 %v, %k
  store i32 %r, ptr addrspace(1) %e
  ret void
}
"""
SHADERS = {
    "amdgcn--amdpal": """
define amdgpu_cs void @shader(i32 inreg %k, i32 inreg %lo, i32 inreg %hi, i32 %id) {
  %a = insertelement <2 x i32> poison, i32 %lo, i64 0
  %b = insertelement <2 x i32> %a, i32 %hi, i64 1
  %c = bitcast <2 x i32> %b to i64
  %p = inttoptr i64 %c to ptr addrspace(1)
  %i = and i32 %id, 1023""" + MULTIPLY + """
!amdgpu.pal.metadata = !{!0}
!0 = !{i32 11795, i32 6, i32 11840, i32 9, i32 11841, i32 5, i32 11842, i32 6}
""",
    "amdgcn-mesa-mesa3d": """
define amdgpu_kernel void @scale(ptr addrspace(1) %p, i32 %k) #0 {
  %i = call i32 @llvm.amdgcn.workitem.id.x()""" + MULTIPLY + """
declare i32 @llvm.amdgcn.workitem.id.x()
attributes #0 = { "amdgpu-no-queue-ptr" "amdgpu-no-dispatch-id" "amdgpu-no-dispatch-ptr" "amdgpu-no-flat-scratch-init" }
"""
}


def compile_code(directory, name, source, *options):
    path = pathlib.Path(directory) / name
    path.with_suffix(".cl").write_text(source)
    subprocess.run([
        "clang-22", "-nogpulib", "-x", "cl", "-target", "amdgcn-amd-amdhsa", "-mcpu=gfx90a", "-O2", "-w", "-cl-kernel-arg-info",
        "-cl-std=CL2.0", *options,
        path.with_suffix(".cl"), "-o", path
    ], check=True)
    return path


class Launches(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory()
        cls.path = compile_code(cls.directory.name, "kernels.co", SOURCE, "-g")
        cls.gpu = atoll.Gpu("gfx90a", timeout=60)
        cls.code = cls.gpu.load(cls.path)

    @classmethod
    def tearDownClass(cls):
        cls.directory.cleanup()

    def test_arrays_are_copied_to_the_gpu_and_back(self):
        x = np.arange(1000, dtype=np.float32)
        done = self.gpu.launch(self.code, "scale", x, 2.5, 990, grid=1000, block=256)
        expected = np.arange(1000, dtype=np.float32)
        expected[:990] *= np.float32(2.5)
        np.testing.assert_array_equal(x, expected)
        self.assertEqual((done.work_groups, done.waves), (4, 16))

    def test_arrays_in_the_gpus_memory_and_parts_of_them_are_not(self):
        x = self.gpu.array(np.ones((4, 64)), np.float32)
        self.gpu.launch(self.code, "scale", x[2], 3, 64, grid=64)
        self.assertEqual(x.sum(), 64 * 6)
        np.testing.assert_array_equal(x[2], np.full(64, 3))
        self.assertEqual(self.gpu.zeros(10, np.int64).dtype, np.int64)
        self.assertTrue((self.gpu.zeros((2, 3)) == 0).all())

    def test_read_only_arrays_stay_as_they_are_and_slices_are_copied(self):
        x = np.ones(64, np.float32)
        x.flags.writeable = False
        self.gpu.launch(self.code, "scale", x, 3, 64, grid=64)
        self.assertTrue((x == 1).all())
        x = np.arange(256, dtype=np.float32).reshape(64, 4)
        expected = x.copy()
        expected[:, 1] *= 3
        expected[:, 3] *= 3
        expected[::-1, 0][:10] *= 2
        self.gpu.launch(self.code, "scale", x[:, 1::2], 3, 128, grid=128)
        self.gpu.launch(self.code, "scale", x[::-1, 0], 2, 10, grid=64)
        np.testing.assert_array_equal(x, expected)
        x = self.gpu.array(np.ones((64, 4)), np.float32)
        with self.assertRaisesRegex(atoll.ArgumentError, "a slice with gaps of GPU memory for parameter 'float. data'"):
            self.gpu.launch(self.code, "scale", x[:, 1], 3, 64, grid=64)
        self.gpu.launch(self.code, "scale", x[:, 1].ctypes.data, 3, 8, grid=64)  # its address
        self.assertEqual(x.sum(), 256 + 2 * 8)

    def test_memoryviews_are_copied_and_variables_are_passed_as_they_are(self):
        x = bytearray(struct.pack("<64f", *range(64)))
        self.gpu.launch(self.code, "scale", memoryview(x).cast("f"), 2, 64, grid=64)
        self.assertEqual(struct.unpack("<64f", x), tuple(range(0, 128, 2)))
        self.gpu.launch(self.code, "scale", memoryview(bytes(x)).cast("f"), 2, 64, grid=64)  # not writable
        table = self.code.variable("table").cast("f")
        table[:] = memoryview(bytes(x)).cast("f")[:8]
        self.gpu.launch(self.code, "scale", table[4:], 0.5, 3, grid=64)
        self.assertEqual(table.tolist(), [0, 2, 4, 6, 4, 5, 6, 14])
        self.gpu.launch(self.code, "scale", np.frombuffer(table, np.float32)[1:2], 2, 1, grid=64)
        self.assertEqual(table[1], 4)

    def test_arguments_of_other_types_are_refused(self):
        """Each type of array, number and view for each type of parameter, by NumPy's own rule for kinds and sizes."""
        names = {"char": "int8", "uchar": "uint8", "short": "int16", "ushort": "uint16", "int": "int32", "uint": "uint32",
                 "long": "int64", "ulong": "uint64", "half": "float16", "float": "float32", "double": "float64"}
        source = "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n" + "".join(
            f"kernel void k_{name}(global {name}* p, {name} v) {{ *p += v; }}\n" for name in names)
        code = self.gpu.load(compile_code(self.directory.name, "kinds.co", source))
        dtypes = [np.dtype(each) for each in (*names.values(), "bool", "complex64", "complex128", "datetime64[s]", "S4", "O",
                                              ">f4", ">i4", ">f8", "i4,f4", "V4")]
        refused = 0
        for name, own in names.items():
            own = np.dtype(own)
            for dtype in dtypes:
                same = dtype.isnative and not dtype.hasobject and dtype.itemsize == own.itemsize and (
                    dtype.kind == own.kind == "f" or (dtype.kind in "iub" and own.kind in "iu"))
                for in_gpu in (False, True) if not dtype.hasobject else (False,):
                    array = self.gpu.zeros(4, dtype) if in_gpu else np.zeros(4, dtype)
                    with self.subTest(parameter=name, dtype=dtype, in_gpu=in_gpu):
                        if same:
                            self.gpu.launch(code, "k_" + name, array, 1, grid=1, block=1)
                            self.assertEqual(array[0], 1)
                        else:
                            refused += 1
                            with self.assertRaisesRegex(atoll.ArgumentError, f"for parameter '{name}. p'"):
                                self.gpu.launch(code, "k_" + name, array, 1, grid=1, block=1)
                number = np.zeros((), dtype)[()]
                if not isinstance(number, np.generic) or dtype.kind in "MSOV":
                    continue
                out = np.zeros(1, own)
                with self.subTest(parameter=name, number=dtype):
                    # A value has no byte order in memory.
                    if dtype.itemsize == own.itemsize and (dtype.kind == own.kind == "f" or (dtype.kind in "iub" and own.kind in "iu")):
                        self.gpu.launch(code, "k_" + name, out, number, grid=1, block=1)
                    else:
                        refused += 1
                        with self.assertRaisesRegex(atoll.ArgumentError, f"for parameter '{name} v'"):
                            self.gpu.launch(code, "k_" + name, out, number, grid=1, block=1)
            out = np.zeros(1, own)
            for value in (None, "1", b"", [1], {}, 1j, out, ctypes.c_float(1) if own.kind != "f" else ctypes.c_int(1),
                          atoll.LocalMemory(4), memoryview(bytes(3)), *((1.0, 1 << 70, -(1 << 70)) if own.kind != "f" else ())):
                with self.subTest(parameter=name, value=value):
                    refused += 1
                    with self.assertRaisesRegex(atoll.ArgumentError, f"parameter '{name} v'"):
                        self.gpu.launch(code, "k_" + name, out, value, grid=1, block=1)
            for value in (1.5, True, "x", b"12345678", bytearray(8), array_module.array("f", [1]), np.float64(1), np.array(1.0),
                          [1, 2], (ctypes.c_float * 2)(), -1, 1 << 64, atoll.LocalMemory(4),
                          memoryview(bytearray(16)).cast("d" if own.itemsize != 8 or own.kind != "f" else "f")):
                with self.subTest(parameter=name, pointer=value):
                    refused += 1
                    with self.assertRaisesRegex(atoll.ArgumentError, f"parameter '{name}. p'"):
                        self.gpu.launch(code, "k_" + name, value, 1, grid=1, block=1)
        self.assertGreater(refused, 700)
        with self.assertRaises(atoll.ArgumentError) as raised:
            self.gpu.launch(self.code, "scale", array_module.array("f", [1]), 2, 1, grid=1)
        self.assertEqual(str(raised.exception), "cannot pass an array.array for parameter 'float* data'; use a NumPy array")
        with self.assertRaises(atoll.ArgumentError) as raised:
            self.gpu.launch(self.code, "scale", np.ones(4), 2, 1, grid=1)
        self.assertEqual(str(raised.exception),
                         "cannot pass a float64 array for parameter 'float* data'; use array.astype(numpy.float32)")

    def test_shapes_that_are_none_are_refused(self):
        x = self.gpu.array(np.ones(64), np.float32)
        for shape in ({"grid": 0}, {"grid": -1}, {"grid": 1 << 32}, {"grid": 64.0}, {"grid": "64"}, {"grid": ()}, {"grid": None},
                      {"grid": (64, 0)}, {"grid": (64, 1, -1)}, {"grid": (64, 1, 1, 1)}, {"grid": 64, "block": 0},
                      {"grid": 64, "block": -64}, {"grid": 64, "block": 65536}, {"grid": 64, "block": (64, 0)},
                      {"grid": 64, "block": 1.5}, {"grid": 64, "lds": -1}, {"grid": 64, "lds": 1 << 32},
                      {"grid": 64, "lds": "1"}):
            with self.subTest(shape=shape):
                with self.assertRaises(atoll.ArgumentError):
                    self.gpu.launch(self.code, "scale", x, 2, 64, **shape)
                with self.assertRaises(atoll.ArgumentError):
                    self.gpu.stream().launch(self.code, "scale", x, 2, 64, **shape)
        self.assertTrue((x == 1).all())
        self.gpu.launch(self.code, "scale", x, 2, 64, grid=np.int64(64), block=np.uint8(64))
        self.gpu.launch(self.code, "scale", x, 2, 64, grid=np.array([64, 1]), block=[64])
        self.assertTrue((x == 4).all())
        for options in ({"threads": -1}, {"threads": 1.5}, {"timeout": -1}, {"timeout": float("nan")}, {"timeout": "1"},
                        {"engine": 3}, {"check": ["memory"]}, {"engine": "x\0"}):
            with self.subTest(options=options), self.assertRaises(atoll.ArgumentError):
                atoll.Gpu("gfx90a", **options)
        for size in (-1, 1 << 32, 1.5, "4"):
            with self.subTest(size=size), self.assertRaises(atoll.ArgumentError):
                atoll.LocalMemory(size)
        for shape in (-1, (2, -1), 1 << 62, 1.5):
            with self.subTest(shape=shape), self.assertRaises(atoll.ArgumentError):
                self.gpu.zeros(shape)

    def test_values_become_what_the_parameters_are(self):
        out = np.zeros(6)
        pair = np.array((7, 0.125), dtype=np.dtype([("a", "i4"), ("b", "f8")], align=True))
        self.gpu.launch(self.code, "types", out, -3, 65535, -3_000_000_000, 2, pair, grid=1, block=1)
        self.assertEqual(out.tolist(), [-3, 65535, -3e9, 2, 7, 0.125])
        self.gpu.launch(self.code, "types", out, np.int8(1), np.uint16(2), np.int64(3), np.float64(4),
                        struct.pack("<iid", 5, 0, 6), grid=1, block=1)
        self.assertEqual(out.tolist(), [1, 2, 3, 4, 5, 6])

    def test_values_that_do_not_fit_are_refused(self):
        x = np.ones(64, np.float32)
        for arguments, words in [((x, 2.5), "takes 3 arguments, 2 are given"),
                                 ((x, 2.5, 1.5), "cannot pass the float 1.5 for parameter 'int count', an integer"),
                                 ((x, 2.5, 1 << 40), "1099511627776 does not fit in parameter 'int count'"),
                                 ((x, "2.5", 1), "cannot pass a str for parameter 'float factor'"),
                                 ((x, np.float64(2.5), 1), "cannot pass a float64 for parameter 'float factor'")]:
            # One kind of exception, which is a TypeError and a ValueError, too.
            for exception in (atoll.Error, atoll.ArgumentError, TypeError, ValueError):
                with self.assertRaisesRegex(exception, words):
                    self.gpu.launch(self.code, "scale", *arguments, grid=64)
        with self.assertRaisesRegex(atoll.Error, "no kernel nothing"):
            self.gpu.launch(self.code, "nothing", grid=1)

    def test_local_memory(self):
        x = np.arange(64, dtype=np.int32)
        self.gpu.launch(self.code, "reverse", x, atoll.LocalMemory(256), grid=64)
        self.assertEqual(x.tolist(), list(range(63, -1, -1)))

    def test_descriptions_and_variables(self):
        self.assertIn("scale", self.code.kernels)
        scale = self.code.kernel("scale")
        self.assertEqual([(p.type, p.name, p.kind, p.size) for p in scale.parameters],
                         [("float*", "data", "pointer", 8), ("float", "factor", "value", 4),
                          ("int", "count", "value", 4)])
        counter = self.code.variable("counter").cast("i")
        counter[0] = 41
        self.gpu.launch(self.code, "count", grid=1, block=1)
        self.assertEqual(counter[0], 42)
        self.assertEqual(self.gpu.target_id, "gfx90a:sramecc+:xnack-")
        self.assertRegex(repr(self.code), r"^<atoll.Code for gfx90a:sramecc\+:xnack-: (\w+, ){4}\.\.\.>$")
        self.assertEqual([p.element for p in scale.parameters], ["f32", "f32", "i32"])

    def test_faults_are_exceptions_with_fields(self):
        x = self.gpu.zeros(64, np.int32)
        with self.assertRaises(atoll.Error) as raised:
            self.gpu.launch(self.code, "stray", x, grid=1, block=1)
        error = raised.exception
        self.assertEqual(error.status, "memory_fault")
        self.assertEqual((error.fault.kind, error.fault.kernel, error.fault.is_write), ("memory", "stray", True))
        self.assertEqual(error.fault.address, x.ctypes.data + (4 << 28))
        self.assertEqual(error.fault.line, 1 + SOURCE[:SOURCE.index("out[1 << 28]")].count("\n"))
        self.gpu.launch(self.code, "count", grid=1, block=1)  # the GPU lives on

    def test_findings_of_checkers(self):
        reports = []
        gpu = atoll.Gpu("gfx90a", check="memory", on_finding=reports.append)
        code = gpu.load(self.path)
        gpu.launch(code, "scale", gpu.zeros(60), 2, 60, grid=64, block=64)
        self.assertEqual(gpu.findings, [])
        gpu.launch(code, "scale", gpu.zeros(60), 2, 64, grid=64, block=64)
        first = gpu.findings[0]
        self.assertEqual((first.checker, first.kind, first.kernel, first.count), ("memory", "out-of-bounds", "scale", 4))
        self.assertEqual(reports[0], first.report)
        with self.assertRaisesRegex(atoll.Error, "unknown checker 'racing'"):
            atoll.Gpu("gfx90a", check="racing")

    def test_streams(self):
        x = self.gpu.array(np.ones(64, np.float32))
        stream, other = self.gpu.stream(), self.gpu.stream()
        events = [stream.launch(self.code, "scale", x, 2, 64, grid=64) for _ in range(5)]
        other.wait(events[-1])
        event = other.launch(self.code, "scale", x, 10, 64, grid=64)
        self.assertEqual(event.wait().waves, 1)
        self.assertTrue(all(each.done for each in events))
        self.assertTrue((x == 320).all())
        with self.assertRaisesRegex(atoll.ArgumentError, "GPU's memory"):
            stream.launch(self.code, "scale", np.ones(64, np.float32), 2, 64, grid=64)
        stream.launch(self.code, "stray", x.view(np.int32), grid=1)
        with self.assertRaisesRegex(atoll.Error, "stray"):
            stream.synchronize()
        stream.synchronize()

    def test_several_gpus_and_threads(self):
        results = []

        def work():
            gpu = atoll.Gpu("gfx90a", engine="interpreter")
            x = np.ones(256, np.float32)
            for _ in range(3):
                gpu.launch(gpu.load(self.path.read_bytes()), "scale", x, 2, 256, grid=256)
            results.append(x[255])

        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(results, [8, 8, 8])

    def test_ctrl_c_stops_a_kernel(self):
        flag = self.gpu.zeros(1, np.int32)
        stop = threading.Event()

        def interrupt():
            while not stop.wait(0.2):
                os.kill(os.getpid(), signal.SIGINT)

        thread = threading.Thread(target=interrupt)
        thread.start()
        try:
            with self.assertRaises(KeyboardInterrupt):
                try:
                    self.gpu.launch(self.code, "forever", flag, grid=1, block=1)
                finally:
                    stop.set()
                    flag[0] = 1
        finally:
            thread.join()
        self.gpu.launch(self.code, "count", grid=1, block=1)

    def test_shaders_and_kernels_of_other_operating_systems(self):
        directory = pathlib.Path(self.directory.name)
        for triple in ("amdgcn--amdpal", "amdgcn-mesa-mesa3d"):
            (directory / f"{triple}.ll").write_text(SHADERS[triple])
            subprocess.run(["llc-22", f"-mtriple={triple}", "-mcpu=gfx1030", "-filetype=obj", directory / f"{triple}.ll", "-o",
                            directory / f"{triple}.o"], check=True)
        gpu = atoll.Gpu("gfx1030")
        shader = gpu.load(directory / "amdgcn--amdpal.o")
        self.assertTrue(shader.kernel("shader").is_shader)
        x = np.arange(64, dtype=np.uint32)
        gpu.launch_shader(shader, "shader", {5: x, 9: 7}, grid=64)
        np.testing.assert_array_equal(x, np.arange(64) * 7)
        with self.assertRaisesRegex(atoll.Error, "user data entry 9 in s0, which is not set"):
            gpu.launch_shader(shader, "shader", {5: x}, grid=64)
        kernel = gpu.load(directory / "amdgcn-mesa-mesa3d.o")
        self.assertEqual(kernel.kernel("scale").argument_bytes, 28)
        gpu.launch(kernel, "scale", x, 2, grid=64)
        np.testing.assert_array_equal(x, np.arange(64) * 14)
        with self.assertRaisesRegex(atoll.Error, "has 12 bytes of arguments, 8 are given"):
            gpu.launch(kernel, "scale", x, grid=64)
        with self.assertRaisesRegex(atoll.ArgumentError, "scale is a kernel"):
            gpu.launch_shader(kernel, "scale", {}, grid=64)

    def test_what_kernels_print(self):
        path = compile_code(self.directory.name, "hello.co", PRINTING, "-mcode-object-version=5")
        lines = []
        gpu = atoll.Gpu("gfx90a", on_output=lambda text, is_error: lines.append((text, is_error)))
        gpu.launch(gpu.load(path), "hello", 7, grid=1, block=1)
        self.assertEqual(lines, [("hello 7\n", False)])


class Examples(unittest.TestCase):
    """The programs of docs/library.md, which shows what they print."""

    def run_example(self, name, *arguments):
        done = subprocess.run([sys.executable, ROOT / "examples/library" / name, *arguments], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.assertEqual(done.returncode, 0, done.stdout)
        return done.stdout

    def test_scale_prints_what_the_program_in_cxx_does(self):
        with tempfile.TemporaryDirectory() as directory:
            path = compile_code(directory, "scale.co", (ROOT / "examples/library/scale.cl").read_text(), "-g")
            printed = self.run_example("scale.py", path)
        self.assertRegex(printed, r"data\[3\] is 7.5 after [0-9]+ instructions of 16 waves\n"
                         r"data\[3\] is 30\nmemory_fault: kernel 'scale' ")
        self.assertRegex(printed, r"\nin fields: memory in line 6 of .*scale.cl, work-group 4, lane 0\n$")

    def test_instructions_prints_what_the_documentation_shows(self):
        documentation = (ROOT / "docs/library.md").read_text()
        shown = documentation.split("$ python3 instructions.py\n")[1].split("```")[0]
        self.assertEqual(self.run_example("instructions.py"), shown)


class Tools(unittest.TestCase):

    def test_evaluate(self):
        result = atoll.eval("v_fma_f32 v0, v1, v2, v3", "gfx1100", v1=1.5, v2=np.arange(32, dtype=np.float32), v3=[1.0])
        self.assertEqual(result.wave_size, 32)
        for lane, value in result["v0"].items():
            self.assertEqual(value, 1.5 * lane + 1)
        self.assertIn("f32 1\n", str(result))
        result = atoll.eval(["s_add_u32 s0, s1, s2"], "gfx90a", {"s1": 40, "s2": "0x2"})
        self.assertEqual((result["s0"], result.error), (42, None))
        # Where Python's heap is not: below 1 GiB it may be anywhere.
        result = atoll.eval("global_store_dword v0, v1, s[2:3]", "gfx90a",
                            {"v1": 7, "s[2:3]": "0x600010000000", "exec": 1, "mem[0x600010000000:64]": 0})
        self.assertEqual(result.memory, {0x600010000000: struct.pack("<I", 7)})
        result = atoll.eval("global_load_dword v0, v1, s[2:3]", "gfx90a", {"s[2:3]": "0x600030000000"})
        self.assertEqual((result.error.status, result.error.fault.address), ("memory_fault", 0x600030000000))
        with self.assertRaisesRegex(atoll.Error, "<text>:1:1: error"):
            atoll.eval("v_nonsense", "gfx90a")

    def test_assemble_link_and_read(self):
        text = ".globl f\n.type f,@function\nf:\n  v_add_f32_e32 v0, v1, v2\n  s_endpgm\n"
        objects = [atoll.asm(text, "gfx90a", relocatable=True)]
        code = atoll.link(objects)
        self.assertIn("v_add_f32_e32 v0, v1, v2", atoll.disasm(code))
        self.assertEqual(atoll.inspect(code)[0]["target"], "gfx90a")
        self.assertEqual([each.text for each in atoll.decode([0x7E000280, 0x7E0202FF, 0x40490FDB], "gfx1100")],
                         ["v_mov_b32_e32 v0, 0", "v_mov_b32_e32 v1, 0x40490fdb"])
        with self.assertRaisesRegex(atoll.Error, "bad.s:1:22: error") as raised:
            atoll.asm("v_add_f32 v0, v1, v2 glc", "gfx900", name="bad.s")
        self.assertEqual(raised.exception.status, "invalid_argument")

    def test_gpus(self):
        gpus = atoll.gpus()
        self.assertGreater(len(gpus), 30)
        by_name = {each["name"]: each for each in gpus}
        self.assertEqual(by_name["mi250x"]["target_id"], "gfx90a:sramecc+:xnack-")
        self.assertEqual(atoll.Gpu("MI250X").product, by_name["mi250x"]["product"])

    def test_failures_are_of_one_kind(self):
        for call in (lambda: atoll.Gpu("voodoo2"), lambda: atoll.Gpu(3), lambda: atoll.Gpu("gfx90a").load("/nothing"),
                     lambda: atoll.Gpu("gfx90a").load(3), lambda: atoll.Gpu("gfx90a").load(b"ELF"), lambda: atoll.asm("x", None),
                     lambda: atoll.asm(b"", "gfx900"), lambda: atoll.disasm("/nothing"), lambda: atoll.disasm(b""),
                     lambda: atoll.inspect("/"), lambda: atoll.link("one.o"), lambda: atoll.link([]), lambda: atoll.link([3]),
                     lambda: atoll.decode([1 << 32], "gfx900"), lambda: atoll.decode([-1], "gfx900"),
                     lambda: atoll.decode(b"", "gfx900", wave_size=-1), lambda: atoll.decode("00", "gfx900"),
                     lambda: atoll.eval("s_nop 0", "gfx900", wave_size=33), lambda: atoll.eval("s_nop 0", "gfx900", timeout=-1),
                     lambda: atoll.eval("s_nop 0", "gfx900", v0=np.ones(3, complex)), lambda: atoll.eval("s_nop 0\0", "gfx900"),
                     lambda: atoll.inspect(b"", work_group_size=-1), lambda: atoll.eval("s_nop 0", 3)):
            with self.subTest(call=inspect.getsource(call)[:60]), self.assertRaises(atoll.Error) as raised:
                call()
            self.assertIsInstance(raised.exception.status, str)
            again = pickle.loads(pickle.dumps(raised.exception))
            self.assertEqual((type(again), again.message), (type(raised.exception), raised.exception.message))

    def test_all_is_documented_and_annotated(self):
        self.assertTrue((pathlib.Path(atoll.__file__).parent / "py.typed").exists())
        checked = 0
        for name in atoll.__all__:
            thing = getattr(atoll, name)
            self.assertTrue(thing.__doc__, name)
            members = [(name, thing)] if inspect.isfunction(thing) else [
                (f"{name}.{each}", getattr(member, "fget", member) if isinstance(member, property) else member)
                for each, member in vars(thing).items()
                if (not each.startswith("_") or each == "__init__") and (inspect.isfunction(member) or isinstance(member, property))]
            for path, function in members:
                if function.__module__ is None or not function.__module__.startswith("atoll"):
                    continue
                signature = inspect.signature(function)
                missing = [each.name for each in signature.parameters.values()
                           if each.annotation is each.empty and each.name != "self"]
                if "<string>" in function.__code__.co_filename:  # of a dataclass
                    continue
                self.assertEqual(missing, [], path)
                self.assertIsNot(signature.return_annotation, signature.empty, path)
                if not path.endswith("__init__"):
                    self.assertTrue(function.__doc__, path)
                typing.get_type_hints(function, {"numpy": np, **vars(sys.modules[function.__module__])})
                checked += 1
        self.assertGreater(checked, 28)

    def test_the_command_is_in_the_wheel(self):
        command = pathlib.Path(sys.executable).parent / "atoll"
        for arguments in ([command], [sys.executable, "-m", "atoll"]):
            done = subprocess.run([*arguments, "version"], text=True, stdout=subprocess.PIPE, check=True)
            self.assertEqual(done.stdout, f"atoll {atoll.__version__}\n")
            done = subprocess.run([*arguments, "nonsense"], stderr=subprocess.DEVNULL, check=False)
            self.assertEqual(done.returncode, 2)
        done = subprocess.run([command, "run", "--gpu", "mi250x", "--", sys.executable, "-c", "import os; print(os.environ['ATOLL_GPU'])"],
                              text=True, stdout=subprocess.PIPE, check=True)
        self.assertIn("mi250x", done.stdout)

    def test_the_module_is_that_of_the_wheel(self):
        self.assertTrue(atoll.__file__.startswith(sys.prefix), atoll.__file__)
        self.assertRegex(atoll.__version__, r"^\d+\.\d+\.\d+$")


if __name__ == "__main__":
    unittest.main()
