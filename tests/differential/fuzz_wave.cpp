#include "differential/fuzz_wave.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <cstring>
#include <new>
#include <random>
#include <stdexcept>

#include "differential/random_instruction.h"
#include "machine/fault_guard.h"
#include "machine/initial_state.h"

namespace Atoll::test {

namespace {

constexpr size_t row_count = 544, lds_bytes = 4096, scratch_bytes_per_lane = 384, code_bytes = 1 << 16;
constexpr size_t memory_bytes = 2 * fuzz_buffer_reach, scratch_bytes = scratch_bytes_per_lane * 64;
constexpr unsigned filled_rows = 64;  ///< VGPRs and AGPRs that begin with something else than 0

/// Words that instructions of all types do something interesting with.
uint32_t random_word(std::mt19937_64& random) {
  constexpr std::array<uint32_t, 26> edges{
      0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x007FFFFF, 0x00800000, 0x7F7FFFFF, 0x7F800000, 0xFF800000,
      0x7F800001, 0x7FC00000, 0xFFC12345, 0x3F800000, 0xBF800000, 0x3F7FFFFF, 0x4F000000, 0xFFFFFFFF, 0x7FFFFFFF,
      0x3FF00000, 0x7FF00000, 0x7FF80000, 0x000FFFFF, 0x3C003C00, 0x7C0003FF, 0x7E00FC00, 0x00010400};
  const uint64_t bits = random();
  switch (bits >> 61) {
    case 0:
      return edges[bits % edges.size()];
    case 1:
      return static_cast<uint32_t>(static_cast<int32_t>(bits % 96) - 16);
    case 2:
    case 3:
      return (static_cast<uint32_t>(bits) & 0x807FFFFF) + 0x3E800000 + (static_cast<uint32_t>(bits >> 32 & 3) << 23);
    case 4:
      return (static_cast<uint32_t>(bits) & 0x83FF83FF) | 0x38003C00;
    default:
      return static_cast<uint32_t>(bits);
  }
}

std::vector<uint32_t> words_of(const void* memory, size_t bytes) {
  std::vector<uint32_t> words(bytes / 4);
  std::memcpy(words.data(), memory, bytes);
  return words;
}

void fill(void* memory, size_t bytes, std::mt19937_64& random) {
  auto* words = static_cast<uint32_t*>(memory);
  for (size_t i = 0; i < bytes / 4; ++i) words[i] = random_word(random);
}

}  // namespace

void FuzzWave::Unmap::operator()(uint8_t* memory) const { munmap(memory, bytes); }

/// The address is one that nothing else uses on Linux, so that it is there in every process. Its lower half is 0: an
/// offset added to that does not overflow.
FuzzWave::Pages FuzzWave::map(uint64_t address, size_t bytes) {
  void* memory =
      mmap(reinterpret_cast<void*>(address), bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  return Pages(static_cast<uint8_t*>(memory), Unmap{bytes});
}

FuzzWave::FuzzWave(const target::Processor& processor)
    : processor_(processor),
      rows_(map(0x5A00'0000'0000, row_count * sizeof(machine::Row))),
      lds_(map(0x5A01'0000'0000, lds_bytes)),
      memory_(map(0x5A02'0000'0000, memory_bytes)),
      scratch_(map(0x5A03'0000'0000, scratch_bytes)),
      code_(map(0x5A04'0000'0000, code_bytes)) {
  group_.waves.resize(1);
  group_.lds = lds_.get();
  group_.lds_bytes = lds_bytes;
  machine::install_fault_guard();
}

void FuzzWave::prepare(uint64_t state) {
  std::mt19937_64 random(state);
  machine::Wave& w = group_.waves[0];
  w = {};
  group_.waves_running = 1;
  group_.waves_at_barrier = 0;
  auto* rows = reinterpret_cast<machine::Row*>(rows_.get());
  std::memset(rows, 0, row_count * sizeof(machine::Row));
  w.vgpr = rows;
  w.agpr = rows + 256;
  fill(w.vgpr, filled_rows * sizeof(machine::Row), random);
  fill(w.agpr, filled_rows * sizeof(machine::Row), random);
  w.vgprs = w.agprs = 256;
  w.sgprs = 102;
  w.wave_size = 64;
  w.mode = 0x3F0;  // DX10_CLAMP, IEEE, denormals
  w.float_mode =
      machine::float_mode_of(w.mode, processor_.ocp_fp8 ? semantics::EightBit::ocp : semantics::EightBit::fnuz);
  w.scratch = scratch_.get();
  w.scratch_bytes_per_lane = scratch_bytes_per_lane;
  w.work_group = &group_;
  fill(w.scalar, 64 * 4, random);
  w.scalar[isa::scalar::m0] = static_cast<uint32_t>(random() % 2048 & ~uint64_t{3});
  w.set_vcc(random());
  w.set_exec(random() % 3 != 0 ? ~uint64_t{0} : random());
  w.scc = random() % 2 != 0;
  const auto middle = reinterpret_cast<uint64_t>(memory_.get()) + fuzz_buffer_reach;
  w.set_scalar64(fuzz_register::buffer, middle);
  // A buffer resource: address and stride, records, format (Vega ISA guide, "Buffer resource descriptor").
  constexpr uint32_t in_order = 4 | 5 << 3 | 6 << 6 | 7 << 9;
  const uint32_t stride = random() % 2 != 0 ? 16 : 0;
  w.scalar[fuzz_register::resource] = static_cast<uint32_t>(middle);
  w.scalar[fuzz_register::resource + 1] = static_cast<uint32_t>(middle >> 32) | stride << 16;
  w.scalar[fuzz_register::resource + 2] = stride != 0 ? 128 : 4096;
  const auto number_format = static_cast<uint32_t>(random() % 8),
             data_format = 1 + static_cast<uint32_t>(random() % 14);
  w.scalar[fuzz_register::resource + 3] = in_order | number_format << 12 | data_format << 15;
  uint32_t(&scratch)[4] = *reinterpret_cast<uint32_t(*)[4]>(&w.scalar[fuzz_register::scratch_resource]);
  machine::scratch_resource(reinterpret_cast<uint64_t>(scratch_.get()), scratch_bytes, scratch);
  // Now and then, lanes' scratch lies askew.
  w.scalar[fuzz_register::stack_offset] =
      static_cast<uint32_t>(random() % 16 != 0 ? random() % 32 * 256 : random() % 1024 * 4);
  w.scalar[fuzz_register::private_offset] = static_cast<uint32_t>(random() % 32 * 4);
  for (unsigned lane = 0; lane < 64; ++lane) w.vgpr[fuzz_register::lane][lane] = lane;
  fill(lds_.get(), lds_bytes, random);
  fill(memory_.get(), memory_bytes, random);
  fill(scratch_.get(), scratch_bytes, random);
}

FinalState FuzzWave::run(machine::Engine& engine, const RandomCode& code, uint64_t state, uint64_t turn) {
  prepare(state);
  const size_t bytes = code.words.size() * 4;
  if (bytes + 64 > code_bytes) throw std::length_error("the random code is too long");
  if (std::memcmp(code_.get(), code.words.data(), bytes) != 0) {
    std::memset(code_.get(), 0, code_bytes);
    std::memcpy(code_.get(), code.words.data(), bytes);
  }
  machine::Wave& wave = group_.waves[0];
  wave.pc = reinterpret_cast<uint64_t>(code_.get());
  machine::HostFault host;
  const bool done = machine::guarded(host, [&] {
    while (engine.run(wave, turn) == machine::WaveState::ready && wave.instructions < most_instructions) {
    }
  });
  if (!done) engine.retrace_fault(wave, host);

  FinalState result;
  result.state = done ? wave.state : machine::WaveState::faulted;
  if (result.state == machine::WaveState::faulted) {
    result.pc = wave.pc - reinterpret_cast<uint64_t>(code_.get());
    const machine::Fault* known = wave.state == machine::WaveState::faulted ? wave.fault.get() : nullptr;
    result.fault = known != nullptr ? known->kind : machine::Fault::Kind::memory;
    result.what = known != nullptr ? known->what : fmt::format("address {:#x}", host.address);
    return result;
  }
  std::memcpy(result.scalar.data(), wave.scalar, sizeof wave.scalar);
  result.scc = wave.scc;
  result.mode = wave.mode;
  result.status = wave.status;
  result.trap_status = wave.trap_status;
  result.vgprs = words_of(wave.vgpr, 256 * sizeof(machine::Row));
  result.agprs = words_of(wave.agpr, 256 * sizeof(machine::Row));
  result.lds = words_of(lds_.get(), lds_bytes);
  result.memory = words_of(memory_.get(), memory_bytes);
  result.scratch = words_of(scratch_.get(), scratch_bytes);
  return result;
}

std::string FinalState::difference(const FinalState& other) const {
  std::string text;
  unsigned lines = 0;
  constexpr unsigned most_lines = 24;
  const auto line = [&](const std::string& where, uint64_t a, uint64_t b) {
    if (a != b && lines++ < most_lines) text += fmt::format("  {}: {:#x} and {:#x}\n", where, a, b);
  };
  line("state (0 ready, 1 barrier, 2 ended, 3 faulted)", static_cast<unsigned>(state),
       static_cast<unsigned>(other.state));
  line("fault", static_cast<unsigned>(fault), static_cast<unsigned>(other.fault));
  line("pc", pc, other.pc);
  if (what != other.what) text += "  " + what + " and " + other.what + "\n";
  line("SCC", scc, other.scc);
  line("MODE", mode, other.mode);
  line("STATUS", status, other.status);
  line("TRAPSTS", trap_status, other.trap_status);
  for (unsigned i = 0; i < scalar.size(); ++i) line(fmt::format("scalar {}", i), scalar[i], other.scalar[i]);
  const auto rows = [&](const char* name, const std::vector<uint32_t>& a, const std::vector<uint32_t>& b) {
    for (size_t i = 0; i < std::min(a.size(), b.size()); ++i)
      line(fmt::format("{}{} lane {}", name, i / 64, i % 64), a[i], b[i]);
  };
  const auto words = [&](const char* name, const std::vector<uint32_t>& a, const std::vector<uint32_t>& b) {
    for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) line(fmt::format("{} at {:#x}", name, i * 4), a[i], b[i]);
  };
  rows("v", vgprs, other.vgprs);
  rows("a", agprs, other.agprs);
  words("LDS", lds, other.lds);
  words("memory", memory, other.memory);
  words("scratch", scratch, other.scratch);
  if (lines > most_lines) text += fmt::format("  and {} more\n", lines - most_lines);
  return text;
}

uint64_t FinalState::digest() const {
  uint64_t hash = 14695981039346656037u;
  const auto add = [&](uint64_t word) { hash = (hash ^ word) * 1099511628211u; };
  add(static_cast<uint64_t>(state));
  add(static_cast<uint64_t>(fault));
  add(pc);
  add(scc);
  add(mode);
  for (unsigned i = 0; i < scalar.size(); ++i) add(scalar[i]);
  for (const auto* part : {&vgprs, &agprs, &lds, &memory, &scratch}) {
    for (const uint32_t word : *part) add(word);
  }
  return hash;
}

}  // namespace Atoll::test
