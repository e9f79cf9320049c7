// object: kernel descriptors in words (descriptor_meaning.h).
#include "object/descriptor_meaning.h"

#include <array>

#include <fmt/format.h>

#include "object/code_object_v2.h"
#include "object/kernel_symbols.h"

namespace Atoll::object {

namespace {

constexpr std::array<std::string_view, 4> rounding{"to nearest even", "towards +infinity", "towards -infinity",
                                                   "towards 0"};
constexpr std::array<std::string_view, 4> denormals{"flushed in sources and results", "flushed in results",
                                                    "flushed in sources", "kept"};
constexpr std::array<std::string_view, 4> work_item_ids{"x", "x and y", "x, y and z", "undefined"};

std::string vgprs_of(uint32_t granules, bool wave32, const target::Processor& processor) {
  return fmt::format("{} VGPRs", (granules + 1) * (wave32 ? processor.vgpr_granule_wave32 : processor.vgpr_granule));
}

std::string sgprs_of(uint32_t granules, const target::Processor& processor) {
  return processor.fixed_sgprs ? "" : fmt::format("{} SGPRs", (granules + 1) * 8);
}

}  // namespace

std::string_view word_name(DescriptorWord word) {
  constexpr std::array<std::string_view, 5> names{"COMPUTE_PGM_RSRC1", "COMPUTE_PGM_RSRC2", "COMPUTE_PGM_RSRC3",
                                                  "KERNEL_CODE_PROPERTIES", "KERNARG_PRELOAD"};
  return names[static_cast<size_t>(word)];
}

std::string meaning_of(const DescriptorField& field, const RawKernelDescriptor& raw,
                       const target::Processor& processor) {
  using namespace descriptor_field;
  const uint32_t value = field.of(raw);
  if (field.exists == nowhere) return "must be 0";
  if (&field == &vgpr_count) return vgprs_of(value, has_wave32(raw, processor), processor);
  if (&field == &sgpr_count) return sgprs_of(value, processor);
  if (&field == &accum_offset) return fmt::format("the first AGPR is register {}", (value + 1) * 4);
  if (&field == &round_mode_32 || &field == &round_mode_16_64) return std::string(rounding[value]);
  if (&field == &denorm_mode_32 || &field == &denorm_mode_16_64) return std::string(denormals[value]);
  if (&field == &work_item_id) return std::string(work_item_ids[value]);
  if (&field == &preload_length || &field == &preload_offset) return fmt::format("{} bytes", value * 4);
  return {};
}

std::string meaning_of(const KernelCodeField& field, const RawKernelCode& code, const target::Processor& processor) {
  const auto value = static_cast<uint32_t>(field.of(code));
  const auto is = [&](std::string_view name) { return field.name == name; };
  if (is("granulated_workitem_vgpr_count")) return vgprs_of(value, has_wave32(code), processor);
  if (is("granulated_wavefront_sgpr_count")) return sgprs_of(value, processor);
  if (is("float_mode"))
    return fmt::format("32 bits: rounded {}, denormals {}; 16 and 64 bits: rounded {}, denormals {}",
                       rounding[value & 3], denormals[value >> 4 & 3], rounding[value >> 2 & 3],
                       denormals[value >> 6 & 3]);
  if (is("enable_vgpr_workitem_id")) return std::string(work_item_ids[value]);
  if (is("private_element_size")) return fmt::format("{} bytes", 2u << value);
  const bool exponent = field.name.ends_with("_alignment") || is("wavefront_size");
  if (exponent && value < 64)
    return fmt::format("{} {}", uint64_t{1} << value, is("wavefront_size") ? "lanes" : "bytes");
  return {};
}

}  // namespace Atoll::object
