#!/usr/bin/env python3
"""Sequences of instructions with the hazards of GFX10 to GFX12.5, as MIR for LLVM's llc.

    rdna_pairs.py GPU WAVE_SIZE

Functions named `pair_...` have a hazard between two or three instructions, or nearly have one; functions named `mixed_N`
are random sequences of such instructions. Where LLVM also waits without need, names end in `_loose`. llc inserts the waits (-start-before=post-RA-hazard-rec), which
wait_pairs_test.cpp compares with hazards/hazard_table.h.
"""

import random
import sys

from mir import registers

gpu, wave_size = sys.argv[1], int(sys.argv[2])
is_10 = gpu.startswith("gfx101")
is_10_any = gpu.startswith("gfx10")
is_11 = gpu.startswith("gfx11")
is_12 = gpu.startswith("gfx120")
is_12_5 = gpu.startswith("gfx125")

EXEC = "implicit $exec"
MODE = "implicit $mode, implicit $exec"
VCC = "$vcc" if wave_size == 64 else "$vcc_lo"
MASK_WORDS = wave_size // 32


def mask(first):
    return registers(first, MASK_WORDS, "s")


MOVE = f"$vgpr{{}} = V_MOV_B32_e32 $vgpr{{}}, {EXEC}"
ROOT = f"$vgpr{{}} = V_SQRT_F32_e32 $vgpr{{}}, {MODE}"
ADD = f"$vgpr{{}} = V_ADD_F32_e32 $vgpr{{}}, $vgpr{{}}, {MODE}"
FIRST_LANE = f"$sgpr{{}} = V_READFIRSTLANE_B32 $vgpr{{}}, {EXEC}"
COMPARE_EXEC = f"V_CMPX_EQ_U32_nosdst_e32 $vgpr{{}}, $vgpr{{}}, implicit-def $exec, {EXEC}"
PERMLANE = f"$vgpr{{0}} = V_PERMLANE16_B32_e64 0, $vgpr{{1}}, 0, $sgpr20, 0, $sgpr21, $vgpr{{0}}, 0, {EXEC}"
LOAD = f"$vgpr{{}} = GLOBAL_LOAD_DWORD_SADDR $sgpr{{}}_sgpr{{}}, $vgpr{{}}, 0, 0, {EXEC}"
BUFFER = f"$vgpr{{}} = BUFFER_LOAD_DWORD_OFFEN $vgpr{{}}, $sgpr8_sgpr9_sgpr10_sgpr11, $sgpr{{}}, {{}}, 0, 0, {EXEC}"
LDS_READ = f"$vgpr{{}} = DS_READ_B32_gfx9 $vgpr{{}}, 0, 0, {EXEC}"
SCALAR_LOAD = "$sgpr{} = S_LOAD_DWORD_IMM $sgpr{}_sgpr{}, 0, 0"
SCALAR_MOVE = "$sgpr{} = S_MOV_B32 $sgpr{}"
FROM_SCALAR = f"$vgpr{{}} = V_MOV_B32_e32 $sgpr{{}}, {EXEC}"
SET_EXEC = "$exec = S_MOV_B64 $sgpr12_sgpr13" if wave_size == 64 else "$exec_lo = S_MOV_B32 $sgpr12"
SAVE_EXEC = "$sgpr14_sgpr15 = S_MOV_B64 $exec" if wave_size == 64 else "$sgpr14 = S_MOV_B32 $exec_lo"
BRANCH = "BRANCH"  # to the next instruction, which begins another block


def select(result, first):
    return f"$vgpr{result} = V_CNDMASK_B32_e64 0, $vgpr40, 0, $vgpr41, {mask(first)}, {EXEC}"


def select_vcc(result):
    return f"$vgpr{result} = V_CNDMASK_B32_e32 $vgpr40, $vgpr41, {EXEC}, implicit $vcc"


def compare(first):
    return f"{mask(first)} = V_CMP_EQ_U32_e64 $vgpr42, $vgpr43, {EXEC}"


def compare_vcc():
    return f"V_CMP_EQ_U32_e32 $vgpr42, $vgpr43, implicit-def $vcc, {EXEC}"


def set_mask(first):
    return f"{mask(first)} = " + ("S_MOV_B64 0" if wave_size == 64 else "S_MOV_B32 0")


def set_vcc():
    return f"{VCC} = " + ("S_MOV_B64 0" if wave_size == 64 else "S_MOV_B32 0")


def lds_direct(result, wait=15):
    more = ", 1" if is_12 else ""
    name = "DS_DIRECT_LOAD" if is_12 else "LDS_DIRECT_LOAD"
    return f"$vgpr{result} = {name} {wait}{more}, implicit $m0, {EXEC}"


def wmma(result, a, b, c):
    """WMMA of f16, as wide as this GPU has it."""
    if is_11:
        d = registers(result, 8 if wave_size == 32 else 4)
        add = registers(c, 8 if wave_size == 32 else 4)
        return (f"early-clobber {d} = V_WMMA_F32_16X16X16_F16_threeaddr_w{wave_size} 8, {registers(a, 8)}, 8, "
                f"{registers(b, 8)}, 8, {add}, 0, 0, {EXEC}")
    words = 4 if wave_size == 32 else 2
    d, add = registers(result, 8 if wave_size == 32 else 4), registers(c, 8 if wave_size == 32 else 4)
    return (f"early-clobber {d} = V_WMMA_F32_16X16X16_F16_w{wave_size}_threeaddr 8, {registers(a, words)}, 8, "
            f"{registers(b, words)}, 8, {add}, 0, 0, {EXEC}")


def fillers():
    """What may stand between two instructions: the ends of hazards, and instructions that end none."""
    yield "", []
    yield "_vector", [MOVE.format(90, 91)]
    yield "_scalar", [SCALAR_MOVE.format(30, 31)]
    yield "_lds", [LDS_READ.format(92, 93)]
    yield "_memory", [LOAD.format(94, 16, 17, 95)]
    yield "_scalar_load", [SCALAR_LOAD.format(32, 18, 19)]
    yield "_export", [f"EXP 0, $vgpr90, $vgpr90, $vgpr90, $vgpr90, 0, 0, 15, {EXEC}"]
    yield "_compare", [compare(34)]
    yield "_root", [ROOT.format(96, 97)]


def pairs():
    if not gpu.startswith("gfx103"):
        yield "cmpx_permlane", COMPARE_EXEC.format(1, 2), PERMLANE.format(5, 3)
    yield "cmp_permlane", compare_vcc(), PERMLANE.format(5, 3)
    for name, first in (("load", LOAD.format(1, 4, 5, 2)), ("buffer", BUFFER.format(1, 2, 4, 0)),
                        ("lds", LDS_READ.format(1, 2)), ("store", f"GLOBAL_STORE_DWORD_SADDR $vgpr1, $vgpr2, $sgpr4_sgpr5, 0, 0, {EXEC}"),
                        ("flat", f"$vgpr1 = FLAT_LOAD_DWORD $vgpr2_vgpr3, 0, 0, {EXEC}, implicit $flat_scr")):
        for what, second in (("sgpr", SCALAR_MOVE.format(4, 30)), ("other", SCALAR_MOVE.format(36, 30)),
                             ("exec", SET_EXEC), ("loaded", SCALAR_LOAD.format(4, 18, 19)),
                             ("m0", "$m0 = S_MOV_B32 $sgpr30"), ("cmpx", COMPARE_EXEC.format(6, 7)),
                             ("lane", FIRST_LANE.format(4, 6))):
            yield f"{name}_then_{what}", first, second
    for what, second in (("lane", FIRST_LANE.format(4, 6)), ("compared", compare(4)), ("other", compare(36)),
                         ("scalar", SCALAR_MOVE.format(4, 30))):
        yield f"scalar_load_then_{what}", SCALAR_LOAD.format(24, 4, 5), second
    yield "exec_read_then_cmpx", SAVE_EXEC, COMPARE_EXEC.format(6, 7)
    for name, second in (("read", MOVE.format(2, 1)), ("read_other", MOVE.format(2, 3)), ("root", ROOT.format(2, 1)),
                         ("overwritten", MOVE.format(1, 3)), ("source_overwritten", MOVE.format(7, 3)),
                         ("added", ADD.format(4, 3, 1))):
        yield f"root_then_{name}", ROOT.format(1, 7), second
    if is_10_any:
        swap = f"BUFFER_ATOMIC_FCMPSWAP_OFFEN $vgpr60_vgpr61, $vgpr2, $sgpr8_sgpr9_sgpr10_sgpr11, $sgpr4, 0, 0, {EXEC}"
        for name, first in (("swap", swap), ("global_atomic", f"GLOBAL_ATOMIC_FMAX $vgpr2_vgpr3, $vgpr1, 0, 0, {EXEC}"), ("atomic", f"BUFFER_ATOMIC_FMIN_OFFEN $vgpr1, $vgpr2, $sgpr8_sgpr9_sgpr10_sgpr11, $sgpr4, 0, 0, {EXEC}"),
                            ("integer_atomic", f"BUFFER_ATOMIC_ADD_OFFEN $vgpr1, $vgpr2, $sgpr8_sgpr9_sgpr10_sgpr11, $sgpr4, 0, 0, {EXEC}")):
            yield f"{name}_then_denorm_mode", first, "S_DENORM_MODE 0, implicit-def $mode, implicit $mode"
    if is_10:
        nsa = (f"$vgpr1 = IMAGE_SAMPLE_D_V1_V6_nsa_gfx10 {', '.join(f'$vgpr{50 + 2 * i}' for i in range(6))}, "
               f"{registers(40, 8, 's')}, $sgpr8_sgpr9_sgpr10_sgpr11, 1, 1, 0, 0, 0, 0, 0, 0, 0, {EXEC} "
               ":: (dereferenceable load (s32), addrspace 8)")
        yield "nsa_then_offset", nsa, BUFFER.format(90, 91, 4, 2)
        yield "nsa_then_no_offset", nsa, BUFFER.format(90, 91, 4, 8)
    if is_11 or is_12:
        for name, first in (("written", MOVE.format(1, 2)), ("read", MOVE.format(3, 1)), ("root", ROOT.format(1, 2)),
                            ("loaded", LOAD.format(1, 4, 5, 2)), ("lds_address", LDS_READ.format(3, 1)),
                            ("other", MOVE.format(4, 5))):
            yield f"{name}_then_lds_direct", first, lds_direct(1)
        yield "wmma_then_a", wmma(100, 120, 130, 140), wmma(150, 100, 160, 170)
        yield "wmma_then_b", wmma(100, 120, 130, 140), wmma(150, 160, 100, 170)
        yield "wmma_then_c", wmma(100, 120, 130, 140), wmma(150, 160, 170, 100)
        yield "wmma_then_other", wmma(100, 120, 130, 140), wmma(150, 160, 170, 180)
        yield "wmma_then_move", wmma(100, 120, 130, 140), MOVE.format(1, 100)
    if is_12_5:
        for number in (1, 2, 4, 17, 18, 20):
            yield f"move_then_get_{number}", MOVE.format(1, 2), f"$sgpr4 = S_GETREG_B32 {number}, implicit $mode"
        yield "move_then_set_mode", MOVE.format(1, 2), "S_SETREG_B32 $sgpr4, 1, implicit-def $mode, implicit $mode"
        yield "scratch_written", "$sgpr102 = S_MOV_B32 0", "$sgpr4 = S_MOV_B32 $src_flat_scratch_base_lo"
        yield "scratch_other", "$sgpr101 = S_MOV_B32 0", "$sgpr4 = S_MOV_B32 $src_flat_scratch_base_lo"


def triples():
    if (is_11 and wave_size == 64) or is_12:
        for name, first in (("selected", select(1, 4)), ("moved", FROM_SCALAR.format(1, 4)), ("vcc", select_vcc(1))):
            for write, second in (("scalar", set_mask(4)), ("compared", compare(4)), ("vcc", set_vcc()), ("compared_vcc", compare_vcc()),
                                  ("other", set_mask(36))):
                for read, third in (("moved", FROM_SCALAR.format(2, 4)), ("selected", select(2, 4)), ("vcc", select_vcc(2)),
                                    ("scalar", SCALAR_MOVE.format(30, 4))):
                    # On GFX11 LLVM waits after the write, even if nothing reads the register or only a scalar instruction.
                    is_vcc = "vcc" in write
                    is_read = (read == "vcc") == is_vcc and not (write == "compared" and read == "scalar")
                    yield f"{name}_{write}_{read}" + ("" if is_12 or is_read else "_loose"), [first, second, third]
    if is_11 and wave_size == 64:
        for before in range(4):
            for behind in range(6):
                yield (f"forwarded_{before}_{behind}",
                       [MOVE.format(1, 3)] + [MOVE.format(60 + i, 3) for i in range(before)] + [SET_EXEC, MOVE.format(2, 3)] +
                       [MOVE.format(70 + i, 3) for i in range(behind)] + [ADD.format(4, 1, 2)])
    if is_11:
        for count in range(8):
            yield f"root_{count}_apart", [ROOT.format(1, 7)] + [MOVE.format(60 + i, 3) for i in range(count)] + [MOVE.format(2, 1)]
    if is_10:
        for name, first, second in (("lds_memory", LDS_READ.format(1, 2), BUFFER.format(3, 4, 5, 0)),
                                    ("memory_lds", BUFFER.format(3, 4, 5, 0), LDS_READ.format(1, 2)),
                                    ("lds_global", LDS_READ.format(1, 2), LOAD.format(3, 4, 5, 6)),
                                    ("lds_lds", LDS_READ.format(1, 2), LDS_READ.format(3, 4))):
            yield f"{name}_branch", [first, BRANCH, second]
            yield f"{name}_straight", [first, second]
            yield f"{name}_branch_memory", [first, BRANCH, BUFFER.format(60, 61, 5, 0), second]
    if is_12_5:
        arrive = f"DS_ATOMIC_ASYNC_BARRIER_ARRIVE_B64 $vgpr3, 0, 0, implicit-def $asynccnt, implicit $asynccnt, {EXEC}"
        yield "arrive", [LDS_READ.format(1, 2), arrive, MOVE.format(4, 5)]
        yield "arrive_between", [LOAD.format(1, 4, 5, 2), MOVE.format(6, 7), arrive, LDS_READ.format(8, 9)]
        for count in (8, 9, 10, 11):
            yield (f"scratch_{count}_writes", ["$sgpr102 = S_MOV_B32 0"] + [SCALAR_MOVE.format(30 + i, 60) for i in range(count)] +
                   ["$sgpr4 = S_MOV_B32 $src_flat_scratch_base_lo"])


def sequences():
    named = list(pairs())
    for name, first, second in named:
        for filler, between in fillers():
            if filler == "_export" and is_12_5:
                continue
            yield f"pair_{name}{filler}", [first, *between, second]
    for name, lines in triples():
        yield f"pair_{name}", lines
    generator = random.Random(gpu + str(wave_size))
    pool = [line for _, first, second in named for line in (first, second)]
    pool += [line for _, lines in triples() for line in lines if line != BRANCH]
    pool = sorted(set(line for line in pool if "early-clobber" not in line)) + [BRANCH]
    for number in range(400):
        yield f"mixed_{number}", [generator.choice(pool) for _ in range(generator.randint(4, 16))]


def main():
    all_sequences = list(sequences())
    print("--- |")
    for name, _ in all_sequences:
        print(f"  define amdgpu_kernel void @{name}() {{ ret void }}")
    print("...")
    for name, lines in all_sequences:
        blocks = [[]]
        for line in lines:
            if line == BRANCH:
                blocks.append([])
            else:
                blocks[-1].append(line)
        print(f"---\nname: {name}\nbody: |")
        for number, block in enumerate(blocks):
            is_last = number == len(blocks) - 1
            print(f"  bb.{number}:")
            if not is_last:
                print(f"    successors: %bb.{number + 1}")
            for line in block:
                print("    " + line)
            print("    S_ENDPGM 0" if is_last else f"    S_CBRANCH_SCC0 %bb.{number + 1}, implicit undef $scc")
        print("...")


main()
