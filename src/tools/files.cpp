// tools: files (files.h).
#include "tools/files.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "support/mapped_file.h"

namespace Atoll::tools {

using support::ErrorKind;
using support::fail;
using support::Result;

Result<std::string> read_text_file(const std::string& path) {
  if (path == "-") {
    std::string text;
    char block[65536];
    for (size_t got = 0; (got = std::fread(block, 1, sizeof block, stdin)) > 0;) text.append(block, got);
    return text;
  }
  const auto file = support::MappedFile::open(path);
  if (!file) return std::unexpected(file.error());
  const auto bytes = file->bytes();
  return std::string(bytes.begin(), bytes.end());
}

Result<void> write_file(const std::string& path, std::span<const uint8_t> bytes) {
  std::FILE* file = std::fopen(path.c_str(), "wbe");
  if (file == nullptr) return fail(ErrorKind::system, "{}: {}", path, std::strerror(errno));
  const bool written = std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
  int problem = errno;
  const bool closed = std::fclose(file) == 0;
  if (written && closed) return {};
  if (written) problem = errno;
  std::remove(path.c_str());
  return fail(ErrorKind::system, "{}: {}", path, std::strerror(problem));
}

}  // namespace Atoll::tools
