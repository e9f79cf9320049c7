// hsa: masks of compute units, and HSA_CU_MASK (ROCR-Runtime, core/util/flag.cpp).
#include "hsa/compute_unit_mask.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <functional>
#include <optional>
#include <ranges>
#include <string>

#include "target/topology.h"

namespace Atoll::hsa {

namespace {

std::optional<uint32_t> read_number(std::string_view text, int base = 10) {
  uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

/// The bits of "0-7,12" below `most`; nothing when it is not written so or has none.
ComputeUnitMask read_list(std::string_view text, uint32_t most) {
  ComputeUnitMask mask((most + 31) / 32);
  bool any = false;
  for (const auto& part : std::views::split(text, ',')) {
    const std::string_view range(part.begin(), part.end());
    const size_t dash = range.find('-');
    const auto first = read_number(range.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : read_number(range.substr(dash + 1));
    if (!first || !last || *first > *last) return {};
    for (uint64_t bit = *first; bit <= *last && bit < most; ++bit) {
      mask[bit / 32] |= 1U << bit % 32;
      any = true;
    }
  }
  return any ? mask : ComputeUnitMask{};
}

/// The bits of "10ff" below `most`, likewise.
ComputeUnitMask read_hexadecimal(std::string_view text, uint32_t most) {
  ComputeUnitMask mask;
  while (!text.empty()) {
    const size_t digits = std::min<size_t>(text.size(), 8);
    const auto word = read_number(text.substr(text.size() - digits), 16);
    if (!word) return {};
    mask.push_back(*word);
    text.remove_suffix(digits);
  }
  const ComputeUnitMask all = all_compute_units(most);
  mask.resize(all.size());
  for (size_t i = 0; i < mask.size(); ++i) mask[i] &= all[i];
  return std::ranges::any_of(mask, std::identity{}) ? mask : ComputeUnitMask{};
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

ComputeUnitMask read_compute_unit_mask(std::string_view text, uint32_t gpu, uint32_t units) {
  std::string packed;
  for (const char c : text)
    if (c != ' ' && (c < '\t' || c > '\r')) packed += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  for (const auto& part : std::views::split(std::string_view(packed), ';')) {
    const std::string_view set(part.begin(), part.end());
    const size_t colon = set.find(':');
    if (colon == std::string_view::npos) return {};
    const std::string_view list = set.substr(colon + 1);
    ComputeUnitMask mask = list.starts_with("0x") ? read_hexadecimal(list.substr(2), units) : read_list(list, units);
    if (mask.empty()) return {};
    const ComputeUnitMask gpus = read_list(set.substr(0, colon), target::most_gpus);
    if (!gpus.empty() && (gpus[gpu / 32] >> gpu % 32 & 1) != 0) return mask;
  }
  return {};
}

}  // namespace Atoll::hsa
