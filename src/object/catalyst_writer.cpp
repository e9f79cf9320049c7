// object: writing Catalyst's containers (catalyst_writer.h).
#include "object/catalyst_writer.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <span>
#include <string_view>

#include "object/catalyst_cl2_layout.h"
#include "object/elf.h"
#include "object/elf_file.h"
#include "support/bytes.h"
#include "target/target_id.h"

namespace Atoll::object::catalyst {

using support::append;
using support::ErrorKind;
using support::fail;
using support::Result;
using Bytes = std::vector<uint8_t>;

namespace {

void append_bytes(Bytes& to, std::span<const uint8_t> bytes) { to.insert(to.end(), bytes.begin(), bytes.end()); }
void append_text(Bytes& to, std::string_view text) { to.insert(to.end(), text.begin(), text.end()); }

struct OutputSection {
  std::string name;
  uint32_t type = SHT_PROGBITS;
  Bytes bytes = {};
  uint64_t size = 0;      ///< of a section without bytes in the file
  uint32_t info = 0;      ///< of relocations: the number of the section that they are for
  bool is_table = false;  ///< refers to the symbol table
};

struct OutputSymbol {
  std::string name;
  uint16_t section;
  uint64_t value = 0, size = 0;
  uint8_t type = STT_OBJECT;
};

struct Elf32 {
  using Ehdr = Elf32_Ehdr;
  using Shdr = Elf32_Shdr;
  using Sym = Elf32_Sym;
  static constexpr uint8_t elf_class = ELFCLASS32;
};
struct Elf64 {
  using Ehdr = Elf64_Ehdr;
  using Shdr = Elf64_Shdr;
  using Sym = Elf64_Sym;
  static constexpr uint8_t elf_class = ELFCLASS64;
};

struct FileKind {
  uint16_t machine;
  uint32_t flags = 0;
  uint8_t os_abi = 0;
};

/// Writes a file: header, sections' bytes, section headers. Section 1 is the first given; symbol table and names
/// follow.
template <typename Elf>
Bytes write_elf(const FileKind& kind, std::vector<OutputSection> sections, std::span<const OutputSymbol> symbols) {
  Bytes strings(1), names(1), table(sizeof(typename Elf::Sym));
  for (const OutputSymbol& symbol : symbols) {
    typename Elf::Sym raw{};
    raw.st_name = static_cast<uint32_t>(strings.size());
    raw.st_value = static_cast<decltype(raw.st_value)>(symbol.value);
    raw.st_size = static_cast<decltype(raw.st_size)>(symbol.size);
    const uint8_t binding = symbol.type == STT_SECTION ? STB_LOCAL : STB_GLOBAL;
    raw.st_info = static_cast<uint8_t>(binding << 4 | symbol.type);
    raw.st_shndx = symbol.section;
    append(table, raw);
    append_text(strings, symbol.name);
    strings.push_back(0);
  }
  const auto table_number = static_cast<uint32_t>(sections.size() + 1);
  sections.push_back({.name = ".symtab", .type = SHT_SYMTAB, .bytes = std::move(table)});
  sections.push_back({.name = ".strtab", .type = SHT_STRTAB, .bytes = std::move(strings)});
  sections.push_back({.name = ".shstrtab", .type = SHT_STRTAB});
  std::vector<uint32_t> name_at;
  for (const OutputSection& section : sections) {
    name_at.push_back(static_cast<uint32_t>(names.size()));
    append_text(names, section.name);
    names.push_back(0);
  }
  sections.back().bytes = std::move(names);

  typename Elf::Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = Elf::elf_class;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_ident[EI_OSABI] = kind.os_abi;
  header.e_type = ET_EXEC;
  header.e_machine = kind.machine;
  header.e_version = EV_CURRENT;
  header.e_flags = kind.flags;
  header.e_ehsize = sizeof header;
  header.e_shentsize = sizeof(typename Elf::Shdr);
  header.e_shnum = static_cast<uint16_t>(sections.size() + 1);
  header.e_shstrndx = static_cast<uint16_t>(sections.size());
  Bytes file(sizeof header);
  std::vector<typename Elf::Shdr> headers(1);
  for (size_t i = 0; i < sections.size(); ++i) {
    const OutputSection& section = sections[i];
    typename Elf::Shdr raw{};
    raw.sh_name = name_at[i];
    raw.sh_type = section.type;
    raw.sh_offset = static_cast<decltype(raw.sh_offset)>(file.size());
    const uint64_t size = section.type == SHT_NOBITS ? section.size : section.bytes.size();
    raw.sh_size = static_cast<decltype(raw.sh_size)>(size);
    raw.sh_info = section.info;
    raw.sh_addralign = 1;
    if (section.is_table) raw.sh_link = table_number;
    if (section.type == SHT_RELA) raw.sh_entsize = sizeof(Elf64_Rela);
    if (section.type == SHT_SYMTAB) {
      raw.sh_link = table_number + 1;
      raw.sh_entsize = sizeof(typename Elf::Sym);
      const auto is_global = [](const OutputSymbol& symbol) { return symbol.type != STT_SECTION; };
      raw.sh_info = 1 + static_cast<uint32_t>(std::ranges::find_if(symbols, is_global) - symbols.begin());
    }
    headers.push_back(raw);
    append_bytes(file, section.bytes);
  }
  header.e_shoff = static_cast<decltype(header.e_shoff)>(file.size());
  for (const auto& raw : headers) append(file, raw);
  std::memcpy(file.data(), &header, sizeof header);
  return file;
}

Bytes write_elf(bool is_64_bit, const FileKind& kind, std::vector<OutputSection> sections,
                std::span<const OutputSymbol> symbols) {
  return is_64_bit ? write_elf<Elf64>(kind, std::move(sections), symbols)
                   : write_elf<Elf32>(kind, std::move(sections), symbols);
}

// --- OpenCL 1.x

/// The inner file of a kernel: an encoding dictionary with one encoding, whose notes, code and data follow.
Bytes write_image(const KernelSource& kernel, uint32_t machine) {
  struct DictionaryEntry {
    uint32_t machine, type, offset, size, flags;
  };
  constexpr uint32_t encoding_type = 4;
  constexpr std::string_view names("\0.shstrtab\0.text\0.data\0", 23), owner("ATI CAL\0", 8);
  constexpr uint32_t name_of_names = 1, name_of_text = 11, name_of_data = 17;
  Bytes notes;
  for (const CalNoteSource& note : kernel.notes) {
    append(notes, static_cast<uint32_t>(owner.size()));
    append(notes, static_cast<uint32_t>(note.description.size()));
    append(notes, note.type);
    append_text(notes, owner);
    append_bytes(notes, note.description);
  }
  constexpr size_t num_segments = 3, num_sections = 4;
  constexpr auto dictionary_at = static_cast<uint32_t>(sizeof(Elf32_Ehdr) + num_segments * sizeof(Elf32_Phdr));
  constexpr auto names_at = static_cast<uint32_t>(dictionary_at + sizeof(DictionaryEntry));
  constexpr auto sections_at = static_cast<uint32_t>(names_at + names.size());
  constexpr auto encoding_at = static_cast<uint32_t>(sections_at + num_sections * sizeof(Elf32_Shdr));
  const auto note_bytes = static_cast<uint32_t>(notes.size()), text_bytes = static_cast<uint32_t>(kernel.text.size()),
             data_bytes = static_cast<uint32_t>(kernel.data.size());
  Elf32_Phdr segments[num_segments]{};
  segments[0].p_type = pt_encoding_dictionary;
  segments[0].p_offset = dictionary_at;
  segments[0].p_filesz = sizeof(DictionaryEntry);
  segments[1].p_type = PT_NOTE;
  segments[1].p_offset = encoding_at;
  segments[1].p_filesz = note_bytes;
  segments[2].p_type = PT_LOAD;
  segments[2].p_offset = encoding_at + note_bytes;
  segments[2].p_filesz = segments[2].p_memsz = text_bytes + data_bytes;
  Elf32_Shdr sections[num_sections]{};
  sections[1].sh_name = name_of_names;
  sections[1].sh_type = SHT_STRTAB;
  sections[1].sh_offset = names_at;
  sections[1].sh_size = names.size();
  sections[2].sh_name = name_of_text;
  sections[2].sh_offset = encoding_at + note_bytes;
  sections[2].sh_size = text_bytes;
  sections[3].sh_name = name_of_data;
  sections[3].sh_offset = encoding_at + note_bytes + text_bytes;
  sections[3].sh_size = data_bytes;
  sections[2].sh_type = sections[3].sh_type = SHT_PROGBITS;
  Elf32_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS32;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_ident[EI_OSABI] = osabi_ati_cal;
  header.e_type = ET_EXEC;
  header.e_machine = em_ati_cal;
  header.e_version = EV_CURRENT;
  header.e_phoff = sizeof header;
  header.e_ehsize = sizeof header;
  header.e_phentsize = sizeof(Elf32_Phdr);
  header.e_phnum = num_segments;
  header.e_shoff = sections_at;
  header.e_shentsize = sizeof(Elf32_Shdr);
  header.e_shnum = num_sections;
  header.e_shstrndx = 1;
  Bytes file;
  append(file, header);
  for (const Elf32_Phdr& each : segments) append(file, each);
  append(file, DictionaryEntry{.machine = machine,
                               .type = encoding_type,
                               .offset = encoding_at,
                               .size = note_bytes + text_bytes + data_bytes,
                               .flags = 0});
  append_text(file, names);
  for (const Elf32_Shdr& each : sections) append(file, each);
  append_bytes(file, notes);
  append_bytes(file, kernel.text);
  append_bytes(file, kernel.data);
  return file;
}

// --- OpenCL 2.0

Result<Bytes> write_metadata(const Cl2KernelSource& kernel, bool is_64_bit) {
  const cl2::MetadataLayout& layout = is_64_bit ? cl2::layout64 : cl2::layout32;
  const auto put = [&](Bytes& to, size_t at, uint64_t value) { std::memcpy(to.data() + at, &value, layout.word); };
  std::vector<Cl2ArgumentSource> all;
  for (const std::string_view name : setup_arguments()) {
    Cl2ArgumentSource argument{.name = "_." + std::string(name), .type_name = "size_t"};
    argument.shape.type = name == "printf_buffer" ? ArgumentType::pointer
                          : is_64_bit             ? ArgumentType::int64
                                                  : ArgumentType::int32;
    if (argument.shape.type == ArgumentType::pointer) argument.space = "global";
    all.push_back(std::move(argument));
  }
  all.insert(all.end(), kernel.arguments.begin(), kernel.arguments.end());

  Bytes record(layout.header), texts;
  put(record, 0, record.size());
  for (unsigned i = 0; i < 3; ++i)
    put(record, layout.required_size + i * layout.word, kernel.required_work_group_size[i]);
  put(record, layout.num_arguments, all.size());
  record.resize(record.size() + 2);  // two empty texts
  for (const Cl2ArgumentSource& argument : all) {
    Bytes entry(layout.argument);
    put(entry, 0, entry.size());
    put(entry, layout.word, argument.name.size());
    put(entry, 2 * layout.word, argument.type_name.size());
    const auto set = [&](unsigned word, uint32_t value) {
      std::memcpy(&entry[5 * layout.word + word * sizeof value], &value, sizeof value);
    };
    const ArgumentType type = argument.shape.type;
    if (type == ArgumentType::pointer || type == ArgumentType::pipe) {
      const auto* const space = std::ranges::find(cl2::spaces, argument.space);
      set(cl2::word_type, cl2::pointer_type);
      set(cl2::word_space, cl2::first_space + static_cast<uint32_t>(space - std::begin(cl2::spaces)));
      set(cl2::word_is_pointer, 1);
      set(cl2::word_flags, (argument.is_volatile ? cl2::volatile_flag : 0) |
                               (argument.is_restrict ? cl2::restrict_flag : 0) |
                               (type == ArgumentType::pipe ? cl2::pipe_flag : 0));
      set(cl2::word_kind, cl2::kind_scalar);
      set(cl2::word_is_const, argument.is_const ? 1 : 0);
    } else {
      const cl2::TypeRow* found = nullptr;
      for (const cl2::TypeRow& row : cl2::types) {
        if (row.meaning != type) continue;
        if (type == ArgumentType::image && cl2::image_accesses[row.type] != argument.access) continue;
        found = &row;
      }
      if (found == nullptr)
        return fail(ErrorKind::unsupported, "kernel {}: argument {} has a type that Catalyst's metadata do not have",
                    kernel.name, argument.name);
      const bool has_number = type == ArgumentType::image || type == ArgumentType::sampler;
      set(cl2::word_type, found->type);
      set(cl2::word_kind, found->kind);
      set(cl2::word_size, type == ArgumentType::structure ? argument.number : argument.shape.elements);
      set(cl2::word_offset, has_number ? argument.number : 0);
    }
    append_bytes(record, entry);
    for (const std::string& text : {argument.name, argument.type_name}) {
      append_text(texts, text);
      texts.push_back(0);
    }
  }
  record.resize(record.size() + layout.argument);  // an empty entry ends the list
  append_bytes(record, texts);
  return record;
}

Bytes isa_note(const target::Processor& processor) {
  constexpr std::string_view owner("AMD\0", 4), vendor("AMD\0", 4), architecture("AMDGPU\0", 7);
  const target::IsaVersion version = target::isa_version_in_v2(target::isa_version(processor), target::Setting::off);
  Bytes isa;
  append(isa, static_cast<uint16_t>(vendor.size()));
  append(isa, static_cast<uint16_t>(architecture.size()));
  for (const uint32_t part : {version.major, version.minor, version.stepping}) append(isa, part);
  append_text(isa, vendor);
  append_text(isa, architecture);
  Bytes note;
  append(note, static_cast<uint32_t>(owner.size()));
  append(note, static_cast<uint32_t>(isa.size()));
  append(note, elf::nt_amd_hsa_isa_version);
  append_text(note, owner);
  append_bytes(note, isa);
  note.resize(support::align_up(note.size(), 4));
  return note;
}

Bytes write_inner(const Cl2ContainerSource& source) {
  constexpr uint64_t code_alignment = 256;
  std::vector<OutputSection> sections{{.name = ".hsatext"}, {.name = ".note", .type = SHT_NOTE}};
  sections[1].bytes = isa_note(*source.processor);
  std::vector<OutputSymbol> symbols;
  const auto add = [&](const char* name, const Bytes& bytes, uint64_t size) {
    if (size == 0) return;
    sections.push_back({.name = name,
                        .type = bytes.empty() ? uint32_t{SHT_NOBITS} : uint32_t{SHT_PROGBITS},
                        .bytes = bytes,
                        .size = size});
    symbols.push_back({.name = {}, .section = static_cast<uint16_t>(sections.size()), .type = STT_SECTION});
  };
  add(".hsadata_readonly_agent", source.read_only_data, source.read_only_data.size());
  add(".hsaimage_samplerinit", source.sampler_data, source.sampler_data.size());
  add(".hsadata_global_agent", source.global_data, source.global_data.size());
  add(".hsabss_global_agent", {}, source.bss_bytes);
  Bytes relocations, text;
  for (const Cl2KernelSource& kernel : source.kernels) {
    text.resize(support::align_up(text.size(), code_alignment));
    symbols.push_back({.name = fmt::format("&__OpenCL_{}_kernel", kernel.name),
                       .section = 1,
                       .value = text.size(),
                       .size = kernel.code.size(),
                       .type = elf::stt_amdgpu_hsa_kernel});
    for (const Cl2Relocation& each : kernel.relocations) {
      uint64_t symbol = 0;
      for (size_t i = 0; i < symbols.size(); ++i)
        if (symbols[i].type == STT_SECTION && sections[symbols[i].section - 1u].name == each.section) symbol = i + 1;
      append(relocations, Elf64_Rela{.r_offset = text.size() + each.offset,
                                     .r_info = ELF64_R_INFO(symbol, each.type),
                                     .r_addend = each.addend});
    }
    append_bytes(text, kernel.code);
  }
  sections[0].bytes = std::move(text);
  if (!relocations.empty())
    sections.push_back(
        {.name = ".rela.hsatext", .type = SHT_RELA, .bytes = std::move(relocations), .info = 1, .is_table = true});
  return write_elf<Elf64>({.machine = elf::em_amdgpu, .os_abi = elf::osabi_amdgpu_hsa}, std::move(sections), symbols);
}

}  // namespace

Bytes write_program_info(const ProgramInfo& info) {
  namespace at = program_info;
  Bytes note;
  const auto put = [&](uint32_t address, uint32_t value) { append(note, ProgramInfoEntry{address, value}); };
  put(at::num_user_data, static_cast<uint32_t>(info.user_data.size()));
  for (size_t i = 0; i < info.user_data.size(); ++i) {
    const UserData& data = info.user_data[i];
    const auto first = static_cast<uint32_t>(at::user_data + 4 * i);
    put(first, data.data_class);
    put(first + 1, data.api_slot);
    put(first + 2, data.first_sgpr);
    put(first + 3, data.num_sgprs);
  }
  put(at::vgprs, info.vgprs);
  put(at::sgprs, info.sgprs);
  put(at::max_sgprs, info.max_sgprs);
  put(at::max_vgprs, info.max_vgprs);
  put(at::float_mode, info.float_mode);
  put(at::ieee_mode, info.ieee_mode);
  put(at::scratch, info.scratch_dwords);
  put(at::rsrc2, info.compute_pgm_rsrc2);
  for (uint32_t i = 0; i < 3; ++i) put(at::group_x + i, info.work_group_size[i]);
  put(at::lds_bytes, info.lds_bytes);
  return note;
}

Result<Bytes> write_container(const ContainerSource& source) {
  if (!source.device->encoding)
    return fail(ErrorKind::unsupported, "the number of {} in the encoding dictionary is not known",
                source.device->name);
  std::vector<OutputSection> sections{{.name = ".comment"}, {.name = ".rodata"}, {.name = ".text"}};
  constexpr uint16_t comment = 1, read_only = 2, text = 3;
  std::vector<OutputSymbol> symbols;
  const auto add = [&](std::string name, uint16_t number, std::span<const uint8_t> bytes, uint8_t type = STT_OBJECT) {
    Bytes& to = sections[number - 1u].bytes;
    symbols.push_back(
        {.name = std::move(name), .section = number, .value = to.size(), .size = bytes.size(), .type = type});
    append_bytes(to, bytes);
  };
  const auto bytes_of = [](const std::string& from) {
    return std::span(reinterpret_cast<const uint8_t*>(from.data()), from.size());
  };
  add("__OpenCL_compile_options", comment, bytes_of(source.compile_options));
  append_text(sections[0].bytes, source.driver);
  for (const GlobalDataSource& data : source.global_data)
    add(fmt::format("__OpenCL_{}_global", data.id), read_only, data.bytes);
  for (const KernelSource& kernel : source.kernels) {
    add(fmt::format("__OpenCL_{}_metadata", kernel.name), read_only, bytes_of(kernel.metadata));
    add(fmt::format("__OpenCL_{}_kernel", kernel.name), text, write_image(kernel, *source.device->encoding), STT_FUNC);
    if (!kernel.header.empty()) add(fmt::format("__OpenCL_{}_header", kernel.name), read_only, kernel.header);
  }
  return write_elf(source.is_64_bit, {.machine = source.device->elf_machine}, std::move(sections), symbols);
}

Result<Bytes> write_cl2_container(const Cl2ContainerSource& source) {
  std::vector<OutputSection> sections{{.name = ".comment"}, {.name = ".rodata"}, {.name = ".text"}};
  std::vector<OutputSymbol> symbols;
  const auto add = [&](std::string name, uint16_t number, std::span<const uint8_t> bytes) {
    Bytes& to = sections[number - 1u].bytes;
    symbols.push_back({.name = std::move(name), .section = number, .value = to.size(), .size = bytes.size()});
    append_bytes(to, bytes);
  };
  const auto bytes_of = [](const std::string& from) {
    return std::span(reinterpret_cast<const uint8_t*>(from.data()), from.size());
  };
  add("__OpenCL_compiler_options", 1, bytes_of(source.compile_options));
  add("acl_version_string", 1, bytes_of(source.acl_version));
  for (const Cl2KernelSource& kernel : source.kernels) {
    const auto metadata = write_metadata(kernel, source.is_64_bit);
    if (!metadata) return std::unexpected(metadata.error());
    add(fmt::format("__OpenCL_&__OpenCL_{}_kernel_metadata", kernel.name), 2, *metadata);
  }
  sections[2].bytes = write_inner(source);
  return write_elf(source.is_64_bit, {.machine = source.is_64_bit ? em_cl2_64 : em_cl2_32}, std::move(sections),
                   symbols);
}

}  // namespace Atoll::object::catalyst
