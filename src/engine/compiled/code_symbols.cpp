// engine/compiled: publishing symbols of translated code (code_symbols.h).
#include "engine/compiled/code_symbols.h"

#include <elf.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "support/environment.h"

// gdb finds both by name, and has a breakpoint in the function.
// NOLINTBEGIN(bugprone-reserved-identifier): the names are gdb's
extern "C" {
struct jit_code_entry {
  jit_code_entry *next_entry, *prev_entry;
  const char* symfile_addr;
  uint64_t symfile_size;
};

struct jit_descriptor {
  uint32_t version;
  uint32_t action_flag;
  jit_code_entry *relevant_entry, *first_entry;
};

[[gnu::used]] jit_descriptor __jit_debug_descriptor = {1, 0, nullptr, nullptr};

[[gnu::noinline, gnu::used]] void __jit_debug_register_code() { asm volatile("" ::: "memory"); }
}
// NOLINTEND(bugprone-reserved-identifier)

namespace Atoll::engine {

namespace {

enum JitAction : uint32_t { jit_register = 1, jit_unregister = 2 };

struct Symbol {
  uint64_t address = 0, size = 0;
  std::string name;
};

/// Guards the list of gdb's entries, which is the process's.
std::mutex& jit_mutex() {
  static std::mutex mutex;
  return mutex;
}

struct Wanted {
  bool perf = false, gdb = false;
};

support::Result<Wanted> wanted() {
  constexpr auto setting = support::Setting::code_symbols;
  const char* value = support::environment_variable(setting);
  Wanted wanted;
  for (std::string_view left = value == nullptr ? "" : value; !left.empty();) {
    const std::string_view word = left.substr(0, left.find(','));
    left.remove_prefix(std::min(left.size(), word.size() + 1));
    if (word != "perf" && word != "gdb")
      return support::fail(support::ErrorKind::invalid_argument, "{}={}: use perf, gdb or perf,gdb",
                           support::row_of(setting).name, value);
    (word == "perf" ? wanted.perf : wanted.gdb) = true;
  }
  return wanted;
}

std::vector<Symbol> symbols_of(const HostCode& code, std::string_view kernel, uint64_t root) {
  std::map<uint64_t, uint64_t> first_pcs;  // by the function's address
  for (const EntryPoint& entry : code.translated().entries) {
    const auto address = reinterpret_cast<uint64_t>(code.function(entry));
    const auto [known, is_new] = first_pcs.try_emplace(address, entry.pc);
    known->second = std::min(known->second, entry.pc);
  }
  std::vector<Symbol> symbols;
  for (auto at = first_pcs.begin(); at != first_pcs.end(); ++at) {
    const auto next = std::next(at);
    const uint64_t end = next != first_pcs.end() ? next->first : code.end();
    const bool precedes = at->second < root;  // a function that the kernel calls may lie before it
    symbols.push_back({at->first, end - at->first,
                       fmt::format("{}{}{:#x}", kernel.empty() ? "translated" : kernel, precedes ? '-' : '+',
                                   precedes ? root - at->second : at->second - root)});
  }
  return symbols;
}

void append_to_perf_map(const std::vector<Symbol>& symbols) {
  std::string text;
  for (const Symbol& symbol : symbols) text += fmt::format("{:x} {:x} {}\n", symbol.address, symbol.size, symbol.name);
  FILE* file = std::fopen(fmt::format("/tmp/perf-{}.map", getpid()).c_str(), "ae");
  if (file == nullptr) return;  // symbols are an aid: the program goes on without them
  std::fwrite(text.data(), 1, text.size(), file);
  std::fclose(file);
}

/// Returns an ELF file that has nothing but symbols, whose section is where the code is.
std::string elf_of(const HostCode& code, const std::vector<Symbol>& symbols) {
  enum Section : uint16_t { null, text, symtab, strtab, shstrtab, count };
  constexpr std::string_view section_names("\0.text\0.symtab\0.strtab\0.shstrtab\0", 33);
  constexpr uint32_t name_offsets[count] = {0, 1, 7, 15, 23};
  std::string names(1, '\0');
  std::vector<Elf64_Sym> table(1);
  for (const Symbol& symbol : symbols) {
    table.push_back({.st_name = static_cast<Elf64_Word>(names.size()),
                     .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
                     .st_other = STV_DEFAULT,
                     .st_shndx = text,
                     .st_value = symbol.address,
                     .st_size = symbol.size});
    names += symbol.name + '\0';
  }
  Elf64_Ehdr header{};
  Elf64_Shdr sections[count]{};
  const uint64_t symbols_at = sizeof header + sizeof sections, symbol_bytes = table.size() * sizeof(Elf64_Sym);
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_EXEC;
  header.e_machine = EM_X86_64;
  header.e_version = EV_CURRENT;
  header.e_shoff = sizeof header;
  header.e_ehsize = sizeof header;
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = count;
  header.e_shstrndx = shstrtab;
  for (uint16_t i = 0; i < count; ++i) sections[i].sh_name = name_offsets[i];
  sections[text].sh_type = SHT_NOBITS;
  sections[text].sh_flags = SHF_ALLOC | SHF_EXECINSTR;
  sections[text].sh_addr = code.begin();
  sections[text].sh_size = code.end() - code.begin();
  sections[symtab].sh_type = SHT_SYMTAB;
  sections[symtab].sh_offset = symbols_at;
  sections[symtab].sh_size = symbol_bytes;
  sections[symtab].sh_link = strtab;
  sections[symtab].sh_info = 1;
  sections[symtab].sh_entsize = sizeof(Elf64_Sym);
  sections[strtab].sh_type = SHT_STRTAB;
  sections[strtab].sh_offset = symbols_at + symbol_bytes;
  sections[strtab].sh_size = names.size();
  sections[shstrtab].sh_type = SHT_STRTAB;
  sections[shstrtab].sh_offset = symbols_at + symbol_bytes + names.size();
  sections[shstrtab].sh_size = section_names.size();
  std::string file;
  file.append(reinterpret_cast<const char*>(&header), sizeof header);
  file.append(reinterpret_cast<const char*>(sections), sizeof sections);
  file.append(reinterpret_cast<const char*>(table.data()), symbol_bytes);
  return file.append(names).append(section_names);
}

}  // namespace

struct CodeSymbols::GdbEntry {
  std::string elf;
  jit_code_entry entry{};
};

support::Result<void> check_code_symbols() {
  if (const auto checked = wanted(); !checked) return std::unexpected(checked.error());
  return {};
}

std::unique_ptr<CodeSymbols> CodeSymbols::publish(const HostCode& code, std::string_view kernel, uint64_t root) {
  const auto to = wanted();
  if (!to || (!to->perf && !to->gdb)) return nullptr;
  const std::vector<Symbol> symbols = symbols_of(code, kernel, root);
  if (to->perf) append_to_perf_map(symbols);
  if (!to->gdb) return nullptr;
  auto made = std::make_unique<GdbEntry>();
  made->elf = elf_of(code, symbols);
  made->entry.symfile_addr = made->elf.data();
  made->entry.symfile_size = made->elf.size();
  return std::unique_ptr<CodeSymbols>(new CodeSymbols(std::move(made)));
}

CodeSymbols::CodeSymbols(std::unique_ptr<GdbEntry> entry) : entry_(std::move(entry)) {
  jit_code_entry& added = entry_->entry;
  const std::lock_guard lock(jit_mutex());
  jit_descriptor& descriptor = __jit_debug_descriptor;
  added.next_entry = descriptor.first_entry;
  if (added.next_entry != nullptr) added.next_entry->prev_entry = &added;
  descriptor.first_entry = descriptor.relevant_entry = &added;
  descriptor.action_flag = jit_register;
  __jit_debug_register_code();
}

CodeSymbols::~CodeSymbols() {
  jit_code_entry& removed = entry_->entry;
  const std::lock_guard lock(jit_mutex());
  jit_descriptor& descriptor = __jit_debug_descriptor;
  (removed.prev_entry != nullptr ? removed.prev_entry->next_entry : descriptor.first_entry) = removed.next_entry;
  if (removed.next_entry != nullptr) removed.next_entry->prev_entry = removed.prev_entry;
  descriptor.relevant_entry = &removed;
  descriptor.action_flag = jit_unregister;
  __jit_debug_register_code();
}

}  // namespace Atoll::engine
