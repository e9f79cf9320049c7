// compiler: buffers other than scratch (raw_buffers.h).
#include "compiler/memory/raw_buffers.h"

namespace Atoll::compiler {

void RawBuffers::check(const MemoryOperands& operands, ScalarRegisters& registers, uint64_t pc) {
  if (!known_.insert(key(operands)).second) return;
  llvm::IRBuilder<>& ir = frame_.ir;
  // As engine/buffer_resource.h reads it: records interleaved, the lane's number added to the index, bytes of a record.
  constexpr uint32_t swizzled = 1u << 31, add_thread_id = 1u << 23, stride = 0x3FFFu << 16;
  llvm::Value* word1 = registers.word(operands.resource->reg + 1u);
  llvm::Value* special = ir.CreateAnd(word1, ir.getInt32(swizzled));
  special = ir.CreateOr(special, ir.CreateAnd(registers.word(operands.resource->reg + 3u), ir.getInt32(add_thread_id)));
  llvm::Value* is_plain = ir.CreateICmpEQ(special, ir.getInt32(0));
  if (operands.has_index) {
    llvm::Value* has_records = ir.CreateICmpNE(ir.CreateAnd(word1, ir.getInt32(stride)), ir.getInt32(0));
    is_plain = ir.CreateAnd(is_plain, has_records);
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
