// machine: loads a code object of any ABI: copies segments, applies relocations and resolves symbols.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "debug_info/symbolizer.h"
#include "object/code_object.h"
#include "object/loadable_code.h"
#include "support/error.h"
#include "target/target_id.h"

namespace Atoll::machine {

class Memory;

struct LoadedSymbol {
  enum class Kind : uint8_t { variable, kernel };
  std::string name;  ///< as in the symbol table: kernels end in ".kd", but for those of code object V2
  Kind kind = Kind::variable;
  uint64_t address =
      0;  ///< of the variable, or of the kernel descriptor, in V2 the amd_kernel_code_t (the "kernel object")
  uint64_t size = 0;
  bool is_global = true;                             ///< binding: program or agent linkage
  const object::KernelMetadata* metadata = nullptr;  ///< of a kernel
};

/// Resolves an external symbol; nullopt: an error that names it.
using ExternalSymbols = std::function<std::optional<uint64_t>(std::string_view name)>;

/// A loaded code object. Keeps a copy of the file for reports (DWARF, names) and tools.
class LoadedCode {
 public:
  /// Maps the segments, applies the relocations and resolves the symbols. Fails for a damaged file, an ABI that is not
  /// accepted, code for another GPU, unknown relocations and undefined symbols.
  static support::Result<std::shared_ptr<LoadedCode>> load(
      Memory& memory, const target::TargetId& gpu, std::span<const uint8_t> file, const ExternalSymbols& externals,
      std::string uri, object::AcceptedAbis accepted = object::AcceptedAbis::amdhsa);
  LoadedCode() = default;
  LoadedCode(const LoadedCode&) = delete;
  LoadedCode& operator=(const LoadedCode&) = delete;
  ~LoadedCode();  ///< unmaps

  uint64_t base() const { return base_; }
  uint64_t size() const { return size_; }
  bool contains(uint64_t address) const { return address - base_ < size_; }
  std::span<const uint8_t> file() const { return image_->file; }
  const object::CodeObject& code_object() const { return image_->object; }
  object::Abi abi() const { return abi_; }
  /// Compute entry points and graphics stages of an ABI other than HSA's. Addresses are relative to base().
  const std::vector<object::EntryPoint>& entry_points() const { return entry_points_; }
  const std::vector<LoadedSymbol>& symbols() const { return symbols_; }
  const LoadedSymbol* find(std::string_view name) const;
  /// Returns the kernel whose descriptor is at `kernel_object`, or null.
  const LoadedSymbol* kernel_at(uint64_t kernel_object) const;
  /// Returns the function symbol that contains a code address; empty if no symbol does.
  std::string_view function_at(uint64_t address) const;
  /// Returns the symbolizer of the code, which may outlive it.
  std::shared_ptr<const debug_info::Symbolizer> symbolizer() const;
  /// Returns the code from an address on.
  std::span<const uint8_t> code_from(uint64_t address) const {
    return {reinterpret_cast<const uint8_t*>(address), contains(address) ? base_ + size_ - address : 0};
  }

  /// Returns whether the code reads floating-point exceptions from TRAPSTS or may enable them in MODE.
  bool looks_at_exceptions(const target::Processor& processor) const;

  std::string uri;  ///< origin: "file://...", "memory://..."
  /// called before unloading, to drop cached data about the code
  std::function<void(const LoadedCode&)> before_unload;

 private:
  Memory* memory_ = nullptr;
  uint64_t base_ = 0, size_ = 0;
  /// The part that findings about the code keep when it is unloaded.
  struct Image {
    std::vector<uint8_t> file;
    object::CodeObject object;
    std::optional<debug_info::Symbolizer> symbolizer;
  };
  std::shared_ptr<Image> image_ = std::make_shared<Image>();
  std::vector<LoadedSymbol> symbols_;
  mutable std::mutex exceptions_mutex_;  ///< protects the following two members
  mutable bool looked_for_exceptions_ = false;
  mutable bool looks_at_exceptions_ = false;
  object::Abi abi_ = object::Abi::amdhsa;
  std::vector<object::EntryPoint> entry_points_;
};

}  // namespace Atoll::machine
