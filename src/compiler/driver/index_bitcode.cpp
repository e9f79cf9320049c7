// index_bitcode: a program of the build, which makes the semantics bitcode ready to be read quickly.
//
//     index_bitcode LINKED.bc INDEXED.bc INDEX.inc
//
// No table of names says which function is which instruction's: semantics' own tables of entries are constants in
// the module, and their initialisers say it. Reading them takes longer than reading the functions that a kernel needs,
// so it is done here, once: the index has a list of vector functions for each generation and one of scalar functions,
// in which each opcode has the place of its function among the module's functions, counted from 1, or 0. The tables are
// left out of the result, and its functions are internal, as each of them may be inlined away.
#include <cstdio>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <llvm/Analysis/ConstantFolding.h>
#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/Bitcode/BitcodeWriter.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/Error.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/raw_ostream.h>

#include "isa/opcode.h"
#include "semantics/row.h"

namespace {

using namespace Atoll;

struct Index {
  std::vector<unsigned> scalar = std::vector<unsigned>(static_cast<size_t>(isa::Opcode::count));
  std::vector<std::vector<unsigned>> vector =  // by generation
      std::vector(static_cast<size_t>(target::Generation::gfx12_5) + 1, scalar);
};

bool is_vector_table(const llvm::GlobalVariable& global) {
  return global.hasInitializer() && global.getName().ends_with("_entriesEvE7entries");
}

bool is_scalar_table(const llvm::GlobalVariable& global) {
  return global.hasInitializer() && global.getName().ends_with("scalar_function_tableE");
}

Index read_tables(const llvm::Module& module) {
  llvm::DenseMap<const llvm::Function*, unsigned> places;
  for (const llvm::Function& function : module) places.try_emplace(&function, places.size() + 1);
  const llvm::DataLayout& layout = module.getDataLayout();
  llvm::LLVMContext& context = module.getContext();
  const auto pointer = llvm::PointerType::get(context, 0);
  Index index;
  for (const llvm::GlobalVariable& global : module.globals()) {
    const auto at = [&](uint64_t offset, llvm::Type* type) {
      return llvm::ConstantFoldLoadFromConst(const_cast<llvm::Constant*>(global.getInitializer()), type,
                                             llvm::APInt(64, offset), layout);
    };
    if (is_vector_table(global)) {
      const uint64_t size = layout.getTypeAllocSize(global.getValueType());
      for (uint64_t entry = 0; entry < size; entry += sizeof(semantics::VectorEntry)) {
        using semantics::VectorEntry;
        const auto number = [&](uint64_t offset, llvm::Type* type) -> uint64_t {
          const auto* value = llvm::dyn_cast_or_null<llvm::ConstantInt>(at(entry + offset, type));
          return value == nullptr ? 0 : value->getZExtValue();
        };
        const auto place = [&](uint64_t shape) {
          const auto* function = llvm::dyn_cast_or_null<llvm::Function>(
              at(entry + shape + offsetof(semantics::VectorShape, call), pointer));
          return function == nullptr ? 0 : places.lookup(function);
        };
        const uint64_t opcode = number(offsetof(VectorEntry, opcode), llvm::Type::getInt16Ty(context));
        const unsigned clearing = place(offsetof(VectorEntry, shape)), keeping = place(offsetof(VectorEntry, keeping));
        // Entries of an instruction follow each other in the order of generations, as vector_function() wants them.
        for (uint64_t generation = number(offsetof(VectorEntry, since), llvm::Type::getInt8Ty(context));
             generation < index.vector.size(); ++generation) {
          const bool keeps = keeping != 0 && semantics::keeps_upper_halves(static_cast<target::Generation>(generation));
          index.vector[generation][opcode] = keeps ? keeping : clearing;
        }
      }
    } else if (is_scalar_table(global)) {
      for (size_t opcode = 0; opcode < index.scalar.size(); ++opcode) {
        const auto* function = llvm::dyn_cast_or_null<llvm::Function>(at(opcode * sizeof(void*), pointer));
        if (function != nullptr) index.scalar[opcode] = places.lookup(function);
      }
    }
  }
  return index;
}

void drop_tables(llvm::Module& module) {
  for (llvm::GlobalVariable& global : llvm::make_early_inc_range(module.globals())) {
    if (!is_vector_table(global) && !is_scalar_table(global)) continue;
    global.replaceAllUsesWith(llvm::PoisonValue::get(global.getType()));
    global.eraseFromParent();
  }
  for (llvm::Function& function : module) {
    function.removeDeadConstantUsers();
    if (function.isDeclaration()) continue;
    function.setComdat(nullptr);
    function.setLinkage(llvm::GlobalValue::InternalLinkage);
  }
}

std::string text(const Index& index) {
  std::string lines;
  const auto add = [&lines](const std::vector<unsigned>& places) {
    lines += fmt::format("{},", fmt::join(places, ","));
  };
  lines += "constexpr uint16_t vector_functions[] = {";
  for (const std::vector<unsigned>& of_generation : index.vector) add(of_generation);
  lines += "};\nconstexpr uint16_t scalar_functions[] = {";
  add(index.scalar);
  lines += "};\n";
  return lines;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    fmt::print(stderr, "usage: index_bitcode LINKED.bc INDEXED.bc INDEX.inc\n");
    return 1;
  }
  const llvm::ExitOnError check("index_bitcode: ");
  llvm::LLVMContext context;
  const auto bytes = check(llvm::errorOrToExpected(llvm::MemoryBuffer::getFile(argv[1])));
  const auto module = check(llvm::parseBitcodeFile(*bytes, context));
  const Index index = read_tables(*module);
  drop_tables(*module);
  const auto write = [&check](const char* path, const auto& put) {
    std::error_code problem;
    llvm::raw_fd_ostream out(path, problem);
    check(llvm::errorCodeToError(problem));
    put(out);
  };
  write(argv[2], [&module](llvm::raw_ostream& out) { llvm::WriteBitcodeToFile(*module, out); });
  write(argv[3], [&index](llvm::raw_ostream& out) { out << text(index); });
  return 0;
}
