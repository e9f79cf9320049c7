// semantics: elements of images and their filters (image_sampling.h).
#include "semantics/image/image_sampling.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace Atoll::semantics {

namespace {

using Clamp = ImageSampler::Clamp;
using Filter = ImageSampler::Filter;
using Components = std::array<uint32_t, 4>;

constexpr int64_t outside = -1;  ///< an index that the border's colour is for

/// The elements along an axis that a filter takes, and the second one's weight.
struct Taps {
  std::array<int64_t, 2> index{};
  double weight = 0;
};

bool mirrors_once(Clamp clamp) {
  return clamp == Clamp::mirror_once_last_texel || clamp == Clamp::mirror_once_half_border ||
         clamp == Clamp::mirror_once_border;
}
bool has_half_border(Clamp clamp) { return clamp == Clamp::half_border || clamp == Clamp::mirror_once_half_border; }
bool has_border(Clamp clamp) {
  return clamp == Clamp::border || clamp == Clamp::mirror_once_border || has_half_border(clamp);
}

/// The coordinate in elements of a level. The product is exact in double precision.
double position_of(double coordinate, uint32_t size, bool unnormalized, int offset, Clamp clamp) {
  double position = (unnormalized ? coordinate : coordinate * size) + offset;
  if (std::isnan(position)) return 0;
  if (has_half_border(clamp)) {
    return std::clamp<double>(mirrors_once(clamp) ? std::fabs(position) : position, 0, size);
  }
  // Single precision has only whole and even repetitions of the image so far away.
  constexpr double far = 1LL << 52;
  if (std::fabs(position) < far) return position;
  return clamp == Clamp::wrap || clamp == Clamp::mirror ? 0 : std::copysign(far, position);
}

/// The index as the clamp has it, or `outside`. Indices are mirrored, not coordinates: the device library's functions
/// round these down themselves for a point filter.
int64_t clamp_index(int64_t index, uint32_t size, Clamp clamp) {
  const int64_t end = size;
  const auto modulo = [](int64_t value, int64_t period) { return (value % period + period) % period; };
  if (clamp == Clamp::wrap) return modulo(index, end);
  if (clamp == Clamp::mirror) {
    const int64_t in_period = modulo(index, 2 * end);
    return in_period < end ? in_period : 2 * end - 1 - in_period;
  }
  if (mirrors_once(clamp) && index < 0) index = -1 - index;
  if (has_border(clamp)) return index >= 0 && index < end ? index : outside;
  return std::clamp<int64_t>(index, 0, end - 1);
}

/// Coordinates have 8 bits of an element's fraction, which a point filter shows: the device library's functions pass it
/// the elements' lower ends, multiplied by a reciprocal that is not exact.
double rounded_position(double position) { return std::nearbyint(position * 256) / 256; }

Taps taps_of(double position, uint32_t size, Clamp clamp, bool linear, bool truncates) {
  Taps taps;
  if (!linear) {
    if (!truncates) position = rounded_position(position);
    auto index = static_cast<int64_t>(std::floor(position));
    if (has_half_border(clamp)) index = std::min<int64_t>(index, size - 1);
    taps.index.fill(clamp_index(index, size, clamp));
    return taps;
  }
  const double before = std::floor(position - 0.5);
  const auto index = static_cast<int64_t>(before);
  taps.index = {clamp_index(index, size, clamp), clamp_index(index + 1, size, clamp)};
  taps.weight = position - 0.5 - before;
  return taps;
}

bool compare(ImageSampler::Compare function, float reference, float element) {
  using enum ImageSampler::Compare;
  switch (function) {
    case never:
      return false;
    case less:
      return reference < element;
    case equal:
      return reference == element;
    case less_equal:
      return reference <= element;
    case greater:
      return reference > element;
    case not_equal:
      return reference != element;
    case greater_equal:
      return reference >= element;
    case always:
      return true;
  }
  return false;
}

/// The border's colour, before the resource's selectors.
Components border_of(const ImageSampler& sampler, NumberFormat number) {
  switch (sampler.border) {
    case ImageSampler::Border::opaque_white:
      return {one(number), one(number), one(number), one(number)};
    case ImageSampler::Border::opaque_black:
      return {0, 0, 0, one(number)};
    default:
      return {};
  }
}

/// Where a layer begins, or one sample of one: each of a layer's samples counts as a layer. Adding up the levels of one
/// is spared for the first.
uint64_t layer_offset(const ImageResource& resource, uint64_t layer) {
  return layer == 0 ? 0 : layer * resource.layer_bytes();
}

/// Where an element lies in its level.
uint64_t element_offset(const ImageResource& resource, const ImageResource::Level& level, uint64_t x, uint64_t y,
                        uint64_t z) {
  return z * level.slice_bytes + y * level.row_bytes + x * resource.format.bytes;
}

/// One level of the image as one sample sees it.
class LevelSampler {
 public:
  LevelSampler(const ImageResource& resource, const ImageSampler& sampler, const SamplePoint& point, bool compares,
               unsigned level)
      : resource_(resource), sampler_(sampler), point_(point), compares_(compares) {
    size_ = resource.level(resource.first_level + level);
    const double last = resource.layers() - 1;
    double layer = std::isnan(point.layer) ? 0 : std::nearbyint(static_cast<double>(point.layer));
    // For cubes, one coordinate holds the face plus eight times the layer.
    if (resource.type == ImageType::cube && layer > 0) layer = std::floor(layer / 8) * 6 + std::fmod(layer, 8);
    const auto number = static_cast<uint64_t>(std::clamp(layer, 0.0, last)) + resource.first_layer;
    base_ = resource.base + layer_offset(resource, number * resource.samples) + size_.offset;
  }

  Taps taps(unsigned axis, bool linear) const {
    if (axis >= dimensions(resource_.type)) return {};
    double at = point_.at[axis];
    Clamp clamp = sampler_.clamp[axis];
    if (resource_.type == ImageType::cube) {  // of faces the coordinates go from 1 to 2
      at -= 1;
      clamp = Clamp::last_texel;
    }
    const uint32_t size = axis == 0 ? size_.width : axis == 1 ? size_.height : size_.depth;
    const double position = position_of(at, size, sampler_.unnormalized, point_.offset[axis], clamp);
    return taps_of(position, size, clamp, linear, sampler_.truncates);
  }

  /// An element as it goes into the filter.
  Components element(int64_t x, int64_t y, int64_t z) const {
    Components components;
    if (x != outside && y != outside && z != outside) {
      const uint64_t address = base_ + element_offset(resource_, size_, static_cast<uint64_t>(x),
                                                      static_cast<uint64_t>(y), static_cast<uint64_t>(z));
      components = read_components(resource_.format, reinterpret_cast<const uint8_t*>(address));
    } else {
      components = border_of(sampler_, resource_.format.number);
    }
    if (compares_) {
      const bool holds = compare(sampler_.compare, point_.reference, std::bit_cast<float>(components[0]));
      components = {std::bit_cast<uint32_t>(holds ? 1.0F : 0.0F), 0, 0, std::bit_cast<uint32_t>(1.0F)};
    }
    return components;
  }

  Components filter(bool linear) const {
    // Integers are not filtered.
    linear = linear && !is_integer(resource_.format.number);
    const bool linear_depth = sampler_.z == Filter::none ? linear : linear && sampler_.z == Filter::linear;
    const Taps x = taps(0, linear), y = taps(1, linear), z = taps(2, linear_depth);
    if (!linear) return element(x.index[0], y.index[0], z.index[0]);
    std::array<double, 4> sums{};
    bool first = true;
    for (unsigned corner = 0; corner < 8; ++corner) {
      const unsigned i = corner & 1, j = corner >> 1 & 1, k = corner >> 2;
      const double weight =
          (i != 0 ? x.weight : 1 - x.weight) * (j != 0 ? y.weight : 1 - y.weight) * (k != 0 ? z.weight : 1 - z.weight);
      if (weight == 0) continue;
      const Components components = element(x.index[i], y.index[j], z.index[k]);
      for (unsigned c = 0; c < 4; ++c) add(sums[c], std::bit_cast<float>(components[c]), weight, first);
      first = false;
    }
    Components result;
    for (unsigned c = 0; c < 4; ++c) result[c] = std::bit_cast<uint32_t>(static_cast<float>(sums[c]));
    return result;
  }

 private:
  void add(double& sum, double value, double weight, bool first) const {
    switch (sampler_.reduction) {
      case ImageSampler::Reduction::blend:
        sum += value * weight;
        break;
      case ImageSampler::Reduction::minimum:
        sum = first ? value : std::min(sum, value);
        break;
      case ImageSampler::Reduction::maximum:
        sum = first ? value : std::max(sum, value);
        break;
    }
  }

  const ImageResource& resource_;
  const ImageSampler& sampler_;
  const SamplePoint& point_;
  bool compares_;
  ImageResource::Level size_;
  uint64_t base_;  ///< of the level in its layer
};

unsigned last_level_of(const ImageResource& resource) { return resource.last_level - resource.first_level; }

unsigned nearest_level(const ImageResource& resource, float lod) {
  const double level = std::ceil(static_cast<double>(lod) + 0.5) - 1;
  return static_cast<unsigned>(std::clamp<double>(level, 0, last_level_of(resource)));
}

}  // namespace

uint8_t* element_address(const ImageResource& resource, const ElementPlace& place) {
  if (place.level > last_level_of(resource) || place.layer >= resource.layers() || place.sample >= resource.samples) {
    return nullptr;
  }
  const ImageResource::Level level = resource.level(resource.first_level + place.level);
  if (place.x >= level.width || place.y >= level.height || place.z >= level.depth) return nullptr;
  const uint64_t layer = (uint64_t{resource.first_layer} + place.layer) * resource.samples + place.sample;
  return reinterpret_cast<uint8_t*>(resource.base + layer_offset(resource, layer) + level.offset +
                                    element_offset(resource, level, place.x, place.y, place.z));
}

Components load_element(const ImageResource& resource, const ElementPlace& place) {
  const uint8_t* memory = element_address(resource, place);
  return select_components(resource, memory != nullptr ? read_components(resource.format, memory) : Components{});
}

void store_element(const ImageResource& resource, const ElementPlace& place, const Components& components) {
  if (uint8_t* memory = element_address(resource, place)) {
    write_components(resource.format, unselect_components(resource.selects, components), memory);
  }
}

float clamp_lod(const ImageResource& resource, const ImageSampler& sampler, float lod) {
  if (std::isnan(lod)) lod = 0;
  const float least = std::max(sampler.min_lod, resource.min_lod - static_cast<float>(resource.first_level));
  return std::min(std::max(lod + sampler.lod_bias, least), sampler.max_lod);
}

float scale_of_step(const ImageResource& resource, bool unnormalized, const std::array<float, 3>& step) {
  const ImageResource::Level size = resource.level(resource.first_level);
  const std::array<uint32_t, 3> sizes{size.width, size.height, size.depth};
  double square = 0;
  for (unsigned axis = 0; axis < dimensions(resource.type); ++axis) {
    const double length = static_cast<double>(step[axis]) * (unnormalized ? 1 : sizes[axis]);
    square += length * length;
  }
  return static_cast<float>(std::sqrt(square));
}

Components sample_image(const ImageResource& resource, const ImageSampler& sampler, const SamplePoint& point,
                        bool compares) {
  const float lod = clamp_lod(resource, sampler, point.lod);
  const bool linear = lod <= 0 ? sampler.magnifies_linearly : sampler.minifies_linearly;
  const auto filter = [&](unsigned level) {
    return LevelSampler(resource, sampler, point, compares, level).filter(linear);
  };
  if (sampler.mip == Filter::none) return select_components(resource, filter(0));
  if (sampler.mip == Filter::point || is_integer(resource.format.number)) {
    return select_components(resource, filter(nearest_level(resource, lod)));
  }
  const double within = std::clamp<double>(lod, 0, last_level_of(resource));
  const auto level = static_cast<unsigned>(within);
  const double weight = within - level;
  Components result = filter(level);
  if (weight != 0) {
    const Components next = filter(level + 1);
    for (unsigned i = 0; i < 4; ++i) {
      const double blended = std::bit_cast<float>(result[i]) * (1 - weight) + std::bit_cast<float>(next[i]) * weight;
      result[i] = std::bit_cast<uint32_t>(static_cast<float>(blended));
    }
  }
  return select_components(resource, result);
}

Components gather_image(const ImageResource& resource, const ImageSampler& sampler, const SamplePoint& point,
                        unsigned component, bool compares, bool in_a_row) {
  const float lod = clamp_lod(resource, sampler, point.lod);
  const unsigned level = sampler.mip == Filter::none ? 0 : nearest_level(resource, lod);
  const LevelSampler at(resource, sampler, point, compares, level);
  const auto element = [&](int64_t x, int64_t y, int64_t z) {
    return select_components(resource, at.element(x, y, z))[component];
  };
  if (in_a_row) {
    const int64_t y = at.taps(1, false).index[0], z = at.taps(2, false).index[0];
    Components result;
    SamplePoint next = point;
    for (unsigned i = 0; i < 4; ++i) {
      next.offset[0] = static_cast<int8_t>(point.offset[0] + static_cast<int>(i));
      const LevelSampler moved(resource, sampler, next, compares, level);
      result[i] = element(moved.taps(0, false).index[0], y, z);
    }
    return result;
  }
  const Taps x = at.taps(0, true), y = at.taps(1, true), z = at.taps(2, false);
  return {element(x.index[0], y.index[1], z.index[0]), element(x.index[1], y.index[1], z.index[0]),
          element(x.index[1], y.index[0], z.index[0]), element(x.index[0], y.index[0], z.index[0])};
}

}  // namespace Atoll::semantics
