// machine: launches of Catalyst's OpenCL 1.x, from user data classes and constant buffers.
//
// A kernel reads its launch's sizes from constant buffer 0 and its arguments from constant buffer 1. Memory is reached
// through descriptors of buffers (UAVs) and images, which user SGPRs hold themselves or as the address of a table. One
// block of guest memory has buffers and tables of a launch. OpenCL 2.0 needs none: it is HSA's (catalyst_code.h).
// Source: "AMD GPU Compiler and Runtime Metadata and ABI Specification", "Runtime ABI"; for GCN, CLRX's "AMD Catalyst
// OpenCL ABI description".
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "machine/memory/memory.h"
#include "machine/wave/launch_state.h"
#include "object/catalyst_code.h"
#include "support/error.h"
#include "target/product.h"

namespace Atoll::machine {

/// Sizes of a launch of OpenCL 1.x, and its arguments.
struct CatalystLaunch {
  const object::catalyst::ConstantBufferCode& code;
  const object::catalyst::LaunchInfo& kernel;
  std::array<uint32_t, 3> grid{}, work_group{};
  uint32_t dimensions = 1;
  uint32_t lds_bytes = 0;  ///< of a work-group in all
  /// Contents of constant buffer 1, with guest addresses in place of pointers' offsets.
  std::span<const std::byte> arguments;
};

/// Guest memory of a launch: constant buffers, tables of descriptors.
class CatalystTables {
 public:
  /// Errors: a pointer outside of allocated memory, buffers of one UAV that are more than 4 GiB apart, an image of
  /// another type than the kernel's.
  static support::Result<CatalystTables> make(const CatalystLaunch& launch, Memory& memory);
  CatalystTables(CatalystTables&& other) noexcept;
  CatalystTables& operator=(CatalystTables&&) = delete;
  ~CatalystTables();

  GuestBlock constant_buffer_1() const {
    return {.address = address_ + layout_.constants_1, .size = constants_1_size_};
  }

 private:
  friend support::Result<LaunchState> make_catalyst_launch(const CatalystLaunch& launch, const CatalystTables& tables,
                                                           std::shared_ptr<const LoadedCode> code, uint64_t entry,
                                                           const target::GpuModel& model);
  /// Offsets in the block.
  struct Layout {
    uint64_t constants_0 = 0, constants_1 = 0, constant_table = 0, uav_table = 0, resource_table = 0, sampler_table = 0,
             data = 0, size = 0;
    uint32_t constant_entries = 0, uav_entries = 0, resource_entries = 0, sampler_entries = 0;
  };

  explicit CatalystTables(Memory& memory) : memory_(&memory) {}
  void lay_out(const CatalystLaunch& launch);
  support::Result<void> fill(const CatalystLaunch& launch);
  void fill_values(const CatalystLaunch& launch);
  support::Result<void> fill_images(const CatalystLaunch& launch);
  support::Result<void> fill_pointers(const CatalystLaunch& launch);
  template <typename T>
  T* at(uint64_t offset) const {
    return reinterpret_cast<T*>(address_ + offset);
  }

  Memory* memory_;
  uint64_t address_ = 0, constants_1_size_ = 0;
  Layout layout_;
};

/// Translates a launch to what its waves start with. `entry` is the address of the kernel's first instruction in
/// `code`. Errors: a user data class that the launch does not provide, and those of LaunchState's setters.
support::Result<LaunchState> make_catalyst_launch(const CatalystLaunch& launch, const CatalystTables& tables,
                                                  std::shared_ptr<const LoadedCode> code, uint64_t entry,
                                                  const target::GpuModel& model);

}  // namespace Atoll::machine
