// object: the binary record of a kernel's metadata in Catalyst's OpenCL 2.0 containers, for its reader and its writer.
// Source: CLRX/CLRX-mirror's documentation and public binaries of its tests.
#pragma once

#include <cstdint>
#include <string_view>

#include "object/catalyst_abi.h"

namespace Atoll::object::catalyst::cl2 {

/// Offsets of the metadata record's fields, of the 32-bit form and the 64-bit one. Sizes are as wide as pointers.
struct MetadataLayout {
  unsigned word;  ///< bytes of a size
  unsigned required_size, first_name, second_name, num_arguments, header;
  unsigned hint_header, hint_length;  ///< size of the newer header, and where it has the length of the vector hint
  unsigned argument;                  ///< bytes of an argument's entry
};
constexpr MetadataLayout layout32 = {4, 0x30, 0x48, 0x4C, 0x68, 0x70, 0xA4, 0x9C, 0x40};
constexpr MetadataLayout layout64 = {8, 0x38, 0x60, 0x68, 0xA0, 0xA8, 0x110, 0x100, 0x58};

/// Dwords of an argument's entry, after its five sizes.
enum EntryWord : unsigned {
  word_size = 0,
  word_offset = 2,
  word_type = 3,
  word_space = 6,
  word_is_pointer = 7,
  word_flags = 8,
  word_kind = 9,
  word_is_const = 10
};

struct TypeRow {
  uint32_t type, kind;
  ArgumentType meaning;
};
// The numbers of an argument's type and kind of type. Of several rows for a type, the last is written.
constexpr uint32_t kind_sampler = 1, kind_image = 2, kind_scalar = 4, kind_queue = 7;
constexpr TypeRow types[] = {{0, kind_sampler, ArgumentType::sampler},   {1, kind_image, ArgumentType::image},
                             {2, kind_image, ArgumentType::image},       {3, kind_image, ArgumentType::image},
                             {2, kind_scalar, ArgumentType::int8},       {3, kind_scalar, ArgumentType::int16},
                             {4, kind_scalar, ArgumentType::int32},      {5, kind_scalar, ArgumentType::int64},
                             {6, kind_scalar, ArgumentType::int8},       {7, kind_scalar, ArgumentType::int16},
                             {8, kind_scalar, ArgumentType::int32},      {9, kind_scalar, ArgumentType::int64},
                             {11, kind_scalar, ArgumentType::float32},   {12, kind_scalar, ArgumentType::float64},
                             {15, kind_scalar, ArgumentType::structure}, {18, kind_queue, ArgumentType::queue}};
constexpr uint32_t first_vector_type = 6, last_vector_type = 12;
constexpr uint32_t pointer_type = 7, pipe_flag = 1u << 16, volatile_flag = 1, restrict_flag = 1u << 8;
constexpr uint32_t first_space = 3;  ///< number of the first of `spaces`
constexpr std::string_view spaces[] = {"local", "global", "constant"};
constexpr std::string_view image_accesses[] = {"", "read_only", "write_only", "read_write"};

}  // namespace Atoll::object::catalyst::cl2
