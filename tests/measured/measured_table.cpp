#include "measured/measured_table.h"

#include <charconv>
#include <optional>

#include "target/processor.h"

namespace Atoll::test {

namespace {

using Kind = MeasuredRegister::Kind;
using support::ErrorKind;
using support::fail;

constexpr std::string_view blanks = " \t\r";

std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(blanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

/// The parts of a text between separators, trimmed.
std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (size_t begin = 0;;) {
    const size_t end = text.find(separator, begin);
    parts.push_back(trimmed(text.substr(begin, end - begin)));
    if (end == std::string_view::npos) return parts;
    begin = end + 1;
  }
}

/// The parts of a line between bars with a blank on both sides: |v1| in code is no such bar.
std::vector<std::string_view> columns(std::string_view line) {
  const auto is_blank_at = [&](size_t i) { return i >= line.size() || blanks.contains(line[i]); };
  std::vector<std::string_view> parts;
  size_t begin = 0;
  for (size_t i = 1; i < line.size(); ++i) {
    if (line[i] != '|' || !is_blank_at(i - 1) || !is_blank_at(i + 1)) continue;
    parts.push_back(trimmed(line.substr(begin, i - begin)));
    begin = i + 1;
  }
  parts.push_back(trimmed(line.substr(begin)));
  return parts;
}

/// The parts of a text between blanks.
std::vector<std::string_view> words(std::string_view text) {
  std::vector<std::string_view> all;
  for (const std::string_view part : split(text, ' ')) {
    if (!part.empty()) all.push_back(part);
  }
  return all;
}

/// A decimal number, or a hexadecimal one after 0x.
std::optional<uint64_t> number_of(std::string_view text) {
  int base = 10;
  if (text.starts_with("0x")) {
    text.remove_prefix(2);
    base = 16;
  }
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// "v3", "v3[5]", "s4", "vcc" and so on.
bool read_place(std::string_view text, unsigned wave_size, MeasuredRegister& to) {
  constexpr std::pair<std::string_view, Kind> named[] = {
      {"vcc", Kind::vcc}, {"scc", Kind::scc}, {"exec", Kind::exec}, {"m0", Kind::m0}, {"mode", Kind::mode}};
  for (const auto& [name, kind] : named) {
    if (text != name) continue;
    to.kind = kind;
    return true;
  }
  if (text.empty() || (text[0] != 'v' && text[0] != 's')) return false;
  to.kind = text[0] == 'v' ? Kind::vgpr : Kind::sgpr;
  text.remove_prefix(1);
  if (text.ends_with(']') && to.kind == Kind::vgpr) {
    const size_t bracket = text.find('[');
    if (bracket == std::string_view::npos) return false;
    const auto lane = number_of(text.substr(bracket + 1, text.size() - bracket - 2));
    if (!lane || *lane >= wave_size) return false;
    to.lane = static_cast<int>(*lane);
    text = text.substr(0, bracket);
  }
  const auto number = number_of(text);
  // The runner of the code needs s100 and s101.
  if (!number || *number >= (to.kind == Kind::vgpr ? 256 : 100)) return false;
  to.number = static_cast<uint16_t>(*number);
  return true;
}

support::Result<MeasuredRegister> read_register(std::string_view text, unsigned wave_size, bool is_result) {
  MeasuredRegister result;
  result.text = text;
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos) return fail(ErrorKind::invalid_file, "'{}' has no value", text);
  if (!read_place(text.substr(0, equals), wave_size, result)) {
    return fail(ErrorKind::invalid_file, "'{}' is not a register", text.substr(0, equals));
  }
  std::string_view value = text.substr(equals + 1);
  const bool is_vgpr = result.kind == Kind::vgpr;
  if (value == "lane" && is_vgpr && !is_result) {
    result.is_lane_number = true;
    return result;
  }
  if (value == "nan" && is_vgpr && is_result) {
    result.is_nan = true;
    return result;
  }
  if (const size_t tilde = value.find('~'); tilde != std::string_view::npos && is_vgpr && is_result) {
    const auto tolerance = number_of(value.substr(tilde + 1));
    if (!tolerance || *tolerance > 64) return fail(ErrorKind::invalid_file, "'{}' has a bad tolerance", text);
    result.tolerance = static_cast<uint32_t>(*tolerance);
    value = value.substr(0, tilde);
  }
  const auto number = number_of(value);
  const bool is_mask = result.kind == Kind::vcc || result.kind == Kind::exec;
  const uint64_t most = result.kind == Kind::scc ? 1 : is_mask && wave_size == 64 ? UINT64_MAX : UINT32_MAX;
  if (!number || *number > most) return fail(ErrorKind::invalid_file, "'{}' has a bad value", text);
  result.value = *number;
  return result;
}

/// A line that begins with @; `to` receives what it says.
support::Result<void> read_place_of_measurement(std::string_view line, Measurement& to) {
  const std::vector<std::string_view> all = words(line.substr(1));
  if (all.size() < 4) return fail(ErrorKind::invalid_file, "@ needs a GPU, a wave size, a mode and a source");
  if (target::find_processor(all[0]) == nullptr) return fail(ErrorKind::invalid_file, "there is no GPU '{}'", all[0]);
  to.gpu = all[0];
  const unsigned lanes = all[1] == "wave32" ? 32 : all[1] == "wave64" ? 64 : 0;
  if (lanes == 0 || !target::find_processor(all[0])->has_wave_size(lanes)) {
    return fail(ErrorKind::invalid_file, "'{}' is not a wave size of {}", all[1], all[0]);
  }
  to.wave_size = lanes;
  const auto mode = all[2].starts_with("mode=") ? number_of(all[2].substr(5)) : std::nullopt;
  if (!mode || *mode > UINT32_MAX) return fail(ErrorKind::invalid_file, "'{}' is not a mode", all[2]);
  to.mode = static_cast<uint32_t>(*mode);
  to.source = trimmed(line.substr(static_cast<size_t>(all[3].data() - line.data())));
  return {};
}

bool is_name(std::string_view text) {
  if (text.empty()) return false;
  for (const char c : text) {
    if (c != '_' && (c < '0' || c > '9') && (c < 'a' || c > 'z')) return false;
  }
  return true;
}

support::Result<Measurement> read_measurement(std::string_view line, const Measurement& place) {
  if (place.gpu.empty()) return fail(ErrorKind::invalid_file, "no line with @ says where this was measured");
  const std::vector<std::string_view> parts = columns(line);
  if (parts.size() != 4) {
    return fail(ErrorKind::invalid_file, "{} parts instead of NAME | INPUTS | CODE | RESULTS", parts.size());
  }
  Measurement result = place;
  if (!is_name(parts[0])) {
    return fail(ErrorKind::invalid_file, "the name '{}' does not consist of a-z, 0-9 and _", parts[0]);
  }
  result.name = parts[0];
  for (const std::string_view word : words(parts[1])) {
    auto input = read_register(word, result.wave_size, /*is_result=*/false);
    if (!input) return std::unexpected(input.error());
    result.inputs.push_back(*std::move(input));
  }
  for (const std::string_view instruction : split(parts[2], ';')) {
    if (instruction.empty()) return fail(ErrorKind::invalid_file, "an instruction is missing");
    result.code += std::string(instruction) + '\n';
  }
  for (const std::string_view word : words(parts[3])) {
    auto expected = read_register(word, result.wave_size, /*is_result=*/true);
    if (!expected) return std::unexpected(expected.error());
    result.results.push_back(*std::move(expected));
  }
  if (result.results.empty()) return fail(ErrorKind::invalid_file, "there is no result");
  return result;
}

}  // namespace

support::Result<std::vector<Measurement>> read_measurements(std::string_view text) {
  std::vector<Measurement> all;
  Measurement place;
  unsigned number = 0;
  for (const std::string_view line : split(text, '\n')) {
    ++number;
    const auto wrong = [&](const support::Error& error) {
      return fail(ErrorKind::invalid_file, "line {}: {}", number, error.message);
    };
    if (line.empty() || line.starts_with('#')) continue;
    if (line.starts_with('@')) {
      place = {};
      if (auto read = read_place_of_measurement(line, place); !read) return wrong(read.error());
      continue;
    }
    auto measurement = read_measurement(line, place);
    if (!measurement) return wrong(measurement.error());
    measurement->line = number;
    all.push_back(*std::move(measurement));
  }
  return all;
}

}  // namespace Atoll::test
