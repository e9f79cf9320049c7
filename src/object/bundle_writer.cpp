// object: writing offload bundles (bundle_writer.h). The layouts are those that bundle.cpp reads.
#include "object/bundle_writer.h"

#include <zlib.h>
#include <zstd.h>

#include <bit>
#include <cstring>
#include <string_view>

#include "object/md5.h"
#include "support/bytes.h"

namespace Atoll::object {

namespace {

using support::append;
using support::ErrorKind;
using support::fail;

void append_text(std::vector<uint8_t>& bytes, std::string_view text) {
  bytes.insert(bytes.end(), text.begin(), text.end());
}

std::vector<uint8_t> write_plain(std::span<const BundleEntry> entries, uint64_t alignment) {
  constexpr std::string_view magic = "__CLANG_OFFLOAD_BUNDLE__";
  uint64_t position = magic.size() + sizeof(uint64_t);
  for (const BundleEntry& entry : entries) position += 3 * sizeof(uint64_t) + entry.id.size();
  std::vector<uint8_t> bundle;
  append_text(bundle, magic);
  append(bundle, uint64_t{entries.size()});
  std::vector<uint64_t> offsets;
  for (const BundleEntry& entry : entries) {
    position = support::align_up(position, alignment);
    offsets.push_back(position);
    append(bundle, position);
    append(bundle, uint64_t{entry.bytes.size()});
    append(bundle, uint64_t{entry.id.size()});
    append_text(bundle, entry.id);
    position += entry.bytes.size();
  }
  bundle.resize(position);
  for (size_t i = 0; i < entries.size(); ++i) {
    if (!entries[i].bytes.empty())
      std::memcpy(bundle.data() + offsets[i], entries[i].bytes.data(), entries[i].bytes.size());
  }
  return bundle;
}

}  // namespace

support::Result<std::vector<uint8_t>> write_bundle(std::span<const BundleEntry> entries, uint64_t alignment,
                                                   Compression compression) {
  if (!std::has_single_bit(alignment)) {
    return fail(ErrorKind::invalid_argument, "alignment {} is not a power of two", alignment);
  }
  std::vector<uint8_t> plain = write_plain(entries, alignment);
  if (compression == Compression::none) return plain;

  std::vector<uint8_t> packed;
  if (compression == Compression::zstd) {
    packed.resize(ZSTD_compressBound(plain.size()));
    constexpr int level = 3;
    const size_t size = ZSTD_compress(packed.data(), packed.size(), plain.data(), plain.size(), level);
    if (ZSTD_isError(size) != 0) return fail(ErrorKind::system, "zstd: {}", ZSTD_getErrorName(size));
    packed.resize(size);
  } else {
    uLongf size = compressBound(plain.size());
    packed.resize(size);
    if (compress2(packed.data(), &size, plain.data(), plain.size(), Z_BEST_COMPRESSION) != Z_OK) {
      return fail(ErrorKind::system, "zlib cannot compress {} bytes", plain.size());
    }
    packed.resize(size);
  }
  // Version 2, which every reader knows, as long as its 32-bit sizes hold.
  const auto digest = md5(plain);
  uint64_t hash;
  std::memcpy(&hash, digest.data(), sizeof hash);
  const uint16_t version = plain.size() + packed.size() > UINT32_MAX ? 3 : 2;
  std::vector<uint8_t> file;
  append_text(file, "CCOB");
  append(file, version);
  append(file, static_cast<uint16_t>(compression == Compression::zstd ? 1 : 0));
  if (version == 2) {
    append(file, static_cast<uint32_t>(24 + packed.size()));
    append(file, static_cast<uint32_t>(plain.size()));
  } else {
    append(file, uint64_t{32 + packed.size()});
    append(file, uint64_t{plain.size()});
  }
  append(file, hash);
  file.insert(file.end(), packed.begin(), packed.end());
  return file;
}

}  // namespace Atoll::object
