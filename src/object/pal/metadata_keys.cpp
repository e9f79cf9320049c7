// object: the table of PAL metadata keys.
#include "object/pal/metadata_keys.h"

#include <algorithm>
#include <iterator>

namespace Atoll::object {

namespace {

constexpr PalKey keys[] = {
#define KEY(map, key, type, value_map) {PalMap::map, key, PalType::type, PalMap::value_map},
#include "object/pal/metadata_keys.inc"
#undef KEY
};

}  // namespace

const PalKey* find_pal_key(PalMap map, std::string_view key) {
  const auto found = std::ranges::find_if(keys, [&](const PalKey& each) { return each.map == map && each.key == key; });
  return found == std::end(keys) ? nullptr : found;
}

std::string_view type_name(PalType type) {
  switch (type) {
    case PalType::integer:
      return "a 32-bit integer";
    case PalType::boolean:
      return "a boolean";
    case PalType::scalar:
      return "a scalar";
    case PalType::text:
      return "text";
    case PalType::binary:
      return "binary data";
    case PalType::integers:
      return "a list of integers";
    case PalType::texts:
      return "a list of texts";
    case PalType::map:
    case PalType::named_maps:
      return "a map";
    case PalType::maps:
      return "a list of maps";
    case PalType::registers:
      return "a map of 32-bit register numbers to 32-bit values";
  }
  return {};
}

}  // namespace Atoll::object
