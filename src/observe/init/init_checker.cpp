// observe: propagates the shadow of each instruction and access, and reports uses of uninitialized values.
#include "observe/init/init_checker.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "isa/effects.h"
#include "isa/table.h"
#include "machine/gpu.h"
#include "machine/wave/dispatch.h"
#include "observe/race/active_work_groups.h"
#include "observe/race/generation_number.h"
#include "observe/race/requested_copies.h"
#include "observe/race/thread_slots.h"
#include "observe/report/place.h"
#include "observe/shadow/register_shadow.h"
#include "observe/shadow/shadow_memory.h"
#include "observe/shadow/undefined_flow.h"
#include "observe/shadow/undefined_stores.h"
#include "semantics/memory/memory_access.h"
#include "support/demangle.h"

namespace Atoll::observe {

namespace {

using isa::Encoding;
using isa::Field;
using isa::Instruction;
using isa::OperandKind;
using machine::AccessEvent;
using machine::Space;
using semantics::MemoryAccess;

constexpr const char* checker = "init";
constexpr uint32_t max_bytes = 128;  ///< largest access

/// The memory instruction that a wave is executing; its access events follow.
struct MemoryStep {
  const MemoryAccess* access = nullptr;
  const isa::Operand* result = nullptr;  ///< registers that it loads into
  const isa::Operand* data[2]{};         ///< registers that it stores, in order
  uint32_t done[64]{};                   ///< bytes of the lane's elements covered by access events so far
};

struct WaveState {
  RegisterShadow registers;
  MemoryStep step;
  std::vector<uint8_t> scratch;  ///< by private address, then by lane; everything beyond is uninitialized
};

struct GroupState {
  std::vector<std::unique_ptr<WaveState>> waves;
  std::vector<uint8_t> lds;
  /// Returns the length of the initialized prefix of LDS. Computed on demand.
  uint32_t written_lds() {
    while (written_ < lds.size() && lds[written_] == 0) ++written_;
    return written_;
  }
  void write_lds(uint64_t offset, uint64_t bytes, const uint8_t* undefined) {
    for (uint64_t i = 0; i < bytes && offset + i < lds.size(); ++i) {
      lds[offset + i] = undefined == nullptr ? uint8_t{0} : undefined[i];
      if (lds[offset + i] != 0) written_ = std::min(written_, static_cast<uint32_t>(offset + i));
    }
  }

 private:
  uint32_t written_ = 0;
};

/// Initialized memory that an instruction accessed the last time.
struct WrittenNear {
  uint64_t epoch = 0, pc = 0, begin = 0, end = 0;
  uint32_t misses = 0;
};

/// Recycled states of ended waves, for new waves of this thread, because allocating them is slow.
std::vector<std::unique_ptr<WaveState>>& spare_wave_states() {
  return thread_slot<std::vector<std::unique_ptr<WaveState>>, 1>(0);
}

/// Returns whether a stored dword is uninitialized, or has partly uninitialized bytes (which padding never has).
bool means_nothing(std::span<const uint8_t> undefined) {
  constexpr size_t dword = 4;
  for (size_t i = 0; i < undefined.size(); i += dword) {
    const auto bytes = undefined.subspan(i, std::min(dword, undefined.size() - i));
    if (std::ranges::all_of(bytes, [](uint8_t byte) { return byte != 0; })) return true;
    if (std::ranges::any_of(bytes, [](uint8_t byte) { return byte != 0 && byte != 0xFF; })) return true;
  }
  return false;
}

class InitChecker final : public Checker, public machine::InstrumentationClient {
 public:
  explicit InitChecker(Findings& findings) : findings_(findings), memory_([this] { report_full(); }) {}

  machine::EventMask watched() const override { return {.dispatches = true, .work_groups = true, .memory = true}; }
  machine::InstrumentationClient* instrumentation() override { return this; }
  machine::InstrumentationRequest requested() const override { return {.undefined_values = true}; }

  void work_group_begins(const machine::WorkGroup& group) override {
    auto state = std::make_unique<GroupState>();
    state->waves.resize(group.waves.size());
    state->lds.assign(group.lds_bytes, 0xFF);
    groups_.add(group, std::move(state));
  }
  void work_group_ends(const machine::WorkGroup& group) override { groups_.erase(group); }
  void wave_begins(const machine::Wave& wave) override {
    GroupState* group = groups_.find(wave.work_group);
    if (group == nullptr || wave.index >= group->waves.size()) return;
    auto& spare = spare_wave_states();
    auto& state = group->waves[wave.index];
    if (spare.empty()) {
      state = std::make_unique<WaveState>();
    } else {
      state = std::move(spare.back());
      spare.pop_back();
    }
    state->registers.begin(wave);
    state->step = {};
    state->scratch.clear();
  }
  void wave_ends(const machine::Wave& wave) override {
    GroupState* group = groups_.find(wave.work_group);
    if (group == nullptr || wave.index >= group->waves.size()) return;
    constexpr size_t most = 64;
    auto& spare = spare_wave_states();
    if (auto state = std::move(group->waves[wave.index]); state != nullptr && spare.size() < most)
      spare.push_back(std::move(state));
  }
  void instruction(const machine::Wave& wave, uint64_t pc, const Instruction& instruction) override;
  void access(const machine::Wave& wave, const AccessEvent& access) override;
  machine::AccessFilter access_filter(const machine::Wave& wave) override;
  bool passes_filter(const machine::Wave& wave, const AccessEvent& access, machine::OrdinaryMemory& around) override;

  void allocated(const machine::MemoryEvent& memory) override {
    if (memory.kind != machine::MemoryEvent::Kind::device) return;
    stored_undefined_.forget(memory.address, memory.address + memory.size);
    memory_.add({.begin = memory.address,
                 .size = memory.size,
                 .function = std::string(memory.function),
                 .stack = HostStack::here()});
    if (memory.function == "Gpu::allocate") {
      memory_.define_all(memory.address);
      const std::lock_guard lock(of_library_mutex_);
      of_library_.insert(memory.address);
    }
    epoch_ = next_epoch();
  }
  void dispatch_ends(const machine::Dispatch&) override {
    if (!has_stored_undefined_.exchange(false)) return;
    const std::lock_guard lock(of_library_mutex_);
    for (const uint64_t address : of_library_) memory_.define_all(address);
  }
  void freed(uint64_t address, std::string_view, std::function<void()> release) override {
    {
      const std::lock_guard lock(of_library_mutex_);
      of_library_.erase(address);
    }
    memory_.remove(address);
    epoch_ = next_epoch();
    release();
  }
  void copying(const machine::CopyEvent& copy) override {
    if (copy.source == 0 || memory_.number_at(copy.source) == 0 || memory_.number_at(copy.destination) != 0) return;
    asked_.add(copy);
  }
  void copied(const machine::CopyEvent& copy) override;

 private:
  struct Found {
    GroupState* group = nullptr;
    WaveState* wave = nullptr;
  };
  Found find(const machine::Wave& wave) const {
    GroupState* group = groups_.find(wave.work_group);
    if (group == nullptr || wave.index >= group->waves.size() || group->waves[wave.index] == nullptr) return {};
    return {group, group->waves[wave.index].get()};
  }

  void begin_memory(const machine::Wave& wave, WaveState& state, uint64_t pc, const Instruction& instruction);
  void check_address(const machine::Wave& wave, WaveState& state, uint64_t pc, const Instruction& instruction);
  void load(const Instruction& instruction, WaveState& state, const AccessEvent& access, unsigned lane,
            const uint8_t* undefined, uint32_t origin);
  bool stored(const Instruction& instruction, const WaveState& state, const AccessEvent& access, unsigned lane,
              uint8_t* undefined, uint32_t& origin) const;
  void read_memory(const GroupState& group, const WaveState& state, const AccessEvent& access, unsigned lane,
                   uint8_t* undefined, uint32_t& origin) const;
  void write_memory(GroupState& group, WaveState& state, const AccessEvent& access, unsigned lane,
                    const uint8_t* undefined);
  void atomic_on_undefined(const machine::Wave& wave, WaveState& state, const AccessEvent& access, unsigned lane,
                           const uint8_t* undefined, uint32_t origin);
  bool finds_all_written(GroupState& group, const AccessEvent& access) const;
  static bool stores_what_is_defined(const machine::Wave& wave, const WaveState& state);
  void translated_access(const machine::Wave& wave, GroupState& group, WaveState& state, const AccessEvent& access);
  void write_defined(GroupState& group, WaveState& state, const AccessEvent& access);
  /// Calls `visit(address, bytes)` for runs of consecutive lanes that access adjacent memory.
  template <typename Visit>
  static void for_each_run(const AccessEvent& access, const Visit& visit);

  void report(const machine::Wave& wave, uint64_t pc, unsigned lane, const char* kind, std::string_view what,
              uint32_t origin, const char* advice);
  std::vector<NamedStack> origin_of(uint32_t origin) const;
  void report_full() {
    Finding note;
    note.checker = checker;
    note.kind = "shadow-memory";
    note.is_note = true;
    note.message = fmt::format(
        "the limit of {} GiB for the tracking of uninitialized memory is reached: further memory counts as "
        "initialized",
        ShadowMemory::max_bytes >> 30);
    if (!findings_.known(checker, note.kind, 0, 1)) findings_.add(0, std::move(note));
  }

  Findings& findings_;
  ShadowMemory memory_;
  RequestedCopies asked_;  ///< copies to the host
  /// The program may write memory that it allocated through the library whenever no kernel runs.
  std::mutex of_library_mutex_;
  std::set<uint64_t> of_library_;
  std::atomic<bool> has_stored_undefined_{false};
  UndefinedStores stored_undefined_;
  ActiveWorkGroups<GroupState> groups_;
  std::atomic<uint64_t> epoch_{next_epoch()};  ///< changes whenever initialized memory becomes uninitialized
};

// --- Instructions -------------------------------------------------------------------------------------------------

void InitChecker::instruction(const machine::Wave& wave, uint64_t pc, const Instruction& instruction) {
  WaveState* const state = find(wave).wave;
  if (state == nullptr) return;
  RegisterShadow& registers = state->registers;
  state->step = {};
  switch (instruction.encoding) {
    case Encoding::ds:
      if (moves_between_lanes(instruction.opcode)) {
        move_between_lanes(wave, instruction, registers);
        return;
      }
      [[fallthrough]];
    case Encoding::smem:
    case Encoding::flat:
    case Encoding::global:
    case Encoding::scratch:
    case Encoding::mubuf:
    case Encoding::mtbuf:
      begin_memory(wave, *state, pc, instruction);
      return;
    case Encoding::mimg:
    case Encoding::vsample: {
      define_results(wave, instruction, registers);
      // Stores to images are not tracked.
      if (const isa::Operand* resource = isa::operand_of(instruction, Field::image_resource);
          resource != nullptr && isa::row_of(instruction).has(isa::flag::store) &&
          resource->kind == OperandKind::scalar) {
        const uint64_t words = wave.scalar64(resource->reg);
        memory_.define_all((words & 0xFF'FFFF'FFFF) << 8);
      }
      return;
    }
    default:
      break;
  }
  constexpr const char* write_it = "write the value on all paths that lead here, before it is used";
  const isa::Control control = isa::control_of(instruction);
  if (control.is_branch()) {
    using enum isa::Control::Condition;
    const bool on_scc = control.condition == scc && registers.scc_undefined();
    const bool on_vcc = control.condition == vcc && registers.mask_undefined(wave, isa::scalar::vcc_lo);
    if (on_scc || on_vcc) {
      const uint32_t origin = on_scc ? registers.scc_origin() : registers.scalar_origin(isa::scalar::vcc_lo);
      report(wave, pc, 0, "branch", "branches on an uninitialized value", origin, write_it);
      on_scc ? registers.define_scc() : registers.define_scalars(isa::scalar::vcc_lo, 2);
    }
    define_results(wave, instruction, registers);
    return;
  }
  if (const auto lanes = follow(wave, instruction, registers)) {
    report(wave, pc, static_cast<unsigned>(std::countr_zero(lanes->lanes)), "branch",
           "sets EXEC from an uninitialized value", lanes->origin, write_it);
  }
}

/// Checks the wave's scalars and the lanes' vector registers that form an address.
void InitChecker::check_address(const machine::Wave& wave, WaveState& state, uint64_t pc,
                                const Instruction& instruction) {
  RegisterShadow& registers = state.registers;
  for (unsigned i = 0; i < instruction.operand_count; ++i) {
    switch (isa::field_of(instruction, i)) {
      case Field::sbase:
      case Field::soffset:
      case Field::ds_addr:
      case Field::flat_address:
      case Field::flat_base:
      case Field::buffer_address:
      case Field::buffer_resource:
      case Field::buffer_offset:
        break;
      default:
        continue;
    }
    const isa::Operand& operand = instruction.operands[i];
    unsigned lane = 0;
    if (operand.kind == OperandKind::scalar) {
      if (!registers.scalars_undefined(operand.reg, operand.words)) continue;
    } else if (operand.kind == OperandKind::vgpr) {
      uint64_t lanes = 0;
      for (unsigned word = 0; word < operand.words; ++word) {
        lanes |= registers.undefined_lanes(operand.reg + word) & wave.exec();
      }
      if (lanes == 0) continue;
      lane = static_cast<unsigned>(std::countr_zero(lanes));
    } else {
      continue;
    }
    report(wave, pc, lane, "address", "accesses memory at an address computed from an uninitialized value",
           registers.origin_of(operand), "write the index or the pointer before it is used");
    registers.define(operand);
  }
  // Until GFX8, M0 is the LDS limit; for copies to LDS it is the address.
  if (isa::effects_of(instruction).reads[isa::scalar::m0] && registers.scalars_undefined(isa::scalar::m0, 1)) {
    report(wave, pc, 0, "address", "accesses LDS by an uninitialized m0", registers.scalar_origin(isa::scalar::m0),
           "write m0 before it is used: -1 for all of LDS");
    registers.define_scalars(isa::scalar::m0, 1);
  }
}

void InitChecker::begin_memory(const machine::Wave& wave, WaveState& state, uint64_t pc,
                               const Instruction& instruction) {
  using Kind = MemoryAccess::Kind;
  const MemoryAccess& access = semantics::memory_access(instruction);
  if (access.kind == Kind::none) return define_results(wave, instruction, state.registers);
  const bool uses_lanes = instruction.encoding != Encoding::smem;
  if (!uses_lanes || wave.exec() != 0) check_address(wave, state, pc, instruction);
  MemoryStep& step = state.step;
  step.access = &access;
  for (unsigned i = 0, count = 0; i < instruction.operand_count; ++i) {
    const isa::Operand& operand = instruction.operands[i];
    const Field field = isa::field_of(instruction, i);
    const bool is_data = field == Field::ds_data0 || field == Field::ds_data1 || field == Field::flat_data ||
                         ((field == Field::buffer_data || field == Field::sdata) && access.kind != Kind::load);
    if (is_data && count < 2) step.data[count++] = &operand;
  }
  if (instruction.destinations != 0) {
    step.result = &instruction.operands[0];
    // Out-of-bounds loads return 0.
    if (access.kind == Kind::load && access.keeps_half()) {
      state.registers.define_half(*step.result, wave.exec(), access.half == MemoryAccess::Half::high);
    } else if (access.kind == Kind::load || step.result != step.data[0]) {
      define_results(wave, instruction, state.registers);
    }
  }
}

// --- Accesses -----------------------------------------------------------------------------------------------------

void InitChecker::read_memory(const GroupState& group, const WaveState& state, const AccessEvent& access, unsigned lane,
                              uint8_t* undefined, uint32_t& origin) const {
  const uint64_t address = access.addresses[lane];
  switch (access.space) {
    case Space::global:
      memory_.read(address, undefined, access.bytes);
      break;
    case Space::lds:
      for (uint32_t i = 0; i < access.bytes; ++i) {
        undefined[i] = address + i < group.lds.size() ? group.lds[address + i] : uint8_t{0};
      }
      break;
    case Space::scratch:
      for (uint32_t i = 0; i < access.bytes; ++i) {
        const uint64_t at = (address + i) * 64 + lane;
        undefined[i] = at < state.scratch.size() ? state.scratch[at] : uint8_t{0xFF};
      }
      break;
  }
  if (origin != 0 || std::all_of(undefined, undefined + access.bytes, [](uint8_t byte) { return byte == 0; })) return;
  switch (access.space) {
    case Space::global:
      origin = origin::memory(memory_.number_at(address));
      break;
    case Space::lds:
      origin = origin::lds(address);
      break;
    case Space::scratch:
      origin = origin::scratch(address);
      break;
  }
}

void InitChecker::write_memory(GroupState& group, WaveState& state, const AccessEvent& access, unsigned lane,
                               const uint8_t* undefined) {
  const uint64_t address = access.addresses[lane];
  switch (access.space) {
    case Space::global:
      memory_.write(address, undefined, access.bytes);
      if (std::any_of(undefined, undefined + access.bytes, [](uint8_t byte) { return byte != 0; })) {
        epoch_ = next_epoch();
        has_stored_undefined_ = true;
      }
      break;
    case Space::lds:
      group.write_lds(address, access.bytes, undefined);
      break;
    case Space::scratch: {
      const uint64_t end = (address + access.bytes) * 64;
      constexpr uint64_t most = uint64_t{64} << 20;
      if (end > most) return;
      if (end > state.scratch.size()) state.scratch.resize(end, 0xFF);
      for (uint32_t i = 0; i < access.bytes; ++i) state.scratch[(address + i) * 64 + lane] = undefined[i];
      break;
    }
  }
}

/// Writes the shadow of a load's result to the registers.
void InitChecker::load(const Instruction& instruction, WaveState& state, const AccessEvent& access, unsigned lane,
                       const uint8_t* undefined, uint32_t origin) {
  const MemoryStep& step = state.step;
  if (step.result == nullptr || access.bytes == 0) return;
  const uint32_t offset = step.done[lane];
  const isa::Operand& result = *step.result;
  const bool any = std::any_of(undefined, undefined + access.bytes, [](uint8_t byte) { return byte != 0; });
  if (!any) return;                    // the registers are already marked as initialized
  if (step.access->components != 0) {  // converted elements
    for (unsigned word = 0; word < result.words; ++word) {
      state.registers.set_word(result, word, lane, UINT32_MAX, origin);
    }
    return;
  }
  if (access.bytes < 4) {
    uint32_t bits = 0;
    std::memcpy(&bits, undefined, access.bytes);
    const unsigned width = 8 * access.bytes;
    if (step.access->half != MemoryAccess::Half::none) {
      if (step.access->sign_extend && (bits >> (width - 1) & 1) != 0) bits |= 0xFFFFu & ~((1u << width) - 1);
      const bool high = step.access->half == MemoryAccess::Half::high;
      state.registers.set_half(result, lane, static_cast<uint16_t>(bits), high, origin);
      return;
    }
    if (step.access->sign_extend && (bits >> (width - 1) & 1) != 0) bits |= ~((1u << width) - 1);
    state.registers.set_word(result, offset / 4, lane, bits, origin);
    return;
  }
  for (uint32_t i = 0; i + 4 <= access.bytes; i += 4) {
    uint32_t bits = 0;
    std::memcpy(&bits, undefined + i, 4);
    if ((offset + i) / 4 >= result.words) break;
    state.registers.set_word(result, (offset + i) / 4, lane, bits, origin);
  }
  static_cast<void>(instruction);
}

/// Computes the shadow of a lane's stored data. Returns false if the data is unknown.
bool InitChecker::stored(const Instruction& instruction, const WaveState& state, const AccessEvent& access,
                         unsigned lane, uint8_t* undefined, uint32_t& origin) const {
  std::memset(undefined, 0, access.bytes);
  const MemoryStep& step = state.step;
  if (step.access == nullptr || step.access->components != 0) return false;
  uint32_t offset = step.done[lane];
  const isa::Operand* data = step.data[0];
  if (data != nullptr && step.data[1] != nullptr && offset >= 4u * data->words) {
    offset -= 4u * data->words;
    data = step.data[1];
  }
  if (data == nullptr) return false;
  static_cast<void>(instruction);
  for (uint32_t i = 0; i < access.bytes; i += 4) {
    if ((offset + i) / 4 >= data->words) break;
    uint32_t bits = state.registers.word(*data, (offset + i) / 4, lane);
    if (step.access->half == MemoryAccess::Half::high) bits >>= 16;
    std::memcpy(undefined + i, &bits, std::min<size_t>(4, access.bytes - i));
    if (bits != 0 && origin == 0) origin = state.registers.origin_of(*data, (offset + i) / 4);
  }
  return true;
}

void InitChecker::atomic_on_undefined(const machine::Wave& wave, WaveState& state, const AccessEvent& access,
                                      unsigned lane, const uint8_t* undefined, uint32_t origin) {
  if (state.step.access->operation == semantics::AtomicOperation::swap) {
    return load(access.instruction, state, access, lane, undefined, origin);
  }
  report(wave, access.pc, lane, "atomic", "does an atomic on uninitialized memory", origin,
         "set it to a value before, as by hipMemset or in another kernel");
}

/// Returns whether an access to memory or LDS covers only initialized bytes, according to cached ranges.
bool InitChecker::finds_all_written(GroupState& group, const AccessEvent& access) const {
  const auto [begin, end, follows, repeats] = access.pattern;
  if (access.space == Space::lds) return end <= group.written_lds();
  if (access.space != Space::global) return false;
  auto& near = thread_slot<WrittenNear, 256>(access.pc / 4);
  const uint64_t epoch = epoch_.load(std::memory_order_acquire);
  if (near.epoch != epoch || near.pc != access.pc) near = {.epoch = epoch, .pc = access.pc};
  if (begin >= near.begin && end <= near.end) return true;
  // Stops trying after repeated misses.
  constexpr uint32_t max_misses = 8, some = 64;
  if (near.misses > max_misses) {
    ++near.misses;
    if (near.misses % some != 0) return false;
  }
  const ShadowMemory::Written written = memory_.written_around(begin, end - begin);
  if (!written.is_written) {
    ++near.misses;
    return false;
  }
  near.begin = written.begin;
  near.end = written.end;
  return true;
}

/// Returns whether a memory instruction stores only initialized values in the active lanes.
bool InitChecker::stores_what_is_defined(const machine::Wave& wave, const WaveState& state) {
  for (const isa::Operand* data : state.step.data) {
    if (data == nullptr) continue;
    if (data->kind == OperandKind::scalar && state.registers.scalars_undefined(data->reg, data->words)) return false;
    if (data->kind != OperandKind::vgpr && data->kind != OperandKind::agpr) continue;
    for (unsigned word = 0; word < data->words; ++word) {
      if ((state.registers.undefined_lanes(*data, word) & wave.exec()) != 0) return false;
    }
  }
  return true;
}

void InitChecker::access(const machine::Wave& wave, const AccessEvent& access) {
  const auto [group, state] = find(wave);
  if (state == nullptr) return;
  if (access.is_translated) return translated_access(wave, *group, *state, access);
  // Tensor copies and transposing loads are not tracked element by element.
  if (state->step.access == nullptr || access.bytes > max_bytes) {
    if (access.writes) write_defined(*group, *state, access);
    return;
  }
  using Kind = MemoryAccess::Kind;
  MemoryStep& step = state->step;
  const bool is_plain = step.access->kind == Kind::load || step.access->kind == Kind::store;
  if (is_plain || access.is_atomic) {
    const bool is_written = finds_all_written(*group, access);
    const bool is_defined = !access.writes || stores_what_is_defined(wave, *state);
    if (is_defined && (is_written || (is_plain && access.writes))) {
      if (!is_written) write_defined(*group, *state, access);
      for (unsigned lane = 0; lane < 64; ++lane) step.done[lane] += (access.lanes >> lane & 1) != 0 ? access.bytes : 0;
      return;
    }
  }
  uint8_t undefined[max_bytes];
  for (uint64_t lanes = access.lanes; lanes != 0; lanes &= lanes - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(lanes));
    uint32_t origin = 0;
    if (access.is_atomic) {
      // The shadow of the memory, and of the data stored to it.
      if (stored(access.instruction, *state, access, lane, undefined, origin) && origin != 0) {
        report(wave, access.pc, lane, "atomic", "does an atomic with an uninitialized value", origin,
               "write the value before it is used");
      }
      origin = 0;
      read_memory(*group, *state, access, lane, undefined, origin);
      if (origin != 0) atomic_on_undefined(wave, *state, access, lane, undefined, origin);
      std::memset(undefined, 0, access.bytes);
      write_memory(*group, *state, access, lane, undefined);
    } else if (!is_plain) {  // copies between memory and LDS, blocks of registers
      std::memset(undefined, 0, access.bytes);
      if (access.writes) write_memory(*group, *state, access, lane, undefined);
    } else if (access.writes) {
      stored(access.instruction, *state, access, lane, undefined, origin);
      write_memory(*group, *state, access, lane, undefined);
      if (access.space == Space::global && means_nothing(std::span(undefined, access.bytes))) {
        stored_undefined_.add(access.addresses[lane], access.addresses[lane] + access.bytes, access.pc, [&] {
          return UndefinedStores::Place{.code = machine::code_address(wave, access.pc),
                                        .kernel = wave.work_group->dispatch->kernel->name,
                                        .origin = origin};
        });
      }
    } else {
      read_memory(*group, *state, access, lane, undefined, origin);
      load(access.instruction, *state, access, lane, undefined, origin);
    }
    step.done[lane] += access.bytes;
  }
}

// --- Translated code ----------------------------------------------------------------------------------------------

template <typename Visit>
void InitChecker::for_each_run(const AccessEvent& access, const Visit& visit) {
  uint64_t begin = 0, end = 0;
  for (uint64_t lanes = access.lanes; lanes != 0; lanes &= lanes - 1) {
    const uint64_t address = access.addresses[std::countr_zero(lanes)];
    if (address == end) {
      end += access.bytes;
      continue;
    }
    if (end != begin) visit(begin, end - begin);
    begin = address;
    end = address + access.bytes;
  }
  if (end != begin) visit(begin, end - begin);
}

machine::AccessFilter InitChecker::access_filter(const machine::Wave& wave) {
  const auto [group, state] = find(wave);
  if (state == nullptr) return {.scratch_bytes = UINT32_MAX, .epoch = epoch_};
  return {.lds_bytes = group->written_lds(), .epoch = epoch_, .undefined = &state->registers.shared()};
}

/// Accesses to initialized memory are ordinary: writing initialized values to it changes nothing.
bool InitChecker::passes_filter(const machine::Wave& wave, const AccessEvent& access, machine::OrdinaryMemory& around) {
  const auto [group, state] = find(wave);
  if (state == nullptr) {
    around = {.begin = 0, .end = UINT64_MAX};
    return true;
  }
  if (access.space == Space::lds) around = {.begin = 0, .end = group->written_lds()};
  if (access.space == Space::global) {
    bool all_written = true;
    for_each_run(access, [&](uint64_t begin, uint64_t bytes) {
      if (!all_written) return;
      if (around.end > around.begin && begin >= around.begin && begin + bytes <= around.end) return;
      const ShadowMemory::Written written = memory_.written_around(begin, bytes);
      all_written = written.is_written;
      around = {.begin = written.begin, .end = written.end};
    });
    return all_written;
  }
  uint8_t undefined[max_bytes];
  if (access.bytes > max_bytes) return true;
  for (uint64_t lanes = access.lanes; lanes != 0; lanes &= lanes - 1) {
    uint32_t origin = 0;
    read_memory(*group, *state, access, static_cast<unsigned>(std::countr_zero(lanes)), undefined, origin);
    if (origin != 0) return false;
  }
  return true;
}

void InitChecker::write_defined(GroupState& group, WaveState& state, const AccessEvent& access) {
  if (access.space == Space::global) {
    return for_each_run(access, [&](uint64_t begin, uint64_t bytes) { memory_.write(begin, nullptr, bytes); });
  }
  if (access.space == Space::lds) {
    return for_each_run(access, [&](uint64_t begin, uint64_t bytes) { group.write_lds(begin, bytes, nullptr); });
  }
  if (access.bytes > max_bytes) return;
  const uint8_t undefined[max_bytes]{};
  for (uint64_t lanes = access.lanes; lanes != 0; lanes &= lanes - 1) {
    write_memory(group, state, access, static_cast<unsigned>(std::countr_zero(lanes)), undefined);
  }
}

/// The address is initialized, and so is the stored data.
void InitChecker::translated_access(const machine::Wave& wave, GroupState& group, WaveState& state,
                                    const AccessEvent& access) {
  if (access.bytes > max_bytes) {
    if (access.writes) write_defined(group, state, access);
    return;
  }
  MemoryStep& step = state.step;
  step.access = &semantics::memory_access(access.instruction);
  step.result = access.instruction.destinations != 0 ? &access.instruction.operands[0] : nullptr;
  if (access.reads) {
    uint8_t undefined[max_bytes];
    for (uint64_t lanes = access.lanes; lanes != 0; lanes &= lanes - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(lanes));
      uint32_t origin = 0;
      read_memory(group, state, access, lane, undefined, origin);
      if (origin == 0) continue;
      step.done[lane] = access.element * step.access->bytes;
      if (access.is_atomic) {
        atomic_on_undefined(wave, state, access, lane, undefined, origin);
      } else {
        load(access.instruction, state, access, lane, undefined, origin);
      }
    }
  }
  if (access.writes) write_defined(group, state, access);
  step = {};
}

// --- Copies -------------------------------------------------------------------------------------------------------

/// Returns whether a runtime function maps memory for the host by copying all of it. The program may map it only to
/// write.
bool maps_memory(std::string_view function) {
  constexpr std::string_view maps[] = {"clEnqueueSVMMap", "clEnqueueMapBuffer", "clEnqueueMapImage"};
  return std::ranges::find(maps, function) != std::end(maps);
}

void InitChecker::copied(const machine::CopyEvent& copy) {
  if (copy.bytes == 0) return;
  if (copy.source == 0) return memory_.write(copy.destination, nullptr, copy.bytes);
  if (memory_.number_at(copy.destination) != 0) {
    memory_.copy(copy.destination, copy.source, copy.bytes);
    epoch_ = next_epoch();
    return;
  }
  // A copy to the host. Uninitialized parts are reported only if kernels stored them, since the program may use only
  // the initialized part.
  const ShadowMemory::Count count = memory_.count(copy.source, copy.bytes);
  if (!count.is_tracked || count.undefined == 0) return;
  const auto stored = stored_undefined_.longest(copy.source, copy.source + copy.bytes, [&](uint64_t address) {
    uint8_t undefined[4];
    memory_.read(address, undefined, sizeof undefined);
    return means_nothing(undefined);
  });
  if (!stored && count.undefined != copy.bytes) return;
  const HostStack stack = asked_.find(copy);
  const HostFrames frames = describe(stack);
  if (maps_memory(frames.call) || findings_.known(checker, "copy", stack.hash(), 1)) return;
  Finding finding;
  finding.checker = checker;
  finding.kind = "copy";
  finding.message =
      fmt::format("{} copies {} byte{} to the host, ", frames.call.empty() ? std::string(copy.function) : frames.call,
                  copy.bytes, copy.bytes == 1 ? "" : "s");
  finding.message += count.undefined == copy.bytes
                         ? "none of which has a defined value"
                         : fmt::format("of which {} at offset {} have no defined value", stored->end - stored->begin,
                                       stored->begin - copy.source);
  finding.address = fmt::format("{:#x}", stored ? stored->begin : copy.source);
  if (std::vector<std::string> lines = lines_of(stack, copy.function); !lines.empty()) {
    finding.stacks.push_back({"copied", std::move(lines)});
  }
  if (stored) {
    finding.stacks.push_back(
        {.title = "stored",
         .code = stored->place.code,
         .describe = [kernel = support::demangled(stored->place.kernel)](const debug_info::CodePlace& place) {
           const std::string source = source_of(place);
           return std::vector{fmt::format("by kernel '{}'  {}", kernel, source.empty() ? place.instruction : source)};
         }});
  }
  const uint32_t from =
      stored && stored->place.origin != 0 ? stored->place.origin : origin::memory(memory_.number_at(copy.source));
  for (NamedStack& each : origin_of(from)) finding.stacks.push_back(std::move(each));
  finding.advice = stored ? "write all that the kernel reads before it runs, and shuffle only from lanes that take part"
                          : "check that the kernel that fills it has run and has written there, and that it wrote no "
                            "values from uninitialized memory, LDS or registers";
  findings_.add(stack.hash(), std::move(finding));
}

// --- Reports ------------------------------------------------------------------------------------------------------

std::vector<NamedStack> InitChecker::origin_of(uint32_t origin) const {
  std::vector<NamedStack> stacks;
  if (const auto number = origin::memory_of(origin)) {
    if (const auto allocation = memory_.allocation(*number)) {
      std::vector<std::string> frames{fmt::format("{} byte{} of device memory at {:#x}", allocation->size,
                                                  allocation->size == 1 ? "" : "s", allocation->begin)};
      for (std::string& line : lines_of(allocation->stack, allocation->function)) frames.push_back(std::move(line));
      stacks.push_back({"never written", std::move(frames)});
    }
  } else if (const std::string words = origin::in_words(origin); !words.empty()) {
    stacks.push_back({origin::is_inactive(origin) ? "comes from" : "never written", {words}});
  }
  return stacks;
}

void InitChecker::report(const machine::Wave& wave, uint64_t pc, unsigned lane, const char* kind, std::string_view what,
                         uint32_t origin, const char* advice) {
  if (origin::is_inactive(origin)) {
    kind = "inactive-lane";
    what = "depends on the value of a lane that was inactive when it was read";
    advice = "shuffle where all lanes are that are read from, before the branch";
  }
  if (findings_.known(checker, kind, pc, 1)) return;
  Finding finding;
  finding.checker = checker;
  finding.kind = kind;
  set_place(finding, wave, pc, lane);
  finding.message = fmt::format("kernel '{}' {}", finding.kernel, what);
  finding.stacks = origin_of(origin);
  finding.advice = advice;
  findings_.add(pc, std::move(finding));
}

}  // namespace

std::unique_ptr<Checker> make_init_checker(Findings& findings) { return std::make_unique<InitChecker>(findings); }

}  // namespace Atoll::observe
