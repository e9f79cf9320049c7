// An observer that writes down what it is told, and a GPU that it watches.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <ostream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "engine/engines.h"
#include "isa/instruction.h"
#include "isa/table.h"
#include "machine/fixture.h"
#include "machine/observer.h"

namespace Atoll::test {

struct RecordedAccess {
  uint64_t pc;
  machine::Space space;
  bool reads, writes, is_atomic, is_scalar;
  uint32_t bytes;
  uint64_t lanes;
  std::vector<uint64_t> addresses;    ///< of the lanes that access, lowest first
  uint64_t follows = 0, repeats = 0;  ///< of their pattern
};

/// A way to run a kernel that an observer watches: an engine, and whether it wants all accesses or odd ones.
struct Way {
  const char* name;
  const char* engine;
  bool odd;
};
inline void PrintTo(const Way& way, std::ostream* out) { *out << way.name; }
inline constexpr Way ways[] = {
    {"interpreted", "interpreter", false}, {"compiled", "compiled", false}, {"odd", "compiled", true}};

struct Recorder : machine::Observer, machine::InstrumentationClient {
  machine::EventMask wanted;
  machine::InstrumentationRequest request;
  machine::OrdinaryMemory ordinary;  ///< where accesses are
  const uint64_t epoch = [] {        // what others have said of memory is not good for this one
    static std::atomic<uint64_t> last{0};
    return ++last;
  }();
  unsigned asked = 0;  ///< whether one is
  std::mutex mutex;
  std::vector<RecordedAccess> accesses;
  std::vector<std::string> events;
  std::vector<uint64_t> path;     ///< the words of code that waves have come to
  std::vector<uint32_t> numbers;  ///< that the path had before each piece

  explicit Recorder(const machine::EventMask& watched, const machine::InstrumentationRequest& requested = {})
      : wanted(watched), request(requested) {}
  machine::EventMask watched() const override { return wanted; }
  machine::InstrumentationClient* instrumentation() override { return this; }
  machine::InstrumentationRequest requested() const override { return request; }

  void note(std::string event) {
    const std::lock_guard lock(mutex);
    events.push_back(std::move(event));
  }
  void code_loaded(const machine::LoadedCode&) override { note("code"); }
  void code_unloading(const machine::LoadedCode&) override { note("code goes"); }
  void dispatch_begins(const machine::Dispatch&) override { note("dispatch"); }
  void dispatch_ends(const machine::Dispatch&) override { note("dispatch ends"); }
  void work_group_begins(const machine::WorkGroup& group) override { note(fmt::format("group {}", group.id[0])); }
  void work_group_ends(const machine::WorkGroup& group) override { note(fmt::format("group {} ends", group.id[0])); }
  void wave_begins(const machine::Wave& wave) override { note(fmt::format("wave {}", wave.index)); }
  void wave_ends(const machine::Wave& wave) override { note(fmt::format("wave {} ends", wave.index)); }
  void instruction(const machine::Wave&, uint64_t, const isa::Instruction& instruction) override {
    note(std::string(isa::row(instruction.opcode).name));
  }
  void access(const machine::Wave&, const machine::AccessEvent& access) override {
    RecordedAccess recorded{
        access.pc,    access.space, access.reads, access.writes,          access.is_atomic,      access.is_scalar,
        access.bytes, access.lanes, {},           access.pattern.follows, access.pattern.repeats};
    for (unsigned lane = 0; lane < 64; ++lane)
      if ((access.lanes >> lane & 1) != 0) recorded.addresses.push_back(access.addresses[lane]);
    const std::lock_guard lock(mutex);
    if (request.filtered_accesses && joins(recorded)) return;
    accesses.push_back(std::move(recorded));
  }
  /// Whether it is another part of the last one, and is that now: odd accesses are told some lanes at a time.
  bool joins(const RecordedAccess& part) {
    if (accesses.empty()) return false;
    RecordedAccess& last = accesses.back();
    if (last.pc != part.pc || last.space != part.space || (last.lanes & part.lanes) != 0) return false;
    last.lanes |= part.lanes;
    last.addresses.insert(last.addresses.end(), part.addresses.begin(), part.addresses.end());
    return true;
  }
  machine::AccessFilter access_filter(const machine::Wave&) override { return {.epoch = epoch}; }
  bool passes_filter(const machine::Wave&, const machine::AccessEvent& access,
                     machine::OrdinaryMemory& around) override {
    ++asked;
    if (access.space != machine::Space::global) return false;
    for (unsigned lane = 0; lane < 64; ++lane) {
      if ((access.lanes >> lane & 1) == 0) continue;
      const uint64_t address = access.addresses[lane];
      if (address < ordinary.begin || address + access.bytes > ordinary.end) return false;
    }
    around = ordinary;
    return true;
  }
  uint32_t on_basic_block(const machine::Wave&, uint32_t before, const machine::InstructionRange& code) override {
    const std::lock_guard lock(mutex);
    for (uint64_t pc = code.begin; pc < code.end; pc += 4) path.push_back(pc);
    numbers.push_back(before);
    return before + 1;
  }
  void barrier(const machine::Wave& wave, const machine::BarrierEvent& event) override {
    constexpr const char* words[] = {"begins", "joins", "arrives", "waits", "passes", "leaves"};
    note(fmt::format("wave {} {} {}", wave.index, words[static_cast<size_t>(event.kind)], event.number));
  }
};

/// Runs a kernel of `items` work-items in work-groups of `group` on a GPU that the recorder watches.
inline void run_observed(machine::Observer& recorder, const char* gpu_name, const std::vector<std::string>& directives,
                         const std::string& text, uint32_t items, uint32_t group, const void* arguments = nullptr,
                         uint32_t scratch = 0, const char* engine = "interpreter") {
  const auto model = target::find_gpu(gpu_name);
  ASSERT_TRUE(model) << model.error().message;
  setenv("ATOLL_COMPILE", "wait", 1);
  auto gpu =
      machine::Gpu::create(*model, engine::observed_engine(recorder, engine), {.threads = 1, .observer = &recorder});
  unsetenv("ATOLL_COMPILE");
  ASSERT_TRUE(gpu) << gpu.error().message;
  {
    const auto code = load(**gpu, assemble_kernel(gpu_name, directives, text));
    ASSERT_NE(code, nullptr);
    auto packet = packet_for(*code, {items, 1, 1}, {static_cast<uint16_t>(group), 1, 1});
    packet.kernarg_address = reinterpret_cast<uint64_t>(arguments);
    packet.private_segment_size = scratch;
    const auto ran = (*gpu)->run(packet);
    ASSERT_TRUE(ran) << ran.error().message;
  }
}

}  // namespace Atoll::test
