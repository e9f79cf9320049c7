// codegen: initial values of global variables.
#include "codegen/global_data.h"

#include "codegen/address_space.h"

#include <fmt/format.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DataLayout.h>
#include <llvm/IR/Operator.h>

#include <algorithm>
#include <set>

namespace Atoll::codegen {

using support::ErrorKind;
using support::fail;
using support::Result;

namespace {

/// Writes the value of a constant into the object at that offset.
Result<void> write(DataObject& object, const llvm::Constant& value, uint64_t offset, const llvm::DataLayout& layout) {
  if (value.isNullValue() || llvm::isa<llvm::UndefValue>(value)) return {};
  const uint64_t size = layout.getTypeStoreSize(value.getType()).getFixedValue();
  const auto write_bits = [&](const llvm::APInt& bits) {
    for (uint64_t i = 0; i < size && 8 * i < bits.getBitWidth(); ++i)
      object.bytes[offset + i] = static_cast<uint8_t>(bits.extractBitsAsZExtValue(
          static_cast<unsigned>(std::min<uint64_t>(8, bits.getBitWidth() - 8 * i)), static_cast<unsigned>(8 * i)));
  };
  if (const auto* integer = llvm::dyn_cast<llvm::ConstantInt>(&value)) {
    write_bits(integer->getValue());
    return {};
  }
  if (const auto* real = llvm::dyn_cast<llvm::ConstantFP>(&value)) {
    write_bits(real->getValueAPF().bitcastToAPInt());
    return {};
  }
  if (const auto* type = llvm::dyn_cast<llvm::StructType>(value.getType())) {
    const llvm::StructLayout* fields = layout.getStructLayout(const_cast<llvm::StructType*>(type));
    for (unsigned i = 0; i < type->getNumElements(); ++i) {
      const auto ok =
          write(object, *value.getAggregateElement(i), offset + fields->getElementOffset(i).getFixedValue(), layout);
      if (!ok) return ok;
    }
    return {};
  }
  if (llvm::isa<llvm::ArrayType, llvm::FixedVectorType>(value.getType())) {
    const auto* array = llvm::dyn_cast<llvm::ArrayType>(value.getType());
    llvm::Type* element = array != nullptr ? array->getElementType()
                                           : llvm::cast<llvm::FixedVectorType>(value.getType())->getElementType();
    const uint64_t count = array != nullptr ? array->getNumElements()
                                            : llvm::cast<llvm::FixedVectorType>(value.getType())->getNumElements();
    const uint64_t step = layout.getTypeAllocSize(element).getFixedValue();
    for (uint64_t i = 0; i < count; ++i) {
      const auto ok = write(object, *value.getAggregateElement(static_cast<unsigned>(i)), offset + i * step, layout);
      if (!ok) return ok;
    }
    return {};
  }
  if (value.getType()->isPointerTy() && size == 8) {
    llvm::APInt distance(64, 0);
    const llvm::Value* base = value.stripAndAccumulateConstantOffsets(layout, distance, true);
    if (const auto* global = llvm::dyn_cast<llvm::GlobalVariable>(base->stripPointerCasts());
        global != nullptr && global->getAddressSpace() != lds_space) {
      object.pointers.push_back(
          {.offset = offset, .symbol = global->getName().str(), .addend = distance.getSExtValue()});
      return {};
    }
  }
  return fail(ErrorKind::unsupported, "variable {}: its initial value is not implemented", object.name);
}

Result<DataObject> data_of(const llvm::GlobalVariable& variable) {
  if (!variable.hasInitializer())
    return fail(ErrorKind::unsupported, "variable {} is declared and not defined", variable.getName().str());
  const llvm::DataLayout& layout = variable.getParent()->getDataLayout();
  DataObject object{.name = variable.getName().str(),
                    .align = variable.getAlign().valueOrOne().value(),
                    .is_constant = variable.isConstant(),
                    .is_exported = !variable.hasLocalLinkage(),
                    .bytes = std::vector<uint8_t>(layout.getTypeAllocSize(variable.getValueType()).getFixedValue()),
                    .pointers = {}};
  if (auto ok = write(object, *variable.getInitializer(), 0, layout); !ok) return std::unexpected(ok.error());
  return object;
}

}  // namespace

bool has_data(const llvm::GlobalVariable& variable) { return data_of(variable).has_value(); }

Result<std::vector<DataObject>> global_data(const llvm::Module& module, const std::vector<std::string>& names) {
  std::vector<DataObject> objects;
  std::set<std::string> known;
  std::vector<std::string> open = names;
  while (!open.empty()) {
    const std::string name = open.back();
    open.pop_back();
    if (!known.insert(name).second) continue;
    const llvm::GlobalVariable* variable = module.getGlobalVariable(name, true);
    if (variable == nullptr) return fail(ErrorKind::unsupported, "there is no variable {}", name);
    auto object = data_of(*variable);
    if (!object) return std::unexpected(object.error());
    for (const DataObject::Pointer& each : object->pointers) open.push_back(each.symbol);
    objects.push_back(std::move(*object));
  }
  std::ranges::sort(objects, {}, &DataObject::name);
  return objects;
}

std::string assembly_of(const std::vector<DataObject>& objects) {
  std::string text;
  for (const DataObject& each : objects) {
    text += each.is_constant && each.pointers.empty() ? "  .section .rodata,\"a\"\n" : "  .data\n";
    if (each.is_exported) text += fmt::format("  .globl {0}\n  .protected {0}\n", each.name);
    text += fmt::format("  .balign {0}\n  .type {1},@object\n{1}:\n", each.align, each.name);
    size_t next = 0;
    for (uint64_t i = 0; i < each.bytes.size();) {
      if (next < each.pointers.size() && each.pointers[next].offset == i) {
        text += fmt::format("  .quad {}{:+}\n", each.pointers[next].symbol, each.pointers[next].addend);
        ++next;
        i += 8;
        continue;
      }
      const uint64_t end = std::min<uint64_t>(
          {each.bytes.size(), i + 16, next < each.pointers.size() ? each.pointers[next].offset : ~0ull});
      text += "  .byte ";
      for (uint64_t j = i; j < end; ++j) text += fmt::format("{}{}", j == i ? "" : ",", each.bytes[j]);
      text += '\n';
      i = end;
    }
    text += fmt::format("  .size {}, {}\n", each.name, each.bytes.size());
  }
  return text;
}

}  // namespace Atoll::codegen
