// semantics: reading and writing the words of samplers (image_sampler.h).
#include "semantics/image/image_sampler.h"

#include <algorithm>
#include <cmath>

#include "semantics/image/image_resource.h"

namespace Atoll::semantics {

namespace {

constexpr DescriptorField clamp_fields[] = {{0, 3}, {3, 3}, {6, 3}};
constexpr DescriptorField compare_field{12, 3}, unnormalized_field{15, 1}, truncates_field{27, 1},
    reduction_field{29, 2};
constexpr DescriptorField lod_bias_field{64, 14};  // signed, in units of 1/256
constexpr DescriptorField magnify_field{84, 2}, minify_field{86, 2}, z_field{88, 2}, mip_field{90, 2};
constexpr DescriptorField border_field{126, 2};

/// In units of 1/256; GFX12 has one bit more.
struct LodFields {
  DescriptorField least, most;
};
LodFields lod_fields(const target::Processor& processor) {
  if (processor.generation >= target::Generation::gfx12) return {{32, 13}, {45, 13}};
  return {{32, 12}, {44, 12}};
}

/// SQ_TEX_XY_FILTER_*: the two with anisotropy are taken as those without.
constexpr bool is_linear(uint64_t filter) { return (filter & 1) != 0; }

}  // namespace

support::Result<ImageSampler> read_image_sampler(std::span<const uint32_t, 4> words,
                                                 const target::Processor& processor) {
  ImageSampler sampler;
  for (unsigned i = 0; i < 3; ++i) sampler.clamp[i] = static_cast<ImageSampler::Clamp>(clamp_fields[i].get(words));
  sampler.compare = static_cast<ImageSampler::Compare>(compare_field.get(words));
  sampler.unnormalized = unnormalized_field.get(words) != 0;
  sampler.truncates = truncates_field.get(words) != 0;
  const LodFields lods = lod_fields(processor);
  sampler.min_lod = static_cast<float>(lods.least.get(words)) / 256;
  sampler.max_lod = static_cast<float>(lods.most.get(words)) / 256;
  const auto bias = static_cast<int32_t>(lod_bias_field.get(words) << 18) >> 18;
  sampler.lod_bias = static_cast<float>(bias) / 256;
  sampler.magnifies_linearly = is_linear(magnify_field.get(words));
  sampler.minifies_linearly = is_linear(minify_field.get(words));
  const uint64_t reduction = reduction_field.get(words), z = z_field.get(words), mip = mip_field.get(words);
  if (reduction > 2)
    return support::fail(support::ErrorKind::illegal_instruction, "there is no filter mode {}", reduction);
  if (z > 2) return support::fail(support::ErrorKind::illegal_instruction, "there is no filter {} of the depth", z);
  sampler.reduction = static_cast<ImageSampler::Reduction>(reduction);
  sampler.z = static_cast<ImageSampler::Filter>(z);
  // The fourth chooses a level as the point filter does, where there is no anisotropy.
  sampler.mip = mip > 2 ? ImageSampler::Filter::point : static_cast<ImageSampler::Filter>(mip);
  sampler.border = static_cast<ImageSampler::Border>(border_field.get(words));
  if (sampler.border == ImageSampler::Border::from_table) {
    return support::fail(support::ErrorKind::unsupported, "the border's colour is in a table, which HSA has none of");
  }
  return sampler;
}

std::array<uint32_t, 4> write_image_sampler(const ImageSampler& sampler, const target::Processor& processor) {
  std::array<uint32_t, 4> words{};
  for (unsigned i = 0; i < 3; ++i) clamp_fields[i].set(words, static_cast<uint64_t>(sampler.clamp[i]));
  compare_field.set(words, static_cast<uint64_t>(sampler.compare));
  unnormalized_field.set(words, sampler.unnormalized ? 1 : 0);
  truncates_field.set(words, sampler.truncates ? 1 : 0);
  reduction_field.set(words, static_cast<uint64_t>(sampler.reduction));
  const LodFields lods = lod_fields(processor);
  const auto fixed = [](float lod, const DescriptorField& field) {
    const auto most = static_cast<float>((1U << field.width) - 1);
    return static_cast<uint64_t>(std::clamp(std::nearbyint(lod * 256), 0.0F, most));
  };
  lods.least.set(words, fixed(sampler.min_lod, lods.least));
  lods.most.set(words, fixed(sampler.max_lod, lods.most));
  const auto bias = static_cast<int32_t>(std::clamp(std::nearbyint(sampler.lod_bias * 256), -8192.0F, 8191.0F));
  lod_bias_field.set(words, static_cast<uint32_t>(bias) & 0x3FFF);
  magnify_field.set(words, sampler.magnifies_linearly ? 1 : 0);
  minify_field.set(words, sampler.minifies_linearly ? 1 : 0);
  z_field.set(words, static_cast<uint64_t>(sampler.z));
  mip_field.set(words, static_cast<uint64_t>(sampler.mip));
  border_field.set(words, static_cast<uint64_t>(sampler.border));
  return words;
}

}  // namespace Atoll::semantics
