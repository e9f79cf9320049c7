// object: static libraries (archive.h).
#include "object/archive.h"

#include <charconv>
#include <string_view>

#include "support/bytes.h"

namespace Atoll::object {

using support::ErrorKind;
using support::fail;
using support::Result;

namespace {

constexpr std::string_view magic = "!<arch>\n", thin_magic = "!<thin>\n";
constexpr uint64_t header_bytes = 60, name_bytes = 16, size_offset = 48, size_bytes = 10;

std::string_view text_of(std::span<const uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string_view without_blanks(std::string_view text) { return text.substr(0, text.find_last_not_of(' ') + 1); }

uint64_t number(std::string_view text) {
  uint64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

}  // namespace

bool is_archive(std::span<const uint8_t> file) {
  return support::starts_with(file, magic) || support::starts_with(file, thin_magic);
}

Result<std::vector<ArchiveMember>> read_archive(std::span<const uint8_t> file) {
  if (support::starts_with(file, thin_magic))
    return fail(ErrorKind::unsupported, "a thin archive, which holds the names of its members only");
  std::vector<ArchiveMember> members;
  std::string_view long_names;
  for (uint64_t offset = magic.size(); offset < file.size();) {
    const auto header = support::slice(file, offset, header_bytes);
    if (!header) return fail(ErrorKind::invalid_file, "the archive ends in the middle of a member's header");
    const std::string_view text = text_of(*header);
    auto bytes = support::slice(file, offset + header_bytes, number(text.substr(size_offset, size_bytes)));
    if (!bytes) return fail(ErrorKind::invalid_file, "a member is truncated");
    offset += header_bytes + support::align_up(bytes->size(), 2);

    std::string_view name = without_blanks(text.substr(0, name_bytes));
    if (name == "/" || name == "/SYM64/") continue;
    if (name == "//") {
      long_names = text_of(*bytes);
      continue;
    }
    if (name.starts_with("#1/")) {  // BSD: the name is before the bytes
      const uint64_t length = number(name.substr(3));
      if (length > bytes->size()) return fail(ErrorKind::invalid_file, "a member's name is truncated");
      name = text_of(bytes->first(length));
      name = name.substr(0, name.find('\0'));
      bytes = bytes->subspan(length);
    } else if (name.starts_with('/')) {
      const uint64_t at = number(name.substr(1));
      if (at >= long_names.size()) return fail(ErrorKind::invalid_file, "a member's name is truncated");
      name = long_names.substr(at);
      name = name.substr(0, name.find('\n'));
    }
    if (name.ends_with('/')) name.remove_suffix(1);
    members.push_back({.name = std::string(name), .bytes = *bytes});
  }
  return members;
}

}  // namespace Atoll::object
