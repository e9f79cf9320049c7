// Every load and store of GLOBAL, FLAT, scratch, LDS and buffer instructions, of each width and of halves of registers,
// on each generation, in waves of 32 and 64 lanes, with all lanes on, with some and with none, with each way to name an
// address, and of VGPRs and AGPRs where the register file has both. What is expected is computed here, lane after lane,
// on copies of the memories: scratch is swizzled by dwords (LLVM, AMDGPUUsage, "Address Spaces"), and loads of half a
// register keep the other half but on GPUs with SRAM ECC (LLVM's d16PreservesUnusedBits()).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <vector>

#include "engine/instruction_programs.h"
#include "engine/wave_runner.h"
#include "machine/memory/memory.h"

namespace Atoll {
namespace {

using machine::WaveState;
using target::Generation;
using test::Machine;
using test::registers;
using test::WaveRunner;

/// Which of a register's bits a load writes or a store reads.
enum class Half : uint8_t { none, low, high };

struct Form {
  const char *of_memory, *of_lds;  ///< rows' names after "global_" and its like, and after "ds_"
  unsigned bytes;
  bool sign = false;
  Half half = Half::none;
};
constexpr Form loads[] = {
    {"load_ubyte", "read_u8", 1},
    {"load_sbyte", "read_i8", 1, true},
    {"load_ushort", "read_u16", 2},
    {"load_sshort", "read_i16", 2, true},
    {"load_dword", "read_b32", 4},
    {"load_dwordx2", "read_b64", 8},
    {"load_dwordx3", "read_b96", 12},
    {"load_dwordx4", "read_b128", 16},
    {"load_ubyte_d16", "read_u8_d16", 1, false, Half::low},
    {"load_ubyte_d16_hi", "read_u8_d16_hi", 1, false, Half::high},
    {"load_sbyte_d16", "read_i8_d16", 1, true, Half::low},
    {"load_sbyte_d16_hi", "read_i8_d16_hi", 1, true, Half::high},
    {"load_short_d16", "read_u16_d16", 2, false, Half::low},
    {"load_short_d16_hi", "read_u16_d16_hi", 2, false, Half::high},
};
constexpr Form stores[] = {
    {"store_byte", "write_b8", 1},
    {"store_short", "write_b16", 2},
    {"store_dword", "write_b32", 4},
    {"store_dwordx2", "write_b64", 8},
    {"store_dwordx3", "write_b96", 12},
    {"store_dwordx4", "write_b128", 16},
    {"store_byte_d16_hi", "write_b8_d16_hi", 1, false, Half::high},
    {"store_short_d16_hi", "write_b16_d16_hi", 2, false, Half::high},
};

/// Where a lane's element is.
enum class Space : uint8_t { memory, lds, scratch };

/// How instructions name addresses: a load by v[2:3], a store by v[4:5], or FLAT, which need not have offsets, by a
/// pair of its own. `prefix` is that of the rows' names.
struct Family {
  enum class Kind : uint8_t {
    address,      ///< of 64 bits, in two registers
    flat,         ///< the same, of the three memories
    offset,       ///< of 32 bits, from a scalar base
    lds,          ///< of LDS
    scratch,      ///< of scratch
    scratch_all,  ///< the same for all lanes
    buffer,       ///< of 32 bits, in a buffer
    records,      ///< the number of a record, and an offset in it
  };
  const char* name;
  const char* prefix;
  Kind kind;
  std::string_view load_address, store_address;
  uint32_t scalar = 0;  ///< what s20 adds
};
constexpr Family families[] = {
    {"global", "global_", Family::Kind::address, "v[2:3], off", "v[4:5], {}, off"},
    {"global_base", "global_", Family::Kind::offset, "v2, s[8:9]", "v4, {}, s[8:9]"},
    {"flat", "flat_", Family::Kind::flat, "v[2:3]", "{1}, {0}"},
    {"lds", "ds_", Family::Kind::lds, "v2", "v4, {}"},
    {"scratch", "scratch_", Family::Kind::scratch, "v2, off", "v4, {}, off"},
    {"scratch_base", "scratch_", Family::Kind::scratch_all, "off, s21", "off, {}, s22"},
    {"scratch_both", "scratch_", Family::Kind::scratch, "v2, s20", "v4, {}, s20", 8},
    {"buffer", "buffer_", Family::Kind::buffer, "v2, s[8:11], s20 offen", "{}, v4, s[8:11], s20 offen", 8},
    {"records", "buffer_", Family::Kind::records, "v[2:3], s[12:15], s20 idxen offen",
     "{}, v[4:5], s[12:15], s20 idxen offen", 8},
};

/// The program's registers.
constexpr unsigned data = 16;  ///< of stores; the low bytes first
constexpr unsigned result_of(unsigned load) { return 32 + load * 4; }
constexpr unsigned flat_address_of(unsigned store) { return 100 + store * 2; }

// Memories are 4096 bytes; the first 1024 are loaded from, the others stored to.
constexpr unsigned memory_bytes = 4096, record_bytes = 24;
static_assert(WaveRunner::lds_bytes == memory_bytes && WaveRunner::scratch_bytes_per_lane == 256);
constexpr unsigned store_places[] = {0, 2, 4, 8, 16, 28, 1, 44};  ///< of the stores, by their sum of bytes
constexpr uint64_t masks[] = {~uint64_t{0}, 0xF7FF'FFFE'DFFF'7FF9, 0x0000'0100'0002'0001, 0};

/// The three memories, as they are or as they are to become.
struct Memories {
  std::vector<uint8_t> memory = std::vector<uint8_t>(memory_bytes), lds = memory, scratch;
  unsigned wave_size = 64;

  uint8_t& byte(Space space, unsigned lane, unsigned at) {
    if (space == Space::memory) return memory[at];
    if (space == Space::lds) return lds[at];
    return scratch[(at / 4 * wave_size + lane) * 4 + at % 4];
  }
  friend bool operator==(const Memories&, const Memories&) = default;
};

bool has(const Family& family, const target::Processor& processor) {
  const Generation generation = processor.generation;
  const bool both =
      generation == Generation::gfx940 || generation == Generation::gfx950 || generation >= Generation::gfx11;
  // What there was before GFX9: LDS, buffers and, from GFX7 on, FLAT.
  using Kind = Family::Kind;
  if (generation < Generation::gfx9) {
    if (family.kind == Kind::flat) return generation >= Generation::gfx7;
    return family.kind == Kind::lds || family.kind == Kind::buffer || family.kind == Kind::records;
  }
  return both || std::string_view(family.name) != "scratch_both";
}

/// The instruction's name on the processor; empty if it has none: halves of registers are new in GFX9, three and four
/// dwords of LDS in GFX7.
std::string name_of(const Family& family, const Form& form, const target::Processor& processor) {
  const bool is_lds = family.kind == Family::Kind::lds;
  const std::string row = std::string(family.prefix) + (is_lds ? form.of_lds : form.of_memory);
  std::string name = test::name_on(processor, row);
  const bool is_wide = is_lds && form.bytes > 8;
  const Generation since = form.half != Half::none ? Generation::gfx9 : is_wide ? Generation::gfx7 : Generation::gfx6;
  EXPECT_EQ(name.empty(), processor.generation < since) << row;
  return name;
}

/// What is added to all addresses: FLAT has no offset before GFX9, and that of GFX10.1 one that its processors do not
/// add (LLVM, FeatureFlatSegmentOffsetBug), so compilers leave it 0.
int displacement_of(const Family& family, const target::Processor& processor) {
  if (family.kind == Family::Kind::flat) {
    return processor.generation == Generation::gfx10 || processor.generation < Generation::gfx9 ? 0 : 12;
  }
  return family.kind == Family::Kind::address || family.kind == Family::Kind::offset ? -20 : 12;
}

/// `kind`: of the registers with data, 'v' or 'a'.
std::string program_of(const Family& family, const target::Processor& processor, char kind) {
  const int displacement = displacement_of(family, processor);
  const auto with_offset = [](int offset) { return offset == 0 ? "\n" : fmt::format(" offset:{}\n", offset); };
  std::string source;
  for (unsigned i = 0; i < std::size(loads); ++i) {
    const std::string name = name_of(family, loads[i], processor);
    if (name.empty()) continue;
    source += fmt::format("{} {}, {}{}", name, registers(kind, result_of(i), (loads[i].bytes + 3) / 4),
                          family.load_address, with_offset(displacement));
  }
  for (unsigned i = 0; i < std::size(stores); ++i) {
    const std::string name = name_of(family, stores[i], processor);
    if (name.empty()) continue;
    const std::string from = registers(kind, data, (stores[i].bytes + 3) / 4);
    const std::string address = registers('v', flat_address_of(i), 2);
    const int place = family.kind == Family::Kind::flat ? 0 : static_cast<int>(store_places[i]);
    source +=
        name + " " + fmt::format(fmt::runtime(family.store_address), from, address) + with_offset(displacement + place);
  }
  return source;
}

struct Accesses {
  explicit Accesses(const Machine& machine)
      : processor(*target::find_processor(machine.processor)), lanes(machine.wave_size) {}

  /// `turn`: the compiled engine runs every other family, from the first or the second one on.
  void move_the_bytes_of_each_width(size_t turn) const;

  void run(const Family& family, char kind, const std::vector<uint8_t>& code, std::string_view sramecc, uint64_t exec,
           unsigned shift) const;

  const target::Processor& processor;
  unsigned lanes;
};

void Accesses::run(const Family& family, char kind, const std::vector<uint8_t>& code, std::string_view sramecc,
                   uint64_t exec, unsigned shift) const {
  using Kind = Family::Kind;
  WaveRunner runner(std::string(processor.name) + std::string(sramecc), "", lanes);
  if (lanes == 32) exec &= 0xFFFF'FFFF;
  runner.wave().set_exec(exec);
  const auto reg = [&](unsigned number) -> semantics::Row& {
    return kind == 'a' ? runner.a(number) : runner.v(number);
  };
  Memories before;
  before.wave_size = lanes;
  before.scratch.resize(WaveRunner::scratch_bytes_per_lane * lanes);
  unsigned salt = 1;
  for (std::vector<uint8_t>* bytes : {&before.memory, &before.lds, &before.scratch}) {
    ++salt;
    for (size_t i = 0; i < bytes->size(); ++i) (*bytes)[i] = static_cast<uint8_t>(i * 167 + i / 256 * 13 + salt * 71);
  }
  std::vector<uint8_t> memory = before.memory;
  std::memcpy(runner.lds(), before.lds.data(), before.lds.size());
  std::memcpy(runner.wave().scratch, before.scratch.data(), before.scratch.size());

  const bool own_places = family.kind == Kind::scratch || family.kind == Kind::scratch_all;
  const auto space_of = [&](unsigned lane) {
    if (family.kind == Kind::lds) return Space::lds;
    if (own_places) return Space::scratch;
    if (family.kind == Kind::flat && lane % 3 != 0) return lane % 3 == 1 ? Space::lds : Space::scratch;
    return Space::memory;
  };
  const auto load_place = [&](unsigned lane) {
    if (family.kind == Kind::scratch_all) return 40 + shift;
    if (space_of(lane) == Space::scratch) return 32 + lane % 7 * 4 + lane % 4 * shift;
    return 64 + (lane * 29 + 7) % 64 * 12 + lane % 4 * shift;
  };
  const auto store_place = [&](unsigned lane) {
    if (family.kind == Kind::scratch_all) return 100 + shift;
    if (space_of(lane) == Space::scratch) return 100 + lane % 9 * 8 + lane % 4 * shift;
    return 1024 + (lane * 13 + 5) % 64 * 48 + lane % 2 * shift;
  };

  const auto displacement = static_cast<uint32_t>(displacement_of(family, processor));
  const auto base = reinterpret_cast<uint64_t>(memory.data());
  test::set_buffer(runner, 8, memory.data(), memory_bytes);
  // GFX8 counts bytes also where there are records, unless they are interleaved.
  const bool counts_bytes = processor.generation == Generation::gfx8;
  test::set_buffer(runner, 12, memory.data(), counts_bytes ? memory_bytes : memory_bytes / record_bytes + 1,
                   record_bytes);
  // From GFX10 to GFX12 the resource says what is outside: indices past the last record alone (OOB_SELECT of 1).
  const bool has_select = processor.generation >= Generation::gfx10 && processor.generation < Generation::gfx12_5;
  if (has_select) runner.s(15) = (runner.s(15) & ~(3u << 28)) | 1u << 28;
  runner.s(20) = family.scalar;
  runner.s(21) = load_place(0) - displacement;
  runner.s(22) = store_place(0) - displacement;
  const auto set_address = [&](unsigned first, unsigned lane, uint32_t place) {
    const uint32_t offset = place - displacement - family.scalar;
    uint64_t value = offset;
    const Space space = space_of(lane);
    if (family.kind == Kind::address || family.kind == Kind::flat) {
      const uint64_t from =
          space == Space::memory
              ? base
              : uint64_t{space == Space::lds ? machine::shared_aperture_hi : machine::private_aperture_hi} << 32;
      value = from + static_cast<uint64_t>(int64_t{static_cast<int32_t>(offset)});
    } else if (family.kind == Kind::records) {
      value = offset / record_bytes | uint64_t{offset % record_bytes} << 32;
    }
    runner.v(first)[lane] = static_cast<uint32_t>(value);
    runner.v(first + 1)[lane] = static_cast<uint32_t>(value >> 32);
  };
  for (unsigned lane = 0; lane < lanes; ++lane) {
    set_address(2, lane, load_place(lane));
    set_address(4, lane, store_place(lane));
    for (unsigned i = 0; i < std::size(stores); ++i) {
      set_address(flat_address_of(i), lane, store_place(lane) + store_places[i]);
    }
    for (unsigned i = 0; i < 4; ++i) reg(data + i)[lane] = 0x9E37'79B9 * (4 * lane + i + 1);
    for (unsigned i = 0; i < std::size(loads) * 4; ++i) reg(result_of(0) + i)[lane] = 0xDEAD'BEEF - i;
  }

  Memories expected = before;
  std::vector<std::array<uint32_t, 64>> results(std::size(loads) * 4);
  for (unsigned lane = 0; lane < lanes; ++lane) {
    const bool on = (exec >> lane & 1) != 0;
    for (unsigned i = 0; i < std::size(loads); ++i) {
      const Form& form = loads[i];
      uint32_t words[4];
      for (unsigned word = 0; word < 4; ++word) words[word] = reg(result_of(i) + word)[lane];
      if (on && !name_of(family, form, processor).empty()) {
        uint8_t bytes[16]{};
        for (unsigned b = 0; b < form.bytes; ++b) bytes[b] = before.byte(space_of(lane), lane, load_place(lane) + b);
        uint32_t kept = words[0];
        std::memcpy(words, bytes, (form.bytes + 3) / 4 * 4);
        if (form.sign) {
          words[0] = static_cast<uint32_t>(form.bytes == 1 ? int32_t{static_cast<int8_t>(words[0])}
                                                           : int32_t{static_cast<int16_t>(words[0])});
        }
        if (sramecc == ":sramecc+") kept = 0;
        if (form.half == Half::low) words[0] = (kept & 0xFFFF'0000) | (words[0] & 0xFFFF);
        if (form.half == Half::high) words[0] = (kept & 0xFFFF) | words[0] << 16;
      }
      for (unsigned word = 0; word < 4; ++word) results[i * 4 + word][lane] = words[word];
    }
    for (unsigned i = 0; on && i < std::size(stores); ++i) {
      if (name_of(family, stores[i], processor).empty()) continue;
      uint8_t bytes[16];
      for (unsigned word = 0; word < 4; ++word) std::memcpy(bytes + word * 4, &reg(data + word)[lane], 4);
      const unsigned from = stores[i].half == Half::high ? 2 : 0, place = store_place(lane) + store_places[i];
      for (unsigned b = 0; b < stores[i].bytes; ++b) expected.byte(space_of(lane), lane, place + b) = bytes[from + b];
    }
  }

  ASSERT_EQ(runner.run_instructions(code), WaveState::ended);
  for (unsigned i = 0; i < std::size(loads) * 4; ++i) {
    for (unsigned lane = 0; lane < lanes; ++lane) {
      ASSERT_EQ(reg(result_of(0) + i)[lane], results[i][lane])
          << family.name << ' ' << loads[i / 4].of_memory << ", word " << i % 4 << " of lane " << lane;
    }
  }
  Memories after = before;
  after.memory = memory;
  std::memcpy(after.lds.data(), runner.lds(), after.lds.size());
  std::memcpy(after.scratch.data(), runner.wave().scratch, after.scratch.size());
  EXPECT_TRUE(after == expected) << family.name << ": stores";
}

void Accesses::move_the_bytes_of_each_width(size_t turn) const {
  struct Program {
    const Family* family;
    char kind;
  };
  std::vector<Program> programs;
  std::vector<std::string> sources;
  for (const Family& family : families) {
    if (!has(family, processor)) continue;
    for (const char kind : {'v', 'a'}) {
      if (kind == 'a' && !processor.unified_vgprs) continue;
      programs.push_back({&family, kind});
      sources.push_back(program_of(family, processor, kind));
    }
  }
  const auto codes = test::assemble_programs(sources, processor, lanes);
  const char* engine = std::getenv("ATOLL_ENGINE");
  const bool is_compiled = engine != nullptr && std::string_view(engine) == "compiled";
  for (size_t i = 0; i < programs.size(); ++i) {
    if (is_compiled && (i + turn) % 4 != 0) continue;  // a second for each; other machines have the others
    SCOPED_TRACE(sources[i]);
    for (const std::string_view sramecc : {"", ":sramecc-", ":sramecc+"}) {
      if (sramecc.empty() == processor.supports_sramecc) continue;
      for (const uint64_t exec : masks) {
        for (const unsigned shift : {0u, 1u})
          run(*programs[i].family, programs[i].kind, codes[i], sramecc, exec, shift);
        if (testing::Test::HasFatalFailure()) return;
      }
    }
  }
}

TEST(LoadsAndStoresOnEachGeneration, MoveTheBytesOfEachWidth) {
  size_t turn = 0;
  for (const Machine& machine : test::machines) {
    SCOPED_TRACE(test::name_of_machine(machine));
    ASSERT_NO_FATAL_FAILURE(Accesses(machine).move_the_bytes_of_each_width(turn++));
  }
}

}  // namespace
}  // namespace Atoll
