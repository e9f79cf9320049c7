// engine/compiled: what past runs have spent (past_runs.h).
#include "engine/compiled/past_runs.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <limits>
#include <utility>

#include "engine/compiled/translation_cache.h"

namespace Atoll::engine {

namespace {

struct Record {
  uint64_t code, spent, checksum;

  uint64_t right_checksum() const {
    const uint64_t words[] = {code, spent};
    return hash({reinterpret_cast<const uint8_t*>(words), sizeof words});
  }
  bool is_sound() const { return checksum == right_checksum(); }
};
static_assert(sizeof(Record) == PastRuns::record_bytes);

/// The records that a code may have, and the place of the first in the file.
struct Set {
  std::array<Record, PastRuns::records_of_a_set> records{};
  off_t place = 0;

  static Set read(int file, uint64_t code) {
    Set set{.place = static_cast<off_t>(code % PastRuns::sets * sizeof records)};
    // What is not in the file stays zero, which is not sound.
    [[maybe_unused]] const ssize_t got = pread(file, set.records.data(), sizeof records, set.place);
    for (Record& record : set.records) {
      if (!record.is_sound()) record = {};
    }
    return set;
  }
  /// Null: there is none.
  Record* of(uint64_t code) {
    const auto found = std::ranges::find_if(
        records, [code](const Record& record) { return record.spent != 0 && record.code == code; });
    return found != records.end() ? &*found : nullptr;
  }
  void write(int file, Record& record, uint64_t code, uint64_t spent) const {
    record = {code, spent, 0};
    record.checksum = record.right_checksum();
    const auto index = static_cast<off_t>(&record - records.data());
    [[maybe_unused]] const ssize_t written =
        pwrite(file, &record, sizeof record, place + index * static_cast<off_t>(sizeof record));
  }
};

class File {
 public:
  File(const std::string& path, int flags)
      : descriptor_(path.empty() ? -1 : open(path.c_str(), flags | O_CLOEXEC, 0600)) {}
  ~File() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  bool is_open() const { return descriptor_ >= 0; }
  int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
};

}  // namespace

uint64_t PastRuns::spent(uint64_t code) const {
  const File file(path_, O_RDONLY);
  if (!file.is_open()) return 0;
  Set set = Set::read(file.descriptor(), code);
  const Record* record = set.of(code);
  return record != nullptr ? record->spent : 0;
}

void PastRuns::add(uint64_t code, uint64_t instructions) const {
  if (path_.empty() || instructions == 0) return;
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(path_).parent_path(), error);
  const File file(path_, O_RDWR | O_CREAT);
  if (!file.is_open()) return;
  Set set = Set::read(file.descriptor(), code);
  if (Record* known = set.of(code)) {
    const uint64_t room = std::numeric_limits<uint64_t>::max() - known->spent;
    return set.write(file.descriptor(), *known, code, known->spent + std::min(room, instructions));
  }
  Record& least = *std::ranges::min_element(set.records, {}, &Record::spent);
  // Those that stay fade, so that what nobody runs any more goes some day.
  if (least.spent != 0) {
    for (Record& record : set.records) {
      if (&record != &least) set.write(file.descriptor(), record, record.code, std::max<uint64_t>(1, record.spent / 2));
    }
  }
  set.write(file.descriptor(), least, code, instructions);
}

void PastRuns::forget(uint64_t code) const {
  const File file(path_, O_RDWR);
  if (!file.is_open()) return;
  Set set = Set::read(file.descriptor(), code);
  if (Record* known = set.of(code)) set.write(file.descriptor(), *known, 0, 0);
}

}  // namespace Atoll::engine
