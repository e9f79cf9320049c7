// compiler: reading the semantics bitcode (semantics_bitcode.h).
//
// The build indexes it (index_bitcode.cpp), so that each opcode's function is found by its place in the module.
#include "compiler/lowering/semantics_bitcode.h"

#include <algorithm>
#include <iterator>
#include <span>

#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Support/Error.h>
#include <llvm/Support/MemoryBuffer.h>

#include "compiler/llvm/slow_path.h"

namespace Atoll::compiler {

namespace {

namespace portable {
constexpr unsigned char bitcode[] = {
#embed "semantics-portable.bc"
};
#include "semantics-portable.inc"
}  // namespace portable

namespace avx2 {
constexpr unsigned char bitcode[] = {
#embed "semantics-avx2.bc"
};
#include "semantics-avx2.inc"
}  // namespace avx2

namespace avx512 {
constexpr unsigned char bitcode[] = {
#embed "semantics-avx512.bc"
};
#include "semantics-avx512.inc"
}  // namespace avx512

/// So that the preprocessed text changes with what is embedded.
[[maybe_unused]] constexpr uint64_t bitcode_fingerprint =
#include "semantics_fingerprint.inc"
    ;

/// A level's bitcode, and where in it each opcode's function is (index_bitcode.cpp).
struct Indexed {
  std::span<const unsigned char> bitcode;
  std::span<const uint16_t> vector_functions, scalar_functions;
};

Indexed indexed(semantics::HostVectors level) {
  switch (level) {
    case semantics::HostVectors::avx512:
      return {avx512::bitcode, avx512::vector_functions, avx512::scalar_functions};
    case semantics::HostVectors::avx2:
      return {avx2::bitcode, avx2::vector_functions, avx2::scalar_functions};
    case semantics::HostVectors::portable:
      break;
  }
  return {portable::bitcode, portable::vector_functions, portable::scalar_functions};
}

}  // namespace

SemanticsBitcode::SemanticsBitcode(llvm::LLVMContext& context, semantics::HostVectors level) {
  const Indexed chosen = indexed(level);
  const llvm::StringRef bytes(reinterpret_cast<const char*>(chosen.bitcode.data()), chosen.bitcode.size());
  module_ = llvm::cantFail(
      llvm::getLazyBitcodeModule(llvm::MemoryBufferRef(bytes, "semantics"), context, /*ShouldLazyLoadMetadata=*/true));
  std::vector<llvm::Function*> functions = {nullptr};
  for (llvm::Function& function : *module_) functions.push_back(&function);
  const auto take_places = [&functions](std::vector<llvm::Function*>& into, std::span<const uint16_t> places) {
    into.reserve(places.size());
    std::ranges::transform(places, std::back_inserter(into), [&](uint16_t place) { return functions[place]; });
  };
  take_places(vector_, chosen.vector_functions);
  take_places(scalar_, chosen.scalar_functions);
  vector_functions_.insert(vector_.begin(), vector_.end());
}

llvm::Function* SemanticsBitcode::read(llvm::Function* function) {
  if (function != nullptr && function->isMaterializable()) {
    llvm::cantFail(function->materialize());
    take_rare_lanes();
  }
  return function;
}

void SemanticsBitcode::take_rare_lanes() {
  take_rare_lanes_by_value(*module_,
                           [this](const llvm::Function& function) { return vector_functions_.contains(&function); });
}

llvm::Function* SemanticsBitcode::vector_function(isa::Opcode opcode, target::Generation generation) {
  constexpr auto opcodes = static_cast<size_t>(isa::Opcode::count);
  return read(vector_[static_cast<size_t>(generation) * opcodes + static_cast<size_t>(opcode)]);
}
llvm::Function* SemanticsBitcode::scalar_function(isa::Opcode opcode) {
  return read(scalar_[static_cast<size_t>(opcode)]);
}

llvm::Function* SemanticsBitcode::function(llvm::StringRef name) {
  const std::string mangled = std::to_string(name.size()) + name.str() + "E";  // the end of a name with its namespaces
  for (llvm::Function& each : *module_) {
    if (each.getName().contains(mangled)) return read(&each);
  }
  llvm::report_fatal_error("the bitcode lacks a function");
}

std::unique_ptr<llvm::Module> SemanticsBitcode::take() {
  // What the functions that were read call has to be read as well.
  for (bool more = true; more;) {
    more = false;
    for (llvm::Function& function : *module_) {
      if (!function.isMaterializable()) continue;
      const bool called =
          llvm::any_of(function.users(), [](llvm::User* user) { return llvm::isa<llvm::CallInst>(user); });
      if (called) {
        llvm::cantFail(function.materialize());
        more = true;
      }
    }
  }
  for (llvm::Function& function : llvm::make_early_inc_range(*module_)) {
    if (!function.isMaterializable()) continue;
    function.replaceAllUsesWith(llvm::UndefValue::get(function.getType()));
    function.eraseFromParent();
  }
  llvm::cantFail(module_->materializeAll());
  take_rare_lanes();
  return std::move(module_);
}

}  // namespace Atoll::compiler
