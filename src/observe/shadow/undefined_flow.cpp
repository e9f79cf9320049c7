// observe: reads the shadow of an instruction's operands per lane, applies the transfer function, and writes the
// result.
#include "observe/shadow/undefined_flow.h"

#include <bit>
#include <span>

#include "isa/effects.h"
#include "isa/element_type.h"
#include "isa/table.h"
#include "isa/unit.h"
#include "observe/shadow/undefined_bits.h"
#include "semantics/lanes/lane_movement.h"

namespace Atoll::observe {

namespace {

using isa::DataType;
using isa::Encoding;
using isa::Instruction;
using isa::Opcode;
using isa::Operand;
using isa::OperandKind;
using isa::Operation;

using Row = RegisterShadow::Row;

bool is_vector(const Operand& operand) {
  return operand.kind == OperandKind::vgpr || operand.kind == OperandKind::agpr;
}

bool is_packed_half(DataType type) {
  switch (type) {
    case DataType::v2i16:
    case DataType::v2u16:
    case DataType::v2f16:
    case DataType::v2bf16:
      return true;
    default:
      return false;
  }
}

bool is_packed_word(DataType type) { return type == DataType::v2b32 || type == DataType::v2f32; }

/// True if the result does not depend on the register's value when both sources are the same register.
bool cancels(const isa::InstructionRow& row) {
  if (isa::is_float(isa::element_type(row))) return false;
  switch (row.computes.operation) {
    case Operation::bit_xor:
    case Operation::bit_and_not:
    case Operation::sub:
      return true;
    default:
      return false;
  }
}

const machine::Row* value_row(const machine::Wave& wave, const Operand& operand, unsigned word) {
  const bool is_agpr = operand.kind == OperandKind::agpr;
  const unsigned reg = operand.reg + word;
  if (reg >= (is_agpr ? wave.agprs : wave.vgprs)) return nullptr;
  return (is_agpr ? wave.agpr : wave.vgpr) + reg;
}

class Flow {
 public:
  Flow(const machine::Wave& wave, const Instruction& instruction, RegisterShadow& registers)
      : wave_(wave), in_(instruction), row_(isa::row_of(instruction)), registers_(registers) {}

  std::optional<UndefinedLanes> run() {
    if (isa::is_scalar_alu(in_.encoding)) {
      scalar();
    } else {
      vector();
    }
    if (exec_.lanes == 0) return std::nullopt;
    return exec_;
  }

 private:
  // --- Scalars ------------------------------------------------------------------------------------------------------

  Bits scalar_bits(const Operand& operand) {
    Bits bits;
    switch (operand.kind) {
      case OperandKind::scalar:
        for (unsigned word = 0; word < 2 && word < operand.words; ++word) {
          if (operand.reg + word >= isa::scalar::count) break;
          const uint32_t undefined = registers_.scalar(operand.reg + word);
          bits.value |= uint64_t{wave_.scalar[operand.reg + word]} << (32 * word);
          bits.undefined |= uint64_t{undefined} << (32 * word);
          if (undefined != 0 && origin_ == 0) origin_ = registers_.scalar_origin(operand.reg + word);
        }
        break;
      case OperandKind::constant:
        bits.value = operand.value;
        break;
      case OperandKind::scc:
        bits = scc_bits();
        break;
      default:
        break;
    }
    return bits;
  }
  Bits scc_bits() {
    if (registers_.scc_undefined() && origin_ == 0) origin_ = registers_.scc_origin();
    return {wave_.scc, registers_.scc_undefined()};
  }

  void write_exec(uint64_t undefined) {
    const uint64_t lanes = wave_.is_wave32() ? undefined & 0xFFFF'FFFF : undefined;
    if (lanes != 0) exec_ = {lanes, origin_};
  }

  void set_scalar_result(const Operand& result, uint64_t undefined) {
    if (result.kind != OperandKind::scalar) return;
    if (result.reg == isa::scalar::exec_lo || result.reg == isa::scalar::exec_hi) {
      if (wave_.is_wave32() && result.reg == isa::scalar::exec_hi) return;
      write_exec(result.reg == isa::scalar::exec_hi ? undefined << 32 : undefined);
      return;
    }
    for (unsigned word = 0; word < result.words; ++word) {
      registers_.set_scalar(result.reg + word, word < 2 ? static_cast<uint32_t>(undefined >> (32 * word)) : 0, origin_);
    }
  }

  void scalar() {
    if (row_.has(isa::flag::indexed_source | isa::flag::indexed_result)) {
      define_results(wave_, in_, registers_);
      if (row_.has(isa::flag::indexed_result) && in_.operands[0].kind == OperandKind::scalar) {
        registers_.define_scalars(in_.operands[0].reg + wave_.scalar[isa::scalar::m0] % isa::scalar::count,
                                  in_.operands[0].words);
      }
      return;
    }
    std::array<Bits, 8> sources{};
    unsigned count = 0;
    // The old result is the first source, as in s_addk_i32.
    if (row_.has(isa::flag::reads_dst) && in_.destinations != 0) sources[count++] = scalar_bits(in_.dst());
    for (unsigned i = in_.destinations; i < in_.operand_count && count < sources.size(); ++i) {
      sources[count++] = scalar_bits(in_.operands[i]);
    }
    if (row_.computes.exec != isa::ExecUse::no_exec) {
      const std::array<Bits, 2> both{sources[0], Bits{wave_.exec(), 0}};
      const ShadowTransfer result = transfer_function(row_, both, wave_.wave_size, {});
      write_exec(result.undefined);
      if (in_.destinations != 0) registers_.define(in_.dst());
      registers_.set_scc(false, 0);
      return;
    }
    const Bits scc = row_.has(isa::flag::scc_in) ? scc_bits() : Bits{};
    const Operand* const result = in_.destinations != 0 ? &in_.operands[0] : nullptr;
    const unsigned result_bits = result == nullptr ? 32 : std::min<unsigned>(64, 32u * result->words);
    bool any = scc.undefined != 0;
    for (unsigned i = 0; i < count; ++i) any |= sources[i].undefined != 0;
    ShadowTransfer follows;
    const bool same = count == 2 && in_.sources() == 2 && in_.src(0).kind == OperandKind::scalar &&
                      in_.src(1).kind == OperandKind::scalar && in_.src(0).reg == in_.src(1).reg;
    if (any && !(same && cancels(row_))) {
      follows = transfer_function(row_, std::span(sources.data(), count), result_bits, scc);
    }
    if (result != nullptr) set_scalar_result(*result, follows.undefined);
    if (row_.has(isa::flag::scc_out)) registers_.set_scc(follows.flag_undefined, origin_);
  }

  // --- Vectors ------------------------------------------------------------------------------------------------------

  /// Returns how far M0 shifts an operand's register index: v_movrel* and GFX9's indexing mode.
  unsigned shift_of(bool is_result, unsigned source) const {
    const uint32_t m0 = wave_.scalar[isa::scalar::m0];
    if (row_.has(isa::flag::indexed_source | isa::flag::indexed_result)) {
      return row_.has(is_result ? isa::flag::indexed_result : isa::flag::indexed_source) ? m0 & 0xFF : 0;
    }
    constexpr unsigned indexing = 27;  // MODE.GPR_IDX_EN
    if ((wave_.mode >> indexing & 1) == 0 || in_.generation >= target::Generation::gfx10) return 0;
    const unsigned bit = is_result ? 15 : 12 + source;
    return (m0 >> bit & 1) != 0 ? m0 & 0xFF : 0;
  }

  /// A source operand, prepared for per-lane access.
  struct Source {
    Operand operand;
    bool is_undefined = false;
    const Row* undefined[2]{};
    const machine::Row* values[2]{};
    Bits scalar;  ///< uniform sources; for a mask, all its bits
    bool is_mask = false;
    Row moved[2];
    machine::Row moved_values[2];
  };

  void prepare(Source& source, const Operand& operand, unsigned shift) {
    source.operand = operand;
    source.operand.reg = static_cast<uint16_t>(operand.reg + shift);
    source.is_mask = operand.type == DataType::lane_mask;
    if (!is_vector(operand)) {
      if (source.is_mask && operand.kind == OperandKind::scalar) {
        source.scalar = {wave_.mask(operand.reg), registers_.mask(wave_, operand.reg)};
        if (source.scalar.undefined != 0 && origin_ == 0) {
          origin_ = registers_.scalar_origin(operand.reg + (registers_.scalar(operand.reg) == 0 ? 1 : 0));
        }
      } else {
        source.scalar = scalar_bits(operand);
      }
      source.is_undefined = source.scalar.undefined != 0;
      return;
    }
    for (unsigned word = 0; word < std::min<unsigned>(operand.words, 2); ++word) {
      const size_t index = registers_.index(source.operand, word);
      if (registers_.is_undefined(index)) {
        source.undefined[word] = &registers_.row(index);
        source.is_undefined = true;
        if (origin_ == 0) origin_ = registers_.origin(index);
      }
      source.values[word] = value_row(wave_, source.operand, word);
    }
  }

  /// Applies DPP to the first source and returns the lanes that are written.
  uint64_t move(Source& source, uint64_t exec) {
    const auto dpp = semantics::dpp_move(in_.extension, in_.dpp);
    if (!dpp || !is_vector(source.operand)) return exec;
    uint64_t valid = dpp->map.in_range;
    if (!dpp->fetch_inactive) {
      uint64_t from_active = 0;
      for (unsigned lane = 0; lane < 64; ++lane) from_active |= (exec >> dpp->map.from[lane] & 1) << lane;
      valid &= from_active;
    }
    for (unsigned word = 0; word < 2; ++word) {
      if (source.undefined[word] != nullptr) {
        for (unsigned lane = 0; lane < 64; ++lane) {
          source.moved[word][lane] = (valid >> lane & 1) != 0 ? (*source.undefined[word])[dpp->map.from[lane]] : 0;
        }
        source.undefined[word] = &source.moved[word];
      }
      if (source.values[word] != nullptr) {
        for (unsigned lane = 0; lane < 64; ++lane) {
          source.moved_values[word][lane] = (valid >> lane & 1) != 0 ? (*source.values[word])[dpp->map.from[lane]] : 0;
        }
        source.values[word] = &source.moved_values[word];
      }
    }
    return exec & dpp->enabled & (dpp->zero_invalid ? ~uint64_t{0} : valid);
  }

  static Bits whole(const Source& source, unsigned lane) {
    if (source.is_mask) return {source.scalar.value >> lane & 1, source.scalar.undefined >> lane & 1};
    if (!is_vector(source.operand)) return source.scalar;
    Bits bits;
    for (unsigned word = 0; word < 2; ++word) {
      if (source.undefined[word] != nullptr) bits.undefined |= uint64_t{(*source.undefined[word])[lane]} << (32 * word);
      if (source.values[word] != nullptr) bits.value |= uint64_t{(*source.values[word])[lane]} << (32 * word);
    }
    return bits;
  }

  Bits part(const Source& source, unsigned lane) const {
    Bits bits = whole(source, lane);
    const Operand& operand = source.operand;
    if (source.is_mask || operand.kind == OperandKind::constant) return bits;
    unsigned first = 0, count = 64;
    if (row_.has(isa::flag::mix)) {
      if (operand.op_sel_hi) first = operand.op_sel ? 16 : 0, count = 16;
    } else if (is_half(operand.type)) {
      first = operand.op_sel ? 16 : 0;
      count = 16;
    }
    switch (operand.sdwa) {
      case isa::SdwaSelect::byte_0:
      case isa::SdwaSelect::byte_1:
      case isa::SdwaSelect::byte_2:
      case isa::SdwaSelect::byte_3:
        first = 8 * (static_cast<unsigned>(operand.sdwa) - static_cast<unsigned>(isa::SdwaSelect::byte_0));
        count = 8;
        break;
      case isa::SdwaSelect::word_0:
      case isa::SdwaSelect::word_1:
        first = operand.sdwa == isa::SdwaSelect::word_1 ? 16 : 0;
        count = 16;
        break;
      case isa::SdwaSelect::dword:
        break;
    }
    if (count == 64) return bits;
    const uint64_t mask = (uint64_t{1} << count) - 1;
    bits = {bits.value >> first & mask, bits.undefined >> first & mask};
    if (operand.sext && (bits.undefined >> (count - 1) & 1) != 0) bits.undefined |= 0xFFFF'FFFF & ~mask;
    if (operand.sext && (bits.value >> (count - 1) & 1) != 0) bits.value |= 0xFFFF'FFFF & ~mask;
    return bits;
  }

  /// Evaluates two packed values.
  uint64_t packed(std::span<const Source> sources, unsigned lane) const {
    const bool are_words = is_packed_word(in_.operands[0].type);
    const unsigned width = are_words ? 32 : 16;
    const uint64_t mask = (uint64_t{1} << width) - 1;
    uint64_t result = 0;
    for (unsigned half = 0; half < 2; ++half) {
      uint64_t any = 0;
      for (const Source& source : sources) {
        const Operand& operand = source.operand;
        if (operand.kind == OperandKind::constant) continue;
        const bool is_high = half == 0 ? operand.op_sel : operand.op_sel_hi;
        any |= whole(source, lane).undefined >> (is_high ? width : 0) & mask;
      }
      if (any != 0) result |= mask << (half * width);
    }
    return result;
  }

  struct Result {
    Row rows[2]{};
    uint64_t flags = 0;
    bool any = false;  ///< the row has an uninitialized bit
  };

  /// Merges a lane's result into the old row.
  uint32_t merged(const Operand& result, uint32_t old, uint32_t undefined) const {
    if (in_.extension == isa::Extension::sdwa && in_.dst_sel != isa::SdwaSelect::dword) {
      const auto select = static_cast<unsigned>(in_.dst_sel);
      const bool is_byte = select < static_cast<unsigned>(isa::SdwaSelect::word_0);
      const unsigned first = is_byte ? 8 * select : 16 * (select - static_cast<unsigned>(isa::SdwaSelect::word_0));
      const uint32_t mask = (is_byte ? 0xFFu : 0xFFFFu) << first;
      const uint32_t rest = in_.dst_unused == isa::SdwaUnused::preserve ? old & ~mask : 0;
      return (undefined << first & mask) | rest;
    }
    const bool is_high = in_.op_sel_dst || (result.half && result.op_sel);
    if (!is_half(result.type)) {
      if (row_.has(isa::flag::mix) && row_.computes.part == isa::Part::high_half) {
        return (old & 0xFFFF) | (undefined & 0xFFFF) << 16;
      }
      return undefined;
    }
    if (is_high) return (old & 0xFFFF) | (undefined & 0xFFFF) << 16;
    const bool keeps = result.half || in_.generation >= target::Generation::gfx10;
    return keeps ? (old & 0xFFFF0000) | (undefined & 0xFFFF) : undefined & 0xFFFF;
  }

  /// Evaluates one instruction, or half of a VOPD; results are written later.
  void evaluate(const isa::InstructionRow& row, std::span<const Operand> results, std::span<const Operand> operands,
                Result& out, uint64_t& lanes) {
    std::array<Source, 5> sources;
    unsigned count = 0;
    bool any = false;
    for (const Operand& operand : operands) {
      if (count == sources.size()) break;
      prepare(sources[count], operand, shift_of(false, count));
      any |= sources[count++].is_undefined;
    }
    if (in_.extension == isa::Extension::dpp16 || in_.extension == isa::Extension::dpp8) {
      if (count != 0) lanes = move(sources[0], lanes);
    }
    // The old result is the last source, as an accumulator.
    if (row.has(isa::flag::reads_dst) && count < sources.size() && !results.empty()) {
      prepare(sources[count], results[0], shift_of(true, 0));
      any |= sources[count++].is_undefined;
    }
    if (!any) return;
    if (operands.size() == 2 && cancels(row) && is_vector(operands[0]) && operands[0].kind == operands[1].kind &&
        operands[0].reg == operands[1].reg && in_.extension == isa::Extension::none) {
      return;
    }
    const bool packs_words = row.computes.operation == Operation::pack_low_low && is_packed_word(row.operands[0].type);
    const bool is_packed = !results.empty() && in_.encoding == Encoding::vop3p && !packs_words &&
                           (is_packed_half(results[0].type) || is_packed_word(results[0].type));
    const unsigned bits = results.empty() ? 32 : is_half(results[0].type) ? 16 : std::min(64u, 32u * results[0].words);
    const unsigned result_bits = !results.empty() && results[0].type == DataType::lane_mask ? 1 : std::max(bits, 1u);
    for (uint64_t left = lanes; left != 0; left &= left - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(left));
      std::array<Bits, 5> values;
      uint64_t undefined = 0;
      for (unsigned i = 0; i < count; ++i) {
        values[i] = part(sources[i], lane);
        undefined |= values[i].undefined;
      }
      if (undefined == 0 && !is_packed) continue;
      ShadowTransfer follows;
      if (is_packed) {
        follows.undefined = packed(std::span(sources.data(), count), lane);
      } else if (packs_words) {
        follows.undefined = (values[0].undefined >> (sources[0].operand.op_sel ? 32 : 0) & 0xFFFF'FFFF) |
                            (values[1].undefined >> (sources[1].operand.op_sel_hi ? 32 : 0)) << 32;
      } else {
        follows = transfer_function(row, std::span(values.data(), count), result_bits, {});
      }
      out.rows[0][lane] = static_cast<uint32_t>(follows.undefined);
      out.rows[1][lane] = static_cast<uint32_t>(follows.undefined >> 32);
      out.flags |= uint64_t{follows.flag_undefined} << lane;
      out.any |= follows.undefined != 0;
    }
  }

  void write(std::span<const Operand> results, const Result& out, uint64_t lanes) {
    for (const Operand& named : results) {
      if (named.kind == OperandKind::scalar && named.type == DataType::lane_mask) {
        if (named.reg == isa::scalar::exec_lo) {
          write_exec(out.flags);
        } else {
          registers_.set_mask(wave_, named.reg, out.flags, origin_);
        }
        continue;
      }
      if (named.kind == OperandKind::scalar) {  // uniform
        const unsigned lane = wave_.exec() == 0 ? 0 : static_cast<unsigned>(std::countr_zero(wave_.exec()));
        set_scalar_result(named, out.rows[0][lane] | uint64_t{out.rows[1][lane]} << 32);
        continue;
      }
      if (!is_vector(named)) continue;
      Operand result = named;
      result.reg = static_cast<uint16_t>(named.reg + shift_of(true, 0));
      for (unsigned word = 0; word < result.words; ++word) {
        const size_t index = registers_.index(result, word);
        if (!registers_.has(index)) continue;
        if (!out.any && !is_half(result.type) && in_.extension != isa::Extension::sdwa) {
          registers_.define_row(index, lanes);
          continue;
        }
        if (!out.any && !registers_.is_undefined(index)) continue;
        Row row;
        for (unsigned lane = 0; lane < 64; ++lane) {
          row[lane] = merged(result, registers_.row(index)[lane], out.rows[std::min(word, 1u)][lane]);
        }
        registers_.set_row(index, lanes, row, out.any ? origin_ : registers_.origin(index));
      }
    }
  }

  /// Permutes one register's lanes.
  void permute(const semantics::DppMove& move) {
    const Operand& source = in_.src(0);
    const uint64_t exec = wave_.exec();
    uint64_t valid = move.map.in_range;
    for (unsigned lane = 0; lane < 64; ++lane) {
      if (!move.fetch_inactive && (exec >> move.map.from[lane] & 1) == 0) valid &= ~(uint64_t{1} << lane);
    }
    Row row{};
    for (unsigned lane = 0; lane < 64; ++lane) {
      if ((valid >> lane & 1) != 0) row[lane] = registers_.word(source, 0, move.map.from[lane]);
    }
    const uint64_t lanes = exec & (move.zero_invalid ? ~uint64_t{0} : valid);
    registers_.set_row(registers_.index(in_.dst(), 0), lanes, row, registers_.origin_of(source));
  }

  /// Handles movements between lanes and scalars, and other moves. Returns false for other instructions.
  bool movement() {
    const uint64_t exec = wave_.exec();
    switch (row_.computes.operation) {
      case Operation::read_first_lane: {
        const unsigned lane = exec == 0 ? 0 : static_cast<unsigned>(std::countr_zero(exec));
        origin_ = registers_.origin_of(in_.src(0));
        set_scalar_result(in_.dst(), registers_.word(in_.src(0), 0, lane));
        return true;
      }
      case Operation::read_lane: {
        const Bits select = scalar_bits(in_.src(1));
        if ((select.undefined & 63) == 0) origin_ = registers_.origin_of(in_.src(0));
        const uint32_t undefined = (select.undefined & 63) != 0
                                       ? UINT32_MAX
                                       : registers_.word(in_.src(0), 0, select.value & (wave_.wave_size - 1u));
        set_scalar_result(in_.dst(), undefined);
        return true;
      }
      case Operation::write_lane: {
        const Bits value = scalar_bits(in_.src(0));
        const Bits select = scalar_bits(in_.src(1));
        registers_.set_word(in_.dst(), 0, select.value & (wave_.wave_size - 1u), static_cast<uint32_t>(value.undefined),
                            origin_);
        return true;
      }
      case Operation::swap: {
        if (row_.has(isa::flag::indexed_source) || is_half(row_.operands[0].type)) return false;
        const Operand &a = in_.operands[0], &b = in_.operands[1];
        const size_t first = registers_.index(a, 0), second = registers_.index(b, 0);
        if (!registers_.is_undefined(first) && !registers_.is_undefined(second)) return true;
        if (!registers_.has(first) || !registers_.has(second)) return true;
        const Row row = registers_.row(first);
        const uint32_t origin = registers_.origin(first);
        registers_.set_row(first, exec, registers_.row(second), registers_.origin(second));
        registers_.set_row(second, exec, row, origin);
        return true;
      }
      case Operation::permute_row:
      case Operation::permute_other_row: {
        const bool is_other = row_.computes.operation == Operation::permute_other_row;
        const uint64_t selects = (scalar_bits(in_.src(1)).value & 0xFFFF'FFFF) | scalar_bits(in_.src(2)).value << 32;
        permute(semantics::permlane16_move(selects, is_other, in_.src(0).op_sel, in_.src(1).op_sel));
        return true;
      }
      case Operation::exchange_wave_halves:
        if (!wave_.is_wave32()) {
          permute(semantics::permlane64_move());
          return true;
        }
        return false;
      default:
        return false;
    }
  }

  void matrix() {
    for (unsigned i = in_.destinations; i < in_.operand_count; ++i) {
      switch (row_.operands[i].field) {
        case isa::Field::matrix_acc_f32:
        case isa::Field::matrix_acc_f64:
        case isa::Field::matrix_acc_i32:
        case isa::Field::wmma_acc:
        case isa::Field::wmma_acc_f16:
          break;
        default:
          continue;
      }
      const Operand &from = in_.operands[i], &to = in_.dst();
      for (unsigned word = 0; word < to.words; ++word) {
        const size_t index = registers_.index(to, word);
        if (!is_vector(from) || word >= from.words || !registers_.is_undefined(registers_.index(from, word))) {
          registers_.define_row(index, ~uint64_t{0});
        } else {
          const size_t source = registers_.index(from, word);
          const Row row = registers_.row(source);
          registers_.set_row(index, ~uint64_t{0}, row, registers_.origin(source));
        }
      }
      return;
    }
    if (!row_.has(isa::flag::reads_dst)) define_results(wave_, in_, registers_);
  }

  /// True if register indices are those encoded and the lanes are those of EXEC.
  bool is_simple() const {
    constexpr unsigned indexing = 27;  // MODE.GPR_IDX_EN
    return in_.second == Opcode::invalid && in_.extension != isa::Extension::dpp16 &&
           in_.extension != isa::Extension::dpp8 && (wave_.mode >> indexing & 1) == 0 &&
           !row_.has(isa::flag::indexed_source | isa::flag::indexed_result);
  }
  /// Returns whether all sources are initialized, including preserved parts of the result.
  bool all_written(std::span<const Operand> operands) const {
    const bool keeps = row_.has(isa::flag::reads_dst) || in_.extension == isa::Extension::sdwa ||
                       (in_.destinations != 0 && is_half(operands[0].type));
    for (size_t i = keeps ? 0 : in_.destinations; i < operands.size(); ++i) {
      const Operand& operand = operands[i];
      if (operand.kind == OperandKind::scalar) {
        if (i >= in_.destinations && registers_.scalars_undefined(operand.reg, operand.words)) return false;
      } else if (is_vector(operand)) {
        for (unsigned word = 0; word < operand.words; ++word) {
          if (registers_.is_undefined(registers_.index(operand, word))) return false;
        }
      } else if (operand.kind == OperandKind::scc && registers_.scc_undefined()) {
        return false;
      }
    }
    return true;
  }
  void define_all(std::span<const Operand> results, uint64_t lanes) {
    for (const Operand& result : results) registers_.define(result, lanes);
  }

  void vector() {
    switch (in_.encoding) {
      case Encoding::vop1:
      case Encoding::vop2:
      case Encoding::vopc:
      case Encoding::vop3:
      case Encoding::vop3p:
      case Encoding::vopd:
        break;
      default:
        return define_results(wave_, in_, registers_);
    }
    if (row_.has(isa::flag::matrix | isa::flag::wmma | isa::flag::sparse)) return matrix();
    if (movement()) return;
    if (row_.has(isa::flag::permlane | isa::flag::byte_source | isa::flag::scale_select)) {
      return define_results(wave_, in_, registers_);
    }
    uint64_t lanes = row_.has(isa::flag::ignores_exec) ? ~uint64_t{0} : wave_.exec();
    const std::span all(in_.operands.data(), in_.operand_count);
    if (is_simple() && all_written(all)) return define_all(all.first(in_.destinations), lanes);
    if (in_.second != Opcode::invalid) {
      const unsigned middle = in_.second_operands;
      Result first, second;
      const isa::InstructionRow& second_row = isa::row_on(in_.second, in_.generation);
      evaluate(row_, all.first(1), all.subspan(1, middle - 1), first, lanes);
      evaluate(second_row, all.subspan(middle, 1), all.subspan(middle + 1), second, lanes);
      write(all.first(1), first, lanes);
      write(all.subspan(middle, 1), second, lanes);
      return;
    }
    Result result;
    evaluate(row_, all.first(in_.destinations), all.subspan(in_.destinations), result, lanes);
    write(all.first(in_.destinations), result, lanes);
    if (row_.has(isa::flag::exec_out)) write_exec(result.flags);
  }

  const machine::Wave& wave_;
  const Instruction& in_;
  const isa::InstructionRow& row_;
  RegisterShadow& registers_;
  uint32_t origin_ = 0;
  UndefinedLanes exec_;
};

}  // namespace

std::optional<UndefinedLanes> follow(const machine::Wave& wave, const Instruction& instruction,
                                     RegisterShadow& registers) {
  return Flow(wave, instruction, registers).run();
}

void define_results(const machine::Wave& wave, const Instruction& instruction, RegisterShadow& registers) {
  for (unsigned i = 0; i < instruction.destinations; ++i) registers.define(instruction.operands[i], wave.exec());
  if (instruction.second != Opcode::invalid) {
    registers.define(instruction.operands[instruction.second_operands], wave.exec());
  }
  const isa::InstructionRow& row = isa::row_of(instruction);
  if (row.has(isa::flag::scc_out)) registers.define_scc();
  if (row.has(isa::flag::writes_m0)) registers.define_scalars(isa::scalar::m0, 1);
}

bool moves_between_lanes(Opcode opcode) {
  switch (isa::row(opcode).computes.operation) {
    case Operation::lanes_swizzle:
    case Operation::lanes_push:
    case Operation::lanes_pull:
      return true;
    default:
      return false;
  }
}

void move_between_lanes(const machine::Wave& wave, const Instruction& instruction, RegisterShadow& registers) {
  const uint64_t exec = wave.exec();
  const Operand& result = instruction.dst();
  const Operation operation = isa::row(instruction.opcode).computes.operation;
  const bool is_swizzle = operation == Operation::lanes_swizzle;
  const Operand& data = instruction.src(is_swizzle ? 0 : 1);
  const Operand& address = instruction.src(0);
  Row row{};
  uint32_t origin = registers.origin_of(data);
  const machine::Row* const addresses = is_swizzle ? nullptr : value_row(wave, address, 0);
  if (is_swizzle) {
    const semantics::LaneMap map = semantics::swizzle_map(static_cast<uint16_t>(instruction.offset));
    for (unsigned lane = 0; lane < 64; ++lane) {
      const unsigned from = map.from[lane];
      if ((map.in_range >> lane & 1) != 0 && (exec >> from & 1) != 0) row[lane] = registers.word(data, 0, from);
    }
  } else if (addresses != nullptr) {
    const unsigned reach = wave.wave_size - 1u;
    for (unsigned lane = 0; lane < 64; ++lane) {
      if ((exec >> lane & 1) == 0) continue;
      const unsigned other = ((*addresses)[lane] + static_cast<uint32_t>(instruction.offset)) / 4 & reach;
      if (operation == Operation::lanes_push) {
        row[other] = registers.word(data, 0, lane);
      } else if ((exec >> other & 1) != 0) {
        row[lane] = registers.word(data, 0, other);
      } else {
        row[lane] = UINT32_MAX;
        if (!origin::is_inactive(origin)) origin = origin::inactive(other);
      }
      if (registers.word(address, 0, lane) != 0 && operation == Operation::lanes_pull) {
        row[lane] = UINT32_MAX;
        origin = registers.origin_of(address);
      }
    }
  }
  registers.set_row(registers.index(result, 0), exec, row, origin);
}

}  // namespace Atoll::observe
