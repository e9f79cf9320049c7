// object: AMDGPU core files: what was in a GPU when a program was stopped. An ELF file of type ET_CORE has a note that
// describes agents and queues, with the structures of the Linux driver, and load segments with the GPU's memory. The
// registers of the waves are in that memory, in each queue's context save area (context_save.h); the code objects that
// were loaded are a list there, too, laid out as the dynamic loader's r_debug.
// Source: user guide, "Core file format"; kfd_ioctl.h of the Linux driver, version 1.16.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "object/context_save.h"
#include "support/error.h"
#include "target/processor.h"

namespace Atoll::object {

inline constexpr uint32_t nt_amdgpu_kfd_core_state = 33;

/// The driver's version whose structures these are.
inline constexpr uint32_t kfd_version_major = 1, kfd_version_minor = 16;

struct KfdRuntimeInfo {  // struct kfd_runtime_info
  uint64_t r_debug;      ///< where the list of code objects is
  uint32_t runtime_state, ttmp_setup;
};
static_assert(sizeof(KfdRuntimeInfo) == 16);
inline constexpr uint32_t kfd_runtime_enabled = 1;

struct KfdAgent {  // struct kfd_dbg_device_info_entry
  uint64_t exception_status;
  uint64_t lds_base, lds_limit, scratch_base, scratch_limit, gpuvm_base, gpuvm_limit;
  uint32_t gpu_id, location_id, vendor_id, device_id, revision_id, subsystem_vendor_id, subsystem_device_id, fw_version;
  uint32_t gfx_target_version;  ///< 90010 for gfx90a
  uint32_t simd_count, max_waves_per_simd, array_count, simd_arrays_per_engine, num_xcc, capability, debug_prop;
};
static_assert(sizeof(KfdAgent) == 120);

struct KfdQueue {  // struct kfd_queue_snapshot_entry
  uint64_t exception_status, ring_base_address, write_pointer_address, read_pointer_address, ctx_save_restore_address;
  uint32_t queue_id, gpu_id, ring_size, queue_type, ctx_save_restore_area_size, reserved;
};
static_assert(sizeof(KfdQueue) == 64);
inline constexpr uint32_t kfd_queue_aql = 2;

/// Exceptions in `exception_status`, each the bit before its number (enum kfd_dbg_trap_exception_code).
enum class KfdException : uint8_t {
  none = 0,
  wave_abort = 1,
  wave_trap = 2,
  wave_math_error = 3,
  wave_illegal_instruction = 4,
  wave_memory_violation = 5,
  wave_aperture_violation = 6,
  agent_memory_violation = 33,
};
constexpr uint64_t kfd_exception_mask(KfdException exception) {
  return exception == KfdException::none ? 0 : uint64_t{1} << (static_cast<unsigned>(exception) - 1);
}
/// "memory violation", and so on, for the bits that are known; numbers for the others.
std::vector<std::string> kfd_exception_names(uint64_t status);

/// What the note describes.
struct CoreState {
  uint32_t version_major = kfd_version_major, version_minor = kfd_version_minor;
  KfdRuntimeInfo runtime{};
  std::vector<KfdAgent> agents{};
  std::vector<KfdQueue> queues{};
};
std::vector<uint8_t> write_core_state(const CoreState& state);
support::Result<CoreState> read_core_state(std::span<const uint8_t> note);

struct CoreSegment {
  uint64_t address, memory_bytes, offset;
  std::span<const uint8_t> bytes;  ///< what the file has of it
  bool writable, executable;
};

struct CoreQueue {
  KfdQueue queue{};
  std::vector<SavedWave> waves;
  std::string error;  ///< why the waves could not be read
};

struct CoreCode {
  uint64_t address = 0;  ///< where it was loaded
  std::string uri;
  std::span<const uint8_t> file;  ///< the code object, if the core has it
};

/// A core file, checked. It refers to the bytes that it was read from.
struct GpuCore {
  CoreState state;
  std::vector<CoreSegment> segments;  ///< by address
  std::vector<CoreQueue> queues;
  std::vector<CoreCode> codes;
  std::string code_error;  ///< why there are no more of them

  /// Memory at an address, or nothing when the file does not have all of it.
  std::optional<std::span<const uint8_t>> memory(uint64_t address, uint64_t size) const;
  /// Returns the agent of a queue, and its processor; null if it has none.
  const KfdAgent* agent_of(const KfdQueue& queue) const;
};

/// The processor of that gfx_target_version, or null.
const target::Processor* processor_of_version(uint32_t gfx_target_version);
uint32_t gfx_target_version_of(const target::Processor& processor);

/// Whether a file is an AMDGPU core file, or one of a process with both (a unified one), or claims to be one.
bool is_gpu_core(std::span<const uint8_t> file);

/// Reads a core file. What of a queue's waves or of the list of code objects is damaged is said beside it; the rest is
/// there all the same.
support::Result<GpuCore> read_gpu_core(std::span<const uint8_t> file);

}  // namespace Atoll::object
