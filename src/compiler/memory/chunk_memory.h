// compiler: memory accesses of one chunk of lanes: selects the kind of memory (space_memory.h), and moves data between
// it and the chunk's registers.
#pragma once

#include "compiler/memory/buffer_memory.h"
#include "compiler/memory/global_memory.h"
#include "compiler/memory/lds_memory.h"
#include "compiler/memory/scratch_memory.h"

namespace Atoll::compiler {

class ChunkMemory {
 public:
  /// `has_bases_checked`: the caller checks the accesses' base_offset() first.
  ChunkMemory(Frame& frame, Operations& operations, bool has_bases_checked)
      : context_{.frame = frame, .operations = operations, .has_bases_checked = has_bases_checked},
        frame_(frame),
        global_(context_),
        lds_(context_),
        scratch_(context_),
        buffer_(context_) {}

  /// Sets AccessContext::is_hot for the following code.
  void set_hot(bool is_hot) { context_.is_hot = is_hot; }

  using Prepared = PreparedAccess;
  Prepared prepare(const isa::Instruction& instruction, unsigned element, ScalarRegisters& registers);
  /// Prepares an access of scratch through a buffer, with its ScratchBuffers.
  static Prepared prepare_on_stack(const isa::Instruction& instruction, llvm::Value* base) {
    return ScratchMemory::prepare_on_stack(instruction, base);
  }
  /// Prepares an access of a plain buffer (RawBuffers).
  Prepared prepare_in_buffer(const isa::Instruction& instruction, const MemoryOperands& operands,
                             ScalarRegisters& registers) {
    return buffer_.prepare_in_buffer(instruction, operands, registers);
  }

  /// A strided access: address of lane 0's first element (i64), whether active or not, and the stride in bytes.
  struct Strided {
    llvm::Value* address = nullptr;
    int64_t stride = 0;
    bool is_fetched = false;  ///< prefetched for later waves by another access
  };
  /// Returns whether the access can be executed from its stride alone, without checking lanes' addresses.
  static bool prefers_stride(const semantics::MemoryAccess& access, int64_t stride);
  /// Returns whether it requires all lanes to be active. Stride 0 requires at least one.
  static bool needs_all_lanes(int64_t stride);
  /// Returns the address from lane 0's words `low` and `high` (i32; null if there is none).
  llvm::Value* first_address(const Prepared& prepared, llvm::Value* low, llvm::Value* high);
  /// Returns whether all lanes' elements are in bounds. Null: the memory has no limit.
  llvm::Value* is_inside(const Prepared& prepared, llvm::Value* low, int64_t stride) {
    return prepared.operands.space == MemorySpace::lds ? lds_.is_inside(prepared, low, stride) : nullptr;
  }

  /// Returns the distance of the scalar part of the addresses from the accessible range (GuestBounds), if that
  /// determines whether they are valid: lanes add only 32 bits. Null: it does not.
  llvm::Value* base_offset(const Prepared& prepared);

  /// Applies the access filter to an access that emit() does not emit.
  void look_at(const Prepared& prepared, ChunkState& chunk, const Strided* strided = nullptr);
  /// Emits the access for the chunk's lanes in EXEC. `keep_inactive`: other lanes of a result are preserved; otherwise
  /// they are arbitrary.
  void emit(const Prepared& prepared, bool keep_inactive, ChunkState& chunk, const Strided* strided = nullptr);

  /// Returns whether emit_for_wave() can execute a store for the whole wave: stores to LDS (LdsMemory).
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
