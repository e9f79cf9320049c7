// engine/compiled: translated code on disk (translation_cache.h).
#include "engine/compiled/translation_cache.h"

#include <cpuid.h>
#include <fcntl.h>
#include <immintrin.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "engine/compiled/build_fingerprint.h"
#include "support/bytes.h"

namespace Atoll::engine {

namespace {

namespace fs = std::filesystem;
using support::ErrorKind;
using support::fail;

constexpr uint64_t default_most_bytes = uint64_t{1} << 30;

/// The table of past runs.
constexpr const char* past_runs_name = "past-runs";
constexpr uint64_t least_share_of_answers = 16;  ///< of the cache's limit, to the table's one

struct FileHeader {
  char magic[8];
  uint64_t hits;  ///< how often it was found; not part of the checksum
  uint64_t checksum;
  uint64_t request_bytes, answer_bytes;
};
constexpr char magic[8] = {'A', 't', 'o', 'l', 'l', 'C', 'C', '1'};

/// What decides which instructions host code may use: the processor's model and features, and those that the system
/// has switched on.
[[gnu::target("xsave")]] uint64_t host_kind() {
  uint32_t words[12]{};
  uint32_t a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(1, &a, &b, &c, &d) != 0) words[0] = a, words[1] = c, words[2] = d;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) != 0) words[3] = b, words[4] = c, words[5] = d;
  if (__get_cpuid_count(7, 1, &a, &b, &c, &d) != 0) words[6] = a;
  if (__get_cpuid(0x80000001, &a, &b, &c, &d) != 0) words[7] = c, words[8] = d;
  constexpr uint32_t osxsave = 1 << 27;
  if (words[1] & osxsave) words[9] = static_cast<uint32_t>(_xgetbv(0));
  return hash({reinterpret_cast<const uint8_t*>(words), sizeof words});
}

std::optional<uint64_t> parse_size(std::string_view text) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{}) return std::nullopt;
  const std::string_view unit(end, text.data() + text.size());
  if (unit.empty()) return value;
  constexpr std::string_view units = "KMG";
  const size_t which = units.find(unit[0]);
  if (unit.size() != 1 || which == std::string_view::npos) return std::nullopt;
  return value << 10 * (which + 1);
}

std::optional<std::vector<uint8_t>> read_file(int descriptor) {
  struct stat status{};
  if (fstat(descriptor, &status) != 0 || status.st_size < static_cast<off_t>(sizeof(FileHeader))) return std::nullopt;
  std::vector<uint8_t> bytes(static_cast<size_t>(status.st_size));
  for (size_t at = 0; at < bytes.size();) {
    const ssize_t got = read(descriptor, bytes.data() + at, bytes.size() - at);
    if (got <= 0) return std::nullopt;
    at += static_cast<size_t>(got);
  }
  return bytes;
}

/// Whether the file is whole and sound.
bool is_sound(std::span<const uint8_t> file) {
  const auto header = support::read<FileHeader>(file, 0);
  return header && std::memcmp(header->magic, magic, sizeof magic) == 0 && header->request_bytes <= file.size() &&
         header->answer_bytes <= file.size() &&
         sizeof *header + header->request_bytes + header->answer_bytes == file.size() &&
         header->checksum == hash(file.subspan(sizeof *header));
}

bool write_all(int descriptor, std::span<const uint8_t> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(descriptor, bytes.data(), bytes.size());
    if (written <= 0) return false;
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
  return true;
}

std::span<const uint8_t> bytes_of(const FileHeader& header) {
  return {reinterpret_cast<const uint8_t*>(&header), sizeof header};
}

}  // namespace

uint64_t hash(std::span<const uint8_t> bytes, uint64_t seed) {
  constexpr uint64_t odd = 0x9E3779B97F4A7C15;
  const auto mix = [](uint64_t a, uint64_t b) {
    const auto product = static_cast<unsigned __int128>(a) * b;
    return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
  };
  uint64_t state = mix(seed ^ odd, bytes.size() ^ 0xD1B54A32D192ED03);
  for (; !bytes.empty(); bytes = bytes.subspan(std::min<size_t>(8, bytes.size()))) {
    uint64_t word = 0;
    std::memcpy(&word, bytes.data(), std::min<size_t>(8, bytes.size()));
    state = mix(state ^ word, odd) + state;
  }
  return mix(state, odd);
}

support::Result<std::optional<TranslationCache>> TranslationCache::from_environment() {
  const auto variable = [](const char* name) -> std::string_view {
    const char* value = std::getenv(name);
    return value != nullptr ? value : "";
  };
  TranslationCache cache;
  cache.most_bytes_ = default_most_bytes;
  if (const auto size = variable("ATOLL_CACHE_SIZE"); !size.empty()) {
    const auto bytes = parse_size(size);
    if (!bytes) {
      return fail(ErrorKind::invalid_argument, "ATOLL_CACHE_SIZE={}: not a number of bytes (500M, 2G)", size);
    }
    cache.most_bytes_ = *bytes;
  }
  if (const auto wish = variable("ATOLL_CACHE"); !wish.empty()) {
    if (wish == "off") return std::nullopt;
    cache.directory_ = fs::absolute(wish);
  } else if (const auto user = variable("XDG_CACHE_HOME"); user.starts_with("/")) {
    cache.directory_ = fs::path(user) / "atoll";
  } else if (const auto home = variable("HOME"); home.starts_with("/")) {
    cache.directory_ = fs::path(home) / ".cache/atoll";
  } else {
    return std::nullopt;
  }
  return cache;
}

fs::path TranslationCache::build_directory() const {
  static const std::string build_and_host = fmt::format("{:016x}", build_fingerprint() ^ host_kind());
  return directory_ / build_and_host;
}

fs::path TranslationCache::group_directory(uint64_t group) const {
  return build_directory() / fmt::format("{:016x}", group);
}

PastRuns TranslationCache::past_runs() const {
  const bool has_room = most_bytes_ / (1 + least_share_of_answers) >= PastRuns::bytes;
  return PastRuns(has_room ? (build_directory() / past_runs_name).string() : "");
}

bool TranslationCache::has_group(uint64_t group) const { return access(group_directory(group).c_str(), F_OK) == 0; }

std::optional<std::vector<uint8_t>> TranslationCache::find(std::span<const uint8_t> request) const {
  const auto group = support::read<uint64_t>(request, 0);
  if (!group) return std::nullopt;
  const fs::path path = group_directory(*group) / fmt::format("{:016x}", hash(request));
  int descriptor = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (descriptor < 0) descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return std::nullopt;
  std::optional<std::vector<uint8_t>> answer;
  const auto file = read_file(descriptor);
  if (!file || !is_sound(*file)) {
    unlink(path.c_str());
  } else {
    auto header = *support::read<FileHeader>(*file, 0);
    const std::span whole(*file);
    if (std::ranges::equal(whole.subspan(sizeof header, header.request_bytes), request)) {
      const auto found = whole.last(header.answer_bytes);
      answer.emplace(found.begin(), found.end());
      // Two that do this at once may count one: it is for people. The time of the write is that of the last use.
      ++header.hits;
      [[maybe_unused]] const ssize_t written =
          pwrite(descriptor, &header.hits, sizeof header.hits, offsetof(FileHeader, hits));
    }
  }
  close(descriptor);
  return answer;
}

void TranslationCache::store(std::span<const uint8_t> request, std::span<const uint8_t> answer) const {
  const auto group = support::read<uint64_t>(request, 0);
  if (!group || request.size() + answer.size() > most_bytes_) return;
  const fs::path place = group_directory(*group);
  std::error_code error;
  fs::create_directories(place, error);
  if (error) return;
  static std::atomic<uint64_t> number{0};
  const fs::path temporary = place / fmt::format("new.{}.{}", getpid(), number.fetch_add(1));
  const int descriptor = open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (descriptor < 0) return;
  FileHeader header{};
  std::memcpy(header.magic, magic, sizeof magic);
  header.request_bytes = request.size();
  header.answer_bytes = answer.size();
  std::vector<uint8_t> body(request.begin(), request.end());
  body.insert(body.end(), answer.begin(), answer.end());
  header.checksum = hash(body);
  const bool written = write_all(descriptor, bytes_of(header)) && write_all(descriptor, body);
  const bool closed = close(descriptor) == 0;
  const fs::path path = place / fmt::format("{:016x}", hash(request));
  if (!written || !closed || rename(temporary.c_str(), path.c_str()) != 0) unlink(temporary.c_str());
}

namespace {

struct FileOnDisk {
  fs::path path;
  uint64_t bytes;
  fs::file_time_type used;
};

bool is_hash(const std::string& name) {
  return name.size() == 16 && name.find_first_not_of("0123456789abcdef") == std::string::npos;
}

bool is_past_runs(const fs::path& path) { return path.filename() == past_runs_name; }

/// Whether a file that lies so many directories below the cache's is one of its own: the user may have named a
/// directory that has others in it.
bool is_ours(const fs::path& path, int depth) {
  const std::string name = path.filename();
  if (!is_hash(path.parent_path().filename())) return false;
  if (depth == 1) return is_past_runs(path);
  return depth == 2 && (is_hash(name) || name.starts_with("new.")) &&
         is_hash(path.parent_path().parent_path().filename());
}

std::vector<FileOnDisk> files_below(const fs::path& directory) {
  std::vector<FileOnDisk> files;
  std::error_code error;
  for (fs::recursive_directory_iterator at(directory, error), end; !error && at != end; at.increment(error)) {
    std::error_code gone;  // another process may remove files meanwhile
    if (!is_ours(at->path(), at.depth()) || !at->is_regular_file(gone) || gone) continue;
    const uint64_t bytes = at->file_size(gone);
    const auto used = at->last_write_time(gone);
    if (!gone) files.push_back({at->path(), bytes, used});
  }
  return files;
}

void remove(const FileOnDisk& file) {
  unlink(file.path.c_str());
  rmdir(file.path.parent_path().c_str());                                              // if it is empty now
  if (!is_past_runs(file.path)) rmdir(file.path.parent_path().parent_path().c_str());  // likewise
}

}  // namespace

void TranslationCache::trim() const {
  std::vector<FileOnDisk> files = files_below(directory_);
  uint64_t bytes = 0;
  for (const FileOnDisk& file : files) bytes += file.bytes;
  if (bytes <= most_bytes_) return;
  std::ranges::sort(files, {}, &FileOnDisk::used);
  for (const FileOnDisk& file : files) {
    if (bytes <= most_bytes_ / 10 * 9) return;
    remove(file);
    bytes -= file.bytes;
  }
}

TranslationCache::Contents TranslationCache::contents() const {
  Contents contents;
  for (const FileOnDisk& file : files_below(directory_)) {
    contents.bytes += file.bytes;
    if (is_past_runs(file.path)) continue;
    ++contents.files;
    const int descriptor = open(file.path.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) continue;
    FileHeader header{};
    if (read(descriptor, &header, sizeof header) == sizeof header) contents.hits += header.hits;
    close(descriptor);
  }
  return contents;
}

support::Result<void> TranslationCache::clear() const {
  for (const FileOnDisk& file : files_below(directory_)) remove(file);
  if (rmdir(directory_.c_str()) != 0 && errno != ENOENT && errno != ENOTEMPTY) {
    return fail(ErrorKind::system, "cannot remove {}: {}", directory_.string(), std::strerror(errno));
  }
  if (!files_below(directory_).empty()) {
    return fail(ErrorKind::system, "cannot remove all of {}", directory_.string());
  }
  return {};
}

}  // namespace Atoll::engine
