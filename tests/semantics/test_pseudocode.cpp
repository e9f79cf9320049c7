// Every instruction of the ALUs that the vendor's ISA guides describe in pseudo-code, against that (pseudocode.h):
// CDNA, RDNA3 and RDNA4, each on a processor that has it, and RDNA3's on an RDNA2, whose guide has no pseudo-code.
// Sources are edge values of their types and random ones, in many combinations.
//
// The guides' text is no part of the source tree: the build is told where it is (ATOLL_PSEUDOCODE), and without it the
// tests are skipped.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "isa/opcode_map.h"
#include "isa/table.h"
#include "semantics/guide.h"
#include "semantics/note_function.h"
#include "semantics/scalar/scalar_float.h"

namespace Atoll::semantics::test {
namespace {

using isa::DataType;
using isa::Encoding;
using isa::Field;
using isa::Opcode;
namespace flag = isa::flag;

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
      // The text makes signaling NaNs quiet, GPUs pass them on (llvm/llvm-project#208733).
      if (!ieee && processor_.ieee_mode && name_.starts_with("v_div_fixup")) continue;
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
      call.mode.has_ieee_mode = processor_.ieee_mode;
      call.mode.ieee = ieee;
      call.mode.eight_bit = processor_.ocp_fp8 ? Fp8Format::ocp : Fp8Format::fnuz;
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
        mode.has_ieee_mode = processor_.ieee_mode;
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

struct Subject {
  const char *guide, *processor;
  unsigned least;  ///< instructions that are compared, at least
};
void PrintTo(const Subject& subject, std::ostream* out) { *out << subject.guide << " " << subject.processor; }

/// Which GFX11.7, whose guide is not published, has otherwise than GFX12 (semantics/scalar/scalar_float.cpp).
bool is_scalar_min_or_max(Opcode opcode) {
  return opcode == Opcode::s_min_f32 || opcode == Opcode::s_max_f32 || opcode == Opcode::s_min_f16 ||
         opcode == Opcode::s_max_f16;
}

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
      } else if (processor.generation == target::Generation::gfx11_7 && is_scalar_min_or_max(opcode)) {
        left_out["minNum of IEEE 754-2008 still; tested"].push_back(name);
      } else if (!guide.has(name)) {
        left_out["not in the guide"].push_back(name);
      } else {
        try {
          Comparison(guide, processor, opcode, name).check();
          ++compared;
          note_function(Atoll::test::TestedBy::pseudocode, opcode, processor.generation);
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
                                         Subject{"rdna3", "gfx1150", 605}, Subject{"rdna4", "gfx1170", 560},
                                         Subject{"rdna4", "gfx1200", 590}),
                         [](const auto& info) { return fmt::format("{}_{}", info.param.guide, info.param.processor); });

}  // namespace
}  // namespace Atoll::semantics::test
