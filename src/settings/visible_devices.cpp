// settings: reading ROCR_VISIBLE_DEVICES. See visible_devices.h.
#include "settings/visible_devices.h"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <optional>
#include <ranges>
#include <string>

#include <fmt/format.h>

#include "target/topology.h"

namespace Atoll::settings {

namespace {

/// Lower case and without blanks at either end.
std::string plain(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t"), end = text.find_last_not_of(" \t");
  std::string result(begin == std::string_view::npos ? "" : text.substr(begin, end - begin + 1));
  std::ranges::transform(result, result.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c; });
  return result;
}

/// The GPU whose UUID begins so; nothing when there is none, or more than one.
std::optional<unsigned> find_uuid(std::string_view begin, std::span<const target::GpuModel> gpus) {
  std::optional<unsigned> found;
  for (unsigned gpu = 0; gpu < gpus.size(); ++gpu) {
    if (!plain(uuid_of(gpus[gpu].product, gpu)).starts_with(begin)) continue;
    if (found) return std::nullopt;
    found = gpu;
  }
  return found;
}

std::optional<unsigned> find_device(std::string_view text, std::span<const target::GpuModel> gpus) {
  constexpr std::string_view prefix = "gpu-";
  if (text.starts_with(prefix)) return text.size() > prefix.size() ? find_uuid(text, gpus) : std::nullopt;
  unsigned number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number >= gpus.size()) return std::nullopt;
  return number;
}

}  // namespace

std::string uuid_of(const target::Product& product, unsigned gpu) {
  return fmt::format("GPU-{:016x}", target::unique_id_of(product, gpu));
}

std::vector<unsigned> all_devices(size_t count) {
  std::vector<unsigned> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0U);
  return numbers;
}

std::vector<unsigned> visible_devices(std::string_view value, std::span<const target::GpuModel> gpus) {
  std::vector<unsigned> numbers;
  for (const auto& part : std::views::split(value, ',')) {
    const auto found = find_device(plain(std::string_view(part.begin(), part.end())), gpus);
    if (!found || std::ranges::find(numbers, *found) != numbers.end()) break;
    numbers.push_back(*found);
  }
  return numbers;
}

}  // namespace Atoll::settings
