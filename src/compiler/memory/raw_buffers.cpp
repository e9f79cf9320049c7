// compiler: buffers other than scratch (raw_buffers.h).
#include "compiler/memory/raw_buffers.h"

#include "engine/memory/buffer_resource.h"

namespace Atoll::compiler {

void RawBuffers::check(const MemoryOperands& operands, ScalarRegisters& registers, uint64_t pc) {
  if (has_wide_offsets(operands) || !known_.insert(key(operands)).second) return;
  llvm::IRBuilder<>& ir = frame_.ir;
  using engine::BufferResource;
  if (frame_.target.processor->generation >= target::Generation::gfx12_5) {
    // Without an index they are all plain.
    if (!operands.has_index) return;
    using Layout = BufferResource::Gfx12_5;
    llvm::Value* word = registers.word(operands.resource->reg + 3u);
    llvm::Value* is_raw = ir.CreateICmpNE(ir.CreateAnd(word, ir.getInt32(Layout::raw_field)), ir.getInt32(0));
    llvm::Value* has_stride = ir.CreateICmpNE(ir.CreateAnd(word, ir.getInt32(Layout::stride_field)), ir.getInt32(0));
    return frame_.interpret_unless(ir.CreateAnd(has_stride, ir.CreateNot(is_raw)), pc);
  }
  const target::BufferResources layout = frame_.target.processor->buffer_resources;
  const bool has_wide_swizzle = layout >= target::BufferResources::gfx11;
  llvm::Value* word1 = registers.word(operands.resource->reg + 1u);
  llvm::Value* word3 = registers.word(operands.resource->reg + 3u);
  llvm::Value* special = ir.CreateAnd(
      word1, ir.getInt32(has_wide_swizzle ? BufferResource::wide_swizzle_field : BufferResource::swizzle_field));
  special = ir.CreateOr(special, ir.CreateAnd(word3, ir.getInt32(BufferResource::add_thread_id_field)));
  llvm::Value* is_plain = ir.CreateICmpEQ(special, ir.getInt32(0));
  if (layout >= target::BufferResources::gfx10) {
    const auto bounds = operands.has_index ? BufferResource::Bounds::structured : BufferResource::Bounds::raw;
    const uint32_t field = static_cast<uint32_t>(bounds) << BufferResource::bounds_shift;
    llvm::Value* its_bounds = ir.CreateAnd(word3, ir.getInt32(BufferResource::bounds_field));
    is_plain = ir.CreateAnd(is_plain, ir.CreateICmpEQ(its_bounds, ir.getInt32(field)));
  }
  llvm::Value* stride = ir.CreateAnd(word1, ir.getInt32(BufferResource::stride_field));
  const target::Processor& processor = *frame_.target.processor;
  if (operands.has_index && !BufferResource::counts_bytes(processor)) {
    is_plain = ir.CreateAnd(is_plain, ir.CreateICmpNE(stride, ir.getInt32(0)));
  } else if (layout == target::BufferResources::gfx6) {
    is_plain = ir.CreateAnd(is_plain, ir.CreateICmpEQ(stride, ir.getInt32(0)));  // or its size is in records
  }
  frame_.interpret_unless(is_plain, pc);
}

void RawBuffers::note_writes(const ScalarSet& written) {
  std::erase_if(known_, [&](const Key& known) {
    bool is_written = false;
    for (unsigned word = 0; word < 4; ++word) is_written |= written[known.first + word];
    return is_written;
  });
}

}  // namespace Atoll::compiler
