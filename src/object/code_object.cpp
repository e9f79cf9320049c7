// object: reading a code object. The ELF header says what it is and for which target; the program headers say what
// is loaded; the dynamic table leads to symbols and relocations, by address as a loader finds them; the notes hold
// the metadata. Sections are looked at only for .symtab, which a stripped file lacks.
#include "object/code_object.h"

#include <algorithm>
#include <bit>
#include <iterator>

#include "object/code_object_v2.h"
#include "object/elf.h"
#include "object/metadata.h"
#include "object/relocation_type.h"
#include "object/shared_object.h"
#include "support/bytes.h"

namespace Atoll::object {

using support::align_up;
using support::ErrorKind;
using support::fail;
using support::read;
using support::Result;
using support::slice;

namespace {

using Bytes = std::span<const uint8_t>;

/// No GPU has more memory than this; a larger image is a garbled one.
constexpr uint64_t largest_image = uint64_t{1} << 40;

std::unexpected<support::Error> broken(std::string_view what) {
  return fail(ErrorKind::invalid_file, "the ELF file is damaged or cut short: {}", what);
}

Result<Elf64_Ehdr> read_header(Bytes file) {
  const auto header = read<Elf64_Ehdr>(file, 0);
  if (!support::starts_with(file, ELFMAG)) return fail(ErrorKind::invalid_file, "not an ELF file");
  if (!header) return broken("its header is truncated");
  if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB)
    return fail(ErrorKind::invalid_file, "a code object is a 64-bit little-endian ELF file, this one is not");
  return *header;
}

Result<Elf64_Ehdr> read_amdgpu_header(Bytes file) {
  auto header = read_header(file);
  if (!header) return header;
  if (header->e_machine != elf::em_amdgpu)
    return fail(ErrorKind::invalid_file, "the ELF file is for machine number {}, not for an AMD GPU ({})",
                header->e_machine, elf::em_amdgpu);
  const uint8_t osabi = header->e_ident[EI_OSABI];
  if (osabi == elf::osabi_amdgpu_pal || osabi == elf::osabi_amdgpu_mesa3d || osabi == ELFOSABI_NONE)
    return fail(ErrorKind::unsupported, "the code object is for {}, amdhsa is required",
                osabi == elf::osabi_amdgpu_pal      ? "amdpal"
                : osabi == elf::osabi_amdgpu_mesa3d ? "mesa3d"
                                                    : "no operating system");
  if (osabi != elf::osabi_amdgpu_hsa)
    return fail(ErrorKind::invalid_file, "the code object's OS ABI is {}, amdhsa's is {}", osabi,
                elf::osabi_amdgpu_hsa);
  return header;
}

/// Whether a symbol of that type is a function's, or a kernel's of code object V2.
bool is_code(uint8_t symbol_type) { return symbol_type == STT_FUNC || symbol_type == elf::stt_amdgpu_hsa_kernel; }

/// The reader's working state: what is known of the file so far.
class Reader {
 public:
  explicit Reader(Bytes file) { object_.file = file; }

  Result<CodeObject> run() {
    auto header = read_amdgpu_header(object_.file);
    if (!header) return std::unexpected(header.error());
    return read_file(*header, true);
  }

  /// Reads a file of another operating system's ABI, whose notes are not HSA's.
  Result<CodeObject> run_without_metadata() {
    auto header = read_header(object_.file);
    if (!header) return std::unexpected(header.error());
    return read_file(*header, false);
  }

 private:
  Result<CodeObject> read_file(const Elf64_Ehdr& header, bool with_notes) {
    header_ = header;
    auto ok = read_identity();
    if (ok) ok = read_program_headers();
    if (ok) ok = read_dynamic();
    if (ok) ok = read_relocations();
    if (ok && with_notes) ok = read_notes();
    if (ok) ok = read_functions();
    if (!ok) return std::unexpected(ok.error());
    return std::move(object_);
  }

  Result<void> read_identity() {
    const uint8_t abi = header_.e_ident[EI_ABIVERSION];
    if (header_.e_type == ET_REL)
      return fail(ErrorKind::invalid_file, "a relocatable object, not linked yet: link it with `ld.lld -shared`");
    if (header_.e_type != ET_DYN)
      return fail(ErrorKind::invalid_file, "ELF type {} where a code object is a shared object ({})", header_.e_type,
                  ET_DYN);
    const auto target = target_of_file();
    if (!target) return std::unexpected(target.error());
    object_.target = *target;
    object_.e_flags = header_.e_flags;
    object_.version = abi + 2u;
    return {};
  }

  Result<target::TargetId> target_of_file() const {
    if (header_.e_ident[EI_OSABI] == elf::osabi_amdgpu_hsa) return read_target(object_.file);
    const auto whole = read_elf_file(object_.file);
    if (!whole) return std::unexpected(whole.error());
    return read_target(*whole);
  }

  Result<void> read_program_headers() {
    if (header_.e_phnum != 0 && header_.e_phentsize != sizeof(Elf64_Phdr)) return broken("its program header size");
    uint64_t described = 0;  // notes lie in loaded segments, but no two of a kind overlap
    for (unsigned i = 0; i < header_.e_phnum; i++) {
      const auto program = read<Elf64_Phdr>(object_.file, header_.e_phoff + i * sizeof(Elf64_Phdr));
      if (header_.e_phoff > object_.file.size() || !program) return broken("its program headers are truncated");
      const auto bytes = slice(object_.file, program->p_offset, program->p_filesz);
      if (program->p_type == PT_NULL || program->p_type == PT_GNU_STACK) continue;
      if (!bytes) return broken(fmt::format("program header {} points outside of it", i));
      if (program->p_type == PT_DYNAMIC) dynamic_ = *bytes;
      if (program->p_type == PT_NOTE) notes_.push_back({*bytes, program->p_align});
      if (program->p_type == PT_NOTE || program->p_type == PT_LOAD) described += bytes->size();
      if (described > 2 * object_.file.size()) return broken("its segments overlap in the file");
      if (program->p_type == PT_LOAD)
        if (auto ok = add_segment(*program, *bytes); !ok) return ok;
    }
    if (object_.segments.empty()) return broken("it has nothing to load");
    return {};
  }

  Result<void> add_segment(const Elf64_Phdr& program, Bytes bytes) {
    if (program.p_memsz < program.p_filesz) return broken("a segment is larger in the file than in memory");
    if (program.p_align != 0 && !std::has_single_bit(program.p_align))
      return broken("a segment's alignment is not a power of two");
    if (program.p_align > largest_image || program.p_vaddr > largest_image || program.p_memsz > largest_image)
      return broken("a segment is larger than any memory");
    if (!object_.segments.empty() && program.p_vaddr < object_.memory_size)
      return broken("its segments overlap or are out of order");
    object_.segments.push_back({.address = program.p_vaddr,
                                .memory_size = program.p_memsz,
                                .bytes = bytes,
                                .writable = (program.p_flags & PF_W) != 0,
                                .executable = (program.p_flags & PF_X) != 0,
                                .alignment = std::max<uint64_t>(program.p_align, 1)});
    object_.memory_size = program.p_vaddr + program.p_memsz;
    return {};
  }

  /// Returns the file's bytes from a virtual address to the end of the segment that contains it; empty if no
  /// segment does.
  Bytes at(uint64_t address) const {
    for (const Segment& segment : object_.segments)
      if (address >= segment.address && address - segment.address < segment.bytes.size())
        return segment.bytes.subspan(address - segment.address);
    return {};
  }

  Result<void> read_dynamic() {
    uint64_t symbols = 0, strings = 0, string_bytes = 0, hash = 0, gnu_hash = 0;
    for (uint64_t offset = 0;; offset += sizeof(Elf64_Dyn)) {
      const auto entry = read<Elf64_Dyn>(dynamic_, offset);
      if (!entry || entry->d_tag == DT_NULL) break;
      const uint64_t value = entry->d_un.d_val;
      switch (entry->d_tag) {
        case DT_SYMTAB:
          symbols = value;
          break;
        case DT_STRTAB:
          strings = value;
          break;
        case DT_STRSZ:
          string_bytes = value;
          break;
        case DT_HASH:
          hash = value;
          break;
        case DT_GNU_HASH:
          gnu_hash = value;
          break;
        case DT_SYMENT:
          if (value != sizeof(Elf64_Sym)) return broken("its dynamic symbols have a size of their own");
          break;
        case DT_RELAENT:
          if (value != sizeof(Elf64_Rela)) return broken("its relocations have a size of their own");
          break;
        case DT_RELA:
          rela_ = value;
          break;
        case DT_RELASZ:
          rela_bytes_ = value;
          break;
        case DT_JMPREL:
          jump_rela_ = value;
          break;
        case DT_PLTRELSZ:
          jump_rela_bytes_ = value;
          break;
        case DT_REL:
        case DT_RELR:
          return fail(ErrorKind::unsupported,
                      "the code object has relocations of a kind (tag {}) that no AMD GPU "
                      "compiler writes",
                      entry->d_tag);
        default:
          break;
      }
    }
    if (symbols == 0) return {};
    const auto text = slice(at(strings), 0, string_bytes);
    if (!text) return broken("its dynamic string table points outside of it");
    const auto count = hash != 0 ? count_by_hash(hash) : count_by_gnu_hash(gnu_hash);
    if (!count) return broken("the hash table of its symbols points outside of it");
    const auto table = slice(at(symbols), 0, *count * sizeof(Elf64_Sym));
    if (!table) return broken("its dynamic symbol table points outside of it");
    for (uint64_t i = 0; i < *count; i++) {
      auto symbol = make_symbol(*read<Elf64_Sym>(*table, i * sizeof(Elf64_Sym)), *text);
      if (!symbol) return std::unexpected(symbol.error());
      object_.symbols.push_back(*symbol);
    }
    return {};
  }

  /// Returns the number of dynamic symbols, which only their hash table contains. DT_HASH has a chain entry for
  /// each.
  std::optional<uint64_t> count_by_hash(uint64_t address) const {
    const auto chains = read<uint32_t>(at(address), sizeof(uint32_t));
    if (!chains) return std::nullopt;
    return *chains;
  }

  /// DT_GNU_HASH: the last symbol is the end of the chain of the bucket that starts last.
  std::optional<uint64_t> count_by_gnu_hash(uint64_t address) const {
    const Bytes bytes = at(address);
    const auto header = read<std::array<uint32_t, 4>>(bytes, 0);  // buckets, first symbol, bloom words, bloom shift
    if (!header) return std::nullopt;
    const auto [buckets, first_symbol, bloom_words, bloom_shift] = *header;
    const uint64_t bucket_offset = sizeof *header + uint64_t{bloom_words} * sizeof(uint64_t);
    const uint64_t chain_offset = bucket_offset + uint64_t{buckets} * sizeof(uint32_t);
    if (chain_offset > bytes.size()) return std::nullopt;
    uint64_t last = 0;
    for (uint32_t i = 0; i < buckets; i++)
      last = std::max<uint64_t>(last, read<uint32_t>(bytes, bucket_offset + i * sizeof(uint32_t)).value_or(0));
    if (last < first_symbol) return first_symbol;
    for (;; last++) {
      const auto entry = read<uint32_t>(bytes, chain_offset + (last - first_symbol) * sizeof(uint32_t));
      if (!entry) return std::nullopt;
      if ((*entry & 1) != 0) return last + 1;
    }
  }

  Result<Symbol> make_symbol(const Elf64_Sym& raw, Bytes strings) const {
    const auto name = raw.st_name == 0 ? std::string_view() : support::read_text(strings, raw.st_name);
    if (!name) return broken("a symbol's name is outside of the string table");
    const Symbol symbol{.name = *name,
                        .value = raw.st_value,
                        .size = raw.st_size,
                        .type = elf::symbol_type(raw),
                        .binding = elf::symbol_binding(raw),
                        .visibility = elf::symbol_visibility(raw),
                        .defined = raw.st_shndx != SHN_UNDEF};
    if (raw.st_shndx == SHN_COMMON || raw.st_shndx == elf::shn_amdgpu_lds)
      return fail(ErrorKind::invalid_file, "symbol {} has no address yet: the code object is not linked", *name);
    if (symbol.defined && raw.st_shndx != SHN_ABS &&
        (symbol.value > object_.memory_size || symbol.size > object_.memory_size - symbol.value))
      return broken(fmt::format("symbol {} lies outside of what is loaded", *name));
    return symbol;
  }

  Result<void> read_relocations() {
    if (auto ok = read_relocation_table(rela_, rela_bytes_); !ok) return ok;
    return read_relocation_table(jump_rela_, jump_rela_bytes_);
  }

  Result<void> read_relocation_table(uint64_t address, uint64_t size) {
    if (size == 0) return {};
    const auto table = slice(at(address), 0, size);
    if (!table) return broken("its relocations point outside of it");
    for (uint64_t offset = 0; offset + sizeof(Elf64_Rela) <= size; offset += sizeof(Elf64_Rela)) {
      const auto raw = *read<Elf64_Rela>(*table, offset);
      const Relocation relocation{.offset = raw.r_offset,
                                  .type = static_cast<uint32_t>(ELF64_R_TYPE(raw.r_info)),
                                  .symbol = static_cast<uint32_t>(ELF64_R_SYM(raw.r_info)),
                                  .addend = raw.r_addend};
      if (relocation.symbol != 0 && relocation.symbol >= object_.symbols.size())
        return broken("a relocation is against a symbol that does not exist");
      const uint64_t width = relocated_bytes(relocation.type);
      if (object_.memory_size < width || relocation.offset > object_.memory_size - width)
        return broken("a relocation is outside the loaded segments");
      object_.relocations.push_back(relocation);
    }
    return {};
  }

  Result<void> read_notes() {
    if (header_.e_ident[EI_OSABI] != elf::osabi_amdgpu_hsa) return {};
    for (const auto& [bytes, alignment] : notes_) {
      const uint64_t padding = alignment == 8 ? 8 : 4;
      for (uint64_t offset = 0; offset < bytes.size();) {
        const auto note = read<Elf64_Nhdr>(bytes, offset);
        if (!note) return broken("a note is not all there");
        const uint64_t name_offset = offset + sizeof(Elf64_Nhdr);
        const uint64_t text_offset = align_up(name_offset + note->n_namesz, padding);
        const auto name = slice(bytes, name_offset, note->n_namesz);
        const auto text = slice(bytes, text_offset, note->n_descsz);
        if (!name || !text) return broken("a note is not all there");
        offset = align_up(text_offset + note->n_descsz, padding);
        auto metadata = read_metadata(
            ElfNote{.owner = support::read_text(*name, 0).value_or(""), .type = note->n_type, .description = *text});
        if (!metadata) return std::unexpected(metadata.error());
        if (*metadata) append_metadata(object_.metadata, std::move(**metadata));
      }
    }
    return {};
  }

  std::optional<Elf64_Shdr> section(uint64_t index) const {
    if (index >= header_.e_shnum) return std::nullopt;
    return read<Elf64_Shdr>(object_.file, header_.e_shoff + index * sizeof(Elf64_Shdr));
  }

  /// The code symbols: for the names of functions in reports.
  Result<void> read_functions() {
    if (header_.e_shnum != 0 && (header_.e_shentsize != sizeof(Elf64_Shdr) || header_.e_shoff > object_.file.size() ||
                                 !section(header_.e_shnum - 1u)))
      return broken("its section headers are truncated");
    for (unsigned i = 0; i < header_.e_shnum; i++) {
      const auto header = section(i);
      if (!header || header->sh_type != SHT_SYMTAB) continue;
      const auto strings_header = section(header->sh_link);
      const auto table = slice(object_.file, header->sh_offset, header->sh_size);
      const auto strings = strings_header ? slice(object_.file, strings_header->sh_offset, strings_header->sh_size)
                                          : std::optional<Bytes>();
      if (!table || !strings) return broken("its symbol table points outside of it");
      for (uint64_t offset = 0; offset + sizeof(Elf64_Sym) <= table->size(); offset += sizeof(Elf64_Sym)) {
        const auto raw = *read<Elf64_Sym>(*table, offset);
        if (!is_code(elf::symbol_type(raw)) || raw.st_shndx == SHN_UNDEF) continue;
        auto symbol = make_symbol(raw, *strings);
        if (!symbol) return std::unexpected(symbol.error());
        object_.functions.push_back(*symbol);
      }
    }
    if (object_.functions.empty())
      for (const Symbol& symbol : object_.symbols)
        if (is_code(symbol.type) && symbol.defined) object_.functions.push_back(symbol);
    std::ranges::sort(object_.functions, {}, &Symbol::value);
    return {};
  }

  struct Notes {
    Bytes bytes;
    uint64_t alignment;
  };

  CodeObject object_;
  Elf64_Ehdr header_{};
  Bytes dynamic_;
  std::vector<Notes> notes_;
  uint64_t rela_ = 0, rela_bytes_ = 0, jump_rela_ = 0, jump_rela_bytes_ = 0;
};

}  // namespace

const Symbol* CodeObject::find_symbol(std::string_view name) const {
  const auto found = std::ranges::find(symbols, name, &Symbol::name);
  return found == symbols.end() ? nullptr : &*found;
}

std::string_view KernelMetadata::code_symbol() const {
  std::string_view code = symbol;
  if (code.ends_with(".kd") || code.ends_with("@kd")) code.remove_suffix(3);
  return code;
}

std::string_view KernelMetadata::object_symbol() const {
  return std::string_view(symbol).ends_with("@kd") ? code_symbol() : std::string_view(symbol);
}

const KernelMetadata* CodeObject::find_kernel(std::string_view name) const {
  const auto found = std::ranges::find_if(metadata.kernels, [&](const KernelMetadata& kernel) {
    return kernel.name == name || kernel.object_symbol() == name;
  });
  return found == metadata.kernels.end() ? nullptr : &*found;
}

bool CodeObject::is_kernel(const Symbol& symbol) const {
  if (!symbol.defined || symbol.name.empty()) return false;
  if (version == 2) return symbol.type == elf::stt_amdgpu_hsa_kernel;
  return symbol.type == STT_OBJECT && symbol.name.ends_with(".kd");
}

std::optional<RawKernelDescriptor> CodeObject::descriptor_of(const Symbol& symbol) const {
  for (const Segment& segment : segments) {
    if (symbol.value < segment.address || symbol.value - segment.address > segment.bytes.size()) continue;
    const Bytes bytes = segment.bytes.subspan(symbol.value - segment.address);
    if (version != 2) {
      if (const auto descriptor = read<RawKernelDescriptor>(bytes, 0)) return descriptor;
    } else if (const auto code = read<RawKernelCode>(bytes, 0)) {
      return object::descriptor_of(*code, *target.processor);
    }
  }
  return std::nullopt;
}

Result<CodeObject> read_code_object(std::span<const uint8_t> file) { return Reader(file).run(); }

Result<CodeObject> read_shared_object(std::span<const uint8_t> file) { return Reader(file).run_without_metadata(); }

Result<target::TargetId> read_target(std::span<const uint8_t> file) {
  const auto header = read_amdgpu_header(file);
  if (!header) return std::unexpected(header.error());
  if (header->e_ident[EI_ABIVERSION] != elf::abi_version_v2)
    return target::target_id_of_flags(header->e_flags, header->e_ident[EI_ABIVERSION]);
  const auto whole = read_elf_file(file);
  if (!whole) return std::unexpected(whole.error());
  return read_target(*whole);
}

Result<target::TargetId> read_target(const ElfFile& file) {
  const uint8_t* identity = file.header.e_ident;
  // Versions are amdhsa's; the flags for other systems are those of V3.
  if (identity[EI_OSABI] != elf::osabi_amdgpu_hsa)
    return target::target_id_of_flags(file.header.e_flags, elf::abi_version_v3);
  if (identity[EI_ABIVERSION] == elf::abi_version_v2) return read_target_v2(file);
  return target::target_id_of_flags(file.header.e_flags, identity[EI_ABIVERSION]);
}

Result<uint64_t> elf_image_size(std::span<const uint8_t> start) {
  const auto header = read_header(start);
  if (!header) return std::unexpected(header.error());
  if ((header->e_phnum != 0 && header->e_phentsize != sizeof(Elf64_Phdr)) ||
      (header->e_shnum != 0 && header->e_shentsize != sizeof(Elf64_Shdr)))
    return broken("the size of its program or section headers");
  uint64_t size = sizeof(Elf64_Ehdr);
  const auto reaches = [&](uint64_t offset, uint64_t bytes) {
    if (offset > largest_image || bytes > largest_image) return false;
    size = std::max(size, offset + bytes);
    return true;
  };
  bool sound = reaches(header->e_phoff, header->e_phnum * sizeof(Elf64_Phdr)) &&
               reaches(header->e_shoff, header->e_shnum * sizeof(Elf64_Shdr));
  for (unsigned i = 0; sound && i < header->e_phnum; i++) {
    const auto program = read<Elf64_Phdr>(start, header->e_phoff + i * sizeof(Elf64_Phdr));
    sound = program && reaches(program->p_offset, program->p_filesz);
  }
  for (unsigned i = 0; sound && i < header->e_shnum; i++) {
    const auto section = read<Elf64_Shdr>(start, header->e_shoff + i * sizeof(Elf64_Shdr));
    sound = section && (section->sh_type == SHT_NOBITS || reaches(section->sh_offset, section->sh_size));
  }
  if (!sound) return broken("its headers point outside of it");
  return size;
}

}  // namespace Atoll::object
