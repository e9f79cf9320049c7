// engine/compiled: what past runs have spent (past_runs.h).
#include "engine/compiled/past_runs.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <limits>
#include <utility>

#include "engine/compiled/private_files.h"
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

/// The file, in a directory of the cache; with O_CREAT, what is missing is made.
Descriptor open_file(const std::string& path, int flags) {
  if (path.empty()) return Descriptor();
  using Missing = PrivateDirectory::Missing;
  const Missing missing = (flags & O_CREAT) != 0 ? Missing::make : Missing::none;
  const std::filesystem::path name(path), place = name.parent_path();
  const auto cache = PrivateDirectory::open(place.parent_path(), missing);
  if (!cache) return Descriptor();
  const auto directory = cache->inner(place.filename(), missing);
  return directory ? directory->file(name.filename(), flags) : Descriptor();
}

}  // namespace

uint64_t PastRuns::spent(uint64_t code) const {
  const Descriptor file = open_file(path_, O_RDONLY);
  if (!file) return 0;
  Set set = Set::read(file.number(), code);
  const Record* record = set.of(code);
  return record != nullptr ? record->spent : 0;
}

void PastRuns::add(uint64_t code, uint64_t instructions) const {
  if (path_.empty() || instructions == 0) return;
  const Descriptor file = open_file(path_, O_RDWR | O_CREAT);
  if (!file) return;
  Set set = Set::read(file.number(), code);
  if (Record* known = set.of(code)) {
    const uint64_t room = std::numeric_limits<uint64_t>::max() - known->spent;
    return set.write(file.number(), *known, code, known->spent + std::min(room, instructions));
  }
  Record& least = *std::ranges::min_element(set.records, {}, &Record::spent);
  // Remaining records decay, so that unused code is evicted eventually.
  if (least.spent != 0) {
    for (Record& record : set.records) {
      if (&record != &least) set.write(file.number(), record, record.code, std::max<uint64_t>(1, record.spent / 2));
    }
  }
  set.write(file.number(), least, code, instructions);
}

void PastRuns::forget(uint64_t code) const {
  const Descriptor file = open_file(path_, O_RDWR);
  if (!file) return;
  Set set = Set::read(file.number(), code);
  if (Record* known = set.of(code)) set.write(file.number(), *known, 0, 0);
}

}  // namespace Atoll::engine
