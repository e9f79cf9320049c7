// codegen: final instructions, and the text around them.
#include "codegen/emission.h"

#include <fmt/format.h>

#include <array>
#include <memory>
#include <optional>

#include "hazards/hazard_recognizer.h"
#include "hazards/wait_builder.h"
#include "isa/effects.h"
#include "isa/encode.h"
#include "isa/print.h"
#include "isa/table.h"

namespace Atoll::codegen {

using isa::Encoding;
using isa::Instruction;
using isa::Opcode;
using support::ErrorKind;
using support::fail;
using support::Result;

namespace {

/// A final instruction; a branch has the block that it leads to.
struct FinalInstruction {
  Instruction instruction;
  std::optional<BlockNumber> target;
  std::string text;  ///< in place of what the instruction prints: it has a relocation
};

class Finisher {
 public:
  explicit Finisher(const MachineFunction& function)
      : function_(function), processor_(*function.target.processor), lane_words_(function.lane_mask_dwords()) {}

  Result<std::vector<std::vector<FinalInstruction>>> run() {
    std::vector<std::vector<FinalInstruction>> blocks;
    for (size_t number = 0; number < function_.blocks.size(); ++number) {
      out_.clear();
      hazards::HazardRecognizer recognizer;
      const auto& instructions = function_.blocks[number].instructions;
      for (size_t i = 0; i < instructions.size(); ++i) {
        const MachineInstruction& each = instructions[i];
        if (each.pseudo == Pseudo::cache) {
          out_.push_back({Instruction{}, std::nullopt, function_.texts[each.operands[0].value]});
          wait(recognizer);
          continue;
        }
        if (each.pseudo == Pseudo::address) {
          if (auto ok = put_address(recognizer, each); !ok) return std::unexpected(ok.error());
          continue;
        }
        auto made = instruction_of(each);
        if (!made) return std::unexpected(made.error());
        std::optional<BlockNumber> to;
        if (!each.operands.empty() && each.operands[0].kind == MachineOperand::Kind::block) to = each.operands[0].reg;
        // A branch to the block that follows is none.
        if (each.opcode == Opcode::s_branch && to == number + 1 && i + 1 == instructions.size()) continue;
        const bool is_first_branch = to && !ended_;
        if (is_first_branch) wait_out(recognizer);
        put(recognizer, *made, to);
        if (to) ended_ = true;
        if (isa::row_of(*made).has(isa::flag::memory)) wait(recognizer);
      }
      ended_ = false;
      if (out_.empty() || !out_.back().target) wait_out(recognizer);
      blocks.push_back(std::move(out_));
      out_ = {};
    }
    return blocks;
  }

 private:
  uint64_t size_of(const Instruction& instruction) const {
    const auto encoded = isa::encode(instruction, processor_, function_.target.wave_size);
    return encoded ? encoded->size : 4;
  }

  /// An address relative to the program counter. s_getpc_b64 gives the place of the instruction behind it; a relocation
  /// is relative to its own place, that of a literal.
  Result<void> put_address(hazards::HazardRecognizer& recognizer, const MachineInstruction& at) {
    const std::string& symbol = function_.symbols[at.operands[1].value];
    const MachineOperand pair = at.operands[0];
    constexpr uint64_t literal = 0x12345678;
    const std::array<MachineInstruction, 3> sequence = {{
        {.opcode = Opcode::s_getpc_b64, .definitions = 1, .operands = {pair}},
        {.opcode = Opcode::s_add_u32,
         .definitions = 1,
         .operands = {pair.part(0), pair.part(0), MachineOperand::constant_of(literal)}},
        {.opcode = Opcode::s_addc_u32,
         .definitions = 1,
         .operands = {pair.part(1), pair.part(1), MachineOperand::constant_of(literal)}},
    }};
    size_t after_getpc = 0;
    for (size_t i = 0; i < sequence.size(); ++i) {
      auto made = instruction_of(sequence[i]);
      if (!made) return std::unexpected(made.error());
      put(recognizer, *made, std::nullopt);
      if (i == 0) {
        after_getpc = out_.size();
        continue;
      }
      // Hazards may have put other instructions between. The literal is the last dword.
      uint64_t distance = 0;
      for (size_t j = after_getpc; j < out_.size(); ++j) distance += size_of(out_[j].instruction);
      std::string& text = out_.back().text;
      isa::append(text, *made, processor_);
      const std::string printed = fmt::format("{:#x}", literal);
      text.replace(text.find(printed), printed.size(),
                   fmt::format("{}@rel32@{}+{}", symbol, i == 1 ? "lo" : "hi", distance - 4));
    }
    return {};
  }

  Result<Instruction> instruction_of(const MachineInstruction& at) {
    const isa::InstructionRow& row = isa::row_on(at.opcode, processor_.generation);
    const auto change = row.opcodes.on(processor_.generation);
    Instruction made;
    made.opcode = at.opcode;
    made.generation = processor_.generation;
    made.lane_mask_words = static_cast<uint8_t>(lane_words_);
    made.encoding = change.encoding != Encoding::count ? change.encoding : row.encoding;
    made.offset = at.offset;
    made.clamp = at.clamp;
    made.glc = at.glc;
    made.slc = at.slc;
    made.dlc = at.dlc;
    made.scc = at.scc;
    made.temporal_hint = at.temporal_hint;
    made.offen = at.offen;
    made.addr64 = at.addr64;
    made.scope = at.scope;
    made.immediate = at.immediate;
    made.offset_immediate = made.encoding == Encoding::smem;
    // GFX6 and GFX7 count the offsets of scalar loads in dwords.
    if (made.encoding == Encoding::smem && processor_.generation < target::Generation::gfx8) made.offset /= 4;
    // Temporal hint RETURN of an atomic (GFX12) is in the place of glc.
    if (at.glc && processor_.generation >= target::Generation::gfx12) made.temporal_hint = 1;
    for (size_t i = 0, field = 0; i < at.operands.size(); ++i, ++field) {
      const MachineOperand& from = at.operands[i];
      if (from.kind == MachineOperand::Kind::block) break;
      if (made.encoding == Encoding::smem && from.kind == MachineOperand::Kind::off) break;
      // An atomic's row also has the result that it returns if asked to.
      if (field == 0 && row.operands[0].field == isa::Field::flat_return && !at.glc) ++field;
      isa::Operand& to = made.operands[made.operand_count++];
      to.type = row.operands[field].type;
      to.neg = from.neg;
      to.abs = from.abs;
      to.words = from.dwords;
      switch (from.kind) {
        case MachineOperand::Kind::sgpr:
          to.kind = isa::OperandKind::scalar;
          to.reg = static_cast<uint16_t>(from.reg);
          break;
        case MachineOperand::Kind::vgpr:
          to.kind = isa::OperandKind::vgpr;
          to.reg = static_cast<uint16_t>(from.reg);
          break;
        case MachineOperand::Kind::aperture:
          to.kind = static_cast<isa::OperandKind>(from.reg);
          break;
        case MachineOperand::Kind::constant: {
          to.kind = isa::OperandKind::constant;
          to.words = 0;
          to.value = from.value;
          if (isa::words_of(to.type) == 1 && (to.type == isa::DataType::i32))
            to.value = static_cast<uint64_t>(int64_t{static_cast<int32_t>(from.value)});
          break;
        }
        default:
          to.kind = isa::OperandKind::off;
          to.words = 0;
      }
    }
    made.destinations = at.definitions;
    auto encoded = isa::encode(made, processor_, function_.target.wave_size);
    if (!encoded &&
        (made.encoding == Encoding::vop1 || made.encoding == Encoding::vop2 || made.encoding == Encoding::vopc)) {
      made.encoding = Encoding::vop3;
      encoded = isa::encode(made, processor_, function_.target.wave_size);
    }
    if (!encoded && !at.operands.empty() && at.operands[0].kind != MachineOperand::Kind::block) {
      return fail(ErrorKind::unsupported, "function {}: {}: {}", function_.name, print(function_, at),
                  encoded.error().message);
    }
    if (encoded) made.size = encoded->size;
    return made;
  }

  /// Recognizers keep pointers to what is returned.
  const hazards::HazardInfo& info_of(const Instruction& instruction) {
    return *infos_.emplace_back(std::make_unique<hazards::HazardInfo>(hazards::hazard_info(
        instruction, isa::effects_of(instruction), processor_, function_.target.wave_size, false)));
  }

  void put(hazards::HazardRecognizer& recognizer, const Instruction& instruction, std::optional<BlockNumber> to) {
    const hazards::HazardInfo& info = info_of(instruction);
    for (unsigned tries = 0; tries < 16; ++tries) {
      hazards::HazardRecognizer ahead = recognizer;
      const auto violations = ahead.step(info, ++pc_);
      if (violations.empty()) {
        recognizer = std::move(ahead);
        break;
      }
      for (const auto& each : violations) remedy(recognizer, each);
      if (tries == 15) recognizer = std::move(ahead);
    }
    out_.push_back({instruction, to, {}});
  }

  void add(hazards::HazardRecognizer& recognizer, const Instruction& instruction) {
    recognizer.step(info_of(instruction), ++pc_);
    out_.push_back({instruction, std::nullopt, {}});
  }

  void remedy(hazards::HazardRecognizer& recognizer, const hazards::HazardRecognizer::Violation& violation) {
    using Kind = hazards::Remedy::Kind;
    const unsigned missing = violation.required > violation.distance ? violation.required - violation.distance : 1;
    std::vector<Instruction> with;
    switch (violation.hazard->remedy.kind) {
      case Kind::v_nop:
      case Kind::valu:
        with = hazards::vector_nops(missing, processor_);
        break;
      case Kind::dependency:
        with = {hazards::dependency_wait_for(violation.hazard->remedy.fields, processor_)};
        break;
      case Kind::stores: {
        hazards::CounterWaits waits;
        waits.of(memory_model::Counter::store) = 0;
        with = hazards::counter_waits_for(waits, processor_);
        break;
      }
      default:
        with = hazards::wait_states_for(missing, processor_);
    }
    for (Instruction& each : with) {
      each.lane_mask_words = static_cast<uint8_t>(lane_words_);
      add(recognizer, each);
    }
  }

  /// Waits for all memory accesses.
  void wait(hazards::HazardRecognizer& recognizer) {
    hazards::CounterWaits waits;
    for (const auto counter : {memory_model::Counter::load, memory_model::Counter::store, memory_model::Counter::lds,
                               memory_model::Counter::scalar})
      waits.of(counter) = 0;
    for (const Instruction& each : hazards::counter_waits_for(waits, processor_)) add(recognizer, each);
  }

  /// Another block may begin with any instruction.
  void wait_out(hazards::HazardRecognizer& recognizer) {
    if (recognizer.empty()) return;
    for (const Instruction& each : hazards::wait_states_for(5, processor_)) add(recognizer, each);
    if (processor_.generation >= target::Generation::gfx10)
      add(recognizer, hazards::dependency_wait_for(hazards::all_dependency_fields, processor_));
  }

  const MachineFunction& function_;
  const target::Processor& processor_;
  unsigned lane_words_;
  std::vector<FinalInstruction> out_;
  std::vector<std::unique_ptr<hazards::HazardInfo>> infos_;
  uint64_t pc_ = 0;
  bool ended_ = false;
};

void append_descriptor(std::string& text, const MachineFunction& function) {
  const target::Processor& processor = *function.target.processor;
  const KernelInputs& inputs = function.inputs;
  const auto line = [&](std::string_view name, uint64_t value) {
    text += fmt::format("    .amdhsa_{} {}\n", name, value);
  };
  text += fmt::format("  .section .rodata,\"a\"\n  .p2align 6\n  .amdhsa_kernel {}\n", function.name);
  line("group_segment_fixed_size", function.lds_bytes);
  line("private_segment_fixed_size", function.scratch_bytes);
  line("kernarg_size", function.kernarg_bytes);
  if (inputs.scratch) {
    switch (processor.flat_scratch) {
      case target::FlatScratch::architected:
        line("enable_private_segment", 1);
        break;
      case target::FlatScratch::absolute:
        line("user_sgpr_flat_scratch_init", 1);
        line("system_sgpr_private_segment_wavefront_offset", 1);
        break;
      default:
        line("user_sgpr_private_segment_buffer", 1);
        line("system_sgpr_private_segment_wavefront_offset", 1);
    }
  }
  if (inputs.dispatch_ptr) line("user_sgpr_dispatch_ptr", 1);
  if (inputs.kernarg_ptr) line("user_sgpr_kernarg_segment_ptr", 1);
  line("system_sgpr_workgroup_id_x", 1);
  line("system_sgpr_workgroup_id_y", inputs.work_group_id[1] ? 1 : 0);
  line("system_sgpr_workgroup_id_z", inputs.work_group_id[2] ? 1 : 0);
  line("system_vgpr_workitem_id", inputs.work_item_dimensions - 1u);
  line("next_free_vgpr", std::max(function.vgprs, 1u));
  line("next_free_sgpr", std::max(function.sgprs, 1u));
  if (processor.unified_vgprs) line("accum_offset", (std::max(function.vgprs, 1u) + 3) / 4 * 4);
  if (processor.has_wave_size(32) && processor.has_wave_size(64))
    line("wavefront_size32", function.target.wave_size == 32);
  line("float_denorm_mode_32", 3);
  line("float_denorm_mode_16_64", 3);
  if (processor.ieee_mode) line("ieee_mode", 1);
  text += "  .end_amdhsa_kernel\n";
}

void append_metadata(std::string& text, std::span<const FinalKernel> kernels, std::string_view target_id) {
  text += "  .amdgpu_metadata\n---\namdhsa.version: [1, 2]\n";
  text +=
      fmt::format("amdhsa.target: amdgcn-amd-amdhsa--{}\namdhsa.kernels:{}\n", target_id, kernels.empty() ? " []" : "");
  for (const FinalKernel& kernel : kernels) {
    const MachineFunction& each = kernel.function;
    text += fmt::format(
        "  - .name: {0}\n    .symbol: {0}.kd\n    .kernarg_segment_size: {1}\n    .kernarg_segment_align: {2}\n",
        each.name, each.kernarg_bytes, each.kernarg_align);
    text +=
        fmt::format("    .group_segment_fixed_size: {}\n    .private_segment_fixed_size: {}\n    .wavefront_size: {}\n",
                    each.lds_bytes, each.scratch_bytes, each.target.wave_size);
    text += fmt::format("    .sgpr_count: {}\n    .vgpr_count: {}\n    .max_flat_workgroup_size: {}\n", each.sgprs,
                        each.vgprs, each.max_work_group_size);
    if (each.target.processor->has_agprs) text += "    .agpr_count: 0\n";
    if (each.required_work_group_size[0] != 0)
      text += fmt::format("    .reqd_workgroup_size: [{}, {}, {}]\n", each.required_work_group_size[0],
                          each.required_work_group_size[1], each.required_work_group_size[2]);
    if (each.arguments.empty()) continue;
    text += "    .args:\n";
    for (const KernelArgument& argument : each.arguments) {
      text += fmt::format("      - .offset: {}\n        .size: {}\n        .value_kind: {}\n", argument.offset,
                          argument.size, argument.kind);
      if (!argument.name.empty()) text += fmt::format("        .name: {}\n", argument.name);
      if (!argument.type_name.empty()) text += fmt::format("        .type_name: '{}'\n", argument.type_name);
      if (argument.is_const) text += "        .is_const: true\n";
      if (argument.is_restrict) text += "        .is_restrict: true\n";
      if (argument.is_volatile) text += "        .is_volatile: true\n";
      if (!argument.address_space.empty()) text += fmt::format("        .address_space: {}\n", argument.address_space);
    }
  }
  text += "...\n  .end_amdgpu_metadata\n";
}

}  // namespace

Result<FinalKernel> finish(MachineFunction function) {
  const target::Processor& processor = *function.target.processor;
  auto blocks = Finisher(function).run();
  if (!blocks) return std::unexpected(blocks.error());
  std::string text;
  for (size_t number = 0; number < blocks->size(); ++number) {
    if (number != 0) text += fmt::format(".L{}_{}:\n", function.name, number);
    for (const FinalInstruction& each : (*blocks)[number]) {
      text += "  ";
      if (each.target)
        text += fmt::format("{} .L{}_{}", isa::mnemonic(each.instruction.opcode), function.name, *each.target);
      else if (!each.text.empty())
        text += each.text;
      else
        isa::append(text, each.instruction, processor);
      text += '\n';
    }
  }
  return FinalKernel{.function = std::move(function), .text = std::move(text)};
}

std::string assembly_of(std::span<const FinalKernel> kernels, std::string_view target_id, unsigned version) {
  std::string text =
      fmt::format("  .amdgcn_target \"amdgcn-amd-amdhsa--{}\"\n  .amdhsa_code_object_version {}\n", target_id, version);
  for (const FinalKernel& kernel : kernels) {
    const std::string& name = kernel.function.name;
    text += fmt::format("  .text\n  .globl {0}\n  .p2align 8\n  .type {0},@function\n{0}:\n", name);
    text += kernel.text;
    text += fmt::format(".Lend_{0}:\n  .size {0}, .Lend_{0}-{0}\n", name);
    append_descriptor(text, kernel.function);
  }
  append_metadata(text, kernels, target_id);
  return text;
}

}  // namespace Atoll::codegen
