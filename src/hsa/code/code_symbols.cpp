// hsa: symbols of code objects that are not loaded, of the interface of HSA 1.0: what executables' symbols tell, but
// for addresses. They are read from the file when one is first asked for. Source: hsa.h, hsa_code_symbol_info_t.
#include <elf.h>

#include <algorithm>
#include <cstring>

#include "hsa/interface/attribute.h"
#include "hsa/interface/rocm_7_2.h"
#include "hsa/runtime.h"
#include "object/code_object.h"

namespace Atoll::hsa {

namespace {

hsa_status_t give_kernel(const CodeSymbol& symbol, hsa_code_symbol_info_t attribute, void* value) {
  constexpr uint32_t least_alignment = 16;  // of a kernarg segment (HSA)
  const object::KernelMetadata* metadata = symbol.metadata;
  switch (static_cast<int>(attribute)) {
    case HSA_CODE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_SIZE:
      return give<uint32_t>(value,
                            metadata != nullptr ? metadata->kernarg_segment_size : symbol.descriptor->kernarg_size);
    case HSA_CODE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_ALIGNMENT:
      return give<uint32_t>(value,
                            std::max(least_alignment, metadata != nullptr ? metadata->kernarg_segment_align : 0));
    case HSA_CODE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE:
      return give<uint32_t>(value, symbol.descriptor->group_segment_fixed_size);
    case HSA_CODE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE:
      return give<uint32_t>(value, symbol.descriptor->private_segment_fixed_size);
    case HSA_CODE_SYMBOL_INFO_KERNEL_DYNAMIC_CALLSTACK:
      return give(value, metadata != nullptr && metadata->uses_dynamic_stack);
    case HSA_CODE_SYMBOL_INFO_KERNEL_CALL_CONVENTION:
      return give<uint32_t>(value, 0);
    case HSA_CODE_SYMBOL_INFO_KERNEL_WAVEFRONT_SIZE:
      return give<uint32_t>(value, metadata != nullptr ? metadata->wavefront_size : 64);
    default:
      return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
}

hsa_status_t give_variable(const CodeSymbol& symbol, hsa_code_symbol_info_t attribute, void* value) {
  switch (attribute) {
    case HSA_CODE_SYMBOL_INFO_VARIABLE_ALLOCATION:
      return give(value, HSA_VARIABLE_ALLOCATION_AGENT);
    case HSA_CODE_SYMBOL_INFO_VARIABLE_SEGMENT:
      return give(value, HSA_VARIABLE_SEGMENT_GLOBAL);
    case HSA_CODE_SYMBOL_INFO_VARIABLE_ALIGNMENT:
      // ELF does not record it; the address says what it is at least, up to a page.
      return give<uint32_t>(value, static_cast<uint32_t>(std::clamp<uint64_t>(symbol.value & -symbol.value, 1, 4096)));
    case HSA_CODE_SYMBOL_INFO_VARIABLE_SIZE:
      return give<uint32_t>(value, static_cast<uint32_t>(symbol.size));
    case HSA_CODE_SYMBOL_INFO_VARIABLE_IS_CONST:
      return give(value, symbol.is_const);
    default:
      return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
}

}  // namespace

void CodeObjectReader::read_symbols() {
  if (code != nullptr) return;
  auto read = object::read_code_object({bytes, size});
  if (!read) return;
  code = std::make_unique<object::CodeObject>(std::move(*read));
  for (const object::Symbol& symbol : code->symbols) {
    const bool is_external = !symbol.defined && !symbol.name.empty();
    const bool is_kernel = code->is_kernel(symbol);
    if (!is_external && !is_kernel && (symbol.type != STT_OBJECT || symbol.name.empty())) continue;
    CodeSymbol made{.name = std::string(symbol.name),
                    .value = symbol.value,
                    .size = symbol.size,
                    .is_global = symbol.binding != STB_LOCAL,
                    .is_definition = symbol.defined};
    if (is_kernel) made.descriptor = code->descriptor_of(symbol);
    if (made.descriptor) made.metadata = code->find_kernel(symbol.name);
    for (const object::Segment& segment : code->segments) {
      const bool holds = symbol.value >= segment.address && symbol.value - segment.address < segment.memory_size;
      if (symbol.defined && holds) made.is_const = !segment.writable;
    }
    symbols.push_back(std::move(made));
  }
}

}  // namespace Atoll::hsa

using namespace Atoll;
using namespace Atoll::hsa;

namespace {

hsa_code_symbol_t handle_of(const CodeSymbol& symbol) { return {reinterpret_cast<uint64_t>(&symbol)}; }

/// The reader of a code object, with its symbols; null when it is not one.
CodeObjectReader* symbols_of(hsa_code_object_t code_object) {
  return Runtime::get()->executables.with_symbols({code_object.handle});
}

}  // namespace

hsa_status_t hsa_code_object_get_symbol(hsa_code_object_t code_object, const char* symbol_name,
                                        hsa_code_symbol_t* symbol) {
  return hsa_code_object_get_symbol_from_name(code_object, nullptr, symbol_name, symbol);
}

hsa_status_t hsa_code_object_get_symbol_from_name(hsa_code_object_t code_object, const char* module_name,
                                                  const char* symbol_name, hsa_code_symbol_t* symbol) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  const CodeObjectReader* reader = symbols_of(code_object);
  if (reader == nullptr) return HSA_STATUS_ERROR_INVALID_CODE_OBJECT;
  if (symbol_name == nullptr || symbol == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  // Code objects have not known modules since V2.
  if (module_name != nullptr && *module_name != '\0') return HSA_STATUS_ERROR_INVALID_SYMBOL_NAME;
  const auto found = std::ranges::find(reader->symbols, std::string_view(symbol_name), &CodeSymbol::name);
  if (found == reader->symbols.end()) return HSA_STATUS_ERROR_INVALID_SYMBOL_NAME;
  *symbol = handle_of(*found);
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_code_object_iterate_symbols(hsa_code_object_t code_object,
                                             hsa_status_t (*callback)(hsa_code_object_t code_object,
                                                                      hsa_code_symbol_t symbol, void* data),
                                             void* data) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  const CodeObjectReader* reader = symbols_of(code_object);
  if (reader == nullptr) return HSA_STATUS_ERROR_INVALID_CODE_OBJECT;
  if (callback == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  for (const CodeSymbol& symbol : reader->symbols) {
    const hsa_status_t status = callback(code_object, handle_of(symbol), data);
    if (status != HSA_STATUS_SUCCESS) return status;
  }
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_code_symbol_get_info(hsa_code_symbol_t code_symbol, hsa_code_symbol_info_t attribute, void* value) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  const CodeSymbol* symbol = Runtime::get()->executables.find_code_symbol(code_symbol);
  if (symbol == nullptr) return HSA_STATUS_ERROR_INVALID_CODE_SYMBOL;
  if (value == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  switch (attribute) {
    case HSA_CODE_SYMBOL_INFO_TYPE:
      return give(value, symbol->descriptor ? HSA_SYMBOL_KIND_KERNEL : HSA_SYMBOL_KIND_VARIABLE);
    case HSA_CODE_SYMBOL_INFO_NAME_LENGTH:
      return give(value, static_cast<uint32_t>(symbol->name.size()));
    case HSA_CODE_SYMBOL_INFO_NAME:  // without a zero at the end
      std::memcpy(value, symbol->name.data(), symbol->name.size());
      return HSA_STATUS_SUCCESS;
    case HSA_CODE_SYMBOL_INFO_MODULE_NAME_LENGTH:
      return give<uint32_t>(value, 0);
    case HSA_CODE_SYMBOL_INFO_MODULE_NAME:
      return HSA_STATUS_SUCCESS;
    case HSA_CODE_SYMBOL_INFO_LINKAGE:
      return give(value, symbol->is_global ? HSA_SYMBOL_LINKAGE_PROGRAM : HSA_SYMBOL_LINKAGE_MODULE);
    case HSA_CODE_SYMBOL_INFO_IS_DEFINITION:
      return give(value, symbol->is_definition);
    default:
      return symbol->descriptor ? give_kernel(*symbol, attribute, value) : give_variable(*symbol, attribute, value);
  }
}
