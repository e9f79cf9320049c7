// object: launches of Catalyst's kernels, from program info or setup record to a kernel descriptor.
#include "object/catalyst_launch.h"

#include <algorithm>
#include <cstring>

#include "object/kernel_descriptor_fields.h"
#include "support/bytes.h"

namespace Atoll::object::catalyst {

using support::ErrorKind;
using support::fail;
using support::Result;

namespace {

/// Largest number of a buffer, image, sampler or counter. ATI_UAV_OP_MASK has a bit for each UAV.
constexpr uint32_t max_buffer_id = 1023;

/// Returns a record with the registers of a descriptor.
RawKernelCode setup_record(const RawKernelDescriptor& raw, uint32_t argument_bytes) {
  RawKernelCode record{};
  for (const KernelCodeField& field : kernel_code_fields()) field.set(record, field.usual);
  constexpr size_t resources = 48;  // of COMPUTE_PGM_RSRC1, RSRC2 follows
  std::memcpy(&record[resources], &raw.compute_pgm_rsrc1, sizeof raw.compute_pgm_rsrc1);
  std::memcpy(&record[resources + sizeof(uint32_t)], &raw.compute_pgm_rsrc2, sizeof raw.compute_pgm_rsrc2);
  kernel_code_field("workgroup_group_segment_byte_size").set(record, raw.group_segment_fixed_size);
  kernel_code_field("workitem_private_segment_byte_size").set(record, raw.private_segment_fixed_size);
  kernel_code_field("kernarg_segment_byte_size").set(record, argument_bytes);
  return record;
}

}  // namespace

Result<LaunchInfo> launch_info(const Container& container, const Kernel& kernel) {
  if (container.device->family != Family::gcn)
    return fail(ErrorKind::unsupported, "kernel {} is {} code for {}, which cannot be executed", kernel.name,
                name_of(container.device->family), container.device->name);
  const Encoding* encoding = kernel.gcn();
  if (encoding == nullptr)
    return fail(ErrorKind::unsupported, "kernel {} is AMD IL only, which cannot be executed", kernel.name);
  const CalNote* note = encoding->find(CalNoteType::program_info);
  if (note == nullptr) return fail(ErrorKind::invalid_file, "kernel {} has no note ATI_PROGINFO", kernel.name);
  const auto info = read_program_info(note->description);
  if (!info) return support::within(fmt::format("kernel {}", kernel.name), info.error());
  LaunchInfo launch;
  launch.name = kernel.name;
  launch.code = encoding->text;
  launch.processor = target::find_processor(encoding->device()->processor);
  launch.is_64_bit = container.is_64_bit;
  launch.user_data = info->user_data;
  for (const GlobalData& data : container.global_data)
    if (data.id > max_buffer_id)
      return fail(ErrorKind::invalid_file, "constant data has number {}; the largest is {}", data.id, max_buffer_id);
  const uint32_t user_sgprs = info->compute_pgm_rsrc2 >> 1 & 0x1F;
  for (const UserData& data : info->user_data)
    if (data.first_sgpr + data.num_sgprs > user_sgprs)
      return fail(ErrorKind::invalid_file, "kernel {}: {} is in SGPRs up to {}, COMPUTE_PGM_RSRC2 has {} user SGPRs",
                  kernel.name, *user_data_class_name(data.data_class), data.first_sgpr + data.num_sgprs - 1,
                  user_sgprs);
  if (const KernelText* text = kernel.text()) {
    for (const MetadataToken& token : text->tokens) {
      if (!token.is("sampler") || token.text("kernel_defined") != "1") continue;
      if (token.number("id") > max_buffer_id)
        return fail(ErrorKind::invalid_file, "kernel {}: sampler {} has number {}; the largest is {}", kernel.name,
                    token.text("name"), token.number("id"), max_buffer_id);
      launch.samplers.push_back({.id = token.number("id"), .value = token.number("value")});
    }
    for (MetadataArgument& argument : text->arguments()) {
      if (argument.constant_buffer != 1) continue;
      if (argument.id > max_buffer_id)
        return fail(ErrorKind::invalid_file, "kernel {}: argument {} has number {}; the largest is {}", kernel.name,
                    argument.name, argument.id, max_buffer_id);
      uint32_t bytes = constant_slot_bytes;
      if (argument.token == ArgumentToken::image) bytes = 2 * constant_slot_bytes;
      if (argument.token == ArgumentToken::value)
        bytes = constant_argument_bytes(argument.type, argument.count).value_or(constant_slot_bytes);
      if (argument.offset % constant_slot_bytes != 0)
        return fail(ErrorKind::invalid_file, "kernel {}: argument {} is at byte {}, not a multiple of {}", kernel.name,
                    argument.name, argument.offset, constant_slot_bytes);
      launch.constant_buffer_1_bytes = std::max(launch.constant_buffer_1_bytes, argument.offset + bytes);
      launch.constant_arguments.push_back(std::move(argument));
    }
    if (text->memory("hwlocal") > info->lds_bytes)
      return fail(ErrorKind::invalid_file, "kernel {}: metadata has {} bytes of LDS, ATI_PROGINFO {}", kernel.name,
                  text->memory("hwlocal"), info->lds_bytes);
  }
  const auto blocks = [](uint32_t registers, uint32_t granule) {
    return registers == 0 ? 0 : (registers + granule - 1) / granule - 1;
  };
  RawKernelDescriptor raw{};
  // The registers VCC is in are counted in neither; it takes the two after the others.
  const uint32_t sgprs = std::max(info->sgprs + 2, user_sgprs + 7);
  raw.compute_pgm_rsrc1 = blocks(info->vgprs, launch.processor->vgpr_granule) | blocks(sgprs, 8) << 6 |
                          (info->float_mode & 0xFF) << 12 | (info->ieee_mode & 1) << 23;
  // LDS and traps are a launch's to set (kernel_code.cpp).
  constexpr uint32_t own = 1u << 6 | 3u << 13 | 0x1FFu << 15;
  raw.compute_pgm_rsrc2 = info->compute_pgm_rsrc2 & ~own;
  raw.group_segment_fixed_size =
      kernel.text() == nullptr ? info->lds_bytes : static_cast<uint32_t>(kernel.text()->memory("hwlocal"));
  raw.private_segment_fixed_size = info->scratch_dwords * 4;
  const auto state = decode_kernel_descriptor(raw, *launch.processor);
  if (!state) return support::within(fmt::format("kernel {}", kernel.name), state.error());
  launch.state = *state;
  launch.setup = setup_record(raw, launch.constant_buffer_1_bytes);
  return launch;
}

Result<LaunchInfo> launch_info(const Cl2Container& container, const Cl2Kernel& kernel) {
  if (container.processor == nullptr)
    return fail(ErrorKind::incompatible, "the file does not name its processor (flags {:#x})",
                container.file.header.e_flags);
  if (kernel.code.empty()) return fail(ErrorKind::invalid_file, "kernel {} has no code", kernel.name);
  LaunchInfo launch;
  launch.name = kernel.name;
  launch.code = kernel.code;
  launch.processor = container.processor;
  launch.is_64_bit = container.is_64_bit;
  launch.setup = kernel.setup;
  const auto state = decode_kernel_code(kernel.setup, *launch.processor);
  if (!state) return support::within(fmt::format("kernel {}", kernel.name), state.error());
  launch.state = *state;
  const target::Generation generation = launch.processor->generation;
  launch.user_sgprs = user_data_layout(features_of(kernel.setup, generation), generation);
  if (launch.user_sgprs.count != state->user_sgprs)
    return fail(ErrorKind::invalid_file, "kernel {}: its features take {} user SGPRs, COMPUTE_PGM_RSRC2 has {}",
                kernel.name, launch.user_sgprs.count, state->user_sgprs);
  std::vector<ArgumentShape> shapes;
  for (const Cl2Argument& argument : kernel.arguments) {
    if (argument.name.starts_with("_.")) continue;
    launch.arguments.push_back(argument);
    shapes.push_back(argument.shape);
  }
  auto layout = argument_layout(shapes, container.is_64_bit ? 64 : 32);
  if (!layout) return support::within(fmt::format("kernel {}", kernel.name), layout.error());
  launch.argument_layout = std::move(*layout);
  return launch;
}

}  // namespace Atoll::object::catalyst
