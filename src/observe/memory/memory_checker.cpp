// observe: checks accesses and copies against allocations, code, arguments, LDS and scratch; reports leaks.
#include "observe/memory/memory_checker.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "isa/decode.h"
#include "machine/gpu.h"
#include "machine/memory/address_range.h"
#include "machine/memory/memory.h"
#include "machine/memory/memory_grain.h"
#include "machine/wave/dispatch.h"
#include "machine/wave/resident_group.h"
#include "memory_model/generation.h"
#include "object/code_object.h"
#include "object/elf_file.h"
#include "observe/memory/argument_bounds.h"
#include "observe/race/generation_number.h"
#include "observe/report/place.h"
#include "observe/shadow/allocations.h"
#include "semantics/image/image_operation.h"
#include "semantics/memory/memory_access.h"
#include "support/bytes.h"
#include "support/demangle.h"
#include "target/target_id.h"

namespace Atoll::observe {

namespace {

using machine::AccessEvent;
using machine::Space;

constexpr const char* checker = "memory";

/// Accesses up to this many bytes past an allocation are attributed to it; farther ones to none.
constexpr uint64_t reach = uint64_t{1} << 20;
/// Kernel arguments are aligned to 16 bytes, and compilers load them by whole dwords (user guide, "Kernarg Segment").
constexpr uint64_t kernarg_alignment = 16;
/// Accesses up to this many bytes past the kernarg segment are attributed to it.
constexpr uint64_t kernarg_reach = 4096;
/// Accesses up to this many bytes past loaded code are attributed to its last variable.
constexpr uint64_t code_reach = 4096;
/// Flat addresses up to this many bytes below the LDS and scratch apertures are attributed to them.
constexpr uint64_t aperture_reach = uint64_t{1} << 20;

template <typename Visit>
void for_each_lane(uint64_t lanes, const Visit& visit) {
  for (; lanes != 0; lanes &= lanes - 1) visit(static_cast<unsigned>(std::countr_zero(lanes)));
}

std::string bytes_in_words(uint64_t bytes) { return fmt::format("{} byte{}", bytes, bytes == 1 ? "" : "s"); }

/// Describes an access relative to a range: "4 bytes after the end of", "at offset 8 in".
std::string relation(uint64_t address, uint64_t bytes, uint64_t begin, uint64_t size) {
  const uint64_t end = begin + size;
  if (address >= end) {
    return address == end ? "right after the end of"
                          : fmt::format("{} after the end of", bytes_in_words(address - end));
  }
  if (address < begin) {
    return address + bytes > begin ? fmt::format("{} before, and on into", bytes_in_words(begin - address))
                                   : fmt::format("{} before", bytes_in_words(begin - address));
  }
  if (address + bytes > end) {
    return fmt::format("at offset {}, so that {} after the end of", address - begin,
                       address + bytes - end == 1
                           ? "the last byte is"
                           : fmt::format("the last {} are", bytes_in_words(address + bytes - end)));
  }
  return fmt::format("at offset {} in", address - begin);
}

/// The first offending lane's access, and the number of other offending lanes.
struct Culprit {
  unsigned lane = 0;
  uint64_t address = 0, count = 0;
};

/// The variables of loaded code.
struct Variables {
  struct Variable {
    uint64_t begin, size;
    std::string name;
  };
  std::vector<Variable> list;  ///< by address
  bool complete = false;       ///< includes variables with local symbols
  bool has_float_atomics = false;

  /// Returns the last variable that begins at or before an address.
  const Variable* at(uint64_t address) const {
    const auto above = std::ranges::upper_bound(list, address, {}, &Variable::begin);
    return above == list.begin() ? nullptr : &*std::prev(above);
  }
};

/// As the launch requests it, without what is added to fill up rows.
uint32_t scratch_size(const machine::Wave& wave) { return wave.work_group->dispatch->launch.requested_scratch_bytes; }

/// Returns the required alignment of an LDS access. Only GPUs until GFX8 have one; later ones split such accesses.
uint64_t lds_alignment(const machine::Wave& wave, const AccessEvent& access) {
  if (wave.work_group->dispatch->gpu->processor().generation >= target::Generation::gfx9) return 1;
  return access.bytes == 12 ? 16 : access.bytes;
}

bool is_float_atomic(const isa::Instruction& instruction) {
  return semantics::is_floating_point(semantics::memory_access(instruction).operation) ||
         semantics::is_floating_point(semantics::image_operation(instruction.opcode).atomic);
}

/// True if the GPU ignores floating-point atomics on fine-grained memory (fine_grained_atomics.h in engine).
bool drops_float_atomics(const machine::Wave& wave) {
  const target::Processor& processor = wave.work_group->dispatch->gpu->processor();
  return memory_model::generation_of(processor).drops_fine_grained_float_atomics;
}
bool depends_on_grain(const machine::Wave& wave, const AccessEvent& access) {
  return access.is_atomic && is_float_atomic(access.instruction) && drops_float_atomics(wave);
}

bool has_float_atomics(const machine::LoadedCode& code, const target::Processor& processor, unsigned wave_size) {
  for (const object::Segment& segment : code.code_object().segments) {
    if (!segment.executable) continue;
    std::span bytes(reinterpret_cast<const uint8_t*>(code.base() + segment.address), segment.memory_size);
    while (bytes.size() >= 4) {
      const auto instruction = isa::decode(bytes, processor, wave_size);
      if (instruction && is_float_atomic(*instruction)) return true;
      bytes = bytes.subspan(instruction ? instruction->size : 4);
    }
  }
  return false;
}

/// Returns whether the host submitted a dispatch after these packets.
bool is_after(const machine::Dispatch& dispatch, const SubmittedPackets& packets) {
  const auto queue = packets.find(dispatch.submission.queue_address);
  return queue == packets.end() || dispatch.submission.dispatch_id >= queue->second;
}

/// How an access overlaps the dispatch's own kernarg segment.
enum class InArguments : uint8_t { none, behind, begin, all };
InArguments in_arguments(const machine::Wave& wave, const AccessEvent& access) {
  const machine::Dispatch& dispatch = *wave.work_group->dispatch;
  const uint64_t size = support::align_up(dispatch.launch.arguments.size, kernarg_alignment);
  const uint64_t least = access.pattern.begin - dispatch.launch.arguments.address;
  if (least >= size + kernarg_reach || size == 0) return InArguments::none;
  if (least >= size) return InArguments::behind;
  return access.pattern.end - access.pattern.begin <= size - least ? InArguments::all : InArguments::begin;
}

/// Returns how an access to the kernarg segment leaves its argument, if metadata describes the arguments.
std::optional<LeftArgument> left_argument_of(const machine::Wave& wave, const AccessEvent& access) {
  const machine::Dispatch& dispatch = *wave.work_group->dispatch;
  const auto code = dispatch.kernel->code.lock();
  const machine::LoadedSymbol* const symbol = code ? code->kernel_at(dispatch.kernel->object) : nullptr;
  if (symbol == nullptr || symbol->metadata == nullptr) return std::nullopt;
  return left_argument(*symbol->metadata, dispatch.launch.arguments.address, access);
}

/// Returns the code segment that contains an address, or null.
const object::Segment* segment_at(const machine::LoadedCode& code, uint64_t address) {
  const auto& segments = code.code_object().segments;
  const uint64_t offset = address - code.base();
  const auto segment = std::ranges::find_if(
      segments, [&](const object::Segment& each) { return offset - each.address < each.memory_size; });
  return segment == segments.end() ? nullptr : &*segment;
}

bool is_in_one_of(const LdsLayout& layout, uint64_t offset, uint64_t bytes) {
  return std::ranges::any_of(layout, [&](const LdsPart& part) { return part.holds(offset, bytes); });
}

class MemoryChecker final : public Checker, public machine::InstrumentationClient {
 public:
  MemoryChecker(Findings& findings, const CheckerContext& context, bool checks, bool reports_leaks)
      : findings_(findings), checker_context_(context), checks_(checks), reports_leaks_(reports_leaks) {}

  machine::EventMask watched() const override {
    return {.code = checks_, .dispatches = checks_, .memory = true, .order = checks_};
  }
  machine::InstrumentationClient* instrumentation() override { return this; }
  machine::InstrumentationRequest requested() const override { return {.filtered_accesses = checks_}; }

  void code_unloading(const machine::LoadedCode& code) override {
    const std::lock_guard lock(mutex_);
    variables_.erase(&code);
  }

  void dispatch_ends(const machine::Dispatch&) override { dispatches_epoch_.store(next_epoch()); }

  machine::AccessFilter access_filter(const machine::Wave& wave) override {
    const auto layout = lds_layout_of(wave);
    return {.scratch_bytes = scratch_size(wave),
            .lds_bytes = layout ? static_cast<uint32_t>(layout->front().end) : UINT32_MAX,
            .epoch = std::max(allocations_.generation(), dispatches_epoch_.load())};
  }
  bool passes_filter(const machine::Wave& wave, const AccessEvent& access, machine::OrdinaryMemory& around) override;

  void access(const machine::Wave& wave, const AccessEvent& access) override {
    switch (access.space) {
      case Space::global:
        return check_global(wave, access);
      case Space::lds:
        return check_lds(wave, access);
      case Space::scratch:
        return check_scratch(wave, access);
    }
  }

  void allocated(const machine::MemoryEvent& memory) override {
    Block block;
    block.kind = memory.kind;
    block.begin = memory.address;
    block.size = memory.size;
    block.reserved = memory.reserved;
    block.function = memory.function;
    block.allocated = HostStack::here();
    note_last_of_caller(block.allocated);
    allocations_.add(std::move(block));
  }

  void freed(uint64_t address, std::string_view function, std::function<void()> release) override {
    const HostStack stack = HostStack::here();
    const std::optional<Block> before = allocations_.find(address);
    if (allocations_.free(address, function, stack, std::move(release)) || !before || !checks_) return;
    check_bad_free(*before, address, function, stack);
  }

  void lds_laid_out(uint64_t kernarg, const LdsLayout& layout) override {
    const std::lock_guard lock(lds_mutex_);
    if (layout.empty()) {
      lds_layouts_.erase(kernarg);
    } else {
      lds_layouts_[kernarg] = std::make_shared<const LdsLayout>(layout);
    }
    has_lds_layouts_.store(!lds_layouts_.empty(), std::memory_order_release);
  }

  void refused_free(uint64_t address, std::string_view function) override {
    const std::optional<Block> block = allocations_.find(address);
    if (checks_ && block) check_bad_free(*block, address, function, HostStack::here());
  }
  void refused_copy(const machine::CopyEvent& copy) override { copying(copy); }
  void allocated_in_stream(uint64_t address, uint64_t bytes, std::string_view function) override {
    const HostStack stack = HostStack::here();
    if (allocations_.reuse(address, bytes, function, stack)) return;
    // From HIP 7 on, a memory pool maps memory as a whole and suballocates it. The gap after a suballocation is
    // padding.
    constexpr uint64_t pool_alignment = 256;
    Block block;
    block.begin = address;
    block.size = bytes;
    block.function = function;
    block.allocated = stack;
    block.reserved = (bytes + pool_alignment - 1) / pool_alignment * pool_alignment;
    note_last_of_caller(stack);
    allocations_.add_suballocation(std::move(block));
  }
  void freed_in_stream(uint64_t address, std::string_view function) override {
    const std::lock_guard lock(mutex_);
    allocations_.free_in_stream(address, function, HostStack::here(), submitted_);
  }
  void doorbell(uint64_t queue, uint64_t packets) override {
    const std::lock_guard lock(mutex_);
    submitted_[queue] = packets;
  }

  void copying(const machine::CopyEvent& copy) override {
    if (!checks_ || copy.bytes == 0) return;
    check_copy(copy, copy.destination, true);
    if (copy.source != 0) check_copy(copy, copy.source, false);
  }

  void finish() override;
  void forget() override { allocations_.release_all(); }

 private:
  void note_last_of_caller(const HostStack& stack) {
    if (!reports_leaks_) return;
    const std::lock_guard lock(last_mutex_);
    last_of_caller_[stack.hash_of_caller()] = stack.hash();
  }

  template <typename Inside>
  static Culprit culprits(const AccessEvent& access, const Inside& inside) {
    Culprit culprit;
    for_each_lane(access.lanes, [&](unsigned lane) {
      if (inside(access.addresses[lane])) return;
      if (culprit.count++ == 0) culprit = {lane, access.addresses[lane], 1};
    });
    return culprit;
  }

  static Culprit dropped_atomics(const AccessEvent& access) {
    return culprits(access, [](uint64_t address) { return !machine::MemoryGrain::of_process().is_fine(address); });
  }
  void check_grain(const machine::Wave& wave, const AccessEvent& access);
  bool passes_memory_filter(const machine::Wave& wave, const AccessEvent& access, machine::OrdinaryMemory& around);
  void check_global(const machine::Wave& wave, const AccessEvent& access);
  void check_lane(const machine::Wave& wave, const AccessEvent& access, unsigned lane);
  bool check_arguments(const machine::Wave& wave, const AccessEvent& access, unsigned lane);
  bool check_argument_bounds(const machine::Wave& wave, const AccessEvent& access);
  bool check_below_apertures(const machine::Wave& wave, const AccessEvent& access, unsigned lane);
  void check_code(const machine::Wave& wave, const AccessEvent& access, unsigned lane, const machine::LoadedCode& code);
  /// Returns null if the layout is unknown.
  std::shared_ptr<const LdsLayout> lds_layout_of(const machine::Wave& wave) const {
    if (!has_lds_layouts_.load(std::memory_order_acquire)) return nullptr;
    const std::lock_guard lock(lds_mutex_);
    const auto found = lds_layouts_.find(wave.work_group->dispatch->launch.arguments.address);
    return found == lds_layouts_.end() ? nullptr : found->second;
  }
  void check_lds(const machine::Wave& wave, const AccessEvent& access);
  void check_lds_parts(const machine::Wave& wave, const AccessEvent& access, const LdsLayout& layout);
  void check_scratch(const machine::Wave& wave, const AccessEvent& access);
  void check_copy(const machine::CopyEvent& copy, uint64_t address, bool writes);
  bool may_use(const machine::Wave& wave, uint64_t address, uint64_t bytes, bool is_scalar) const;

  /// Reports an access to the memory of `block`.
  void report_block(const machine::Wave& wave, const AccessEvent& access, const Culprit& culprit, std::string kind,
                    const Block& block, std::string advice);
  void report(const machine::Wave& wave, const AccessEvent& access, const Culprit& culprit, std::string kind,
              std::string what, std::string address, std::vector<NamedStack> stacks, std::string advice);
  void check_bad_free(const Block& block, uint64_t address, std::string_view function, const HostStack& stack);
  void bad_free(std::string kind, std::string what, const Block& block, uint64_t address, std::string_view function,
                const HostStack& stack);

  const Variables& variables_of(const machine::LoadedCode& code, const machine::Wave& wave);

  mutable std::mutex lds_mutex_;
  std::map<uint64_t, std::shared_ptr<const LdsLayout>> lds_layouts_;  ///< by kernarg address
  std::atomic<bool> has_lds_layouts_{false};

  Findings& findings_;
  const CheckerContext& checker_context_;
  const bool checks_, reports_leaks_;
  /// The stack of the last allocation, by the caller of the language runtime. The last one is the requested allocation;
  /// a runtime's first call may allocate for itself before that.
  std::map<uint64_t, uint64_t> last_of_caller_;
  std::mutex last_mutex_;
  Allocations allocations_;
  std::atomic<uint64_t> dispatches_epoch_{next_epoch()};  ///< changes whenever a dispatch ends
  std::mutex mutex_;                                      ///< protects the following members
  std::map<const machine::LoadedCode*, Variables> variables_;
  SubmittedPackets submitted_;
};

std::vector<NamedStack> stacks_of(const Block& block) {
  std::vector<NamedStack> stacks;
  const auto add = [&](const char* title, const HostStack& stack, const std::string& function) {
    std::vector<std::string> lines = lines_of(stack, function);
    if (!lines.empty()) stacks.push_back({title, std::move(lines)});
  };
  add("allocated", block.allocated, block.function);
  if (block.is_free || block.freed_after) add("freed", block.freed, block.free_function);
  return stacks;
}

void MemoryChecker::report(const machine::Wave& wave, const AccessEvent& access, const Culprit& culprit,
                           std::string kind, std::string what, std::string address, std::vector<NamedStack> stacks,
                           std::string advice) {
  if (findings_.known(checker, kind, access.pc, culprit.count)) return;
  Finding finding{.checker = checker, .kind = std::move(kind)};
  set_place(finding, wave, access.pc, culprit.lane);
  finding.message = fmt::format("kernel '{}' {}", finding.kernel, what);
  finding.address = std::move(address);
  finding.stacks = std::move(stacks);
  finding.advice = std::move(advice);
  finding.count = culprit.count;
  findings_.add(access.pc, std::move(finding));
}

void MemoryChecker::report_block(const machine::Wave& wave, const AccessEvent& access, const Culprit& culprit,
                                 std::string kind, const Block& block, std::string advice) {
  if (findings_.known(checker, kind, access.pc, culprit.count)) return;
  const std::string where = fmt::format("{} {}{}", relation(culprit.address, access.bytes, block.begin, block.size),
                                        words_for(block), block.is_free || block.freed_after ? " that was freed" : "");
  report(wave, access, culprit, std::move(kind),
         fmt::format("{} {} {}", verb_of(access), bytes_in_words(access.bytes), where),
         fmt::format("{:#x}, {} at {:#x}", culprit.address, where, block.begin), stacks_of(block), std::move(advice));
}

// --- Ordinary accesses -----------------------------------------------------------------------------------------------

bool MemoryChecker::passes_filter(const machine::Wave& wave, const AccessEvent& access,
                                  machine::OrdinaryMemory& around) {
  switch (access.space) {
    case Space::global:
      return passes_memory_filter(wave, access, around);
    case Space::lds: {
      const uint64_t end = wave.work_group->lds_bytes, alignment = lds_alignment(wave, access);
      around = {.begin = 0, .end = end};
      if (const auto layout = lds_layout_of(wave)) {
        around = {.begin = 0, .end = layout->front().end};
        if (culprits(access, [&](uint64_t offset) { return is_in_one_of(*layout, offset, access.bytes); }).count != 0)
          return false;
      }
      return culprits(access, [&](uint64_t offset) {
               return offset + access.bytes <= end && (offset & (alignment - 1)) == 0;
             }).count == 0;
    }
    case Space::scratch: {
      const uint64_t end = scratch_size(wave);
      return culprits(access, [&](uint64_t offset) { return offset + access.bytes <= end; }).count == 0;
    }
  }
  return false;
}

/// Other accesses are checked when they are reported.
bool MemoryChecker::passes_memory_filter(const machine::Wave& wave, const AccessEvent& access,
                                         machine::OrdinaryMemory& around) {
  if (access.drops_bits) return false;
  const uint64_t alignment = access.is_atomic ? access.bytes : 1;
  if (alignment != 1 && culprits(access, [&](uint64_t address) { return address % alignment == 0; }).count != 0) {
    return false;
  }
  const uint64_t least = access.pattern.begin, end = access.pattern.end;
  const bool has_grain = depends_on_grain(wave, access);
  if (has_grain && dropped_atomics(access).count != 0) return false;
  // The filter must not pass accesses that depend on coarse or fine grain because of an access that does not.
  const auto grain_matters = [&] {
    if (!drops_float_atomics(wave) || !machine::MemoryGrain::of_process().is_fine(least)) return false;
    return variables_of(*wave.work_group->dispatch->launch.code, wave).has_float_atomics;
  };
  const auto is_within = [&](uint64_t begin, uint64_t size) {
    if (least - begin >= size || end - begin > size) return false;
    if (!has_grain && !grain_matters()) around = {.begin = begin, .end = begin + size};
    return true;
  };
  // The accesses of all lanes together determine whether one leaves an argument.
  const InArguments in = in_arguments(wave, access);
  if (in == InArguments::begin || in == InArguments::behind) return false;
  if (in == InArguments::all) return !left_argument_of(wave, access);
  const machine::Dispatch& dispatch = *wave.work_group->dispatch;
  if (const auto block = allocations_.live_around(least, end)) {
    const bool has_arguments = dispatch.launch.arguments.address - block->first < block->second - block->first;
    return has_arguments || is_within(block->first, block->second - block->first);
  }
  const auto code = dispatch.gpu->code_at(least);
  if (!code) return false;
  const object::Segment* const segment = segment_at(*code, least);
  if (access.writes && (segment == nullptr || !segment->writable)) return false;
  const Variables::Variable* const variable = variables_of(*code, wave).at(least);
  return variable != nullptr && is_within(variable->begin, variable->size);
}

// --- Memory ----------------------------------------------------------------------------------------------------------

void MemoryChecker::check_global(const machine::Wave& wave, const AccessEvent& access) {
  const auto [least, end, follows, repeats] = access.pattern;
  if (access.drops_bits) [[unlikely]] {
    report(wave, access, {.lane = 0, .address = least, .count = 1}, "misaligned",
           "loads scalars from an address that is not a multiple of 4: the GPU leaves its last two bits out",
           fmt::format("{:#x} after rounding", least), {},
           "align what the pointer points to, or load it with vector instructions");
  }
  const InArguments in = access.writes ? InArguments::none : in_arguments(wave, access);
  if (in == InArguments::begin || in == InArguments::all) {
    if (check_argument_bounds(wave, access) || in == InArguments::all) return;
  }
  if (in == InArguments::begin || in == InArguments::behind) {
    uint64_t left = access.lanes;
    for_each_lane(access.lanes, [&](unsigned lane) {
      if (check_arguments(wave, access, lane)) left &= ~(uint64_t{1} << lane);
    });
    if (left == 0) return;
  }
  if (depends_on_grain(wave, access)) check_grain(wave, access);
  if (allocations_.is_live(least, end)) [[likely]] {
    if (access.is_atomic) {
      const Culprit culprit = culprits(access, [&](uint64_t address) { return (address & (access.bytes - 1u)) == 0; });
      if (culprit.count != 0) {
        report(wave, access, culprit, "misaligned",
               fmt::format("does an atomic on {} at an address that is not a multiple of that",
                           bytes_in_words(access.bytes)),
               fmt::format("{:#x}", culprit.address), {}, "align what the pointer points to");
      }
    }
    return;
  }
  for_each_lane(access.lanes, [&](unsigned lane) { check_lane(wave, access, lane); });
}

void MemoryChecker::check_grain(const machine::Wave& wave, const AccessEvent& access) {
  const Culprit dropped = dropped_atomics(access);
  if (dropped.count == 0) return;
  const std::string_view processor = wave.work_group->dispatch->gpu->processor().name;
  const auto block = allocations_.find(dropped.address);
  report(wave, access, dropped, "dropped-atomic",
         fmt::format("does a floating-point atomic on {} of fine-grained memory, which has no effect on {}: memory "
                     "keeps its value, and the lane gets 0",
                     bytes_in_words(access.bytes), processor),
         fmt::format("{:#x}", dropped.address), block ? stacks_of(*block) : std::vector<NamedStack>(),
         "use coarse-grained memory (hipMalloc(), hipHostMallocNonCoherent), or an atomic by compare-and-swap "
         "(safeAtomicAdd(), -mno-unsafe-fp-atomics)");
}

/// Returns whether kernels may access memory that is not an allocation.
bool MemoryChecker::may_use(const machine::Wave& wave, uint64_t address, uint64_t bytes, bool is_scalar) const {
  const machine::Dispatch& dispatch = *wave.work_group->dispatch;
  const auto within = [&](uint64_t begin, uint64_t size) {
    return address - begin < size && bytes <= size - (address - begin);
  };
  constexpr uint64_t queue_bytes = 256;  // of an amd_queue_t
  if (within(dispatch.launch.packet.address, dispatch.launch.packet.size)) return true;
  if (within(dispatch.submission.queue_address, queue_bytes)) return true;
  // s_scratch_load and _store, which are of no lane's.
  if (is_scalar && within(reinterpret_cast<uint64_t>(wave.scratch), dispatch.launch.scratch_bytes_per_wave))
    return true;
  if (checker_context_.known) {
    if (const auto range = checker_context_.known(address)) return within(range->first, range->second - range->first);
  }
  // Memory of the machine: queue rings, arguments, printf buffers. Excludes registers, LDS and scratch.
  if (const auto own = dispatch.gpu->memory().find(address)) {
    return own->purpose != machine::scratch_memory && within(own->address, own->size);
  }
  // The GPU accesses the whole process's memory. GPU allocations have separate addresses.
  const machine::AddressBounds bounds = machine::AddressRange::of_process().bounds();
  return dispatch.gpu->model().target.xnack == target::Setting::on &&
         (bounds.are_everything() || !bounds.hold(address));
}

void MemoryChecker::check_lane(const machine::Wave& wave, const AccessEvent& access, unsigned lane) {
  const uint64_t address = access.addresses[lane], bytes = access.bytes;
  if (allocations_.is_live(address, address + bytes)) return;
  const Culprit culprit{.lane = lane, .address = address, .count = 1};
  if (check_arguments(wave, access, lane)) return;
  if (const auto block = allocations_.find(address)) {
    if (!block->is_free) {
      if (block->freed_after && is_after(*wave.work_group->dispatch, *block->freed_after)) {
        return report_block(wave, access, culprit, "use-after-free", *block,
                            "free the memory in the stream after the last kernel that uses it");
      }
      if (block->holds(address, bytes)) return;  // kernel arguments, or memory freed for later dispatches
      return report_block(wave, access, culprit, "out-of-bounds", *block,
                          "check the index against the number of elements, or allocate more");
    }
    const bool is_reused =
        block->is_of_program() && (wave.work_group->dispatch->gpu->code_at(address) != nullptr ||
                                   (may_use(wave, address, bytes, access.is_scalar) && machine::is_mapped(address, 1)));
    if (!is_reused) {
      return report_block(wave, access, culprit, "use-after-free", *block,
                          "free the memory after the last kernel that uses it has ended");
    }
  }
  if (const auto code = wave.work_group->dispatch->gpu->code_at(address)) return check_code(wave, access, lane, *code);
  if (may_use(wave, address, bytes, access.is_scalar)) return;
  // An address behind a variable may also be behind the code.
  if (const auto code = wave.work_group->dispatch->gpu->code_at(address - code_reach)) {
    return check_code(wave, access, lane, *code);
  }
  if (const auto block = allocations_.nearest(address, reach)) {
    return report_block(wave, access, culprit, "out-of-bounds", *block,
                        "check the index against the number of elements, or allocate more");
  }
  if (check_below_apertures(wave, access, lane)) return;
  constexpr uint64_t first_page = 4096;
  const bool is_null = address < first_page;
  report(
      wave, access, culprit, "bad-address",
      fmt::format("{} {} {}", verb_of(access), bytes_in_words(bytes),
                  is_null ? "at a null pointer" : "where the GPU has no memory"),
      fmt::format("{:#x}, {}", address,
                  is_null ? "a null pointer, or an offset from one"
                          : "no memory that the program has allocated or registered for GPUs"),
      {},
      is_null
          ? "pass the kernel a pointer to memory"
          : "is it a pointer to the host's stack, heap or variables? Copy the data to the GPU, or register the memory");
}

/// A flat LDS or scratch address with a too large negative offset falls below both apertures. Returns true if so.
bool MemoryChecker::check_below_apertures(const machine::Wave& wave, const AccessEvent& access, unsigned lane) {
  struct Aperture {
    const char *kind, *name;
    uint32_t base_hi;
  };
  static constexpr Aperture apertures[] = {{"lds-out-of-bounds", "LDS", machine::shared_aperture_hi},
                                           {"scratch-out-of-bounds", "scratch", machine::private_aperture_hi}};
  const uint64_t address = access.addresses[lane];
  const auto aperture = std::ranges::find_if(apertures, [&](const Aperture& each) {
    const uint64_t before = (uint64_t{each.base_hi} << 32) - address;
    return before != 0 && before <= aperture_reach;
  });
  if (aperture == std::end(apertures)) return false;
  const std::string where =
      fmt::format("{} before {}", bytes_in_words((uint64_t{aperture->base_hi} << 32) - address), aperture->name);
  report(wave, access, {.lane = lane, .address = address, .count = 1}, aperture->kind,
         fmt::format("{} {} {}", verb_of(access), bytes_in_words(access.bytes), where),
         fmt::format("{:#x}, a flat address {}", address, where), {}, "check the index: it is negative");
  return true;
}

/// Returns true if the access is past the dispatch's own arguments.
bool MemoryChecker::check_arguments(const machine::Wave& wave, const AccessEvent& access, unsigned lane) {
  const machine::Dispatch& dispatch = *wave.work_group->dispatch;
  const uint64_t begin = dispatch.launch.arguments.address, address = access.addresses[lane];
  const uint64_t size = dispatch.launch.arguments.size;
  if (size == 0 || address - begin >= size + kernarg_reach) return false;
  if (address - begin + access.bytes <= support::align_up(size, kernarg_alignment)) return true;
  const auto block = allocations_.find(address);
  // A language runtime keeps the arguments of all dispatches in one allocation.
  if (block && block->kind != machine::MemoryEvent::Kind::kernarg &&
      (!block->holds(begin, 1) || describe(block->allocated).by_program)) {
    return false;
  }
  const std::string where = fmt::format("{} the kernel's {} of arguments", relation(address, access.bytes, begin, size),
                                        bytes_in_words(size));
  report(wave, access, {.lane = lane, .address = address, .count = 1}, "arguments-out-of-bounds",
         fmt::format("{} {} {}", verb_of(access), bytes_in_words(access.bytes), where),
         fmt::format("{:#x}, {} at {:#x}", address, where, begin), {},
         "check the index into a structure or array that is passed by value");
  return true;
}

/// Returns false if the access stays within its argument.
bool MemoryChecker::check_argument_bounds(const machine::Wave& wave, const AccessEvent& access) {
  const auto left = left_argument_of(wave, access);
  if (!left) return false;
  if (findings_.known(checker, "arguments-out-of-bounds", access.pc, left->count)) return true;
  const machine::Dispatch& dispatch = *wave.work_group->dispatch;
  const uint64_t segment = dispatch.launch.arguments.address, address = access.addresses[left->lane];
  std::string where = fmt::format("at offset {} of the kernel's arguments, where no structure is", address - segment);
  if (const object::KernelArgument* const argument = left->argument) {
    const std::string name = argument->name.empty() ? "" : fmt::format(" '{}'", argument->name);
    where = fmt::format("{} argument{}, which has {}",
                        relation(address, access.bytes, segment + argument->offset, argument->size), name,
                        bytes_in_words(argument->size));
  }
  report(wave, access, {.lane = left->lane, .address = address, .count = left->count}, "arguments-out-of-bounds",
         fmt::format("{} {} {}", verb_of(access), bytes_in_words(access.bytes), where),
         fmt::format("{:#x}, {}", address, where), {},
         "check the index into a structure or array that is passed by value");
  return true;
}

/// Reads both symbol tables: the dynamic one, and the one that stripping removes.
const Variables& MemoryChecker::variables_of(const machine::LoadedCode& code, const machine::Wave& wave) {
  const std::lock_guard lock(mutex_);
  const auto [position, is_new] = variables_.try_emplace(&code);
  Variables& variables = position->second;
  if (!is_new) return variables;
  variables.has_float_atomics = has_float_atomics(code, wave.work_group->dispatch->gpu->processor(), wave.wave_size);
  for (const machine::LoadedSymbol& symbol : code.symbols()) {
    if (symbol.kind == machine::LoadedSymbol::Kind::variable) {
      variables.list.push_back({symbol.address, symbol.size, symbol.name});
    }
  }
  const auto file = object::read_elf_file(code.file());
  const object::ElfSection* const table = file ? file->find_section(SHT_SYMTAB) : nullptr;
  if (table != nullptr) {
    if (const auto symbols = object::read_symbols(*file, *table)) {
      variables.complete = true;
      for (const object::ElfSymbol& symbol : *symbols) {
        if (ELF64_ST_TYPE(symbol.raw.st_info) != STT_OBJECT || symbol.raw.st_shndx == SHN_UNDEF) continue;
        variables.list.push_back({code.base() + symbol.raw.st_value, symbol.raw.st_size, std::string(symbol.name)});
      }
    }
  }
  std::ranges::sort(variables.list, {}, &Variables::Variable::begin);
  return variables;
}

void MemoryChecker::check_code(const machine::Wave& wave, const AccessEvent& access, unsigned lane,
                               const machine::LoadedCode& code) {
  const uint64_t address = access.addresses[lane];
  const Culprit culprit{.lane = lane, .address = address, .count = 1};
  const Variables& variables = variables_of(code, wave);
  const Variables::Variable* variable = variables.at(address);
  const bool is_inside = variable != nullptr && address - variable->begin < variable->size;
  const object::Segment* const segment = segment_at(code, address);
  const auto name_of = [](const Variables::Variable& of) { return support::demangled(of.name); };
  if (access.writes && segment != nullptr && !segment->writable) {
    return report(wave, access, culprit, "read-only",
                  fmt::format("writes {} to {}", bytes_in_words(access.bytes),
                              is_inside             ? fmt::format("'{}', which is constant", name_of(*variable))
                              : segment->executable ? "the code of a kernel"
                                                    : "constant data of the program"),
                  fmt::format("{:#x}, in {}", address, code.uri), {},
                  "constants are for the host to change, between kernels");
  }
  if (is_inside && access.bytes <= variable->size - (address - variable->begin)) return;
  // Compiler-generated literals and tables have no symbols.
  if (code.contains(address) && (segment == nullptr || !segment->writable)) return;
  if (variable == nullptr || variable->size == 0) return;
  if (!is_inside && !variables.complete) return;
  const std::string where =
      fmt::format("{} '{}', which has {}", relation(address, access.bytes, variable->begin, variable->size),
                  name_of(*variable), bytes_in_words(variable->size));
  report(wave, access, culprit, "variable-out-of-bounds",
         fmt::format("{} {} {}", verb_of(access), bytes_in_words(access.bytes), where),
         fmt::format("{:#x}, {}", address, where), {}, "check the index against the size of the array");
}

// --- LDS and scratch -------------------------------------------------------------------------------------------------

/// Reports accesses that overlap a gap between parts of LDS. check_lds() handles those beyond LDS.
void MemoryChecker::check_lds_parts(const machine::Wave& wave, const AccessEvent& access, const LdsLayout& layout) {
  const Culprit outside = culprits(access, [&](uint64_t offset) {
    return offset + access.bytes > layout.back().end || is_in_one_of(layout, offset, access.bytes);
  });
  if (outside.count == 0) return;
  // The part that the access begins in or follows.
  const auto after = std::ranges::upper_bound(layout, outside.address, {}, &LdsPart::begin);
  const LdsPart& before = after == layout.begin() ? *after : *std::prev(after);
  const uint64_t size = before.end - before.begin;
  report(wave, access, outside, "lds-out-of-bounds",
         fmt::format("{} {} at byte {} of LDS, between {}{}", verb_of(access), bytes_in_words(access.bytes),
                     outside.address, before.name, after == layout.end() ? "" : fmt::format(" and {}", after->name)),
         fmt::format("{:#x} in LDS: {} the {} of {}", outside.address,
                     relation(outside.address, access.bytes, before.begin, size), bytes_in_words(size), before.name),
         {}, "check the index against the size that the launch asks for");
}

void MemoryChecker::check_lds(const machine::Wave& wave, const AccessEvent& access) {
  const machine::WorkGroup& group = *wave.work_group;
  const uint64_t alignment = lds_alignment(wave, access);
  if (const auto layout = lds_layout_of(wave)) check_lds_parts(wave, access, *layout);
  if (alignment == 1 && access.pattern.end <= group.lds_bytes) [[likely]]
    return;
  const Culprit outside = culprits(access, [&](uint64_t offset) { return offset + access.bytes <= group.lds_bytes; });
  if (outside.count != 0 && !findings_.known(checker, "lds-out-of-bounds", access.pc, outside.count)) {
    const machine::Dispatch& dispatch = *group.dispatch;
    const uint32_t fixed = dispatch.launch.static_lds_bytes;
    const std::string size = group.lds_bytes == 0 ? "no LDS"
                             : group.lds_bytes > fixed && fixed != 0
                                 ? fmt::format("{} of LDS ({} of the kernel's variables, {} dynamic)",
                                               bytes_in_words(group.lds_bytes), fixed, group.lds_bytes - fixed)
                                 : fmt::format("{} of LDS", bytes_in_words(group.lds_bytes));
    report(wave, access, outside, "lds-out-of-bounds",
           fmt::format("{} {} at byte {} of LDS, where the work-group has {}", verb_of(access),
                       bytes_in_words(access.bytes), outside.address, size),
           fmt::format("{:#x} in LDS: {} the work-group's {}", outside.address,
                       relation(outside.address, access.bytes, 0, group.lds_bytes), bytes_in_words(group.lds_bytes)),
           {},
           fixed == group.lds_bytes && fixed != 0
               ? "check the index against the size of the array in LDS (GPUs read 0 there and drop what is written)"
               : "check the index, and the size of dynamic LDS that the launch asks for");
  }
  const Culprit misaligned = culprits(access, [&](uint64_t offset) { return (offset & (alignment - 1)) == 0; });
  if (misaligned.count == 0) return;
  report(wave, access, misaligned, "misaligned",
         fmt::format("{} {} in LDS at {:#x}, which is not a multiple of {}", verb_of(access),
                     bytes_in_words(access.bytes), misaligned.address, alignment),
         fmt::format("{:#x} in LDS", misaligned.address), {}, "align what the pointer points to");
}

void MemoryChecker::check_scratch(const machine::Wave& wave, const AccessEvent& access) {
  const uint64_t size = scratch_size(wave);
  if (access.pattern.end <= size) [[likely]]
    return;
  const Culprit outside = culprits(access, [&](uint64_t offset) { return offset + access.bytes <= size; });
  if (outside.count == 0 || findings_.known(checker, "scratch-out-of-bounds", access.pc, outside.count)) return;
  // Addresses have 32 bits; the upper half is negative.
  constexpr uint64_t zero = uint64_t{1} << 32;
  const uint64_t address = zero + static_cast<uint64_t>(int64_t{static_cast<int32_t>(outside.address)});
  const std::string where =
      fmt::format("{} the lane's {} of scratch", relation(address, access.bytes, zero, size), bytes_in_words(size));
  report(wave, access, outside, "scratch-out-of-bounds",
         fmt::format("{} {} {}", verb_of(access), bytes_in_words(access.bytes), where),
         fmt::format("{:#x} in scratch: {}", outside.address, where), {},
         "check the index into a local array, and how deep functions call each other");
}

// --- Host operations -------------------------------------------------------------------------------------------------

void MemoryChecker::check_copy(const machine::CopyEvent& copy, uint64_t address, bool writes) {
  if (allocations_.is_live(address, address + copy.bytes)) return;
  const auto block = allocations_.find(address);
  // memory of the program, or freed later
  if (!block || (!block->is_free && block->holds(address, copy.bytes))) return;
  if (block->is_free && block->is_of_program()) return;
  const char* const kind = block->is_free ? "use-after-free" : "copy-out-of-bounds";
  const HostStack stack = HostStack::here();
  if (findings_.known(checker, kind, stack.hash(), 1)) return;
  Finding finding{.checker = checker, .kind = kind};
  const HostFrames frames = describe(stack);
  const std::string where = fmt::format("{} {}{}", relation(address, copy.bytes, block->begin, block->size),
                                        words_for(*block), block->is_free ? " that was freed" : "");
  finding.message = fmt::format("{} {} {} {} {}", frames.call.empty() ? std::string(copy.function) : frames.call,
                                copy.source == 0 ? "fills" : "copies", bytes_in_words(copy.bytes),
                                copy.source == 0 || writes ? "to memory" : "from memory", where);
  finding.address = fmt::format("{:#x}, {} at {:#x}", address, where, block->begin);
  std::vector<std::string> lines = lines_of(stack, copy.function);
  if (!lines.empty()) finding.stacks.push_back({"called", std::move(lines)});
  for (NamedStack& each : stacks_of(*block)) finding.stacks.push_back(std::move(each));
  finding.advice =
      block->is_free ? "free the memory after the last copy" : "check the number of bytes, and where the copy begins";
  findings_.add(stack.hash(), std::move(finding));
}

void MemoryChecker::check_bad_free(const Block& block, uint64_t address, std::string_view function,
                                   const HostStack& stack) {
  if (block.is_free || block.freed_after) {
    bad_free("double-free", "frees memory that is free already", block, address, function, stack);
  } else if (address != block.begin) {  // otherwise caused by an earlier error
    bad_free(
        "bad-free",
        fmt::format("frees a pointer {} after the begin of", bytes_in_words(address - block.begin)) + " an allocation",
        block, address, function, stack);
  }
}

void MemoryChecker::bad_free(std::string kind, std::string what, const Block& block, uint64_t address,
                             std::string_view function, const HostStack& stack) {
  if (findings_.known(checker, kind, stack.hash(), 1)) return;
  Finding finding{.checker = checker, .kind = std::move(kind)};
  const HostFrames frames = describe(stack);
  finding.message = fmt::format("{} {}", frames.call.empty() ? std::string(function) : frames.call, what);
  finding.address = fmt::format("{:#x}, {}", address, words_for(block));
  std::vector<std::string> lines = lines_of(stack, function);
  if (!lines.empty()) finding.stacks.push_back({"called", std::move(lines)});
  for (NamedStack& each : stacks_of(block)) finding.stacks.push_back(std::move(each));
  finding.advice = block.is_free || block.freed_after ? "free memory once" : "free the pointer that was allocated";
  findings_.add(stack.hash(), std::move(finding));
}

/// Reports the program's allocations that were never freed, grouped by call stack. A language runtime keeps memory of
/// its own until the end.
void MemoryChecker::finish() {
  if (!reports_leaks_) return;
  struct Leak {
    Block first;
    uint64_t count = 0, bytes = 0;
  };
  std::map<uint64_t, Leak> leaks;
  for (Block& block : allocations_.live()) {
    using enum machine::MemoryEvent::Kind;
    if (block.kind != device && block.kind != host && block.kind != managed) continue;
    Leak& leak = leaks[block.allocated.hash()];
    ++leak.count;
    leak.bytes += block.size;
    if (leak.count == 1) leak.first = std::move(block);
  }
  const std::lock_guard lock(last_mutex_);
  std::erase_if(leaks, [&](const auto& entry) {
    const Block& first = entry.second.first;
    const HostStack& stack = first.allocated;
    const bool is_runtimes = first.kind != machine::MemoryEvent::Kind::managed && !describe(stack).by_program;
    return is_runtimes || last_of_caller_[stack.hash_of_caller()] != entry.first;
  });
  for (auto& [hash, leak] : leaks) {
    Finding finding{.checker = "leak", .kind = "not-freed"};
    finding.message = leak.count == 1 ? fmt::format("{} was never freed", words_for(leak.first))
                                      : fmt::format("{} allocations of {} in all were never freed, the first of {}",
                                                    leak.count, bytes_in_words(leak.bytes), words_for(leak.first));
    finding.stacks = stacks_of(leak.first);
    finding.advice = "free what is allocated";
    finding.count = leak.count;
    findings_.add(hash, std::move(finding));
  }
}

}  // namespace

std::unique_ptr<Checker> make_memory_checker(Findings& findings, const CheckerContext& context, bool checks,
                                             bool reports_leaks) {
  return std::make_unique<MemoryChecker>(findings, context, checks, reports_leaks);
}

}  // namespace Atoll::observe
