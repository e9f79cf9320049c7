// engine: instructions that read images by a sampler: image_sample*, image_gather4*, image_get_lod.
#include <algorithm>
#include <bit>
#include <cmath>
#include <span>

#include "engine/image/image_rows.h"
#include "engine/interpreter/code_cache.h"

namespace Atoll::engine {

namespace {

using semantics::ImageOperation;
using semantics::ImageSampler;
using semantics::SamplePoint;

constexpr unsigned quad_lanes = 4;

std::array<float, 3> floats(const std::array<uint32_t, 3>& words) {
  return {std::bit_cast<float>(words[0]), std::bit_cast<float>(words[1]), std::bit_cast<float>(words[2])};
}

/// The level of detail at which the longer of two steps is one element.
float lod_of_steps(const ImageAccess& access, bool unnormalized, const std::array<std::array<float, 3>, 2>& steps) {
  const float longest = std::max(semantics::scale_of_step(access.resource, unnormalized, steps[0]),
                                 semantics::scale_of_step(access.resource, unnormalized, steps[1]));
  return std::log2(longest);
}

class Sampling {
 public:
  Sampling(const ImageAccess& access, const ImageSampler& sampler, const Row* vgprs)
      : access_(access), sampler_(sampler), vgprs_(vgprs) {}

  /// The lane's point, with the level of detail that the address asks for.
  SamplePoint point(unsigned lane) const {
    const ImageAddress address = read_address(access_, vgprs_, lane, true);
    const ImageCoordinates coordinates = coordinates_of(access_, address);
    SamplePoint point{.at = floats(coordinates.at), .layer = std::bit_cast<float>(coordinates.layer)};
    point.offset = address.offset;
    point.reference = address.reference;
    const ImageOperation& operation = access_.operation;
    switch (operation.lod) {
      case ImageOperation::Lod::zero:
        break;
      case ImageOperation::Lod::address:
        point.lod = std::bit_cast<float>(address.level);
        break;
      case ImageOperation::Lod::gradients:
        point.lod = lod_of_steps(access_, sampler_.unnormalized, address.gradients);
        break;
      case ImageOperation::Lod::steps_of_quad:
        if (needs_lod()) point.lod = lod_of_quad(lane);
        break;
    }
    point.lod += address.bias;
    if (operation.clamps) point.lod = std::max(point.lod, std::bit_cast<float>(address.level));
    return point;
  }

 private:
  /// Whether anything depends on the level of detail.
  bool needs_lod() const {
    return access_.operation.kind == ImageOperation::Kind::lod || sampler_.mip != ImageSampler::Filter::none ||
           sampler_.magnifies_linearly != sampler_.minifies_linearly;
  }

  std::array<float, 3> coordinates(unsigned lane) const {
    return floats(coordinates_of(access_, read_address(access_, vgprs_, lane, true)).at);
  }

  /// Neighbouring lanes, four by four, are neighbours on a plane, whether they are active or not.
  float lod_of_quad(unsigned lane) const {
    const unsigned first = lane / quad_lanes * quad_lanes;
    const std::array<float, 3> origin = coordinates(first);
    std::array<std::array<float, 3>, 2> steps;
    for (unsigned direction = 0; direction < 2; ++direction) {
      const std::array<float, 3> neighbour = coordinates(first + 1 + direction);
      for (unsigned axis = 0; axis < 3; ++axis) steps[direction][axis] = neighbour[axis] - origin[axis];
    }
    return lod_of_steps(access_, sampler_.unnormalized, steps);
  }

  const ImageAccess& access_;
  const ImageSampler& sampler_;
  const Row* vgprs_;
};

}  // namespace

bool sample(Wave& wave, const MicroOp& op, Run& run, const ImageAccess& access) {
  const MemoryOp& m = op.memory;
  auto read = semantics::read_image_sampler(std::span<const uint32_t, 4>(&wave.scalar[m.scalar_offset], 4),
                                            *run.code->target().processor);
  if (!read) {
    image_fault(wave, op, read.error().message);
    return false;
  }
  read->unnormalized = read->unnormalized || access.instruction.unorm;
  const ImageSampler& sampler = *read;
  const ImageOperation& operation = access.operation;
  const Row* vgprs = rows_at(run, RowBase::vgpr, 0);
  if (sample_image_rows(access, sampler, wave.exec(), vgprs, rows_at(run, m.data_base, m.data))) return true;
  const Sampling sampling(access, sampler, vgprs);
  const auto component = static_cast<unsigned>(std::countr_zero(access.mask()));
  ImageData data;
  for_each_lane(wave.exec(), [&](unsigned lane) {
    const SamplePoint point = sampling.point(lane);
    if (operation.kind == ImageOperation::Kind::gather) {
      data.of[lane] = gather_image(access.resource, sampler, point, component, operation.compares, operation.in_a_row);
      data.count = 4;
      return;
    }
    std::array<uint32_t, 4> components{};
    if (operation.kind == ImageOperation::Kind::lod) {
      const float last = static_cast<float>(access.resource.last_level - access.resource.first_level);
      const float lod = clamp_lod(access.resource, sampler, point.lod);
      components[0] = std::bit_cast<uint32_t>(std::clamp(lod, 0.0F, last));
      components[1] = std::bit_cast<uint32_t>(point.lod);
    } else {
      components = sample_image(access.resource, sampler, point, operation.compares);
    }
    data.keep(lane, access.mask(), components);
  });
  write_data(access, wave.exec(), data, rows_at(run, m.data_base, m.data));
  return true;
}

}  // namespace Atoll::engine
