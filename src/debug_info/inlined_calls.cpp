// debug_info: the walk over the entries of one unit of .debug_info.
#include "debug_info/inlined_calls.h"

#include <algorithm>
#include <map>
#include <optional>

#include "debug_info/dwarf_reader.h"
#include "debug_info/line_table.h"

namespace Atoll::debug_info {

namespace {

using dwarf::Bytes;
using dwarf::part;
using dwarf::read_at;
using dwarf::read_value;
using dwarf::Reader;
using dwarf::section;

/// DWARF constants (DWARF 5, sections 7.5.3, 7.5.4 and 7.25).
enum Tag : uint64_t { inlined_subroutine = 0x1d };
enum Attribute : uint64_t {
  stmt_list = 0x10,
  low_pc = 0x11,
  high_pc = 0x12,
  ranges = 0x55,
  call_column = 0x57,
  call_file = 0x58,
  call_line = 0x59,
  addr_base = 0x73,
  rnglists_base = 0x74,
};
enum RangeEntry : uint8_t {
  end_of_list,
  base_addressx,
  startx_endx,
  startx_length,
  offset_pair,
  base_address,
  start_end,
  start_length
};

struct Sections {
  Bytes abbreviations, addresses, ranges, range_lists;
};

struct AttributeForm {
  uint64_t attribute, form;
  int64_t constant;  ///< of implicit_const
};
struct Abbreviation {
  uint64_t tag = 0;
  std::vector<AttributeForm> attributes;
};
using Abbreviations = std::map<uint64_t, Abbreviation>;

Abbreviations read_abbreviations(Bytes bytes) {
  Abbreviations all;
  Reader reader(bytes);
  while (!reader.at_end()) {
    const uint64_t code = reader.unsigned_leb();
    if (code == 0) break;
    Abbreviation& one = all[code];
    one.tag = reader.unsigned_leb();
    reader.skip(1);  // whether it has children: the entries are gone through flat
    while (!reader.at_end()) {
      AttributeForm form{.attribute = reader.unsigned_leb(), .form = reader.unsigned_leb(), .constant = 0};
      if (form.form == dwarf::form_implicit_const) form.constant = reader.signed_leb();
      if (form.attribute == 0 && form.form == 0) break;
      one.attributes.push_back(form);
    }
  }
  return all;
}

/// What an entry's attributes say, as far as it is of use here.
struct Entry {
  std::optional<uint64_t> low, high, ranges, line_table, addresses, range_lists;
  bool high_is_length = false, low_is_index = false, ranges_is_index = false;
  uint64_t file = 0, line = 0, column = 0;
};

/// A unit of .debug_info.
struct UnitFacts {
  uint16_t version = 0;
  bool dwarf64 = false;
  uint64_t base = 0, address_base = 0, range_list_base = 0;
  std::optional<uint64_t> line_table;
};

bool is_address_index(uint64_t form) {
  return form == dwarf::form_addrx || (form >= dwarf::form_addrx1 && form <= dwarf::form_addrx4);
}

bool read_entry(Reader& reader, const Abbreviation& abbreviation, const UnitFacts& unit, Entry& entry) {
  for (const AttributeForm& each : abbreviation.attributes) {
    uint64_t value = static_cast<uint64_t>(each.constant);
    if (each.form != dwarf::form_implicit_const && !read_value(reader, each.form, unit.dwarf64, value)) return false;
    switch (each.attribute) {
      case low_pc:
        entry.low = value;
        entry.low_is_index = is_address_index(each.form);
        break;
      case high_pc:
        entry.high = value;
        entry.high_is_length = each.form != dwarf::form_addr && !is_address_index(each.form);
        break;
      case ranges:
        entry.ranges = value;
        entry.ranges_is_index = each.form == dwarf::form_rnglistx;
        break;
      case stmt_list:
        entry.line_table = value;
        break;
      case addr_base:
        entry.addresses = value;
        break;
      case rnglists_base:
        entry.range_lists = value;
        break;
      case call_file:
        entry.file = value;
        break;
      case call_line:
        entry.line = value;
        break;
      case call_column:
        entry.column = value;
        break;
      default:
        break;
    }
  }
  return reader.ok();
}

uint64_t address_at(const UnitFacts& unit, const Sections& sections, uint64_t index) {
  uint64_t address = 0;
  read_at(sections.addresses, unit.address_base + index * 8, address);
  return address;
}

bool in_range_list(const UnitFacts& unit, const Sections& sections, const Entry& entry, uint64_t address) {
  uint64_t offset = *entry.ranges;
  if (entry.ranges_is_index) {
    uint32_t relative = 0;
    if (!read_at(sections.range_lists, unit.range_list_base + offset * 4, relative)) return false;
    offset = unit.range_list_base + relative;
  }
  Reader list(part(sections.range_lists, offset, sections.range_lists.size()));
  uint64_t base = unit.base;
  const auto indexed = [&] { return address_at(unit, sections, list.unsigned_leb()); };
  while (!list.at_end()) {
    uint64_t begin = 0, end = 0;
    switch (list.read<uint8_t>()) {
      case base_addressx:
        base = indexed();
        continue;
      case startx_endx:
        begin = indexed();
        end = indexed();
        break;
      case startx_length:
        begin = indexed();
        end = begin + list.unsigned_leb();
        break;
      case offset_pair:
        begin = base + list.unsigned_leb();
        end = base + list.unsigned_leb();
        break;
      case base_address:
        base = list.read<uint64_t>();
        continue;
      case start_end:
        begin = list.read<uint64_t>();
        end = list.read<uint64_t>();
        break;
      case start_length:
        begin = list.read<uint64_t>();
        end = begin + list.unsigned_leb();
        break;
      default:
        return false;
    }
    if (address >= begin && address < end) return true;
  }
  return false;
}

/// .debug_ranges of version 4: pairs of addresses.
bool in_ranges(const UnitFacts& unit, const Sections& sections, const Entry& entry, uint64_t address) {
  Reader list(part(sections.ranges, *entry.ranges, sections.ranges.size()));
  uint64_t base = unit.base;
  while (!list.at_end()) {
    const auto begin = list.read<uint64_t>(), end = list.read<uint64_t>();
    if (begin == 0 && end == 0) return false;
    if (begin == ~uint64_t{0}) {
      base = end;
    } else if (address >= base + begin && address < base + end) {
      return true;
    }
  }
  return false;
}

bool holds(const UnitFacts& unit, const Sections& sections, const Entry& entry, uint64_t address) {
  if (entry.ranges) {
    return unit.version >= 5 ? in_range_list(unit, sections, entry, address)
                             : in_ranges(unit, sections, entry, address);
  }
  if (!entry.low || !entry.high) return false;
  const uint64_t begin = entry.low_is_index ? address_at(unit, sections, *entry.low) : *entry.low;
  const uint64_t end = entry.high_is_length ? begin + *entry.high : *entry.high;
  return address >= begin && address < end;
}

/// The calls in one unit, the outermost first.
void calls_in_unit(Bytes file, Reader& reader, UnitFacts& unit, const Sections& sections, uint64_t abbreviations_at,
                   uint64_t address, std::vector<std::string>& calls) {
  const Abbreviations abbreviations =
      read_abbreviations(part(sections.abbreviations, abbreviations_at, sections.abbreviations.size()));
  bool is_root = true;
  while (!reader.at_end()) {
    const uint64_t code = reader.unsigned_leb();
    if (code == 0) continue;
    const auto abbreviation = abbreviations.find(code);
    Entry entry;
    if (abbreviation == abbreviations.end() || !read_entry(reader, abbreviation->second, unit, entry)) return;
    if (is_root) {
      is_root = false;
      unit.address_base = entry.addresses.value_or(8);
      unit.range_list_base = entry.range_lists.value_or(12);
      unit.line_table = entry.line_table;
      if (entry.low) unit.base = entry.low_is_index ? address_at(unit, sections, *entry.low) : *entry.low;
      if (!holds(unit, sections, entry, address)) return;
    } else if (abbreviation->second.tag == inlined_subroutine && entry.line != 0 && unit.line_table &&
               holds(unit, sections, entry, address)) {
      calls.push_back(source_place(file, *unit.line_table, entry.file, entry.line, entry.column));
    }
  }
}

}  // namespace

bool is_system_place(std::string_view place) {
  constexpr std::string_view marks[] = {"/usr/include/", "/usr/lib/", "/opt/rocm", "/lib/clang/", "/include/hip/"};
  return std::ranges::any_of(marks, [&](std::string_view mark) { return place.find(mark) != std::string_view::npos; });
}

std::vector<std::string> inlined_calls_at(Bytes file, uint64_t address) {
  const Bytes info = section(file, ".debug_info");
  const Sections sections{.abbreviations = section(file, ".debug_abbrev"),
                          .addresses = section(file, ".debug_addr"),
                          .ranges = section(file, ".debug_ranges"),
                          .range_lists = section(file, ".debug_rnglists")};
  std::vector<std::string> calls;
  uint64_t at = 0;
  while (at < info.size() && calls.empty()) {
    const dwarf::Unit bytes = dwarf::first_unit(part(info, at, info.size()));
    at += bytes.size;
    UnitFacts unit;
    unit.dwarf64 = bytes.dwarf64;
    Reader reader(bytes.content);
    unit.version = reader.read<uint16_t>();
    if (unit.version != 4 && unit.version != 5) continue;
    uint8_t type = 1, address_size = 8;  // a unit that is compiled
    uint64_t abbreviations_at = 0;
    if (unit.version >= 5) {
      type = reader.read<uint8_t>();
      address_size = reader.read<uint8_t>();
      abbreviations_at = reader.sized(unit.dwarf64);
    } else {
      abbreviations_at = reader.sized(unit.dwarf64);
      address_size = reader.read<uint8_t>();
    }
    if (type == 1 && address_size == 8) calls_in_unit(file, reader, unit, sections, abbreviations_at, address, calls);
  }
  std::ranges::reverse(calls);
  return calls;
}

std::string user_line_at(Bytes file, uint64_t address) {
  std::string line = source_line_at(file, address);
  if (!is_system_place(line)) return line;
  for (std::string& call : inlined_calls_at(file, address)) {
    if (!call.empty() && !is_system_place(call)) return std::move(call);
  }
  return line;
}

}  // namespace Atoll::debug_info
