// engine/compiled: reading the settings for bisection (translation_aids.h).
#include "engine/compiled/translation_aids.h"

#include <charconv>
#include <string_view>

#include "support/environment.h"

namespace Atoll::engine {

namespace {

support::Result<uint64_t> address_of(support::Setting setting) {
  const char* value = support::environment_variable(setting);
  if (value == nullptr) return TranslationAids::nowhere;
  std::string_view text = value;
  int base = 10;
  if (text.starts_with("0x")) {
    text.remove_prefix(2);
    base = 16;
  }
  uint64_t address = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), address, base);
  if (error != std::errc{} || end != text.data() + text.size())
    return support::fail(support::ErrorKind::invalid_argument, "{}={}: not an address", support::row_of(setting).name,
                         value);
  return address;
}

}  // namespace

support::Result<TranslationAids> TranslationAids::from_environment() {
  const auto limit = address_of(support::Setting::compile_limit);
  if (!limit) return std::unexpected(limit.error());
  const auto swapped = address_of(support::Setting::compile_swapped);
  if (!swapped) return std::unexpected(swapped.error());
  return TranslationAids{.limit = *limit, .swapped = *swapped};
}

TranslationAids TranslationAids::relative_to(uint64_t base) const {
  const auto moved = [base](uint64_t address) {
    if (address == nowhere) return nowhere;
    return address < base ? 0 : address - base;
  };
  return {.limit = moved(limit), .swapped = swapped < base ? nowhere : moved(swapped)};
}

TranslationAids TranslationAids::loaded_at(uint64_t base) const {
  const auto moved = [base](uint64_t address) { return address == nowhere ? nowhere : address + base; };
  return {.limit = moved(limit), .swapped = moved(swapped)};
}

}  // namespace Atoll::engine
