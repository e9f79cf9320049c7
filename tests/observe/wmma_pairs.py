#!/usr/bin/env python3
"""Pairs of instructions of which the first is a matrix instruction of GFX12.5, as MIR for LLVM's llc.

    wmma_pairs.py GPU

As matrix_pairs.py; what llc puts between the two are v_nop.
"""

from mir import print_function, registers

EXEC = "implicit $exec"
BYTES = ("FP8", "BF8")
FORMATS = {"f8": 16, "f6": 12, "f4": 8}  # the registers of a factor


class Matrix:
    """`modified`: whether the factors and the addend have modifiers before them in MIR; `more`: zeros behind them."""

    def __init__(self, name, a, b, c, modified, more, result=None, index=0):
        self.name, self.a, self.b, self.c = name, a, b, c
        self.modified, self.more, self.result, self.index = modified, more, result or c, index
        self.label = ("sparse_" if index else "") + name.lower()

    def text(self, result, a, b, c, index=240):
        """With the registers that its operands begin with. A sparse one adds to its result."""
        factors, addend = ("8, " if modified else "" for modified in self.modified)
        operands = f"{factors}{registers(a, self.a)}, {factors}{registers(b, self.b)}"
        more = ", 0" * self.more
        d = registers(result, self.result)
        if self.index:
            return (f"early-clobber {d} = V_SWMMAC_{self.name}_w32_twoaddr {operands}, {d}, {registers(index, self.index)}"
                    f"{more}, {EXEC}")
        return f"early-clobber {d} = V_WMMA_{self.name}_w32_threeaddr {operands}, {addend}{registers(c, self.c)}{more}, {EXEC}"


def matrices():
    floats, bytes_, integers = (True, True), (False, True), (True, False)
    yield Matrix("F32_16X16X4_F32", 2, 2, 8, floats, 4)
    for kind in ("F16", "BF16"):
        yield Matrix(f"F32_16X16X32_{kind}", 8, 8, 8, floats, 4)
        yield Matrix(f"{kind}_16X16X32_{kind}", 8, 8, 4, floats, 4)
        yield Matrix(f"F32_16X16X64_{kind}", 8, 16, 8, integers, 5, index=1)
        yield Matrix(f"{kind}_16X16X64_{kind}", 8, 16, 4, integers, 5, index=1)
    yield Matrix("BF16F32_16X16X32_BF16", 8, 8, 8, floats, 4, result=4)
    for a in BYTES:
        for b in BYTES:
            for kind, c in (("F32", 8), ("F16", 4)):
                yield Matrix(f"{kind}_16X16X64_{a}_{b}", 8, 8, c, bytes_, 4)
                yield Matrix(f"{kind}_16X16X128_{a}_{b}", 16, 16, c, bytes_, 4)
                yield Matrix(f"{kind}_16X16X128_{a}_{b}", 8, 16, c, (False, False), 3, index=2)
    for a, a_count in FORMATS.items():
        for b, b_count in FORMATS.items():
            yield Matrix(f"F32_16X16X128_F8F6F4_{a}_{b}", a_count, b_count, 8, bytes_, 4)
    yield Matrix("F32_32X16X128_F4", 16, 8, 16, bytes_, 2)
    yield Matrix("I32_16X16X64_IU8", 8, 8, 8, integers, 4)
    yield Matrix("I32_16X16X128_IU8", 8, 16, 8, integers, 5, index=2)


SECOND = ["F32_16X16X4_F32", "F32_16X16X32_F16", "F16_16X16X128_FP8_BF8", "I32_16X16X64_IU8", "F32_16X16X64_F16"]


def after(matrix):
    first = matrix.text(0, 100, 130, 64)
    move = "{} = V_MOV_B32_e32 {}, " + EXEC
    yield "read", first, move.format("$vgpr200", "$vgpr1")
    yield "written", first, move.format("$vgpr1", "$vgpr200")
    yield "a_written", first, move.format("$vgpr100", "$vgpr200")
    yield "b_written", first, move.format("$vgpr130", "$vgpr200")
    yield "c_written", first, move.format("$vgpr64", "$vgpr200")
    yield "index_written", first, move.format("$vgpr240", "$vgpr200")
    yield "root", first, f"$vgpr200 = V_RCP_F32_e32 $vgpr1, implicit $mode, {EXEC}"
    yield "stored", first, f"GLOBAL_STORE_DWORD $vgpr200_vgpr201, $vgpr1, 0, 0, {EXEC}"
    yield "loaded", first, f"$vgpr1 = GLOBAL_LOAD_DWORD $vgpr200_vgpr201, 0, 0, {EXEC}"
    for second in matrices():
        if second.name not in SECOND:
            continue
        result = 32 if second.index else 48
        yield "a_" + second.label, first, second.text(result, 0, 150, 176)
        yield "b_" + second.label, first, second.text(result, 150, 0, 176)
        yield "c_" + second.label, first, second.text(0 if second.index else 48, 150, 200, 0)
        if second.index:
            yield "index_" + second.label, first, second.text(result, 150, 200, 0, index=0)


def main():
    for matrix in matrices():
        for name, *lines in after(matrix):
            print_function(f"{matrix.label}_{name}", lines)


main()
