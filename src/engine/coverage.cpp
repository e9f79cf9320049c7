// engine: see coverage.h.
//
// An instruction is known by one that can be decoded: fields of its encoding get values that operands usually have, in
// many combinations, until the decoder takes them for it.
#include "engine/coverage.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string_view>

#include "engine/interpreter/prepare.h"
#include "engine/target_code.h"
#include "isa/format.h"
#include "isa/opcode_map.h"
#include "target/executed.h"
#include "target/target.h"

namespace Atoll::engine {

namespace {

using isa::Bits;
using isa::Encoding;
using isa::Format;
using isa::InstructionRow;
using isa::Opcode;
using target::Generation;
namespace flag = isa::flag;

using Words = std::array<uint32_t, 5>;

class InstanceMaker {
 public:
  InstanceMaker(const target::Processor& processor, const Format& format, uint32_t value, Opcode opcode)
      : generation_(processor.generation),
        format_(format),
        value_(value),
        is_ray_(isa::row(opcode).has(flag::ray)),
        is_tensor_(isa::row(opcode).has(flag::tensor)),
        random_(static_cast<uint32_t>(opcode) + 1) {}

  /// In the first turn all fields are zero, but those of an instruction with rays, which has but one form.
  Words make(unsigned turn) {
    words_ = {};
    if (turn > 0) fill();
    if (format_.encoding == Encoding::vop3p && turn % 2 == 1) {
      // As packed instructions usually have it; matrix instructions of GFX9 use these bits otherwise.
      put(Bits::op_sel, 0);
      put(Bits::op_sel_hi, 3);
      put(Bits::op_sel_hi2, 1);
      put(Bits::abs, 0);
    }
    if (is_ray_ && turn % 2 == 0) {
      put(Bits::dmask, 0xF);
      put(Bits::unorm, 1);
      put(Bits::r128, 1);
    }
    if (is_tensor_) put_tensor();
    put(Bits::opcode, value_);
    put(Bits::opcode_high, value_ >> format_.at(Bits::opcode).count);
    const unsigned rest = 32u - format_.prefix_bits;
    words_[0] = (words_[0] & ((uint32_t{1} << rest) - 1)) | static_cast<uint32_t>(format_.prefix) << rest;
    const bool first = format_.encoding == Encoding::flat || format_.encoding == Encoding::mubuf;
    const bool second = format_.encoding == Encoding::scratch || format_.encoding == Encoding::mtbuf;
    put(Bits::segment, first ? 0 : second ? 1 : 2);
    return words_;
  }

 private:
  void put(Bits field, uint32_t value) {
    const isa::BitRange range = format_.at(field);
    if (range.count == 0) return;
    const auto mask = static_cast<uint32_t>((uint64_t{1} << range.count) - 1);
    uint32_t& word = words_[range.low / 32];
    word = (word & ~(mask << range.low % 32)) | (value & mask) << range.low % 32;
  }

  /// The one form of copies of tensors: the first two groups of a descriptor.
  void put_tensor() {
    constexpr uint32_t null = 0x7C;
    words_ = {};
    put(Bits::dmask, 1);
    put(Bits::dim, 1);
    for (const Bits group : {Bits::address2, Bits::address3, Bits::address4}) put(group, null);
  }

  uint32_t any(std::initializer_list<uint32_t> values) { return values.begin()[random_() % values.size()]; }

  void fill() {
    constexpr uint32_t vgpr = 256, none = 0x7F, zero = 0x80;
    const uint32_t null = generation_ >= Generation::gfx11 ? 0x7C : 0x7D;
    for (unsigned i = 0; i < static_cast<unsigned>(Bits::count); ++i) {
      const auto field = static_cast<Bits>(i);
      if (!format_.has(field) || field == Bits::zero) continue;
      const isa::BitRange range = format_.at(field);
      const auto all = static_cast<uint32_t>((uint64_t{1} << range.count) - 1);
      switch (field) {
        case Bits::sdst:
        case Bits::sdata:
        case Bits::sbase:
          put(field, any({0, 2, 4}));
          break;
        case Bits::saddr:
          put(field, any({none, null, 0, 4}));
          break;
        case Bits::soffset:
          put(field, any({zero, null, 0, none}));
          break;
        default:
          put(field, any({0, 0, 0, all, 1, 2, 4, 16}));
          break;
      }
    }
    // Last, as fields of graphics are in their places.
    for (const Bits field : {Bits::src0, Bits::src1, Bits::src2}) {
      put(field, any({0, vgpr, vgpr + 2, vgpr + 4, vgpr + 8, vgpr + 16, 4, zero, 0xF2}));
    }
  }

  Generation generation_;
  const Format& format_;
  uint32_t value_;
  bool is_ray_, is_tensor_;
  std::mt19937 random_;
  Words words_{};
};

bool is_prepared(const isa::Instruction& instruction, const target::Target& target) {
  CodeCache cache(target);
  const auto page = std::make_unique<CodePage>();
  OpMetadata origin{.pc = 0, .instruction = instruction};
  MicroOp op;
  return prepare_op(origin, op, *page, cache) != not_implemented;
}

std::span<const uint8_t> bytes_of(const Words& words) {
  return {reinterpret_cast<const uint8_t*>(words.data()), sizeof words};
}

/// Matrix instructions with scales: two words that load them stand before the two of the instruction. On GFX12.5 there
/// are two instructions that load scales.
Words with_scales(const Words& words, Generation generation, unsigned turn) {
  constexpr uint32_t vgpr_sources = 256 | 256 << 9;
  if (generation >= Generation::gfx12_5) {
    constexpr uint32_t load_scales = 0xCC350000, load_scales16 = 0xCC3A0000, third_vgpr = 256 << 18;
    return {turn / 2 % 2 == 0 ? load_scales : load_scales16, vgpr_sources | third_vgpr, words[0], words[1], 0};
  }
  constexpr uint32_t load_scales = 0xD3AC0000, scaled_bit = 0x800;
  return {load_scales, vgpr_sources, words[0] | scaled_bit, words[1], 0};
}

struct LeftOut {
  std::string_view name;  ///< with which the row's begins
  const char* reason;
};
constexpr LeftOut left_out[] = {
    {"v_interp_", "interpolation of graphics"},
    {"v_illegal", "never legal"},
    {"s_rfe_", "returns from the trap handler"},
    {"s_sendmsghalt", "graphics"},
    {"s_endpgm_ordered_ps_done", "pixel shaders"},
    {"ds_ordered_count", "global data share"},
    {"global_atomic_ordered_add_b64", "streamed output of graphics"},
    {"v_wmma_ld_scale", "scales that no matrix instruction follows"},
    {"v_swmmac_bf16f32_", "where the result goes is not published"},
    {"tensor_save", "state of copies, for a trap handler"},
    {"tensor_stop", "state of copies, for a trap handler"},
};

}  // namespace

bool executes(const target::Processor& processor) { return target::is_executed(processor); }

/// Calls `visit` with instructions of that opcode until it says that it has seen enough.
template <typename Visit>
void visit_instances(const target::Target& target, Opcode opcode, const Visit& visit) {
  const target::Processor& processor = *target.processor;
  const isa::OpcodeMap& map = isa::opcode_map_of(processor, target.wave_size);
  constexpr unsigned max_turns = 3000;
  for (const Format& format : isa::formats_of(processor.generation)) {
    const bool is_scaled = format.encoding == Encoding::vop3p && isa::row(opcode).has(flag::scaled);
    for (uint32_t value = 0; value < format.opcodes(); ++value) {
      bool is_here = map.at(format.encoding, value) == opcode;
      for (const auto& scaled : map.scaled) {
        is_here |= is_scaled && value < scaled.size() && scaled[value] == opcode;
      }
      if (!is_here) continue;
      InstanceMaker maker(processor, format, value, opcode);
      for (unsigned turn = 0; turn < max_turns; ++turn) {
        Words words = maker.make(turn);
        if (is_scaled) words = with_scales(words, processor.generation, turn);
        const auto instruction = decode(bytes_of(words), target);
        // Names of registers that there are not would be handled before the instruction is.
        if (!instruction || instruction->opcode != opcode || !registers_exist(*instruction)) continue;
        if (visit(*instruction)) return;
      }
    }
  }
}

std::optional<isa::Instruction> sample_instruction(const target::Processor& processor, Opcode opcode) {
  std::optional<isa::Instruction> sample;
  visit_instances(target::Target(processor), opcode, [&](const isa::Instruction& instruction) {
    sample = instruction;
    return true;
  });
  return sample;
}

bool executes(const target::Target& target, Opcode opcode) {
  if (!executes(*target.processor)) return false;
  constexpr unsigned enough_instances = 64;
  bool prepared = false;
  unsigned instances = 0;
  visit_instances(target, opcode, [&](const isa::Instruction& instruction) {
    prepared = is_prepared(instruction, target);
    return prepared || ++instances == enough_instances;
  });
  return prepared;
}

const char* reason_not_executed(const InstructionRow& row, const target::Target& target) {
  const bool is_gfx12 = target.processor->generation >= Generation::gfx12;
  if (target.processor->generation == Generation::gfx12 &&
      (row.name == "s_barrier_init" || row.name == "s_barrier_join" || row.name == "s_barrier_leave")) {
    return "barriers with names, which GFX12.5 has";
  }
  switch (row.encoding) {
    case Encoding::mimg:
      return row.has(flag::ray) && is_gfx12 ? "the layout of GFX12's nodes is not published" : nullptr;
    case Encoding::vsample:
      return nullptr;
    case Encoding::exp:
      return "exports of graphics";
    case Encoding::vintrp:
    case Encoding::ldsdir:
      return "interpolation of graphics";
    case Encoding::vinterp:
      return nullptr;
    default:
      break;
  }
  if (row.has(flag::gds_only) && !row.has(flag::gws) && row.encoding == Encoding::ds) return "global data share";
  if (row.name.starts_with("ds_bvh_stack_") && is_gfx12) return "the state of GFX12's stacks is not published";
  if (row.name.starts_with("global_load_tr_") && target.wave_size == 64) {
    return "how waves of 64 lanes share a matrix is not published";
  }
  const auto* named =
      std::ranges::find_if(left_out, [&](const LeftOut& one) { return row.name.starts_with(one.name); });
  return named != std::end(left_out) ? named->reason : nullptr;
}

}  // namespace Atoll::engine
