#include "library/kernel_arguments.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>

#include "library/element_type.h"
#include "library/kernel_names.h"
#include "machine/memory/memory.h"
#include "support/bytes.h"

namespace Atoll::library {

using object::ArgumentKind;
using object::KernelArgument;
using object::KernelMetadata;
using support::ErrorKind;
using support::fail;
using support::Result;

namespace {

/// Code object V2 spells the kind "HiddenNone", later versions "hidden_none".
constexpr bool is_hidden(const KernelArgument& argument) {
  return argument.kind_name.starts_with("hidden_") || argument.kind_name.starts_with("Hidden");
}

Parameter::Kind kind_of(ArgumentKind kind) {
  switch (kind) {
    case ArgumentKind::by_value:
      return Parameter::Kind::value;
    case ArgumentKind::global_buffer:
      return Parameter::Kind::pointer;
    case ArgumentKind::dynamic_shared_pointer:
      return Parameter::Kind::local_memory;
    default:
      return Parameter::Kind::unsupported;
  }
}

/// Returns "argument 2 (float factor)".
std::string describe(const KernelArgument& argument, size_t index) {
  if (argument.name.empty()) return fmt::format("argument {}", index + 1);
  return fmt::format("argument {} ({}{}{})", index + 1, argument.type_name, argument.type_name.empty() ? "" : " ",
                     argument.name);
}

/// Returns "an i32", "a buffer of f64" or, for structures and the like, "a value of 16 bytes".
std::string words_for(const Argument& argument) {
  const NumberType& type = argument.type;
  if (type.size == 0 && type.is_pointer) return "a pointer";
  if (type.size == 0) return fmt::format("a value of {} bytes", argument.bytes.size());
  const std::string name = fmt::format("{}{}", type.is_floating ? 'f' : 'i', type.size * 8u);
  return (type.is_pointer ? "a buffer of " : "an ") + name;
}

/// Whether bytes of one type may be read as the other. Integers may differ in their sign only.
bool same_numbers(const NumberType& given, const ElementType& wanted) {
  return given.size == wanted.size && given.is_floating == (wanted.kind == ElementType::Kind::floating);
}

/// What a hidden argument holds; nothing for one that Atoll does not know.
std::optional<uint64_t> hidden_value(ArgumentKind kind, const Launch& launch) {
  const auto& [grid, block, dynamic_lds_bytes, queue_address, lds_guard_bytes, lds] = launch;
  switch (kind) {
    case ArgumentKind::hidden_global_offset_x:
    case ArgumentKind::hidden_global_offset_y:
    case ArgumentKind::hidden_global_offset_z:
    case ArgumentKind::hidden_none:
    // Services of a language runtime that a bare launch has not: a kernel that needs one finds a null pointer.
    case ArgumentKind::hidden_printf_buffer:
    case ArgumentKind::hidden_hostcall_buffer:
    case ArgumentKind::hidden_default_queue:
    case ArgumentKind::hidden_completion_action:
    case ArgumentKind::hidden_multigrid_sync_arg:
    case ArgumentKind::hidden_heap_v1:
      return 0;
    // Whole work-groups, and the work-items of the partial one after them.
    case ArgumentKind::hidden_block_count_x:
      return grid[0] / block[0];
    case ArgumentKind::hidden_block_count_y:
      return grid[1] / block[1];
    case ArgumentKind::hidden_block_count_z:
      return grid[2] / block[2];
    case ArgumentKind::hidden_group_size_x:
      return block[0];
    case ArgumentKind::hidden_group_size_y:
      return block[1];
    case ArgumentKind::hidden_group_size_z:
      return block[2];
    case ArgumentKind::hidden_remainder_x:
      return grid[0] % block[0];
    case ArgumentKind::hidden_remainder_y:
      return grid[1] % block[1];
    case ArgumentKind::hidden_remainder_z:
      return grid[2] % block[2];
    case ArgumentKind::hidden_grid_dims:
      return num_dimensions(launch);
    case ArgumentKind::hidden_dynamic_lds_size:
      return dynamic_lds_bytes;
    case ArgumentKind::hidden_private_base:
      return machine::private_aperture_hi;
    case ArgumentKind::hidden_shared_base:
      return machine::shared_aperture_hi;
    case ArgumentKind::hidden_queue_ptr:
      return queue_address;
    default:
      return std::nullopt;
  }
}

}  // namespace

uint32_t num_dimensions(const Launch& launch) {
  const auto has = [&](size_t d) { return launch.grid[d] > 1 || launch.block[d] > 1; };
  return has(2) ? 3 : has(1) ? 2 : 1;
}

std::string describe(const Parameter& parameter, size_t index) {
  if (parameter.name.empty() && parameter.type.empty()) return fmt::format("parameter {}", index + 1);
  if (parameter.name.empty()) return fmt::format("parameter {} '{}'", index + 1, parameter.type);
  return fmt::format("parameter '{}{}{}'", parameter.type, parameter.type.empty() ? "" : " ", parameter.name);
}

std::vector<Parameter> parameters_of(const KernelMetadata& kernel) {
  std::vector<Parameter> parameters;
  std::vector<std::string> elements;  // as older compilers have them in the metadata
  for (const KernelArgument& argument : kernel.arguments) {
    if (is_hidden(argument)) continue;
    parameters.push_back({.name = argument.name,
                          .type = argument.type_name,
                          .element = {},
                          .kind = kind_of(argument.kind),
                          .offset = argument.offset,
                          .size = argument.size});
    elements.push_back(argument.value_type);
    std::ranges::transform(elements.back(), elements.back().begin(),
                           [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  }
  // HIP's metadata has no types, but the name in C++ has.
  auto types = parameter_types(kernel.name);
  for (size_t i = 0; i < parameters.size(); i++) {
    Parameter& parameter = parameters[i];
    if (parameter.type.empty() && types.size() == parameters.size()) parameter.type = std::move(types[i]);
    const ElementType* element = element_type_of_c(parameter.type);
    if (element == nullptr) element = find_element_type(elements[i]);
    // A vector by value has its element's type in older metadata, but is not a number.
    const bool is_number =
        parameter.kind != Parameter::Kind::value || (element != nullptr && element->size == parameter.size);
    if (element != nullptr && is_number) parameter.element = element->name;
  }
  return parameters;
}

Result<void> check_type(const Parameter& parameter, size_t index, const Argument& argument) {
  const ElementType* const element = find_element_type(parameter.element);
  const bool is_pointer = parameter.kind == Parameter::Kind::pointer;
  const NumberType& given = argument.type;
  // pack_arguments compares local memory and sizes. An integer may be an address, a structure may have a pointer in it.
  const bool float_as_address = is_pointer && given.size != 0 && given.is_floating && !given.is_pointer;
  const bool address_as_number = parameter.kind == Parameter::Kind::value && element != nullptr && given.is_pointer;
  const bool comparable = element != nullptr && given.size != 0 && given.is_pointer == is_pointer;
  if (argument.is_local_memory || parameter.kind == Parameter::Kind::local_memory) return {};
  if (!float_as_address && !address_as_number && (!comparable || same_numbers(given, *element))) return {};
  return fail(ErrorKind::invalid_argument, "cannot pass {} for {}", words_for(argument), describe(parameter, index));
}

Result<std::vector<std::byte>> pack_arguments(const KernelMetadata& kernel, std::span<const Argument> arguments,
                                              Launch& launch) {
  const auto wanted = static_cast<size_t>(
      std::ranges::count_if(kernel.arguments, [](const KernelArgument& argument) { return !is_hidden(argument); }));
  if (wanted != arguments.size())
    return fail(ErrorKind::invalid_argument, "kernel {} takes {} arguments, {} are given", kernel.name, wanted,
                arguments.size());

  std::vector<std::byte> segment(kernel.kernarg_segment_size);
  // The metadata reader has checked that offset and size lie inside of the segment.
  const auto put = [&](const KernelArgument& argument, const void* bytes, size_t size) {
    std::memcpy(segment.data() + argument.offset, bytes, std::min<size_t>(size, argument.size));
  };

  if (const uint64_t end = uint64_t{kernel.group_segment_fixed_size} + launch.dynamic_lds_bytes; end != 0)
    launch.lds.push_back({.begin = 0, .end = end, .name = "the kernel's own LDS"});
  size_t index = 0;
  for (const KernelArgument& argument : kernel.arguments) {
    if (is_hidden(argument)) continue;
    const Argument& given = arguments[index];
    const std::string what = describe(argument, index++);
    const auto kind = kind_of(argument.kind);
    if (kind == Parameter::Kind::unsupported)
      return fail(ErrorKind::unsupported, "{} of kernel {} is of a kind that Atoll cannot pass: {}", what, kernel.name,
                  argument.kind_name);
    if (given.is_local_memory != (kind == Parameter::Kind::local_memory))
      return fail(ErrorKind::invalid_argument, "{} of kernel {} is {} memory", what, kernel.name,
                  given.is_local_memory ? "not a pointer to local" : "a pointer to local");
    if (given.is_local_memory) {
      uint32_t bytes = 0;
      std::memcpy(&bytes, given.bytes.data(), sizeof bytes);
      const uint32_t alignment = std::has_single_bit(argument.pointee_align) ? argument.pointee_align : 16;
      const uint64_t end = uint64_t{kernel.group_segment_fixed_size} + launch.dynamic_lds_bytes;
      const uint64_t place = support::align_up(end == 0 ? 0 : end + launch.lds_guard_bytes, alignment);
      if (place + bytes > UINT32_MAX)
        return fail(ErrorKind::out_of_resources, "{} of kernel {} asks for {} bytes of LDS", what, kernel.name, bytes);
      put(argument, &place, sizeof place);
      launch.dynamic_lds_bytes = static_cast<uint32_t>(place + bytes - kernel.group_segment_fixed_size);
      launch.lds.push_back({.begin = place, .end = place + bytes, .name = what});
    } else if (kind == Parameter::Kind::pointer && argument.size < sizeof(uint64_t) && given.type.is_pointer) {
      return fail(ErrorKind::unsupported, "{} of kernel {} is a {}-bit pointer; GPU memory is not in their range", what,
                  kernel.name, argument.size * 8);
    } else if (given.bytes.size() != argument.size) {
      return fail(ErrorKind::invalid_argument, "{} of kernel {} has {} bytes, {} are given", what, kernel.name,
                  argument.size, given.bytes.size());
    } else {
      put(argument, given.bytes.data(), given.bytes.size());
    }
  }

  for (const KernelArgument& argument : kernel.arguments) {
    if (!is_hidden(argument)) continue;
    const auto value = hidden_value(argument.kind, launch);
    if (!value)
      return fail(ErrorKind::unsupported, "kernel {} has a hidden argument that Atoll does not know: {}", kernel.name,
                  argument.kind_name);
    put(argument, &*value, sizeof *value);
  }
  return segment;
}

}  // namespace Atoll::library
