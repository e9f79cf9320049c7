// assembler: where everything stands: the lengths of tails, the addresses of fragments, the bytes of sections (unit.h).
#include <elf.h>

#include <algorithm>

#include <fmt/format.h>

#include "assembler/unit/assembly_unit.h"

namespace Atoll::assembler {

namespace {

/// s_nop 0, which has the same bits on every GPU.
constexpr uint32_t nop = 0xBF80'0000;

std::vector<uint8_t> leb128(int64_t value, bool is_signed) {
  std::vector<uint8_t> bytes;
  for (;;) {
    const auto low = static_cast<uint8_t>(value & 0x7F);
    value = is_signed ? value >> 7 : static_cast<int64_t>(static_cast<uint64_t>(value) >> 7);
    const bool last = is_signed ? (value == 0 && (low & 0x40) == 0) || (value == -1 && (low & 0x40) != 0) : value == 0;
    bytes.push_back(last ? low : low | 0x80);
    if (last) return bytes;
  }
}

}  // namespace

void append_integer(std::vector<uint8_t>& bytes, uint64_t value, unsigned size) {
  for (unsigned i = 0; i < size; ++i) bytes.push_back(i < 8 ? static_cast<uint8_t>(value >> (8 * i)) : 0);
}

void append_padding(std::vector<uint8_t>& bytes, const Tail& tail, uint64_t length) {
  const size_t end = bytes.size() + length;
  if (tail.nops || tail.kind == Tail::Kind::branch_nop) {
    bytes.resize(bytes.size() + length % 4);
    while (bytes.size() < end) append_integer(bytes, nop, 4);
  } else {
    while (bytes.size() + tail.fill_size <= end) append_integer(bytes, tail.fill, tail.fill_size);
    bytes.resize(end);
  }
}

std::optional<uint64_t> Unit::address_of(Section& section, uint32_t fragment) {
  std::vector<uint64_t>& addresses = section.addresses;
  if (addresses.empty()) addresses.push_back(0);
  while (addresses.size() <= fragment) {
    const size_t last = addresses.size() - 1;
    if (addresses[last] == UINT64_MAX) return std::nullopt;
    const Fragment& at = section.fragments[last];
    const uint64_t end = addresses[last] + at.bytes.size();
    addresses.push_back(UINT64_MAX);  // in the making: whoever asks meanwhile goes without
    const auto length = tail_length(section, at.tail, end);
    addresses.resize(last + 1);
    if (!length) return std::nullopt;
    addresses.push_back(std::min(end + *length, largest_address));
  }
  return addresses[fragment] == UINT64_MAX ? std::nullopt : std::optional(addresses[fragment]);
}

std::optional<uint64_t> Unit::tail_length(const Section& section, const Tail& tail, uint64_t address) {
  switch (tail.kind) {
    case Tail::Kind::none:
      return 0;
    case Tail::Kind::align: {
      const uint64_t length = -address & (tail.alignment - 1);
      return tail.max_bytes != 0 && length > tail.max_bytes ? 0 : length;
    }
    case Tail::Kind::fill: {
      const auto count = absolute(*tail.expression);
      if (!count) return std::nullopt;
      if (*count > static_cast<int64_t>(largest_address / 16)) return largest_address;  // elements have up to 8 bytes
      return *count < 0 ? 0 : static_cast<uint64_t>(*count) * tail.fill_size;
    }
    case Tail::Kind::org: {
      const auto value = evaluate(*tail.expression);
      if (!value || value->minus != nullptr) return std::nullopt;
      auto to = static_cast<uint64_t>(value->constant);
      if (value->plus != nullptr) {
        if (!value->plus->is_label() || value->plus->section != &section) return std::nullopt;
        const auto base = address_of(*value->plus);
        if (!base) return std::nullopt;
        to += *base;
      }
      if (to < address) {
        if (final_) source_.error(tail.place, fmt::format("invalid .org offset '{}' (at offset '{}')", to, address));
        return 0;
      }
      return std::min(to - address, largest_address);
    }
    case Tail::Kind::branch_nop:
      if (!branches_settled_) return std::nullopt;
      return tail.taken ? 4 : 0;
    case Tail::Kind::leb: {
      const auto value = absolute(*tail.expression);
      return value ? std::optional(leb128(*value, tail.is_signed).size()) : std::nullopt;
    }
  }
  return 0;
}

void Unit::fill_tail(Section& section, const Tail& tail, uint64_t length) {
  if (tail.kind != Tail::Kind::leb) return append_padding(section.bytes, tail, length);
  const auto value = leb128(absolute(*tail.expression).value_or(0), tail.is_signed);
  section.bytes.insert(section.bytes.end(), value.begin(), value.end());
}

void Unit::settle_branches() {
  branches_settled_ = true;
  for (Section& section : sections_) add_branch_nops(section);
}

void Unit::lay_out(Section& section) {
  const auto last = static_cast<uint32_t>(section.fragments.size() - 1);
  if (!address_of(section, last)) {
    const Fragment& stuck = section.fragments[section.addresses.size() - 1];
    source_.error(stuck.tail.place, "expected absolute expression");
    return;
  }
  section.size = section.addresses[last] + section.fragments[last].bytes.size();
  const uint64_t most = section.has_bytes() ? largest_content : largest_without_bytes;
  if (section.size > most) {
    const auto past = std::ranges::upper_bound(section.addresses, most);
    const auto fragment = std::max<ptrdiff_t>(past - section.addresses.begin(), 1) - 1;
    source_.error(section.fragments[static_cast<size_t>(fragment)].tail.place,
                  fmt::format("section '{}' grows to {} bytes here; the most is {} MiB", section.key.name,
                              past == section.addresses.end() ? section.size : *past, most >> 20));
    return;
  }
  if (!section.has_bytes()) {
    const bool any = std::ranges::any_of(section.fragments, [](const Fragment& fragment) {
      return std::ranges::any_of(fragment.bytes, [](uint8_t byte) { return byte != 0; });
    });
    if (any || !section.fixups.empty()) {
      source_.error({}, fmt::format("section '{}' has no bytes in the file and cannot have content", section.key.name));
    }
    return;
  }
  uint64_t emitted = 0;  // counted already
  for (const Fragment& fragment : section.fragments) emitted += fragment.bytes.size();
  take_room(section.size - std::min(emitted, section.size));
}

/// The bytes of a section that has its addresses.
void Unit::fill(Section& section) {
  if (!section.has_bytes()) return;
  const auto last = static_cast<uint32_t>(section.fragments.size() - 1);
  section.bytes.reserve(section.size);
  for (uint32_t i = 0; i <= last; ++i) {
    const Fragment& fragment = section.fragments[i];
    section.bytes.insert(section.bytes.end(), fragment.bytes.begin(), fragment.bytes.end());
    const uint64_t end = i == last ? section.size : section.addresses[i + 1];
    fill_tail(section, fragment.tail, end - section.bytes.size());
  }
}

/// Whether a branch goes 63 words ahead, or to where it is not known.
bool Unit::needs_nop(Section& section, const Fixup& branch) {
  constexpr int64_t astray = 63;
  const auto value = evaluate(*branch.expression);
  if (!value || value->plus == nullptr || value->minus != nullptr || !value->plus->is_label() ||
      value->plus->section != &section || value->plus->binding != STB_LOCAL) {
    return true;
  }
  const auto from = address_of(section, branch.fragment), to = address_of(*value->plus);
  if (!from || !to) return false;
  return (value->constant + static_cast<int64_t>(*to - *from - branch.offset) - 4) / 4 == astray;
}

/// Puts nops after branches that need them, until no further one does.
void Unit::add_branch_nops(Section& section) {
  for (bool again = true; again;) {
    again = false;
    for (const Fixup& fixup : section.fixups) {
      if (fixup.kind != Fixup::Kind::branch) continue;
      Tail& tail = section.fragments[fixup.fragment].tail;
      if (tail.kind != Tail::Kind::branch_nop || tail.taken || !needs_nop(section, fixup)) continue;
      tail.taken = again = true;
      section.addresses.resize(std::min<size_t>(section.addresses.size(), fixup.fragment + 1));
      ++epoch_;
    }
  }
}

}  // namespace Atoll::assembler
