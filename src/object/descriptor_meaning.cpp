// object: kernel descriptors in words (descriptor_meaning.h).
#include "object/descriptor_meaning.h"

#include <array>

#include <fmt/format.h>

#include "object/kernel_symbols.h"

namespace Atoll::object {

namespace {

constexpr std::array<std::string_view, 4> rounding{"to nearest even", "towards +infinity", "towards -infinity",
                                                   "towards 0"};
constexpr std::array<std::string_view, 4> denormals{"flushed in sources and results", "flushed in results",
                                                    "flushed in sources", "kept"};
constexpr std::array<std::string_view, 4> work_item_ids{"x", "x and y", "x, y and z", "undefined"};

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
  if (&field == &vgpr_count)
    return fmt::format("{} VGPRs", (value + 1) * (has_wave32(raw, processor) ? processor.vgpr_granule_wave32
                                                                             : processor.vgpr_granule));
  if (&field == &sgpr_count) return processor.fixed_sgprs ? "" : fmt::format("{} SGPRs", (value + 1) * 8);
  if (&field == &accum_offset) return fmt::format("the first AGPR is register {}", (value + 1) * 4);
  if (&field == &round_mode_32 || &field == &round_mode_16_64) return std::string(rounding[value]);
  if (&field == &denorm_mode_32 || &field == &denorm_mode_16_64) return std::string(denormals[value]);
  if (&field == &work_item_id) return std::string(work_item_ids[value]);
  if (&field == &preload_length || &field == &preload_offset) return fmt::format("{} bytes", value * 4);
  return {};
}

}  // namespace Atoll::object
