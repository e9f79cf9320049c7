// object: Catalyst's launch layouts: user SGPRs, argument buffers, constant buffers.
#include "object/catalyst_abi.h"

#include <algorithm>
#include <bit>
#include <iterator>

#include "object/catalyst_metadata.h"
#include "support/bytes.h"

namespace Atoll::object::catalyst {

using support::ErrorKind;
using support::fail;
using support::Result;

namespace {

constexpr std::string_view user_sgpr_names[] = {"scratch_descriptor", "setup_pointer",           "flat_bases",
                                                "argument_pointer",   "scratch_offset_and_size", "unused"};

// A row per form, the most demanding feature first. The order of the registers is that of HSA's enabled user SGPRs.
using enum UserSgprs;
constexpr UserSgprRange none[] = {{scratch_descriptor, 0, 4}};
constexpr UserSgprRange args[] = {{scratch_descriptor, 0, 4}, {argument_pointer, 4, 2}};
constexpr UserSgprRange setup[] = {{scratch_descriptor, 0, 4}, {setup_pointer, 4, 2}, {argument_pointer, 6, 2}};
constexpr UserSgprRange enqueue[] = {
    {scratch_descriptor, 0, 4}, {setup_pointer, 4, 2}, {argument_pointer, 6, 2}, {scratch_offset_and_size, 8, 2}};
constexpr UserSgprRange generic[] = {{scratch_descriptor, 0, 4},
                                     {setup_pointer, 4, 2},
                                     {flat_bases, 6, 2},
                                     {argument_pointer, 8, 2},
                                     {scratch_offset_and_size, 10, 2}};

constexpr SetupField setup_table[] = {
    {"dimensions", 0, 16, 16},   {"local_size_x", 1, 0, 16},  {"local_size_y", 1, 16, 16}, {"local_size_z", 2, 0, 16},
    {"global_size_x", 3, 0, 32}, {"global_size_y", 4, 0, 32}, {"global_size_z", 5, 0, 32}};

constexpr std::string_view setup_argument_names[] = {"global_offset_0", "global_offset_1", "global_offset_2",
                                                     "printf_buffer",   "vqueue_pointer",  "aqlwrap_pointer"};

constexpr std::string_view image_types[] = {
    "CL_SNORM_INT8",     "CL_SNORM_INT16",     "CL_UNORM_INT8",      "CL_UNORM_INT16",
    "CL_UNORM_INT24",    "CL_UNORM_SHORT_555", "CL_UNORM_SHORT_565", "CL_UNORM_INT_101010",
    "CL_SIGNED_INT8",    "CL_SIGNED_INT16",    "CL_SIGNED_INT32",    "CL_UNSIGNED_INT8",
    "CL_UNSIGNED_INT16", "CL_UNSIGNED_INT32",  "CL_HALF_FLOAT",      "CL_FLOAT"};
constexpr std::string_view image_orders[] = {
    "CL_A",     "CL_R",     "CL_Rx",        "CL_RG",        "CL_RGx",   "CL_RA",           "CL_RGB",
    "CL_RGBx",  "CL_RGBA",  "CL_BGRA",      "CL_ARGB",      "CL_ABGR",  "CL_sRGB",         "CL_sRGBx",
    "CL_sRGBA", "CL_sBGRA", "CL_INTENSITY", "CL_LUMINANCE", "CL_DEPTH", "CL_DEPTH_STENCIL"};

using enum ConstantValue;
constexpr ConstantField document[] = {{0, global_size, 0},
                                      {1, global_size, 1},
                                      {2, global_size, 2},
                                      {3, dimensions},
                                      {4, local_size, 0},
                                      {5, local_size, 1},
                                      {6, local_size, 2},
                                      {7, zero},
                                      {8, num_groups, 0},
                                      {9, num_groups, 1},
                                      {10, num_groups, 2},
                                      {11, zero},
                                      {12, private_ring_offset},
                                      {13, private_bytes_per_thread},
                                      {14, zero},
                                      {15, zero},
                                      {16, local_ring_offset},
                                      {17, local_bytes_per_group},
                                      {18, zero},
                                      {19, math_tables},
                                      {20, float_constant, 0},
                                      {21, float_constant, 1},
                                      {22, float_constant, 2},
                                      {23, float_constant, 3},
                                      {24, global_offset, 0},
                                      {25, global_offset, 1},
                                      {26, global_offset, 2},
                                      {27, global_offset_flat},
                                      {28, group_offset, 0},
                                      {29, group_offset, 1},
                                      {30, group_offset, 2},
                                      {31, group_offset_flat},
                                      {32, data_segment_offset},
                                      {33, printf_offset},
                                      {34, printf_bytes}};
// GCN has the document's first rows; the offsets' second copy is behind the data segment's.
constexpr ConstantField gcn32[] = {{0, global_size, 0},    {1, global_size, 1},      {2, global_size, 2},
                                   {3, dimensions},        {4, local_size, 0},       {5, local_size, 1},
                                   {6, local_size, 2},     {8, num_groups, 0},       {9, num_groups, 1},
                                   {10, num_groups, 2},    {24, global_offset, 0},   {25, global_offset, 1},
                                   {26, global_offset, 2}, {27, global_offset_flat}, {32, data_segment_offset},
                                   {36, global_offset, 0}, {37, global_offset, 1},   {38, global_offset, 2}};
constexpr ConstantField gcn64[] = {
    {0, global_size, 0},    {1, global_size, 1},      {2, global_size, 2},          {3, dimensions},
    {4, local_size, 0},     {5, local_size, 1},       {6, local_size, 2},           {8, num_groups, 0},
    {9, num_groups, 1},     {10, num_groups, 2},      {24, global_offset, 0},       {25, global_offset, 1},
    {26, global_offset, 2}, {27, global_offset_flat}, {32, data_segment_offset, 0}, {33, data_segment_offset, 1},
    {37, global_offset, 0}, {38, global_offset, 1},   {39, global_offset, 2}};

uint32_t scalar_bytes(ArgumentType type, unsigned bits) {
  switch (type) {
    case ArgumentType::int8:
      return 1;
    case ArgumentType::int16:
    case ArgumentType::float16:
      return 2;
    case ArgumentType::int32:
    case ArgumentType::float32:
      return 4;
    case ArgumentType::int64:
    case ArgumentType::float64:
      return 8;
    default:
      return bits / 8;
  }
}

template <typename Table>
std::optional<uint32_t> index_of(const Table& table, std::string_view name) {
  const auto* found = std::ranges::find(table, name);
  return found == std::end(table) ? std::nullopt : std::optional(static_cast<uint32_t>(found - std::begin(table)));
}

}  // namespace

std::string_view name_of(UserSgprs what) { return user_sgpr_names[static_cast<size_t>(what)]; }

std::optional<uint8_t> UserDataLayout::first(UserSgprs what) const {
  const auto found = std::ranges::find(ranges, what, &UserSgprRange::what);
  return found == ranges.end() ? std::nullopt : std::optional(found->first);
}

UserDataLayout user_data_layout(const Features& features, target::Generation generation) {
  std::span<const UserSgprRange> form = none;
  if (features.use_args) form = args;
  if (features.use_setup) form = setup;
  if (features.use_enqueue || generation == target::Generation::gfx9) form = enqueue;
  // The document has no row for generic pointers on GFX9; its author's assembler, CLRX, keeps the 12 registers there.
  if (features.use_generic) form = generic;
  UserDataLayout layout;
  layout.ranges.assign(form.begin(), form.end());
  layout.count = static_cast<uint8_t>(form.back().first + form.back().count);
  return layout;
}

Features features_of(const RawKernelCode& record, target::Generation generation) {
  const auto is_set = [&](std::string_view name) { return kernel_code_field(name).of(record) != 0; };
  Features features;
  features.use_args = is_set("enable_sgpr_kernarg_segment_ptr");
  features.use_setup = is_set("enable_sgpr_dispatch_ptr");
  features.use_generic = is_set("enable_sgpr_queue_ptr");
  // GFX9 has the scratch registers in any case.
  features.use_enqueue =
      is_set("enable_sgpr_flat_scratch_init") && !features.use_generic && generation != target::Generation::gfx9;
  return features;
}

std::span<const SetupField> setup_fields() { return setup_table; }

std::array<uint32_t, 6> setup_buffer(uint32_t num_dimensions, const std::array<uint32_t, 3>& local,
                                     const std::array<uint32_t, 3>& global) {
  const uint32_t values[] = {num_dimensions, local[0], local[1], local[2], global[0], global[1], global[2]};
  std::array<uint32_t, 6> buffer{};
  for (size_t i = 0; i < std::size(setup_table); ++i) {
    const SetupField& field = setup_table[i];
    const uint32_t mask = field.bits == 32 ? ~0u : (1u << field.bits) - 1;
    buffer[field.dword] |= (values[i] & mask) << field.low_bit;
  }
  return buffer;
}

std::span<const std::string_view> setup_arguments() { return setup_argument_names; }

Result<ArgumentLayout> argument_layout(std::span<const ArgumentShape> arguments, unsigned bits) {
  if (bits != 32 && bits != 64) return fail(ErrorKind::invalid_argument, "{} bits instead of 32 or 64", bits);
  ArgumentLayout layout;
  const auto place = [&](uint32_t alignment, uint32_t size) {
    const auto offset = static_cast<uint32_t>(support::align_up(layout.size, alignment));
    layout.size = offset + size;
    return ArgumentPlace{.offset = offset, .size = size};
  };
  for (size_t i = 0; i < std::size(setup_argument_names); ++i) layout.setup.push_back(place(bits / 8, bits / 8));
  for (const ArgumentShape& shape : arguments) {
    constexpr uint8_t counts[] = {1, 2, 3, 4, 8, 16};
    const size_t number = layout.arguments.size();
    if (std::ranges::find(counts, shape.elements) == std::end(counts))
      return fail(ErrorKind::invalid_argument, "argument {} is a vector of {} elements; 2, 3, 4, 8 and 16 are allowed",
                  number, shape.elements);
    if (shape.elements != 1 && shape.type >= ArgumentType::pointer)
      return fail(ErrorKind::invalid_argument, "argument {} is a vector of elements that are not numbers", number);
    const uint32_t element = scalar_bytes(shape.type, bits);
    layout.arguments.push_back(place(element, element * (shape.elements == 3 ? 4 : shape.elements)));
  }
  return layout;
}

std::string_view image_type_name(uint32_t dword) { return image_types[dword & 0xF]; }

std::optional<std::string_view> image_order_name(uint32_t dword) {
  const uint32_t order = dword & 0x1F;
  return order < std::size(image_orders) ? std::optional(image_orders[order]) : std::nullopt;
}

std::optional<uint32_t> find_image_type(std::string_view name) { return index_of(image_types, name); }
std::optional<uint32_t> find_image_order(std::string_view name) { return index_of(image_orders, name); }

std::span<const ConstantField> constant_buffer_0(ConstantLayout layout) {
  switch (layout) {
    case ConstantLayout::document:
      return document;
    case ConstantLayout::gcn32:
      return gcn32;
    case ConstantLayout::gcn64:
      return gcn64;
  }
  return document;
}

std::vector<uint32_t> fill_constant_buffer_0(const ConstantSetup& launch, ConstantLayout layout) {
  const std::span<const ConstantField> fields = constant_buffer_0(layout);
  std::vector<uint32_t> buffer(fields.back().dword + 1u);
  constexpr float constants[] = {0.0F, 0.5F, 1.0F, 2.0F};
  const auto flat = [](const std::array<uint32_t, 3>& each) { return each[0] * each[1] * each[2]; };
  const auto value_of = [&](const ConstantField& field) -> uint32_t {
    const uint8_t i = field.index;
    switch (field.value) {
      case zero:
        return 0;
      case global_size:
        return launch.is_task ? 1 : launch.global_size[i];
      case dimensions:
        return launch.is_task ? 0 : launch.dimensions;
      case local_size:
        return launch.is_task ? 1 : launch.local_size[i];
      case num_groups:
        return launch.is_task ? 1 : launch.global_size[i] / std::max(1u, launch.local_size[i]);
      case private_ring_offset:
        return launch.private_ring_offset;
      case private_bytes_per_thread:
        return launch.private_bytes;
      case local_ring_offset:
        return launch.local_ring_offset;
      case local_bytes_per_group:
        return launch.local_bytes;
      case math_tables:
        return launch.math_tables;
      case float_constant:
        return std::bit_cast<uint32_t>(constants[i]);
      case global_offset:
        return launch.global_offset[i];
      case global_offset_flat:
        return flat(launch.global_offset);
      case group_offset:
        return launch.group_offset[i];
      case group_offset_flat:
        return flat(launch.group_offset);
      case data_segment_offset:
        return static_cast<uint32_t>(launch.data_segment_offset >> (32 * i));
      case printf_offset:
        return launch.printf_offset;
      case printf_bytes:
        return launch.printf_bytes;
    }
    return 0;
  };
  for (const ConstantField& field : fields) buffer[field.dword] = value_of(field);
  return buffer;
}

std::optional<uint32_t> constant_argument_bytes(std::string_view type, uint32_t count) {
  const auto slots = [](uint64_t bytes) {
    return static_cast<uint32_t>(support::align_up(std::max<uint64_t>(bytes, 1), constant_slot_bytes));
  };
  if (type == "struct" || type == "union") return slots(count);
  if (type == "event" || type == "opaque") return slots(4);
  const auto element = metadata_type_size(type);
  if (!element) return std::nullopt;
  // 8- and 16-bit vectors of more than 4 components start a slot every 4 components.
  if (*element < 4 && count > 4) return (count + 3) / 4 * constant_slot_bytes;
  return slots(uint64_t{*element} * (count == 3 ? 4 : count));
}

std::vector<uint8_t> pack_narrow_vector(std::span<const uint8_t> components, uint32_t component_bytes) {
  const size_t group = size_t{4} * component_bytes;
  std::vector<uint8_t> packed((components.size() + group - 1) / group * constant_slot_bytes);
  for (size_t i = 0; i < components.size(); ++i) packed[i / group * constant_slot_bytes + i % group] = components[i];
  return packed;
}

std::array<uint32_t, 8> image_constants_r700(const ImageConstants& image) {
  return {image.width,     image.height,        image.depth,     image.offset,
          image.data_type, image.channel_order, image.row_pitch, image.slice_pitch};
}

std::array<uint32_t, 8> image_constants(const ImageConstants& image) {
  const auto reciprocal = [](uint32_t size) { return std::bit_cast<uint32_t>(1.0F / static_cast<float>(size)); };
  return {image.width,
          image.height,
          image.depth,
          image.data_type,
          reciprocal(image.width),
          reciprocal(image.height),
          reciprocal(image.depth),
          image.channel_order};
}

uint32_t encode_sampler(const SamplerConstant& sampler) {
  return static_cast<uint32_t>(sampler.normalized) | static_cast<uint32_t>(sampler.addressing) << 1 |
         static_cast<uint32_t>(sampler.filter) << 4;
}

Result<SamplerConstant> decode_sampler(uint32_t value) {
  const SamplerConstant sampler{.normalized = (value & 1) != 0,
                                .addressing = static_cast<uint8_t>(value >> 1 & 7),
                                .filter = static_cast<uint8_t>(value >> 4 & 3)};
  if (sampler.addressing > 4)
    return fail(ErrorKind::invalid_argument, "sampler {:#x} has addressing mode {}; 0 to 4 exist", value,
                sampler.addressing);
  if (sampler.filter > 2)
    return fail(ErrorKind::invalid_argument, "sampler {:#x} has filter {}; 0 to 2 exist", value, sampler.filter);
  if (value >> 6 != 0) return fail(ErrorKind::invalid_argument, "sampler {:#x} has bits beyond its 6", value);
  return sampler;
}

}  // namespace Atoll::object::catalyst
