// object: reading containers of Catalyst's OpenCL 2.0.
#include "object/catalyst_cl2.h"

#include <algorithm>
#include <map>

#include "object/catalyst_cl2_layout.h"
#include "object/catalyst_devices.h"
#include "object/code_object_v2.h"
#include "support/bytes.h"

namespace Atoll::object::catalyst {

using support::ErrorKind;
using support::fail;
using support::read;
using support::Result;
using support::slice;
using Bytes = std::span<const uint8_t>;
using namespace cl2;

namespace {

std::string_view text_of(Bytes bytes) {
  std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  while (text.ends_with('\0')) text.remove_suffix(1);
  return text;
}

/// Reads a kernel's metadata record.
Result<void> read_metadata(Cl2Kernel& kernel, bool is_64_bit) {
  const MetadataLayout& layout = is_64_bit ? layout64 : layout32;
  const Bytes bytes = kernel.metadata;
  const auto size_at = [&](uint64_t offset) {
    return is_64_bit ? read<uint64_t>(bytes, offset).value_or(0) : read<uint32_t>(bytes, offset).value_or(0);
  };
  const uint64_t header = size_at(0);
  if (header < layout.header || header >= bytes.size())
    return fail(ErrorKind::invalid_file, "a header of {} bytes in metadata of {}; {} are necessary", header,
                bytes.size(), layout.header);
  for (unsigned i = 0; i < 3; ++i)
    kernel.required_work_group_size[i] = static_cast<uint32_t>(size_at(layout.required_size + i * layout.word));
  const uint64_t names = size_at(layout.first_name), more_names = size_at(layout.second_name);
  if (names > bytes.size() || more_names > bytes.size())
    return fail(ErrorKind::invalid_file, "names of {} and {} bytes in metadata of {}", names, more_names, bytes.size());
  uint64_t at = header + names + more_names + 2;
  const uint64_t hint = header >= layout.hint_header ? size_at(layout.hint_length) : 0;
  if (hint > bytes.size())
    return fail(ErrorKind::invalid_file, "a hint of {} bytes in metadata of {}", hint, bytes.size());
  // Newer drivers have a third text, the vector type hint, which may be empty.
  if (hint != 0 || read<uint32_t>(bytes, at) == layout.argument << 8) at += hint + 1;
  const uint64_t count = size_at(layout.num_arguments);
  if (count >= bytes.size() / layout.argument || !slice(bytes, at, (count + 1) * layout.argument))
    return fail(ErrorKind::invalid_file, "{} arguments at byte {} in metadata of {}", count, at, bytes.size());
  uint64_t text = at + (count + 1) * layout.argument;
  for (uint64_t i = 0; i < count; ++i, at += layout.argument) {
    if (const uint64_t size = size_at(at); size != layout.argument)
      return fail(ErrorKind::invalid_file, "argument {} has an entry of {} bytes instead of {}", i, size,
                  layout.argument);
    Cl2Argument argument;
    for (auto [field, to] : {std::pair(1u, &argument.name), std::pair(2u, &argument.type_name)}) {
      const uint64_t length = size_at(at + field * layout.word);
      const auto found = slice(bytes, text, length);
      if (!found) return fail(ErrorKind::invalid_file, "the names of argument {} are past the metadata", i);
      *to = text_of(*found);
      text += length + 1;
    }
    const auto word = [&](unsigned index) {
      return read<uint32_t>(bytes, at + 5 * layout.word + index * 4).value_or(0);
    };
    argument.size = word(word_size);
    argument.offset = word(word_offset);
    argument.type = word(word_type);
    const uint32_t space = word(word_space), is_pointer = word(word_is_pointer), flags = word(word_flags);
    argument.kind = word(word_kind);
    if (is_pointer != 0) {
      const bool is_pipe = argument.type == pointer_type && (flags >> 16 & 0xFF) != 0;
      if (space < first_space || space >= first_space + std::size(spaces) || (is_pipe && space != 4))
        return fail(ErrorKind::invalid_file, "argument {} ({}) points to unknown address space {}", i, argument.name,
                    space);
      argument.shape.type = is_pipe ? ArgumentType::pipe : ArgumentType::pointer;
      argument.space = spaces[space - first_space];
      argument.is_volatile = (flags & 0xFF) != 0;
      argument.is_restrict = (flags >> 8 & 0xFF) != 0;
      argument.is_const = word(word_is_const) != 0;
    } else {
      const auto row = std::ranges::find_if(
          types, [&](const TypeRow& each) { return each.type == argument.type && each.kind == argument.kind; });
      if (row == std::end(types))
        return fail(ErrorKind::invalid_file, "argument {} ({}) has unknown type {} of kind {}", i, argument.name,
                    argument.type, argument.kind);
      argument.shape.type = row->meaning;
      if (row->meaning == ArgumentType::image) argument.access = image_accesses[argument.type];
      if (argument.kind == kind_scalar && argument.type >= first_vector_type && argument.type <= last_vector_type) {
        if (argument.size > 16)
          return fail(ErrorKind::invalid_file, "argument {} ({}) is a vector of {} elements", i, argument.name,
                      argument.size);
        argument.shape.elements = static_cast<uint8_t>(argument.size);
      }
    }
    kernel.arguments.push_back(argument);
  }
  return {};
}

/// Splits a kernel's bytes into setup record and code.
Result<void> read_code(Cl2Kernel& kernel, Bytes bytes, uint64_t offset) {
  const auto setup = read<RawKernelCode>(bytes, 0);
  if (!setup) return fail(ErrorKind::invalid_file, "{} bytes of code have no setup record", bytes.size());
  const uint64_t entry = kernel_code_field("kernel_code_entry_byte_offset").of(*setup);
  if (entry > bytes.size())
    return fail(ErrorKind::invalid_file, "the code begins at byte {} of {}", entry, bytes.size());
  kernel.setup = *setup;
  kernel.code = bytes.subspan(entry);
  kernel.code_offset = offset + entry;
  return {};
}

std::optional<std::string_view> name_within(std::string_view symbol, std::string_view prefix, std::string_view suffix) {
  if (!symbol.starts_with(prefix) || !symbol.ends_with(suffix) || symbol.size() <= prefix.size() + suffix.size())
    return std::nullopt;
  return symbol.substr(prefix.size(), symbol.size() - prefix.size() - suffix.size());
}

/// Devices by e_flags whose number is the same in all drivers that CLRX describes.
const target::Processor* processor_of_flags(uint32_t flags) {
  constexpr std::pair<uint32_t, std::string_view> rows[] = {{1, "spectre"}, {2, "spooky"},  {3, "kalindi"},
                                                            {4, "mullins"}, {6, "bonaire"}, {7, "hawaii"},
                                                            {8, "iceland"}, {9, "tonga"}};
  for (const auto& [number, name] : rows)
    if (number == flags) return target::find_processor(find_device(name)->processor);
  return nullptr;
}

/// Finds the kernels' metadata and pieces in the outer file and the inner one.
class Reader {
 public:
  explicit Reader(Cl2Container& container) : container_(container) {}

  Result<void> run() {
    const ElfSection* table = container_.file.find_section(SHT_SYMTAB);
    if (table != nullptr) {
      if (auto ok = read_outer(*table); !ok) return ok;
    }
    const ElfSection* text = container_.file.find_section(".text");
    if (text != nullptr && support::starts_with(text->bytes, ELFMAG)) return read_inner(text->bytes);
    return {};
  }

 private:
  Cl2Kernel& kernel_of(std::string_view name) {
    const auto [found, added] = by_name_.emplace(name, container_.kernels.size());
    if (added) container_.kernels.emplace_back().name = name;
    return container_.kernels[found->second];
  }

  Result<Bytes> piece_of(const ElfFile& file, const ElfSymbol& symbol) {
    const ElfSection& section = file.sections[symbol.raw.st_shndx];
    const auto piece = slice(section.bytes, symbol.raw.st_value, symbol.raw.st_size);
    if (!piece)
      return fail(ErrorKind::invalid_file, "symbol '{}' has {} bytes from byte {} on of section '{}', which has {}",
                  symbol.name, symbol.raw.st_size, symbol.raw.st_value, section.name, section.bytes.size());
    total_ += piece->size();
    if (total_ > file.bytes.size()) return fail(ErrorKind::invalid_file, "symbol '{}' overlaps others", symbol.name);
    return *piece;
  }

  Result<void> read_outer(const ElfSection& table) {
    const ElfFile& file = container_.file;
    const auto symbols = read_symbols(file, table);
    if (!symbols) return std::unexpected(symbols.error());
    for (const ElfSymbol& symbol : *symbols) {
      if (symbol.raw.st_shndx == SHN_UNDEF || symbol.raw.st_shndx >= file.sections.size()) continue;
      const auto piece = piece_of(file, symbol);
      if (!piece) return std::unexpected(piece.error());
      Result<void> read;
      if (symbol.name == "__OpenCL_compiler_options") {
        container_.compile_options = text_of(*piece);
      } else if (symbol.name == "acl_version_string") {
        container_.acl_version = text_of(*piece);
      } else if (const auto name = name_within(symbol.name, "__OpenCL_&__OpenCL_", "_kernel_metadata")) {
        Cl2Kernel& kernel = kernel_of(*name);
        kernel.metadata = *piece;
        read = read_metadata(kernel, container_.is_64_bit);
      } else if (const auto isa = name_within(symbol.name, "__ISA_&__OpenCL_", "_kernel_metadata")) {
        kernel_of(*isa).isa_metadata = *piece;
      } else if (const auto code = name_within(symbol.name, "__ISA_&__OpenCL_", "_kernel_binary")) {
        Cl2Kernel& kernel = kernel_of(*code);
        const auto stub = support::read<uint32_t>(*piece, 0);
        if (!stub || *stub > piece->size())
          return fail(ErrorKind::invalid_file, "kernel {}: a stub of {} bytes in {}", kernel.name, stub.value_or(0),
                      piece->size());
        kernel.stub = piece->first(*stub);
        read = read_code(kernel, piece->subspan(*stub), 0);
      }
      if (!read) return support::within(fmt::format("symbol '{}'", symbol.name), read.error());
    }
    return {};
  }

  Result<void> read_inner(Bytes bytes) {
    const auto file = read_elf_file(bytes);
    if (!file) return support::within("inner file", file.error());
    container_.inner = bytes;
    if (const auto target = read_target_v2(*file)) container_.processor = target->processor;
    const auto content = [&](std::string_view name) {
      const ElfSection* section = file->find_section(name);
      return section == nullptr ? Bytes() : section->bytes;
    };
    container_.read_only_data = content(".hsadata_readonly_agent");
    container_.global_data = content(".hsadata_global_agent");
    container_.sampler_data = content(".hsaimage_samplerinit");
    if (const ElfSection* bss = file->find_section(".hsabss_global_agent")) container_.bss_bytes = bss->header.sh_size;
    for (const std::string_view name : {".rela.hsatext", ".rela.hsadata_readonly_agent"})
      container_.num_relocations += content(name).size() / sizeof(Elf64_Rela);
    const ElfSection* table = file->find_section(SHT_SYMTAB);
    if (table == nullptr) return {};
    const auto symbols = read_symbols(*file, *table);
    if (!symbols) return support::within("inner file", symbols.error());
    read_relocations_of_code(*file, *symbols);
    total_ = 0;
    for (const ElfSymbol& symbol : *symbols) {
      const auto name = name_within(symbol.name, "&__OpenCL_", "_kernel");
      if (!name || symbol.raw.st_shndx == SHN_UNDEF || symbol.raw.st_shndx >= file->sections.size()) continue;
      const auto piece = piece_of(*file, symbol);
      if (!piece) return support::within("inner file", piece.error());
      Cl2Kernel& kernel = kernel_of(*name);
      if (auto ok = read_code(kernel, *piece, symbol.raw.st_value); !ok)
        return support::within(fmt::format("kernel {}", kernel.name), ok.error());
    }
    return {};
  }

  void read_relocations_of_code(const ElfFile& file, std::span<const ElfSymbol> symbols) {
    const ElfSection* table = file.find_section(".rela.hsatext");
    if (table == nullptr) return;
    for (const Elf64_Rela& raw : read_relocations(*table)) {
      Cl2Relocation relocation{.offset = raw.r_offset,
                               .type = static_cast<uint32_t>(ELF64_R_TYPE(raw.r_info)),
                               .section = {},
                               .addend = raw.r_addend};
      if (const size_t index = ELF64_R_SYM(raw.r_info); index < symbols.size()) {
        const Elf64_Sym& symbol = symbols[index].raw;
        if (symbol.st_shndx < file.sections.size()) relocation.section = file.sections[symbol.st_shndx].name;
        relocation.addend = static_cast<int64_t>(static_cast<uint64_t>(raw.r_addend) + symbol.st_value);
      }
      container_.relocations.push_back(relocation);
    }
  }

  Cl2Container& container_;
  std::map<std::string_view, size_t> by_name_;
  uint64_t total_ = 0;  ///< bytes of all symbols so far
};

}  // namespace

const Cl2Kernel* Cl2Container::find_kernel(std::string_view name) const {
  const auto found = std::ranges::find(kernels, name, &Cl2Kernel::name);
  return found == kernels.end() ? nullptr : &*found;
}

bool is_cl2_container(Bytes file) {
  const auto machine = read<uint16_t>(file, offsetof(Elf64_Ehdr, e_machine));
  return support::starts_with(file, ELFMAG) && (machine == em_cl2_32 || machine == em_cl2_64);
}

Result<Cl2Container> read_cl2_container(Bytes bytes) {
  auto file = read_elf_file_of_either_class(bytes);
  if (!file) return std::unexpected(file.error());
  if (!is_cl2_container(bytes))
    return fail(ErrorKind::incompatible, "machine {:#x} is not Catalyst's OpenCL 2.0", file->header.e_machine);
  Cl2Container container{.file = std::move(*file),
                         .compile_options = {},
                         .acl_version = {},
                         .kernels = {},
                         .inner = {},
                         .read_only_data = {},
                         .global_data = {},
                         .sampler_data = {},
                         .relocations = {}};
  container.is_64_bit = container.file.header.e_machine == em_cl2_64;
  const bool wide = container.file.header.e_ident[EI_CLASS] == ELFCLASS64;
  if (wide != container.is_64_bit)
    return fail(ErrorKind::invalid_file, "machine {:#x} in a {}-bit file", container.file.header.e_machine,
                wide ? 64 : 32);
  container.processor = processor_of_flags(container.file.header.e_flags);
  if (auto ok = Reader(container).run(); !ok) return std::unexpected(ok.error());
  return container;
}

}  // namespace Atoll::object::catalyst
