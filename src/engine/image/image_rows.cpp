// engine: image loads and samples of a whole wave at once (image_rows.h).
#include "engine/image/image_rows.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "engine/interpreter/vector.h"
#include "engine/memory/guest_access.h"

namespace Atoll::engine {
ATOLL_HOST_ISA_BEGIN

namespace {

using semantics::BufferFormat;
using semantics::ImageOperation;
using semantics::ImageResource;
using semantics::ImageSampler;
using semantics::ImageType;
using semantics::NumberFormat;
using semantics::wave_lanes;
using Clamp = ImageSampler::Clamp;
using Filter = ImageSampler::Filter;

struct alignas(64) Doubles {
  double of[wave_lanes];
};
/// Places along an axis; -1 is where the border's colour is.
struct alignas(64) Indices {
  int32_t of[wave_lanes];
};
struct alignas(64) Words {
  Row of[4];
};

constexpr int32_t outside = -1;

template <typename Function>
[[gnu::always_inline]] inline void for_lanes(const Function& function) {
  for (unsigned lane = 0; lane < wave_lanes; ++lane) function(lane);
}

/// Whether the address is nothing but coordinates of 32 bits, and the elements are what decode() knows.
bool is_plain(const ImageAccess& access) {
  const isa::Instruction& instruction = access.instruction;
  const ImageOperation& operation = access.operation;
  const ImageResource& resource = access.resource;
  if (access.address_type != resource.type || resource.type == ImageType::cube || resource.samples != 1) return false;
  if (instruction.a16 || instruction.d16 || instruction.tfe) return false;
  if (operation.offset || operation.bias || operation.compares || operation.clamps || operation.packed) return false;
  const unsigned bytes = resource.format.bytes;
  return resource.format.number != NumberFormat::srgb && (bytes <= 2 || bytes % 4 == 0);
}

/// One level of the image, and where the lanes' elements are in it.
class Level {
 public:
  explicit Level(const ImageResource& resource) : resource_(resource), size_(resource.level(resource.first_level)) {
    if (is_array(resource.type)) layer_bytes_ = resource.layer_bytes();
  }

  unsigned dimensions() const { return semantics::dimensions(resource_.type); }
  int32_t size(unsigned axis) const {
    return static_cast<int32_t>(axis == 0 ? size_.width : axis == 1 ? size_.height : size_.depth);
  }
  uint64_t layer_bytes() const { return layer_bytes_; }
  uint64_t base() const { return resource_.base + size_.offset + resource_.first_layer * layer_bytes_; }
  uint64_t step(unsigned axis) const {
    return axis == 0 ? resource_.format.bytes : axis == 1 ? size_.row_bytes : size_.slice_bytes;
  }

 private:
  const ImageResource& resource_;
  ImageResource::Level size_;
  uint64_t layer_bytes_ = 0;  ///< of arrays
};

/// The elements at `addresses`, as they lie in memory.
ATOLL_GUEST_ACCESS void fetch(const LaneAddresses& addresses, unsigned bytes, Words& words) {
  const auto read = [&]<typename T>(T value, Row& row, unsigned offset) {
    for_lanes([&](unsigned lane) {
      std::memcpy(&value, reinterpret_cast<const void*>(addresses.of[lane] + offset), sizeof value);
      row[lane] = value;
    });
  };
  if (bytes == 1) return read(uint8_t{}, words.of[0], 0);
  if (bytes == 2) return read(uint16_t{}, words.of[0], 0);
  for (unsigned word = 0; word < bytes / 4; ++word) read(uint32_t{}, words.of[word], word * 4);
}

/// The same of some lanes, of which there is one at least; the others read what the first of them does.
void fetch_lanes(LaneAddresses& addresses, uint64_t lanes, unsigned bytes, Words& words) {
  if (lanes != all_lanes) {
    const uint64_t any = addresses.of[std::countr_zero(lanes)];
    for_lanes([&](unsigned lane) { addresses.of[lane] = (lanes >> lane & 1) != 0 ? addresses.of[lane] : any; });
  }
  fetch(addresses, bytes, words);
}

/// Floats of 16, 11 and 10 bits: the last two have no sign. Multiplying moves the exponent's bias, for denormals, too.
[[gnu::always_inline]] inline uint32_t widen_float(uint32_t bits, unsigned mantissa_bits, uint32_t sign) {
  constexpr float bias = 0x1p112F;
  const uint32_t magnitude = bits << (23 - mantissa_bits), infinite = 31U << 23;
  const uint32_t number = std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) * bias) | sign;
  const uint32_t no_number = 0x7FC00000U | magnitude;
  const uint32_t special = magnitude == infinite ? 0x7F800000U | sign : no_number;
  return magnitude >= infinite ? special : number;
}

/// A component of all lanes' elements, as semantics::read_components() gives it.
void decode(const BufferFormat& format, const Words& words, unsigned component, Row& result) {
  if (component >= format.components) return fill(result, component == 3 ? semantics::one(format.number) : 0);
  unsigned position = 0;
  for (unsigned i = 0; i < component; ++i) position += format.width[i];
  const unsigned width = format.width[component], shift = position % 32, unused = 32 - width;
  const Row& from = words.of[position / 32];
  if (width == 32) {
    std::memcpy(&result, &from, sizeof result);
    return;
  }
  const bool is_signed = format.number == NumberFormat::snorm || format.number == NumberFormat::sscaled;
  const auto largest = static_cast<float>((1U << (is_signed ? width - 1 : width)) - 1);
  const auto bits = [&](unsigned lane) { return from[lane] >> shift << unused >> unused; };
  const auto extended = [&](unsigned lane) { return static_cast<int32_t>(from[lane] >> shift << unused) >> unused; };
  const auto put = [&](unsigned lane, float value) { result[lane] = std::bit_cast<uint32_t>(value); };
  // A quotient of integers of up to 16 bits is not so near the middle of two floats that division in double precision
  // would round it otherwise.
  switch (format.number) {
    case NumberFormat::unorm:
      return for_lanes(
          [&](unsigned lane) { put(lane, static_cast<float>(static_cast<int32_t>(bits(lane))) / largest); });
    case NumberFormat::snorm:
      return for_lanes([&](unsigned lane) {
        const float value = static_cast<float>(extended(lane)) / largest;
        put(lane, value < -1 ? -1 : value);
      });
    case NumberFormat::uscaled:
      return for_lanes([&](unsigned lane) { put(lane, static_cast<float>(static_cast<int32_t>(bits(lane)))); });
    case NumberFormat::sscaled:
      return for_lanes([&](unsigned lane) { put(lane, static_cast<float>(extended(lane))); });
    case NumberFormat::uint:
      return for_lanes([&](unsigned lane) { result[lane] = bits(lane); });
    case NumberFormat::sint:
      return for_lanes([&](unsigned lane) { result[lane] = static_cast<uint32_t>(extended(lane)); });
    case NumberFormat::floating: {
      const bool has_sign = width == 16;
      const unsigned mantissa_bits = has_sign ? 10 : width - 5;
      const uint32_t magnitude = has_sign ? 0x7FFF : ~0U;
      return for_lanes([&](unsigned lane) {
        const uint32_t value = bits(lane);
        result[lane] = widen_float(value & magnitude, mantissa_bits, (value & ~magnitude) << 16);
      });
    }
    default:
      return;
  }
}

/// The rows of a resource's selectors, of those components that the instruction names.
template <typename Component>
void write_selected(const ImageAccess& access, uint64_t lanes, Row* rows, const Component& component) {
  unsigned next = 0;
  for (unsigned i = 0; i < 4; ++i) {
    if ((access.mask() >> i & 1) == 0) continue;
    const auto select = static_cast<unsigned>(access.resource.selects[i]);
    Row constant;
    if (select < 4) fill(constant, select == 1 ? semantics::one(access.resource.format.number) : 0);
    copy_lanes(rows[next++], select < 4 ? constant : component(select - 4), lanes);
  }
}

/// Which of X, Y, Z and W the instruction's components come from.
unsigned needed_components(const ImageAccess& access) {
  unsigned needed = 0;
  for (unsigned i = 0; i < 4; ++i) {
    const auto select = static_cast<unsigned>(access.resource.selects[i]);
    if ((access.mask() >> i & 1) != 0 && select >= 4) needed |= 1U << (select - 4);
  }
  return needed;
}

/// `index` modulo `period`, not negative. The quotient is at most 1 off.
[[gnu::always_inline]] inline int32_t modulo(int32_t index, int32_t period, double reciprocal) {
  const auto quotient = static_cast<int32_t>(__builtin_floor(index * reciprocal));
  const int32_t rest = index - quotient * period;
  return rest < 0 ? rest + period : rest >= period ? rest - period : rest;
}

/// Indices as the clamp has them.
void clamp_indices(Indices& index, int32_t size, Clamp clamp) {
  switch (clamp) {
    case Clamp::wrap: {
      const double reciprocal = 1.0 / size;
      return for_lanes([&](unsigned lane) { index.of[lane] = modulo(index.of[lane], size, reciprocal); });
    }
    case Clamp::mirror: {
      const double reciprocal = 0.5 / size;
      return for_lanes([&](unsigned lane) {
        const int32_t in_period = modulo(index.of[lane], 2 * size, reciprocal);
        index.of[lane] = in_period < size ? in_period : 2 * size - 1 - in_period;
      });
    }
    case Clamp::border:
      return for_lanes([&](unsigned lane) {
        const bool inside = static_cast<uint32_t>(index.of[lane]) < static_cast<uint32_t>(size);
        index.of[lane] = inside ? index.of[lane] : outside;
      });
    default:
      return for_lanes([&](unsigned lane) { index.of[lane] = std::clamp(index.of[lane], 0, size - 1); });
  }
}

bool is_plain(Clamp clamp) {
  return clamp == Clamp::wrap || clamp == Clamp::mirror || clamp == Clamp::last_texel || clamp == Clamp::border;
}

/// The elements along an axis that a filter takes, and the second one's weight (semantics/image/image_sampling.cpp).
struct Taps {
  Indices index[2];
  Doubles weight;
};

/// False: one of `lanes` is so far away that its index would not fit.
bool find_taps(const Row& coordinates, uint64_t lanes, int32_t size, const ImageSampler& sampler, Clamp clamp,
               bool linear, Taps& taps) {
  constexpr double far = 1 << 28;
  const double scale = sampler.unnormalized ? 1 : size;
  Doubles position;
  uint64_t lanes_far = 0;
  for_lanes([&](unsigned lane) {
    const double value = static_cast<double>(std::bit_cast<float>(coordinates[lane])) * scale;
    position.of[lane] = __builtin_fabs(value) < far ? value : 0;  // NaN leads to 0
    lanes_far |= uint64_t{__builtin_fabs(value) >= far} << lane;
  });
  if ((lanes_far & lanes) != 0) return false;
  if (!linear) {
    if (!sampler.truncates) {
      for_lanes([&](unsigned lane) { position.of[lane] = __builtin_nearbyint(position.of[lane] * 256) / 256; });
    }
    for_lanes(
        [&](unsigned lane) { taps.index[0].of[lane] = static_cast<int32_t>(__builtin_floor(position.of[lane])); });
    clamp_indices(taps.index[0], size, clamp);
    return true;
  }
  for_lanes([&](unsigned lane) {
    const double before = __builtin_floor(position.of[lane] - 0.5);
    taps.index[0].of[lane] = static_cast<int32_t>(before);
    taps.index[1].of[lane] = static_cast<int32_t>(before) + 1;
    taps.weight.of[lane] = position.of[lane] - 0.5 - before;
  });
  clamp_indices(taps.index[0], size, clamp);
  clamp_indices(taps.index[1], size, clamp);
  return true;
}

/// A sample of a wave: its taps along each axis, and the sums of what they weigh.
class Samples {
 public:
  Samples(const ImageAccess& access, const ImageSampler& sampler, uint64_t lanes, const Row* vgprs)
      : access_(access), sampler_(sampler), lanes_(lanes), vgprs_(vgprs), level_(access.resource) {
    linear_ = sampler.magnifies_linearly && !semantics::is_integer(format().number);
    linear_depth_ = linear_ && sampler.z != Filter::point;
  }

  /// False: not plain.
  bool find() {
    for (unsigned axis = 0; axis < level_.dimensions(); ++axis) {
      const Row& coordinates = vgprs_[access_.address_register(axis)];
      const Clamp clamp = sampler_.clamp[axis];
      if (!engine::is_plain(clamp)) return false;
      if (!find_taps(coordinates, lanes_, level_.size(axis), sampler_, clamp, is_linear(axis), taps_[axis])) {
        return false;
      }
    }
    find_bases();
    return true;
  }

  void write(Row* rows) {
    if (!linear_) {
      take(0);
      return write_selected(access_, lanes_, rows, [&](unsigned i) -> const Row& {
        component(i, values_);
        return values_;
      });
    }
    const unsigned needed = needed_components(access_);
    for (unsigned corner = 0; corner < 8; ++corner) {
      if ((corner & unused_corners()) != 0) continue;
      take(corner);
      const Doubles weight = weight_of(corner);
      for (unsigned i = 0; i < 4; ++i) {
        if ((needed >> i & 1) == 0) continue;
        component(i, values_);
        add(sums_[i], weight, corner == 0);
      }
    }
    write_selected(access_, lanes_, rows, [&](unsigned i) -> const Row& {
      for_lanes([&](unsigned lane) { values_[lane] = std::bit_cast<uint32_t>(static_cast<float>(sums_[i].of[lane])); });
      return values_;
    });
  }

 private:
  const BufferFormat& format() const { return access_.resource.format; }
  bool is_linear(unsigned axis) const { return axis < 2 ? linear_ : linear_depth_; }
  /// Corners with these bits are of axes that have one tap.
  unsigned unused_corners() const {
    unsigned bits = 0;
    for (unsigned axis = 0; axis < 3; ++axis) {
      if (axis >= level_.dimensions() || !is_linear(axis)) bits |= 1U << axis;
    }
    return bits;
  }

  /// Where the lanes' layers begin.
  void find_bases() {
    const uint64_t base = level_.base();
    if (!is_array(access_.resource.type)) return for_lanes([&](unsigned lane) { bases_.of[lane] = base; });
    const Row& layers = vgprs_[access_.address_register(level_.dimensions())];
    const double last = access_.resource.layers() - 1;
    const uint64_t bytes = level_.layer_bytes();
    for_lanes([&](unsigned lane) {
      const double value = __builtin_nearbyint(static_cast<double>(std::bit_cast<float>(layers[lane])));
      const double layer = value > 0 ? (value < last ? value : last) : 0;  // NaN leads to 0
      bases_.of[lane] = base + static_cast<uint64_t>(static_cast<uint32_t>(static_cast<int32_t>(layer))) * bytes;
    });
  }

  /// Fetches the elements of a corner. Of lanes that are inactive or in the border they mean nothing.
  void take(unsigned corner) {
    LaneAddresses addresses = bases_;
    inside_ = ~uint64_t{0};
    for (unsigned axis = 0; axis < level_.dimensions(); ++axis) {
      const Indices& index = taps_[axis].index[corner >> axis & 1];
      const uint64_t step = level_.step(axis);
      for_lanes([&](unsigned lane) {
        addresses.of[lane] += static_cast<uint64_t>(static_cast<uint32_t>(index.of[lane])) * step;
      });
      if (sampler_.clamp[axis] != Clamp::border) continue;
      for_lanes([&](unsigned lane) { inside_ &= ~(uint64_t{index.of[lane] == outside} << lane); });
    }
    const uint64_t read = lanes_ & inside_;
    if (read != 0) fetch_lanes(addresses, read, format().bytes, words_);
  }

  /// A component of the elements fetched last, or of the border's colour.
  void component(unsigned i, Row& row) const {
    decode(format(), words_, i, row);
    if (inside_ == all_lanes) return;
    const uint32_t one = semantics::one(format().number);
    const bool is_one = sampler_.border == ImageSampler::Border::opaque_white ||
                        (sampler_.border == ImageSampler::Border::opaque_black && i == 3);
    const uint32_t border = is_one ? one : 0;
    for_lanes([&](unsigned lane) { row[lane] = (inside_ >> lane & 1) != 0 ? row[lane] : border; });
  }

  Doubles weight_of(unsigned corner) const {
    Doubles weight;
    for_lanes([&](unsigned lane) { weight.of[lane] = 1; });
    for (unsigned axis = 0; axis < level_.dimensions(); ++axis) {
      if (!is_linear(axis)) continue;
      const Doubles& second = taps_[axis].weight;
      if ((corner >> axis & 1) != 0) {
        for_lanes([&](unsigned lane) { weight.of[lane] *= second.of[lane]; });
      } else {
        for_lanes([&](unsigned lane) { weight.of[lane] *= 1 - second.of[lane]; });
      }
    }
    return weight;
  }

  /// What weighs nothing is left out, be it infinite.
  void add(Doubles& sum, const Doubles& weight, bool first) const {
    for_lanes([&](unsigned lane) {
      const double value = static_cast<double>(std::bit_cast<float>(values_[lane])) * weight.of[lane];
      sum.of[lane] = (first ? 0.0 : sum.of[lane]) + (weight.of[lane] != 0 ? value : 0.0);
    });
  }

  const ImageAccess& access_;
  const ImageSampler& sampler_;
  uint64_t lanes_;
  const Row* vgprs_;
  Level level_;
  bool linear_, linear_depth_;
  Taps taps_[3];
  LaneAddresses bases_;
  uint64_t inside_ = 0;  ///< lanes whose corner is not in the border
  Words words_;
  Doubles sums_[4];
  alignas(64) Row values_;
};

}  // namespace

bool load_image_rows(const ImageAccess& access, uint64_t lanes, const Row* vgprs, Row* rows) {
  const ImageResource& resource = access.resource;
  if (!is_plain(access) || access.operation.has_level) return false;
  const Level level(resource);
  LaneAddresses addresses;
  uint64_t inside = lanes;
  for_lanes([&](unsigned lane) { addresses.of[lane] = level.base(); });
  const auto move = [&](unsigned word, uint32_t size, uint64_t step) {
    const Row& index = vgprs[access.address_register(word)];
    for_lanes([&](unsigned lane) {
      addresses.of[lane] += index[lane] * step;
      inside &= ~(uint64_t{index[lane] >= size} << lane);
    });
  };
  for (unsigned axis = 0; axis < level.dimensions(); ++axis) {
    move(axis, static_cast<uint32_t>(level.size(axis)), level.step(axis));
  }
  if (is_array(resource.type)) move(level.dimensions(), resource.layers(), level.layer_bytes());
  Words words;
  if (inside != 0) fetch_lanes(addresses, inside, resource.format.bytes, words);
  Row values;
  write_selected(access, lanes, rows, [&](unsigned i) -> const Row& {
    if (inside != 0) decode(resource.format, words, i, values);
    for_lanes([&](unsigned lane) { values[lane] = (inside >> lane & 1) != 0 ? values[lane] : 0; });
    return values;
  });
  return true;
}

bool sample_image_rows(const ImageAccess& access, const ImageSampler& sampler, uint64_t lanes, const Row* vgprs,
                       Row* rows) {
  const ImageOperation& operation = access.operation;
  if (!is_plain(access) || operation.kind != ImageOperation::Kind::sample) return false;
  // Nothing depends on the level of detail.
  if (operation.lod == ImageOperation::Lod::gradients || sampler.mip != Filter::none ||
      sampler.magnifies_linearly != sampler.minifies_linearly) {
    return false;
  }
  if (sampler.reduction != ImageSampler::Reduction::blend) return false;
  Samples samples(access, sampler, lanes, vgprs);
  if (!samples.find()) return false;
  samples.write(rows);
  return true;
}

ATOLL_HOST_ISA_END
}  // namespace Atoll::engine
