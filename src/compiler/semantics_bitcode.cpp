// compiler: reading the semantics bitcode (semantics_bitcode.h).
//
// No table of names says which function is which instruction's: semantics' own tables of entries are constants in
// the module, and their initialisers say it.
#include "compiler/semantics_bitcode.h"

#include <algorithm>
#include <span>

#include <llvm/Analysis/ConstantFolding.h>
#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Support/Error.h>
#include <llvm/Support/MemoryBuffer.h>

#include "compiler/rare_lanes.h"
#include "semantics/row.h"

namespace Atoll::compiler {

namespace {

constexpr unsigned char portable_bitcode[] = {
#embed "semantics-portable.bc"
};
/// Of the levels that have FMA and F16C. As IR they are the same.
constexpr unsigned char bitcode[] = {
#embed "semantics-avx2.bc"
};
/// So that the preprocessed text changes with what is embedded.
[[maybe_unused]] constexpr uint64_t bitcode_fingerprint =
#include "semantics_fingerprint.inc"
    ;

}  // namespace

SemanticsBitcode::SemanticsBitcode(llvm::LLVMContext& context, semantics::HostVectors level)
    : vector_(static_cast<size_t>(isa::Opcode::count)), scalar_(static_cast<size_t>(isa::Opcode::count)) {
  const std::span<const unsigned char> chosen =
      level == semantics::HostVectors::portable ? std::span<const unsigned char>(portable_bitcode) : bitcode;
  const llvm::StringRef bytes(reinterpret_cast<const char*>(chosen.data()), chosen.size());
  module_ = llvm::cantFail(
      llvm::getLazyBitcodeModule(llvm::MemoryBufferRef(bytes, "semantics"), context, /*ShouldLazyLoadMetadata=*/true));
  const llvm::DataLayout& layout = module_->getDataLayout();
  const auto pointer = llvm::PointerType::get(context, 0);
  for (llvm::GlobalVariable& global : module_->globals()) {
    if (!global.hasInitializer()) continue;
    llvm::Constant* init = global.getInitializer();
    const auto at = [&](uint64_t offset, llvm::Type* type) {
      return llvm::ConstantFoldLoadFromConst(init, type, llvm::APInt(64, offset), layout);
    };
    if (global.getName().ends_with("_entriesEvE7entries")) {
      const uint64_t size = layout.getTypeAllocSize(init->getType());
      for (uint64_t entry = 0; entry < size; entry += sizeof(semantics::VectorEntry)) {
        auto* opcode = llvm::dyn_cast_or_null<llvm::ConstantInt>(
            at(entry + offsetof(semantics::VectorEntry, opcode), llvm::Type::getInt16Ty(context)));
        auto* function = llvm::dyn_cast_or_null<llvm::Function>(
            at(entry + offsetof(semantics::VectorEntry, shape) + offsetof(semantics::VectorShape, call), pointer));
        if (opcode != nullptr && function != nullptr) vector_[opcode->getZExtValue()] = function;
      }
    } else if (global.getName().ends_with("scalar_function_tableE")) {
      for (size_t opcode = 0; opcode < scalar_.size(); ++opcode) {
        scalar_[opcode] = llvm::dyn_cast_or_null<llvm::Function>(at(opcode * sizeof(void*), pointer));
      }
    }
  }
}

llvm::Function* SemanticsBitcode::read(llvm::Function* function) {
  if (function != nullptr && function->isMaterializable()) {
    llvm::cantFail(function->materialize());
    take_rare_lanes();
  }
  return function;
}

void SemanticsBitcode::take_rare_lanes() {
  take_rare_lanes_by_value(*module_, [this](const llvm::Function& function) {
    return std::ranges::find(vector_, &function) != vector_.end();
  });
}

llvm::Function* SemanticsBitcode::vector_function(isa::Opcode opcode) {
  return read(vector_[static_cast<size_t>(opcode)]);
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
  // The tables keep every function alive: away with them, and with what was never read.
  for (llvm::GlobalVariable& global : llvm::make_early_inc_range(module_->globals())) {
    if (global.getName().ends_with("_entriesEvE7entries") || global.getName().ends_with("scalar_function_tableE")) {
      global.replaceAllUsesWith(llvm::UndefValue::get(global.getType()));
      global.eraseFromParent();
    }
  }
  for (llvm::Function& function : llvm::make_early_inc_range(*module_)) {
    if (!function.isMaterializable()) continue;
    function.replaceAllUsesWith(llvm::UndefValue::get(function.getType()));
    function.eraseFromParent();
  }
  llvm::cantFail(module_->materializeAll());
  for (llvm::Function& function : *module_) {
    if (function.isDeclaration()) continue;
    function.setComdat(nullptr);
    function.setLinkage(llvm::GlobalValue::InternalLinkage);
  }
  take_rare_lanes();
  return std::move(module_);
}

}  // namespace Atoll::compiler
