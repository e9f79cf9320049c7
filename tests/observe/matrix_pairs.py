#!/usr/bin/env python3
"""Pairs of instructions of which the first is a matrix instruction, or what matters to one, as MIR for LLVM's llc.

    matrix_pairs.py GPU

Each pair is a function. llc puts as many s_nop between the two as the GPU needs (-start-before=post-RA-hazard-rec), which
wait_pairs_test.cpp compares with what hazards/matrix_hazards.h has.
"""

import sys

from mir import print_function, registers

CDNA3 = ("gfx942", "gfx950")

# Of each matrix instruction, how many registers A, B and C have. Kinds: dense, sparse, and with formats for A and B.
DENSE = {
    "F32_4X4X1F32": (1, 1, 4), "F32_16X16X4F32": (1, 1, 4), "F32_16X16X1F32": (1, 1, 16),
    "F32_32X32X2F32": (1, 1, 16), "F32_32X32X1F32": (1, 1, 32), "F32_4X4X4F16": (2, 2, 4),
    "F32_16X16X16F16": (2, 2, 4), "F32_16X16X4F16": (2, 2, 16), "F32_32X32X8F16": (2, 2, 16),
    "F32_32X32X4F16": (2, 2, 32),
}
DENSE_BY_GPU = [
    (("gfx908", "gfx90a"), {"I32_16X16X16I8": (1, 1, 4), "I32_32X32X8I8": (1, 1, 16), "I32_4X4X4I8": (1, 1, 4),
                            "F32_32X32X4BF16": (1, 1, 16)}),
    (("gfx90a", *CDNA3), {"F64_4X4X4F64": (2, 2, 2), "F64_16X16X4F64": (2, 2, 8)}),
    (CDNA3, {"I32_16X16X32I8": (2, 2, 4), "I32_32X32X16I8": (2, 2, 16), "F32_16X16X32_FP8_FP8": (2, 2, 4),
             "F32_32X32X16_BF8_FP8": (2, 2, 16)}),
    (("gfx942",), {"F32_16X16X8XF32": (2, 2, 4), "F32_32X32X4XF32": (2, 2, 16)}),
    (("gfx950",), {"F32_16X16X32_F16": (4, 4, 4), "F32_32X32X16_F16": (4, 4, 16), "I32_16X16X64_I8": (4, 4, 4),
                   "I32_32X32X32_I8": (4, 4, 16)}),
]
SPARSE_BY_GPU = [
    (CDNA3, {"F32_16X16X32_F16": (2, 4, 4), "F32_32X32X16_F16": (2, 4, 16), "I32_16X16X64_I8": (2, 4, 4)}),
    (("gfx950",), {"F32_16X16X64_F16": (4, 8, 4), "F32_32X32X32_F16": (4, 8, 16)}),
]
FORMATS = {"f8": (0, 8), "f6": (2, 6), "f4": (4, 4)}  # what cbsz and blgp say, and the registers of a factor
# The second ones of pairs: one of each kind.
SECOND = ["F32_4X4X1F32", "F32_32X32X2F32", "F32_4X4X4F16", "F32_16X16X16F16", "F64_4X4X4F64", "F64_16X16X4F64",
          "F32_16X16X32_F16", "F32_16X16X128_F8F6F4_f8_f4"]

END = "implicit $mode, implicit $exec"
MOVE = "{} = V_MOV_B32_e32 {}, implicit $exec"
STORE = "GLOBAL_STORE_DWORD $vgpr100_vgpr101, {}, 0, 0, implicit $exec"
LOAD = "{} = GLOBAL_LOAD_DWORD $vgpr100_vgpr101, 0, 0, implicit $exec"
DS_WRITE = "DS_WRITE_B32_gfx9 {}, $vgpr100, 0, 0, implicit $exec"
FMA64 = f"$vgpr102_vgpr103 = V_FMA_F64_e64 0, {{}}, 0, $vgpr104_vgpr105, 0, $vgpr106_vgpr107, 0, 0, {END}"
ACC_READ = "$vgpr100 = V_ACCVGPR_READ_B32_e64 {}, implicit $exec"
ACC_WRITE = "{} = V_ACCVGPR_WRITE_B32_e64 $vgpr100, implicit $exec"
WRITE_EXEC = "V_CMPX_EQ_U32_e32 $vgpr100, $vgpr101, implicit-def $vcc, implicit-def $exec, implicit $exec"
DOT = f"{{0}} = V_DOT2C_F32_F16_e32 {{1}}, $vgpr2, {{0}}, {END}"


class Matrix:
    def __init__(self, name, sizes, is_sparse=False):
        self.name, (self.a, self.b, self.c), self.is_sparse = name, sizes, is_sparse
        self.label = ("sparse_" if is_sparse else "") + name.lower()

    def text(self, result, a, b, c, accumulators="v", factors=("v", "v")):
        """With the registers that its operands begin with. A sparse one adds to its result."""
        d = registers(result, self.c, accumulators)
        a, b = registers(a, self.a, factors[0]), registers(b, self.b, factors[1])
        if self.is_sparse:
            return f"{d} = V_SMFMAC_{self.name}_e64 {a}, {b}, $vgpr190, 0, 0, {d}, {END}"
        form = "_vgprcd_e64" if accumulators == "v" else "_e64"
        last = [str(FORMATS[part][0]) for part in self.name.split("_")[-2:]] if "F8F6F4" in self.name else ["0", "0", "0"]
        return f"{d} = V_MFMA_{self.name}{form} {a}, {b}, {registers(c, self.c, accumulators)}, {', '.join(last)}, {END}"


def matrices_of(gpu):
    found = [Matrix(name, sizes) for name, sizes in DENSE.items()]
    for gpus, dense in DENSE_BY_GPU:
        found += [Matrix(name, sizes) for name, sizes in dense.items() if gpu in gpus]
    for gpus, sparse in SPARSE_BY_GPU:
        found += [Matrix(name, sizes, is_sparse=True) for name, sizes in sparse.items() if gpu in gpus]
    if gpu == "gfx950":
        for shape, c in (("16X16X128", 4), ("32X32X64", 16)):
            for a, (_, a_count) in FORMATS.items():
                for b, (_, b_count) in FORMATS.items():
                    found.append(Matrix(f"F32_{shape}_F8F6F4_{a}_{b}", (a_count, b_count, c)))
    return found


def after_matrix(gpu, matrix):
    """What comes after a matrix instruction that writes registers from 0 on and adds to those from 64 on."""
    for kind in "a" if gpu == "gfx908" else "v" if matrix.is_sparse else "va":
        first = matrix.text(0, 200, 210, 64, kind)
        label = f"{matrix.label}_{kind}"
        written, addend = registers(1, kind=kind), registers(65, kind=kind)
        if kind == "a":
            yield label + "_read", first, ACC_READ.format(written)
            yield label + "_written", first, ACC_WRITE.format(written)
            yield label + "_addend_written", first, ACC_WRITE.format(addend)
        else:
            yield label + "_read", first, MOVE.format("$vgpr100", written)
            yield label + "_written", first, MOVE.format(written, "$vgpr100")
            yield label + "_addend_written", first, MOVE.format(addend, "$vgpr100")
            yield label + "_factor_written", first, MOVE.format("$vgpr200", "$vgpr100")
            yield label + "_stored", first, STORE.format(written)
            yield label + "_loaded", first, LOAD.format(written)
            yield label + "_stored_to_lds", first, DS_WRITE.format(written)
            yield label + "_fma64", first, FMA64.format("$vgpr108_vgpr109")
            yield label + "_fma64_reads", first, FMA64.format("$vgpr0_vgpr1")
        for second in matrices_of(gpu):
            if second.name not in SECOND or (second.is_sparse and kind == "a"):
                continue
            between = f"{label}_{{}}_{second.label}"
            if second.c == matrix.c:
                yield between.format("same"), first, second.text(0 if second.is_sparse else 128, 220, 230, 0, kind)
            elif matrix.c > 2 or second.c > 2:
                yield between.format("wider"), first, second.text(0 if second.is_sparse else 128, 220, 230, 0, kind)
            if matrix.c > 2:
                yield between.format("within"), first, second.text(2 if second.is_sparse else 128, 220, 230, 2, kind)
            yield between.format("a"), first, second.text(128, 0, 230, 96, kind, (kind, "v"))
            yield between.format("b"), first, second.text(128, 220, 0, 96, kind, ("v", kind))


def before_matrix(gpu, matrix):
    kind = "a" if gpu == "gfx908" else "v"
    second = matrix.text(0, 200, 210, 64, kind)
    yield matrix.label + "_after_a", MOVE.format("$vgpr200", "$vgpr100"), second
    yield matrix.label + "_after_b", MOVE.format("$vgpr210", "$vgpr100"), second
    yield matrix.label + "_after_exec", WRITE_EXEC, second
    yield matrix.label + "_after_dot", DOT.format("$vgpr200", "$vgpr1"), second
    if kind == "a":
        yield matrix.label + "_after_written_addend", ACC_WRITE.format("$agpr65"), second
        yield (matrix.label + "_after_written_factor", ACC_WRITE.format("$agpr200"),
               matrix.text(0, 200, 210, 64, kind, ("a", "v")))
    elif not matrix.is_sparse:
        yield matrix.label + "_after_c", MOVE.format("$vgpr65", "$vgpr100"), second


def others(gpu):
    move = MOVE.format("$vgpr100", "$vgpr101")
    store = "GLOBAL_STORE_DWORD $vgpr102_vgpr103, $vgpr100, 0, 0, implicit $exec"
    if gpu == "gfx908":
        write, read = ACC_WRITE.format("$agpr0"), ACC_READ.format("$agpr0")
        yield "written_read", write, read
        yield "moved_written", move, write
        yield "read_stored", read, store
        yield "read_stored_to_lds", read, "DS_WRITE_B32_gfx9 $vgpr100, $vgpr104, 0, 0, implicit $exec"
        yield "exec_read", WRITE_EXEC, read
        yield "exec_written", WRITE_EXEC, write
        return
    dot = DOT.format("$vgpr3", "$vgpr1")
    yield "dot_adds", dot, dot
    yield "dot_multiplied", dot, DOT.format("$vgpr4", "$vgpr3")
    yield "dot_other", dot, "$vgpr3 = V_DOT4C_I32_I8_e32 $vgpr1, $vgpr2, $vgpr3, implicit $exec"
    yield "dot_read", dot, MOVE.format("$vgpr4", "$vgpr3")
    yield "dot_written", dot, MOVE.format("$vgpr3", "$vgpr4")
    yield "dot_stored", dot, STORE.format("$vgpr3")
    for name, sizes in (("F64_4X4X4F64", (2, 2, 2)), ("F32_4X4X1F32", (1, 1, 4))):
        yield f"moved_stored_around_{name.lower()}", move, Matrix(name, sizes).text(0, 200, 210, 64), store


def main():
    gpu = sys.argv[1]
    pairs = list(others(gpu))
    for matrix in matrices_of(gpu):
        pairs += [*after_matrix(gpu, matrix), *before_matrix(gpu, matrix)]
    for name, *lines in pairs:
        print_function(name, lines)


main()
