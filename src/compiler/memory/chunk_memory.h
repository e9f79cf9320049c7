// compiler: loads, stores and atomics of one chunk of lanes, in whatever memory: it picks the one that an instruction
// accesses (space_memory.h), and moves what is loaded and stored between it and the chunk's registers.
#pragma once

#include "compiler/memory/buffer_memory.h"
#include "compiler/memory/global_memory.h"
#include "compiler/memory/lds_memory.h"
#include "compiler/memory/scratch_memory.h"

namespace Atoll::compiler {

class ChunkMemory {
 public:
  /// `has_bases_checked`: whoever has accesses emitted looks at their base_offset() before.
  ChunkMemory(Frame& frame, Operations& operations, bool has_bases_checked)
      : context_{.frame = frame, .operations = operations, .has_bases_checked = has_bases_checked},
        frame_(frame),
        global_(context_),
        lds_(context_),
        scratch_(context_),
        buffer_(context_) {}

  /// AccessContext::is_hot, for the code that follows.
  void set_hot(bool is_hot) { context_.is_hot = is_hot; }

  using Prepared = PreparedAccess;
  Prepared prepare(const isa::Instruction& instruction, unsigned element, ScalarRegisters& registers);
  /// The same of scratch as a buffer, with its ScratchBuffers.
  static Prepared prepare_on_stack(const isa::Instruction& instruction, llvm::Value* base) {
    return ScratchMemory::prepare_on_stack(instruction, base);
  }
  /// The same of a buffer that is plain (RawBuffers).
  Prepared prepare_in_buffer(const isa::Instruction& instruction, const MemoryOperands& operands,
                             ScalarRegisters& registers) {
    return buffer_.prepare_in_buffer(instruction, operands, registers);
  }

  /// What is known beforehand of an access whose lanes are the same distance from each other: where lane 0's first
  /// element is (64 bits), be that lane active or not, and the distance in bytes.
  struct Strided {
    llvm::Value* address = nullptr;
    int64_t stride = 0;
    bool is_fetched = false;  ///< ahead for later waves, by another access
  };
  /// Whether such an access can be done by what is left then: without a look at the lanes' addresses.
  static bool prefers_stride(const semantics::MemoryAccess& access, int64_t stride);
  /// Whether it needs all lanes to be active. With a stride of 0 at least one must be.
  static bool needs_all_lanes(int64_t stride);
  /// The address that lane 0's rows `low` and `high` (32 bits; null if it has none) make.
  llvm::Value* first_address(const Prepared& prepared, llvm::Value* low, llvm::Value* high);
  /// Whether all lanes' elements are inside of memory that has a limit. Null: it has none.
  llvm::Value* is_inside(const Prepared& prepared, llvm::Value* low, int64_t stride) {
    return prepared.operands.space == MemorySpace::lds ? lds_.is_inside(prepared, low, stride) : nullptr;
  }

  /// How far the scalar part of an access's addresses is from the begin of what the GPU may touch (GuestBounds), where
  /// it is that which tells whether they are right: what lanes add to it has 32 bits. Null: it is not.
  llvm::Value* base_offset(const Prepared& prepared);

  /// Of an access that emit() does not make, what it does for one who wants odd accesses.
  void look_at(const Prepared& prepared, ChunkState& chunk, const Strided* strided = nullptr);
  /// Carries it out for the chunk's lanes of EXEC. `keep_inactive`: the other lanes of a result keep what they have;
  /// otherwise they may get anything.
  void emit(const Prepared& prepared, bool keep_inactive, ChunkState& chunk, const Strided* strided = nullptr);

  /// Whether a store can be executed for the whole wave by emit_for_wave(): those to LDS (LdsMemory).
  static bool can_for_wave(const isa::Instruction& instruction, const MemoryOperands& operands) {
    return LdsMemory::can_for_wave(instruction, operands);
  }
  void emit_for_wave(const Prepared& prepared, llvm::Value* exec, llvm::Value* address,
                     llvm::ArrayRef<llvm::Value*> data) {
    lds_.emit_for_wave(prepared, exec, address, data);
  }

 private:
  using Words = LaneAccess::Words;

  llvm::IRBuilder<>& ir() { return frame_.ir; }
  SpaceMemory& memory(MemorySpace space);
  void emit_load(const Prepared& prepared, bool keep_inactive, ChunkState& chunk, const Strided* strided);
  void emit_store(const Prepared& prepared, ChunkState& chunk, const Strided* strided);
  void emit_atomic(const Prepared& prepared, bool keep_inactive, ChunkState& chunk);
  void record_even(const Prepared& prepared, ChunkState& chunk, const Strided& strided);
  llvm::Value* even_address(const Prepared& prepared, unsigned element, ChunkState& chunk, const Strided& strided);

  AccessContext context_;
  Frame& frame_;
  GlobalMemory global_;
  LdsMemory lds_;
  ScratchMemory scratch_;
  BufferMemory buffer_;
};

}  // namespace Atoll::compiler
