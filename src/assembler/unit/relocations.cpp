// assembler: the values that had to wait for addresses, and relocations for those that a linker must make (unit.h).
#include <elf.h>

#include <algorithm>

#include <fmt/format.h>

#include "assembler/unit/assembly_unit.h"
#include "object/relocation_type.h"

namespace Atoll::assembler {

namespace {

using namespace object;  // R_AMDGPU_*

/// The relocation of a place of 4 or 8 bytes.
std::optional<uint32_t> relocation_type(Specifier specifier, unsigned size, bool pc_relative) {
  switch (specifier) {
    case Specifier::gotpcrel:
      return R_AMDGPU_GOTPCREL;
    case Specifier::gotpcrel32_lo:
      return R_AMDGPU_GOTPCREL32_LO;
    case Specifier::gotpcrel32_hi:
      return R_AMDGPU_GOTPCREL32_HI;
    case Specifier::rel32_lo:
      return R_AMDGPU_REL32_LO;
    case Specifier::rel32_hi:
      return R_AMDGPU_REL32_HI;
    case Specifier::rel64:
      return R_AMDGPU_REL64;
    case Specifier::abs32_lo:
      return R_AMDGPU_ABS32_LO;
    case Specifier::abs32_hi:
      return R_AMDGPU_ABS32_HI;
    case Specifier::abs64:
      return R_AMDGPU_ABS64;
    case Specifier::none:
      break;
  }
  if (size == 4) return pc_relative ? R_AMDGPU_REL32 : R_AMDGPU_ABS32;
  if (size == 8) return pc_relative ? R_AMDGPU_REL64 : R_AMDGPU_ABS64;
  return std::nullopt;
}

}  // namespace

bool fits_integer(int64_t value, unsigned size) {
  if (size >= 8) return true;
  const int64_t limit = int64_t{1} << (8 * size);
  return value < limit && value >= -(limit / 2);
}

void Unit::resolve(Section& section, const Fixup& fixup) {
  const uint64_t address = section.addresses[fixup.fragment] + fixup.offset;
  auto value = evaluate(*fixup.expression);
  if (!value) {
    source_.error(fixup.place, "expected relocatable expression");
    return;
  }
  const auto place = [&](uint64_t bits, unsigned size) {
    for (unsigned i = 0; i < size && i < 8; ++i) section.bytes[address + i] = static_cast<uint8_t>(bits >> (8 * i));
  };
  bool pc_relative = fixup.pc_relative || fixup.kind == Fixup::Kind::branch;
  if (value->minus != nullptr) {
    if (!value->minus->is_defined()) {
      source_.error(fixup.place,
                    fmt::format("symbol '{}' can not be undefined in a subtraction expression", value->minus->name));
      return;
    }
    if (!value->minus->is_label() || value->minus->section != &section || pc_relative || value->plus == nullptr) {
      source_.error(fixup.place, "Cannot represent a difference across sections");
      return;
    }
    value->constant += static_cast<int64_t>(address - *address_of(*value->minus));
    value->minus = nullptr;
    pc_relative = true;
  }
  Symbol* symbol = value->plus;
  if (symbol == nullptr && !pc_relative && value->specifier == Specifier::none) {
    if (!fits_integer(value->constant, fixup.size)) {
      source_.error(fixup.place, fmt::format("value evaluated as {} is out of range.", value->constant));
    }
    return place(static_cast<uint64_t>(value->constant), fixup.size);
  }
  const bool local = symbol != nullptr && symbol->is_label() && symbol->binding == STB_LOCAL;
  if (pc_relative && local && symbol->section == &section && value->specifier == Specifier::none) {
    const int64_t distance = value->constant + static_cast<int64_t>(*address_of(*symbol) - address);
    if (fixup.kind == Fixup::Kind::data) return place(static_cast<uint64_t>(distance), fixup.size);
    const int64_t words = (distance - 4) / 4;
    if (words != static_cast<int16_t>(words)) source_.error(fixup.place, "branch size exceeds simm16");
    return place(static_cast<uint64_t>(words), 2);
  }
  if (symbol != nullptr && symbol->temporary && !symbol->is_defined()) {
    source_.error(fixup.place, fixup.kind == Fixup::Kind::branch
                                   ? fmt::format("undefined label '{}'", symbol->name)
                                   : fmt::format("Undefined temporary symbol {}", symbol->name));
    return;
  }
  std::optional<uint32_t> type = relocation_type(value->specifier, fixup.size, pc_relative);
  if (fixup.kind == Fixup::Kind::branch) {
    if (symbol != nullptr && !symbol->is_defined()) {
      source_.error(fixup.place, fmt::format("undefined label '{}'", symbol->name));
      return;
    }
    type = R_AMDGPU_REL16;
  }
  if (!type) {
    source_.error(fixup.place, "unsupported relocation type");
    return;
  }
  Atoll::assembler::Relocation relocation{
      .offset = address, .symbol = symbol, .type = *type, .addend = value->constant};
  // A local symbol's place is said by its section, which spares the symbol. Merged sections move about.
  const bool merged = local && (symbol->section->flags & SHF_MERGE) != 0 && value->constant != 0;
  const bool thread_local_symbol = local && (symbol->section->flags & SHF_TLS) != 0;
  if (local && !merged && !thread_local_symbol) {
    relocation.addend += static_cast<int64_t>(*address_of(*symbol));
    relocation.symbol = symbol->section->symbol;
  }
  if (relocation.symbol != nullptr) {
    keep(*relocation.symbol);
    relocation.symbol->in_relocation = true;
  }
  section.relocations.push_back(relocation);
}

void Unit::resolve(Section& section, const ExplicitRelocation& spelled) {
  const auto offset = evaluate(*spelled.offset);
  const bool in_section = offset && offset->minus == nullptr &&
                          (offset->plus == nullptr || (offset->plus->is_label() && offset->plus->section == &section));
  if (!in_section) {
    source_.error(spelled.offset->place, ".reloc offset is not representable");
    return;
  }
  const auto at = static_cast<uint64_t>(offset->constant) + (offset->plus != nullptr ? *address_of(*offset->plus) : 0);
  Atoll::assembler::Relocation relocation{.offset = at, .symbol = nullptr, .type = spelled.type, .addend = 0};
  if (spelled.value != nullptr) {
    const auto value = evaluate(*spelled.value);
    if (!value || value->minus != nullptr || value->specifier != Specifier::none) {
      source_.error(spelled.value->place, "expression must be relocatable");
      return;
    }
    relocation.symbol = value->plus;
    relocation.addend = value->constant;
  }
  if (relocation.symbol != nullptr) {
    keep(*relocation.symbol);
    relocation.symbol->in_relocation = true;
  }
  section.relocations.push_back(relocation);
}

void Unit::finish() {
  final_ = true;
  const size_t errors = source_.errors();
  content_ = 0;
  for (Section& section : sections_) lay_out(section);
  if (source_.errors() != errors) return;
  for (Section& section : sections_) fill(section);
  for (Section& section : sections_) {
    // In LLVM's order: spelled ones at a number belong to the section's beginning, which is empty in the .text that is
    // there from the start, the others to what holds their place.
    const auto is_early = [&](const ExplicitRelocation& spelled) {
      return &section == &sections_.front() && absolute(*spelled.offset).has_value();
    };
    for (const ExplicitRelocation& spelled : section.explicit_relocations) {
      if (is_early(spelled)) resolve(section, spelled);
    }
    const auto early = static_cast<ptrdiff_t>(section.relocations.size());
    for (const Fixup& fixup : section.fixups) resolve(section, fixup);
    std::ranges::sort(section.relocations.begin() + early, section.relocations.end(), {}, &Relocation::offset);
    for (const ExplicitRelocation& spelled : section.explicit_relocations) {
      if (!is_early(spelled)) resolve(section, spelled);
    }
  }
}

}  // namespace Atoll::assembler
