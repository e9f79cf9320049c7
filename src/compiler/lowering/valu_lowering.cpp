// compiler: vector instructions as IR (valu_lowering.h).
#include "compiler/lowering/valu_lowering.h"

#include <algorithm>
#include <array>

#include <llvm/IR/IntrinsicsX86.h>

#include "compiler/analysis/varying_masks.h"
#include "engine/interpreter/prepare.h"
#include "engine/interpreter/vector.h"
#include "isa/table.h"
#include "semantics/modifiers.h"

namespace Atoll::compiler {

namespace {

using engine::constant_value;
using engine::is_row;
using engine::vector_operands;
using engine::VectorOperands;
using isa::OperandKind;

/// Whether a move stays within each chunk of lanes, and is the same in all of them.
bool stays_in_chunks(const semantics::DppMove& move) {
  for (unsigned lane = 0; lane < semantics::wave_lanes; ++lane) {
    const unsigned place = lane % semantics::chunk_lanes;
    if (move.map.from[lane] != lane - place + move.map.from[place]) return false;
    if ((move.map.in_range >> lane & 1) != (move.map.in_range >> place & 1)) return false;
  }
  return true;
}

/// The move of an instruction with DPP, and of ds_swizzle_b32, which reads 0 from lanes that are not active.
std::optional<semantics::DppMove> move_of(const isa::Instruction& instruction) {
  if (instruction.opcode == isa::Opcode::ds_swizzle_b32) {
    return semantics::DppMove{.map = semantics::swizzle_map(static_cast<uint16_t>(instruction.offset)),
                              .enabled = ~uint64_t{0},
                              .zero_invalid = true,
                              .fetch_inactive = false};
  }
  using enum isa::Extension;
  if (instruction.extension != dpp16 && instruction.extension != dpp8) return {};
  return semantics::dpp_move(instruction.extension, instruction.dpp);
}

bool is_exchange(isa::Opcode opcode) {
  return opcode == isa::Opcode::ds_bpermute_b32 || opcode == isa::Opcode::ds_swizzle_b32;
}

/// Between VGPRs and AGPRs.
bool is_move(isa::Opcode opcode) {
  const isa::InstructionRow& row = isa::row(opcode);
  return row.operands[0].field == isa::Field::agpr_dst || row.operands[1].field == isa::Field::agpr_src0;
}

bool takes_move(const isa::Instruction& instruction) {
  if (instruction.destinations != 1 || instruction.sources() != 1 || !is_row(instruction.dst())) return false;
  const isa::Operand& source = instruction.src(0);
  if (!is_row(source) && source.kind != OperandKind::scalar && !constant_value(source)) return false;
  return instruction.extension == isa::Extension::none && engine::registers_exist(instruction);
}

/// v_swap_b32
bool takes_swap(const isa::Instruction& instruction) {
  return instruction.extension == isa::Extension::none && instruction.destinations == 2 && is_row(instruction.dst(0)) &&
         is_row(instruction.dst(1)) && engine::registers_exist(instruction);
}

bool takes_exchange(const isa::Instruction& instruction) {
  const unsigned sources = instruction.opcode == isa::Opcode::ds_bpermute_b32 ? 2 : 1;
  if (instruction.destinations != 1 || !is_row(instruction.dst()) || instruction.sources() < sources) return false;
  for (unsigned i = 0; i < sources; ++i) {
    if (!is_row(instruction.src(i))) return false;
  }
  return engine::registers_exist(instruction);
}

}  // namespace

bool ValuLowering::reads_other_lanes(const isa::Instruction& instruction) {
  using enum isa::Extension;
  return instruction.extension == dpp16 || instruction.extension == dpp8 || is_exchange(instruction.opcode);
}

bool ValuLowering::crosses_chunks(const isa::Instruction& instruction) {
  if (instruction.opcode == isa::Opcode::ds_bpermute_b32) return true;
  const auto move = move_of(instruction);
  // A lane that is not active need not hold its register's value in a region.
  return move && (move->fetch_inactive || !stays_in_chunks(*move));
}

bool ValuLowering::takes(const isa::Instruction& instruction) {
  if (is_exchange(instruction.opcode)) return takes_exchange(instruction);
  if (is_move(instruction.opcode)) return takes_move(instruction);
  if (instruction.opcode == isa::Opcode::v_swap_b32) return takes_swap(instruction);
  if (instruction.second != isa::Opcode::invalid) {
    const auto halves = DualHalves::of(instruction);
    return halves && takes(halves->first) && takes(halves->second);
  }
  const semantics::VectorShape& shape = semantics::vector_function(instruction.opcode, instruction.generation);
  if (shape.call == nullptr || shape.sources > 3 || shape.masks_in > 1) return false;
  if (shape.source_part != 0 || shape.writes_one_byte) return false;  // op_sel means something else there
  using enum isa::Extension;
  if (instruction.extension == dpp16 || instruction.extension == dpp8) {
    const auto move = move_of(instruction);
    if (!move || !is_row(instruction.src(0))) return false;
  }
  const VectorOperands operands = vector_operands(instruction);
  if (operands.sources != shape.sources || operands.masks != shape.masks_in || operands.results != shape.destinations ||
      (operands.mask_result != nullptr || writes_exec(instruction)) != shape.mask_out || operands.results > 1) {
    return false;
  }
  for (const isa::Operand* mask : {operands.mask[0], operands.mask_result}) {
    if (mask != nullptr && !is_mask(instruction, *mask)) return false;
  }
  if (operands.results != 0 && !is_row(*operands.result[0])) return false;
  for (unsigned i = 0; i < operands.sources; ++i) {
    const isa::Operand& source = *operands.source[i];
    const bool is_known = is_row(source) || source.kind == OperandKind::scalar || constant_value(source);
    if (!is_known && (!is_scratch_base(source) || shape.mixed_sources)) return false;
    if (!is_row(source) && shape.src_words[i] > 2) return false;
    if (source.kind == OperandKind::scalar && source.words < shape.src_words[i]) return false;
  }
  return engine::registers_exist(instruction);
}

ValuLowering::Prepared ValuLowering::prepare(const isa::Instruction& instruction, ScalarRegisters& registers) {
  const VectorOperands operands = vector_operands(instruction);
  Prepared prepared;
  prepared.instruction = &instruction;
  prepared.mode = frame_.mode.floats;
  if (crosses_chunks(instruction)) prepared.exec_whole = lane_mask(frame_, registers, isa::scalar::exec_lo);
  if (is_exchange(instruction.opcode) || instruction.opcode == isa::Opcode::v_swap_b32) return prepared;
  prepared.shape = semantics::vector_function(instruction.opcode, instruction.generation);
  if (is_move(instruction.opcode))
    prepared.shape = {.dst_words = {1}, .src_words = {1}, .destinations = 1, .sources = 1};
  for (unsigned i = 0; i < prepared.shape.sources; ++i) {
    Source& source = prepared.source[i];
    source.operand = prepared.shape.mixed_sources ? engine::mixed_source(*operands.source[i]) : *operands.source[i];
    const isa::Operand& operand = source.operand;
    if (const auto value = constant_value(operand)) {
      source.scalar[0] = frame_.ir.getInt32(static_cast<uint32_t>(*value));
      source.scalar[1] = frame_.ir.getInt32(static_cast<uint32_t>(*value >> 32));
    } else if (operand.kind == OperandKind::scalar) {
      source.scalar[0] = registers.word(operand.reg);
      if (prepared.shape.src_words[i] == 2) source.scalar[1] = registers.word(operand.reg + 1u);
    } else if (is_scratch_base(operand)) {
      llvm::Value* base = scratch_base(frame_, operand);
      source.scalar[0] = frame_.ir.CreateTrunc(base, frame_.i32());
      source.scalar[1] = frame_.ir.CreateTrunc(frame_.ir.CreateLShr(base, 32), frame_.i32());
    }
  }
  if (operands.results != 0) prepared.result = operands.result[0];
  prepared.mask = operands.mask[0];
  prepared.mask_result = operands.mask_result;
  return prepared;
}

template <typename T>
llvm::Value* ValuLowering::constant(const T& value) {
  const llvm::StringRef bytes(reinterpret_cast<const char*>(&value), sizeof value);
  llvm::Constant* data = llvm::ConstantDataArray::getString(frame_.context, bytes, /*AddNull=*/false);
  auto* global = new llvm::GlobalVariable(*frame_.function->getParent(), data->getType(), true,
                                          llvm::GlobalValue::PrivateLinkage, data);
  global->setAlignment(llvm::Align(alignof(T)));
  return global;
}

llvm::Value* ValuLowering::sources_of(const semantics::LaneMap& map, ChunkState& chunk) {
  std::array<uint32_t, semantics::wave_lanes> lanes;
  std::ranges::copy(map.from, lanes.begin());
  llvm::Value* address = frame_.ir.CreateInBoundsGEP(frame_.i32(), constant(lanes), chunk.first_lane64());
  return frame_.ir.CreateAlignedLoad(frame_.chunk(), address, llvm::Align(4));
}

llvm::Value* ValuLowering::are_in(llvm::Value* mask, llvm::Value* lanes) {
  llvm::IRBuilder<>& ir = frame_.ir;
  llvm::Type* wide = llvm::FixedVectorType::get(frame_.i64(), semantics::chunk_lanes);
  llvm::Value* masks = ir.CreateVectorSplat(semantics::chunk_lanes, mask);
  return ir.CreateTrunc(ir.CreateLShr(masks, ir.CreateZExt(lanes, wide)), frame_.lanes());
}

llvm::Value* ValuLowering::words_of(llvm::Value* row, llvm::Value* lanes, llvm::Value* valid) {
  llvm::IRBuilder<>& ir = frame_.ir;
  if (frame_.has_scatters) {
    // Permutations of the row's vectors: a gather takes four times as long, and waits for stores to the row to retire.
    const auto two_vectors = [&](unsigned first) {
      const auto vector = [&](unsigned lane) {
        return ir.CreateAlignedLoad(frame_.chunk(), frame_.at(row, lane * 4), llvm::Align(4));
      };
      return ir.CreateIntrinsic(llvm::Intrinsic::x86_avx512_vpermi2var_d_512, {},
                                {vector(first), lanes, vector(first + semantics::chunk_lanes)});
    };
    constexpr unsigned half = 2 * semantics::chunk_lanes;
    llvm::Value* words = two_vectors(0);
    if (frame_.wave_size() > half) {
      llvm::Value* upper = ir.CreateAnd(lanes, llvm::ConstantInt::get(lanes->getType(), half));
      llvm::Value* is_upper = ir.CreateICmpNE(upper, llvm::Constant::getNullValue(lanes->getType()));
      words = ir.CreateSelect(is_upper, two_vectors(half), words);
    }
    return ir.CreateSelect(valid, words, llvm::Constant::getNullValue(frame_.chunk()));
  }
  llvm::Value* addresses = frame_.ir.CreateInBoundsGEP(frame_.i32(), row, lanes);
  return frame_.ir.CreateMaskedGather(frame_.chunk(), addresses, llvm::Align(4), valid,
                                      llvm::Constant::getNullValue(frame_.chunk()));
}

llvm::Value* ValuLowering::valid_lanes(const Prepared& prepared, const semantics::DppMove& move, ChunkState& chunk) {
  llvm::IRBuilder<>& ir = frame_.ir;
  llvm::Value* in_range = chunk.slice(ir.getInt64(move.map.in_range));
  if (prepared.exec_whole != nullptr) {
    if (move.fetch_inactive) return in_range;
    return ir.CreateAnd(are_in(prepared.exec_whole, sources_of(move.map, chunk)), in_range);
  }
  int from[semantics::chunk_lanes];
  std::ranges::copy_n(move.map.from, semantics::chunk_lanes, from);
  return ir.CreateAnd(ir.CreateShuffleVector(chunk.exec(), llvm::ArrayRef<int>(from)), in_range);
}

llvm::Value* ValuLowering::moved(const Prepared& prepared, const semantics::DppMove& move, unsigned key,
                                 ChunkState& chunk) {
  llvm::Value* valid = valid_lanes(prepared, move, chunk);
  if (prepared.exec_whole != nullptr) return words_of(chunk.whole_row(key), sources_of(move.map, chunk), valid);
  int from[semantics::chunk_lanes];
  std::ranges::copy_n(move.map.from, semantics::chunk_lanes, from);
  llvm::Value* there = frame_.ir.CreateShuffleVector(chunk.row(key), llvm::ArrayRef<int>(from));
  return frame_.ir.CreateSelect(valid, there, llvm::Constant::getNullValue(there->getType()));
}

/// ds_bpermute_b32 and ds_swizzle_b32.
void ValuLowering::emit_exchange(const Prepared& prepared, bool keep_inactive, ChunkState& chunk) {
  llvm::IRBuilder<>& ir = frame_.ir;
  const isa::Instruction& instruction = *prepared.instruction;
  llvm::Value* value;
  if (const auto move = move_of(instruction)) {
    value = moved(prepared, *move, row_key(instruction.src(0), 0), chunk);
  } else {
    const auto all = [&](uint32_t word) { return ir.CreateVectorSplat(semantics::chunk_lanes, ir.getInt32(word)); };
    llvm::Value* address = chunk.row(row_key(instruction.src(0), 0));
    address = ir.CreateAdd(address, all(static_cast<uint16_t>(instruction.offset)));
    const unsigned reach = std::min<unsigned>(frame_.wave_size(), frame_.target.processor->permute_lanes);
    llvm::Value* lanes = ir.CreateAnd(ir.CreateLShr(address, all(2)), all(reach - 1));
    if (reach != frame_.wave_size()) {  // each half of the wave by itself
      llvm::Value* half = ir.CreateAnd(chunk.first_lane(), ir.getInt32(~(reach - 1)));
      lanes = ir.CreateOr(lanes, ir.CreateVectorSplat(semantics::chunk_lanes, half));
    }
    llvm::Value* row = chunk.whole_row(row_key(instruction.src(1), 0));
    value = words_of(row, lanes, are_in(prepared.exec_whole, lanes));
  }
  const unsigned key = row_key(instruction.dst(), 0);
  if (keep_inactive) chunk.set_active_lanes(key, value);
  if (!keep_inactive) chunk.set_row(key, value);
}

void ValuLowering::emit_move(const Prepared& prepared, bool keep_inactive, ChunkState& chunk) {
  const Source& source = prepared.source[0];
  llvm::Value* value = source.scalar[0] != nullptr
                           ? frame_.ir.CreateVectorSplat(semantics::chunk_lanes, source.scalar[0])
                           : chunk.row(row_key(source.operand, 0));
  const unsigned key = row_key(*prepared.result, 0);
  if (keep_inactive) chunk.set_active_lanes(key, value);
  if (!keep_inactive) chunk.set_row(key, value);
}

void ValuLowering::emit_swap(const isa::Instruction& instruction, bool keep_inactive, ChunkState& chunk) {
  const unsigned keys[] = {row_key(instruction.dst(0), 0), row_key(instruction.dst(1), 0)};
  llvm::Value* values[] = {chunk.row(keys[1]), chunk.row(keys[0])};
  for (unsigned i = 0; i < 2; ++i) {
    if (keep_inactive) chunk.set_active_lanes(keys[i], values[i]);
    if (!keep_inactive) chunk.set_row(keys[i], values[i]);
  }
}

VectorOperation ValuLowering::operation(const Prepared& prepared) {
  const isa::Instruction& instruction = *prepared.instruction;
  VectorOperation operation;
  operation.opcode = instruction.opcode;
  operation.generation = instruction.generation;
  for (unsigned i = 0; i < prepared.shape.sources; ++i)
    operation.source[i] = VectorOperation::Source(prepared.source[i].operand);
  operation.mode = prepared.mode;
  operation.clamp = instruction.clamp;
  if (prepared.shape.has_truth_table) operation.truth_table = static_cast<uint8_t>(instruction.immediate);
  if (prepared.shape.has_signed_sources) {
    for (unsigned i = 0; i < 2; ++i) {
      operation.signed_sources |= static_cast<uint8_t>((operation.source[i].neg ? 1u : 0u) << i);
      operation.source[i].neg = false;
    }
  }
  if (prepared.result == nullptr) return operation;
  operation.result_type = instruction.dst().type;
  operation.omod = instruction.omod;
  operation.to_part = engine::writes_part(instruction);
  operation.to_high_half = instruction.op_sel_dst;
  if (operation.to_part) {
    const bool sdwa = instruction.extension == isa::Extension::sdwa;
    operation.part = instruction.dst_sel;
    operation.unused = sdwa ? instruction.dst_unused : isa::SdwaUnused::preserve;
  }
  return operation;
}

void ValuLowering::emit(const Prepared& prepared, bool keep_inactive, ChunkState& chunk) {
  if (is_exchange(prepared.instruction->opcode)) return emit_exchange(prepared, keep_inactive, chunk);
  if (is_move(prepared.instruction->opcode)) return emit_move(prepared, keep_inactive, chunk);
  if (prepared.instruction->opcode == isa::Opcode::v_swap_b32) {
    return emit_swap(*prepared.instruction, keep_inactive, chunk);
  }
  llvm::IRBuilder<>& ir = frame_.ir;
  const semantics::VectorShape& shape = prepared.shape;
  const std::optional<semantics::DppMove> move = move_of(*prepared.instruction);
  llvm::Value* written = chunk.exec();
  if (move) {
    written = ir.CreateAnd(written, chunk.slice(ir.getInt64(move->enabled)));
    if (!move->zero_invalid) written = ir.CreateAnd(written, valid_lanes(prepared, *move, chunk));
  }

  const VectorOperation operation = ValuLowering::operation(prepared);
  llvm::SmallVector<llvm::Value*, 16> arguments;
  for (unsigned i = 0; i < shape.sources; ++i) {
    const Source& source = prepared.source[i];
    for (unsigned word = 0; word < shape.src_words[i]; ++word) {
      if (source.scalar[0] != nullptr) {
        arguments.push_back(ir.CreateVectorSplat(semantics::chunk_lanes, source.scalar[word]));
      } else if (i == 0 && move) {
        arguments.push_back(moved(prepared, *move, row_key(source.operand, word), chunk));
      } else {
        arguments.push_back(chunk.row(row_key(source.operand, word)));
      }
    }
  }
  const unsigned result_words = prepared.result != nullptr ? shape.dst_words[0] : 0;
  if (operation.reads_result()) {
    for (unsigned word = 0; word < result_words; ++word)
      arguments.push_back(chunk.row(row_key(*prepared.result, word)));
  }
  if (prepared.mask != nullptr) {
    llvm::Value* mask =
        prepared.mask_whole != nullptr ? chunk.slice(prepared.mask_whole) : chunk.mask(prepared.mask->reg);
    arguments.push_back(chunk.bits(mask));
  }
  arguments.push_back(chunk.first_lane());
  arguments.push_back(chunk.bits(chunk.exec()));
  const std::vector<llvm::Value*> results = operations_.vector(operation).emit(ir, arguments);

  for (unsigned word = 0; word < result_words; ++word) {
    llvm::Value* value = results[word];
    const unsigned key = row_key(*prepared.result, word);
    if (keep_inactive || move) value = ir.CreateSelect(written, value, chunk.row(key));
    chunk.set_row(key, value);
  }
  if (shape.mask_out) {
    llvm::Value* mask = ir.CreateAnd(ir.CreateBitCast(results[result_words], frame_.lanes()), written);
    if (prepared.mask_result != nullptr) chunk.set_mask(prepared.mask_result->reg, mask);
    if (isa::row_of(*prepared.instruction).has(isa::flag::exec_out)) chunk.set_mask(isa::scalar::exec_lo, mask);
  }
}

}  // namespace Atoll::compiler
