#include "engine/wave_runner.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <tuple>

#include "assembler/assembler.h"
#include "engine/engines.h"
#include "engine/memory/lds_limit.h"
#include "isa/decode.h"
#include "support/tested_instructions.h"
#include "target/processor.h"

namespace Atoll::test {

namespace {

std::unique_ptr<machine::Engine> make_engine(std::string_view target_id, std::string_view name) {
  const char* default_name = std::getenv("ATOLL_ENGINE");
  if (name.empty() && default_name != nullptr) name = default_name;
  const auto make = engine::find_engine(name);
  EXPECT_TRUE(make.has_value());
  const auto target = target::parse_target_id(target_id);
  EXPECT_TRUE(target.has_value());
  return (*make)(*target);
}

template <typename T>
T* allocate(size_t bytes) {
  void* memory = std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
  std::memset(memory, 0, bytes);
  return static_cast<T*>(memory);
}

}  // namespace

std::vector<uint8_t> assemble(const std::string& source, std::string_view processor, unsigned wave_size) {
  // Tests repeat themselves.
  static std::map<std::tuple<std::string, std::string, unsigned>, std::vector<uint8_t>> assembled;
  static std::mutex mutex;  // some run waves on several threads
  const std::lock_guard lock(mutex);
  std::vector<uint8_t>& code = assembled[{source, std::string(processor), wave_size}];
  if (!code.empty()) return code;
  assembler::Options options;
  options.target = target::parse_target_id(processor).value();
  options.wave32 = wave_size == 32;
  const auto result = assembler::assemble("code.s", source + "\n", options);
  EXPECT_TRUE(result.object.has_value()) << source << "\n" << result.messages;
  if (result.object) code = result.object->sections.front().bytes;
  return code;
}

WaveRunner::WaveRunner(std::string_view target_id, std::string_view engine, unsigned wave_size)
    : processor_(target_id.substr(0, target_id.find(':'))),
      engine_(make_engine(target_id, engine)),
      group_(),
      rows_(allocate<semantics::Row>(544 * sizeof(semantics::Row))),
      lds_(allocate<uint8_t>(lds_bytes)),
      scratch_(allocate<uint8_t>(scratch_bytes_per_lane * 64)) {
  group_.waves.resize(1);
  group_.waves_running = 1;
  group_.lds = lds_.get();
  group_.lds_bytes = lds_bytes;
  machine::Wave& w = wave();
  w.vgpr = rows_.get();
  w.agpr = rows_.get() + 256;
  w.vgprs = w.agprs = 256;
  w.sgprs = 102;
  w.wave_size = static_cast<uint8_t>(wave_size);
  w.mode = 0x3F0;  // DX10_CLAMP, IEEE, denormals
  w.float_mode = machine::float_mode_of(w.mode, *target::find_processor(processor_));
  w.scratch = scratch_.get();
  w.scratch_bytes_per_lane = scratch_bytes_per_lane;
  w.work_group = &group_;
  w.set_exec(~uint64_t{0});
  if (engine::lds_limit_in_m0(*target::find_processor(processor_))) w.scalar[isa::scalar::m0] = ~0u;
  for (unsigned lane = 0; lane < 64; ++lane) v(0)[lane] = lane;
}

void WaveRunner::set_rows(unsigned i, const std::function<uint64_t(unsigned)>& value) {
  for (unsigned lane = 0; lane < 64; ++lane) {
    const uint64_t word = value(lane);
    v(i)[lane] = static_cast<uint32_t>(word);
    v(i + 1)[lane] = static_cast<uint32_t>(word >> 32);
  }
}

machine::WaveState WaveRunner::run(const std::string& source, uint64_t budget) {
  place_source(source);
  begin();
  return resume(budget);
}

machine::WaveState WaveRunner::run_instructions(std::span<const uint8_t> instructions, uint64_t budget) {
  place_instructions({instructions.begin(), instructions.end()});
  begin();
  return resume(budget);
}

machine::WaveState WaveRunner::run_code(std::span<const uint8_t> bytes, uint64_t budget) {
  place_code(bytes);
  begin();
  return resume(budget);
}

std::optional<machine::HostFault> WaveRunner::run_into_fault(const std::string& source) {
  machine::install_fault_guard();
  place_source(source);
  begin();
  machine::HostFault fault{};
  if (machine::guarded(fault, [&] { resume(); })) return std::nullopt;
  engine_->retrace_fault(wave(), fault);
  return fault;
}

void WaveRunner::place_source(const std::string& source) {
  place_instructions(assemble(source, processor_, wave().wave_size));
}

void WaveRunner::place_instructions(std::vector<uint8_t> bytes) {
  // The jump leads where no translation follows it: so no register counts as unneeded at the end.
  const std::vector<uint8_t> ending = assemble("s_setpc_b64 s[100:101]\ns_endpgm", processor_, wave().wave_size);
  ASSERT_EQ(ending.size(), 8u);
  const auto end = ending.begin() + 4;
  bytes.insert(bytes.end(), ending.begin(), end);
  const size_t place = bytes.size() + 64;
  bytes.resize(place);
  bytes.insert(bytes.end(), end, ending.end());
  place_code(bytes);
  set_pair(100, code_.get() + place);
}

void WaveRunner::place_code(std::span<const uint8_t> bytes) {
  code_.reset(allocate<uint8_t>(bytes.size() + 64));
  std::memcpy(code_.get(), bytes.data(), bytes.size());
  const target::Processor& processor = *target::find_processor(processor_);
  for (size_t at = 0; at < bytes.size();) {
    const auto instruction = isa::decode(bytes.subspan(at), processor, wave().wave_size);
    at += instruction ? instruction->size : 4;
    if (!instruction) continue;
    note_tested(TestedBy::engine, instruction->opcode, processor.generation);
    if (instruction->second != isa::Opcode::invalid) {
      note_tested(TestedBy::engine, instruction->second, processor.generation);
    }
  }
}

void WaveRunner::begin() {
  engine_->code_changed(0, ~uint64_t{0});
  wave().pc = code_address();
}

}  // namespace Atoll::test
