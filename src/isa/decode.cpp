// isa: the decoder.
//
// The first word's leading bits tell the encoding, a field of it the opcode. A Tables object, made once for each
// processor out of the instruction table, maps opcodes to rows; a row's operands name the fields to read. What
// the encodings of one generation share (which bit means what) is in Layout. Each step reads from a bounds-checked
// buffer and answers whether the bits mean something; the first that do not make the whole an error.
//
// Sources: the vendor's ISA guides, chapter "Microcode Formats"; the LLVM disassembler's decisions about fields that
// are not used (ignored or refused), as tests/isa observes them.
#include "isa/decode.h"

#include <array>
#include <atomic>
#include <bit>
#include <memory>

#include "isa/table.h"

namespace Atoll::isa {
namespace {

/// What the bits of an encoding mean on a processor, where it differs within a family.
struct Layout {
  bool accumulation_bit = false;  ///< memory instructions can name AGPRs; matrix destinations too
  bool even_tuples = false;       ///< VGPR tuples begin at an even register
  bool scc_bit = false;           ///< memory instructions have a third cache bit
  bool tfe_bit = false;
  bool gds_bit = false;
  bool flat_lds_bit = false;       ///< bit 13 of FLAT sends a load to LDS ...
  bool scratch_vaddr_bit = false;  ///< ... or says that SCRATCH uses vaddr
  bool fadd_returns = false;       ///< float atomics on global memory can return the old value
  bool wide_lds_loads = false;     ///< buffer loads of 3 and 4 words can go to LDS
  bool cache_levels = false;       ///< the cache bits of buffer_inv and buffer_wbl2 mean something
  bool row_newbcast = false;       ///< DPP controls 0x150 ...

  explicit Layout(const target::Processor& processor) {
    const bool unified = processor.has(target::Feature::gfx90a_insts);
    accumulation_bit = even_tuples = scc_bit = row_newbcast = unified;
    tfe_bit = gds_bit = !unified;
    scratch_vaddr_bit = processor.has(target::Feature::gfx940_insts);
    flat_lds_bit = !scratch_vaddr_bit;
    cache_levels = scratch_vaddr_bit;
    fadd_returns = processor.has(target::Feature::atomic_fadd_rtn_insts);
    wide_lds_loads = processor.has(target::Feature::gfx950_insts);
  }
};

constexpr unsigned vop1_in_vop3 = 0x140, vop2_in_vop3 = 0x100, vopc_in_vop3 = 0;  // GFX8, GFX9
constexpr unsigned vintrp_in_vop3 = 0x270;
constexpr unsigned vop3p_in_vop3 = 0x380;  // VOP3P's 9-bit prefix is VOP3's 6-bit prefix and 3 bits of its opcode

/// Opcode values to rows, for one processor.
struct Tables {
  template <size_t size>
  using Map = std::array<Opcode, size>;

  Layout layout;
  Map<0x80> sop2{}, sopc{}, sopp{}, flat{}, global{}, scratch{}, mubuf{}, mimg{}, vop3p{}, scaled{};
  Map<0x20> sopk{};
  Map<0x100> sop1{}, smem{}, vop1{}, vopc{}, ds{};
  Map<0x40> vop2{};
  Map<0x400> vop3{};
  Map<0x10> mtbuf{};
  Map<0x4> vintrp{};
  Map<1> exp{};

  explicit Tables(const target::Processor& processor) : layout(processor) {
    for (unsigned i = 1; i < static_cast<unsigned>(Opcode::count); ++i) {
      const auto opcode = static_cast<Opcode>(i);
      const InstructionRow& row = isa::row(opcode);
      const Opcodes::Change now = row.opcodes.on(processor.generation);
      if (now.opcode == Opcodes::none || !processor.has(row.feature)) continue;
      if (now.vop3_only) {
        vop3[now.opcode] = opcode;
      } else {
        place(opcode, row, now.opcode);
      }
    }
  }

 private:
  void place(Opcode opcode, const InstructionRow& row, unsigned value) {
    switch (row.encoding) {
      case Encoding::sop1:
        sop1[value] = opcode;
        break;
      case Encoding::sop2:
        sop2[value] = opcode;
        break;
      case Encoding::sopk:
        sopk[value] = opcode;
        break;
      case Encoding::sopc:
        sopc[value] = opcode;
        break;
      case Encoding::sopp:
        sopp[value] = opcode;
        break;
      case Encoding::smem:
        smem[value] = opcode;
        break;
      case Encoding::vop1:
        vop1[value] = opcode;
        break;
      case Encoding::vop2:
        vop2[value] = opcode;
        break;
      case Encoding::vopc:
        vopc[value] = opcode;
        break;
      case Encoding::vop3:
        vop3[value] = opcode;
        break;
      case Encoding::vop3p:
        (row.has(flag::scaled) ? scaled : vop3p)[value] = opcode;
        break;
      case Encoding::vintrp:
        vintrp[value] = opcode;
        break;
      case Encoding::ds:
        ds[value] = opcode;
        break;
      case Encoding::flat:
        flat[value] = opcode;
        break;
      case Encoding::global:
        global[value] = opcode;
        break;
      case Encoding::scratch:
        scratch[value] = opcode;
        break;
      case Encoding::mubuf:
        mubuf[value] = opcode;
        break;
      case Encoding::mtbuf:
        mtbuf[value] = opcode;
        break;
      case Encoding::mimg:
        mimg[value] = opcode;
        break;
      case Encoding::exp:
        exp[value] = opcode;
        break;
      case Encoding::vopd:
      case Encoding::vinterp:
      case Encoding::ldsdir:
        break;  // not before GFX11
    }
    if (!row.has(flag::vop3)) return;
    switch (row.encoding) {
      case Encoding::vop1:
        vop3[value + vop1_in_vop3] = opcode;
        break;
      case Encoding::vop2:
        vop3[value + vop2_in_vop3] = opcode;
        break;
      case Encoding::vopc:
        vop3[value + vopc_in_vop3] = opcode;
        break;
      case Encoding::vintrp:
        vop3[value + vintrp_in_vop3] = opcode;
        break;
      default:
        break;
    }
  }
};

/// The tables of a processor of target::processors(), made when it is first asked for.
const Tables& tables_of(const target::Processor& processor) {
  static std::array<std::atomic<const Tables*>, 128> made{};
  const auto all = target::processors();
  const target::Processor* known = &processor;
  if (known < all.data() || known >= all.data() + all.size()) known = target::find_processor(processor.name);
  auto& slot = made[static_cast<size_t>(known == nullptr ? 0 : known - all.data()) % made.size()];
  const Tables* tables = slot.load(std::memory_order_acquire);
  if (tables == nullptr) {
    auto fresh = std::make_unique<const Tables>(processor);
    if (slot.compare_exchange_strong(tables, fresh.get(), std::memory_order_acq_rel)) tables = fresh.release();
  }
  return *tables;
}

constexpr uint32_t bits(uint32_t word, unsigned low, unsigned count) { return word >> low & ((1u << count) - 1); }
constexpr bool bit(uint32_t word, unsigned index) { return (word >> index & 1) != 0; }

/// Codes of 8- and 9-bit source operands (ISA guide, "Scalar operands" and "Vector operand encoding"; GFX9).
namespace code {
constexpr unsigned last_sgpr = 101, flat_scratch = 102, xnack_mask = 104, vcc = 106, ttmp = 108, m0 = 124, null = 125,
                   exec = 126, zero = 128, plus_64 = 192, minus_16 = 208, shared_base = 235, pops_exiting_wave_id = 239,
                   float_first = 240, float_last = 248, sdwa = 249, dpp = 250, vccz = 251, execz = 252, scc = 253,
                   lds_direct = 254, literal = 255, vgpr = 256;
}

/// 0.5, -0.5, 1, -1, 2, -2, 4, -4, 1 / (2 pi): the inline floats in order of their codes.
constexpr std::array<uint16_t, 9> inline_f16{0x3800, 0xB800, 0x3C00, 0xBC00, 0x4000, 0xC000, 0x4400, 0xC400, 0x3118};
constexpr std::array<uint32_t, 9> inline_f32{0x3F000000, 0xBF000000, 0x3F800000, 0xBF800000, 0x40000000,
                                             0xC0000000, 0x40800000, 0xC0800000, 0x3E22F983};
constexpr std::array<uint64_t, 9> inline_f64{0x3FE0000000000000, 0xBFE0000000000000, 0x3FF0000000000000,
                                             0xBFF0000000000000, 0x4000000000000000, 0xC000000000000000,
                                             0x4010000000000000, 0xC010000000000000, 0x3FC45F306DC9C882};

uint64_t inline_float(unsigned index, DataType type) {
  switch (type) {
    case DataType::f16:
    case DataType::b16:
    case DataType::i16:
    case DataType::u16:
    case DataType::v2f16:
      return inline_f16[index];
    case DataType::bf16:
    case DataType::v2bf16:
      return inline_f32[index] >> 16;
    case DataType::f64:
    case DataType::b64:
    case DataType::i64:
    case DataType::u64:
      return inline_f64[index];
    default:
      return inline_f32[index];
  }
}

/// An integer constant as that type sees it: bit patterns for floats, sign-extended for signed integers.
uint64_t integer_constant(int64_t value, DataType type) {
  switch (type) {
    case DataType::f16:
    case DataType::bf16:
    case DataType::u16:
    case DataType::b16:
      return static_cast<uint16_t>(value);
    case DataType::i16:
    case DataType::i32:
    case DataType::f64:
    case DataType::b64:
    case DataType::i64:
    case DataType::u64:
      return static_cast<uint64_t>(value);
    default:
      return static_cast<uint32_t>(value);
  }
}

/// A 32-bit literal as that type sees it: the upper half of a double; extended by sign or zero to 64-bit integers.
uint64_t literal_constant(uint32_t value, DataType type) {
  switch (type) {
    case DataType::f16:
    case DataType::bf16:
    case DataType::u16:
    case DataType::b16:
      return static_cast<uint16_t>(value);
    case DataType::i16:
      return static_cast<uint64_t>(int64_t{static_cast<int16_t>(value)});
    case DataType::i32:
    case DataType::i64:
      return static_cast<uint64_t>(int64_t{static_cast<int32_t>(value)});
    case DataType::f64:
      return uint64_t{value} << 32;
    default:
      return value;
  }
}

class Decoder {
 public:
  Decoder(std::span<const uint8_t> bytes, const Tables& tables) : bytes_(bytes), tables_(tables) {}

  bool run();
  bool truncated() const { return truncated_; }
  const Instruction& result() const { return out_; }

 private:
  enum : uint8_t { no_literal = 0, with_literal = 1 };

  bool word_at(unsigned offset, uint32_t& word) {
    if (bytes_.size() < offset + 4) {
      truncated_ = true;
      return false;
    }
    word = bytes_[offset] | uint32_t{bytes_[offset + 1]} << 8 | uint32_t{bytes_[offset + 2]} << 16 |
           uint32_t{bytes_[offset + 3]} << 24;
    return true;
  }
  bool second_word() {
    out_.size = 8;
    return word_at(4, w1_);
  }

  bool begin(Opcode opcode, Encoding encoding) {
    if (opcode == Opcode::invalid) return false;
    out_.opcode = opcode;
    out_.encoding = encoding;
    row_ = &isa::row(opcode);
    return true;
  }

  // Registers and constants.
  bool vgpr(Operand& operand, unsigned index, unsigned words, bool accumulation = false) const {
    if (index + words > 256 || (tables_.layout.even_tuples && !accumulation && words > 1 && (index & 1) != 0))
      return false;
    operand.kind = accumulation ? OperandKind::agpr : OperandKind::vgpr;
    operand.reg = static_cast<uint16_t>(index);
    operand.words = static_cast<uint8_t>(words);
    return true;
  }
  static bool scalar_register(Operand& operand, unsigned number, unsigned words);
  bool scalar_source(Operand& operand, unsigned number, DataType type, bool literal_allowed);
  bool source(Operand& operand, unsigned number, DataType type, bool literal_allowed) {
    if (number >= code::vgpr) return vgpr(operand, number - code::vgpr, words_of(type));
    return scalar_source(operand, number, type, literal_allowed);
  }
  bool literal(Operand& operand, DataType type);
  static void vcc(Operand& operand) {
    operand.kind = OperandKind::scalar;
    operand.reg = scalar::vcc_lo;
    operand.words = 2;
  }
  static void immediate(Operand& operand, uint64_t value) {
    operand.kind = OperandKind::constant;
    operand.value = value;
  }

  // Encodings.
  bool sop2();
  bool vop1_or_vopc();
  bool vop2();
  bool vop3();
  bool vop3_modifiers();
  bool vop3p();
  bool vop3p_modifiers();
  bool matrix_modifiers();
  bool scaled_matrix();
  bool scale_modifiers();
  bool smem();
  bool ds();
  bool flat();
  bool buffer();
  bool cache_control();
  bool mimg();
  bool exp();
  bool extension();
  bool sdwa_word();
  bool dpp_word();

  /// Reads the row's operands.
  bool operands();
  bool operand(Operand& operand, Field field, DataType type);
  bool vector_operand(Operand& operand, Field field, DataType type);
  bool matrix_operand(Operand& operand, Field field, DataType type);
  bool scalar_operand(Operand& operand, Field field, DataType type);
  bool memory_operand(Operand& operand, Field field, DataType type);
  bool flat_operand(Operand& operand, Field field, DataType type);
  bool buffer_operand(Operand& operand, Field field, DataType type);
  bool image_operand(Operand& operand, Field field, DataType type);
  bool writes(Field field) const;

  std::span<const uint8_t> bytes_;
  const Tables& tables_;
  const InstructionRow* row_ = nullptr;
  uint32_t w0_ = 0, w1_ = 0;
  uint32_t scale0_ = 0, scale1_ = 0;  // the words before a scaled matrix instruction
  bool truncated_ = false;
  bool accumulation_ = false;  // data operands of a memory instruction are AGPRs
  Instruction out_;
};

bool Decoder::scalar_register(Operand& operand, unsigned number, unsigned words) {
  operand.kind = OperandKind::scalar;
  operand.words = static_cast<uint8_t>(words);
  const unsigned align = words >= 4 ? 4 : words;
  if (number <= code::last_sgpr) {
    // The low bits of a tuple's number are ignored. A tuple may reach over what the encoding names, up to s105.
    number &= ~(align - 1);
    operand.reg = static_cast<uint16_t>(scalar::s0 + number);
    return number + words <= scalar::vcc_lo;
  }
  if (number >= code::ttmp && number < code::m0) {
    const unsigned index = (number - code::ttmp) & ~(align - 1);
    operand.reg = static_cast<uint16_t>(scalar::ttmp0 + index);
    return index + words <= 16;
  }
  if (number == code::null) {
    operand.reg = scalar::null;
    return true;
  }
  if (words > 2 || (words == 2 && (number & 1) != 0)) return false;
  switch (number) {
    case code::flat_scratch:
    case code::flat_scratch + 1:
      operand.reg = static_cast<uint16_t>(scalar::flat_scratch_lo + (number - code::flat_scratch));
      return true;
    case code::xnack_mask:
    case code::xnack_mask + 1:
      operand.reg = static_cast<uint16_t>(scalar::xnack_mask_lo + (number - code::xnack_mask));
      return true;
    case code::vcc:
    case code::vcc + 1:
      operand.reg = static_cast<uint16_t>(scalar::vcc_lo + (number - code::vcc));
      return true;
    case code::m0:
      operand.reg = scalar::m0;
      return words == 1;
    case code::exec:
    case code::exec + 1:
      operand.reg = static_cast<uint16_t>(scalar::exec_lo + (number - code::exec));
      return true;
    default:
      return false;
  }
}

bool Decoder::literal(Operand& operand, DataType type) {
  uint32_t value = 0;
  if (!word_at(4, value)) return false;
  out_.size = 8;
  out_.extension = Extension::literal;
  out_.literal = value;
  immediate(operand, literal_constant(value, type));
  operand.is_literal = true;
  return true;
}

bool Decoder::scalar_source(Operand& operand, unsigned number, DataType type, bool literal_allowed) {
  if (number < code::zero) return scalar_register(operand, number, words_of(type));
  if (number <= code::plus_64) {
    immediate(operand, integer_constant(static_cast<int64_t>(number) - code::zero, type));
    return true;
  }
  if (number <= code::minus_16) {
    immediate(operand, integer_constant(int64_t{code::plus_64} - static_cast<int64_t>(number), type));
    return true;
  }
  if (number >= code::float_first && number <= code::float_last) {
    immediate(operand, inline_float(number - code::float_first, type));
    return true;
  }
  if (number >= code::shared_base && number <= code::pops_exiting_wave_id) {
    constexpr std::array kinds{OperandKind::shared_base, OperandKind::shared_limit, OperandKind::private_base,
                               OperandKind::private_limit, OperandKind::pops_exiting_wave_id};
    operand.kind = kinds[number - code::shared_base];
    return true;
  }
  switch (number) {
    case code::vccz:
      operand.kind = OperandKind::vccz;
      return true;
    case code::execz:
      operand.kind = OperandKind::execz;
      return true;
    case code::scc:
      operand.kind = OperandKind::scc;
      return true;
    case code::lds_direct:
      operand.kind = OperandKind::lds_direct;
      return words_of(type) == 1;
    case code::literal:
      return literal_allowed && literal(operand, type);
    default:
      return false;
  }
}

// --- Operands ---------------------------------------------------------------------------------------------------

bool Decoder::writes(Field field) const {
  switch (field) {
    case Field::vdst:
    case Field::agpr_dst:
    case Field::carry_out:
    case Field::cmp_dst:
    case Field::lane_dst:
    case Field::src0_dst:
    case Field::matrix_dst:
    case Field::sdst:
    case Field::ds_dst:
    case Field::flat_dst:
    case Field::flat_return:
      return true;
    case Field::sdata:
    case Field::buffer_data:
    case Field::image_data:
      return row_->has(flag::atomic) ? out_.glc : row_->has(flag::load) || !row_->has(flag::store);
    default:
      return false;
  }
}

bool Decoder::operands() {
  unsigned count = 0;
  for (const OperandSpec& spec : row_->operands) {
    if (spec.field == Field::none) break;
    if (spec.field == Field::flat_return && !out_.glc) continue;
    Operand& to = out_.operands[count];
    to.type = spec.type;
    if (!operand(to, spec.field, spec.type)) return false;
    if (to.kind == OperandKind::none) continue;  // this form of the instruction has it not
    if (writes(spec.field)) ++out_.destinations;
    ++count;
  }
  out_.operand_count = static_cast<uint8_t>(count);
  return true;
}

bool Decoder::operand(Operand& operand, Field field, DataType type) {
  if (field < Field::matrix_dst) return vector_operand(operand, field, type);
  if (field < Field::sdst) return matrix_operand(operand, field, type);
  if (field < Field::sdata) return scalar_operand(operand, field, type);
  return memory_operand(operand, field, type);
}

bool Decoder::vector_operand(Operand& operand, Field field, DataType type) {
  const unsigned words = words_of(type);
  const bool wide = out_.encoding == Encoding::vop3 || out_.encoding == Encoding::vop3p;
  const bool vopc = out_.encoding == Encoding::vopc;
  switch (field) {
    case Field::vdst:
      if (wide) return vgpr(operand, bits(w0_, 0, 8), words);
      if (out_.encoding == Encoding::vintrp) return vgpr(operand, bits(w0_, 18, 8), words);
      return vgpr(operand, bits(w0_, 17, 8), words);
    case Field::agpr_dst:
      return vgpr(operand, wide ? bits(w0_, 0, 8) : bits(w0_, 17, 8), words, true);
    case Field::lane_dst: {
      const unsigned number = wide ? bits(w0_, 0, 8) : bits(w0_, 17, 8);
      return number < code::zero && scalar_register(operand, number, words);
    }
    case Field::cmp_dst:
      if (wide) return bits(w0_, 0, 8) < code::zero && scalar_register(operand, bits(w0_, 0, 8), 2);
      if (out_.extension == Extension::sdwa && bit(w1_, 15)) return scalar_register(operand, bits(w1_, 8, 7), 2);
      vcc(operand);
      return true;
    case Field::carry_out:
      if (wide) return scalar_register(operand, bits(w0_, 8, 7), 2);
      vcc(operand);
      return true;
    case Field::carry_in:
      if (wide) return bits(w1_, 18, 9) < code::zero && scalar_register(operand, bits(w1_, 18, 9), 2);
      vcc(operand);
      return true;
    case Field::vcc_in:
      vcc(operand);
      return true;
    case Field::src0:
    case Field::src0_dst:
    case Field::vgpr_src0:
    case Field::agpr_src0: {
      unsigned number = wide ? bits(w1_, 0, 9) : bits(w0_, 0, 9);
      if (out_.extension == Extension::dpp16) number = bits(w1_, 0, 8) + code::vgpr;
      if (out_.extension == Extension::sdwa) number = bits(w1_, 0, 8) + (bit(w1_, 23) ? 0 : code::vgpr);
      if (out_.extension == Extension::sdwa && number == code::literal) return false;
      if (field == Field::src0) return source(operand, number, type, !wide && !row_->has(flag::no_literal));
      if (field == Field::vgpr_src0 && number == code::lds_direct && words == 1) {
        operand.kind = OperandKind::lds_direct;
        return true;
      }
      return number >= code::vgpr && vgpr(operand, number - code::vgpr, words, field == Field::agpr_src0);
    }
    case Field::src1:
    case Field::vgpr_src1:
      if (wide) {
        const unsigned number = bits(w1_, 9, 9);
        if (field == Field::src1) return source(operand, number, type, false);
        return number >= code::vgpr && vgpr(operand, number - code::vgpr, words);
      }
      if (out_.encoding == Encoding::vintrp) return vgpr(operand, bits(w0_, 0, 8), words);
      if (out_.extension == Extension::sdwa && bit(w1_, 31)) {
        const unsigned number = bits(w0_, 9, 8);
        return number != code::literal && scalar_source(operand, number, type, false);
      }
      return vgpr(operand, bits(w0_, 9, 8), words);
    case Field::src2:
      return source(operand, bits(w1_, 18, 9), type, false);
    case Field::vgpr_src2: {
      const unsigned number = bits(w1_, 18, 9);
      return number >= code::vgpr && vgpr(operand, number - code::vgpr, words);
    }
    case Field::literal:
      return literal(operand, type);
    case Field::interp_slot:
      immediate(operand, wide ? bits(w1_, 9, 9) : bits(w0_, 0, 8));
      return true;
    case Field::attribute:
      if (wide) {
        if (row_->encoding == Encoding::vintrp && bit(w1_, 8)) return false;  // floats have no upper half
        immediate(operand, bits(w1_, 0, 9));
      } else {
        immediate(operand, bits(w0_, 10, 6) | bits(w0_, 8, 2) << 6);
      }
      return true;
    default:
      break;
  }
  (void)vopc;
  return false;
}

/// Which of a matrix instruction's registers are AGPRs: its dedicated bits where the files are unified, always
/// destination and accumulator before.
bool Decoder::matrix_operand(Operand& operand, Field field, DataType type) {
  const bool accumulator = !tables_.layout.accumulation_bit || bit(w0_, 15);
  unsigned words = words_of(type);
  switch (field) {
    case Field::matrix_dst:
      return vgpr(operand, bits(w0_, 0, 8), words, accumulator);
    case Field::matrix_src0:
    case Field::matrix_src1: {
      const bool first = field == Field::matrix_src0;
      const unsigned number = bits(w1_, first ? 0 : 9, 9);
      if (row_->has(flag::matrix_formats)) {  // fp8 and bf8, fp6 and bf6, fp4
        constexpr std::array<uint8_t, 8> words_of_format{8, 8, 6, 6, 4, 8, 8, 8};
        words = words_of_format[first ? out_.cbsz : out_.blgp];
      }
      return number >= code::vgpr && vgpr(operand, number - code::vgpr, words, bit(w1_, first ? 27 : 28));
    }
    case Field::scale_src0:
      return source(operand, bits(scale1_, 0, 9), type, false);
    case Field::scale_src1:
      return source(operand, bits(scale1_, 9, 9), type, false);
    default:
      break;
  }
  const unsigned number = bits(w1_, 18, 9);
  if (number >= code::vgpr) return vgpr(operand, number - code::vgpr, words, accumulator);
  if (number < code::zero) return false;
  operand.type = field == Field::matrix_acc_f64   ? DataType::f64
                 : field == Field::matrix_acc_i32 ? DataType::i32
                                                  : DataType::f32;
  return scalar_source(operand, number, operand.type, false) && operand.kind == OperandKind::constant;
}

bool Decoder::scalar_operand(Operand& operand, Field field, DataType type) {
  const bool vector = out_.encoding == Encoding::vop3;  // lane numbers of v_readlane, v_writelane
  switch (field) {
    case Field::sdst:
    case Field::sdst_in:
      return scalar_register(operand, bits(w0_, 16, 7), words_of(type));
    case Field::ssrc0:
      if (vector) return bits(w1_, 0, 9) < code::literal && scalar_source(operand, bits(w1_, 0, 9), type, false);
      return scalar_source(operand, bits(w0_, 0, 8), type, true);
    case Field::ssrc1:
      if (vector) return bits(w1_, 9, 9) < code::literal && scalar_source(operand, bits(w1_, 9, 9), type, false);
      return scalar_source(operand, bits(w0_, 8, 8), type, true);
    default:
      return false;
  }
}

bool Decoder::memory_operand(Operand& operand, Field field, DataType type) {
  const unsigned words = words_of(type);
  switch (field) {
    case Field::sdata:
      return scalar_register(operand, bits(w0_, 6, 7), words);
    case Field::sdata_imm:
      immediate(operand, bits(w0_, 6, 7));
      return true;
    case Field::sbase:
      return scalar_register(operand, bits(w0_, 0, 6) * 2, words);
    case Field::soffset: {
      const bool immediate_offset = bit(w0_, 17), register_offset = bit(w0_, 14);
      if (register_offset) return scalar_register(operand, bits(w1_, 25, 7), words);
      return immediate_offset || scalar_register(operand, bits(w1_, 0, 7), words);
    }
    case Field::ds_addr:
      return vgpr(operand, bits(w1_, 0, 8), words);
    case Field::ds_data0:
      return vgpr(operand, bits(w1_, 8, 8), words, accumulation_);
    case Field::ds_data1:
      return vgpr(operand, bits(w1_, 16, 8), words, accumulation_);
    case Field::ds_dst:
      return vgpr(operand, bits(w1_, 24, 8), words, accumulation_);
    case Field::flat_dst:
    case Field::flat_return:
    case Field::flat_address:
    case Field::flat_data:
    case Field::flat_base:
      return flat_operand(operand, field, type);
    case Field::buffer_data:
    case Field::buffer_address:
    case Field::buffer_resource:
    case Field::buffer_offset:
      return buffer_operand(operand, field, type);
    default:
      return image_operand(operand, field, type);
  }
}

bool Decoder::flat_operand(Operand& operand, Field field, DataType type) {
  constexpr unsigned no_base = 0x7F;
  const unsigned base = bits(w1_, 16, 7);
  switch (field) {
    case Field::flat_dst:
      if (out_.lds) return true;  // the data goes to LDS
      return vgpr(operand, bits(w1_, 24, 8), words_of(type), accumulation_);
    case Field::flat_return:
      return vgpr(operand, bits(w1_, 24, 8), words_of(type), accumulation_);
    case Field::flat_data:
      return vgpr(operand, bits(w1_, 8, 8), words_of(type), accumulation_);
    case Field::flat_address:
      if (out_.encoding == Encoding::scratch) {
        const bool there = tables_.layout.scratch_vaddr_bit ? bit(w0_, 13) : base == no_base;
        operand.type = DataType::b32;
        operand.kind = OperandKind::off;
        return !there || vgpr(operand, bits(w1_, 0, 8), 1);
      }
      if (out_.encoding == Encoding::global && base != no_base) {
        operand.type = DataType::u32;
        return vgpr(operand, bits(w1_, 0, 8), 1);
      }
      return vgpr(operand, bits(w1_, 0, 8), 2);
    case Field::flat_base:
      operand.kind = OperandKind::off;
      return base == no_base || scalar_register(operand, base, words_of(type));
    default:
      return false;
  }
}

bool Decoder::buffer_operand(Operand& operand, Field field, DataType type) {
  switch (field) {
    case Field::buffer_data:
      if (out_.lds) return true;
      return vgpr(operand, bits(w1_, 8, 8), words_of(type) + (out_.tfe ? 1 : 0), accumulation_);
    case Field::buffer_address:
      operand.kind = OperandKind::off;
      if (out_.offen && out_.idxen) return vgpr(operand, bits(w1_, 0, 8), 2);
      return (!out_.offen && !out_.idxen) || vgpr(operand, bits(w1_, 0, 8), 1);
    case Field::buffer_resource:
      return scalar_register(operand, bits(w1_, 16, 5) * 4, 4);
    case Field::buffer_offset:
      return scalar_source(operand, bits(w1_, 24, 8), type, false);
    default:
      return false;
  }
}

bool Decoder::image_operand(Operand& operand, Field field, DataType type) {
  switch (field) {
    case Field::image_data: {
      const auto components = static_cast<unsigned>(std::popcount(out_.dmask));
      unsigned words = row_->has(flag::gather4) ? 4 : std::max(1u, components);
      if (out_.d16) words = (words + 1) / 2;
      words += out_.tfe ? 1 : 0;
      if (row_->has(flag::atomic)) {  // data, compare value and data for cmpswap, and what tfe and dmask add
        const unsigned usual = words_of(type), most = usual == 2 ? 5 : 3;
        if (words < usual || words > most) words = usual;
      }
      if (row_->has(flag::gather4) && words == 3) words = 2;  // as LLVM prints what no instruction means
      return vgpr(operand, bits(w1_, 8, 8), words, accumulation_);
    }
    case Field::image_address:
      return vgpr(operand, bits(w1_, 0, 8), words_of(type));
    case Field::image_resource:
      return scalar_register(operand, bits(w1_, 16, 5) * 4, words_of(type));
    case Field::image_sampler:
      return scalar_register(operand, bits(w1_, 21, 5) * 4, words_of(type));
    case Field::export_src0:
    case Field::export_src1:
    case Field::export_src2:
    case Field::export_src3: {
      const unsigned index = static_cast<unsigned>(field) - static_cast<unsigned>(Field::export_src0);
      operand.kind = OperandKind::off;
      const unsigned from = out_.compressed ? index / 2 : index;
      return !bit(w0_, index) || vgpr(operand, bits(w1_, from * 8, 8), 1);
    }
    default:
      return false;
  }
}

// --- Encodings --------------------------------------------------------------------------------------------------

bool Decoder::run() {
  if (!word_at(0, w0_)) return false;
  out_.size = 4;
  if (!bit(w0_, 31)) {
    return bits(w0_, 25, 6) >= 0x3E ? vop1_or_vopc() : vop2();
  }
  if (!bit(w0_, 30)) return sop2();
  switch (bits(w0_, 26, 6)) {
    case 0b110000:
      return smem();
    case 0b110001:
      return exp();
    case 0b110100:
      return bits(w0_, 16, 10) >= vop3p_in_vop3 ? vop3p() : vop3();
    case 0b110101:
      return begin(tables_.vintrp[bits(w0_, 16, 2)], Encoding::vintrp) && operands();
    case 0b110110:
      return ds();
    case 0b110111:
      return flat();
    case 0b111000:
    case 0b111010:
      return buffer();
    case 0b111100:
      return mimg();
    default:
      return false;
  }
}

bool Decoder::sop2() {
  switch (bits(w0_, 23, 7)) {
    case 0b1111101:
      if (!begin(tables_.sop1[bits(w0_, 8, 8)], Encoding::sop1)) return false;
      break;
    case 0b1111110:
      if (!begin(tables_.sopc[bits(w0_, 16, 7)], Encoding::sopc)) return false;
      if (row_->has(flag::gpr_index_imm)) out_.immediate = static_cast<uint16_t>(bits(w0_, 8, 8));
      break;
    case 0b1111111:
      if (!begin(tables_.sopp[bits(w0_, 16, 7)], Encoding::sopp)) return false;
      out_.immediate = static_cast<uint16_t>(w0_);
      if (!row_->has(flag::any_immediate) && out_.immediate != 0) return false;
      break;
    default:
      if (bits(w0_, 28, 2) == 0b11) {
        if (!begin(tables_.sopk[bits(w0_, 23, 5)], Encoding::sopk)) return false;
        out_.immediate = static_cast<uint16_t>(w0_);
      } else if (!begin(tables_.sop2[bits(w0_, 23, 7)], Encoding::sop2)) {
        return false;
      }
      break;
  }
  return operands();
}

bool Decoder::vop1_or_vopc() {
  if (bits(w0_, 25, 6) == 0x3F) {
    if (!begin(tables_.vop1[bits(w0_, 9, 8)], Encoding::vop1)) return false;
  } else if (!begin(tables_.vopc[bits(w0_, 17, 8)], Encoding::vopc)) {
    return false;
  }
  if (row_->operands[0].field == Field::none && (w0_ & 0x01FE01FF) != 0) return false;  // v_nop: no operands at all
  return extension() && operands();
}

bool Decoder::vop2() { return begin(tables_.vop2[bits(w0_, 25, 6)], Encoding::vop2) && extension() && operands(); }

/// The SDWA or DPP word, if src0's code says that there is one.
bool Decoder::extension() {
  const unsigned number = bits(w0_, 0, 9);
  if (number == code::sdwa) {
    out_.extension = Extension::sdwa;
    return row_->has(flag::sdwa) && second_word() && sdwa_word();
  }
  if (number == code::dpp) {
    out_.extension = Extension::dpp16;
    return row_->has(flag::dpp) && second_word() && dpp_word();
  }
  return true;
}

bool Decoder::smem() {
  if (!begin(tables_.smem[bits(w0_, 18, 8)], Encoding::smem) || !second_word()) return false;
  if (row_->has(flag::memory)) {
    out_.glc = bit(w0_, 16);
  } else if (row_->operands[1].field == Field::none && bit(w0_, 17)) {
    return false;  // s_memtime, s_dcache_inv and the like have no offset
  }
  out_.offset_immediate = bit(w0_, 17);
  out_.offset_register = bit(w0_, 14) || !out_.offset_immediate;
  if (out_.offset_immediate) out_.offset = static_cast<int32_t>(w1_ << 11) >> 11;
  return operands();
}

bool Decoder::ds() {
  if (!begin(tables_.ds[bits(w0_, 17, 8)], Encoding::ds) || !second_word()) return false;
  accumulation_ = bit(w0_, 25);
  if (accumulation_ && (!tables_.layout.accumulation_bit || row_->operands[0].field == Field::none)) return false;
  if (row_->has(flag::no_gds) && bit(w0_, 16)) return false;
  out_.gds = bit(w0_, 16) && (tables_.layout.gds_bit || row_->has(flag::gds_only));
  if (row_->has(flag::gds_only) && !out_.gds) return false;
  if (row_->has(flag::two_offsets)) {
    out_.offset = static_cast<int32_t>(bits(w0_, 0, 8));
    out_.offset1 = static_cast<uint8_t>(bits(w0_, 8, 8));
  } else {
    out_.offset = static_cast<int32_t>(bits(w0_, 0, 16));
  }
  // Fields that the instruction does not use are zero.
  uint32_t used = 0;
  for (const OperandSpec& spec : row_->operands) {
    if (spec.field == Field::ds_addr) used |= 0x000000FF;
    if (spec.field == Field::ds_data0) used |= 0x0000FF00;
    if (spec.field == Field::ds_data1) used |= 0x00FF0000;
    if (spec.field == Field::ds_dst) used |= 0xFF000000;
  }
  if (used == 0 && !row_->has(flag::gws) && bits(w0_, 0, 17) != 0) return false;  // ds_nop
  return (w1_ & ~used) == 0 && operands();
}

bool Decoder::flat() {
  const unsigned opcode = bits(w0_, 18, 7);
  bool known = false;
  switch (bits(w0_, 14, 2)) {
    case 0:
      known = begin(tables_.flat[opcode], Encoding::flat);
      break;
    case 1:
      known = begin(tables_.scratch[opcode], Encoding::scratch);
      break;
    case 2:
      known = begin(tables_.global[opcode], Encoding::global);
      break;
    default:
      break;
  }
  if (!known || !second_word()) return false;
  const Layout& layout = tables_.layout;
  const bool segment = out_.encoding != Encoding::flat;
  out_.glc = bit(w0_, 16);
  out_.slc = bit(w0_, 17);
  out_.scc = layout.scc_bit && bit(w0_, 25);
  if (bit(w0_, 13) && !(layout.scratch_vaddr_bit && out_.encoding == Encoding::scratch)) {
    if (!layout.flat_lds_bit || !row_->has(flag::lds_bit)) return false;
    out_.lds = true;
  }
  if (out_.glc && row_->feature == target::Feature::atomic_fadd_no_rtn_insts && !layout.fadd_returns) return false;
  if (row_->has(flag::float_atomic) && bit(w0_, 25) && !layout.cache_levels) return false;
  accumulation_ = bit(w1_, 23);
  if (accumulation_ && (!layout.accumulation_bit || out_.lds || row_->has(flag::to_lds))) return false;
  if (segment) {
    out_.offset = static_cast<int32_t>(w0_ << 19) >> 19;
  } else {
    out_.offset = static_cast<int32_t>(bits(w0_, 0, 13));
    if (bits(w1_, 16, 7) != 0) return false;
  }
  return operands();
}

bool Decoder::buffer() {
  const bool typed = bit(w0_, 27);
  if (typed ? !begin(tables_.mtbuf[bits(w0_, 15, 4)], Encoding::mtbuf)
            : !begin(tables_.mubuf[bits(w0_, 18, 7)], Encoding::mubuf)) {
    return false;
  }
  if (!second_word()) return false;
  const Layout& layout = tables_.layout;
  out_.offset = static_cast<int32_t>(bits(w0_, 0, 12));
  out_.offen = bit(w0_, 12);
  out_.idxen = bit(w0_, 13);
  out_.glc = bit(w0_, 14);
  if (typed) {
    out_.data_format = static_cast<uint8_t>(bits(w0_, 19, 4));
    out_.number_format = static_cast<uint8_t>(bits(w0_, 23, 3));
    out_.slc = bit(w1_, 22);
    out_.scc = layout.scc_bit && bit(w1_, 21);
  } else {
    out_.scc = layout.scc_bit && bit(w0_, 15);
    out_.lds = bit(w0_, 16);
    out_.slc = bit(w0_, 17);
    const bool can_be_lds =
        row_->has(flag::lds_bit | flag::from_lds) || (row_->has(flag::wide_lds_bit) && layout.wide_lds_loads);
    if (out_.lds && !can_be_lds) return false;
    if (row_->has(flag::from_lds) && (!out_.lds || out_.offen || out_.idxen)) return false;
    if (row_->operands[0].field == Field::none) return cache_control();
    if (row_->has(flag::float_atomic) && out_.scc && !layout.cache_levels) return false;
  }
  if (out_.glc && row_->feature == target::Feature::atomic_fadd_no_rtn_insts && !layout.fadd_returns) return false;
  if (layout.tfe_bit) {
    out_.tfe = bit(w1_, 23);
    if (out_.tfe && (typed || out_.lds || row_->has(flag::atomic))) return false;
  } else {
    accumulation_ = bit(w1_, 23);
    if (accumulation_ && out_.lds) return false;
  }
  return operands();
}

/// buffer_wbl2, buffer_inv, ...: nothing but, on gfx940, how far they reach.
bool Decoder::cache_control() {
  if (out_.offen || out_.idxen || out_.lds || bit(w1_, 23)) return false;
  const bool levels = row_->has(flag::cache_bits);
  if (!levels && (out_.glc || bit(w0_, 15))) return false;
  if (!levels || !tables_.layout.cache_levels) out_.glc = out_.scc = false;
  out_.slc = false;
  out_.offset = 0;
  return true;
}

bool Decoder::mimg() {
  if (!begin(tables_.mimg[bits(w0_, 18, 7)], Encoding::mimg) || !second_word() || bit(w0_, 0)) return false;
  out_.dmask = static_cast<uint8_t>(bits(w0_, 8, 4));
  out_.unorm = bit(w0_, 12);
  out_.glc = bit(w0_, 13);
  out_.da = bit(w0_, 14);
  out_.a16 = bit(w0_, 15);
  if (tables_.layout.tfe_bit) {
    out_.tfe = bit(w0_, 16);
  } else {
    accumulation_ = bit(w0_, 16);
  }
  out_.lwe = bit(w0_, 17);
  out_.slc = bit(w0_, 25);
  out_.d16 = bit(w1_, 31);
  out_.scc = tables_.layout.scc_bit && bit(w0_, 7);
  if (out_.d16 && !row_->has(flag::d16_bit)) return false;
  if (!row_->has(flag::sampler) && bits(w1_, 21, 5) != 0) return false;
  return operands();
}

bool Decoder::exp() {
  if (!begin(tables_.exp[0], Encoding::exp) || !second_word()) return false;
  out_.export_target = static_cast<uint8_t>(bits(w0_, 4, 6));
  out_.compressed = bit(w0_, 10);
  out_.done = bit(w0_, 11);
  out_.valid_mask = bit(w0_, 12);
  return operands();
}

bool Decoder::vop3() {
  if (!begin(tables_.vop3[bits(w0_, 16, 10)], Encoding::vop3) || !second_word()) return false;
  if (row_->operands[0].field == Field::none && bits(w0_, 0, 8) != 0) return false;  // v_nop
  return operands() && vop3_modifiers();
}

/// v_mfma_ld_scale_b32 and a matrix instruction behind it that says so are one instruction of 16 bytes.
bool Decoder::scaled_matrix() {
  constexpr unsigned scaled = 1;  // in the place of abid
  if (bytes_.size() < 16) return false;
  uint32_t w2 = 0, w3 = 0;
  if (!word_at(8, w2) || !word_at(12, w3)) return false;
  if (bits(w2, 23, 9) != 0b110100111 || bits(w2, 11, 4) != scaled) return false;
  const Opcode opcode = tables_.scaled[bits(w2, 16, 7)];
  if (opcode == Opcode::invalid) return false;
  scale0_ = w0_;
  scale1_ = w1_;
  w0_ = w2;
  w1_ = w3;
  begin(opcode, Encoding::vop3p);
  out_.size = 16;
  out_.cbsz = static_cast<uint8_t>(bits(w0_, 8, 3));
  out_.blgp = static_cast<uint8_t>(bits(w1_, 29, 3));
  return true;
}

bool Decoder::scale_modifiers() {
  for (unsigned i = 0; i < 2; ++i) {
    Operand& scale = out_.operands[4 + i];
    scale.op_sel = bit(scale0_, 11 + i);
    scale.op_sel_hi = bit(scale1_, 27 + i);
  }
  return true;
}

bool Decoder::vop3p() {
  if (!begin(tables_.vop3p[bits(w0_, 16, 7)], Encoding::vop3p) || !second_word()) return false;
  if (out_.opcode == Opcode::v_mfma_ld_scale_b32 && scaled_matrix()) return operands() && scale_modifiers();
  if (row_->has(flag::matrix)) return matrix_modifiers() && operands();
  return operands() && vop3p_modifiers();
}

// --- Modifiers --------------------------------------------------------------------------------------------------

/// Whether the operand in that field can have modifiers of VOP3, and which of its three sets.
constexpr int source_index(Field field) {
  switch (field) {
    case Field::src0:
    case Field::vgpr_src0:
      return 0;
    case Field::src1:
    case Field::vgpr_src1:
      return 1;
    case Field::src2:
    case Field::vgpr_src2:
      return 2;
    default:
      return -1;
  }
}

bool Decoder::vop3_modifiers() {
  const InstructionRow& row = *row_;
  bool carry = false;
  unsigned there = 0, modifiable = 0, ignored = 0;  // a bit for each source
  std::array<Operand*, 3> sources{};
  for (unsigned i = 0; i < out_.operand_count; ++i) {
    const OperandSpec& spec = row.operands[i];
    carry |= spec.field == Field::carry_out;
    const int index = source_index(spec.field);
    if (index < 0) continue;
    sources[static_cast<size_t>(index)] = &out_.operands[i];
    there |= 1u << index;
    if ((row.has(flag::neg) && is_float(spec.type)) || row.has(flag::neg_any)) {
      modifiable |= 1u << index;
    } else if (row.has(flag::slack)) {
      ignored |= 1u << index;
    }
  }
  if (row.has(flag::op_sel4)) ignored |= 0b100;

  const unsigned abs = carry ? 0 : bits(w0_, 8, 3);  // with a carry-out, its register is there
  const unsigned op_sel = carry ? 0 : bits(w0_, 11, 4);
  const unsigned neg = bits(w1_, 29, 3), omod = bits(w1_, 27, 2);
  const bool clamp = bit(w0_, 15);

  if (row.has(flag::bitop3)) {
    out_.immediate = static_cast<uint16_t>(omod << 6 | abs << 3 | neg);
  } else {
    if (((abs | neg) & ~(modifiable | ignored)) != 0) return false;
    if (omod != 0 && !row.has(flag::omod)) return false;
    out_.omod = static_cast<uint8_t>(omod);
    for (unsigned i = 0; i < 3; ++i) {
      if ((modifiable >> i & 1) == 0) continue;
      sources[i]->abs = (abs >> i & 1) != 0;
      sources[i]->neg = (neg >> i & 1) != 0;
    }
  }
  if (clamp && !row.has(flag::clamp)) return false;
  out_.clamp = clamp;

  if (row.has(flag::op_sel | flag::op_sel4)) {
    if ((op_sel & 0b111 & ~(there | (row.has(flag::op_sel4) ? 0b100u : 0u))) != 0) return false;
    for (unsigned i = 0; i < 3; ++i) {
      if (sources[i] != nullptr) sources[i]->op_sel = (op_sel >> i & 1) != 0;
    }
    out_.op_sel_dst = (op_sel & 0b1000) != 0;
    if (row.has(flag::op_sel4)) out_.dst_sel = static_cast<SdwaSelect>(op_sel >> 2);  // a byte of the result
  } else if (row.has(flag::swap_control)) {
    out_.dpp.fetch_inactive = (op_sel & 1) != 0;
    out_.dpp.bound_ctrl = (op_sel & 2) != 0;
  } else if (row.has(flag::op_sel_dst)) {  // v_interp_p2_f16
    out_.operands[2].op_sel = (op_sel & 0b0001) != 0;
    sources[2]->op_sel = (op_sel & 0b0100) != 0;
    out_.op_sel_dst = (op_sel & 0b1000) != 0;
  } else if (row.has(flag::bitop3) && op_sel != 0) {
    return false;
  }
  return true;
}

bool Decoder::vop3p_modifiers() {
  const InstructionRow& row = *row_;
  unsigned there = 0;
  std::array<Operand*, 3> sources{};
  for (unsigned i = 0; i < out_.operand_count; ++i) {
    const int index = source_index(row.operands[i].field);
    if (index < 0) continue;
    sources[static_cast<size_t>(index)] = &out_.operands[i];
    there |= 1u << index;
  }
  const unsigned neg_hi = bits(w0_, 8, 3), neg = bits(w1_, 29, 3), op_sel = bits(w0_, 11, 3);
  const unsigned op_sel_hi = bits(w1_, 27, 2) | (bit(w0_, 14) ? 0b100u : 0u);
  if (!row.has(flag::clamp) && !row.has(flag::op_sel)) return (neg_hi | neg | op_sel) == 0;  // v_accvgpr_*
  if (out_.destinations == 0 && bits(w0_, 0, 8) != 0) return false;
  if (bit(w0_, 15) && !row.has(flag::clamp)) return false;
  if (((neg_hi | neg) & ~there) != 0) return false;
  if ((op_sel & ~(row.has(flag::op_sel) ? there : 0u)) != 0) return false;
  out_.clamp = bit(w0_, 15);
  for (unsigned i = 0; i < 3; ++i) {
    if (sources[i] == nullptr) continue;
    Operand& source = *sources[i];
    source.neg = (neg >> i & 1) != 0 && !row.has(flag::slack);
    const bool hi = (neg_hi >> i & 1) != 0 && !row.has(flag::slack);
    if (row.has(flag::op_sel)) {
      source.op_sel = (op_sel >> i & 1) != 0;
      source.op_sel_hi = (op_sel_hi >> i & 1) != 0;
    }
    if (!row.has(flag::mix)) {
      source.neg_hi = hi;
      continue;
    }
    source.abs = hi;
    // A source is a half if op_sel_hi is set, else a float, and sees constants so.
    if (!source.op_sel_hi && source.kind == OperandKind::constant) {
      const unsigned number = bits(w1_, i * 9, 9);
      source = {.neg = source.neg, .abs = source.abs, .op_sel = source.op_sel};
      scalar_source(source, number, DataType::f32, false);
    }
    source.type = source.op_sel_hi ? DataType::f16 : DataType::f32;
  }
  return true;
}

bool Decoder::matrix_modifiers() {
  out_.cbsz = static_cast<uint8_t>(bits(w0_, 8, 3));
  out_.abid = static_cast<uint8_t>(bits(w0_, 11, 4));
  out_.blgp = static_cast<uint8_t>(bits(w1_, 29, 3));
  if (row_->has(flag::sparse) && out_.blgp != 0) return false;
  if (row_->has(flag::matrix_formats) && out_.abid != 0) return false;
  return true;
}

bool Decoder::sdwa_word() {
  const InstructionRow& row = *row_;
  std::array<Operand*, 2> sources{};
  unsigned position = 0;
  for (const OperandSpec& spec : row.operands) {
    if (spec.field == Field::none) break;
    const int index = source_index(spec.field);
    if (index == 0 || index == 1) sources[static_cast<size_t>(index)] = &out_.operands[position];
    ++position;
  }
  if (out_.encoding != Encoding::vopc) {
    const unsigned select = bits(w1_, 8, 3), unused = bits(w1_, 11, 2);
    if (select > 6 || unused > 2) return false;
    out_.dst_sel = static_cast<SdwaSelect>(select);
    if (row.has(flag::sdwa_whole)) {
      if (out_.dst_sel != SdwaSelect::dword) return false;
    } else {
      out_.dst_unused = static_cast<SdwaUnused>(unused);
    }
    out_.clamp = bit(w1_, 13);
    out_.omod = static_cast<uint8_t>(bits(w1_, 14, 2));
    if (out_.omod != 0 && !(row.has(flag::omod) && is_float(row.operands[0].type))) return false;
  }
  for (unsigned i = 0; i < 2; ++i) {
    const uint32_t field = bits(w1_, 16 + 8 * i, 8);
    if (sources[i] == nullptr) {
      if ((field & 0b10111111) != 0) return false;
      continue;
    }
    const unsigned select = field & 7;
    if (select > 6) return false;
    Operand& source = *sources[i];
    source.sdwa = static_cast<SdwaSelect>(select);
    source.sext = bit(field, 3);
    source.neg = bit(field, 4);
    source.abs = bit(field, 5);
  }
  // Floats have neg and abs, integers sext. The operands themselves are read afterwards and keep these.
  for (const OperandSpec& spec : row.operands) {
    const int index = source_index(spec.field);
    if (index != 0 && index != 1) continue;
    const Operand& source = *sources[static_cast<size_t>(index)];
    const bool floats = is_float(spec.type) || row.has(flag::neg_any);
    if (floats ? source.sext : source.neg || source.abs) return false;
  }
  return true;
}

bool Decoder::dpp_word() {
  const InstructionRow& row = *row_;
  Dpp& dpp = out_.dpp;
  dpp.control = bits(w1_, 8, 9);
  dpp.bound_ctrl = bit(w1_, 19);
  dpp.bank_mask = static_cast<uint8_t>(bits(w1_, 24, 4));
  dpp.row_mask = static_cast<uint8_t>(bits(w1_, 28, 4));
  const bool newbcast = tables_.layout.row_newbcast && dpp.control >= 0x150 && dpp.control <= 0x15F;
  switch (dpp.control >> 4) {
    case 0x10:
    case 0x11:
    case 0x12:  // row_shl, row_shr, row_ror by 1 to 15
      if ((dpp.control & 15) == 0) return false;
      break;
    case 0x13:  // wave_shl, wave_rol, wave_shr, wave_ror
      if ((dpp.control & 3) != 0) return false;
      break;
    case 0x14:  // row_mirror, row_half_mirror, row_bcast:15, row_bcast:31
      if ((dpp.control & 15) > 3) return false;
      break;
    default:
      if (dpp.control > 0xFF && !newbcast) return false;
      break;
  }
  unsigned position = 0, modifiable = 0;
  for (const OperandSpec& spec : row.operands) {
    if (spec.field == Field::none) break;
    Operand& source = out_.operands[position++];
    const int index = source_index(spec.field);
    if (index != 0 && index != 1) continue;
    if (index == 0 && words_of(spec.type) == 2 && tables_.layout.row_newbcast && !newbcast) return false;
    const bool floats = (is_float(spec.type) && row.has(flag::neg)) || row.has(flag::neg_any);
    if (!floats && !row.has(flag::slack)) continue;
    modifiable |= 3u << (2 * index);
    if (!floats) continue;
    source.neg = bit(w1_, 20 + 2 * static_cast<unsigned>(index));
    source.abs = bit(w1_, 21 + 2 * static_cast<unsigned>(index));
  }
  return (bits(w1_, 20, 4) & ~modifiable) == 0;
}

}  // namespace

support::Result<Instruction> decode(std::span<const uint8_t> bytes, const target::Processor& processor) {
  Decoder decoder(bytes, tables_of(processor));
  if (decoder.run()) return decoder.result();
  if (decoder.truncated()) {
    return support::fail(support::ErrorKind::illegal_instruction, "the bytes end in the middle of an instruction");
  }
  return support::fail(support::ErrorKind::illegal_instruction, "no {} instruction has these bytes", processor.name);
}

}  // namespace Atoll::isa
