// The grid that random code runs in (fuzz_grid.h).
#include "differential/fuzz_grid.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <random>
#include <span>
#include <stdexcept>

#include "differential/random_instruction.h"
#include "engine/compiled/compiled_run.h"
#include "engine/vgpr_banks.h"
#include "isa/decode.h"
#include "machine/report/fault_guard.h"
#include "machine/wave/barrier.h"
#include "machine/wave/initial_state.h"

namespace Atoll::test {

namespace {

constexpr size_t rows_of_a_wave = 1088, lds_bytes = 4096, scratch_bytes_per_lane = 384, code_bytes = 1 << 17;
constexpr size_t memory_bytes = 2 * fuzz_buffer_reach, scratch_bytes = scratch_bytes_per_lane * 64;
/// How much of a wave may be ahead of a fault that the engine itself came upon: all chunks of lanes but the last.
constexpr unsigned max_lanes_ahead = 48;
constexpr unsigned filled_rows = 64;  ///< VGPRs, of each bank, and AGPRs that begin with something else than 0
constexpr uint16_t banks = 4, bank_rows = 256;

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
  if (!words.empty()) std::memcpy(words.data(), memory, bytes);
  return words;
}

void fill(void* memory, size_t bytes, std::mt19937_64& random) {
  auto* words = static_cast<uint32_t*>(memory);
  for (size_t i = 0; i < bytes / 4; ++i) words[i] = random_word(random);
}

}  // namespace

/// The waves that may follow in translated code: their registers begin with what is written here, or zeros.
struct FuzzGrid::Series : machine::WaveBatch {
  unsigned waves = 0, groups = 0, group = 0;
  uint64_t results = 0;
  uint32_t start[isa::scalar::count]{};
  alignas(64) machine::FirstRows rows[RandomCode::max_waves]{};
  uint8_t* lds = nullptr;

  bool next() {
    if (group + 1 == groups) return false;
    ++group;
    begin();
    waves_left = waves;
    return true;
  }
  void begin() {
    const uint64_t address = results + uint64_t{group} * waves * fuzz_results_bytes;
    std::memcpy(&start[fuzz_register::results], &address, sizeof address);
    std::memset(lds, 0, lds_bytes);
  }
};

void FuzzGrid::Unmap::operator()(uint8_t* memory) const { munmap(memory, bytes); }

/// The address is one that nothing else uses on Linux, so that it is there in every process. Its lower half is 0: an
/// offset added to that does not overflow.
FuzzGrid::Pages FuzzGrid::map(uint64_t address, size_t bytes) {
  void* memory =
      mmap(reinterpret_cast<void*>(address), bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  return Pages(static_cast<uint8_t*>(memory), Unmap{bytes});
}

// Addresses that neither the host's programs nor the sanitizers' own memory have: ThreadSanitizer would give others.
FuzzGrid::FuzzGrid(const target::Target& target)
    : target_(target),
      processor_(*target.processor),
      rows_(map(0x5900'0000'0000, RandomCode::max_waves * rows_of_a_wave * sizeof(machine::Row))),
      lds_(map(0x5901'0000'0000, lds_bytes)),
      memory_(map(0x5902'0000'0000, memory_bytes)),
      scratch_(map(0x5903'0000'0000, RandomCode::max_waves * scratch_bytes)),
      code_(map(0x5904'0000'0000, code_bytes)) {
  dispatch_.kernel = std::make_shared<machine::Kernel>();
  dispatch_.kernel->entry = reinterpret_cast<uint64_t>(code_.get());
  group_.dispatch = &dispatch_;
  group_.lds = lds_.get();
  group_.lds_bytes = lds_bytes;
  machine::install_fault_guard();
}

bool FuzzGrid::has_banks() const { return engine::has_vgpr_banks(processor_); }

machine::Row* FuzzGrid::rows(unsigned wave) {
  return reinterpret_cast<machine::Row*>(rows_.get()) + wave * rows_of_a_wave;
}

uint8_t* FuzzGrid::scratch(unsigned wave) { return scratch_.get() + wave * scratch_bytes; }

void FuzzGrid::reset(machine::Wave& w, unsigned number) {
  w = {};
  std::memset(rows(number), 0, rows_of_a_wave * sizeof(machine::Row));
  w.vgpr = rows(number);
  w.agpr = w.vgpr + 256;
  w.vgprs = w.agprs = 256;
  if (has_banks()) {
    w.agpr = w.vgpr;
    w.vgprs = bank_rows * banks;
    w.agprs = 0;
  }
  w.sgprs = 102;
  w.wave_size = target_.wave_size;
  w.mode = dispatch_.launch.mode;
  w.float_mode = machine::float_mode_of(w.mode, processor_);
  w.scratch = scratch(number);
  w.scratch_bytes_per_lane = scratch_bytes_per_lane;
  w.work_group = &group_;
  w.index = number;
  w.pc = dispatch_.kernel->entry;
}

void FuzzGrid::set_scalars(uint32_t* scalar, std::mt19937_64& random) {
  const auto set_pair = [&](unsigned reg, uint64_t value) {
    scalar[reg] = static_cast<uint32_t>(value);
    scalar[reg + 1] = static_cast<uint32_t>(value >> 32);
  };
  fill(scalar, 64 * 4, random);
  scalar[isa::scalar::m0] = static_cast<uint32_t>(random() % 2048 & ~uint64_t{3});
  set_pair(isa::scalar::vcc_lo, random());
  set_pair(isa::scalar::exec_lo, random() % 3 != 0 ? ~uint64_t{0} : random());
  const auto middle = reinterpret_cast<uint64_t>(memory_.get()) + fuzz_buffer_reach;
  set_pair(fuzz_register::buffer, middle);
  // A buffer resource: address and stride, records, format (Vega ISA guide, "Buffer resource descriptor").
  constexpr uint32_t in_order = 4 | 5 << 3 | 6 << 6 | 7 << 9;
  const uint32_t stride = random() % 2 != 0 ? 16 : 0;
  const auto number_format = static_cast<uint32_t>(random() % 8),
             data_format = 1 + static_cast<uint32_t>(random() % 14);
  set_pair(fuzz_register::resource, middle | uint64_t{stride} << 48);
  const bool counts_bytes = processor_.generation == target::Generation::gfx8;  // unless it is swizzled
  scalar[fuzz_register::resource + 2] = stride != 0 && !counts_bytes ? 128 : 4096;
  scalar[fuzz_register::resource + 3] = in_order | number_format << 12 | data_format << 15;
  if (processor_.buffer_resources >= target::BufferResources::gfx10) {
    constexpr uint32_t structured = 1, raw = 3;  // OOB_SELECT
    const uint32_t bounds = random() % 8 == 0 ? static_cast<uint32_t>(random() % 4) : stride != 0 ? structured : raw;
    const auto format = static_cast<uint32_t>(random() % 64);
    scalar[fuzz_register::resource + 3] = in_order | format << 12 | bounds << 28;
  }
  if (has_banks()) {  // the size in bits 57 to 101, the stride from bit 108 on (LLVM, lowerPointerAsRsrcIntrin)
    const uint64_t size = stride != 0 ? 128 : 4096;
    set_pair(fuzz_register::resource, middle | size << 57);
    scalar[fuzz_register::resource + 2] = static_cast<uint32_t>(size >> 7);
    scalar[fuzz_register::resource + 3] = stride << 12 | (random() % 8 == 0 ? 1u << 31 : 0);
  }
  // Now and then, lanes' scratch lies askew.
  scalar[fuzz_register::stack_offset] =
      static_cast<uint32_t>(random() % 16 != 0 ? random() % 32 * 256 : random() % 1024 * 4);
  scalar[fuzz_register::private_offset] = static_cast<uint32_t>(random() % 32 * 4);
}

void FuzzGrid::begin(machine::Wave& w, unsigned number, std::mt19937_64& random) {
  reset(w, number);
  fill(w.vgpr, filled_rows * sizeof(machine::Row), random);
  if (w.agprs != 0) fill(w.agpr, filled_rows * sizeof(machine::Row), random);
  for (unsigned first = bank_rows; first < w.vgprs; first += bank_rows) {
    fill(w.vgpr + first, filled_rows * sizeof(machine::Row), random);
  }
  set_scalars(w.scalar, random);
  w.scc = random() % 2 != 0;
  uint32_t(&resource)[4] = *reinterpret_cast<uint32_t(*)[4]>(&w.scalar[fuzz_register::scratch_resource]);
  machine::scratch_resource(target_, reinterpret_cast<uint64_t>(w.scratch), scratch_bytes, resource);
  for (unsigned lane = 0; lane < 64; ++lane) w.vgpr[fuzz_register::lane][lane] = lane;
  fill(w.scratch, scratch_bytes, random);
}

void FuzzGrid::begin_group(unsigned waves, std::mt19937_64& random) {
  group_.waves.resize(waves);
  group_.waves_begun = group_.waves_running = waves;
  group_.barrier = {};
  fill(lds_.get(), lds_bytes, random);
  for (unsigned number = 0; number < waves; ++number) begin(group_.waves[number], number, random);
}

void FuzzGrid::place(const RandomCode& code) {
  const size_t bytes = size_ = code.words.size() * 4;
  if (bytes + 64 > code_bytes) throw std::length_error("the random code is too long");
  dispatch_.launch.mode = code.mode;
  if (std::memcmp(code_.get(), code.words.data(), bytes) == 0) return;
  std::memset(code_.get(), 0, code_bytes);
  std::memcpy(code_.get(), code.words.data(), bytes);
}

FinalState FuzzGrid::run(machine::Engine& engine, const RandomCode& code, uint64_t state, uint64_t turn) {
  place(code);
  std::mt19937_64 random(state);
  fill(memory_.get(), memory_bytes, random);
  FinalState result;
  if (code.is_series) {
    run_batch(engine, code, random, turn, result);
  } else {
    for (unsigned group = 0; group < code.groups; ++group) {
      begin_group(code.waves, random);
      if (!run_group(engine, turn, result)) break;
      const std::vector<uint32_t> lds = words_of(lds_.get(), lds_bytes);
      result.lds.insert(result.lds.end(), lds.begin(), lds.end());
    }
  }
  result.memory = words_of(memory_.get(), memory_bytes);
  return result;
}

/// Until it ends or comes to a barrier. False if it faults or is endless.
bool FuzzGrid::run_wave(machine::Engine& engine, machine::Wave& wave, uint64_t turn, FinalState& result,
                        machine::WaveBatch* series) {
  using machine::WaveState;
  const uint64_t before = wave.instructions, interpreted_before = wave.interpreted;
  machine::HostFault host;
  const bool done = machine::guarded(host, [&] {
    WaveState state = series != nullptr ? engine.run_batch(wave, turn, *series) : engine.run(wave, turn);
    while (state == WaveState::ready && wave.instructions < max_instructions) state = engine.run(wave, turn);
  });
  result.instructions += wave.instructions - before;
  interpreted_ += wave.interpreted - interpreted_before;
  if (done && wave.state != WaveState::faulted) return wave.state != WaveState::ready;
  const uint8_t chunk = engine::compiled_run_of_thread().run.chunk;
  if (!done) engine.retrace_fault(wave, host);
  FinalFault& fault = result.fault.emplace();
  fault.pc = wave.pc - dispatch_.kernel->entry;
  if (wave.state == WaveState::faulted && wave.fault != nullptr) {
    fault.kind = wave.fault->kind;
    fault.what = fmt::format("{}, lane {}", wave.fault->what, wave.fault->lane);
    fault.lanes_ahead = max_lanes_ahead;
  } else {
    fault.kind = machine::Fault::Kind::memory;
    fault.what = fmt::format("address {:#x}", host.address);
    fault.lanes_ahead = chunk == engine::no_chunk ? 0 : chunk * semantics::chunk_lanes;
  }
  fault.scalars_ahead = scalars_written_from(fault.pc);
  wave.state = WaveState::faulted;
  return false;
}

std::bitset<isa::scalar::count> FuzzGrid::scalars_written_from(uint64_t pc) const {
  std::bitset<isa::scalar::count> written;
  const std::span<const uint8_t> code(code_.get(), size_);
  while (pc < size_) {
    const auto instruction = isa::decode(code.subspan(pc), processor_, target_.wave_size);
    for (unsigned i = 0; instruction && i < instruction->destinations; ++i) {
      const isa::Operand& operand = instruction->operands[i];
      if (operand.kind != isa::OperandKind::scalar) continue;
      for (unsigned word = 0; word < operand.words; ++word) written.set(operand.reg + word);
    }
    pc += instruction ? instruction->size : 4;
  }
  return written;
}

bool FuzzGrid::run_group(machine::Engine& engine, uint64_t turn, FinalState& result) {
  using machine::WaveState;
  const auto first = static_cast<unsigned>(result.waves.size());
  bool is_good = true;
  while (is_good && group_.waves_running != 0) {
    for (machine::Wave& wave : group_.waves) {
      if (wave.state != WaveState::ready) continue;
      is_good = run_wave(engine, wave, turn, result);
      if (!is_good) {
        if (result.fault) result.fault->wave = first + wave.index;
        break;
      }
      machine::stop_at_barrier(wave);
      if (wave.state == WaveState::ended) {
        --group_.waves_running;
        machine::complete_barrier(group_);
      }
    }
    if (is_good) machine::release_from_barrier(group_);
  }
  for (const machine::Wave& wave : group_.waves) result.waves.push_back(final_wave(wave, wave.index));
  return is_good;
}

/// Registers of waves are not compared. Waves that follow in translated code start with zeros in a register or
/// not, as they need. The code stores its results at its end.
void FuzzGrid::run_batch(machine::Engine& engine, const RandomCode& code, std::mt19937_64& random, uint64_t turn,
                         FinalState& result) {
  Series series;
  series.waves = code.waves;
  series.groups = code.groups;
  set_scalars(series.start, random);
  for (unsigned number = 0; number < code.waves; ++number) {
    fill(series.rows[number].row, 2 * sizeof(machine::Row), random);
    for (unsigned lane = 0; lane < 64; ++lane)
      series.rows[number].row[2][lane] = number * fuzz_results_bytes + lane * 4;
  }
  series.exec = ~uint64_t{0};
  series.last_exec = random() >> random() % 48;
  fill(scratch(0), scratch_bytes, random);  // what one wave leaves there is what the next one finds
  series.scalars = series.start;
  series.first_rows = series.rows;
  series.begin_work_group = [](machine::WaveBatch& of) { return static_cast<Series&>(of).next(); };
  series.lds = lds_.get();
  series.results = reinterpret_cast<uint64_t>(memory_.get());
  series.begin();
  group_.waves.resize(1);
  machine::Wave& wave = group_.waves[0];
  unsigned begun = 0;
  for (unsigned number = 0;;) {
    reset(wave, 0);
    std::memcpy(wave.scalar, series.start, sizeof wave.scalar);
    std::memcpy(wave.vgpr, series.rows[number].row, sizeof series.rows[number].row);
    wave.index = number;
    series.waves_left = series.waves - number - 1;
    wave.set_exec(series.waves_left == 0 ? series.last_exec : series.exec);
    ++begun;
    if (!run_wave(engine, wave, turn, result, number == 0 ? &series : nullptr)) break;
    number = wave.index + 1;
    if (number == series.waves) {
      if (!series.next()) break;
      number = 0;
    }
  }
  result.waves.emplace_back().state = wave.state;
  if (wave.state == machine::WaveState::ended) begun_in_series_ += code.waves * code.groups - begun;
}

FinalWave FuzzGrid::final_wave(const machine::Wave& wave, unsigned number) {
  FinalWave result;
  result.state = wave.state;
  // Stores to null are dropped.
  std::copy_n(wave.scalar, isa::scalar::null, result.scalar.begin());
  result.scc = wave.scc;
  result.mode = wave.mode;
  result.status = wave.status;
  result.trap_status = wave.trap_status;
  result.instructions = wave.instructions;
  result.vgprs = words_of(wave.vgpr, wave.vgprs * sizeof(machine::Row));
  result.agprs = words_of(wave.agpr, wave.agprs * sizeof(machine::Row));
  result.scratch = words_of(scratch(number), scratch_bytes);
  return result;
}

}  // namespace Atoll::test
