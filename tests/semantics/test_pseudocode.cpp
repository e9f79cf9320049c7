// Every instruction of the ALUs that the vendor's ISA guides describe in pseudo-code, against that (pseudocode.h):
// CDNA, RDNA3 and RDNA4, each on a processor that has it, and RDNA3's on an RDNA2, whose guide has no pseudo-code.
// Sources are edge values of their types and random ones, in many combinations.
//
// The guides' text is no part of the source tree: the build is told where it is (ATOLL_PSEUDOCODE), and without it the
// tests are skipped.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include "isa/opcode_map.h"
#include "isa/table.h"
#include "semantics/evaluate.h"
#include "semantics/pseudocode.h"
#include "semantics/scalar_float.h"

namespace Atoll::semantics::test {
namespace {

using isa::DataType;
using isa::Encoding;
using isa::Field;
using isa::Opcode;
namespace flag = isa::flag;

/// The programs of a guide by the instructions' names.
class Guide {
 public:
  explicit Guide(const std::string& path) {
    const YAML::Node all = YAML::LoadFile(path);
    for (const auto& encoding : all) {
      for (const auto& instruction : encoding.second) {
        std::string name = instruction.first.as<std::string>();
        const bool is_short = name.ends_with("_E32");
        if (is_short || name.ends_with("_E64")) name.resize(name.size() - 4);
        std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
        // VOP3's text says which register a lane mask is in.
        if (is_short && lines_.contains(name)) continue;
        lines_[name] = instruction.second["pseudocode"].as<std::vector<std::string>>();
      }
    }
  }

  bool has(const std::string& name) const { return lines_.contains(name); }

  pseudocode::Tree tree(const std::string& name) {
    const auto lines = lines_.find(name);
    if (lines == lines_.end()) return nullptr;
    auto& tree = trees_[name];
    if (tree == nullptr) tree = pseudocode::parse(lines->second);
    return tree;
  }

 private:
  std::map<std::string, std::vector<std::string>> lines_;
  std::map<std::string, pseudocode::Tree> trees_;
};

// --- Sources --------------------------------------------------------------------------------------------------------

Values integer_edges(unsigned width) {
  Values values = {0, 1, 2, 3, 4, 7, 15, 16, 31, 32, 63, 64, 100, 255};
  for (unsigned bit = 7; bit < width; bit += 8) {
    const uint64_t power = uint64_t{1} << bit;
    for (const uint64_t value : {power - 1, power, power + 1}) values.push_back(value);
  }
  const size_t count = values.size();
  for (size_t i = 0; i < count; ++i) values.push_back(~values[i] + 1);
  for (uint64_t& value : values) value &= width == 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1;
  return values;
}

unsigned width_of(DataType type) {
  if (isa::is_half(type)) return 16;
  return isa::words_of(type) >= 2 ? 64 : 32;
}

bool is_floating(DataType type) { return type == DataType::f16 || type == DataType::f32 || type == DataType::f64; }

/// Numbers of a type as registers hold them; above 16-bit ones stands what may not matter.
class Source {
 public:
  Source(DataType type, uint64_t seed) : type_(type), random_(seed) {
    const unsigned width = width_of(type);
    if (isa::is_packed(type) && width == 32) {
      edges_ = type == DataType::v2f16 ? edges16() : integer_edges(16);
    } else if (type == DataType::f16) {
      edges_ = edges16();
    } else if (type == DataType::f32) {
      edges_ = edges32();
    } else if (type == DataType::f64) {
      edges_ = edges64();
    } else {
      edges_ = integer_edges(width);
    }
  }

  size_t edges() const { return edges_.size(); }
  uint64_t edge(size_t i) { return whole(edges_[i % edges_.size()]); }

  uint64_t any() {
    if (random_() % 2 == 0) return edge(random_());
    if (is_floating(type_)) return whole(random_bits(width_of(type_), 2, random_())[1]);
    return whole(random_());
  }

 private:
  uint64_t whole(uint64_t value) {
    const unsigned width = width_of(type_);
    if (width == 64) return value;
    if (isa::is_half(type_)) return (value & 0xFFFF) | (random_() & 0xFFFF) << 16;
    if (isa::is_packed(type_)) return (value & 0xFFFF) | edges_[random_() % edges_.size()] << 16;
    return value & 0xFFFFFFFF;
  }

  DataType type_;
  std::mt19937_64 random_;
  Values edges_;
};

/// Lists of values for sources of these types.
std::vector<Values> source_lists(const std::vector<DataType>& types) {
  std::vector<Source> sources;
  sources.reserve(types.size());
  for (size_t i = 0; i < types.size(); ++i) sources.emplace_back(types[i], 100 + i);
  std::vector<Values> lists(types.size());
  const auto add = [&](const auto& value_of) {
    for (size_t i = 0; i < types.size(); ++i) lists[i].push_back(value_of(i));
  };
  if (types.size() == 1) {
    for (size_t i = 0; i < sources[0].edges(); ++i) add([&](size_t) { return sources[0].edge(i); });
  } else if (types.size() == 2) {
    const size_t combinations = sources[0].edges() * sources[1].edges(), step = combinations / 1300 + 1;
    for (size_t i = 0; i < combinations; i += step) {
      add([&](size_t s) { return sources[s].edge(s == 0 ? i / sources[1].edges() : i); });
    }
  }
  const size_t more = types.size() == 3 ? 2000 : 500;
  for (size_t i = 0; i < more; ++i) add([&](size_t s) { return sources[s].any(); });
  // Equal operands are rare otherwise.
  for (size_t i = 0; i < 64 && types.size() > 1; ++i) {
    const uint64_t value = sources[0].any();
    add([&](size_t s) { return types[s] == types[0] ? value : sources[s].any(); });
  }
  return lists;
}

// --- Results --------------------------------------------------------------------------------------------------------

bool is_nan(uint64_t bits, unsigned width) {
  if (width == 64) return std::isnan(std::bit_cast<double>(bits));
  if (width == 32) return std::isnan(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  return (bits & 0x7FFF) > 0x7C00;
}

/// Whether the results agree, but for which NaN it is where the guide leaves that open.
bool agree(uint64_t expected, uint64_t got, DataType type, bool any_nan) {
  if (expected == got) return true;
  if (!any_nan) return false;
  if (type == DataType::v2f32) {
    const auto same = [](uint64_t a, uint64_t b) { return a == b || (is_nan(a, 32) && is_nan(b, 32)); };
    return same(expected & 0xFFFFFFFF, got & 0xFFFFFFFF) && same(expected >> 32, got >> 32);
  }
  if (isa::is_packed(type) || isa::is_half(type)) {
    const auto same = [](uint64_t a, uint64_t b) { return a == b || (is_nan(a, 16) && is_nan(b, 16)); };
    return same(expected & 0xFFFF, got & 0xFFFF) && same(expected >> 16, got >> 16);
  }
  const unsigned width = width_of(type);
  return is_nan(expected, width) && is_nan(got, width);
}

/// What is not compared with the guides, and why. Where it says "tested", other tests of this directory do it.
const std::map<std::string_view, std::string_view>& exceptions() {
  static const std::map<std::string_view, std::string_view> all = {
#define APPROXIMATE(name) {name, "an approximation, whose error is tested"}
      APPROXIMATE("v_exp_f32"),
      APPROXIMATE("v_exp_f16"),
      APPROXIMATE("v_log_f32"),
      APPROXIMATE("v_log_f16"),
      APPROXIMATE("v_rcp_f32"),
      APPROXIMATE("v_rcp_f16"),
      APPROXIMATE("v_rcp_f64"),
      APPROXIMATE("v_rsq_f32"),
      APPROXIMATE("v_rsq_f16"),
      APPROXIMATE("v_rsq_f64"),
      APPROXIMATE("v_sqrt_f32"),
      APPROXIMATE("v_sqrt_f16"),
      APPROXIMATE("v_sqrt_f64"),
      APPROXIMATE("v_sin_f32"),
      APPROXIMATE("v_sin_f16"),
      APPROXIMATE("v_cos_f32"),
      APPROXIMATE("v_cos_f16"),
      APPROXIMATE("v_rcp_iflag_f32"),
      APPROXIMATE("v_exp_legacy_f32"),
      APPROXIMATE("v_log_legacy_f32"),
      APPROXIMATE("v_s_exp_f32"),
      APPROXIMATE("v_s_exp_f16"),
      APPROXIMATE("v_s_log_f32"),
      APPROXIMATE("v_s_log_f16"),
      APPROXIMATE("v_s_rcp_f32"),
      APPROXIMATE("v_s_rcp_f16"),
      APPROXIMATE("v_s_rsq_f32"),
      APPROXIMATE("v_s_rsq_f16"),
      APPROXIMATE("v_s_sqrt_f32"),
      APPROXIMATE("v_s_sqrt_f16"),
#undef APPROXIMATE
  // x + 0.5 is rounded in the text before it is cut off.
#define ROUNDS(name) {name, "rounds once, where the text rounds twice; tested"}
      ROUNDS("v_rndne_f16"),
      ROUNDS("v_rndne_f32"),
      ROUNDS("v_rndne_f64"),
      ROUNDS("s_rndne_f16"),
      ROUNDS("s_rndne_f32"),
      ROUNDS("v_cvt_rpi_i32_f32"),
      ROUNDS("v_cvt_nearest_i32_f32"),
      ROUNDS("v_ldexp_f16"),
      ROUNDS("v_ldexp_f64"),
      ROUNDS("v_div_fmas_f32"),
      ROUNDS("v_div_fmas_f64"),
      ROUNDS("v_dot2_f16_f16"),
      ROUNDS("v_dot2_bf16_bf16"),
#undef ROUNDS
#define FLUSHES(name) {name, "flushes denormals, which the text does not say; tested"}
      FLUSHES("v_mad_f16"),
      FLUSHES("v_mac_f16"),
      FLUSHES("v_madmk_f16"),
      FLUSHES("v_madak_f16"),
      FLUSHES("v_mad_legacy_f16"),
      FLUSHES("v_dot2_f32_f16"),
      FLUSHES("v_dot2c_f32_f16"),
      FLUSHES("v_dot2_f32_bf16"),
      FLUSHES("v_dot2c_f32_bf16"),
      FLUSHES("v_dot2acc_f32_f16"),
      FLUSHES("v_dot2acc_f32_bf16"),
      FLUSHES("v_dot4_f32_fp8_fp8"),
      FLUSHES("v_dot4_f32_fp8_bf8"),
      FLUSHES("v_dot4_f32_bf8_fp8"),
      FLUSHES("v_dot4_f32_bf8_bf8"),
#undef FLUSHES
      {"v_fract_f16", "stays below 1, which the text does not say; tested"},
      {"v_fract_f32", "stays below 1, which the text does not say; tested"},
      {"v_fract_f64", "stays below 1, which the text does not say; tested"},
      {"v_frexp_exp_i16_f16", "the text forgets zero and denormals; tested"},
      {"v_frexp_exp_i32_f32", "the text forgets zero and denormals; tested"},
      {"v_frexp_exp_i32_f64", "the text forgets zero and denormals; tested"},
      {"v_div_fixup_f32", "takes a NaN of two numbers for an overflow; tested"},
      {"v_div_fixup_f64", "takes a NaN of two numbers for an overflow; tested"},
      {"v_fmac_dx9_zero_f32", "the text reads a source that there is not; v_fma_dx9_zero_f32 is compared"},
      {"v_interp_p10_rtz_f16_f32", "rounds toward zero, which the text does not say; tested"},
      {"v_interp_p2_rtz_f16_f32", "rounds toward zero, which the text does not say; tested"},
      {"v_cvt_off_f32_i4", "the text lacks its table; tested"},
  };
  return all;
}

/// What GFX10 lets through of two NaNs is another than RDNA3's guide says; test_float_minmax.cpp has it.
bool differs_on_gfx10(std::string_view name) {
  constexpr std::string_view names[] = {"v_min_f16",  "v_max_f16",  "v_min_f32",    "v_max_f32",   "v_min_f64",
                                        "v_max_f64",  "v_min3_f16", "v_max3_f16",   "v_med3_f16",  "v_min3_f32",
                                        "v_max3_f32", "v_med3_f32", "v_pk_min_f16", "v_pk_max_f16"};
  return std::ranges::find(names, name) != std::end(names);
}

/// An instruction on one processor.
class Comparison {
 public:
  Comparison(Guide& guide, const target::Processor& processor, Opcode opcode, std::string name)
      : guide_(guide), processor_(processor), opcode_(opcode), name_(std::move(name)) {}

  /// Throws pseudocode::Unsupported.
  void check() {
    program_ = guide_.tree(name_);
    const isa::InstructionRow& row = isa::row_on(opcode_, processor_.generation);
    for (const isa::OperandSpec& spec : row.operands) {
      switch (spec.field) {
        case Field::vdst:
        case Field::sdst:
        case Field::lane_dst:
          result_ = spec.type;
          break;
        case Field::sdst_in:
        case Field::src0:
        case Field::src1:
        case Field::src2:
        case Field::vgpr_src0:
        case Field::vgpr_src1:
        case Field::vgpr_src2:
        case Field::ssrc0:
        case Field::ssrc1:
        case Field::literal:
          fields_.push_back(spec.field);
          types_.push_back(spec.type);
          break;
        default:
          break;
      }
    }
    if (name_ == "s_cvt_pk_rtz_f16_f32") result_ = DataType::v2f16;  // the table has it as LLVM does
    if (row.encoding == Encoding::sopk) {
      fields_.push_back(Field::none);
      types_.push_back(DataType::i16);
    }
    const bool is_scalar = row.encoding == Encoding::sop1 || row.encoding == Encoding::sop2 ||
                           row.encoding == Encoding::sopk || row.encoding == Encoding::sopc;
    const auto lists = source_lists(types_);
    for (const bool ieee : {true, false}) {
      // MODE.IEEE concerns few instructions: most values are enough for one of its settings.
      std::vector<Values> some = lists;
      for (Values& list : some) {
        if (!ieee && list.size() > 500) list.erase(list.begin(), list.end() - 500);
      }
      if (!is_scalar) check_vector(some, row, ieee);
      if (is_scalar) check_scalar(some, row, ieee);
    }
  }

 private:
  pseudocode::Lane lane_of(const std::vector<Values>& lists, size_t i) {
    pseudocode::Lane lane;
    unsigned immediates = 0;
    for (size_t s = 0; s < lists.size(); ++s) {
      const uint64_t value = lists[s][i];
      if (fields_[s] == Field::literal || fields_[s] == Field::none) {
        lane.immediate = static_cast<uint32_t>(value);
        ++immediates;
        if (fields_[s] == Field::literal) continue;
      }
      // In the guides' order: of v_fmamk the literal stands between them.
      const size_t number = s - (fields_[s] == Field::none ? 0 : immediates);
      lane.source[number] = value;
      lane.source_bits[number] = std::max(width_of(types_[s]), 32u);
    }
    lane.instruction = [this](const std::string& name) { return guide_.tree(name); };
    return lane;
  }

  void check_vector(const std::vector<Values>& lists, const isa::InstructionRow& row, bool ieee) {
    const VectorShape& shape = vector_function(opcode_, processor_.generation);
    if (shape.sources != lists.size()) throw pseudocode::Unsupported("other operands");
    if (std::ranges::max(shape.src_words) > 2 || shape.dst_words[0] > 2) {
      throw pseudocode::Unsupported("operands of more than 64 bits");
    }
    std::mt19937_64 random(7);
    const size_t count = lists.empty() ? 64 : lists[0].size();
    struct alignas(64) Rows {
      Row rows[4];
    };
    unsigned failures = 0;
    for (size_t start = 0; start < count && failures < 3; start += wave_lanes) {
      std::vector<Rows> src(lists.size());
      Rows dst{}, old{};
      VectorCall call{};
      call.exec = ~uint64_t{0};
      call.mode.ieee = ieee;
      call.mode.eight_bit = processor_.ocp_fp8 ? EightBit::ocp : EightBit::fnuz;
      call.mask_in = random();
      call.signed_sources = static_cast<uint8_t>(start / wave_lanes % 4);
      const size_t lanes = std::min<size_t>(wave_lanes, count - start);
      for (size_t lane = 0; lane < lanes; ++lane) {
        for (size_t s = 0; s < lists.size(); ++s) {
          src[s].rows[0][lane] = static_cast<uint32_t>(lists[s][start + lane]);
          src[s].rows[1][lane] = static_cast<uint32_t>(lists[s][start + lane] >> 32);
        }
        Source olds(result_ == DataType::none ? DataType::b32 : result_, start + lane);
        const uint64_t value = olds.any();
        dst.rows[0][lane] = static_cast<uint32_t>(value);
        dst.rows[1][lane] = static_cast<uint32_t>(value >> 32);
      }
      old = dst;
      call.dst[0] = dst.rows;
      for (size_t s = 0; s < lists.size(); ++s) call.src[s] = src[s].rows;
      shape.call(call);
      for (size_t lane = 0; lane < lanes && failures < 3; ++lane) {
        pseudocode::Lane expected = lane_of(lists, start + lane);
        expected.ieee = ieee;
        expected.lane_id = static_cast<unsigned>(lane);
        expected.carry = (call.mask_in >> lane & 1) != 0;
        expected.negated = call.signed_sources;
        expected.destination = old.rows[0][lane] | uint64_t{old.rows[1][lane]} << 32;
        expected.exec = 0;
        expected.other_lane = [&](unsigned other, unsigned number) { return src.at(number).rows[0][other]; };
        pseudocode::run(program_, expected);
        if (shape.mask_out) {
          const bool mask = (call.mask_out >> lane & 1) != 0;
          const bool wanted = shape.destinations == 0 ? (row.has(flag::exec_out) && expected.exec != 0) ||
                                                            (expected.destination >> lane & 1) != 0
                              : name_.starts_with("v_mad_") ? expected.second
                                                            : expected.carry;
          if (shape.destinations == 0 && row.has(flag::exec_out)) {
            EXPECT_EQ(mask, (expected.exec >> lane & 1) != 0) << at(lists, start + lane, ieee);
            failures += mask != ((expected.exec >> lane & 1) != 0);
          } else {
            EXPECT_EQ(mask, wanted) << at(lists, start + lane, ieee);
            failures += mask != wanted;
          }
        }
        if (shape.destinations == 0) continue;
        const bool wide = shape.dst_words[0] == 2;
        uint64_t wanted = static_cast<uint64_t>(expected.destination);
        if (!wide) wanted &= 0xFFFFFFFF;
        // Before GFX10 most instructions clear what is above a 16-bit result.
        if ((expected.destination_mask & 0xFFFFFFFF) == 0xFFFF && !shape.writes_low_half_only && !shape.reads_dst) {
          wanted &= 0xFFFF;
        }
        const uint64_t got = dst.rows[0][lane] | (wide ? uint64_t{dst.rows[1][lane]} << 32 : 0);
        if (agree(wanted, got, result_, expected.destination_any_nan)) continue;
        ++failures;
        ADD_FAILURE() << at(lists, start + lane, ieee)
                      << fmt::format("{:#x} rather than {:#x}, old {:#x}", got, wanted, old.rows[0][lane]);
      }
    }
  }

  void check_scalar(const std::vector<Values>& lists, const isa::InstructionRow& row, bool ieee) {
    const ScalarFunction function = scalar_function(opcode_);
    unsigned failures = 0;
    std::mt19937_64 random(7);
    const bool mask32 = name_.ends_with("exec_b32");
    for (size_t i = 0; i < lists[0].size() && failures < 3; ++i) {
      ScalarCall call{};
      for (size_t s = 0; s < lists.size(); ++s) {
        call.src[s] = lists[s][i];
        if (width_of(types_[s]) < 64) call.src[s] &= 0xFFFFFFFF;
        if (fields_[s] == Field::none) call.src[s] &= 0xFFFF;
      }
      call.dst = random() & (width_of(result_) == 64 ? ~uint64_t{0} : 0xFFFFFFFF);
      call.exec = mask32 ? random() & 0xFFFFFFFF : random();
      call.scc = random() % 2 != 0;
      pseudocode::Lane expected = lane_of(lists, i);
      expected.ieee = ieee;
      expected.destination = call.dst;
      expected.exec = call.exec;
      expected.scc = call.scc;
      pseudocode::run(program_, expected);
      if (function != nullptr) {
        function(call);
      } else {
        isa::Instruction instruction;
        instruction.opcode = opcode_;
        instruction.destinations = row.operands[0].field == Field::sdst ? 1 : 0;
        instruction.operands[0].type = row.operands[0].type;
        FloatMode mode;
        mode.ieee = ieee;
        scalar_float(instruction, processor_.generation, mode, call);
      }
      uint64_t wanted = static_cast<uint64_t>(expected.destination);
      if ((expected.destination_mask & 0xFFFFFFFF) == 0xFFFF) wanted &= 0xFFFF;
      const bool same =
          agree(wanted, call.dst, result_ == DataType::none ? DataType::b32 : result_, expected.destination_any_nan);
      if (same && call.scc == expected.scc && call.exec == expected.exec) continue;
      ++failures;
      ADD_FAILURE() << at(lists, i, ieee)
                    << fmt::format("{:#x}, scc {}, exec {:#x} rather than {:#x}, scc {}, exec {:#x}", call.dst,
                                   call.scc, call.exec, wanted, expected.scc, expected.exec);
    }
  }

  std::string at(const std::vector<Values>& lists, size_t i, bool ieee) const {
    std::string text = fmt::format("{} on {}{}:", name_, processor_.name, ieee ? "" : " (IEEE off)");
    for (const Values& list : lists) text += fmt::format(" {:#x}", list[i]);
    return text + " gives ";
  }

  Guide& guide_;
  const target::Processor& processor_;
  Opcode opcode_;
  std::string name_;
  pseudocode::Tree program_;
  DataType result_ = DataType::none;
  std::vector<Field> fields_;
  std::vector<DataType> types_;
};

/// What the guide calls the instruction, which may be its name on a later or earlier processor; its own if the guide
/// does not have it.
std::string name_in(const Guide& guide, Opcode opcode, const isa::OpcodeMap& own) {
  if (guide.has(std::string(own.name(opcode)))) return std::string(own.name(opcode));
  for (const char* processor : {"gfx1150", "gfx1200", "gfx950"}) {
    const std::string name(isa::opcode_map_of(*target::find_processor(processor)).name(opcode));
    if (guide.has(name)) return name;
  }
  return std::string(own.name(opcode));
}

struct Subject {
  const char *guide, *processor;
  unsigned least;  ///< instructions that are compared, at least
};

class Pseudocode : public testing::TestWithParam<Subject> {};

TEST_P(Pseudocode, InstructionsDoWhatTheGuideSays) {
  const std::string path = fmt::format("{}/pseudocode-{}.json", ATOLL_PSEUDOCODE, GetParam().guide);
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "the guide's text is not there: " << path;
  Guide guide(path);
  const target::Processor& processor = *target::find_processor(GetParam().processor);
  const isa::OpcodeMap& map = isa::opcode_map_of(processor);
  std::set<Opcode> seen;
  std::map<std::string, std::vector<std::string>> left_out;
  unsigned compared = 0;
  for (const Encoding encoding : {Encoding::sop1, Encoding::sop2, Encoding::sopk, Encoding::sopc, Encoding::vop1,
                                  Encoding::vop2, Encoding::vopc, Encoding::vop3, Encoding::vop3p, Encoding::vinterp}) {
    for (const Opcode opcode : map.opcodes[static_cast<size_t>(encoding)]) {
      if (opcode == Opcode::invalid || !seen.insert(opcode).second) continue;
      const bool computes = scalar_function(opcode) != nullptr || lane_equivalent(opcode) != Opcode::invalid ||
                            vector_function(opcode, processor.generation).call != nullptr;
      if (!computes) continue;
      const std::string name = name_in(guide, opcode, map);
      if (const auto exception = exceptions().find(name); exception != exceptions().end()) {
        left_out[std::string(exception->second)].push_back(name);
      } else if (processor.generation < target::Generation::gfx11 && GetParam().guide == std::string_view("rdna3") &&
                 differs_on_gfx10(name)) {
        left_out["lets another NaN through"].push_back(name);
      } else if (!guide.has(name)) {
        left_out["not in the guide"].push_back(name);
      } else {
        try {
          Comparison(guide, processor, opcode, name).check();
          ++compared;
        } catch (const pseudocode::Unsupported& why) {
          left_out[why.what()].push_back(name);
        }
      }
    }
  }
  for (const auto& [reason, names] : left_out) fmt::print("{}: {}\n", reason, fmt::join(names, " "));
  fmt::print("{} instructions compared\n", compared);
  EXPECT_GE(compared, GetParam().least);
}

INSTANTIATE_TEST_SUITE_P(Guides, Pseudocode,
                         testing::Values(Subject{"cdna", "gfx950", 540}, Subject{"rdna3", "gfx1030", 505},
                                         Subject{"rdna3", "gfx1150", 605}, Subject{"rdna4", "gfx1200", 590}),
                         [](const auto& info) { return fmt::format("{}_{}", info.param.guide, info.param.processor); });

}  // namespace
}  // namespace Atoll::semantics::test
