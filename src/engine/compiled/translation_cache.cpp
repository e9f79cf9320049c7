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
#include <cstring>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "engine/compiled/build_fingerprint.h"
#include "engine/compiled/compiler_channel.h"
#include "support/bytes.h"
#include "support/environment.h"

namespace Atoll::engine {

namespace {

namespace fs = std::filesystem;
using support::ErrorKind;
using support::fail;

constexpr uint64_t default_max_bytes = uint64_t{1} << 30;

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

std::optional<std::vector<uint8_t>> read_bytes(int descriptor, uint64_t size) {
  std::vector<uint8_t> bytes(size);
  for (size_t at = 0; at < bytes.size();) {
    const ssize_t got = read(descriptor, bytes.data() + at, bytes.size() - at);
    if (got <= 0) return std::nullopt;
    at += static_cast<size_t>(got);
  }
  return bytes;
}

/// What is in a file: the header, the request and the answer. Nothing if it is not whole and sound. No more is read
/// than a request and its answer can have, however large the file says that it is.
std::optional<std::vector<uint8_t>> read_sound(int descriptor) {
  struct stat status{};
  if (fstat(descriptor, &status) != 0 || status.st_size < static_cast<off_t>(sizeof(FileHeader))) return std::nullopt;
  const auto size = static_cast<uint64_t>(status.st_size);
  FileHeader header{};
  if (pread(descriptor, &header, sizeof header, 0) != sizeof header) return std::nullopt;
  if (std::memcmp(header.magic, magic, sizeof magic) != 0 || header.request_bytes > CompilerChannel::slot_bytes ||
      header.answer_bytes > CompilerChannel::slot_bytes ||
      sizeof header + header.request_bytes + header.answer_bytes != size)
    return std::nullopt;
  auto file = read_bytes(descriptor, size);
  if (!file || header.checksum != hash(std::span(*file).subspan(sizeof header))) return std::nullopt;
  return file;
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
  const auto text = [](const char* value) -> std::string_view { return value != nullptr ? value : ""; };
  TranslationCache cache;
  cache.max_bytes_ = default_max_bytes;
  if (const auto size = text(support::environment_variable(support::Setting::cache_size)); !size.empty()) {
    const auto bytes = parse_size(size);
    if (!bytes) {
      return fail(ErrorKind::invalid_argument, "ATOLL_CACHE_SIZE={}: not a number of bytes (500M, 2G)", size);
    }
    cache.max_bytes_ = *bytes;
  }
  if (const auto wish = text(support::environment_variable(support::Setting::cache)); !wish.empty()) {
    if (wish == "off") return std::nullopt;
    cache.directory_ = fs::absolute(wish);
  } else if (const auto user = text(support::user_cache_directory()); user.starts_with("/")) {
    cache.directory_ = fs::path(user) / "atoll";
  } else if (const auto home = text(support::home_directory()); home.starts_with("/")) {
    cache.directory_ = fs::path(home) / ".cache/atoll";
  } else {
    return std::nullopt;
  }
  return cache;
}

std::string TranslationCache::build_name() {
  static const std::string build_and_host = fmt::format("{:016x}", build_fingerprint() ^ host_kind());
  return build_and_host;
}

std::string TranslationCache::group_name(uint64_t group) { return fmt::format("{:016x}", group); }

support::Result<PrivateDirectory> TranslationCache::group_directory(uint64_t group,
                                                                    PrivateDirectory::Missing missing) const {
  auto cache = PrivateDirectory::open(directory_, missing);
  if (!cache) return cache;
  auto build = cache->inner(build_name(), missing);
  if (!build) return build;
  return build->inner(group_name(group), missing);
}

support::Result<void> TranslationCache::check() const {
  const auto cache = PrivateDirectory::open(directory_, PrivateDirectory::Missing::none);
  if (!cache && cache.error().kind != ErrorKind::not_found) return std::unexpected(cache.error());
  return {};
}

bool TranslationCache::make() const {
  return PrivateDirectory::open(directory_, PrivateDirectory::Missing::make).has_value();
}

PastRuns TranslationCache::past_runs() const {
  const bool has_room = max_bytes_ / (1 + least_share_of_answers) >= PastRuns::bytes;
  return PastRuns(has_room ? (directory_ / build_name() / past_runs_name).string() : "");
}

bool TranslationCache::has_group(uint64_t group) const {
  return access((directory_ / build_name() / group_name(group)).c_str(), F_OK) == 0;
}

std::optional<std::vector<uint8_t>> TranslationCache::find(std::span<const uint8_t> request) const {
  const auto group = support::read<uint64_t>(request, 0);
  if (!group || !has_group(*group)) return std::nullopt;
  const auto place = group_directory(*group, PrivateDirectory::Missing::none);
  if (!place) return std::nullopt;
  const std::string name = fmt::format("{:016x}", hash(request));
  Descriptor opened = place->file(name, O_RDWR);
  if (!opened) opened = place->file(name, O_RDONLY);
  if (!opened) return std::nullopt;
  const auto file = read_sound(opened.number());
  if (!file) {
    place->remove(name);
    return std::nullopt;
  }
  auto header = *support::read<FileHeader>(*file, 0);
  const std::span whole(*file);
  if (!std::ranges::equal(whole.subspan(sizeof header, header.request_bytes), request)) return std::nullopt;
  // Two that do this at once may count one: it is for people. The time of the write is that of the last use.
  ++header.hits;
  [[maybe_unused]] const ssize_t written =
      pwrite(opened.number(), &header.hits, sizeof header.hits, offsetof(FileHeader, hits));
  const auto answer = whole.last(header.answer_bytes);
  return std::vector<uint8_t>(answer.begin(), answer.end());
}

void TranslationCache::store(std::span<const uint8_t> request, std::span<const uint8_t> answer) const {
  const auto group = support::read<uint64_t>(request, 0);
  if (!group || request.size() + answer.size() > max_bytes_) return;
  const auto place = group_directory(*group, PrivateDirectory::Missing::make);
  if (!place) return;
  static std::atomic<uint64_t> number{0};
  const std::string temporary = fmt::format("new.{}.{}", getpid(), number.fetch_add(1));
  Descriptor file = place->file(temporary, O_WRONLY | O_CREAT | O_EXCL);
  if (!file) return;
  FileHeader header{};
  std::memcpy(header.magic, magic, sizeof magic);
  header.request_bytes = request.size();
  header.answer_bytes = answer.size();
  std::vector<uint8_t> body(request.begin(), request.end());
  body.insert(body.end(), answer.begin(), answer.end());
  header.checksum = hash(body);
  const bool written = write_all(file.number(), bytes_of(header)) && write_all(file.number(), body);
  const bool closed = file.finish();
  if (!written || !closed || !place->rename(temporary, fmt::format("{:016x}", hash(request)))) place->remove(temporary);
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

/// Returns whether a file at this depth below the cache directory belongs to the cache; the user may have chosen a
/// directory with other files.
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
  if (!check()) return;
  std::vector<FileOnDisk> files = files_below(directory_);
  uint64_t bytes = 0;
  for (const FileOnDisk& file : files) bytes += file.bytes;
  if (bytes <= max_bytes_) return;
  std::ranges::sort(files, {}, &FileOnDisk::used);
  for (const FileOnDisk& file : files) {
    if (bytes <= max_bytes_ / 10 * 9) return;
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
    const Descriptor opened(open(file.path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    FileHeader header{};
    if (opened && read(opened.number(), &header, sizeof header) == sizeof header) contents.hits += header.hits;
  }
  return contents;
}

support::Result<void> TranslationCache::clear() const {
  if (auto ok = check(); !ok) return ok;
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
