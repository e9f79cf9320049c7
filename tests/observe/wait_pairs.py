#!/usr/bin/env python3
"""Pairs of instructions between which GPUs until GFX9 need wait states, and such between which they do not, as MIR for
LLVM's llc (matrix_pairs.py has those about matrices).

    wait_pairs.py GPU

Each pair is a function. llc puts as many s_nop between the two as the GPU needs (-start-before=post-RA-hazard-rec), which
wait_pairs_test.cpp compares with what hazards/valu_hazards.h has.
"""

import sys

from mir import print_function, registers

EXEC = "implicit $exec"
MODE = "implicit $mode, implicit $exec"

READ_FIRST_LANE = f"$sgpr4 = V_READFIRSTLANE_B32 $vgpr1, {EXEC}"
COMPARE_VCC = f"V_CMP_EQ_U32_e32 $vgpr1, $vgpr2, implicit-def $vcc, {EXEC}"
COMPARE_EXEC = f"V_CMPX_EQ_U32_e32 $vgpr1, $vgpr2, implicit-def $vcc, implicit-def $exec, {EXEC}"
MOVE = f"$vgpr1 = V_MOV_B32_e32 $vgpr2, {EXEC}"
OVERWRITE = f"$vgpr3 = V_MOV_B32_e32 $vgpr20, {EXEC}"
ROOT = f"$vgpr1 = V_RCP_F32_e32 $vgpr2, {MODE}"

SCALAR_WRITES = {
    "first_lane": READ_FIRST_LANE,
    "comparison": f"$sgpr4_sgpr5 = V_CMP_EQ_U32_e64 $vgpr1, $vgpr2, {EXEC}",
    "lane": "$sgpr4 = V_READLANE_B32 $vgpr9, $sgpr20",
    "scalar": "$sgpr4 = S_MOV_B32 $sgpr20",
}


def scalar_reads(gpu):
    yield "resource", f"$vgpr10 = BUFFER_LOAD_DWORD_OFFSET $sgpr4_sgpr5_sgpr6_sgpr7, $sgpr20, 0, 0, 0, {EXEC}"
    yield "offset", f"$vgpr10 = BUFFER_LOAD_DWORD_OFFSET $sgpr8_sgpr9_sgpr10_sgpr11, $sgpr4, 0, 0, 0, {EXEC}"
    yield "scalar_load", "$sgpr30 = S_LOAD_DWORD_IMM $sgpr4_sgpr5, 0, 0"
    yield "readlane", "$sgpr30 = V_READLANE_B32 $vgpr9, $sgpr4"
    yield "writelane", "$vgpr9 = V_WRITELANE_B32 5, $sgpr4, $vgpr9"
    yield "writelane_data", "$vgpr9 = V_WRITELANE_B32 $sgpr4, 5, $vgpr9"
    yield "vector", f"$vgpr9 = V_MOV_B32_e32 $sgpr4, {EXEC}"
    yield "scalar", "$sgpr30 = S_MOV_B32 $sgpr4"
    yield "mask", f"$vgpr9 = V_CNDMASK_B32_e64 0, $vgpr8, 0, $vgpr7, $sgpr4_sgpr5, {EXEC}"
    if gpu != "gfx803":
        yield "base", f"$vgpr10 = GLOBAL_LOAD_DWORD_SADDR $sgpr4_sgpr5, $vgpr7, 0, 0, {EXEC}"


def of_scalars(gpu):
    for write, first in SCALAR_WRITES.items():
        for read, second in scalar_reads(gpu):
            yield f"{write}_{read}", first, second
    for write, first in (("comparison", COMPARE_VCC), ("scalar", "$vcc = S_MOV_B64 $sgpr4_sgpr5")):
        yield (f"{write}_div_fmas", first,
               f"$vgpr9 = V_DIV_FMAS_F32_e64 0, $vgpr1, 0, $vgpr2, 0, $vgpr3, 0, 0, implicit $mode, implicit $vcc, {EXEC}")
        yield (f"{write}_carry", first,
               f"$vgpr9 = V_ADDC_U32_e32 $vgpr1, $vgpr2, implicit-def $vcc, implicit $vcc, {EXEC}")


def of_exec_and_lanes():
    dpp = f"$vgpr9 = V_MOV_B32_dpp $vgpr9, $vgpr1, 273, 15, 15, 0, {EXEC}"
    yield "moved_dpp", MOVE, dpp
    yield "exec_dpp", COMPARE_EXEC, dpp
    yield "scalar_exec_dpp", "$exec = S_MOV_B64 $sgpr4_sgpr5", dpp
    yield "exec_vector", COMPARE_EXEC, f"$vgpr9 = V_MOV_B32_e32 $vgpr8, {EXEC}"
    for read in ("$sgpr30 = V_READLANE_B32 {}, 3", f"$sgpr30 = V_READFIRSTLANE_B32 {{}}, {EXEC}"):
        name = read.split()[2].lower()
        yield "moved_" + name, MOVE, read.format("$vgpr1")
        yield "exec_" + name, COMPARE_EXEC, read.format("$vgpr9")
    yield "exec_writelane", COMPARE_EXEC, "$vgpr9 = V_WRITELANE_B32 $sgpr20, 3, $vgpr9"


def of_hardware_registers():
    mode = "implicit-def $mode, implicit $mode"
    for a in (1, 2):
        for b in (1, 2):
            write = f"S_SETREG_B32 $sgpr4, {a}, {mode}"
            yield f"set_{a}_get_{b}", write, f"$sgpr5 = S_GETREG_B32 {b}, implicit $mode"
            yield f"set_{a}_set_{b}", write, f"S_SETREG_B32 $sgpr4, {b}, {mode}"
            yield f"set_immediate_{a}_set_{b}", f"S_SETREG_IMM32_B32 4, {a}, {mode}", f"S_SETREG_B32 $sgpr4, {b}, {mode}"


def of_m0(gpu):
    write = "$m0 = S_MOV_B32 $sgpr4"
    yield "m0_message", write, f"S_SENDMSG 3, implicit $m0, {EXEC}"
    yield "m0_from_index", write, "$sgpr5 = S_MOVRELS_B32 $sgpr6, implicit $m0"
    yield "m0_to_index", write, "S_MOVRELD_B32 $sgpr5, $sgpr6, implicit $m0"
    yield "m0_copy", write, f"BUFFER_LOAD_DWORD_LDS_OFFSET $sgpr8_sgpr9_sgpr10_sgpr11, $sgpr20, 0, 0, 0, implicit $m0, {EXEC}"
    if gpu != "gfx803":
        yield "m0_by_lane", write, f"$vgpr5 = DS_READ_ADDTID_B32 0, 0, implicit $m0, {EXEC}"
        yield "m0_lds", write, f"$vgpr5 = DS_READ_B32_gfx9 $vgpr1, 0, 0, {EXEC}"


def of_stores(gpu):
    """Data of more than 64 bits that are overwritten."""
    for words in (2, 3, 4):
        data = registers(2, words)
        for offset, operand in (("", "0"), ("_scalar_offset", "$sgpr20")):
            yield (f"buffer_{words}{offset}",
                   f"BUFFER_STORE_DWORDX{words}_OFFSET {data}, $sgpr8_sgpr9_sgpr10_sgpr11, {operand}, 0, 0, 0, {EXEC}", OVERWRITE)
        yield (f"flat_{words}", f"FLAT_STORE_DWORDX{words} $vgpr10_vgpr11, {data}, 0, 0, {EXEC}, implicit $flat_scr",
               OVERWRITE)
        if gpu == "gfx803":
            continue
        store = f"GLOBAL_STORE_DWORDX{words} $vgpr10_vgpr11, {data}, 0, 0, {EXEC}"
        yield f"global_{words}", store, OVERWRITE
        yield f"global_{words}_base", f"GLOBAL_STORE_DWORDX{words}_SADDR $vgpr10, {data}, $sgpr4_sgpr5, 0, 0, {EXEC}", OVERWRITE
        yield f"global_{words}_loaded", store, f"$vgpr3 = GLOBAL_LOAD_DWORD $vgpr10_vgpr11, 0, 0, {EXEC}"
        yield f"lds_{words}", f"DS_WRITE_B{32 * words}_gfx9 $vgpr10, {data}, 0, 0, {EXEC}", OVERWRITE
    for words, suffix in ((2, ""), (4, "_X2")):
        swap, operands = f"FLAT_ATOMIC_CMPSWAP{suffix}", f"$vgpr10_vgpr11, {registers(2, words)}, 0"
        result = registers(30, words // 2)
        yield f"flat_atomic_{words}", f"{swap} {operands}, 0, {EXEC}, implicit $flat_scr", OVERWRITE
        yield (f"flat_atomic_{words}_returns", f"{result} = {swap}_RTN {operands}, 1, {EXEC}, implicit $flat_scr", OVERWRITE)
        if gpu == "gfx803":
            continue
        swap = f"GLOBAL_ATOMIC_CMPSWAP{suffix}"
        yield f"global_atomic_{words}", f"{swap} {operands}, 0, {EXEC}", OVERWRITE
        yield f"global_atomic_{words}_returns", f"{result} = {swap}_RTN {operands}, 1, {EXEC}", OVERWRITE


def of_vectors(gpu):
    yield "root_vector", ROOT, f"$vgpr9 = V_MOV_B32_e32 $vgpr1, {EXEC}"
    yield "root_root", ROOT, f"$vgpr9 = V_RCP_F32_e32 $vgpr1, {MODE}"
    yield "root_overwritten", ROOT, f"$vgpr1 = V_MOV_B32_e32 $vgpr9, {EXEC}"
    if gpu != "gfx803":
        half = f"$vgpr1 = V_ADD_F16_sdwa 0, $vgpr2, 0, $vgpr3, 0, 0, 1, 0, 6, 6, {MODE}"
        yield "half_vector", half, f"$vgpr9 = V_MOV_B32_e32 $vgpr1, {EXEC}"
        yield "half_half", half, half
    if gpu == "gfx950":
        yield "moved_swap", MOVE, f"$vgpr1, $vgpr9 = V_PERMLANE16_SWAP_B32_e64 $vgpr1, $vgpr9, 0, 0, {EXEC}"


def main():
    gpu = sys.argv[1]
    pairs = [*of_scalars(gpu), *of_exec_and_lanes(), *of_hardware_registers(), *of_m0(gpu), *of_stores(gpu), *of_vectors(gpu)]
    for name, first, second in pairs:
        print_function(name, [first, second])


main()
