// machine: image and sampler arguments of Catalyst's kernels (catalyst_image.h).
#include "machine/wave/catalyst_image.h"

#include <algorithm>
#include <iterator>

#include "machine/report/fault_guard.h"
#include "semantics/image/image_resource.h"
#include "semantics/image/image_sampler.h"

namespace Atoll::machine {

using semantics::ImageSampler;
using semantics::ImageType;
using support::ErrorKind;
using support::fail;
using support::Result;

namespace {

struct TypeName {
  std::string_view name;
  ImageType type;
};
/// The metadata of OpenCL 1.x has the dimension alone.
constexpr TypeName type_names[] = {{"image1d_t", ImageType::one_d},
                                   {"image2d_t", ImageType::two_d},
                                   {"image3d_t", ImageType::three_d},
                                   {"image1d_array_t", ImageType::one_d_array},
                                   {"image2d_array_t", ImageType::two_d_array},
                                   {"2D", ImageType::two_d},
                                   {"3D", ImageType::three_d}};

}  // namespace

Result<CatalystImage> read_catalyst_image(uint64_t address, std::string_view type, const target::Processor& processor) {
  namespace catalyst = object::catalyst;
  const auto* const wanted = std::ranges::find(type_names, type, &TypeName::name);
  if (wanted == std::end(type_names))
    return fail(ErrorKind::unsupported, "images of type {} cannot be passed", type.empty() ? "unknown" : type);
  std::array<uint32_t, catalyst::image_order_dword + 1> words{};
  if (!read_guest(words.data(), address, sizeof words))
    return fail(ErrorKind::invalid_argument, "the image at {:#x} is not in memory", address);
  CatalystImage image;
  std::copy_n(words.begin(), image.resource.size(), image.resource.begin());
  const auto resource = semantics::read_image_resource(image.resource, processor);
  if (!resource) return support::within("image resource", resource.error());
  if (resource->type != wanted->type) {
    const auto* const given = std::ranges::find(type_names, resource->type, &TypeName::type);
    return fail(ErrorKind::invalid_argument, "the image is of type {}, the kernel takes {}",
                given == std::end(type_names) ? "unknown" : given->name, wanted->name);
  }
  if (!catalyst::image_order_name(words[catalyst::image_order_dword]))
    return fail(ErrorKind::invalid_argument, "the image has channel order {}, which does not exist",
                words[catalyst::image_order_dword] & 0x1F);
  image.constants = {.width = resource->width,
                     .height = resource->height,
                     .depth = resource->type == ImageType::three_d ? resource->depth : 1,
                     .data_type = words[catalyst::image_type_dword],
                     .channel_order = words[catalyst::image_order_dword]};
  return image;
}

Result<std::array<uint32_t, 4>> catalyst_sampler(uint32_t value, const target::Processor& processor) {
  const auto decoded = object::catalyst::decode_sampler(value);
  if (!decoded) return std::unexpected(decoded.error());
  using enum ImageSampler::Clamp;
  // By the number of the addressing mode: none, repeat, clamp to edge, clamp, mirrored repeat.
  constexpr ImageSampler::Clamp clamps[] = {last_texel, wrap, last_texel, border, mirror};
  constexpr uint8_t linear_filter = 2;
  ImageSampler sampler;
  sampler.clamp.fill(clamps[decoded->addressing]);
  sampler.unnormalized = !decoded->normalized;
  sampler.magnifies_linearly = sampler.minifies_linearly = decoded->filter == linear_filter;
  sampler.truncates = decoded->filter != linear_filter;
  return semantics::write_image_sampler(sampler, processor);
}

}  // namespace Atoll::machine
