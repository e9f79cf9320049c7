// compiler: laying out host code (linking.h).
//
// Source: System V ABI, AMD64 supplement, "Relocation Types": S is the symbol's address, A the addend, P the place.
// Compact unwinding tables (.eh_frame) are left out: nothing unwinds through host code.
#include "compiler/llvm/linking.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <map>

#include "support/bytes.h"

namespace Atoll::compiler {

namespace {

using support::ErrorKind;
using support::fail;

/// What a call of an imported function goes to: `jmp *slot(%rip)`, and the slot after it.
constexpr uint8_t jump_to_slot[8] = {0xFF, 0x25, 2, 0, 0, 0, 0xCC, 0xCC};
constexpr uint64_t import_bytes = sizeof jump_to_slot + 8;

/// The object file is LLVM's own, made a moment ago: it is taken to be sound.
class Layout {
 public:
  explicit Layout(std::span<const char> object) : object_(object), header_(*at<Elf64_Ehdr>(0)) {}

  void place_sections() {
    for (unsigned index = 0; index < header_.e_shnum; ++index) {
      const Elf64_Shdr& header = section(index);
      if (header.sh_type == SHT_SYMTAB) symbols_ = &header;
      if ((header.sh_flags & SHF_ALLOC) == 0 || header.sh_size == 0) continue;
      if (std::string_view(name_of(header)) == ".eh_frame") continue;
      const uint64_t place = support::align_up(flat_.bytes.size(), std::max<uint64_t>(1, header.sh_addralign));
      places_[index] = place;
      flat_.bytes.resize(place + header.sh_size);
      if (header.sh_type != SHT_NOBITS) {
        std::memcpy(flat_.bytes.data() + place, at<char>(header.sh_offset), header.sh_size);
      }
    }
  }

  support::Result<void> relocate() {
    for (unsigned index = 0; index < header_.e_shnum; ++index) {
      const Elf64_Shdr& header = section(index);
      if (header.sh_type != SHT_RELA) continue;
      const auto place = places_.find(header.sh_info);
      if (place == places_.end()) continue;
      const auto* relocations = at<Elf64_Rela>(header.sh_offset);
      for (uint64_t i = 0; i < header.sh_size / sizeof *relocations; ++i) {
        if (auto done = relocate(relocations[i], place->second + relocations[i].r_offset); !done) return done;
      }
    }
    return {};
  }

  support::Result<LinkedCode> take(std::span<const std::string> entries) && {
    std::map<std::string_view, uint64_t> addresses;
    for (uint64_t i = 0; i < symbols_->sh_size / sizeof(Elf64_Sym); ++i) {
      const std::string_view name = name_of(symbol(i));
      if (std::ranges::find(entries, name) == entries.end()) continue;
      const auto address = address_of(symbol(i));
      if (!address) return std::unexpected(address.error());
      addresses[name] = *address;
    }
    for (const std::string& entry : entries) {
      const auto found = addresses.find(entry);
      if (found == addresses.end()) return fail(ErrorKind::system, "the host code has no function {}", entry);
      flat_.entries.push_back(found->second);
    }
    return std::move(flat_);
  }

 private:
  template <typename T>
  const T* at(uint64_t offset) const {
    return reinterpret_cast<const T*>(object_.data() + offset);
  }
  const Elf64_Shdr& section(unsigned index) const { return at<Elf64_Shdr>(header_.e_shoff)[index]; }
  const Elf64_Sym& symbol(uint64_t index) const { return at<Elf64_Sym>(symbols_->sh_offset)[index]; }
  const char* name_of(const Elf64_Shdr& header) const {
    return at<char>(section(header_.e_shstrndx).sh_offset) + header.sh_name;
  }
  const char* name_of(const Elf64_Sym& symbol) const {
    return at<char>(section(symbols_->sh_link).sh_offset) + symbol.st_name;
  }

  support::Result<void> relocate(const Elf64_Rela& relocation, uint64_t place) {
    const auto symbol_address = address_of(symbol(ELF64_R_SYM(relocation.r_info)));
    if (!symbol_address) return std::unexpected(symbol_address.error());
    const auto value = static_cast<int64_t>(*symbol_address + static_cast<uint64_t>(relocation.r_addend) - place);
    switch (const auto type = ELF64_R_TYPE(relocation.r_info)) {
      case R_X86_64_PC32:
      case R_X86_64_PLT32: {
        const auto word = static_cast<int32_t>(value);
        if (word != value) return fail(ErrorKind::out_of_resources, "the host code is larger than 2 GiB");
        std::memcpy(flat_.bytes.data() + place, &word, sizeof word);
        return {};
      }
      case R_X86_64_PC64:
        std::memcpy(flat_.bytes.data() + place, &value, sizeof value);
        return {};
      default:
        return fail(ErrorKind::unsupported, "the host code has a relocation of type {}", type);
    }
  }

  /// The offset of a symbol's place.
  support::Result<uint64_t> address_of(const Elf64_Sym& symbol) {
    if (symbol.st_shndx == SHN_UNDEF) return import(name_of(symbol));
    const auto place = places_.find(symbol.st_shndx);
    if (place == places_.end()) {
      return fail(ErrorKind::unsupported, "the host code refers to section {}", name_of(section(symbol.st_shndx)));
    }
    return place->second + symbol.st_value;
  }

  support::Result<uint64_t> import(const std::string& name) {
    const auto* const known = std::ranges::find(engine::import_names, name);
    if (known == std::end(engine::import_names)) {
      return fail(ErrorKind::unsupported, "the host code calls {}", name);
    }
    const auto [found, is_new] = imports_.try_emplace(name, support::align_up(flat_.bytes.size(), 16));
    if (is_new) {
      flat_.bytes.resize(found->second + import_bytes);
      std::memcpy(flat_.bytes.data() + found->second, jump_to_slot, sizeof jump_to_slot);
      flat_.imports.push_back({static_cast<uint32_t>(found->second + sizeof jump_to_slot),
                               static_cast<uint32_t>(known - engine::import_names)});
    }
    return found->second;
  }

  std::span<const char> object_;
  const Elf64_Ehdr& header_;
  const Elf64_Shdr* symbols_ = nullptr;
  LinkedCode flat_;
  std::map<uint64_t, uint64_t> places_;  ///< by section
  std::map<std::string, uint64_t> imports_;
};

}  // namespace

support::Result<LinkedCode> link_object(std::span<const char> object, std::span<const std::string> entries) {
  Layout layout(object);
  layout.place_sections();
  if (auto done = layout.relocate(); !done) return std::unexpected(done.error());
  return std::move(layout).take(entries);
}

}  // namespace Atoll::compiler
