// object: how Catalyst's kernels get their arguments and their launch setup, as data.
//
// OpenCL 2.0: user SGPRs hold the scratch descriptor and pointers to the setup buffer and the argument buffer; which
// registers depends on the features that the kernel uses. OpenCL 1.x: constant buffer 0 holds the launch setup,
// constant buffer 1 the arguments. These functions only describe the layouts; a launch fills them in. Source: "AMD
// Catalyst OpenCL 2.0 ABI description"; "AMD GPU Compiler and Runtime Metadata and ABI Specification", "Runtime ABI";
// for GCN's constant buffers CLRX's "AMD Catalyst OpenCL ABI description".
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "object/kernel_code.h"
#include "support/error.h"
#include "target/processor.h"

namespace Atoll::object::catalyst {

// --- OpenCL 2.0

struct Features {
  bool use_setup = false;    ///< reads the setup buffer
  bool use_args = false;     ///< reads arguments
  bool use_enqueue = false;  ///< enqueues kernels
  bool use_generic = false;  ///< uses generic pointers
};

enum class UserSgprs : uint8_t {
  scratch_descriptor,
  setup_pointer,
  flat_bases,  ///< pointer to the buffer with the LDS and scratch bases of FLAT instructions
  argument_pointer,
  scratch_offset_and_size,  ///< base offset and bytes per work-item, for FLAT_SCRATCH
  unused
};

std::string_view name_of(UserSgprs what);  ///< "argument_pointer"

struct UserSgprRange {
  UserSgprs what;
  uint8_t first, count;
};

struct UserDataLayout {
  std::vector<UserSgprRange> ranges;  ///< by register, without gaps
  uint8_t count = 0;                  ///< user SGPRs in all

  std::optional<uint8_t> first(UserSgprs what) const;
};

/// Returns the user SGPRs of a kernel with these features.
UserDataLayout user_data_layout(const Features& features, target::Generation generation);

/// Returns the features that a kernel's setup record enables.
Features features_of(const RawKernelCode& setup, target::Generation generation);

/// Dwords of the buffer at UserSgprs::flat_bases with bits 32 to 63 of each aperture's base.
constexpr unsigned flat_lds_base_dword = 16, flat_scratch_base_dword = 17;

/// A field of the setup buffer.
struct SetupField {
  std::string_view name;
  uint8_t dword, low_bit, bits;
};
std::span<const SetupField> setup_fields();

/// Returns the setup buffer of a launch.
std::array<uint32_t, 6> setup_buffer(uint32_t dimensions, const std::array<uint32_t, 3>& local_size,
                                     const std::array<uint32_t, 3>& global_size);

/// Names of the arguments that precede a kernel's own in the argument buffer, in order.
std::span<const std::string_view> setup_arguments();

enum class ArgumentType : uint8_t {
  int8,
  int16,
  int32,
  int64,
  float16,
  float32,
  float64,
  pointer,
  queue,
  image,
  sampler,
  structure,
  pipe,
  event
};

struct ArgumentShape {
  ArgumentType type;
  uint8_t elements = 1;  ///< 1, 2, 3, 4, 8 or 16
};

struct ArgumentPlace {
  uint32_t offset, size;
};

struct ArgumentLayout {
  std::vector<ArgumentPlace> setup, arguments;
  uint32_t size = 0;  ///< of the whole buffer
};

/// Places setup arguments and arguments. `bits` is 32 or 64. Returns an error for vectors of a size that OpenCL
/// does not have, and for vectors of non-numbers.
support::Result<ArgumentLayout> argument_layout(std::span<const ArgumentShape> arguments, unsigned bits);

/// An image argument points to 8 dwords of resource, followed by these.
constexpr unsigned image_resource_dwords = 8, image_type_dword = 8, image_order_dword = 9;
std::string_view image_type_name(uint32_t dword);                  ///< "CL_SNORM_INT8"; the dword's low 4 bits count
std::optional<std::string_view> image_order_name(uint32_t dword);  ///< "CL_RGBA"; the dword's low 5 bits count
std::optional<uint32_t> find_image_type(std::string_view name);
std::optional<uint32_t> find_image_order(std::string_view name);

// --- OpenCL 1.x

/// Which binaries a field of a constant buffer is in: those of the document (R700 to Northern Islands), or GCN's of
/// either width.
enum class ConstantLayout : uint8_t { document, gcn32, gcn64 };

enum class ConstantValue : uint8_t {
  zero,
  global_size,
  dimensions,
  local_size,
  num_groups,
  private_ring_offset,
  private_bytes_per_thread,
  local_ring_offset,
  local_bytes_per_group,
  math_tables,
  float_constant,  ///< 0.0, 0.5, 1.0 and 2.0 for the math library
  global_offset,
  global_offset_flat,  ///< product of the dimensions
  group_offset,
  group_offset_flat,
  data_segment_offset,  ///< 64 bits wide in 64-bit GCN binaries
  printf_offset,
  printf_bytes
};

/// A dword of constant buffer 0.
struct ConstantField {
  uint8_t dword;
  ConstantValue value;
  uint8_t index = 0;  ///< dimension, or number of the float constant
};

/// Returns the documented dwords of constant buffer 0, in order.
std::span<const ConstantField> constant_buffer_0(ConstantLayout layout);

/// Values of a launch for constant buffer 0.
struct ConstantSetup {
  uint32_t dimensions = 1;
  std::array<uint32_t, 3> global_size{1, 1, 1}, local_size{1, 1, 1}, global_offset{}, group_offset{};
  uint32_t private_ring_offset = 0, private_bytes = 0, local_ring_offset = 0, local_bytes = 0, math_tables = 0;
  uint64_t data_segment_offset = 0;
  uint32_t printf_offset = 0, printf_bytes = 0;
  bool is_task = false;  ///< clEnqueueTask: sizes are 1 and there are no dimensions
};

/// Returns the dwords of constant buffer 0.
std::vector<uint32_t> fill_constant_buffer_0(const ConstantSetup& setup, ConstantLayout layout);

/// Size and alignment of an argument in constant buffer 1 are multiples of this.
constexpr uint32_t constant_slot_bytes = 16;

/// Bytes of an image argument.
constexpr uint32_t image_constant_bytes = 2 * constant_slot_bytes;

/// Returns the bytes of an argument of constant buffer 1 in whole slots, by its metadata type and count.
std::optional<uint32_t> constant_argument_bytes(std::string_view type, uint32_t count);

/// Packs a vector of 8- or 16-bit components with more than 4 components: every 4 start a slot.
std::vector<uint8_t> pack_narrow_vector(std::span<const uint8_t> components, uint32_t component_bytes);

/// Dwords of an image argument. The document has two forms, for R700 and Evergreen; GCN's is the latter's with integers
/// only where CLRX names them.
struct ImageConstants {
  uint32_t width, height, depth, data_type, channel_order;
  uint32_t offset = 0, row_pitch = 0, slice_pitch = 0;  ///< R700's
};
std::array<uint32_t, 8> image_constants_r700(const ImageConstants& image);
std::array<uint32_t, 8> image_constants(const ImageConstants& image);

/// Sampler argument of GCN, one dword: normalised coordinates, addressing and filter.
struct SamplerConstant {
  bool normalized;
  uint8_t addressing;  ///< 0 none, 1 repeat, 2 clamp to edge, 3 clamp, 4 mirrored repeat
  uint8_t filter;      ///< 0 none, 1 nearest, 2 linear
};
uint32_t encode_sampler(const SamplerConstant& sampler);
support::Result<SamplerConstant> decode_sampler(uint32_t value);

}  // namespace Atoll::object::catalyst
