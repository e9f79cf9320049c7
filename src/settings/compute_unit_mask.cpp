// settings: masks of compute units, and HSA_CU_MASK (ROCR-Runtime, core/util/flag.cpp).
#include "settings/compute_unit_mask.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <functional>
#include <optional>
#include <ranges>
#include <string>
#include <utility>

namespace Atoll::settings {

namespace {

std::optional<uint32_t> read_number(std::string_view text, int base = 10) {
  uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

/// The ranges of "0-7,12"; empty when the text has another form.
std::vector<std::pair<uint32_t, uint32_t>> read_ranges(std::string_view text) {
  std::vector<std::pair<uint32_t, uint32_t>> ranges;
  for (const auto& part : std::views::split(text, ',')) {
    const std::string_view range(part.begin(), part.end());
    const size_t dash = range.find('-');
    const auto first = read_number(range.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : read_number(range.substr(dash + 1));
    if (!first || !last || *first > *last) return {};
    ranges.emplace_back(*first, *last);
  }
  return ranges;
}

/// The bits of "0-7,12" below `units`; nothing when the text has another form.
std::optional<ComputeUnitMask> read_list(std::string_view text, uint32_t units) {
  const auto ranges = read_ranges(text);
  if (ranges.empty()) return std::nullopt;
  ComputeUnitMask mask((units + 31) / 32);
  for (const auto& [first, last] : ranges)
    for (uint64_t bit = first; bit <= last && bit < units; ++bit) mask[bit / 32] |= 1U << bit % 32;
  return mask;
}

/// The bits of "10ff" below `units`, likewise.
std::optional<ComputeUnitMask> read_hexadecimal(std::string_view text, uint32_t units) {
  if (text.empty()) return std::nullopt;
  ComputeUnitMask mask;
  while (!text.empty()) {
    const size_t digits = std::min<size_t>(text.size(), 8);
    const auto word = read_number(text.substr(text.size() - digits), 16);
    if (!word) return std::nullopt;
    mask.push_back(*word);
    text.remove_suffix(digits);
  }
  const ComputeUnitMask all = all_compute_units(units);
  mask.resize(all.size());
  for (size_t i = 0; i < mask.size(); ++i) mask[i] &= all[i];
  return mask;
}

}  // namespace

ComputeUnitMask all_compute_units(uint32_t units) {
  ComputeUnitMask mask(units / 32, ~0U);
  if (units % 32 != 0) mask.push_back((1U << units % 32) - 1);
  return mask;
}

std::vector<uint16_t> numbers_of(const ComputeUnitMask& mask) {
  std::vector<uint16_t> numbers;
  for (size_t word = 0; word < mask.size(); ++word)
    for (uint32_t rest = mask[word]; rest != 0; rest &= rest - 1)
      numbers.push_back(static_cast<uint16_t>(word * 32 + static_cast<size_t>(std::countr_zero(rest))));
  return numbers;
}

support::Result<ComputeUnitMask> read_compute_unit_mask(std::string_view text, uint32_t gpu, uint32_t units) {
  std::string packed;
  for (const char c : text)
    if (c != ' ' && (c < '\t' || c > '\r')) packed += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  std::optional<ComputeUnitMask> found;
  for (const auto& part : std::views::split(std::string_view(packed), ';')) {
    const std::string_view set(part.begin(), part.end());
    const size_t colon = set.find(':');
    const std::string_view list = colon == std::string_view::npos ? "" : set.substr(colon + 1);
    const auto mask = list.starts_with("0x") ? read_hexadecimal(list.substr(2), units) : read_list(list, units);
    const auto gpus = read_ranges(set.substr(0, colon));
    if (!mask || gpus.empty())
      return support::fail(support::ErrorKind::invalid_argument,
                           "'{}' is not a set of compute units; write GPUS:UNITS, such as 0:0-15 or 0-1:0xffff", set);
    const auto has_gpu = [&](const auto& range) { return range.first <= gpu && gpu <= range.second; };
    if (!found && std::ranges::any_of(gpus, has_gpu)) found = mask;
  }
  if (found && std::ranges::none_of(*found, std::identity{}))
    return support::fail(support::ErrorKind::invalid_argument, "selects none of the {} compute units of GPU {}", units,
                         gpu);
  return found.value_or(ComputeUnitMask{});
}

}  // namespace Atoll::settings
