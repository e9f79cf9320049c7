// object: reading and writing what is special to AMDGPU core files (gpu_core.h).
#include "object/gpu_core.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <set>

#include "object/elf_file.h"
#include "support/bytes.h"

namespace Atoll::object {

using support::ErrorKind;
using support::fail;
using support::Result;

namespace {

constexpr uint64_t core_state_version = 1;

struct CoreStateHeader {
  uint64_t version;
  uint32_t kfd_major, kfd_minor;
  uint64_t runtime_bytes;
  uint32_t agents, agent_bytes, queues, queue_bytes;
};
static_assert(sizeof(CoreStateHeader) == 40);

/// The first bytes of an entry, as many as both this version and the file's have.
template <typename T>
T first_of(std::span<const uint8_t> entry) {
  T value{};
  std::memcpy(&value, entry.data(), std::min(entry.size(), sizeof value));
  return value;
}

/// Entries of `size` bytes each, which are in the note as a whole.
template <typename T>
Result<std::vector<T>> read_entries(std::span<const uint8_t> note, uint64_t& offset, uint64_t count, uint64_t size,
                                    std::string_view what) {
  if (size == 0 && count != 0) return fail(ErrorKind::invalid_file, "the core note has {} of 0 bytes", what);
  const auto all = support::slice(note, offset, count * size);  // both have 32 bits
  if (!all) return fail(ErrorKind::invalid_file, "the core note ends within its {}", what);
  std::vector<T> entries;
  entries.reserve(count);
  for (uint64_t i = 0; i < count; ++i) entries.push_back(first_of<T>(all->subspan(i * size, size)));
  offset += count * size;
  return entries;
}

/// "memory://1234#offset=0x1000&size=512", in memory of the process that was dumped.
struct MemoryUri {
  uint64_t address, bytes;
};
std::optional<MemoryUri> parse_memory_uri(std::string_view uri) {
  if (!uri.starts_with("memory://")) return std::nullopt;
  const auto number = [&](std::string_view key) -> std::optional<uint64_t> {
    const size_t found = uri.find(key);
    if (found == std::string_view::npos) return std::nullopt;
    std::string_view text = uri.substr(found + key.size());
    const int base = text.starts_with("0x") ? 16 : 10;
    if (base == 16) text.remove_prefix(2);
    uint64_t value = 0;
    if (std::from_chars(text.data(), text.data() + text.size(), value, base).ec != std::errc{}) return std::nullopt;
    return value;
  };
  const auto address = number("offset="), bytes = number("size=");
  if (!address || !bytes) return std::nullopt;
  return MemoryUri{.address = *address, .bytes = *bytes};
}

/// The zero-terminated text at an address.
std::optional<std::string_view> text_at(const GpuCore& core, uint64_t address) {
  for (const CoreSegment& segment : core.segments)
    if (address >= segment.address && address - segment.address < segment.bytes.size())
      return support::read_text(segment.bytes, address - segment.address);
  return std::nullopt;
}

template <typename T>
std::optional<T> value_at(const GpuCore& core, uint64_t address) {
  const auto bytes = core.memory(address, sizeof(T));
  if (!bytes) return std::nullopt;
  return support::read<T>(*bytes, 0);
}

/// The dynamic loader's structures, as far as they matter: struct r_debug and struct link_map of <link.h>.
struct DebuggerList {
  uint32_t version, padding;
  uint64_t first;
};
struct DebuggerEntry {
  uint64_t address, name, dynamic, next, previous;
};

void read_codes(GpuCore& core) {
  if (core.state.runtime.r_debug == 0) return;
  const auto list = value_at<DebuggerList>(core, core.state.runtime.r_debug);
  if (!list) {
    core.code_error = fmt::format("the list of code objects, at {:#x}, is not in the file", core.state.runtime.r_debug);
    return;
  }
  std::set<uint64_t> seen;
  for (uint64_t at = list->first; at != 0;) {
    const auto entry = value_at<DebuggerEntry>(core, at);
    if (!seen.insert(at).second || !entry) {
      core.code_error = fmt::format("the list of code objects {} at {:#x}",
                                    entry ? "goes round in a circle" : "leads out of the file", at);
      return;
    }
    CoreCode code{.address = entry->address, .uri = std::string(text_at(core, entry->name).value_or("")), .file = {}};
    if (const auto place = parse_memory_uri(code.uri)) {
      if (const auto file = core.memory(place->address, place->bytes)) code.file = *file;
    }
    core.codes.push_back(std::move(code));
    at = entry->next;
  }
}

void read_waves(GpuCore& core, uint64_t max_bytes) {
  std::set<uint64_t> areas;
  for (const KfdQueue& queue : core.state.queues) {
    CoreQueue& result = core.queues.emplace_back();
    result.queue = queue;
    if (queue.queue_type != kfd_queue_aql || queue.ctx_save_restore_area_size == 0) continue;
    const KfdAgent* agent = core.agent_of(queue);
    const target::Processor* processor = agent != nullptr ? processor_of_version(agent->gfx_target_version) : nullptr;
    if (processor == nullptr) {
      result.error = agent == nullptr ? "the queue is of an agent that the file does not describe"
                                      : fmt::format("Atoll knows no processor {}", agent->gfx_target_version);
      continue;
    }
    // An accelerator complex die has an area of its own.
    for (uint32_t die = 0; die < std::max(1u, agent->num_xcc); ++die) {
      const uint64_t address = queue.ctx_save_restore_address + uint64_t{die} * queue.ctx_save_restore_area_size;
      const auto area = core.memory(address, queue.ctx_save_restore_area_size);
      if (!area && die != 0) break;  // a GPU in software has one area
      if (!area || !areas.insert(address).second) {
        result.error =
            fmt::format("the context save area at {:#x} is {}", address, area ? "another queue's" : "not in the file");
        break;
      }
      auto waves = read_context_save_area(*area, *processor, max_bytes);
      if (!waves) {
        result.error = waves.error().message;
        break;
      }
      for (SavedWave& wave : *waves) {
        const uint64_t bytes = (wave.vgprs.size() + wave.agprs.size()) * sizeof(uint32_t) + wave.lds.size();
        max_bytes -= std::min(max_bytes, bytes);
        result.waves.push_back(std::move(wave));
      }
    }
  }
}

}  // namespace

std::vector<std::string> kfd_exception_names(uint64_t status) {
  const auto name = [](KfdException exception) -> std::string {
    switch (exception) {
      case KfdException::none:
        break;
      case KfdException::wave_abort:
        return "wave abort";
      case KfdException::wave_trap:
        return "wave trap";
      case KfdException::wave_math_error:
        return "wave math error";
      case KfdException::wave_illegal_instruction:
        return "wave illegal instruction";
      case KfdException::wave_memory_violation:
        return "wave memory violation";
      case KfdException::wave_aperture_violation:
        return "wave aperture violation";
      case KfdException::agent_memory_violation:
        return "agent memory violation";
    }
    return fmt::format("exception {}", static_cast<unsigned>(exception));
  };
  std::vector<std::string> names;
  for (unsigned number = 1; number <= 64; ++number)
    if ((status >> (number - 1) & 1) != 0) names.push_back(name(static_cast<KfdException>(number)));
  return names;
}

std::vector<uint8_t> write_core_state(const CoreState& state) {
  std::vector<uint8_t> note;
  support::append(note, CoreStateHeader{.version = core_state_version,
                                        .kfd_major = state.version_major,
                                        .kfd_minor = state.version_minor,
                                        .runtime_bytes = sizeof state.runtime,
                                        .agents = static_cast<uint32_t>(state.agents.size()),
                                        .agent_bytes = sizeof(KfdAgent),
                                        .queues = static_cast<uint32_t>(state.queues.size()),
                                        .queue_bytes = sizeof(KfdQueue)});
  support::append(note, state.runtime);
  for (const KfdAgent& agent : state.agents) support::append(note, agent);
  for (const KfdQueue& queue : state.queues) support::append(note, queue);
  return note;
}

Result<CoreState> read_core_state(std::span<const uint8_t> note) {
  const auto header = support::read<CoreStateHeader>(note, 0);
  if (!header) return fail(ErrorKind::invalid_file, "the core note is cut short");
  if (header->version != core_state_version)
    return fail(ErrorKind::unsupported, "the core note has version {}; Atoll reads version {}", header->version,
                core_state_version);
  CoreState state{.version_major = header->kfd_major, .version_minor = header->kfd_minor};
  uint64_t offset = sizeof *header;
  const auto runtime = support::slice(note, offset, header->runtime_bytes);
  if (!runtime) return fail(ErrorKind::invalid_file, "the core note ends within what it says of the runtime");
  state.runtime = first_of<KfdRuntimeInfo>(*runtime);
  offset += header->runtime_bytes;
  auto agents = read_entries<KfdAgent>(note, offset, header->agents, header->agent_bytes, "agents");
  if (!agents) return std::unexpected(agents.error());
  auto queues = read_entries<KfdQueue>(note, offset, header->queues, header->queue_bytes, "queues");
  if (!queues) return std::unexpected(queues.error());
  state.agents = std::move(*agents);
  state.queues = std::move(*queues);
  return state;
}

std::optional<std::span<const uint8_t>> GpuCore::memory(uint64_t address, uint64_t size) const {
  const auto above = std::ranges::upper_bound(segments, address, {}, &CoreSegment::address);
  if (above == segments.begin()) return std::nullopt;
  const CoreSegment& segment = *std::prev(above);
  return support::slice(segment.bytes, address - segment.address, size);
}

const KfdAgent* GpuCore::agent_of(const KfdQueue& queue) const {
  const auto found = std::ranges::find(state.agents, queue.gpu_id, &KfdAgent::gpu_id);
  return found == state.agents.end() ? nullptr : &*found;
}

uint32_t gfx_target_version_of(const target::Processor& processor) {
  const target::IsaVersion version = target::isa_version(processor);
  return version.major * 10000 + version.minor * 100 + version.stepping;
}

const target::Processor* processor_of_version(uint32_t gfx_target_version) {
  for (const target::Processor& processor : target::processors())
    if (!processor.generic && gfx_target_version_of(processor) == gfx_target_version) return &processor;
  return nullptr;
}

namespace {

/// The note that describes the state, if there is one.
std::optional<ElfNote> core_note(const ElfFile& file) {
  const std::vector<ElfNote> notes = read_notes(file);
  const auto found = std::ranges::find_if(
      notes, [](const ElfNote& note) { return note.owner == "AMDGPU" && note.type == nt_amdgpu_kfd_core_state; });
  if (found == notes.end()) return std::nullopt;
  return *found;
}

}  // namespace

bool is_gpu_core(std::span<const uint8_t> bytes) {
  const auto header = support::read<Elf64_Ehdr>(bytes, 0);
  if (!header || !support::starts_with(bytes, ELFMAG) || header->e_type != ET_CORE) return false;
  if (header->e_machine == elf::em_amdgpu) return true;
  const auto file = read_elf_file(bytes);  // one of the host and its GPUs
  return file && core_note(*file);
}

Result<GpuCore> read_gpu_core(std::span<const uint8_t> bytes) {
  const auto file = read_elf_file(bytes);
  if (!file) return std::unexpected(file.error());
  if (!is_gpu_core(bytes)) return fail(ErrorKind::invalid_file, "the ELF file is not a core file of an AMD GPU");
  const auto note = core_note(*file);
  if (!note) return fail(ErrorKind::invalid_file, "the core file has no note that describes a GPU's state");
  auto state = read_core_state(note->description);
  if (!state) return std::unexpected(state.error());
  GpuCore core;
  core.state = std::move(*state);
  for (const Elf64_Phdr& segment : file->segments) {
    if (segment.p_type != PT_LOAD) continue;
    const auto content = support::slice(bytes, segment.p_offset, segment.p_filesz);
    if (!content)
      return fail(ErrorKind::invalid_file, "the memory at {:#x} is not all in the file: it is cut short",
                  segment.p_vaddr);
    core.segments.push_back({.address = segment.p_vaddr,
                             .memory_bytes = segment.p_memsz,
                             .offset = segment.p_offset,
                             .bytes = *content,
                             .writable = (segment.p_flags & PF_W) != 0,
                             .executable = (segment.p_flags & PF_X) != 0});
  }
  std::ranges::sort(core.segments, {}, &CoreSegment::address);
  read_codes(core);
  read_waves(core, bytes.size());
  return core;
}

}  // namespace Atoll::object
