// debug_info: the size and value of each form, and the header of a unit.
#include "debug_info/dwarf_reader.h"

namespace Atoll::debug_info::dwarf {

bool read_value(Reader& reader, uint64_t form, bool dwarf64, uint64_t& value) {
  value = 0;
  switch (form) {
    case form_addr:
    case form_data8:
    case form_ref8:
    case form_ref_sig8:
    case form_ref_sup8:
      value = reader.read<uint64_t>();
      return true;
    case form_data4:
    case form_ref4:
    case form_ref_sup4:
    case form_strx4:
    case form_addrx4:
      value = reader.read<uint32_t>();
      return true;
    case form_strx3:
    case form_addrx3:
      value = reader.read<uint16_t>();
      value |= uint64_t{reader.read<uint8_t>()} << 16;
      return true;
    case form_data2:
    case form_ref2:
    case form_strx2:
    case form_addrx2:
      value = reader.read<uint16_t>();
      return true;
    case form_data1:
    case form_ref1:
    case form_flag:
    case form_strx1:
    case form_addrx1:
      value = reader.read<uint8_t>();
      return true;
    case form_udata:
    case form_ref_udata:
    case form_strx:
    case form_addrx:
    case form_loclistx:
    case form_rnglistx:
      value = reader.unsigned_leb();
      return true;
    case form_sdata:
      value = static_cast<uint64_t>(reader.signed_leb());
      return true;
    case form_strp:
    case form_strp_sup:
    case form_line_strp:
    case form_sec_offset:
    case form_ref_addr:
      value = reader.sized(dwarf64);
      return true;
    case form_string:
      reader.text();
      return true;
    case form_block:
    case form_exprloc:
      reader.skip(reader.unsigned_leb());
      return true;
    case form_block1:
      reader.skip(reader.read<uint8_t>());
      return true;
    case form_block2:
      reader.skip(reader.read<uint16_t>());
      return true;
    case form_block4:
      reader.skip(reader.read<uint32_t>());
      return true;
    case form_data16:
      reader.skip(16);
      return true;
    case form_flag_present:
      value = 1;
      return true;
    case form_indirect: {
      const uint64_t actual = reader.unsigned_leb();
      return actual != form_indirect && actual != form_implicit_const && read_value(reader, actual, dwarf64, value);
    }
    default:
      return false;
  }
}

Unit first_unit(Bytes section) {
  Reader prefix(section);
  uint64_t length = prefix.read<uint32_t>();
  Unit unit{.content = {}, .dwarf64 = length == 0xFFFF'FFFF};
  if (unit.dwarf64) length = prefix.read<uint64_t>();
  unit.content = part(section, prefix.offset(), length);
  unit.size = prefix.offset() + unit.content.size();
  if (!prefix.ok() || unit.content.size() != length) unit.size = section.size();
  return unit;
}

}  // namespace Atoll::debug_info::dwarf
