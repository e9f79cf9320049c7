// machine: writing core files (core_dump.h). What the file says that is not in the GPU's memory is made up in a block
// of memory of its own, so that it has addresses: the list of code objects, the context save areas, and the packet of
// a kernel that was launched without a queue.
#include "machine/report/core_dump.h"
#include "machine/report/process_path.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "machine/gpu.h"
#include "machine/memory/memory.h"
#include "machine/report/fault_guard.h"
#include "object/elf.h"
#include "object/gpu_core.h"
#include "support/bytes.h"

namespace Atoll::machine {

namespace {

using support::align_up;
using support::ErrorKind;
using support::fail;
using support::Result;

constexpr uint64_t page = 4096;

/// The version of the runtime's list of code objects, and of how its trap handler leaves waves (debugger_list.cpp).
constexpr uint32_t debugger_list_version = 11;

/// struct r_debug and the beginning of struct link_map, as <link.h> has them in a 64-bit process.
struct DebuggerList {
  uint32_t version, padding;
  uint64_t first, breakpoint;
  uint32_t state, padding2;
  uint64_t loader_base;
};
struct DebuggerEntry {
  uint64_t address, name, dynamic, next, previous;
};

/// Values of KfdAgent::capability and debug_prop (HSA_CAP_* and HSA_DBG_* of the driver's kfd_sysfs.h).
constexpr uint32_t trap_debug_support = 0x8000, trap_debug_firmware_support = 0x2000'0000;
constexpr uint32_t dispatch_info_always_valid = 0x400;
/// The one GPU, as the driver's files and HSA_AMD_AGENT_INFO_BDFID describe it, too.
constexpr uint32_t gpu_id = 1, location_id = 3 << 8, amd_vendor = 0x1002;

constexpr uint64_t aperture_bytes = uint64_t{1} << 32;
constexpr uint64_t user_space_end = uint64_t{1} << 47;

/// A part of the file: memory from `address` on.
struct Piece {
  uint64_t address, bytes;
  const uint8_t* content;  ///< null: what is at the address
  bool executable = false;
};

/// Grows from its beginning; its addresses are those that it has in this process.
class Block {
 public:
  explicit Block(uint64_t bytes) : bytes_(align_up(bytes, page)) {
    void* const mapped = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped != MAP_FAILED) memory_ = static_cast<uint8_t*>(mapped);
  }
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
  ~Block() {
    if (memory_ != nullptr) munmap(memory_, bytes_);
  }
  explicit operator bool() const { return memory_ != nullptr; }

  uint64_t add(const void* data, uint64_t size) {
    const uint64_t at = std::exchange(end_, align_up(end_ + size, alignment));
    if (size != 0) std::memcpy(memory_ + at, data, size);
    return reinterpret_cast<uint64_t>(memory_) + at;
  }
  static constexpr uint64_t alignment = 64;
  static uint64_t room_for(uint64_t size) { return align_up(size, alignment); }
  Piece piece() const { return {.address = reinterpret_cast<uint64_t>(memory_), .bytes = bytes_, .content = memory_}; }

 private:
  uint64_t bytes_, end_ = 0;
  uint8_t* memory_ = nullptr;
};

object::KfdException exception_of(Fault::Kind kind) {
  using object::KfdException;
  switch (kind) {
    case Fault::Kind::memory:
    case Fault::Kind::instruction_fetch:
      return KfdException::wave_memory_violation;
    case Fault::Kind::scratch_overflow:
    case Fault::Kind::lds_overflow:
      return KfdException::wave_aperture_violation;
    case Fault::Kind::illegal_instruction:
      return KfdException::wave_illegal_instruction;
    case Fault::Kind::abort:
      return KfdException::wave_abort;
    case Fault::Kind::exception:
      return KfdException::wave_math_error;
    case Fault::Kind::none:
    case Fault::Kind::timeout:
    case Fault::Kind::interrupted:
      break;
  }
  return KfdException::none;
}

object::KfdAgent describe_agent(const target::GpuModel& model) {
  const target::Product& product = model.product;
  const target::Processor& processor = *model.target.processor;
  const uint64_t lds = uint64_t{shared_aperture_hi} << 32, scratch = uint64_t{private_aperture_hi} << 32;
  return {.exception_status = 0,
          .lds_base = lds,
          .lds_limit = lds + aperture_bytes - 1,
          .scratch_base = scratch,
          .scratch_limit = scratch + aperture_bytes - 1,
          .gpuvm_base = page,
          .gpuvm_limit = user_space_end - 1,
          .gpu_id = gpu_id,
          .location_id = location_id,
          .vendor_id = amd_vendor,
          .device_id = product.pci_device_id,
          .revision_id = product.revision_id,
          .subsystem_vendor_id = amd_vendor,
          .subsystem_device_id = 0,
          .fw_version = 0,
          .gfx_target_version = object::gfx_target_version_of(processor),
          .simd_count = product.compute_units * processor.simds_per_cu,
          .max_waves_per_simd = processor.waves_per_simd,
          .array_count = product.shader_engines * product.shader_arrays_per_engine,
          .simd_arrays_per_engine = product.shader_arrays_per_engine,
          .num_xcc = 1,  // whose context save areas there are
          .capability = trap_debug_support | trap_debug_firmware_support,
          .debug_prop = dispatch_info_always_valid};
}

/// Which pages of this process may have something in them that is not zero: those that were never touched have not,
/// and there may be more of them than there is memory.
class TouchedPages {
 public:
  TouchedPages() : map_(open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC)) {}
  TouchedPages(const TouchedPages&) = delete;
  TouchedPages& operator=(const TouchedPages&) = delete;
  ~TouchedPages() {
    if (map_ >= 0) close(map_);
  }

  static constexpr size_t most = 512;
  /// Entries for `count` pages from an address; at most the buffer's size.
  std::array<bool, most> look(uint64_t address, size_t count) const {
    std::array<bool, most> touched{};
    std::array<unsigned char, most> resident{};
    std::array<uint64_t, most> entries{};
    const bool known = mincore(reinterpret_cast<void*>(address), count * page, resident.data()) == 0;
    const auto wanted = static_cast<ssize_t>(count * sizeof entries[0]);
    const bool mapped = map_ >= 0 && pread(map_, entries.data(), static_cast<size_t>(wanted),
                                           static_cast<off_t>(address / page * sizeof entries[0])) == wanted;
    constexpr uint64_t present = uint64_t{1} << 63, swapped = uint64_t{1} << 62;
    for (size_t i = 0; i < count; ++i)
      touched[i] = !known || !mapped || (resident[i] & 1) != 0 || (entries[i] & (present | swapped)) != 0;
    return touched;
  }

 private:
  int map_;
};

/// A file that is there as a whole or not at all.
class CoreFile {
 public:
  explicit CoreFile(std::string path) : path_(std::move(path)), partial_(path_ + ".partial") {}
  CoreFile(const CoreFile&) = delete;
  CoreFile& operator=(const CoreFile&) = delete;
  ~CoreFile() {
    if (descriptor_ < 0) return;
    close(descriptor_);
    unlink(partial_.c_str());
  }

  Result<void> create() {
    struct stat status{};
    if (stat(path_.c_str(), &status) == 0 && !S_ISREG(status.st_mode))
      return fail(ErrorKind::system, "{} is not a regular file", path_);
    // It has all that was in the GPU's memory, so it is the user's only.
    descriptor_ = open(partial_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (descriptor_ < 0) return fail(ErrorKind::system, "{}: {}", partial_, std::strerror(errno));
    return {};
  }
  Result<void> write(uint64_t offset, const void* data, size_t size) {
    for (const auto* from = static_cast<const uint8_t*>(data); size != 0;) {
      const ssize_t done = pwrite(descriptor_, from, size, static_cast<off_t>(offset));
      if (done < 0 && errno == EINTR) continue;
      if (done <= 0) return fail(ErrorKind::system, "{}: {}", path_, std::strerror(done < 0 ? errno : ENOSPC));
      from += done;
      offset += static_cast<uint64_t>(done);
      size -= static_cast<size_t>(done);
    }
    return {};
  }
  Result<void> finish(uint64_t size) {
    if (ftruncate(descriptor_, static_cast<off_t>(size)) != 0 || rename(partial_.c_str(), path_.c_str()) != 0)
      return fail(ErrorKind::system, "{}: {}", path_, std::strerror(errno));
    close(std::exchange(descriptor_, -1));
    return {};
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_, partial_;
  int descriptor_ = -1;
};

Result<void> write_piece(CoreFile& file, uint64_t offset, const Piece& piece, const TouchedPages& pages) {
  if (piece.content != nullptr) return file.write(offset, piece.content, piece.bytes);
  std::array<uint8_t, page> copy;
  for (uint64_t done = 0; done < piece.bytes;) {
    const size_t count = std::min<uint64_t>(TouchedPages::most, (piece.bytes - done + page - 1) / page);
    const auto touched = pages.look(piece.address + done, count);
    for (size_t i = 0; i < count; ++i, done += page) {
      const uint64_t size = std::min(page, piece.bytes - done);
      // Pages that cannot be read were reserved only: there is nothing in them.
      if (!touched[i] || !read_guest(copy.data(), piece.address + done, size)) continue;
      if (std::all_of(copy.begin(), copy.begin() + static_cast<ptrdiff_t>(size), [](uint8_t b) { return b == 0; }))
        continue;  // a hole in the file reads as zeros
      if (auto ok = file.write(offset + done, copy.data(), size); !ok) return ok;
    }
  }
  return {};
}

Elf64_Phdr segment_of(uint32_t type, uint32_t flags, uint64_t offset, uint64_t address, uint64_t bytes,
                      uint64_t align) {
  Elf64_Phdr segment{};
  segment.p_type = type;
  segment.p_flags = flags;
  segment.p_offset = offset;
  segment.p_vaddr = address;
  segment.p_filesz = segment.p_memsz = bytes;
  segment.p_align = align;
  return segment;
}

std::vector<uint8_t> note_of(const object::CoreState& state) {
  constexpr char owner[8] = "AMDGPU";
  const std::vector<uint8_t> description = object::write_core_state(state);
  std::vector<uint8_t> note;
  support::append(note, Elf64_Nhdr{.n_namesz = sizeof "AMDGPU",
                                   .n_descsz = static_cast<uint32_t>(description.size()),
                                   .n_type = object::nt_amdgpu_kfd_core_state});
  support::append(note, owner);
  note.insert(note.end(), description.begin(), description.end());
  return note;
}

/// The parts of the file, and the memory that contains them.
class Core {
 public:
  explicit Core(const CoreContents& contents)
      : contents_(contents), processor_(*contents.model.target.processor), areas_(make_areas()), block_(room()) {}

  Result<std::string> write(const std::string& path) {
    if (!block_) return fail(ErrorKind::out_of_resources, "there is no memory left to write it");
    state_.agents.push_back(describe_agent(contents_.model));
    add_codes();
    add_queues();
    for (const Allocation& allocation : contents_.memory.allocations())
      pieces_.push_back({.address = allocation.address,
                         .bytes = allocation.size,
                         .content = nullptr,
                         .executable = is_code(allocation.address)});
    for (const StoppedWorkGroup& group : contents_.dispatch.progress.stopped)
      if (!group.scratch.empty())
        pieces_.push_back({group.scratch_address, group.scratch.size(), group.scratch.data()});
    pieces_.push_back(block_.piece());
    std::ranges::sort(pieces_, {}, &Piece::address);
    return write_file(path);
  }

 private:
  std::vector<object::SavedWave> all_waves() const {
    std::vector<object::SavedWave> waves;
    for (const StoppedWorkGroup& group : contents_.dispatch.progress.stopped)
      waves.insert(waves.end(), group.waves.begin(), group.waves.end());
    return waves;
  }
  /// The context save area of each queue: all but the dispatch's are empty.
  std::vector<std::vector<uint8_t>> make_areas() const {
    std::vector<std::vector<uint8_t>> areas;
    for (const aql::Queue* queue : contents_.queues)
      areas.push_back(object::write_context_save_area(
          is_dispatchs(queue) ? all_waves() : std::vector<object::SavedWave>(), processor_));
    return areas;
  }
  uint64_t room() const {
    uint64_t bytes =
        Block::room_for(sizeof(DebuggerList)) + Block::room_for(sizeof contents_.dispatch.submission.packet);
    for (const auto& code : contents_.codes)
      bytes += Block::room_for(sizeof(DebuggerEntry)) + Block::room_for(uri_of(*code).size() + 1);
    for (const auto& area : areas_) bytes += Block::room_for(area.size());
    return bytes;
  }
  bool is_dispatchs(const aql::Queue* queue) const {
    return reinterpret_cast<uint64_t>(queue) == contents_.dispatch.submission.queue_address;
  }
  bool is_code(uint64_t address) const {
    return std::ranges::any_of(contents_.codes, [&](const auto& code) { return code->base() == address; });
  }
  /// Where in the file's memory the code object is that was loaded, as ROCr's loader says it for those from memory.
  static std::string uri_of(const LoadedCode& code) {
    return fmt::format("memory://{}#offset={:#x}&size={}", getpid(), reinterpret_cast<uint64_t>(code.file().data()),
                       code.file().size());
  }

  void add_codes() {
    uint64_t next = 0;
    for (size_t i = contents_.codes.size(); i-- > 0;) {
      const LoadedCode& code = *contents_.codes[i];
      const std::string uri = uri_of(code);
      const uint64_t name = block_.add(uri.c_str(), uri.size() + 1);
      const DebuggerEntry entry{.address = code.base(), .name = name, .dynamic = 0, .next = next, .previous = 0};
      const uint64_t at = block_.add(&entry, sizeof entry);
      if (next != 0) reinterpret_cast<DebuggerEntry*>(next)->previous = at;
      next = at;
      pieces_.push_back({reinterpret_cast<uint64_t>(code.file().data()), code.file().size(), code.file().data()});
    }
    const DebuggerList list{.version = debugger_list_version,
                            .padding = 0,
                            .first = next,
                            .breakpoint = 0,
                            .state = 0,
                            .padding2 = 0,
                            .loader_base = 0};
    state_.runtime = {
        .r_debug = block_.add(&list, sizeof list), .runtime_state = object::kfd_runtime_enabled, .ttmp_setup = 1};
  }

  void add_queues() {
    copies_.reserve(contents_.queues.size());  // pieces refer to them
    for (size_t i = 0; i < contents_.queues.size(); ++i) {
      const aql::Queue* queue = contents_.queues[i];
      const bool faulted = is_dispatchs(queue);
      aql::Queue& copy = copies_.emplace_back(*queue);
      if (faulted) keep_packet(copy);
      const auto address = reinterpret_cast<uint64_t>(queue);
      pieces_.push_back({address, sizeof copy, reinterpret_cast<const uint8_t*>(&copy)});
      const uint64_t exceptions =
          object::kfd_exception_mask(exception_of(contents_.dispatch.progress.fault->fault.kind));
      state_.queues.push_back({.exception_status = faulted ? exceptions : 0,
                               .ring_base_address = copy.base_address,
                               .write_pointer_address = address + offsetof(aql::Queue, write_dispatch_id),
                               .read_pointer_address = address + offsetof(aql::Queue, read_dispatch_id),
                               .ctx_save_restore_address = block_.add(areas_[i].data(), areas_[i].size()),
                               .queue_id = static_cast<uint32_t>(copy.id),
                               .gpu_id = gpu_id,
                               .ring_size = static_cast<uint32_t>(copy.size * sizeof(aql::KernelDispatchPacket)),
                               .queue_type = object::kfd_queue_aql,
                               .ctx_save_restore_area_size = static_cast<uint32_t>(areas_[i].size()),
                               .reserved = 0});
    }
  }

  /// The program may reuse the packet once the kernel has begun. Readers of core files expect it in the ring between
  /// the read and write index, where hardware keeps it until the kernel ends.
  void keep_packet(aql::Queue& queue) {
    const Dispatch& dispatch = contents_.dispatch;
    if (queue.base_address == 0) {
      queue.base_address = block_.add(&dispatch.submission.packet, sizeof dispatch.submission.packet);
      queue.size = 1;
    } else {
      packet_place_ =
          queue.base_address + dispatch.submission.dispatch_id % queue.size * sizeof dispatch.submission.packet;
    }
    queue.read_dispatch_id = dispatch.submission.dispatch_id;
    queue.write_dispatch_id = std::max(queue.write_dispatch_id, dispatch.submission.dispatch_id + 1);
  }

  Result<std::string> write_file(const std::string& path) {
    CoreFile file(path);
    if (auto ok = file.create(); !ok) return std::unexpected(ok.error());
    const std::vector<uint8_t> note = note_of(state_);
    const size_t segment_count = 1 + pieces_.size();
    if (segment_count >= PN_XNUM)
      return fail(ErrorKind::out_of_resources, "the GPU's memory has {} parts, more than the file can have",
                  pieces_.size());
    Elf64_Ehdr header = object::elf::header_of(ET_CORE, object::elf::osabi_amdgpu_hsa, 0, 0);
    header.e_phoff = sizeof header;
    header.e_phentsize = sizeof(Elf64_Phdr);
    header.e_phnum = static_cast<uint16_t>(segment_count);
    header.e_shentsize = 0;
    std::vector<Elf64_Phdr> segments;
    uint64_t offset = sizeof header + segment_count * sizeof(Elf64_Phdr);
    segments.push_back(segment_of(PT_NOTE, 0, offset, 0, note.size(), 4));
    offset += note.size();
    const TouchedPages pages;
    for (const Piece& piece : pieces_) {
      offset = align_up(offset, page) + piece.address % page;
      segments.push_back(
          segment_of(PT_LOAD, PF_R | PF_W | (piece.executable ? PF_X : 0u), offset, piece.address, piece.bytes, page));
      if (auto ok = write_piece(file, offset, piece, pages); !ok) return std::unexpected(ok.error());
      if (packet_place_ != 0 && packet_place_ - piece.address < piece.bytes) {
        const auto& packet = contents_.dispatch.submission.packet;
        if (auto ok = file.write(offset + packet_place_ - piece.address, &packet, sizeof packet); !ok)
          return std::unexpected(ok.error());
      }
      offset += piece.bytes;
    }
    auto ok = file.write(0, &header, sizeof header);
    if (ok) ok = file.write(sizeof header, segments.data(), segments.size() * sizeof segments[0]);
    if (ok) ok = file.write(segments[0].p_offset, note.data(), note.size());
    if (ok) ok = file.finish(offset);
    if (!ok) return std::unexpected(ok.error());
    return file.path();
  }

  const CoreContents& contents_;
  const target::Processor& processor_;
  const std::vector<std::vector<uint8_t>> areas_;
  Block block_;
  object::CoreState state_;
  std::vector<Piece> pieces_;
  std::vector<aql::Queue> copies_;
  uint64_t packet_place_ = 0;  ///< in the ring; 0: in none
};

std::vector<uint32_t> words_of(const Row* rows, size_t count, unsigned lanes) {
  std::vector<uint32_t> words;
  words.reserve(count * lanes);
  for (size_t row = 0; row < count; ++row)
    for (unsigned lane = 0; lane < lanes; ++lane) words.push_back(rows[row][lane]);
  return words;
}

object::SavedWave save(const Wave& wave, const target::Processor& processor) {
  const object::ContextLayout& layout = object::context_layout(processor);
  const WorkGroup& group = *wave.work_group;
  object::SavedWave saved;
  saved.lanes = wave.wave_size;
  saved.vgprs = words_of(wave.vgpr, wave.vgprs, wave.wave_size);
  saved.agprs = words_of(wave.agpr, wave.agprs, wave.wave_size);
  // With room for what has its place among the last of them.
  constexpr size_t block = 16, most = 112;
  saved.sgprs.resize(layout.sgprs != 0 ? layout.sgprs
                                       : std::min(most, align_up(wave.sgprs + size_t{layout.aliases}, block)));
  const size_t named = std::min<size_t>({saved.sgprs.size(), layout.named_sgprs, std::max<size_t>(wave.sgprs, 1)});
  std::copy_n(&wave.scalar[isa::scalar::s0], named, saved.sgprs.begin());
  std::copy_n(&wave.scalar[isa::scalar::ttmp0], saved.ttmps.size(), saved.ttmps.begin());
  saved.hardware[object::saved::m0] = wave.scalar[isa::scalar::m0];
  saved.hardware[object::saved::status] = wave.status;
  saved.hardware[object::saved::trap_status] = wave.trap_status;
  saved.hardware[object::saved::xnack_mask] = wave.scalar[isa::scalar::xnack_mask_lo];
  object::SavedState state{.pc = wave.pc,
                           .exec = wave.exec(),
                           .vcc = wave.scalar64(isa::scalar::vcc_lo),
                           .flat_scratch = wave.scalar64(isa::scalar::flat_scratch_lo),
                           .mode = wave.mode,
                           .scc = wave.scc,
                           .work_group = {group.id[0], group.id[1], group.id[2]},
                           .wave = wave.index,
                           .packet = 0};
  if (const aql::Queue* queue = reinterpret_cast<const aql::Queue*>(group.dispatch->submission.queue_address);
      queue->base_address != 0)
    state.packet = static_cast<uint32_t>(group.dispatch->submission.dispatch_id % queue->size);
  if (wave.fault && wave.fault->kind != Fault::Kind::timeout) {
    constexpr uint32_t abort_trap = 2;
    state.pc = wave.fault->pc;
    state.is_stopped = true;
    state.trap = wave.fault->kind == Fault::Kind::abort ? abort_trap : 0;
    switch (exception_of(wave.fault->kind)) {
      case object::KfdException::wave_memory_violation:
      case object::KfdException::wave_aperture_violation:
        set_exception(saved, object::WaveException::memory_violation, processor);
        break;
      case object::KfdException::wave_illegal_instruction:
        set_exception(saved, object::WaveException::illegal_instruction, processor);
        break;
      default:
        break;
    }
  }
  set_state(saved, state, processor);
  return saved;
}

}  // namespace

StoppedWorkGroup save(const WorkGroup& group) {
  StoppedWorkGroup stopped;
  const Dispatch& dispatch = *group.dispatch;
  for (uint32_t i = 0; i < group.waves_begun; ++i)
    if (group.waves[i].state != WaveState::ended)
      stopped.waves.push_back(save(group.waves[i], dispatch.gpu->processor()));
  if (stopped.waves.empty()) return stopped;
  object::SavedWave& first = stopped.waves.front();
  first.is_first = stopped.waves.back().is_last = true;
  if (group.lds != nullptr) first.lds.assign(group.lds, group.lds + group.lds_bytes);
  const Wave& wave = group.waves.front();
  if (wave.scratch != nullptr) {
    const uint8_t* const scratch = wave.scratch - size_t{wave.index} * dispatch.launch.scratch_bytes_per_wave;
    stopped.scratch_address = reinterpret_cast<uint64_t>(scratch);
    stopped.scratch.assign(scratch, scratch + size_t{dispatch.launch.scratch_bytes_per_wave} * group.waves.size());
  }
  return stopped;
}

Result<std::string> write_core_file(const CoreContents& contents, const std::string& path) {
  return Core(contents).write(with_process(path));
}

}  // namespace Atoll::machine
