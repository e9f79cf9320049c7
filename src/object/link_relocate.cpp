// object: the linker: relocated bytes (linker.h).
#include <algorithm>
#include <cstring>
#include <optional>

#include "object/linker.h"
#include "object/relocation_type.h"

namespace Atoll::object {

namespace {

/// Returns the address of discarded code in debug information: 0, or another value where 0 has a meaning.
std::optional<uint64_t> address_of_discarded(std::string_view section) {
  if (!section.starts_with(".debug_")) return std::nullopt;
  if (section == ".debug_loc" || section == ".debug_ranges") return 1;
  return section == ".debug_names" ? UINT64_MAX : 0;
}

}  // namespace

/// Has the loader put a symbol's address, with an addend, into the eight bytes at `at`.
void Linker::leave_to_loader(uint64_t at, const GlobalSymbol* symbol, uint64_t value, int64_t addend) {
  if (symbol != nullptr && symbol->preemptible() && symbol->exported()) {
    symbolic_.push_back(
        {.r_offset = at, .r_info = ELF64_R_INFO(uint64_t{symbol->dynamic_index}, R_AMDGPU_ABS64), .r_addend = addend});
  } else {
    relative_.push_back(
        {.r_offset = at, .r_info = R_AMDGPU_RELATIVE64, .r_addend = static_cast<int64_t>(value) + addend});
  }
}

/// Code of PAL and Mesa3D has the halves of functions' addresses in instructions. Its loaders relocate them; HSA's do
/// not.
bool Linker::loader_fills_half(const GlobalSymbol& symbol) const {
  return inputs_.front().object.os_abi != elf::osabi_amdgpu_hsa && symbol.defined() && !is_absolute(symbol) &&
         symbol.exported();
}

void Linker::fill_global_offset_table() {
  const auto fill = [&](uint64_t offset, const GlobalSymbol* symbol, uint64_t value) {
    if (symbol != nullptr && is_constant(*symbol)) {
      std::memcpy(got_->bytes.data() + offset, &value, sizeof value);
    } else {
      leave_to_loader(got_->address + offset, symbol, value, 0);
    }
  };
  for (const auto& [symbol, offset] : global_slots_) fill(offset, symbol, address_of(*symbol));
  for (const auto& [symbol, offset] : local_slots_) {
    fill(offset, nullptr, address_of(symbol.first, inputs_[symbol.first].object.symbols[symbol.second]));
  }
}

/// Returns the relocated field's value, from which it takes its low bytes; nothing if the loader fills it in, or
/// if it stays as it is.
std::optional<uint64_t> Linker::relocated_value(size_t input, const RelocatableSection& section, const Placement& at,
                                                const RelocatableRelocation& relocation) {
  const RelocatableSymbol& named = inputs_[input].object.symbols[relocation.symbol];
  const GlobalSymbol* symbol = relocation.symbol == 0 ? nullptr : global(input, relocation.symbol);
  if (symbol == nullptr && is_discarded(input, named)) {
    if (const auto nowhere = address_of_discarded(at.section->name)) return nowhere;
  }
  const uint64_t address = symbol != nullptr ? address_of(*symbol) : address_of(input, named);
  const auto addend = static_cast<uint64_t>(relocation.addend);
  const uint64_t value = address + addend, p = at.section->address + at.offset + relocation.offset;
  switch (relocation.type) {
    case R_AMDGPU_NONE:
      return std::nullopt;
    case R_AMDGPU_ABS64:
      if (at.section->allocated() && !(symbol != nullptr && is_constant(*symbol))) {
        leave_to_loader(p, symbol, address, relocation.addend);
        return std::nullopt;
      }
      return value;
    case R_AMDGPU_ABS32:
    case R_AMDGPU_ABS32_LO:
    case R_AMDGPU_ABS32_HI:
      if (at.section->allocated() && symbol != nullptr && loader_fills_half(*symbol)) {
        symbolic_.push_back({.r_offset = p,
                             .r_info = ELF64_R_INFO(uint64_t{symbol->dynamic_index}, relocation.type),
                             .r_addend = relocation.addend});
        return std::nullopt;
      }
      return relocation.type == R_AMDGPU_ABS32_HI ? value >> 32 : value;
    case R_AMDGPU_GOTPCREL:
    case R_AMDGPU_GOTPCREL32_LO:
    case R_AMDGPU_GOTPCREL32_HI: {
      const uint64_t slot = symbol != nullptr ? global_slots_.at(symbol) : local_slots_.at({input, relocation.symbol});
      const uint64_t distance = got_->address + slot + addend - p;
      return relocation.type == R_AMDGPU_GOTPCREL32_HI ? distance >> 32 : distance;
    }
    case R_AMDGPU_REL32:
    case R_AMDGPU_REL64:
    case R_AMDGPU_REL32_LO:
      return value - p;
    case R_AMDGPU_REL32_HI:
      return (value - p) >> 32;
    case R_AMDGPU_REL16: {
      const int64_t words = static_cast<int64_t>(value - p - 4) / 4;
      if (words != static_cast<int16_t>(words)) {
        problem(fmt::format("{}: the branch is too far", place(input, section, relocation.offset)));
      }
      return static_cast<uint64_t>(words);
    }
    default:
      return value;
  }
}

void Linker::relocate() {
  fill_global_offset_table();
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const Relocatable& object = inputs_[i].object;
    for (size_t s = 0; s < object.sections.size(); ++s) {
      const Placement& at = placements_[i][s];
      if (at.section == nullptr) continue;
      for (const RelocatableRelocation& relocation : object.sections[s].relocations) {
        const auto value = relocated_value(i, object.sections[s], at, relocation);
        if (!value) continue;
        uint8_t* field = at.section->bytes.data() + at.offset + relocation.offset;
        std::memcpy(field, &*value, relocated_bytes(relocation.type));
      }
    }
  }
}

}  // namespace Atoll::object
