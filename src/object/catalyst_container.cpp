// object: reading containers of Catalyst's OpenCL 1.x.
#include "object/catalyst_container.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <map>

#include "support/bytes.h"

namespace Atoll::object::catalyst {

using support::ErrorKind;
using support::fail;
using support::read;
using support::Result;
using support::slice;
using Bytes = std::span<const uint8_t>;

namespace {

constexpr std::string_view note_names[] = {"ATI_PROGINFO",         "ATI_INPUTS",
                                           "ATI_OUTPUTS",          "ATI_CONDOUT",
                                           "ATI_FLOAT32CONSTS",    "ATI_INT32CONSTS",
                                           "ATI_BOOL32CONSTS",     "ATI_EARLY_EXIT",
                                           "ATI_GLOBAL_BUFFERS",   "ATI_CONSTANT_BUFFERS",
                                           "ATI_INPUT_SAMPLERS",   "ATI_PERSISTENT_BUFFERS",
                                           "ATI_SCRATCH_BUFFERS",  "ATI_SUB_CONSTANT_BUFFERS",
                                           "ATI_UAV_MAILBOX_SIZE", "ATI_UAV",
                                           "ATI_UAV_OP_MASK"};

constexpr std::string_view user_data_classes[] = {"IMM_RESOURCE",
                                                  "IMM_SAMPLER",
                                                  "IMM_CONST_BUFFER",
                                                  "IMM_VERTEX_BUFFER",
                                                  "IMM_UAV",
                                                  "IMM_ALU_FLOAT_CONST",
                                                  "IMM_ALU_BOOL32_CONST",
                                                  "IMM_GDS_COUNTER_RANGE",
                                                  "IMM_GDS_MEMORY_RANGE",
                                                  "IMM_GWS_BASE",
                                                  "IMM_WORK_ITEM_RANGE",
                                                  "IMM_WORK_GROUP_RANGE",
                                                  "IMM_DISPATCH_ID",
                                                  "IMM_SCRATCH_BUFFER",
                                                  "IMM_HEAP_BUFFER",
                                                  "IMM_KERNEL_ARG",
                                                  "SUB_PTR_FETCH_SHADER",
                                                  "PTR_RESOURCE_TABLE",
                                                  "PTR_INTERNAL_RESOURCE_TABLE",
                                                  "PTR_SAMPLER_TABLE",
                                                  "PTR_CONST_BUFFER_TABLE",
                                                  "PTR_VERTEX_BUFFER_TABLE",
                                                  "PTR_SO_BUFFER_TABLE",
                                                  "PTR_UAV_TABLE",
                                                  "PTR_INTERNAL_GLOBAL_TABLE",
                                                  "PTR_EXTENDED_USER_DATA",
                                                  "PTR_INDIRECT_RESOURCE",
                                                  "PTR_INDIRECT_INTERNAL_RESOURCE",
                                                  "PTR_INDIRECT_UAV",
                                                  "IMM_CONTEXT_BASE",
                                                  "IMM_LDS_ESGS_SIZE",
                                                  "IMM_GLOBAL_OFFSET",
                                                  "IMM_GENERIC_USER_DATA"};

constexpr size_t note_header = 20;  // two sizes, the type, and the owner "ATI CAL" with its zero

Result<std::vector<CalNote>> read_cal_notes(Bytes bytes) {
  std::vector<CalNote> notes;
  for (uint64_t offset = 0; offset < bytes.size();) {
    const auto owner_size = read<uint32_t>(bytes, offset);
    const auto size = read<uint32_t>(bytes, offset + 4);
    const auto type = read<uint32_t>(bytes, offset + 8);
    const auto owner = support::read_text(bytes, offset + 12);
    if (!owner_size || !size || !type || !owner || *owner_size != 8 || *owner != "ATI CAL")
      return fail(ErrorKind::invalid_file, "note {} at byte {} is not a note of the owner 'ATI CAL'", notes.size(),
                  offset);
    const auto description = slice(bytes, offset + note_header, *size);
    if (!description)
      return fail(ErrorKind::invalid_file, "note {} ({}) has {} bytes; {} remain", notes.size(),
                  cal_note_name(*type).value_or("of unknown type"), *size, bytes.size() - offset - note_header);
    notes.push_back({.type = *type, .description = *description});
    offset += note_header + *size;
  }
  return notes;
}

struct DictionaryEntry {
  uint32_t machine, type, offset, size, flags;
};

Result<std::vector<Encoding>> read_encodings(Bytes image) {
  const auto file = read_elf_file_of_either_class(image);
  if (!file) return std::unexpected(file.error());
  if (file->header.e_machine != em_ati_cal)
    return fail(ErrorKind::incompatible, "machine {:#x} instead of {:#x} (ATI CAL)", file->header.e_machine,
                em_ati_cal);
  const auto dictionary = std::ranges::find(file->segments, pt_encoding_dictionary, &Elf64_Phdr::p_type);
  if (dictionary == file->segments.end()) return fail(ErrorKind::invalid_file, "no encoding dictionary");
  const Bytes entries = *slice(image, dictionary->p_offset, dictionary->p_filesz);
  if (entries.size() % sizeof(DictionaryEntry) != 0)
    return fail(ErrorKind::invalid_file, "an encoding dictionary of {} bytes is not a multiple of {}", entries.size(),
                sizeof(DictionaryEntry));
  std::vector<Encoding> encodings;
  uint64_t bytes = 0;
  for (uint64_t at = 0; const auto entry = read<DictionaryEntry>(entries, at); at += sizeof *entry) {
    const auto content = slice(image, entry->offset, entry->size);
    if (!content)
      return fail(ErrorKind::invalid_file, "encoding {} has {} bytes from byte {} on, the kernel has {}",
                  encodings.size(), entry->size, entry->offset, image.size());
    bytes += content->size();
    if (bytes > image.size()) return fail(ErrorKind::invalid_file, "encoding {} overlaps others", encodings.size());
    Encoding encoding{.machine = entry->machine,
                      .type = entry->type,
                      .flags = entry->flags,
                      .bytes = *content,
                      .notes = {},
                      .text = {},
                      .data = {},
                      .symbols = {}};
    const auto is_inside = [&](uint64_t offset, uint64_t size) {
      return offset >= entry->offset && offset - entry->offset <= entry->size &&
             size <= entry->size - (offset - entry->offset);
    };
    for (const Elf64_Phdr& segment : file->segments) {
      if (segment.p_type != PT_NOTE || segment.p_filesz == 0 || !is_inside(segment.p_offset, segment.p_filesz))
        continue;
      auto notes = read_cal_notes(*slice(image, segment.p_offset, segment.p_filesz));
      if (!notes) return support::within(fmt::format("encoding {}", encodings.size()), notes.error());
      encoding.notes.insert(encoding.notes.end(), notes->begin(), notes->end());
    }
    for (const ElfSection& section : file->sections) {
      if (section.bytes.empty() || !is_inside(section.header.sh_offset, section.header.sh_size)) continue;
      if (section.name == ".text") encoding.text = section.bytes;
      if (section.name == ".data") encoding.data = section.bytes;
      if (section.header.sh_type != SHT_SYMTAB) continue;
      auto symbols = read_symbols(*file, section);
      if (!symbols) return support::within(fmt::format("encoding {}", encodings.size()), symbols.error());
      encoding.symbols = std::move(*symbols);
    }
    encodings.push_back(std::move(encoding));
  }
  return encodings;
}

/// A symbol's name of the form "__OpenCL_" name suffix, as the name; nothing for other symbols.
std::optional<std::string_view> name_within(std::string_view symbol, std::string_view suffix) {
  constexpr std::string_view prefix = "__OpenCL_";
  if (!symbol.starts_with(prefix) || !symbol.ends_with(suffix) || symbol.size() <= prefix.size() + suffix.size())
    return std::nullopt;
  return symbol.substr(prefix.size(), symbol.size() - prefix.size() - suffix.size());
}

std::string_view text_of(Bytes bytes) {
  std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  while (text.ends_with('\0')) text.remove_suffix(1);
  return text;
}

}  // namespace

std::optional<std::string_view> cal_note_name(uint32_t type) {
  if (type == 0 || type > std::size(note_names)) return std::nullopt;
  return note_names[type - 1];
}

std::optional<std::string_view> user_data_class_name(uint32_t number) {
  if (number >= std::size(user_data_classes)) return std::nullopt;
  return user_data_classes[number];
}

std::optional<uint32_t> find_user_data_class(std::string_view name) {
  const auto* found = std::ranges::find(user_data_classes, name);
  if (found == std::end(user_data_classes)) return std::nullopt;
  return static_cast<uint32_t>(found - user_data_classes);
}

Result<ProgramInfo> read_program_info(Bytes note) {
  ProgramInfo info;
  if (note.size() % sizeof(ProgramInfoEntry) != 0)
    return fail(ErrorKind::invalid_file, "ATI_PROGINFO of {} bytes is not a multiple of {}", note.size(),
                sizeof(ProgramInfoEntry));
  std::map<uint32_t, uint32_t> values;
  for (uint64_t at = 0; const auto entry = read<ProgramInfoEntry>(note, at); at += sizeof *entry) {
    info.entries.push_back(*entry);
    if (const auto [before, added] = values.emplace(entry->address, entry->value);
        !added && before->second != entry->value)
      return fail(ErrorKind::invalid_file, "ATI_PROGINFO sets {:#x} to {} and to {}", entry->address, before->second,
                  entry->value);
  }
  const auto value = [&](uint32_t address) {
    const auto found = values.find(address);
    return found == values.end() ? 0u : found->second;
  };
  namespace at = program_info;
  const uint32_t count = value(at::num_user_data);
  if (count > at::max_user_data)
    return fail(ErrorKind::invalid_file, "ATI_PROGINFO has {} elements of user data; {} are possible", count,
                at::max_user_data);
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t first = at::user_data + 4 * i;
    const UserData data{.data_class = value(first),
                        .api_slot = value(first + 1),
                        .first_sgpr = value(first + 2),
                        .num_sgprs = value(first + 3)};
    if (!user_data_class_name(data.data_class))
      return fail(ErrorKind::invalid_file, "ATI_PROGINFO has user data of unknown class {}", data.data_class);
    if (data.num_sgprs > at::max_user_data || data.first_sgpr > at::max_user_data - data.num_sgprs)
      return fail(ErrorKind::invalid_file, "ATI_PROGINFO has user data in SGPRs {} to {}; {} are available",
                  data.first_sgpr, uint64_t{data.first_sgpr} + data.num_sgprs - 1, at::max_user_data);
    info.user_data.push_back(data);
  }
  info.vgprs = value(at::vgprs);
  info.sgprs = value(at::sgprs);
  info.max_vgprs = value(at::max_vgprs);
  info.max_sgprs = value(at::max_sgprs);
  info.float_mode = value(at::float_mode);
  info.ieee_mode = value(at::ieee_mode);
  info.scratch_dwords = value(at::scratch);
  info.compute_pgm_rsrc2 = value(at::rsrc2);
  for (uint32_t i = 0; i < 3; ++i) info.work_group_size[i] = value(at::group_x + i);
  info.lds_bytes = value(at::lds_bytes);
  return info;
}

const CalNote* Encoding::find(CalNoteType wanted) const {
  const auto found = std::ranges::find(notes, static_cast<uint32_t>(wanted), &CalNote::type);
  return found == notes.end() ? nullptr : &*found;
}

const KernelText* Kernel::text() const {
  return metadata && !metadata->kernels.empty() ? &metadata->kernels.front() : nullptr;
}

const Encoding* Kernel::gcn() const {
  const auto found = std::ranges::find_if(encodings, [](const Encoding& each) { return each.device() != nullptr; });
  return found == encodings.end() ? nullptr : &*found;
}

const Kernel* Container::find_kernel(std::string_view name) const {
  const auto found = std::ranges::find(kernels, name, &Kernel::name);
  return found == kernels.end() ? nullptr : &*found;
}

bool is_container(Bytes file) {
  // e_machine is at the same place in both classes.
  const auto machine = read<uint16_t>(file, offsetof(Elf64_Ehdr, e_machine));
  return support::starts_with(file, ELFMAG) && machine && find_device(*machine) != nullptr;
}

Result<Container> read_container(Bytes bytes) {
  auto file = read_elf_file_of_either_class(bytes);
  if (!file) return std::unexpected(file.error());
  Container container{.file = std::move(*file), .compile_options = {}, .driver = {}, .global_data = {}, .kernels = {}};
  container.device = find_device(container.file.header.e_machine);
  if (container.device == nullptr)
    return fail(ErrorKind::incompatible, "machine {:#x} is not a device of Catalyst's OpenCL 1.x",
                container.file.header.e_machine);
  container.is_64_bit = container.file.header.e_ident[EI_CLASS] == ELFCLASS64;
  if (const ElfSection* comment = container.file.find_section(".comment")) container.driver = text_of(comment->bytes);
  const ElfSection* table = container.file.find_section(SHT_SYMTAB);
  if (table == nullptr) return container;
  const auto symbols = read_symbols(container.file, *table);
  if (!symbols) return std::unexpected(symbols.error());

  std::map<std::string_view, size_t> by_name;
  const auto kernel_of = [&](std::string_view name) -> Kernel& {
    const auto [found, added] = by_name.emplace(name, container.kernels.size());
    if (added) container.kernels.emplace_back().name = name;
    return container.kernels[found->second];
  };
  uint64_t all = 0;
  for (const ElfSymbol& symbol : *symbols) {
    if (symbol.raw.st_shndx == SHN_UNDEF || symbol.raw.st_shndx >= container.file.sections.size()) continue;
    const ElfSection& section = container.file.sections[symbol.raw.st_shndx];
    const auto piece = slice(section.bytes, symbol.raw.st_value, symbol.raw.st_size);
    if (!piece)
      return fail(ErrorKind::invalid_file, "symbol '{}' has {} bytes from byte {} on of section '{}', which has {}",
                  symbol.name, symbol.raw.st_size, symbol.raw.st_value, section.name, section.bytes.size());
    all += piece->size();
    if (all > bytes.size()) return fail(ErrorKind::invalid_file, "symbol '{}' overlaps others", symbol.name);
    if (symbol.name == "__OpenCL_compile_options") {
      container.compile_options = text_of(*piece);
      // The driver's version follows the options in the same section.
      if (section.name == ".comment") container.driver = text_of(section.bytes.subspan(piece->size()));
    } else if (const auto number = name_within(symbol.name, "_global")) {
      GlobalData data{.id = 0, .bytes = *piece};
      const auto [end, error] = std::from_chars(number->data(), number->data() + number->size(), data.id);
      if (error == std::errc() && end == number->data() + number->size()) container.global_data.push_back(data);
    } else if (const auto with_metadata = name_within(symbol.name, "_metadata")) {
      Kernel& kernel = kernel_of(*with_metadata);
      kernel.metadata_text = text_of(*piece);
      auto metadata = read_metadata_text(kernel.metadata_text);
      if (!metadata) return support::within(fmt::format("kernel {}", kernel.name), metadata.error());
      kernel.metadata = std::move(*metadata);
    } else if (const auto with_header = name_within(symbol.name, "_header")) {
      kernel_of(*with_header).header = *piece;
    } else if (const auto with_il = name_within(symbol.name, "_amdil")) {
      kernel_of(*with_il).amd_il = text_of(*piece);
    } else if (const auto with_image = name_within(symbol.name, "_kernel")) {
      Kernel& kernel = kernel_of(*with_image);
      kernel.image = *piece;
      if (container.device->family != Family::gcn) continue;  // shown by size
      auto encodings = read_encodings(*piece);
      if (!encodings) return support::within(fmt::format("kernel {}", kernel.name), encodings.error());
      kernel.encodings = std::move(*encodings);
    }
  }
  return container;
}

}  // namespace Atoll::object::catalyst
