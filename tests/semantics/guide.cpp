// Tests: what the comparisons with the vendor's ISA guides share (guide.h).
#include "semantics/guide.h"

#include <algorithm>
#include <bit>
#include <cctype>
#include <cmath>

#include <yaml-cpp/yaml.h>

namespace Atoll::semantics::test {

using isa::DataType;
using isa::Opcode;

Guide::Guide(const std::string& path) {
  const YAML::Node all = YAML::LoadFile(path);
  for (const auto& encoding : all) {
    for (const auto& instruction : encoding.second) {
      std::string name = instruction.first.as<std::string>();
      const bool is_short = name.ends_with("_E32");
      if (is_short || name.ends_with("_E64")) name.resize(name.size() - 4);
      std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
      // VOP3's text says which register a lane mask is in.
      if (is_short && lines_.contains(name)) continue;
      lines_[name] = instruction.second["pseudocode"].as<std::vector<std::string>>();
    }
  }
}

pseudocode::Tree Guide::tree(const std::string& name) {
  const auto lines = lines_.find(name);
  if (lines == lines_.end()) return nullptr;
  auto& tree = trees_[name];
  if (tree == nullptr) tree = pseudocode::parse(lines->second);
  return tree;
}

std::string name_in(const Guide& guide, Opcode opcode, const isa::OpcodeMap& own) {
  if (guide.has(std::string(own.name(opcode)))) return std::string(own.name(opcode));
  for (const char* processor : {"gfx1150", "gfx1200", "gfx950"}) {
    const std::string name(isa::opcode_map_of(*target::find_processor(processor)).name(opcode));
    if (guide.has(name)) return name;
  }
  return std::string(own.name(opcode));
}

namespace {

Values integer_edges(unsigned width) {
  Values values = {0, 1, 2, 3, 4, 7, 15, 16, 31, 32, 63, 64, 100, 255};
  for (unsigned bit = 7; bit < width; bit += 8) {
    const uint64_t power = uint64_t{1} << bit;
    for (const uint64_t value : {power - 1, power, power + 1}) values.push_back(value);
  }
  const size_t count = values.size();
  for (size_t i = 0; i < count; ++i) values.push_back(~values[i] + 1);
  for (uint64_t& value : values) value &= width == 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1;
  return values;
}

bool is_floating(DataType type) { return type == DataType::f16 || type == DataType::f32 || type == DataType::f64; }

}  // namespace

unsigned width_of(DataType type) {
  if (isa::is_half(type)) return 16;
  return isa::words_of(type) >= 2 ? 64 : 32;
}

Source::Source(DataType type, uint64_t seed) : type_(type), random_(seed) {
  const unsigned width = width_of(type);
  if (isa::is_packed(type) && width == 32) {
    edges_ = type == DataType::v2f16 ? edges16() : integer_edges(16);
  } else if (type == DataType::f16) {
    edges_ = edges16();
  } else if (type == DataType::f32) {
    edges_ = edges32();
  } else if (type == DataType::f64) {
    edges_ = edges64();
  } else {
    edges_ = integer_edges(width);
  }
}

uint64_t Source::any() {
  if (random_() % 2 == 0) return edge(random_());
  if (is_floating(type_)) return whole(random_bits(width_of(type_), 2, random_())[1]);
  return whole(random_());
}

uint64_t Source::whole(uint64_t value) {
  const unsigned width = width_of(type_);
  if (width == 64) return value;
  if (isa::is_half(type_)) return (value & 0xFFFF) | (random_() & 0xFFFF) << 16;
  if (isa::is_packed(type_)) return (value & 0xFFFF) | edges_[random_() % edges_.size()] << 16;
  return value & 0xFFFFFFFF;
}

namespace {

bool is_nan(uint64_t bits, unsigned width) {
  if (width == 64) return std::isnan(std::bit_cast<double>(bits));
  if (width == 32) return std::isnan(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  return (bits & 0x7FFF) > 0x7C00;
}

}  // namespace

bool agree(uint64_t expected, uint64_t got, DataType type, bool any_nan) {
  if (expected == got) return true;
  if (!any_nan) return false;
  if (type == DataType::v2f32) {
    const auto same = [](uint64_t a, uint64_t b) { return a == b || (is_nan(a, 32) && is_nan(b, 32)); };
    return same(expected & 0xFFFFFFFF, got & 0xFFFFFFFF) && same(expected >> 32, got >> 32);
  }
  if (isa::is_packed(type) || isa::is_half(type)) {
    const auto same = [](uint64_t a, uint64_t b) { return a == b || (is_nan(a, 16) && is_nan(b, 16)); };
    return same(expected & 0xFFFF, got & 0xFFFF) && same(expected >> 16, got >> 16);
  }
  const unsigned width = width_of(type);
  return is_nan(expected, width) && is_nan(got, width);
}

const std::map<std::string_view, std::string_view>& exceptions() {
  static const std::map<std::string_view, std::string_view> all = {
#define APPROXIMATE(name) {name, "an approximation, whose error is tested"}
      APPROXIMATE("v_exp_f32"),
      APPROXIMATE("v_exp_f16"),
      APPROXIMATE("v_log_f32"),
      APPROXIMATE("v_log_f16"),
      APPROXIMATE("v_rcp_f32"),
      APPROXIMATE("v_rcp_f16"),
      APPROXIMATE("v_rcp_f64"),
      APPROXIMATE("v_rsq_f32"),
      APPROXIMATE("v_rsq_f16"),
      APPROXIMATE("v_rsq_f64"),
      APPROXIMATE("v_sqrt_f32"),
      APPROXIMATE("v_sqrt_f16"),
      APPROXIMATE("v_sqrt_f64"),
      APPROXIMATE("v_sin_f32"),
      APPROXIMATE("v_sin_f16"),
      APPROXIMATE("v_cos_f32"),
      APPROXIMATE("v_cos_f16"),
      APPROXIMATE("v_rcp_iflag_f32"),
      APPROXIMATE("v_exp_legacy_f32"),
      APPROXIMATE("v_log_legacy_f32"),
      APPROXIMATE("v_s_exp_f32"),
      APPROXIMATE("v_s_exp_f16"),
      APPROXIMATE("v_s_log_f32"),
      APPROXIMATE("v_s_log_f16"),
      APPROXIMATE("v_s_rcp_f32"),
      APPROXIMATE("v_s_rcp_f16"),
      APPROXIMATE("v_s_rsq_f32"),
      APPROXIMATE("v_s_rsq_f16"),
      APPROXIMATE("v_s_sqrt_f32"),
      APPROXIMATE("v_s_sqrt_f16"),
#undef APPROXIMATE
  // x + 0.5 is rounded in the text before it is cut off.
#define ROUNDS(name) {name, "rounds once, where the text rounds twice; tested"}
      ROUNDS("v_rndne_f16"),
      ROUNDS("v_rndne_f32"),
      ROUNDS("v_rndne_f64"),
      ROUNDS("s_rndne_f16"),
      ROUNDS("s_rndne_f32"),
      ROUNDS("v_cvt_rpi_i32_f32"),
      ROUNDS("v_cvt_nearest_i32_f32"),
      ROUNDS("v_ldexp_f16"),
      ROUNDS("v_ldexp_f64"),
      ROUNDS("v_div_fmas_f32"),
      ROUNDS("v_div_fmas_f64"),
      ROUNDS("v_dot2_f16_f16"),
      ROUNDS("v_dot2_bf16_bf16"),
#undef ROUNDS
#define FLUSHES(name) {name, "flushes denormals, which the text does not say; tested"}
      FLUSHES("v_mad_f16"),
      FLUSHES("v_mac_f16"),
      FLUSHES("v_madmk_f16"),
      FLUSHES("v_madak_f16"),
      FLUSHES("v_mad_legacy_f16"),
      FLUSHES("v_dot2_f32_f16"),
      FLUSHES("v_dot2c_f32_f16"),
      FLUSHES("v_dot2_f32_bf16"),
      FLUSHES("v_dot2c_f32_bf16"),
      FLUSHES("v_dot2acc_f32_f16"),
      FLUSHES("v_dot2acc_f32_bf16"),
      FLUSHES("v_dot4_f32_fp8_fp8"),
      FLUSHES("v_dot4_f32_fp8_bf8"),
      FLUSHES("v_dot4_f32_bf8_fp8"),
      FLUSHES("v_dot4_f32_bf8_bf8"),
#undef FLUSHES
      {"v_fract_f16", "stays below 1, which the text does not say; tested"},
      {"v_fract_f32", "stays below 1, which the text does not say; tested"},
      {"v_fract_f64", "stays below 1, which the text does not say; tested"},
      {"v_frexp_exp_i16_f16", "the text forgets zero and denormals; tested"},
      {"v_frexp_exp_i32_f32", "the text forgets zero and denormals; tested"},
      {"v_frexp_exp_i32_f64", "the text forgets zero and denormals; tested"},
      {"v_div_fixup_f32", "takes a NaN of two numbers for an overflow; tested"},
      {"v_div_fixup_f64", "takes a NaN of two numbers for an overflow; tested"},
      {"v_fmac_dx9_zero_f32", "the text reads a source that there is not; v_fma_dx9_zero_f32 is compared"},
      {"v_interp_p10_rtz_f16_f32", "rounds toward zero, which the text does not say; tested"},
      {"v_interp_p2_rtz_f16_f32", "rounds toward zero, which the text does not say; tested"},
      {"v_frexp_mant_f16", "the text's function of mantissas is not explained; tested"},
      {"v_frexp_mant_f32", "the text's function of mantissas is not explained; tested"},
      {"v_frexp_mant_f64", "the text's function of mantissas is not explained; tested"},
      {"v_cvt_off_f32_i4", "the text lacks its table; tested"},
  };
  return all;
}

bool differs_on_gfx10(std::string_view name) {
  constexpr std::string_view names[] = {"v_min_f16",  "v_max_f16",  "v_min_f32",    "v_max_f32",   "v_min_f64",
                                        "v_max_f64",  "v_min3_f16", "v_max3_f16",   "v_med3_f16",  "v_min3_f32",
                                        "v_max3_f32", "v_med3_f32", "v_pk_min_f16", "v_pk_max_f16"};
  return std::ranges::find(names, name) != std::end(names);
}

}  // namespace Atoll::semantics::test
