#include "machine/report/process_record.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <functional>
#include <new>

#include "machine/clock.h"
#include "machine/gpu.h"

namespace Atoll::machine {

namespace {

constexpr uint64_t magic = 0x3164'7263'6c6c'7461;  // "atllcrd1"
constexpr uint32_t max_gpus = 64, max_rows = 16384;
constexpr uint64_t heap_bytes = uint64_t{16} << 20, findings_bytes = uint64_t{64} << 10;

/// Text in the heap: its offset in the upper 40 bits, its length in the lower 24.
constexpr unsigned length_bits = 24;

struct GpuRow {
  uint64_t number, product, target;
};
struct KernelRow {
  uint64_t gpu, name;
  uint64_t calls, work_groups, waves, wave_instructions, interpreted_instructions, nanoseconds;
};

std::atomic<ProcessRecord*> current_record{nullptr};

}  // namespace

/// The file, which is sparse: pages that are not used take no room.
struct ProcessRecord::Layout {
  uint64_t magic_number;
  int64_t process;
  uint64_t made_ns;
  uint64_t is_reported, errors;
  uint64_t statistics;
  uint64_t gpu_count, row_count, heap_used, findings_used;
  GpuRow gpus[max_gpus];
  KernelRow rows[max_rows];
  char findings[findings_bytes];
  char heap[heap_bytes];

  std::string text(uint64_t place) const {
    const uint64_t offset = place >> length_bits, length = place & ((uint64_t{1} << length_bits) - 1);
    if (offset > heap_bytes || length > heap_bytes - offset) return "";
    return {heap + offset, length};
  }
};

support::Result<std::unique_ptr<ProcessRecord>> ProcessRecord::create(const std::filesystem::path& directory) {
  std::string name = (directory / "XXXXXX").string();
  const int descriptor = mkostemp(name.data(), O_CLOEXEC);
  if (descriptor < 0) return support::fail(support::ErrorKind::system, "{}: {}", name, std::strerror(errno));
  std::unique_ptr<ProcessRecord> record(new ProcessRecord);
  record->descriptor_ = descriptor;
  void* memory = MAP_FAILED;
  // The lock says that the process is there: it goes with the process's last descriptor, also by execve().
  if (flock(descriptor, LOCK_EX) == 0 && ftruncate(descriptor, sizeof(Layout)) == 0)
    memory = mmap(nullptr, sizeof(Layout), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, descriptor, 0);
  if (memory == MAP_FAILED) {
    const int error = errno;
    unlink(name.c_str());
    return support::fail(support::ErrorKind::system, "{}: {}", name, std::strerror(error));
  }
  record->layout_ = static_cast<Layout*>(memory);
  record->layout_->process = getpid();
  record->layout_->made_ns = now_ns();
  record->layout_->magic_number = magic;
  return record;
}

ProcessRecord::~ProcessRecord() {
  if (layout_ != nullptr) munmap(layout_, sizeof(Layout));
  if (descriptor_ >= 0) close(descriptor_);
}

uint64_t ProcessRecord::put(std::string_view text) {
  const uint64_t offset = layout_->heap_used;
  const size_t length = std::min<size_t>({text.size(), heap_bytes - offset, (size_t{1} << length_bits) - 1});
  std::memcpy(layout_->heap + offset, text.data(), length);
  layout_->heap_used += length;
  return offset << length_bits | length;
}

void ProcessRecord::set_statistics(std::string_view where) {
  const std::lock_guard lock(mutex_);
  layout_->statistics = put(where);
}

void ProcessRecord::add_gpu(const Gpu& gpu, unsigned number) {
  const std::lock_guard lock(mutex_);
  if (layout_->gpu_count == max_gpus) return;
  const auto row = static_cast<uint32_t>(layout_->gpu_count);
  layout_->gpus[row] = {.number = number,
                        .product = put(gpu.model().product.marketing_name),
                        .target = put(gpu.model().target.to_string())};
  gpus_[&gpu] = row;
  ++layout_->gpu_count;
}

void ProcessRecord::add_dispatch(const Gpu& gpu, const std::string& kernel, const KernelStatistics& one) try {
  const std::lock_guard lock(mutex_);
  const auto known_gpu = gpus_.find(&gpu);
  if (known_gpu == gpus_.end()) return;
  auto found = rows_.find({known_gpu->second, kernel});
  if (found == rows_.end()) {
    if (layout_->row_count == max_rows) return;
    const auto row = static_cast<uint32_t>(layout_->row_count);
    found = rows_.emplace(std::pair(known_gpu->second, kernel), row).first;
    layout_->rows[row].gpu = known_gpu->second;
    layout_->rows[row].name = put(kernel);
    ++layout_->row_count;
  }
  KernelRow& row = layout_->rows[found->second];
  row.calls += one.calls;
  row.work_groups += one.work_groups;
  row.waves += one.waves;
  row.wave_instructions += one.wave_instructions;
  row.interpreted_instructions += one.interpreted_instructions;
  row.nanoseconds += static_cast<uint64_t>(one.seconds * 1e9);
} catch (const std::bad_alloc&) {  // a kernel without a row
}

void ProcessRecord::add_finding(std::string_view line, bool is_error) {
  const std::lock_guard lock(mutex_);
  if (is_error) ++layout_->errors;
  const size_t length = std::min<size_t>(line.size(), findings_bytes - layout_->findings_used);
  std::memcpy(layout_->findings + layout_->findings_used, line.data(), length);
  layout_->findings_used += length;
}

void ProcessRecord::set_reported() { layout_->is_reported = 1; }

void ProcessRecord::forget_in_child() {
  if (descriptor_ >= 0) close(descriptor_);  // the parent's lock must not last as long as this process
  descriptor_ = -1;
}

ProcessRecord* ProcessRecord::current() { return current_record.load(std::memory_order_acquire); }
void ProcessRecord::set_current(ProcessRecord* record) { current_record.store(record, std::memory_order_release); }

bool LeftRecord::read(const std::filesystem::path& file, LeftRecord& record) {
  using Layout = ProcessRecord::Layout;
  const int descriptor = open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (descriptor < 0) return false;
  struct stat status{};
  void* memory = MAP_FAILED;
  if (fstat(descriptor, &status) == 0 && status.st_size == sizeof(Layout))
    memory = mmap(nullptr, sizeof(Layout), PROT_READ, MAP_PRIVATE, descriptor, 0);
  record.has_ended = flock(descriptor, LOCK_SH | LOCK_NB) == 0;
  close(descriptor);
  if (memory == MAP_FAILED) return false;
  const Layout& layout = *static_cast<const Layout*>(memory);
  record.process = static_cast<pid_t>(layout.process);
  record.made_ns = layout.made_ns;
  record.is_reported = layout.is_reported != 0;
  record.errors = layout.errors;
  record.findings.assign(layout.findings, std::min(layout.findings_used, findings_bytes));
  record.statistics = layout.text(layout.statistics);
  for (uint64_t i = 0; i < std::min<uint64_t>(layout.gpu_count, max_gpus); ++i)
    record.gpus.push_back({.number = static_cast<unsigned>(layout.gpus[i].number),
                           .product = layout.text(layout.gpus[i].product),
                           .target = layout.text(layout.gpus[i].target),
                           .kernels = {}});
  for (uint64_t i = 0; i < std::min<uint64_t>(layout.row_count, max_rows); ++i) {
    const KernelRow& row = layout.rows[i];
    if (row.gpu >= record.gpus.size()) continue;
    record.gpus[row.gpu].kernels.push_back({.kernel = layout.text(row.name),
                                            .calls = row.calls,
                                            .work_groups = row.work_groups,
                                            .waves = row.waves,
                                            .wave_instructions = row.wave_instructions,
                                            .interpreted_instructions = row.interpreted_instructions,
                                            .seconds = static_cast<double>(row.nanoseconds) * 1e-9});
  }
  for (GpuStatistics& gpu : record.gpus)
    std::ranges::sort(gpu.kernels, std::ranges::greater(), &KernelStatistics::seconds);
  const bool is_record = layout.magic_number == magic;
  munmap(memory, sizeof(Layout));
  return is_record;
}

std::vector<LeftRecord> LeftRecord::read_all(const std::filesystem::path& directory) {
  std::vector<LeftRecord> records;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error))
    if (LeftRecord record; read(entry.path(), record)) records.push_back(std::move(record));
  std::ranges::sort(records, {}, &LeftRecord::made_ns);
  return records;
}

}  // namespace Atoll::machine
