// debug_info: finds DWARF sections in an ELF file and reads their values. Missing or damaged data reads as zeros or as
// empty text.
#pragma once

#include <elf.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace Atoll::debug_info::dwarf {

using Bytes = std::span<const uint8_t>;

/// Returns the requested part of `bytes`, cut off at their end.
inline Bytes part(Bytes bytes, uint64_t offset, uint64_t size) {
  if (offset > bytes.size()) return {};
  return bytes.subspan(offset, std::min<uint64_t>(size, bytes.size() - offset));
}

template <typename T>
bool read_at(Bytes bytes, uint64_t offset, T& value) {
  const Bytes source = part(bytes, offset, sizeof(T));
  if (source.size() != sizeof(T)) return false;
  std::memcpy(&value, source.data(), sizeof(T));
  return true;
}

inline std::string_view text_at(Bytes bytes, uint64_t offset) {
  const Bytes rest = part(bytes, offset, bytes.size());
  if (rest.empty()) return {};
  const auto* start = reinterpret_cast<const char*>(rest.data());
  return {start, strnlen(start, rest.size())};
}

/// Returns the contents of the section of that name, or no bytes if the file has none.
inline Bytes section(Bytes file, std::string_view wanted) {
  Elf64_Ehdr header;
  if (!read_at(file, 0, header) || header.e_shentsize != sizeof(Elf64_Shdr)) return {};
  Elf64_Shdr names;
  if (!read_at(file, header.e_shoff + uint64_t{header.e_shstrndx} * sizeof names, names)) return {};
  const Bytes name_table = part(file, names.sh_offset, names.sh_size);
  for (unsigned i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr entry;
    if (!read_at(file, header.e_shoff + uint64_t{i} * sizeof entry, entry)) return {};
    if (entry.sh_type == SHT_NOBITS || text_at(name_table, entry.sh_name) != wanted) continue;
    return part(file, entry.sh_offset, entry.sh_size);
  }
  return {};
}

/// A cursor over little-endian DWARF data. Reading past the end gives zeros and clears ok().
class Reader {
 public:
  explicit Reader(Bytes bytes) : bytes_(bytes) {}
  bool ok() const { return ok_; }
  bool at_end() const { return !ok_ || offset_ >= bytes_.size(); }
  uint64_t offset() const { return offset_; }
  void skip(uint64_t bytes) { offset_ = bytes > bytes_.size() - offset_ ? fail() : offset_ + bytes; }

  template <typename T>
  T read() {
    T value{};
    if (!read_at(bytes_, offset_, value)) {
      offset_ = fail();
      return T{};
    }
    offset_ += sizeof(T);
    return value;
  }
  uint64_t unsigned_leb() {
    uint64_t value = 0;
    for (unsigned shift = 0; ok_; shift += 7) {
      const auto byte = read<uint8_t>();
      if (shift < 64) value |= uint64_t{byte & 0x7Fu} << shift;
      if ((byte & 0x80) == 0) break;
    }
    return value;
  }
  int64_t signed_leb() {
    uint64_t value = 0;
    unsigned shift = 0;
    uint8_t byte = 0x80;
    while (ok_ && (byte & 0x80) != 0) {
      byte = read<uint8_t>();
      if (shift < 64) value |= uint64_t{byte & 0x7Fu} << shift;
      shift += 7;
    }
    if (shift < 64 && (byte & 0x40) != 0) value |= ~uint64_t{0} << shift;
    return static_cast<int64_t>(value);
  }
  std::string_view text() {
    const std::string_view found = text_at(bytes_, offset_);
    skip(found.size() + 1);
    return found;
  }
  uint64_t sized(bool dwarf64) { return dwarf64 ? read<uint64_t>() : read<uint32_t>(); }

 private:
  uint64_t fail() {
    ok_ = false;
    return bytes_.size();
  }
  Bytes bytes_;
  uint64_t offset_ = 0;
  bool ok_ = true;
};

/// Encodings of attribute values (DWARF 5, section 7.5.6).
enum Form : uint64_t {
  form_addr = 0x01,
  form_block2 = 0x03,
  form_block4,
  form_data2,
  form_data4,
  form_data8,
  form_string,
  form_block,
  form_block1,
  form_data1,
  form_flag,
  form_sdata,
  form_strp,
  form_udata,
  form_ref_addr,
  form_ref1,
  form_ref2,
  form_ref4,
  form_ref8,
  form_ref_udata,
  form_indirect,
  form_sec_offset,
  form_exprloc,
  form_flag_present,
  form_strx,
  form_addrx,
  form_ref_sup4,
  form_strp_sup,
  form_data16,
  form_line_strp,
  form_ref_sig8,
  form_implicit_const,
  form_loclistx,
  form_rnglistx,
  form_ref_sup8,
  form_strx1,
  form_strx2,
  form_strx3,
  form_strx4,
  form_addrx1,
  form_addrx2,
  form_addrx3,
  form_addrx4,
};

/// Reads a value into `value`, which becomes 0 if the form is not numeric. Returns false for an unknown form: its size
/// is unknown too, so the rest of the entry cannot be read.
bool read_value(Reader& reader, uint64_t form, bool dwarf64, uint64_t& value);

/// A unit of .debug_info or .debug_line (DWARF 5, section 7.4).
struct Unit {
  Bytes content;  ///< after its length
  bool dwarf64 = false;
  uint64_t size = 0;  ///< as a whole; to the section's end where it is cut off
};
Unit first_unit(Bytes section);

}  // namespace Atoll::debug_info::dwarf
