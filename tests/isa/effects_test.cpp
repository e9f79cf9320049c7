// What an instruction reads, writes and does to control flow (isa/effects.h), against LLVM: the descriptions of machine
// instructions that its code generator goes by (MCInstrDesc: operands, implicit registers, mayLoad, isBranch, ...), for
// every opcode value of every processor that LLVM 19 knows, in each wave size.
//
// LLVM's descriptions serve its code generator and leave out or add some things; each of these is a rule below, with
// the reason.
#include "isa/effects.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <initializer_list>
#include <map>
#include <memory>
#include <regex>
#include <set>
#include <span>
#include <string>

#include <fmt/format.h>

#include "isa/decode.h"
#include "isa/llvm_disassembler.h"
#include "isa/must_effects.h"
#include "isa/operand_roles.h"
#include "isa/patterns.h"
#include "isa/print.h"
#include "isa/subject.h"
#include "isa/table.h"
#include "isa/unit.h"

namespace Atoll::isa::test {
namespace {

/// Registers by name: "s4", "v17", "a0", "vcc_lo", "scc", "mode", ...
using Registers = std::set<std::string>;

/// LLVM's description of an instruction.
struct Description {
  std::string name;
  size_t size = 0;
  Registers reads, writes;
  bool may_load = false, may_store = false;
  bool is_branch = false, is_conditional = false, is_indirect = false, is_call = false, is_return = false;
  bool is_tied = false, is_early_clobber = false;  ///< constraints of its operands
  bool is_commutable = false;
  uint64_t flags = 0;  ///< TSFlags
};

class Llvm : public LlvmDisassembler {
 public:
  Llvm(const target::Processor& processor, unsigned wave_size)
      : LlvmDisassembler(processor, wave_size), wave_size_(wave_size) {
    for (unsigned opcode = 0; opcode < instructions_->getNumOpcodes(); ++opcode) {
      const llvm::MCInstrDesc& each = instructions_->get(opcode);
      for (unsigned i = 0; i < each.getNumOperands(); ++i) {
        if (each.getOperandConstraint(i, llvm::MCOI::EARLY_CLOBBER) == -1) continue;
        early_clobbers_.insert(instructions_->getName(opcode).str());
      }
    }
  }

  std::optional<Description> describe(const Bytes& bytes) const {
    llvm::MCInst instruction;
    Description result;
    uint64_t size = 0;
    if (!disassemble(bytes, instruction, size)) return std::nullopt;
    const llvm::MCInstrDesc& description = instructions_->get(instruction.getOpcode());
    result.name = instructions_->getName(instruction.getOpcode()).str();
    result.size = size;
    for (unsigned i = 0; i < instruction.getNumOperands(); ++i) {
      const llvm::MCOperand& operand = instruction.getOperand(i);
      if (operand.isReg()) add(operand.getReg(), i < description.getNumDefs() ? result.writes : result.reads, false);
    }
    for (const auto reg : description.implicit_uses()) add(reg, result.reads, true);
    for (const auto reg : description.implicit_defs()) add(reg, result.writes, true);
    result.may_load = description.mayLoad();
    result.may_store = description.mayStore();
    for (unsigned i = 0; i < description.getNumOperands(); ++i) {
      result.is_tied |= description.getOperandConstraint(i, llvm::MCOI::TIED_TO) != -1;
      result.is_early_clobber |= description.getOperandConstraint(i, llvm::MCOI::EARLY_CLOBBER) != -1;
    }
    // Encodings of matrix instructions are described without constraints; code generation's own instructions have them.
    static const std::regex generation_at_end("_(vi|gfx[0-9a-z]+)(_acd|_vcd)?$");
    const std::string base = std::regex_replace(result.name, generation_at_end, "");
    for (const char* suffix : {"", "_e64", "_vgprcd_e64"}) {
      result.is_early_clobber |= early_clobbers_.contains(base + suffix);
    }
    result.is_commutable = description.isCommutable();
    result.flags = description.TSFlags;
    result.is_branch = description.isBranch();
    result.is_conditional = description.isConditionalBranch();
    result.is_indirect = description.isIndirectBranch();
    result.is_call = description.isCall();
    result.is_return = description.isReturn();
    return result;
  }

 private:
  void add(unsigned reg, Registers& to, bool implicit) const {
    if (reg == 0) return;
    static const std::regex numbered("(SGPR|VGPR|AGPR|TTMP)([0-9]+)(_LO16|_HI16|_vi|_gfx9plus)?");
    static const std::regex pairs("(VCC|EXEC|FLAT_SCR|XNACK_MASK|TBA|TMA)_(LO|HI)(_ci|_vi)?");
    for (const auto part : registers_->subregs_inclusive(reg)) {
      const std::string name = registers_->getName(part);
      std::smatch match;
      if (std::regex_match(name, match, numbered)) {
        const std::map<std::string, std::string> letters{{"SGPR", "s"}, {"VGPR", "v"}, {"AGPR", "a"}, {"TTMP", "ttmp"}};
        to.insert(letters.at(match[1]) + match[2].str());
      } else if (std::regex_match(name, match, pairs)) {
        const bool high = match[2] == "HI";
        // Implicit masks are pairs in all descriptions; where waves have 32 lanes, the lower one alone is meant.
        if (high && implicit && wave_size_ == 32 && (match[1] == "VCC" || match[1] == "EXEC")) continue;
        const std::map<std::string, std::string> names{{"VCC", "vcc"},          {"EXEC", "exec"}, {"FLAT_SCR", "flat"},
                                                       {"XNACK_MASK", "xnack"}, {"TBA", "tba"},   {"TMA", "tma"}};
        to.insert(names.at(match[1]) + (high ? "_hi" : "_lo"));
      } else if (name == "SCC" || name == "SRC_SCC") {
        to.insert("scc");
      } else if (name == "M0" || name == "M0_gfxpre11" || name == "M0_gfx11plus") {
        to.insert("m0");
      } else if (name == "LDS_DIRECT") {  // an address in M0
        to.insert("m0");
      } else if (name == "MODE") {
        to.insert("mode");
      } else if (name == "SRC_VCCZ" || name == "SRC_EXECZ") {
        const std::string mask = name == "SRC_VCCZ" ? "vcc" : "exec";
        to.insert(mask + "_lo");
        if (wave_size_ != 32) to.insert(mask + "_hi");
      }
    }
  }

  unsigned wave_size_;
  std::set<std::string> early_clobbers_;  ///< instructions with the constraint
};

std::string name_of(unsigned reg) {
  if (reg < scalar::vcc_lo) return "s" + std::to_string(reg);
  if (reg >= scalar::ttmp0 && reg < scalar::m0) return "ttmp" + std::to_string(reg - scalar::ttmp0);
  static const std::map<unsigned, std::string> names{{scalar::vcc_lo, "vcc_lo"},
                                                     {scalar::vcc_hi, "vcc_hi"},
                                                     {scalar::m0, "m0"},
                                                     {scalar::m0 + 1, "no register"},
                                                     {scalar::null, "null"},
                                                     {scalar::exec_lo, "exec_lo"},
                                                     {scalar::exec_hi, "exec_hi"},
                                                     {scalar::flat_scratch_lo, "flat_lo"},
                                                     {scalar::flat_scratch_hi, "flat_hi"},
                                                     {scalar::xnack_mask_lo, "xnack_lo"},
                                                     {scalar::xnack_mask_hi, "xnack_hi"},
                                                     {scalar::tba_lo, "tba_lo"},
                                                     {scalar::tba_hi, "tba_hi"},
                                                     {scalar::tma_lo, "tma_lo"},
                                                     {scalar::tma_hi, "tma_hi"},
                                                     {scc_number, "scc"}};
  return reg > scalar::null && reg < scalar::count ? "null" : names.at(reg);
}

Registers names_of(const ScalarSet& scalars, const VectorSet& vectors, bool mode) {
  Registers names;
  for (unsigned reg = 0; reg < scalars.size(); ++reg) {
    if (scalars[reg]) names.insert(name_of(reg));
  }
  for (unsigned reg = 0; reg < vectors.size(); ++reg) {
    if (vectors[reg]) names.insert((reg < first_agpr ? "v" : "a") + std::to_string(reg % first_agpr));
  }
  if (mode) names.insert("mode");
  return names;
}

std::string text_of(const Registers& registers) {
  std::string text;
  for (const std::string& name : registers) text += ' ' + name;
  return text;
}

Registers without(Registers from, const Registers& what) {
  for (const std::string& name : what) from.erase(name);
  return from;
}

/// Effects that LLVM's description lacks, or has although the instruction does not have them, with the reason.
struct Tolerated {
  Registers reads_too_little, reads_too_much, writes_too_little, writes_too_much;
  bool memory = false;

  /// Whether the old values of all results that the instruction keeps are among what LLVM leaves out.
  bool leaves_out_old_value(const Instruction& in) const {
    const auto roles = operand_roles(in);
    for (unsigned i = 0; i < in.operand_count; ++i) {
      const Operand& operand = in.operands[i];
      if (!roles[i].is_tied()) continue;
      for (unsigned word = 0; word < operand.words; ++word) {
        const unsigned reg = operand.reg + word;
        const std::string name = operand.kind == OperandKind::agpr   ? "a" + std::to_string(reg)
                                 : operand.kind == OperandKind::vgpr ? "v" + std::to_string(reg)
                                                                     : name_of(reg);
        if (!reads_too_much.contains(name)) return false;
      }
    }
    return true;
  }

  explicit Tolerated(const Instruction& in, const Effects& effects) {
    const InstructionRow& row = row_of(in);
    const Registers exec{"exec_lo", "exec_hi"}, flat{"flat_lo", "flat_hi"};
    const auto is = [&](std::initializer_list<std::string_view> names) {
      return std::ranges::any_of(names, [&](std::string_view name) { return row.name.starts_with(name); });
    };
    const auto tolerate = [](Registers& set, const Registers& more) { set.insert(more.begin(), more.end()); };
    Registers results;
    for (unsigned i = 0; i < in.operand_count; ++i) {
      const Operand& operand = in.operands[i];
      const bool written = i < in.destinations || (in.second != Opcode::invalid && i == in.second_operands);
      for (unsigned word = 0; word < operand.words; ++word) {
        const unsigned reg = operand.reg + word;
        if (operand.kind == OperandKind::agpr && written) results.insert("a" + std::to_string(reg));
        if (operand.kind == OperandKind::vgpr) {
          if (written) results.insert("v" + std::to_string(reg));
          // LLVM 19 knows only some halves of registers, and none of more than v127.
          if (operand.half) {
            reads_too_much.insert("v" + std::to_string(reg));
            reads_too_little.insert("v" + std::to_string(reg + 128));
            // On GFX12 it takes a VGPR of VINTERP without the bit for VGPRs for the scalar register of that number.
            if (row.encoding == Encoding::vinterp && reg < 128) reads_too_little.insert(name_of(reg));
          }
          // LLVM has the old value of the second half's result in the first half's place.
          if (in.second != Opcode::invalid) reads_too_little.insert("v" + std::to_string(reg ^ 1));
        } else if (operand.kind == OperandKind::scalar && written) {
          results.insert(name_of(reg));
        }
      }
      // LLVM 19 takes ttmp[4:6] for ttmp[5:7]; LLVM 22 does not.
      if (operand.words == 3 && operand.kind == OperandKind::scalar && operand.reg >= scalar::ttmp0) {
        for (unsigned reg = scalar::ttmp0; reg < scalar::m0; ++reg) {
          writes_too_little.insert(name_of(reg));
          writes_too_much.insert(name_of(reg));
        }
      }
    }
    // Data and addresses of images are as many registers as LLVM happens to have a description for, and atomics that
    // return nothing have none of their own; sources of exports that are off are in the description all the same. The
    // VGPRs of both are in the text, which the sweep compares.
    if (in.encoding == Encoding::mimg || in.encoding == Encoding::vsample || in.encoding == Encoding::exp) {
      for (unsigned reg = 0; reg < vector_registers_of_a_kind; ++reg) {
        for (Registers* set : {&reads_too_little, &reads_too_much, &writes_too_little, &writes_too_much}) {
          set->insert("v" + std::to_string(reg));
          set->insert("a" + std::to_string(reg));
        }
      }
    }
    // Old values that matter without being tied operands: conditional moves, single bits, the halves of a dual
    // instruction, parts of registers.
    const bool is_half_result = in.operand_count != 0 && is_half(in.operands[0].type);
    const bool is_half_load = row.name.find("d16") != std::string_view::npos;
    if (is({"s_cmov", "s_bitset", "v_cvt_pkaccum", "v_pk_fmac", "global_load_block", "scratch_load_block"}) ||
        is_half_load || in.second != Opcode::invalid || in.dst_unused == SdwaUnused::preserve ||
        (is_half_result && in.generation >= target::Generation::gfx10) || in.tfe || in.op_sel_dst) {
      tolerate(reads_too_much, results);
    }
    // An index from M0 may mean any register.
    if (row.has(flag::indexed_source | flag::indexed_result)) {
      tolerate(reads_too_much, names_of(effects.reads, effects.vector_reads, false));
      tolerate(writes_too_much, names_of(effects.writes, effects.vector_writes, false));
    }
    // All DS instructions of GFX9 and later are disassembled as GFX8's, which M0 limits; code generation has others.
    const bool is_lds = in.encoding == Encoding::ds && !in.gds && in.generation >= target::Generation::gfx9;
    const bool is_at_m0 = is({"ds_append", "ds_consume", "ds_read_addtid", "ds_write_addtid"});
    if ((is_lds && !is_at_m0) || is({"ds_nop"})) reads_too_little.insert("m0");
    // ... and those that GFX9 brought have none with M0, which GDS needs.
    if (in.gds) reads_too_much.insert("m0");
    // Some interpolations in VOP3 have lost it.
    if (is({"v_interp"})) reads_too_much.insert("m0");
    // VINTERP computes from registers alone.
    if (in.encoding == Encoding::vinterp) reads_too_little.insert("m0");
    // LLVM has EXEC with everything that has effects elsewhere.
    if (is({"s_sendmsg"}) || row.has(flag::cache_control)) tolerate(reads_too_little, exec);
    // Forks change EXEC, and only some bits of M0 or MODE are written here (ISA guides).
    if (row.has(flag::fork)) {
      tolerate(reads_too_much, exec);
      tolerate(writes_too_much, exec);
    }
    if (is({"s_set_gpr_idx_mode"})) reads_too_much.insert("m0");
    if (is({"s_set_gpr_idx_idx"})) {  // M0[7:0] and nothing else
      reads_too_little.insert("mode");
      writes_too_little.insert("mode");
    }
    if (is({"s_setvskip"})) writes_too_much.insert("mode");  // MODE.VSKIP
    // SCC = result != 0 (ISA guides).
    if (is({"s_quadmask"})) writes_too_much.insert("scc");
    // Loads of scratch to LDS.
    if (in.encoding == Encoding::scratch && (in.lds || row.has(flag::to_lds))) tolerate(reads_too_much, flat);
    // Operations on floats that are exact do not depend on the mode.
    reads_too_much.insert("mode");
    // Instructions that LLVM does not move over loads and stores: waits, synchronisation, prefetches.
    memory = row.has(flag::no_state | flag::gws | flag::gds_only) || in.encoding == Encoding::exp ||
             row.name.find("prefetch") != std::string_view::npos;
  }
};

/// Returns the relevant differences; empty if none exists.
std::string difference(const Instruction& instruction, const Description& llvm) {
  const Effects effects = effects_of(instruction);
  const Tolerated tolerated(instruction, effects);
  const Control control = control_of(instruction);
  const Registers reads = names_of(effects.reads, effects.vector_reads, effects.reads_mode);
  const Registers writes = names_of(effects.writes, effects.vector_writes, effects.writes_mode);
  std::string text;
  const auto differ = [&](const char* what, const Registers& registers) {
    if (!registers.empty()) text += std::string("\n    ") + what + ':' + text_of(registers);
  };
  differ("reads too little", without(without(llvm.reads, reads), tolerated.reads_too_little));
  differ("reads too much", without(without(reads, llvm.reads), tolerated.reads_too_much));
  differ("writes too little", without(without(llvm.writes, writes), tolerated.writes_too_little));
  differ("writes too much", without(without(writes, llvm.writes), tolerated.writes_too_much));
  if (llvm.may_load && !effects.loads.any() && !tolerated.memory) text += "\n    no load";
  if (llvm.may_store && !effects.stores.any() && !tolerated.memory) text += "\n    no store";
  using enum Control::Kind;
  if (llvm.is_branch && !control.is_branch()) text += "\n    no branch";
  if (llvm.is_conditional && control.kind != conditional) text += "\n    not conditional";
  if (llvm.is_indirect && control.kind != indirect) text += "\n    not indirect";
  if (llvm.is_call && !control.is_call()) text += "\n    no call";
  return text;
}

/// VGPRs that LLVM, or must_effects_of(), has as an image's address; nothing where the data may be among them.
std::optional<Registers> image_address_of(const Instruction& instruction, Registers vgprs) {
  constexpr unsigned max_data_words = 5;
  const unsigned data = instruction.operands[0].reg;
  std::erase_if(vgprs, [](const std::string& name) { return name[0] != 'v' || name[1] == 'c'; });
  const Effects all = effects_of(instruction);
  const bool reads_data = all.stores.any() || instruction.tfe;
  for (unsigned word = 0; reads_data && word < max_data_words; ++word) {
    const unsigned reg = data + word;
    const bool is_address = std::ranges::any_of(std::span(instruction.addresses).first(instruction.address_count),
                                                [&](unsigned first) { return first <= reg && reg < first + 16; });
    const Operand& address = instruction.operands[1];
    if (is_address || (address.reg <= reg && reg < address.reg + 16u)) return std::nullopt;
    vgprs.erase("v" + std::to_string(reg));
  }
  return vgprs;
}

/// Whether LLVM has a description for the registers of an image's data. Without one, that which it prints has the
/// fewest registers: of atomics with a dmask that is not their data's, and of GFX12's packed loads.
bool has_description(const Instruction& instruction) {
  const InstructionRow& row = row_of(instruction);
  if (row.name.ends_with("_pck") && instruction.generation >= target::Generation::gfx12) return false;
  if (!row.has(flag::atomic)) return true;
  return static_cast<unsigned>(std::popcount(instruction.dmask)) == words_of(row.operands[0].type) && !instruction.tfe;
}

bool is_image(const Instruction& instruction) {
  return instruction.operand_count > 1 && field_of(instruction, 1) == Field::image_address;
}

class EffectsOf : public testing::TestWithParam<Subject> {};

TEST_P(EffectsOf, EveryInstructionAreThoseOfLlvm) {
  const Subject& subject = GetParam();
  const target::Processor& processor = *subject.processor;
  const bool has_wave32 = processor.has_wave_size(32);
  const unsigned wave_size = subject.wave_size != 0 ? subject.wave_size : has_wave32 ? 32 : 64;
  const Llvm llvm(processor, has_wave32 ? wave_size : 0);
  std::map<Opcode, std::string> different;
  std::set<Opcode> equal;
  for (const Bytes& bytes : patterns(processor, 6, 1)) {
    const auto instruction = decode(bytes, processor, wave_size);
    if (!instruction) continue;
    const auto description = llvm.describe(bytes);
    if (!description || description->size != instruction->size) continue;  // what LLVM 22 knows and 19 does not
    const std::string text = difference(*instruction, *description);
    if (text.empty()) {
      equal.insert(instruction->opcode);
    } else {
      different.try_emplace(instruction->opcode,
                            print(*instruction, processor) + " (" + description->name + ")" + text);
    }
  }
  for (const auto& [opcode, text] : different) ADD_FAILURE() << text;
  std::printf("%s: %zu instructions equal\n", subject.name().c_str(), equal.size());
}

/// Bits of TSFlags (LLVM 19's SIDefines.h).
constexpr uint64_t is_salu = 1 << 0, is_valu = 1 << 1, is_dpp = 1 << 15, is_trans = 1 << 16,
                   is_buffer = 1 << 17 | 1 << 18, is_smem = 1 << 19, is_image_flag = 1 << 20 | 1 << 21 | 1 << 22,
                   is_export = 1 << 23, is_flat = 1 << 24, is_ds = 1 << 25;

/// Whether a unit is none that LLVM's flags of the instruction mean. Loads to LDS are VALU instructions to LLVM, too,
/// and transcendental ones with DPP8 have lost their flag.
std::string difference_of_units(Unit unit, uint64_t flags) {
  const auto is_one_of = [&](std::initializer_list<Unit> units) {
    return std::ranges::find(units, unit) != units.end();
  };
  bool equal = true;
  if ((flags & is_smem) != 0) {
    equal = unit == Unit::smem;
  } else if ((flags & (is_buffer | is_image_flag)) != 0) {
    equal = unit == Unit::vmem;
  } else if ((flags & is_flat) != 0) {
    equal = is_one_of({Unit::flat, Unit::vmem});
  } else if ((flags & is_ds) != 0) {
    equal = is_one_of({Unit::lds, Unit::gds});
  } else if ((flags & is_export) != 0) {
    equal = unit == Unit::export_;
  } else if ((flags & is_trans) != 0) {
    equal = unit == Unit::transcendental;
  } else if ((flags & is_valu) != 0) {
    const bool may_have_lost_flag = (flags & is_dpp) != 0 && unit == Unit::transcendental;
    equal = is_one_of({Unit::valu, Unit::double_rate, Unit::matrix}) || may_have_lost_flag;
  } else if ((flags & is_salu) != 0) {
    equal = is_one_of({Unit::salu, Unit::branch, Unit::message, Unit::none});
  }
  return equal ? "" : fmt::format("\n    unit {}, flags {:x}", name_of(unit), flags & 0x3FFFFFF);
}

/// Roles that LLVM's constraints lack, or have besides; empty if both agree.
std::string difference_of_roles(const Instruction& in, const Description& llvm) {
  const InstructionRow& row = row_of(in);
  const auto roles = operand_roles(in);
  const std::span used = std::span(roles).first(in.operand_count);
  const bool tied = std::ranges::any_of(used, &OperandRole::is_tied);
  const bool early = std::ranges::any_of(used, &OperandRole::early_clobber);
  std::string text;
  // Atomics on images have no description of their own if they return nothing.
  const bool is_image_atomic = row.has(flag::atomic) && in.encoding == Encoding::mimg;
  if (llvm.is_tied && !tied && !is_image_atomic) text += "\n    not tied";
  if (!llvm.is_tied && tied && !Tolerated(in, effects_of(in)).leaves_out_old_value(in)) text += "\n    tied";
  // LLVM's disassembler takes GFX11.5's multiplication to 64 bits for GFX11.0's, which has the forwarding bug.
  const bool is_without_bug = row.computes.operation == Operation::mad && in.generation > target::Generation::gfx11;
  if (llvm.is_early_clobber != early && !is_without_bug)
    text += early ? "\n    early clobber" : "\n    no early clobber";
  text += difference_of_units(unit_of(in), llvm.flags);
  const bool is_alu = !row.has(flag::memory) && in.encoding != Encoding::vopd;
  if (llvm.is_commutable && is_alu && reversed_form(in.opcode, in.generation) == Opcode::invalid) {
    text += "\n    no reversed form";
  }
  return text;
}

TEST_P(EffectsOf, RolesAreTheConstraintsOfLlvm) {
  const Subject& subject = GetParam();
  const target::Processor& processor = *subject.processor;
  const bool has_wave32 = processor.has_wave_size(32);
  const unsigned wave_size = subject.wave_size != 0 ? subject.wave_size : has_wave32 ? 32 : 64;
  const Llvm llvm(processor, has_wave32 ? wave_size : 0);
  std::map<Opcode, std::string> different;
  std::set<Opcode> equal;
  for (const Bytes& bytes : patterns(processor, 3, 3)) {
    const auto instruction = decode(bytes, processor, wave_size);
    if (!instruction) continue;
    const auto description = llvm.describe(bytes);
    if (!description || description->size != instruction->size) continue;
    const std::string text = difference_of_roles(*instruction, *description);
    if (text.empty()) {
      equal.insert(instruction->opcode);
    } else {
      different.try_emplace(instruction->opcode,
                            print(*instruction, processor) + " (" + description->name + ")" + text);
    }
  }
  for (const auto& [opcode, text] : different) ADD_FAILURE() << text;
  std::printf("%s: %zu instructions have LLVM's constraints\n", subject.name().c_str(), equal.size());
}

// Twins are on the same generation, and each is the other's.
TEST(OperandRoles, TwinsBelongToEachOther) {
  using enum target::Generation;
  EXPECT_EQ(reversed_form(Opcode::v_sub_f32, gfx9), Opcode::v_subrev_f32);
  EXPECT_EQ(reversed_form(Opcode::v_add_f32, gfx9), Opcode::v_add_f32);
  EXPECT_EQ(reversed_form(Opcode::v_cmp_lt_f32, gfx9), Opcode::v_cmp_gt_f32);
  EXPECT_EQ(reversed_form(Opcode::v_lshlrev_b32, gfx9), Opcode::invalid);
  EXPECT_EQ(reversed_form(Opcode::v_lshlrev_b32, gfx6), Opcode::v_lshl_b32);
  EXPECT_EQ(two_address_form(Opcode::v_fma_f32, gfx90a), Opcode::v_fmac_f32);
  EXPECT_EQ(three_address_form(Opcode::v_fmac_f32, gfx10), Opcode::v_fma_f32);
  EXPECT_EQ(two_address_form(Opcode::v_mad_f32, gfx9), Opcode::v_mac_f32);
  unsigned reversed = 0, two_address = 0;
  for (unsigned i = 1; i < static_cast<unsigned>(Opcode::count); ++i) {
    const auto opcode = static_cast<Opcode>(i);
    for (const target::Generation generation : {gfx6, gfx9, gfx90a, gfx10_3, gfx11, gfx12, gfx12_5}) {
      const Opcode other = reversed_form(opcode, generation), shorter = two_address_form(opcode, generation);
      if (other != Opcode::invalid) EXPECT_EQ(reversed_form(other, generation), opcode) << row(opcode).name;
      if (shorter != Opcode::invalid) EXPECT_EQ(three_address_form(shorter, generation), opcode) << row(opcode).name;
      reversed += other != Opcode::invalid && other != opcode;
      two_address += shorter != Opcode::invalid;
    }
  }
  std::printf("%u reversed forms, %u two-address forms\n", reversed, two_address);
}

// Which VGPRs an image's address surely has. From GFX10 on the instruction's dimension determines that, and LLVM has as
// many. It rounds addresses of more than 12 registers up to 16.
TEST_P(EffectsOf, ImagesReadTheAddressRegistersOfLlvm) {
  const Subject& subject = GetParam();
  const target::Processor& processor = *subject.processor;
  if (processor.generation < target::Generation::gfx10) GTEST_SKIP() << "the resource has the dimension";
  const unsigned wave_size = subject.wave_size != 0 ? subject.wave_size : 32;
  const Llvm llvm(processor, wave_size);
  std::map<Opcode, std::string> different;
  std::set<Opcode> equal;
  size_t compared = 0;
  for (const Bytes& bytes : patterns(processor, 60, 2)) {
    const auto instruction = decode(bytes, processor, wave_size);
    if (!instruction || !is_image(*instruction) || !has_description(*instruction)) continue;
    const auto description = llvm.describe(bytes);
    if (!description || description->size != instruction->size) continue;
    const auto theirs = image_address_of(*instruction, description->reads);
    const auto must = image_address_of(*instruction, names_of({}, must_effects_of(*instruction).vector_reads, false));
    if (!theirs || !must) continue;
    ++compared;
    // LLVM describes all addresses that an encoding names, even if there are more than the dimension has.
    Registers named;
    for (unsigned i = 0; i < instruction->address_count; ++i) {
      named.insert("v" + std::to_string(instruction->addresses[i]));
    }
    const bool has_more = *theirs == named && without(*must, named).empty() && must->size() < named.size();
    const bool is_rounded = theirs->size() == 16 && must->size() > 12 && without(*must, *theirs).empty();
    if (*theirs == *must || is_rounded || has_more) {
      equal.insert(instruction->opcode);
    } else {
      different.try_emplace(instruction->opcode, print(*instruction, processor) + " (" + description->name +
                                                     ")\n    LLVM:" + text_of(*theirs) +
                                                     "\n    must:" + text_of(*must));
    }
  }
  for (const auto& [opcode, text] : different) ADD_FAILURE() << text;
  std::printf("%s: %zu images compared, %zu opcodes equal\n", subject.name().c_str(), compared, equal.size());
}

/// GFX10's encoding of an image instruction (RDNA ISA guide, "MIMG"), with its address in v[64:...].
Bytes gfx10_image(unsigned opcode, unsigned components, unsigned dimension, bool a16) {
  const uint32_t dmask = (1u << components) - 1;
  const uint32_t first = 0xF000'0000 | (opcode & 0x7F) << 18 | opcode >> 7 | dmask << 8 | dimension << 3;
  const uint32_t second = 64 | (a16 ? 1u << 30 : 0);
  Bytes bytes(20);
  std::memcpy(bytes.data(), &first, 4);
  std::memcpy(bytes.data() + 4, &second, 4);
  return bytes;
}

// Until GFX9 only the resource has the dimension: what an address surely has is that of one dimension, or of an array
// of such images, of which LLVM's descriptions for GFX10 say how long it is.
TEST(Effects, ImagesBeforeGfx10ReadTheShortestAddress) {
  const Llvm llvm(*target::find_processor("gfx1030"), 32);
  for (const char* name : {"gfx600", "gfx700", "gfx803", "gfx900", "gfx906", "gfx90a"}) {
    const target::Processor& processor = *target::find_processor(name);
    std::set<Opcode> opcodes;
    for (const Bytes& bytes : patterns(processor, 60, 3)) {
      const auto instruction = decode(bytes, processor, 64);
      if (!instruction || !is_image(*instruction)) continue;
      const Opcodes::Change opcode = row(instruction->opcode).opcodes.on(target::Generation::gfx10);
      if (opcode.opcode == Opcodes::none) continue;
      // Atomics that compare have two values.
      const unsigned components = words_of(row(instruction->opcode).operands[0].type);
      const auto description = llvm.describe(
          gfx10_image(static_cast<unsigned>(opcode.opcode), components, instruction->da ? 4 : 0, instruction->a16));
      if (!description) continue;
      size_t words = 0;
      for (unsigned reg = 64; description->reads.contains("v" + std::to_string(reg)); ++reg) ++words;
      const auto must = image_address_of(*instruction, names_of({}, must_effects_of(*instruction).vector_reads, false));
      if (!must) continue;
      const size_t in_range = std::min<size_t>(words, 256 - instruction->operands[1].reg);
      EXPECT_EQ(must->size(), in_range) << name << ": " << print(*instruction, processor) << ", LLVM has "
                                        << description->name;
      opcodes.insert(instruction->opcode);
    }
    EXPECT_GT(opcodes.size(), 20u) << name;
    std::printf("%s: %zu opcodes\n", name, opcodes.size());
  }
}

/// LLVM disassembles GFX8 and later, and LLVM 19 knows nothing later than GFX12. What GFX6, GFX7, gfx950 and GFX12.5
/// have is mostly in rows that others have, too.
std::vector<Subject> disassembled_subjects() {
  std::vector<Subject> subjects = all_subjects();
  std::erase_if(subjects, [](const Subject& subject) {
    return subject.processor->generation < target::Generation::gfx8 || !Llvm(*subject.processor, 0).knows_processor();
  });
  return subjects;
}

INSTANTIATE_TEST_SUITE_P(All, EffectsOf, testing::ValuesIn(disassembled_subjects()),
                         [](const auto& info) { return info.param.name(); });

}  // namespace
}  // namespace Atoll::isa::test
