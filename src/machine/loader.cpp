// machine: places a code object in memory. See loader.h.
#include "machine/loader.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <unordered_map>
#include <utility>

#include "machine/memory/memory.h"
#include "object/relocation_type.h"

namespace Atoll::machine {

namespace {

using support::ErrorKind;
using support::fail;

using namespace object;  // R_AMDGPU_*: those against a global offset table (7 to 9) and the 16-bit branch distance
                         // (14) are resolved by the linker and have no meaning at load time

/// The address of a relocation's symbol: S in the guide's formulas.
support::Result<uint64_t> symbol_address(const object::CodeObject& object, const object::Relocation& relocation,
                                         uint64_t base, const ExternalSymbols& externals) {
  if (relocation.symbol == 0) return 0;
  if (relocation.symbol >= object.symbols.size()) {
    return fail(ErrorKind::invalid_file, "a relocation at {:#x} refers to symbol {}, but there are only {}",
                relocation.offset, relocation.symbol, object.symbols.size());
  }
  const object::Symbol& symbol = object.symbols[relocation.symbol];
  if (symbol.defined) return base + symbol.value;
  if (externals) {
    if (const auto address = externals(symbol.name)) return *address;
  }
  if (symbol.binding == STB_WEAK) return 0;
  return fail(ErrorKind::not_found, "undefined symbol '{}'", symbol.name);
}

support::Result<void> relocate(const object::CodeObject& object, const object::Relocation& relocation, uint64_t base,
                               const ExternalSymbols& externals) {
  if (relocation.type == R_AMDGPU_NONE) return {};
  const auto symbol = symbol_address(object, relocation, base, externals);
  if (!symbol) return std::unexpected(symbol.error());
  const uint64_t place = base + relocation.offset;
  const uint64_t absolute = *symbol + static_cast<uint64_t>(relocation.addend);
  uint64_t value = 0;
  size_t width = 0;
  switch (relocation.type) {
    case R_AMDGPU_ABS32_LO:
    case R_AMDGPU_ABS32:
      value = absolute, width = 4;
      break;
    case R_AMDGPU_ABS32_HI:
      value = absolute >> 32, width = 4;
      break;
    case R_AMDGPU_ABS64:
      value = absolute, width = 8;
      break;
    case R_AMDGPU_REL32:
    case R_AMDGPU_REL32_LO:
      value = absolute - place, width = 4;
      break;
    case R_AMDGPU_REL32_HI:
      value = (absolute - place) >> 32, width = 4;
      break;
    case R_AMDGPU_REL64:
      value = absolute - place, width = 8;
      break;
    case R_AMDGPU_RELATIVE64:
      value = base + static_cast<uint64_t>(relocation.addend), width = 8;
      break;
    default:
      return fail(ErrorKind::unsupported, "relocation type {} at {:#x} is not one that a loader applies",
                  relocation.type, relocation.offset);
  }
  if (relocation.offset > object.memory_size || object.memory_size - relocation.offset < width) {
    return fail(ErrorKind::invalid_file, "a relocation at {:#x} lies outside of the code object's memory",
                relocation.offset);
  }
  std::memcpy(reinterpret_cast<void*>(place), &value, width);
  return {};
}

/// Calls visit(address, size) for the pages that hold code and nothing else, from the load address on.
template <typename Visit>
void for_each_page_of_code(const object::CodeObject& object, const Visit& visit) {
  constexpr uint64_t page = 4096;
  const auto& segments = object.segments;
  for (size_t i = 0; i < segments.size(); ++i) {
    if (!segments[i].executable || segments[i].writable) continue;
    uint64_t begin = segments[i].address / page * page;
    uint64_t end = (segments[i].address + segments[i].memory_size + page - 1) / page * page;
    if (i > 0 && segments[i - 1].address + segments[i - 1].memory_size > begin) begin += page;
    if (i + 1 < segments.size() && segments[i + 1].address < end) end -= page;
    if (begin < end) visit(begin, end - begin);
  }
}

}  // namespace

support::Result<std::shared_ptr<LoadedCode>> LoadedCode::load(Memory& memory, const target::TargetId& gpu,
                                                              std::span<const uint8_t> file,
                                                              const ExternalSymbols& externals, std::string uri,
                                                              object::AcceptedAbis accepted) {
  auto loadable = object::read_loadable_code(file, accepted);
  if (!loadable) return support::within(uri, loadable.error());
  auto code = std::make_shared<LoadedCode>();
  Image& image = *code->image_;
  image.file = std::move(loadable->file);
  image.object = std::move(loadable->code);
  code->abi_ = loadable->abi;
  code->entry_points_ = std::move(loadable->entry_points);
  code->uri = std::move(uri);
  const object::CodeObject& parsed = image.object;
  if (auto runs = target::check_runs_on(parsed.target, gpu); !runs) return support::within(code->uri, runs.error());
  if (parsed.memory_size == 0) return fail(ErrorKind::invalid_file, "{}: has nothing to load", code->uri);

  // One mapping for all segments: the distances between them are the linker's, and code relies on them.
  uint64_t alignment = 4096;
  for (const object::Segment& segment : parsed.segments) alignment = std::max(alignment, segment.alignment);
  auto base = memory.allocate(parsed.memory_size, alignment, "code object " + code->uri);
  if (!base) return support::within(code->uri, base.error());
  code->memory_ = &memory;
  code->base_ = *base;
  code->size_ = parsed.memory_size;
  image.symbolizer.emplace(image.file, parsed.functions, *base);
  for (const object::Segment& segment : parsed.segments) {
    if (segment.bytes.empty()) continue;
    std::memcpy(reinterpret_cast<void*>(*base + segment.address), segment.bytes.data(), segment.bytes.size());
  }
  for (const object::Relocation& relocation : parsed.relocations) {
    if (auto done = relocate(parsed, relocation, *base, externals); !done) {
      return support::within(code->uri, done.error());
    }
  }

  // Writes by a kernel would not take effect reliably: engines keep decoded copies of the code.
  for_each_page_of_code(parsed, [&](uint64_t address, uint64_t size) {
    static_cast<void>(Memory::protect_part(*base + address, size, Access::read));
  });

  std::unordered_map<std::string_view, const object::KernelMetadata*> kernels;
  for (const object::KernelMetadata& kernel : parsed.metadata.kernels) kernels.emplace(kernel.object_symbol(), &kernel);
  for (const object::Symbol& symbol : parsed.symbols) {
    const bool is_kernel = parsed.is_kernel(symbol);
    if (!is_kernel && (!symbol.defined || symbol.type != STT_OBJECT || symbol.name.empty())) continue;
    LoadedSymbol loaded{.name = std::string(symbol.name),
                        .address = *base + symbol.value,
                        .size = symbol.size,
                        .is_global = symbol.binding != STB_LOCAL};
    if (is_kernel) {
      loaded.kind = LoadedSymbol::Kind::kernel;
      if (const auto found = kernels.find(symbol.name); found != kernels.end()) loaded.metadata = found->second;
    }
    code->symbols_.push_back(std::move(loaded));
  }
  return code;
}

LoadedCode::~LoadedCode() {
  if (memory_ == nullptr) return;
  if (before_unload) before_unload(*this);
  for_each_page_of_code(image_->object, [&](uint64_t address, uint64_t size) {
    static_cast<void>(Memory::protect_part(base_ + address, size, Access::read_write));  // pages may be used again
  });
  // Freeing fails only for an address that was never allocated, which base_ is not.
  static_cast<void>(memory_->free(base_));
}

const LoadedSymbol* LoadedCode::find(std::string_view name) const {
  const auto found = std::ranges::find(symbols_, name, &LoadedSymbol::name);
  return found == symbols_.end() ? nullptr : &*found;
}

const LoadedSymbol* LoadedCode::kernel_at(uint64_t kernel_object) const {
  const auto found = std::ranges::find_if(symbols_, [&](const LoadedSymbol& symbol) {
    return symbol.kind == LoadedSymbol::Kind::kernel && symbol.address == kernel_object;
  });
  return found == symbols_.end() ? nullptr : &*found;
}

std::string_view LoadedCode::function_at(uint64_t address) const {
  return contains(address) ? image_->symbolizer->symbol_at(address) : std::string_view();
}

std::shared_ptr<const debug_info::Symbolizer> LoadedCode::symbolizer() const { return {image_, &*image_->symbolizer}; }

}  // namespace Atoll::machine
