// machine: translates user data classes and constant buffers to a LaunchState.
#include "machine/wave/catalyst_launch.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

#include "machine/loader.h"
#include "machine/wave/catalyst_image.h"
#include "machine/wave/scalar_writer.h"
#include "machine/wave/wave.h"
#include "object/catalyst_abi.h"
#include "support/bytes.h"

namespace Atoll::machine {

namespace catalyst = object::catalyst;
using catalyst::ArgumentToken;
using catalyst::MetadataArgument;
using support::ErrorKind;
using support::fail;
using support::Result;

namespace {

using BufferDescriptor = std::array<uint32_t, 4>;

// Bytes of tables' entries.
constexpr uint64_t constant_entry = 16, uav_entry = 32, resource_entry = 32, sampler_entry = 16;
constexpr uint64_t block_alignment = 256;
constexpr uint64_t argument_slot = catalyst::constant_slot_bytes;

/// Returns the descriptor of a raw buffer of GFX6 to GFX8: components x, y, z, w, 32-bit integers.
BufferDescriptor buffer_descriptor(uint64_t base, uint64_t bytes) {
  constexpr uint32_t select_xyzw = 4 | 5 << 3 | 6 << 6 | 7 << 9, number_uint = 4 << 12, data_32 = 4 << 15;
  return {static_cast<uint32_t>(base), static_cast<uint32_t>(base >> 32) & 0xFFFF,
          static_cast<uint32_t>(std::min<uint64_t>(bytes, UINT32_MAX)), select_xyzw | number_uint | data_32};
}

bool is_global(const MetadataArgument& argument) {
  return argument.token == ArgumentToken::pointer && !catalyst::is_local_memory(argument.memory);
}

/// True for pointers whose buffer number is a constant buffer's.
bool is_constant(const MetadataArgument& argument) { return argument.memory == "c" || argument.memory == "hc"; }

/// Addresses that the pointers of one buffer refer to.
struct BufferRange {
  uint64_t begin = UINT64_MAX, end = 0;
};

}  // namespace

void CatalystTables::lay_out(const CatalystLaunch& launch) {
  Layout& layout = layout_;
  layout.constant_entries = 2;
  const auto grow = [](uint32_t& entries, uint32_t index) { entries = std::max(entries, index + 1); };
  for (const catalyst::GlobalData& data : launch.code.container.global_data) grow(layout.constant_entries, data.id);
  for (const MetadataArgument& argument : launch.kernel.constant_arguments) {
    if (argument.token == ArgumentToken::image)
      grow(argument.access == "RO" ? layout.resource_entries : layout.uav_entries, argument.id);
    if (argument.token == ArgumentToken::sampler) grow(layout.sampler_entries, argument.id);
    if (!is_global(argument)) continue;
    grow(layout.uav_entries, argument.id);
    if (is_constant(argument)) grow(layout.constant_entries, argument.id);
  }
  for (const catalyst::KernelSampler& sampler : launch.kernel.samplers) grow(layout.sampler_entries, sampler.id);
  for (const catalyst::UserData& data : launch.kernel.user_data) {
    using enum catalyst::DataClass;
    const auto kind = static_cast<catalyst::DataClass>(data.data_class);
    if (kind == immediate_uav) grow(layout.uav_entries, data.api_slot);
    if (kind == immediate_resource) grow(layout.resource_entries, data.api_slot);
    if (kind == immediate_constant_buffer) grow(layout.constant_entries, data.api_slot);
    if (kind == immediate_sampler) grow(layout.sampler_entries, data.api_slot);
  }
  const auto place = [&](uint64_t bytes) {
    const uint64_t offset = layout.size;
    layout.size = support::align_up(offset + bytes, block_alignment);
    return offset;
  };
  constants_1_size_ = support::align_up(std::max<uint64_t>(launch.arguments.size(), 1), argument_slot);
  layout.constants_0 = place(block_alignment);
  layout.constants_1 = place(constants_1_size_);
  layout.constant_table = place(layout.constant_entries * constant_entry);
  layout.uav_table = place(layout.uav_entries * uav_entry);
  layout.resource_table = place(layout.resource_entries * resource_entry);
  layout.sampler_table = place(layout.sampler_entries * sampler_entry);
  layout.data = layout.size;
  for (const catalyst::GlobalData& data : launch.code.container.global_data) place(data.bytes.size());
}

/// Replaces each address by the offset in its buffer, and writes the buffers' descriptors.
Result<void> CatalystTables::fill_pointers(const CatalystLaunch& launch) {
  const auto address_of = [&](const MetadataArgument& argument) {
    uint64_t address = 0;
    std::memcpy(&address, at<uint8_t>(layout_.constants_1 + argument.offset), sizeof address);
    return address;
  };
  // Pointers may share a buffer; a compiler that cannot prove that they do not alias lets them.
  std::map<std::pair<bool, uint32_t>, BufferRange> ranges;
  for (const MetadataArgument& argument : launch.kernel.constant_arguments) {
    if (!is_global(argument)) continue;
    BufferRange& range = ranges[{is_constant(argument), argument.id}];
    const uint64_t address = address_of(argument);
    if (address == 0) continue;
    const auto allocation = memory_->find(address);
    if (!allocation) {
      return fail(ErrorKind::invalid_argument, "kernel {}: argument {} points to {:#x}, which is not GPU memory",
                  launch.kernel.name, argument.name, address);
    }
    range.begin = std::min(range.begin, address);
    range.end = std::max(range.end, allocation->address + allocation->size);
  }
  for (const auto& [key, range] : ranges) {
    if (range.end == 0) continue;  // null pointers: the descriptor stays empty
    if (range.end - range.begin > UINT32_MAX) {
      return fail(ErrorKind::out_of_resources,
                  "kernel {}: arguments in buffer {} are more than 4 GiB apart ({:#x} to {:#x})", launch.kernel.name,
                  key.second, range.begin, range.end);
    }
    const BufferDescriptor descriptor = buffer_descriptor(range.begin, range.end - range.begin);
    std::memcpy(at<uint8_t>(layout_.uav_table + key.second * uav_entry), &descriptor, sizeof descriptor);
    if (key.first)
      std::memcpy(at<uint8_t>(layout_.constant_table + key.second * constant_entry), &descriptor, sizeof descriptor);
  }
  for (const MetadataArgument& argument : launch.kernel.constant_arguments) {
    if (!is_global(argument)) continue;
    const uint64_t address = address_of(argument);
    const uint64_t offset = address == 0 ? 0 : address - ranges[{is_constant(argument), argument.id}].begin;
    std::memcpy(at<uint8_t>(layout_.constants_1 + argument.offset), &offset, sizeof offset);
  }
  return {};
}

/// Brings values to their form in a constant buffer: booleans have one bit, and every 4 components of 8- and 16-bit
/// vectors with more components start a slot.
void CatalystTables::fill_values(const CatalystLaunch& launch) {
  for (const MetadataArgument& argument : launch.kernel.constant_arguments) {
    if (argument.token != ArgumentToken::value) continue;
    const auto bytes = catalyst::metadata_value_bytes(argument.type, argument.count);
    const auto element = catalyst::metadata_type_size(argument.type);
    if (!bytes || !element || argument.offset + *bytes > launch.arguments.size()) continue;
    auto* const place = at<uint8_t>(layout_.constants_1 + argument.offset);
    if (argument.type == "i1") {
      for (uint32_t i = 0; i < *bytes; i += sizeof(uint32_t)) {
        uint32_t value = 0;
        std::memcpy(&value, place + i, sizeof value);
        value &= 1;
        std::memcpy(place + i, &value, sizeof value);
      }
    } else if (*element < sizeof(uint32_t) && argument.count > 4) {
      const std::vector<uint8_t> packed = catalyst::pack_narrow_vector({place, *bytes}, *element);
      std::memcpy(place, packed.data(), std::min<size_t>(packed.size(), constants_1_size_ - argument.offset));
    }
  }
}

/// Writes images' resources to their table and replaces each address by the image's sizes, type and order.
Result<void> CatalystTables::fill_images(const CatalystLaunch& launch) {
  const target::Processor& processor = *launch.kernel.processor;
  const auto in_argument = [&](const MetadataArgument& argument, const support::Error& error) {
    return support::within(fmt::format("kernel {}: argument {}", launch.kernel.name, argument.name), error);
  };
  const auto write_sampler = [&](uint32_t id, uint32_t value) -> Result<void> {
    const auto words = catalyst_sampler(value, processor);
    if (!words) return std::unexpected(words.error());
    std::memcpy(at<uint8_t>(layout_.sampler_table + id * sampler_entry), words->data(), sizeof *words);
    return {};
  };
  for (const catalyst::KernelSampler& sampler : launch.kernel.samplers) {
    if (auto written = write_sampler(sampler.id, sampler.value); !written)
      return support::within(fmt::format("kernel {}: sampler {}", launch.kernel.name, sampler.id), written.error());
  }
  for (const MetadataArgument& argument : launch.kernel.constant_arguments) {
    auto* const slot = at<uint8_t>(layout_.constants_1 + argument.offset);
    if (argument.token == ArgumentToken::sampler) {
      uint32_t value = 0;
      std::memcpy(&value, slot, sizeof value);
      if (auto written = write_sampler(argument.id, value); !written) return in_argument(argument, written.error());
    }
    if (argument.token != ArgumentToken::image) continue;
    uint64_t address = 0;
    std::memcpy(&address, slot, sizeof address);
    const auto image = read_catalyst_image(address, argument.type, processor);
    if (!image) return in_argument(argument, image.error());
    const uint64_t table = argument.access == "RO" ? layout_.resource_table + argument.id * resource_entry
                                                   : layout_.uav_table + argument.id * uav_entry;
    std::memcpy(at<uint8_t>(table), image->resource.data(), sizeof image->resource);
    const auto constants = catalyst::image_constants(image->constants);
    std::memcpy(slot, constants.data(), sizeof constants);
  }
  return {};
}

Result<void> CatalystTables::fill(const CatalystLaunch& launch) {
  catalyst::ConstantSetup setup;
  setup.dimensions = launch.dimensions;
  setup.global_size = launch.grid;
  setup.local_size = launch.work_group;
  setup.private_bytes = launch.kernel.state.private_segment_fixed_size;
  setup.local_bytes = launch.lds_bytes;
  const auto constants = catalyst::fill_constant_buffer_0(
      setup, launch.kernel.is_64_bit ? catalyst::ConstantLayout::gcn64 : catalyst::ConstantLayout::gcn32);
  std::memcpy(at<uint8_t>(layout_.constants_0), constants.data(), constants.size() * sizeof constants[0]);
  std::memcpy(at<uint8_t>(layout_.constants_1), launch.arguments.data(), launch.arguments.size());

  auto* const table = at<BufferDescriptor>(layout_.constant_table);
  table[0] = buffer_descriptor(address_ + layout_.constants_0, block_alignment);
  table[1] = buffer_descriptor(address_ + layout_.constants_1, constants_1_size_);
  uint64_t data_at = layout_.data;
  for (const catalyst::GlobalData& data : launch.code.container.global_data) {
    std::memcpy(at<uint8_t>(data_at), data.bytes.data(), data.bytes.size());
    table[data.id] = buffer_descriptor(address_ + data_at, data.bytes.size());
    data_at = support::align_up(data_at + data.bytes.size(), block_alignment);
  }
  fill_values(launch);
  if (auto filled = fill_images(launch); !filled) return filled;
  return fill_pointers(launch);
}

Result<CatalystTables> CatalystTables::make(const CatalystLaunch& launch, Memory& memory) {
  CatalystTables tables(memory);
  tables.lay_out(launch);
  const auto made =
      memory.allocate(tables.layout_.size, 0, "constant buffers and tables of kernel " + launch.kernel.name);
  if (!made) return std::unexpected(made.error());
  tables.address_ = *made;
  if (auto filled = tables.fill(launch); !filled) return std::unexpected(filled.error());
  return tables;
}

CatalystTables::CatalystTables(CatalystTables&& other) noexcept
    : memory_(other.memory_),
      address_(std::exchange(other.address_, 0)),
      constants_1_size_(other.constants_1_size_),
      layout_(other.layout_) {}

CatalystTables::~CatalystTables() {
  if (address_ != 0) static_cast<void>(memory_->free(address_));  // it was allocated there: cannot fail
}

Result<LaunchState> make_catalyst_launch(const CatalystLaunch& given, const CatalystTables& tables,
                                         std::shared_ptr<const LoadedCode> code, uint64_t entry,
                                         const target::GpuModel& model) {
  const target::Processor& processor = *model.target.processor;
  const catalyst::LaunchInfo& kernel = given.kernel;
  const object::KernelDescriptor& descriptor = kernel.state;
  LaunchState launch;
  launch.watches_exceptions = (descriptor.mode & enabled_exceptions) != 0 || code->looks_at_exceptions(processor);
  launch.code = std::move(code);
  launch.entry = entry;
  launch.wave_size = 64;
  auto set = set_geometry(launch, given.grid, given.work_group, kernel.name);
  const uint32_t scratch = descriptor.private_segment_fixed_size;
  if (set) set = set_scratch(launch, scratch, scratch, processor, kernel.name);
  if (set) set = set_lds(launch, descriptor.group_segment_fixed_size, given.lds_bytes, processor, kernel.name);
  if (set) set = set_residency(launch, std::nullopt, model, kernel.name);
  if (!set) return std::unexpected(set.error());
  set_registers(launch, descriptor, processor);
  launch.arguments = tables.constant_buffer_1();

  const CatalystTables::Layout& layout = tables.layout_;
  ScalarWriter user(launch.scalars);
  user.limit(descriptor.user_sgprs);
  for (const catalyst::UserData& data : kernel.user_data) {
    user.skip_to(data.first_sgpr);
    const auto add = [&](uint64_t table, uint64_t entry_bytes, uint32_t entries) -> Result<void> {
      if (data.api_slot >= entries || data.num_sgprs * sizeof(uint32_t) > entry_bytes) {
        return fail(ErrorKind::invalid_file, "kernel {}: {} SGPRs from s{} hold {} {}, which it does not have",
                    kernel.name, data.num_sgprs, data.first_sgpr, *catalyst::user_data_class_name(data.data_class),
                    data.api_slot);
      }
      const auto* const words = tables.at<uint32_t>(table + data.api_slot * entry_bytes);
      for (unsigned i = 0; i < data.num_sgprs; ++i) user.word(words[i]);
      return {};
    };
    Result<void> added;
    using enum catalyst::DataClass;
    switch (static_cast<catalyst::DataClass>(data.data_class)) {
      case immediate_resource:
        added = add(layout.resource_table, resource_entry, layout.resource_entries);
        break;
      case immediate_sampler:
        added = add(layout.sampler_table, sampler_entry, layout.sampler_entries);
        break;
      case immediate_constant_buffer:
        added = add(layout.constant_table, constant_entry, layout.constant_entries);
        break;
      case immediate_uav:
        added = add(layout.uav_table, uav_entry, layout.uav_entries);
        break;
      case resource_table:
        user.pair(tables.address_ + layout.resource_table);
        break;
      case sampler_table:
        user.pair(tables.address_ + layout.sampler_table);
        break;
      case constant_buffer_table:
        user.pair(tables.address_ + layout.constant_table);
        break;
      case uav_table:
        user.pair(tables.address_ + layout.uav_table);
        break;
      case internal_global_table:
        for (unsigned part = 0; part < 2; ++part) user.add(InitialScalar::Source::global_table, part);
        break;
      default:
        return fail(ErrorKind::unsupported, "kernel {} reads {} in s{}, which a launch does not provide", kernel.name,
                    *catalyst::user_data_class_name(data.data_class), data.first_sgpr);
    }
    if (!added) return std::unexpected(added.error());
  }
  add_system_sgprs(launch, descriptor, descriptor.user_sgprs, processor);
  return launch;
}

}  // namespace Atoll::machine
