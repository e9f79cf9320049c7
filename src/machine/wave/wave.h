// machine: the GPU itself: memory, waves and work-groups, dispatches, queues, and the threads that run them.
//
// This file: the state of a wave and of its work-group, as the ABI and the ISA define it. The dispatcher
// (dispatch.h) fills it in, an engine (engine.h) advances it, the scheduler decides when.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "isa/instruction.h"
#include "machine/memory/address_range.h"
#include "machine/wave/cluster.h"
#include "semantics/registry.h"
#include "target/processor.h"

namespace Atoll::machine {

struct Dispatch;
struct WorkGroup;

/// Why a wave stopped for good without reaching s_endpgm. Addresses are guest (= host) addresses.
struct Fault {
  enum class Kind : uint8_t {
    none,
    memory,               ///< touched `address`, which is not mapped (or not for this access)
    illegal_instruction,  ///< the bytes at `pc` are no instruction of this GPU, or one that Atoll lacks (`what`)
    instruction_fetch,    ///< `pc` is in no loaded code
    scratch_overflow,     ///< private address past the wave's scratch
    lds_overflow,         ///< reserved for checkers: hardware reads 0 and drops writes
    abort,                ///< s_trap 2 (llvm.trap)
    exception,            ///< of floating point, enabled in MODE (`what`)
    timeout,
    interrupted,  ///< stopped from outside
  };
  Kind kind = Kind::none;
  uint64_t pc = 0;
  uint64_t address = 0;
  bool address_known = true;  ///< of a memory fault; the host does not say addresses that are not canonical
  bool is_write = false;
  uint8_t lane = 0;
  std::string what{};  ///< details in words, e.g. the instruction's name
};

/// The floating-point part of a MODE register value (ISA guide, "MODE register": FP_ROUND in bits 3:0, FP_DENORM in
/// bits 7:4, single precision in the low half of each; DX10_CLAMP bit 8, IEEE bit 9, FP16_OVFL bit 23), on the GPU of
/// another mode. From GFX12 on there are no DX10_CLAMP and IEEE: clamp turns NaN into 0.
constexpr semantics::FloatMode float_mode_of(uint32_t mode, const semantics::FloatMode& of_gpu) {
  using semantics::Denormals;
  constexpr Denormals denormals[4] = {Denormals::flush_in_out, Denormals::allow_in, Denormals::allow_out,
                                      Denormals::allow_in_out};
  return {.round32 = static_cast<semantics::Round>(mode & 3),
          .round16_64 = static_cast<semantics::Round>(mode >> 2 & 3),
          .denormals32 = denormals[mode >> 4 & 3],
          .denormals16_64 = denormals[mode >> 6 & 3],
          .dx10_clamp = !of_gpu.has_ieee_mode || (mode >> 8 & 1) != 0,
          .ieee = of_gpu.has_ieee_mode && (mode >> 9 & 1) != 0,
          .eight_bit = of_gpu.eight_bit,
          .has_ieee_mode = of_gpu.has_ieee_mode,
          .clamps_overflow = (mode >> 23 & 1) != 0};
}

constexpr semantics::FloatMode float_mode_of(uint32_t mode, const target::Processor& processor) {
  return float_mode_of(mode, {.eight_bit = processor.ocp_fp8 ? semantics::Fp8Format::ocp : semantics::Fp8Format::fnuz,
                              .has_ieee_mode = processor.ieee_mode});
}

/// Returns the bits of a MODE register value that set the float mode, with or without DX10_CLAMP and IEEE.
constexpr uint32_t float_mode_bits_of(bool has_ieee_mode) { return (has_ieee_mode ? 0x3FF : 0xFF) | 1u << 23; }
constexpr uint32_t float_mode_bits(const semantics::FloatMode& mode) { return float_mode_bits_of(mode.has_ieee_mode); }
/// MODE.EXCP_EN before GFX12: which exceptions trap (ISA guides, "MODE register").
constexpr uint32_t enabled_exceptions = 0x7F000;
/// The way back from float_mode_of().
constexpr uint32_t mode_bits_of(const semantics::FloatMode& mode) {
  return static_cast<uint32_t>(mode.round32) | static_cast<uint32_t>(mode.round16_64) << 2 |
         static_cast<uint32_t>(mode.denormals32) << 4 | static_cast<uint32_t>(mode.denormals16_64) << 6 |
         static_cast<uint32_t>(mode.has_ieee_mode && mode.dx10_clamp) << 8 | static_cast<uint32_t>(mode.ieee) << 9 |
         static_cast<uint32_t>(mode.clamps_overflow) << 23;
}

/// State of a wave when its engine returns.
enum class WaveState : uint8_t {
  ready,             ///< used up its budget of instructions or yielded (s_sleep): run it again later
  at_barrier,        ///< arrives at the work-group's barrier and waits until the other waves arrive
  waits_at_barrier,  ///< as at_barrier, for a wave that has arrived earlier (s_barrier_wait)
  ended,             ///< s_endpgm
  faulted,           ///< see Wave::fault
};

/// Granule of dynamic VGPRs (GFX12.5, s_alloc_vgpr). A wave begins with one granule.
constexpr uint16_t dynamic_vgpr_block = 32;

/// A register row: 64 lanes of one VGPR (32 of them used in wave32).
using Row = semantics::Row;

/// Progress of the observer of a wave's path.
struct ReportedPath {
  uint64_t from = 0, until = 0;  ///< code that has been reported and that the wave has not executed
  uint32_t number = 0;           ///< its last result (Observer::on_basic_block)
};

struct alignas(64) Wave {
  /// Scalar registers by isa::scalar number: SGPRs, VCC, M0, EXEC, FLAT_SCRATCH, TTMPs.
  uint32_t scalar[isa::scalar::count];
  uint64_t pc;                   ///< at every memory access: of the instruction that makes it, for fault reports
  Row* vgpr;                     ///< `vgprs` rows, 64-byte aligned
  Row* agpr;                     ///< `agprs` rows
  uint16_t sgprs, vgprs, agprs;  ///< allocated counts, in registers
  uint8_t wave_size;             ///< 32 or 64
  bool scc;
  bool watches_exceptions;       ///< the kernel reads or enables floating-point exceptions (Kernel::watches_exceptions)
  uint32_t mode;                 ///< the MODE register
  uint32_t status, trap_status;  ///< STATUS without the bits that live in fields (SCC, EXECZ, VCCZ); TRAPSTS
  semantics::FloatMode float_mode;  ///< float_mode_of(mode, ...): set both or neither
  WaveState state;
  uint8_t global_sync;     ///< the engine's: whether the wave waits in global wave sync, and for what; 0 at start
  uint8_t spin_backoff;    ///< the engine's: how often a loop was begun anew lest it waits for others; 0 at start
  bool seems_to_wait;      ///< the scheduler's: it came back with the same fingerprint twice; false at start
  uint32_t index;          ///< in the work-group
  uint32_t barrier_phase;  ///< of the work-group's barrier, whose end its next wait is for; 0 at start
  uint32_t named_phase;    ///< the same of the barrier with a name that it has joined
  uint32_t cluster_phase;  ///< the same of the cluster's barrier; 0 at start
  uint8_t named_barrier;   ///< number of that barrier (barrier.h); 0 for none, as at start
  uint64_t instructions;   ///< executed so far
  uint64_t interpreted;    ///< of them, those that the compiled engine left to the interpreter
  ReportedPath reported;   ///< if an observer selects paths (instrumentation_client.h); empty at start
  uint64_t fingerprint;    ///< the scheduler's, of the wave's state when it last came back
  uint8_t* scratch;        ///< the wave's scratch memory: swizzled, 64 lanes x 4 bytes to a row
  uint32_t scratch_bytes_per_lane;
  WorkGroup* work_group;
  std::unique_ptr<Fault> fault;

  uint64_t scalar64(unsigned reg) const { return scalar[reg] | uint64_t{scalar[reg + 1]} << 32; }
  void set_scalar64(unsigned reg, uint64_t value) {
    scalar[reg] = static_cast<uint32_t>(value);
    scalar[reg + 1] = static_cast<uint32_t>(value >> 32);
  }
  bool is_wave32() const { return wave_size == 32; }
  /// A lane mask in scalar registers: in one register of a wave of 32 lanes, else in two.
  uint64_t mask(unsigned reg) const { return is_wave32() ? scalar[reg] : scalar64(reg); }
  void set_mask(unsigned reg, uint64_t lanes) {
    scalar[reg] = static_cast<uint32_t>(lanes);
    if (!is_wave32()) scalar[reg + 1] = static_cast<uint32_t>(lanes >> 32);
  }
  /// EXEC and VCC as masks. Waves of 32 lanes don't look at EXEC_HI, and VCC_HI is an SGPR like others there.
  uint64_t exec() const { return mask(isa::scalar::exec_lo); }
  void set_exec(uint64_t lanes) { set_mask(isa::scalar::exec_lo, lanes); }
  uint64_t vcc() const { return mask(isa::scalar::vcc_lo); }
  void set_vcc(uint64_t lanes) { set_mask(isa::scalar::vcc_lo, lanes); }
};

/// Numbers of instructions that waves have executed (Wave::instructions, Wave::interpreted).
struct InstructionCount {
  uint64_t all = 0, interpreted = 0;

  void operator+=(const InstructionCount& more) {
    all += more.all;
    interpreted += more.interpreted;
  }
  void add(const Wave& wave) { *this += {.all = wave.instructions, .interpreted = wave.interpreted}; }
};

/// A work-group that is resident: its waves, LDS and scratch exist from its start to its end. One host thread at
/// a time runs it.
struct WorkGroup {
  Dispatch* dispatch = nullptr;
  uint32_t id[3]{};        ///< in the grid, in work-groups
  uint8_t* lds = nullptr;  ///< `lds_bytes` bytes, 64-byte aligned, zeroed at start
  uint32_t lds_bytes = 0;
  AddressBounds bounds{};  ///< of the memory that its waves may touch; engines see to it
  std::vector<Wave> waves;
  uint32_t waves_begun = 0;    ///< the first so many; the state of those after them means nothing yet
  uint32_t waves_running = 0;  ///< not ended, begun or not
  struct Barrier {
    uint32_t arrived = 0;  ///< waves, in this phase
    uint32_t phase = 0;    ///< how often it was complete
  } barrier;
  /// Barriers with names (GFX12.5), by number; number 0 is that of none.
  struct NamedBarrier : Barrier {
    uint32_t expected = 0;  ///< waves that have to arrive
  };
  std::array<NamedBarrier, 17> named_barriers{};
  ClusterBarrier* cluster = nullptr;  ///< the barrier of the cluster that it is in (GFX12.5); null: it is in none
  uint32_t number_in_cluster = 0;
};

}  // namespace Atoll::machine
