// machine: determines the contents of a fault report.
//
// The host reports one address of a bad access, not the lane. The lane is found by recomputing the instruction's
// addresses for all active lanes (its operands are unchanged, because it did not complete) and testing which are
// readable.
#include "machine/report/fault_report.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include "debug_info/code_address.h"
#include "isa/effects.h"
#include "isa/table.h"
#include "machine/gpu.h"
#include "machine/memory/host_address.h"
#include "machine/report/code_address.h"
#include "machine/report/fault_guard.h"
#include "machine/wave/initial_state.h"
#include "semantics/memory/memory_access.h"
#include "support/demangle.h"

namespace Atoll::machine {

namespace {

using isa::OperandKind;

bool is_canonical(uint64_t address) {
  const auto top = static_cast<int64_t>(address) >> 47;
  return top == 0 || top == -1;
}

/// The address that a lane of a FLAT or GLOBAL instruction accesses; nullopt for other encodings.
std::optional<uint64_t> lane_address(const isa::Instruction& instruction, const Wave& wave, unsigned lane) {
  if (instruction.encoding != isa::Encoding::flat && instruction.encoding != isa::Encoding::global) return std::nullopt;
  // The lane's address, or its offset from a scalar base.
  const isa::Operand* vector = isa::operand_of(instruction, isa::Field::flat_address);
  if (vector == nullptr) return std::nullopt;
  if (vector->kind != OperandKind::vgpr || vector->reg + vector->words > wave.vgprs) return std::nullopt;
  uint64_t address = wave.vgpr[vector->reg][lane];
  if (vector->words == 2) address |= uint64_t{wave.vgpr[vector->reg + 1][lane]} << 32;
  const isa::Operand* base = isa::operand_of(instruction, isa::Field::flat_base);
  if (base != nullptr && base->kind == OperandKind::scalar && base->words == 2 && base->reg + 1 < isa::scalar::count) {
    // From GFX12.5 on an offset from a base is signed, and may count elements.
    if (instruction.generation >= target::Generation::gfx12_5) {
      const uint64_t scale = instruction.scale_offset ? semantics::memory_access(instruction).bytes : 1;
      if (scale == 0) return std::nullopt;  // a copy to LDS, of which that table does not have the size
      address = static_cast<uint64_t>(int64_t{static_cast<int32_t>(address)}) * scale;
    }
    address += wave.scalar64(base->reg);
  }
  return address + static_cast<uint64_t>(int64_t{instruction.offset});
}

/// Bytes that one lane moves: the data operand's size (of the result, or of what is stored).
uint64_t access_bytes(const isa::Instruction& instruction) {
  uint64_t words = 1;
  for (unsigned i = 0; i < instruction.operand_count; ++i) {
    if (isa::field_of(instruction, i) == isa::Field::flat_address) continue;
    const isa::Operand& operand = instruction.operands[i];
    if (operand.kind == OperandKind::vgpr || operand.kind == OperandKind::agpr) {
      words = std::max<uint64_t>(words, operand.words);
    }
  }
  return words * 4;
}

/// Finds the first lane that makes a bad access, and its address. That is not always the one at which the host
/// stopped: it may have moved several lanes' data at once, or have begun with the last.
bool find_lane(const isa::Instruction& instruction, const Wave& wave, Fault& fault) {
  const uint64_t bytes = access_bytes(instruction);
  const auto make_it = [&](unsigned lane, uint64_t address) {
    fault.lane = static_cast<uint8_t>(lane);
    fault.address = address;
    fault.address_known = true;
    return true;
  };
  for (uint64_t left = wave.exec(); left != 0; left &= left - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(left));
    const auto address = lane_address(instruction, wave, lane);
    if (!address) return false;
    const auto high = static_cast<uint32_t>(*address >> 32);
    if (high == shared_aperture_hi || high == private_aperture_hi) continue;  // LDS and scratch, not the host's memory
    if (!wave.work_group->bounds.hold(*address)) return make_it(lane, *address);
    for (uint64_t offset = 0; offset < bytes; offset += 4) {
      uint32_t word;
      if (!read_guest(&word, *address + offset, sizeof word)) return make_it(lane, *address + offset);
    }
  }
  // All can be read, so it was a write to what may not be written.
  for (uint64_t left = wave.exec(); left != 0; left &= left - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(left));
    const auto address = lane_address(instruction, wave, lane);
    if (address && fault.address - *address < bytes) return make_it(lane, fault.address);
  }
  return false;
}

/// The first two words at an address in hexadecimal, for what cannot be disassembled.
std::string raw_words(const debug_info::CodeAddress& address) {
  std::string text;
  for (size_t at = 0; at < 8 && at + 4 <= address.byte_count; at += 4) {
    uint32_t word;
    std::memcpy(&word, &address.bytes[at], sizeof word);
    text += fmt::format("{}{:#010x}", text.empty() ? "" : " ", word);
  }
  return text;
}

std::string describe(const Allocation& allocation) {
  return fmt::format("{} ({} bytes at {:#x})", allocation.purpose, allocation.size, allocation.address);
}

/// Describes what is at or next to an address.
std::string neighbourhood(uint64_t address, const Wave& wave, Gpu& gpu) {
  const Dispatch& dispatch = *wave.work_group->dispatch;
  const auto high = static_cast<uint32_t>(address >> 32);
  if (high == shared_aperture_hi) return "in the LDS aperture";
  if (high == private_aperture_hi) return "in the scratch aperture";
  if (!is_canonical(address)) return "no possible address: its upper bits are not all alike";
  if (wave.scratch != nullptr) {
    const uint64_t start =
        reinterpret_cast<uint64_t>(wave.scratch) - uint64_t{wave.index} * dispatch.launch.scratch_bytes_per_wave;
    const uint64_t size = uint64_t{dispatch.launch.scratch_bytes_per_wave} * wave.work_group->waves.size();
    constexpr uint64_t near = 1u << 20;
    if (address - start >= size && address - start < size + near) {
      return fmt::format("{} bytes past the work-group's scratch memory", address - start - size);
    }
  }
  if (address < 4096) return "a null pointer, or an offset from one";
  const auto allocation = gpu.memory().nearest(address);
  if (!allocation) return "the GPU has no memory allocated";
  constexpr uint64_t far = uint64_t{1} << 32;
  if (address + far < allocation->address || address > allocation->address + allocation->size + far) {
    return "nowhere near memory of the GPU's";
  }
  if (address < allocation->address) {
    return fmt::format("{} bytes before {}", allocation->address - address, describe(*allocation));
  }
  const uint64_t offset = address - allocation->address;
  if (offset < allocation->size) return fmt::format("at offset {} in {}", offset, describe(*allocation));
  return fmt::format("{} bytes past the end of {}", offset - allocation->size, describe(*allocation));
}

/// Describes host memory at an address that is outside GPU memory, and what to do; empty if that is not the problem.
std::optional<std::string> host_memory(const Fault& fault, const WorkGroup& group, const target::TargetId& gpu) {
  if (!fault.address_known || group.bounds.hold(fault.address)) return std::nullopt;
  if (AddressRange::of_process().bounds().hold(fault.address)) return std::nullopt;
  auto what = describe_host_address(fault.address);
  if (!what) return std::nullopt;
  *what += "; pass memory of the GPU's, or that is registered for it";
  if (gpu.processor->supports_xnack) *what += fmt::format(", or run with xnack on ({}:xnack+)", gpu.processor->name);
  return what;
}

/// Returns the owning GPU if the address is in memory of another GPU to which this one has no access.
std::optional<std::string> memory_of_other_gpu(const Fault& fault, const WorkGroup& group, Gpu& gpu) {
  if (!fault.address_known || group.bounds.hold(fault.address)) return std::nullopt;
  const auto allocation = gpu.memory().find(fault.address);
  if (!allocation || allocation->gpu == every_gpu || allocation->gpu == gpu.number()) return std::nullopt;
  return fmt::format(
      "at offset {} in {} of GPU {}; GPU {} has not been given access to it: "
      "hipDeviceEnablePeerAccess, or hsa_amd_agents_allow_access",
      fault.address - allocation->address, describe(*allocation), allocation->gpu, gpu.number());
}

/// llvm.trap, and not another number or s_sethalt.
bool is_trap_2(const Fault& fault) { return fault.what.empty() || fault.what.starts_with("s_trap 2 "); }

/// Whether the headline has all that Fault::what says.
bool is_in_headline(const Fault& fault) {
  return fault.kind == Fault::Kind::illegal_instruction || fault.kind == Fault::Kind::memory ||
         (fault.kind == Fault::Kind::abort && !is_trap_2(fault));
}

std::string headline(const FaultReport& report) {
  const Fault& fault = report.fault;
  switch (fault.kind) {
    case Fault::Kind::none:
      break;
    case Fault::Kind::memory:
      if (!fault.address_known) {
        return fmt::format("kernel '{}' accessed an address that is not canonical", report.kernel);
      }
      if (!fault.what.empty()) {  // it is there, but may not be accessed like this
        return fmt::format("kernel '{}' {} {:#x}: {}", report.kernel, fault.is_write ? "wrote to" : "read from",
                           fault.address, fault.what);
      }
      return fmt::format("kernel '{}' {} {:#x}, which is not mapped for this access", report.kernel,
                         fault.is_write ? "wrote to" : "read from", fault.address);
    case Fault::Kind::illegal_instruction:
      return fmt::format("kernel '{}' ran into an instruction that its GPU cannot run: {}", report.kernel, fault.what);
    case Fault::Kind::instruction_fetch:
      return fmt::format("kernel '{}' jumped to {:#x}, where there is no code", report.kernel, fault.pc);
    case Fault::Kind::scratch_overflow:
      return fmt::format("kernel '{}' went past the end of its scratch memory, at private address {:#x}", report.kernel,
                         fault.address);
    case Fault::Kind::lds_overflow:
      return fmt::format("kernel '{}' went past the end of its LDS, at {:#x}", report.kernel, fault.address);
    case Fault::Kind::abort:
      return is_trap_2(fault) ? fmt::format("kernel '{}' aborted itself (s_trap 2)", report.kernel)
                              : fmt::format("kernel '{}' stopped: {}", report.kernel, fault.what);
    case Fault::Kind::exception:
      return fmt::format("kernel '{}' raised a floating-point exception that it enables", report.kernel);
    case Fault::Kind::timeout:
      return fmt::format("kernel '{}' was stopped: it ran longer than the timeout allows", report.kernel);
    case Fault::Kind::interrupted:
      return fmt::format("kernel '{}' was interrupted", report.kernel);
  }
  return fmt::format("kernel '{}' stopped", report.kernel);
}

/// An instruction with its address and source line.
std::string place_of(uint64_t pc, const Wave& wave) {
  const debug_info::CodeAddress address = code_address(wave, pc);
  const debug_info::CodePlace place = address.resolve();
  std::string text = place.instruction.empty() ? raw_words(address) : place.instruction;
  text += fmt::format("{}(at {:#x})", text.empty() ? "" : "  ", pc);
  return place.source.empty() ? text : text + "  " + place.source;
}

/// Where a register pair of the wave leads as the address of a jump.
uint64_t target_in(const Wave& wave, const isa::Operand& operand) {
  const bool is_pair = operand.kind == OperandKind::scalar && operand.reg + 1u < isa::scalar::count;
  return is_pair ? wave.scalar64(operand.reg) & ~uint64_t{3} : 0;
}

/// Whether a jump or call at `pc` can have led to `target`: its registers still have that address, or the address after
/// it, where a call has replaced it.
bool can_have_jumped_to(uint64_t target, uint64_t pc, const isa::Instruction& jump, const Wave& wave) {
  const isa::Control control = isa::control_of(jump);
  const uint64_t next = pc + jump.size;
  if (control.has_target) {
    return next + static_cast<uint64_t>(int64_t{static_cast<int16_t>(jump.immediate)} * 4) == target;
  }
  if (jump.sources() == 0 || (control.kind != isa::Control::Kind::indirect && !control.is_call())) return false;
  const isa::Operand& address = jump.src(0);
  if (jump.destinations != 0) {
    const isa::Operand& link = jump.dst();
    if (wave.scalar64(link.reg) != next) return false;
    if (address.reg == link.reg) return true;
  }
  return (control.adds_to_pc ? next : 0) + target_in(wave, address) == target;
}

/// The jumps, calls and branches of loaded code that are most likely to have led to an address where no code can run. A
/// call has left its return address in registers. Jumps of several functions may use the same registers: the kernel's
/// own come first.
std::vector<uint64_t> jumps_to(uint64_t target, const LoadedCode& code, const Wave& wave, const Gpu& gpu) {
  const std::string& kernel = wave.work_group->dispatch->kernel->name;
  std::vector<uint64_t> calls, of_kernel, others;
  for (const object::Segment& segment : code.code_object().segments) {
    if (!segment.executable) continue;
    const uint64_t end = code.base() + segment.address + segment.memory_size;
    for (uint64_t pc = code.base() + segment.address; pc < end;) {
      const auto instruction = debug_info::instruction_at(code.code_from(pc), gpu.processor(), wave.wave_size);
      if (instruction && can_have_jumped_to(target, pc, *instruction, wave)) {
        const bool is_linked = instruction->destinations != 0;
        (is_linked ? calls : code.function_at(pc) == kernel ? of_kernel : others).push_back(pc);
      }
      pc += instruction ? instruction->size : 4;
    }
  }
  return !calls.empty() ? calls : !of_kernel.empty() ? of_kernel : others;
}

/// Describes the jump that led to an address without code; empty if unknown.
std::string jump_to(uint64_t target, const Wave& wave, const Gpu& gpu) {
  if (const auto code = wave.work_group->dispatch->kernel->code.lock()) {
    const std::vector<uint64_t> jumps = jumps_to(target, *code, wave, gpu);
    std::string text = jumps.empty() ? "" : place_of(jumps.front(), wave);
    if (jumps.size() > 1) text += fmt::format(", or {} others that use the same registers", jumps.size() - 1);
    if (!jumps.empty()) return text;
  }
  constexpr uint64_t last_instruction = 4;
  return gpu.code_at(target - last_instruction) ? place_of(target - last_instruction, wave) : std::string();
}

/// Where the waves of a work-group are, those at the same place together, and what they wait for.
std::vector<std::string> waves_of(const WorkGroup& group) {
  struct Place {
    WaveState state;
    uint64_t pc;
    std::vector<uint32_t> waves;
  };
  std::vector<Place> places;
  uint32_t ended = 0;
  for (uint32_t i = 0; i < group.waves_begun; ++i) {
    const Wave& wave = group.waves[i];
    if (wave.state == WaveState::ended) {
      ++ended;
      continue;
    }
    const bool waits = wave.state == WaveState::at_barrier || wave.state == WaveState::waits_at_barrier;
    constexpr uint64_t barrier_bytes = 4;  // the wave's PC is behind it
    const uint64_t pc = waits ? wave.pc - barrier_bytes : wave.pc;
    const auto same = std::ranges::find_if(
        places, [&](const Place& place) { return place.pc == pc && (place.state == wave.state || waits); });
    (same != places.end() ? *same : places.emplace_back(wave.state, pc, std::vector<uint32_t>{})).waves.push_back(i);
  }
  std::vector<std::string> lines;
  for (const Place& place : places) {
    const bool waits = place.state == WaveState::at_barrier || place.state == WaveState::waits_at_barrier;
    const bool one = place.waves.size() == 1;
    lines.push_back(fmt::format("{} {} {}: {}", one ? "wave" : "waves", fmt::join(place.waves, ", "),
                                waits ? (one ? "waits at the barrier" : "wait at the barrier") : (one ? "runs" : "run"),
                                place_of(place.pc, group.waves[place.waves.front()])));
  }
  const auto count = [&](uint64_t number, const char* one, const char* many) {
    if (number != 0) lines.push_back(fmt::format("{} {}", number, number == 1 ? one : many));
  };
  count(ended, "wave has ended", "waves have ended");
  count(group.waves.size() - group.waves_begun, "wave has not begun", "waves have not begun");
  return lines;
}

}  // namespace

FaultReport report_fault(const Wave& wave) {
  const WorkGroup& group = *wave.work_group;
  Dispatch& dispatch = *group.dispatch;
  Gpu& gpu = *dispatch.gpu;
  FaultReport report;
  if (wave.fault) report.fault = *wave.fault;
  Fault& fault = report.fault;
  report.kernel = support::demangled(dispatch.kernel->name);
  std::ranges::copy(group.id, report.work_group);
  report.wave = wave.index;

  const debug_info::CodeAddress address = code_address(wave, fault.pc);
  debug_info::CodePlace place = address.resolve();
  const auto instruction =
      debug_info::instruction_at(std::span(address.bytes).first(address.byte_count), gpu.processor(), wave.wave_size);
  report.instruction = place.instruction.empty() ? raw_words(address) : std::move(place.instruction);
  if (place.function != report.kernel) report.function = std::move(place.function);
  report.source = std::move(place.source);
  if (fault.kind == Fault::Kind::memory) {
    // The host says nothing of accesses to addresses that are not canonical.
    if (!fault.address_known && instruction) fault.is_write = !isa::effects_of(*instruction).loads.any();
    report.lane_known = !fault.what.empty() || (instruction && find_lane(*instruction, wave, fault));
    const auto foreign = fault.what.empty() ? memory_of_other_gpu(fault, group, gpu) : std::nullopt;
    const auto host = fault.what.empty() ? host_memory(fault, group, gpu.model().target) : std::nullopt;
    if (foreign) {
      fault.what = "memory of another GPU";
      report.owner = *foreign;
    } else if (host) {
      fault.what = "an address of the host, where a GPU has no memory";
      report.owner = *host;
    } else if (fault.address_known) {
      report.owner = neighbourhood(fault.address, wave, gpu);
    }
  } else {
    report.lane_known = fault.kind == Fault::Kind::scratch_overflow || fault.kind == Fault::Kind::lds_overflow ||
                        fault.kind == Fault::Kind::exception;
  }
  if (fault.kind == Fault::Kind::instruction_fetch) report.origin = jump_to(fault.pc, wave, gpu);
  const bool hangs = fault.kind == Fault::Kind::timeout || fault.kind == Fault::Kind::interrupted;
  if (hangs && group.waves.size() > 1) report.waves = waves_of(group);
  if (!report.lane_known && wave.exec() != 0) fault.lane = static_cast<uint8_t>(std::countr_zero(wave.exec()));
  work_item_of(group, wave.index, fault.lane, report.work_item);
  return report;
}

std::string FaultReport::to_string() const {
  std::string text = headline(*this);
  const auto line = [&](std::string_view label, const std::string& value) {
    if (!value.empty()) text += fmt::format("\n  {:<12} {}", label, value);
  };
  line("instruction",
       instruction.empty() ? fmt::format("at {:#x}", fault.pc) : fmt::format("{}  (at {:#x})", instruction, fault.pc));
  line("function", function);
  // The device library's function for hostcalls by printf, assert and malloc.
  if (fault.kind == Fault::Kind::timeout && function.starts_with("__ockl_hostcall"))
    line("waits for",
         "the host's answer to printf, assert or malloc; HIP 5.2 answers only the queue that was "
         "made last");
  line("source", source);
  line("address", owner);
  line("reached by", origin);
  line("detail", is_in_headline(fault) ? std::string() : fault.what);
  line("work-group", fmt::format("({}, {}, {}), wave {}", work_group[0], work_group[1], work_group[2], wave));
  line(lane_known ? "work-item" : "first lane",
       fmt::format("({}, {}, {}), lane {}", work_item[0], work_item[1], work_item[2], fault.lane));
  for (size_t i = 0; i < waves.size(); ++i) line(i == 0 ? "waves" : "", waves[i]);
  line("core file", core_file);
  return text;
}

support::ErrorKind FaultReport::error_kind() const {
  switch (fault.kind) {
    case Fault::Kind::memory:
    case Fault::Kind::instruction_fetch:
    case Fault::Kind::scratch_overflow:
    case Fault::Kind::lds_overflow:
      return support::ErrorKind::memory_fault;
    case Fault::Kind::illegal_instruction:
      return support::ErrorKind::illegal_instruction;
    case Fault::Kind::none:
    case Fault::Kind::abort:
    case Fault::Kind::exception:
    case Fault::Kind::timeout:
    case Fault::Kind::interrupted:
      break;
  }
  return support::ErrorKind::aborted;
}

}  // namespace Atoll::machine
