// hsa: images and samplers.
//
// Both layouts, linear and opaque, are rows of elements one after the other: what the opaque one adds is that the
// runtime chooses the distance of rows, a multiple of 256 bytes as GFX9's resource words want it. Importing, exporting,
// copying and clearing are done by the host.
//
// Images belong to GPUs that have instructions for them. The others have none: every format is unsupported there.
//
// Source: hsa_ext_image.h; hsa_ext_amd.h, hsa_amd_image_create; ISA guides, "Buffer Resource Descriptor". The words of
// images and samplers are those of semantics/image/image_resource.h and semantics/image/image_sampler.h.
#include "hsa/image/images.h"

#include <algorithm>
#include <cstring>
#include <span>

#include "hsa/interface/attribute.h"
#include "hsa/interface/rocm_7_2_extensions.h"
#include "hsa/runtime.h"
#include "semantics/image/image_format.h"
#include "semantics/image/image_resource.h"
#include "semantics/image/image_sampler.h"
#include "semantics/memory/buffer_format.h"

namespace Atoll::hsa {

namespace {

constexpr uint64_t row_alignment = semantics::image_row_alignment;
constexpr uint64_t block_bytes = 64 << 10;

semantics::ImageType type_of(hsa_ext_image_geometry_t geometry) {
  using enum semantics::ImageType;
  switch (geometry) {
    case HSA_EXT_IMAGE_GEOMETRY_1D:
      return one_d;
    case HSA_EXT_IMAGE_GEOMETRY_3D:
      return three_d;
    case HSA_EXT_IMAGE_GEOMETRY_1DA:
      return one_d_array;
    case HSA_EXT_IMAGE_GEOMETRY_2DA:
    case HSA_EXT_IMAGE_GEOMETRY_2DADEPTH:
      return two_d_array;
    default:
      return two_d;
  }
}

const target::Processor& processor_of(const GpuAgent& gpu) { return gpu.machine->processor(); }
bool is_radeon(const GpuAgent& gpu) { return processor_of(gpu).generation >= target::Generation::gfx10; }

/// Whether the GPU's resources have a number for the format, those of buffers or those of images.
bool has_format(const GpuAgent& gpu, const ImageFormat& format, hsa_ext_image_geometry_t geometry) {
  const target::Generation generation = processor_of(gpu).generation;
  if (geometry == HSA_EXT_IMAGE_GEOMETRY_1DB && is_radeon(gpu)) {
    return semantics::unified_format_number(format.elements, generation).has_value();
  }
  return semantics::image_format_fields(format.elements, generation).has_value();
}

void set_buffer(std::span<uint32_t> words, const GpuAgent& gpu, const Image& image) {
  const target::Generation generation = processor_of(gpu).generation;
  const auto set = [&](uint16_t bit, uint8_t width, uint64_t value) {
    semantics::DescriptorField{bit, width}.set(words, value);
  };
  const uint64_t width = image.descriptor.width;
  set(0, 48, reinterpret_cast<uint64_t>(image.data));
  set(48, 14, image.format.bytes());  // stride
  for (uint16_t i = 0; i < 4; ++i) set(96 + 3 * i, 3, static_cast<uint64_t>(image.format.selects[i]));
  if (is_radeon(gpu)) {
    set(64, 32, width);  // records, by which accesses are checked: OOB_SELECT stays 0
    set(108, 7, *semantics::unified_format_number(image.format.elements, generation));
  } else {
    const auto format = *semantics::image_format_fields(image.format.elements, generation);
    // GFX8 counts bytes unless the buffer is swizzled, GFX6 and GFX7 records.
    const bool counts_records = generation < target::Generation::gfx8;
    set(64, 32, counts_records ? width : width * image.format.bytes());
    set(108, 3, format.number);
    set(111, 4, format.data);
  }
}

semantics::ImageResource resource_of(const Image& image) {
  const hsa_ext_image_descriptor_t& descriptor = image.descriptor;
  semantics::ImageResource resource{.base = reinterpret_cast<uint64_t>(image.data),
                                    .type = type_of(descriptor.geometry),
                                    .format = image.format.elements,
                                    .selects = image.format.selects};
  resource.width = static_cast<uint32_t>(descriptor.width);
  resource.height = static_cast<uint32_t>(std::max<uint64_t>(descriptor.height, 1));
  resource.depth = static_cast<uint32_t>(std::max<uint64_t>(descriptor.depth, 1));
  if (is_array(resource.type)) resource.last_layer = static_cast<uint32_t>(descriptor.array_size) - 1;
  resource.row_pitch = static_cast<uint32_t>(image.row_pitch / image.format.bytes());
  return resource;
}

/// Nothing: the GPU's resource words cannot say that the rows are so far from each other.
std::optional<Images::Words> resource_words(const GpuAgent& gpu, const Image& image) {
  Images::Words words{};
  const hsa_ext_image_descriptor_t& descriptor = image.descriptor;
  if (descriptor.geometry == HSA_EXT_IMAGE_GEOMETRY_1DB) {
    set_buffer(words, gpu, image);
  } else {
    const auto resource = semantics::write_image_resource(resource_of(image), processor_of(gpu));
    if (!resource) return {};
    std::ranges::copy(*resource, words.begin());
  }
  words[8] = descriptor.format.channel_type;
  words[9] = descriptor.format.channel_order;
  words[10] = static_cast<uint32_t>(descriptor.width);
  return words;
}

/// The GPU of a handle; `status` says what is wrong with the agent otherwise.
const GpuAgent* find_gpu(hsa_agent_t agent, hsa_status_t& status) {
  const GpuAgent* found = Runtime::get()->find_gpu(agent);
  status = found == nullptr ? HSA_STATUS_ERROR_INVALID_AGENT : HSA_STATUS_SUCCESS;
  return found;
}

bool has_images(const GpuAgent& gpu) { return processor_of(gpu).has(target::Feature::image_insts); }

/// What images of a format and geometry can be; nothing if there are none.
std::optional<ImageFormat> find_format(const GpuAgent& gpu, const hsa_ext_image_format_t& format,
                                       hsa_ext_image_geometry_t geometry) {
  if (!has_images(gpu)) return std::nullopt;
  const auto found = find_image_format(format, geometry);
  return found && has_format(gpu, *found, geometry) ? found : std::nullopt;
}

bool is_geometry(hsa_ext_image_geometry_t geometry) {
  return static_cast<unsigned>(geometry) <= HSA_EXT_IMAGE_GEOMETRY_2DADEPTH;
}

bool is_permission(hsa_access_permission_t permission) {
  return permission >= HSA_ACCESS_PERMISSION_RO && permission <= HSA_ACCESS_PERMISSION_RW;
}

hsa_status_t extended(int status) { return static_cast<hsa_status_t>(status); }

/// Checks a descriptor's sizes against the agent's limits, which fit the fields of the resource words.
hsa_status_t check_size(const GpuAgent& gpu, const hsa_ext_image_descriptor_t& descriptor) {
  const auto limit = [&](int attribute) {
    uint32_t value[3]{};
    hsa_agent_get_info(gpu.handle(), static_cast<hsa_agent_info_t>(attribute), value);
    return uint64_t{value[0]};
  };
  uint64_t width = 0, height = 1, depth = 1, layers = 1;
  switch (descriptor.geometry) {
    case HSA_EXT_IMAGE_GEOMETRY_1D:
      width = limit(HSA_EXT_AGENT_INFO_IMAGE_1D_MAX_ELEMENTS);
      break;
    case HSA_EXT_IMAGE_GEOMETRY_1DA:
      width = limit(HSA_EXT_AGENT_INFO_IMAGE_1DA_MAX_ELEMENTS);
      layers = limit(HSA_EXT_AGENT_INFO_IMAGE_ARRAY_MAX_LAYERS);
      break;
    case HSA_EXT_IMAGE_GEOMETRY_1DB:
      width = limit(HSA_EXT_AGENT_INFO_IMAGE_1DB_MAX_ELEMENTS);
      break;
    case HSA_EXT_IMAGE_GEOMETRY_3D:
      width = height = depth = limit(HSA_EXT_AGENT_INFO_IMAGE_3D_MAX_ELEMENTS);
      break;
    case HSA_EXT_IMAGE_GEOMETRY_2DA:
    case HSA_EXT_IMAGE_GEOMETRY_2DADEPTH:
      layers = limit(HSA_EXT_AGENT_INFO_IMAGE_ARRAY_MAX_LAYERS);
      [[fallthrough]];
    default:
      width = height = limit(HSA_EXT_AGENT_INFO_IMAGE_2D_MAX_ELEMENTS);
      break;
  }
  // Sizes that a geometry has not are 0 or 1.
  const auto fits = [](uint64_t size, uint64_t most) { return size <= most && (size != 0 || most == 1); };
  const bool good = fits(descriptor.width, width) && fits(descriptor.height, height) && fits(descriptor.depth, depth) &&
                    fits(descriptor.array_size, layers);
  return good ? HSA_STATUS_SUCCESS : extended(HSA_EXT_STATUS_ERROR_IMAGE_SIZE_UNSUPPORTED);
}

struct Layout {
  ImageFormat format;
  uint64_t row_pitch, slice_pitch;
  hsa_ext_image_data_info_t info;
};

/// Checks what images of this description may be, and says how their data lies. Pitches of 0 are the default ones.
hsa_status_t plan(const GpuAgent& gpu, const hsa_ext_image_descriptor_t& descriptor, hsa_access_permission_t permission,
                  bool opaque, uint64_t row_pitch, uint64_t slice_pitch, Layout& layout) {
  if (!is_permission(permission) || !is_geometry(descriptor.geometry)) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  const auto format = find_format(gpu, descriptor.format, descriptor.geometry);
  // ROCr does not check the permission against the format's capabilities, and HIP requests more than it needs.
  if (!format || format->capabilities == 0) {
    return extended(HSA_EXT_STATUS_ERROR_IMAGE_FORMAT_UNSUPPORTED);
  }
  if (const hsa_status_t status = check_size(gpu, descriptor); status != HSA_STATUS_SUCCESS) return status;

  const bool buffer = descriptor.geometry == HSA_EXT_IMAGE_GEOMETRY_1DB;
  const uint64_t least_row = descriptor.width * format->bytes();
  const uint64_t height = std::max<uint64_t>(descriptor.height, 1);
  const uint64_t layers = std::max<uint64_t>({descriptor.depth, descriptor.array_size, 1});
  if (row_pitch == 0) {
    row_pitch = opaque && !buffer ? (least_row + row_alignment - 1) / row_alignment * row_alignment : least_row;
  }
  const bool has_slices = descriptor.geometry != HSA_EXT_IMAGE_GEOMETRY_1D &&
                          descriptor.geometry != HSA_EXT_IMAGE_GEOMETRY_2D &&
                          descriptor.geometry != HSA_EXT_IMAGE_GEOMETRY_2DDEPTH && !buffer;
  // The resource words have no field for the distance of slices: it follows from that of rows.
  const uint64_t only_slice = has_slices ? row_pitch * height : 0;
  const bool says_pitch = buffer || semantics::says_row_pitch(type_of(descriptor.geometry), processor_of(gpu));
  const uint64_t only_row = semantics::default_row_pitch(static_cast<uint32_t>(descriptor.width), format->bytes()) *
                            uint64_t{format->bytes()};
  if (row_pitch < least_row || (slice_pitch != 0 && slice_pitch != only_slice) ||
      (!buffer && row_pitch % row_alignment != 0) || (!says_pitch && row_pitch != only_row)) {
    return extended(HSA_EXT_STATUS_ERROR_IMAGE_PITCH_UNSUPPORTED);
  }
  layout = {*format, row_pitch, only_slice, {}};
  layout.info.size = row_pitch * height * layers;
  layout.info.alignment = buffer ? format->bytes() : row_alignment;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t create(const GpuAgent& gpu, const hsa_ext_image_descriptor_t& descriptor, const void* data,
                    const Layout& layout, hsa_ext_image_t* handle) {
  if (reinterpret_cast<uint64_t>(data) % layout.info.alignment != 0) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  const Image image{descriptor, layout.format, static_cast<uint8_t*>(const_cast<void*>(data)), layout.row_pitch,
                    layout.slice_pitch};
  const auto words = resource_words(gpu, image);
  if (!words) return extended(HSA_EXT_STATUS_ERROR_IMAGE_PITCH_UNSUPPORTED);
  handle->handle = Runtime::get()->images.add_image(image, *words);
  return handle->handle != 0 ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_OUT_OF_RESOURCES;
}

bool holds(const Image& image, const hsa_dim3_t& offset, const hsa_dim3_t& range) {
  const hsa_dim3_t extent = image.extent();
  const auto inside = [](uint32_t start, uint32_t count, uint32_t size) {
    return start <= size && count <= size - start;
  };
  return inside(offset.x, range.x, extent.x) && inside(offset.y, range.y, extent.y) &&
         inside(offset.z, range.z, extent.z);
}

/// Calls for each row of a region, with its place from the region's start.
template <typename Visit>
void for_each_row(const hsa_dim3_t& range, const Visit& visit) {
  for (uint32_t z = 0; z < range.z; ++z) {
    for (uint32_t y = 0; y < range.y; ++y) visit(y, z);
  }
}

/// Copies between an image and rows in memory of the program's.
hsa_status_t transfer(hsa_agent_t agent, hsa_ext_image_t handle, uint8_t* memory, size_t row_pitch, size_t slice_pitch,
                      const hsa_ext_image_region_t* region, bool import) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  hsa_status_t status{};
  if (find_gpu(agent, status) == nullptr) return status;
  const auto image = Runtime::get()->images.find(handle);
  if (!image || memory == nullptr || region == nullptr || !holds(*image, region->offset, region->range)) {
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
  const size_t row_bytes = size_t{region->range.x} * image->format.bytes();
  row_pitch = std::max(row_pitch, row_bytes);
  const bool layers_of_rows = image->descriptor.geometry == HSA_EXT_IMAGE_GEOMETRY_1DA;
  slice_pitch = std::max(slice_pitch, layers_of_rows ? row_pitch : row_pitch * region->range.y);
  for_each_row(region->range, [&](uint32_t y, uint32_t z) {
    uint8_t* in_memory = memory + z * slice_pitch + y * (layers_of_rows ? slice_pitch : row_pitch);
    uint8_t* in_image = image->element({region->offset.x, region->offset.y + y, region->offset.z + z});
    std::memcpy(import ? in_image : in_memory, import ? in_memory : in_image, row_bytes);
  });
  return HSA_STATUS_SUCCESS;
}

}  // namespace

hsa_dim3_t Image::extent() const {
  const auto size = [](uint64_t count) { return static_cast<uint32_t>(std::max<uint64_t>(count, 1)); };
  switch (descriptor.geometry) {
    case HSA_EXT_IMAGE_GEOMETRY_1DA:
      return {size(descriptor.width), size(descriptor.array_size), 1};
    case HSA_EXT_IMAGE_GEOMETRY_2DA:
    case HSA_EXT_IMAGE_GEOMETRY_2DADEPTH:
      return {size(descriptor.width), size(descriptor.height), size(descriptor.array_size)};
    default:
      return {size(descriptor.width), size(descriptor.height), size(descriptor.depth)};
  }
}

uint64_t Images::place(const Words& words) {
  if (free_.empty()) {
    const auto block = memory_.allocate(block_bytes, 0, "images and samplers", 0, machine::Memory::Pages::small);
    if (!block) return 0;
    for (uint64_t offset = block_bytes; offset != 0; offset -= sizeof(Words)) {
      free_.push_back(*block + offset - sizeof(Words));
    }
  }
  const uint64_t address = free_.back();
  free_.pop_back();
  std::memcpy(reinterpret_cast<void*>(address), words.data(), sizeof words);
  return address;
}

uint64_t Images::add_image(const Image& image, const Words& words) {
  const std::scoped_lock lock(mutex_);
  const uint64_t address = place(words);
  if (address != 0) handles_[address] = image;
  return address;
}

uint64_t Images::add_sampler(const Words& words) {
  const std::scoped_lock lock(mutex_);
  const uint64_t address = place(words);
  if (address != 0) handles_[address] = std::nullopt;
  return address;
}

std::optional<Image> Images::find(hsa_ext_image_t handle) const {
  const std::scoped_lock lock(mutex_);
  const auto position = handles_.find(handle.handle);
  return position == handles_.end() ? std::nullopt : position->second;
}

bool Images::remove_image(hsa_ext_image_t handle) {
  const std::scoped_lock lock(mutex_);
  const auto position = handles_.find(handle.handle);
  if (position == handles_.end() || !position->second) return false;
  free_.push_back(handle.handle);
  handles_.erase(position);
  return true;
}

bool Images::remove_sampler(hsa_ext_sampler_t handle) {
  const std::scoped_lock lock(mutex_);
  const auto position = handles_.find(handle.handle);
  if (position == handles_.end() || position->second) return false;
  free_.push_back(handle.handle);
  handles_.erase(position);
  return true;
}

}  // namespace Atoll::hsa

using namespace Atoll;
using namespace Atoll::hsa;

// What images there may be.

hsa_status_t hsa_ext_image_get_capability(hsa_agent_t agent, hsa_ext_image_geometry_t geometry,
                                          const hsa_ext_image_format_t* image_format, uint32_t* capability_mask) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  hsa_status_t status{};
  const GpuAgent* gpu = find_gpu(agent, status);
  if (gpu == nullptr) return status;
  if (image_format == nullptr || capability_mask == nullptr || !is_geometry(geometry)) {
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
  const auto format = find_format(*gpu, *image_format, geometry);
  *capability_mask = format ? format->capabilities : uint32_t{HSA_EXT_IMAGE_CAPABILITY_NOT_SUPPORTED};
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_ext_image_get_capability_with_layout(hsa_agent_t agent, hsa_ext_image_geometry_t geometry,
                                                      const hsa_ext_image_format_t* image_format,
                                                      hsa_ext_image_data_layout_t image_data_layout,
                                                      uint32_t* capability_mask) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (image_data_layout != HSA_EXT_IMAGE_DATA_LAYOUT_LINEAR) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  return hsa_ext_image_get_capability(agent, geometry, image_format, capability_mask);
}

hsa_status_t hsa_ext_image_data_get_info(hsa_agent_t agent, const hsa_ext_image_descriptor_t* image_descriptor,
                                         hsa_access_permission_t access_permission,
                                         hsa_ext_image_data_info_t* image_data_info) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  hsa_status_t status{};
  const GpuAgent* gpu = find_gpu(agent, status);
  if (gpu == nullptr) return status;
  if (image_descriptor == nullptr || image_data_info == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  Layout layout{};
  status = plan(*gpu, *image_descriptor, access_permission, true, 0, 0, layout);
  if (status == HSA_STATUS_SUCCESS) *image_data_info = layout.info;
  return status;
}

hsa_status_t hsa_ext_image_data_get_info_with_layout(hsa_agent_t agent,
                                                     const hsa_ext_image_descriptor_t* image_descriptor,
                                                     hsa_access_permission_t access_permission,
                                                     hsa_ext_image_data_layout_t image_data_layout,
                                                     size_t image_data_row_pitch, size_t image_data_slice_pitch,
                                                     hsa_ext_image_data_info_t* image_data_info) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  hsa_status_t status{};
  const GpuAgent* gpu = find_gpu(agent, status);
  if (gpu == nullptr) return status;
  if (image_descriptor == nullptr || image_data_info == nullptr ||
      image_data_layout != HSA_EXT_IMAGE_DATA_LAYOUT_LINEAR) {
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
  Layout layout{};
  status =
      plan(*gpu, *image_descriptor, access_permission, false, image_data_row_pitch, image_data_slice_pitch, layout);
  if (status == HSA_STATUS_SUCCESS) *image_data_info = layout.info;
  return status;
}

// Creation.

hsa_status_t hsa_ext_image_create(hsa_agent_t agent, const hsa_ext_image_descriptor_t* image_descriptor,
                                  const void* image_data, hsa_access_permission_t access_permission,
                                  hsa_ext_image_t* image) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  hsa_status_t status{};
  const GpuAgent* gpu = find_gpu(agent, status);
  if (gpu == nullptr) return status;
  if (image_descriptor == nullptr || image_data == nullptr || image == nullptr)
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  Layout layout{};
  status = plan(*gpu, *image_descriptor, access_permission, true, 0, 0, layout);
  return status == HSA_STATUS_SUCCESS ? create(*gpu, *image_descriptor, image_data, layout, image) : status;
}

hsa_status_t hsa_ext_image_create_with_layout(hsa_agent_t agent, const hsa_ext_image_descriptor_t* image_descriptor,
                                              const void* image_data, hsa_access_permission_t access_permission,
                                              hsa_ext_image_data_layout_t image_data_layout,
                                              size_t image_data_row_pitch, size_t image_data_slice_pitch,
                                              hsa_ext_image_t* image) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  hsa_status_t status{};
  const GpuAgent* gpu = find_gpu(agent, status);
  if (gpu == nullptr) return status;
  if (image_descriptor == nullptr || image_data == nullptr || image == nullptr ||
      image_data_layout != HSA_EXT_IMAGE_DATA_LAYOUT_LINEAR) {
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
  Layout layout{};
  status =
      plan(*gpu, *image_descriptor, access_permission, false, image_data_row_pitch, image_data_slice_pitch, layout);
  return status == HSA_STATUS_SUCCESS ? create(*gpu, *image_descriptor, image_data, layout, image) : status;
}

// An image that a graphics driver laid out: its resource words come with it. Those of linear images are understood.
hsa_status_t hsa_amd_image_create(hsa_agent_t agent, const hsa_ext_image_descriptor_t* image_descriptor,
                                  const hsa_amd_image_descriptor_t* image_layout, const void* image_data,
                                  hsa_access_permission_t access_permission, hsa_ext_image_t* image) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  hsa_status_t status{};
  const GpuAgent* gpu = find_gpu(agent, status);
  if (gpu == nullptr) return status;
  if (image_descriptor == nullptr || image_layout == nullptr || image_data == nullptr || image == nullptr) {
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
  constexpr uint32_t amd = 0x1002;  // as a PCI vendor
  const uint32_t device = amd << 16 | gpu->product().pci_device_id;
  if (image_layout->version != 1 || image_layout->deviceID != device) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  const auto resource = semantics::read_image_resource({image_layout->data, 8}, processor_of(*gpu));
  if (!resource) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  const auto format = find_image_format(image_descriptor->format, image_descriptor->geometry);
  const uint64_t row_pitch = format ? uint64_t{resource->row_pitch} * format->bytes() : 0;
  Layout layout{};
  status = plan(*gpu, *image_descriptor, access_permission, false, row_pitch, 0, layout);
  return status == HSA_STATUS_SUCCESS ? create(*gpu, *image_descriptor, image_data, layout, image)
                                      : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

hsa_status_t hsa_ext_image_destroy(hsa_agent_t agent, hsa_ext_image_t image) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  hsa_status_t status{};
  if (find_gpu(agent, status) == nullptr) return status;
  return Runtime::get()->images.remove_image(image) ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

// Contents.

hsa_status_t hsa_ext_image_import(hsa_agent_t agent, const void* src_memory, size_t src_row_pitch,
                                  size_t src_slice_pitch, hsa_ext_image_t dst_image,
                                  const hsa_ext_image_region_t* image_region) {
  return transfer(agent, dst_image, static_cast<uint8_t*>(const_cast<void*>(src_memory)), src_row_pitch,
                  src_slice_pitch, image_region, true);
}

hsa_status_t hsa_ext_image_export(hsa_agent_t agent, hsa_ext_image_t src_image, void* dst_memory, size_t dst_row_pitch,
                                  size_t dst_slice_pitch, const hsa_ext_image_region_t* image_region) {
  return transfer(agent, src_image, static_cast<uint8_t*>(dst_memory), dst_row_pitch, dst_slice_pitch, image_region,
                  false);
}

hsa_status_t hsa_ext_image_copy(hsa_agent_t agent, hsa_ext_image_t src_image, const hsa_dim3_t* src_offset,
                                hsa_ext_image_t dst_image, const hsa_dim3_t* dst_offset, const hsa_dim3_t* range) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  hsa_status_t status{};
  if (find_gpu(agent, status) == nullptr) return status;
  const auto from = Runtime::get()->images.find(src_image), to = Runtime::get()->images.find(dst_image);
  if (!from || !to || src_offset == nullptr || dst_offset == nullptr || range == nullptr ||
      !same_elements(from->descriptor.format, to->descriptor.format) || !holds(*from, *src_offset, *range) ||
      !holds(*to, *dst_offset, *range)) {
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
  for_each_row(*range, [&](uint32_t y, uint32_t z) {
    std::memmove(to->element({dst_offset->x, dst_offset->y + y, dst_offset->z + z}),
                 from->element({src_offset->x, src_offset->y + y, src_offset->z + z}),
                 size_t{range->x} * from->format.bytes());
  });
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_ext_image_clear(hsa_agent_t agent, hsa_ext_image_t image, const void* data,
                                 const hsa_ext_image_region_t* image_region) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  hsa_status_t status{};
  if (find_gpu(agent, status) == nullptr) return status;
  const auto found = Runtime::get()->images.find(image);
  if (!found || data == nullptr || image_region == nullptr ||
      !holds(*found, image_region->offset, image_region->range)) {
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
  const std::array<uint8_t, 16> element = encode_element(found->format, data);
  for_each_row(image_region->range, [&](uint32_t y, uint32_t z) {
    uint8_t* row = found->element({image_region->offset.x, image_region->offset.y + y, image_region->offset.z + z});
    for (uint32_t x = 0; x < image_region->range.x; ++x, row += found->format.bytes()) {
      std::memcpy(row, element.data(), found->format.bytes());
    }
  });
  return HSA_STATUS_SUCCESS;
}

// Samplers.

hsa_status_t hsa_ext_sampler_create_v2(hsa_agent_t agent, const hsa_ext_sampler_descriptor_v2_t* sampler_descriptor,
                                       hsa_ext_sampler_t* sampler) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  hsa_status_t status{};
  const GpuAgent* gpu = find_gpu(agent, status);
  if (gpu == nullptr) return status;
  if (sampler_descriptor == nullptr || sampler == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  if (!has_images(*gpu) || sampler_descriptor->coordinate_mode > HSA_EXT_SAMPLER_COORDINATE_MODE_NORMALIZED ||
      sampler_descriptor->filter_mode > HSA_EXT_SAMPLER_FILTER_MODE_LINEAR) {
    return extended(HSA_EXT_STATUS_ERROR_SAMPLER_DESCRIPTOR_UNSUPPORTED);
  }
  using Sampler = semantics::ImageSampler;
  Sampler described{.max_lod = 16};  // cut off at the field's largest
  for (unsigned axis = 0; axis < 3; ++axis) {
    constexpr Sampler::Clamp clamps[] = {Sampler::Clamp::last_texel,  // undefined
                                         Sampler::Clamp::last_texel, Sampler::Clamp::border, Sampler::Clamp::wrap,
                                         Sampler::Clamp::mirror};
    const uint32_t mode = sampler_descriptor->address_modes[axis];
    if (mode >= std::size(clamps)) return extended(HSA_EXT_STATUS_ERROR_SAMPLER_DESCRIPTOR_UNSUPPORTED);
    described.clamp[axis] = clamps[mode];
  }
  described.unnormalized = sampler_descriptor->coordinate_mode == HSA_EXT_SAMPLER_COORDINATE_MODE_UNNORMALIZED;
  described.magnifies_linearly = described.minifies_linearly =
      sampler_descriptor->filter_mode == HSA_EXT_SAMPLER_FILTER_MODE_LINEAR;
  Images::Words words{};
  std::ranges::copy(semantics::write_image_sampler(described, processor_of(*gpu)), words.begin());
  sampler->handle = Runtime::get()->images.add_sampler(words);
  return sampler->handle != 0 ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_OUT_OF_RESOURCES;
}

hsa_status_t hsa_ext_sampler_create(hsa_agent_t agent, const hsa_ext_sampler_descriptor_t* sampler_descriptor,
                                    hsa_ext_sampler_t* sampler) {
  if (sampler_descriptor == nullptr) return hsa_ext_sampler_create_v2(agent, nullptr, sampler);
  const auto mode = sampler_descriptor->address_mode;
  const hsa_ext_sampler_descriptor_v2_t same{
      sampler_descriptor->coordinate_mode, sampler_descriptor->filter_mode, {mode, mode, mode}};
  return hsa_ext_sampler_create_v2(agent, &same, sampler);
}

hsa_status_t hsa_ext_sampler_destroy(hsa_agent_t agent, hsa_ext_sampler_t sampler) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  hsa_status_t status{};
  if (find_gpu(agent, status) == nullptr) return status;
  return Runtime::get()->images.remove_sampler(sampler) ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}
