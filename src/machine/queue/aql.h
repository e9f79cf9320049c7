// machine: the memory layouts that a program and the GPU share: AQL packets, amd_queue_t, amd_signal_t.
//
// The names and offsets are the HSA runtime's public headers' (hsa.h, amd_hsa_queue.h, amd_hsa_signal.h); the
// hsa room asserts that they agree. Seeds: "AQL packets", "Queue and signal layouts" of the ROCm ABI document.
#pragma once

#include <cstddef>
#include <cstdint>

namespace Atoll::machine::aql {

enum class PacketType : uint8_t {
  vendor_specific = 0,
  invalid = 1,
  kernel_dispatch = 2,
  barrier_and = 3,
  agent_dispatch = 4,
  barrier_or = 5
};

/// Packet header: type in bits 0-7, barrier bit 8, acquire scope 9-10, release scope 11-12.
constexpr PacketType packet_type(uint16_t header) { return static_cast<PacketType>(header & 0xFF); }
constexpr bool barrier_bit(uint16_t header) { return (header >> 8 & 1) != 0; }

struct KernelDispatchPacket {
  uint16_t header, setup;
  uint16_t workgroup_size_x, workgroup_size_y, workgroup_size_z, reserved0;
  uint32_t grid_size_x, grid_size_y, grid_size_z;
  uint32_t private_segment_size, group_segment_size;
  uint64_t kernel_object, kernarg_address, reserved2, completion_signal;
};
static_assert(sizeof(KernelDispatchPacket) == 64);

struct BarrierPacket {  // barrier-AND and barrier-OR
  uint16_t header, reserved0;
  uint32_t reserved1;
  uint64_t dep_signal[5];
  uint64_t reserved2, completion_signal;
};
static_assert(sizeof(BarrierPacket) == 64);

struct AgentDispatchPacket {
  uint16_t header, type;
  uint32_t reserved0;
  uint64_t return_address, arg[4], reserved2, completion_signal;
};
static_assert(sizeof(AgentDispatchPacket) == 64);

/// AMD's vendor-specific barrier-value packet (amd_format 2): waits until (signal & mask) compares with value.
struct BarrierValuePacket {
  uint16_t header;
  uint8_t amd_format, reserved;
  uint32_t reserved0;
  uint64_t signal;
  int64_t value, mask;
  uint32_t condition, reserved1;
  uint64_t reserved2, reserved3, completion_signal;
};
static_assert(sizeof(BarrierValuePacket) == 64);

/// amd_signal_t: what an hsa_signal_t's handle points to.
struct alignas(64) Signal {
  int64_t kind;   ///< 1: user signal; -1, -2: doorbells
  int64_t value;  ///< of a doorbell: the address of the hardware doorbell
  uint64_t event_mailbox_ptr;
  uint32_t event_id, reserved1;
  uint64_t start_ts, end_ts;  ///< of the dispatch that completed it, in system clock ticks
  uint64_t queue_ptr;
  uint64_t reserved3;
};
static_assert(sizeof(Signal) == 64);

/// amd_queue_t: what the queue pointer of a kernel points to. It starts with hsa_queue_t.
struct alignas(64) Queue {
  // hsa_queue_t
  uint32_t type, features;
  uint64_t base_address, doorbell_signal;
  uint32_t size, reserved1;
  uint64_t id;
  // amd_queue_t
  uint32_t reserved2[4];
  uint64_t write_dispatch_id;
  uint32_t group_segment_aperture_base_hi, private_segment_aperture_base_hi;
  uint32_t max_cu_id, max_wave_id;
  uint64_t max_legacy_doorbell_dispatch_id_plus_1;
  uint32_t legacy_doorbell_lock, reserved3[9];
  uint64_t read_dispatch_id;
  uint32_t read_dispatch_id_field_base_byte_offset;
  uint32_t compute_tmpring_size;
  uint32_t scratch_resource_descriptor[4];
  uint64_t scratch_backing_memory_location, scratch_backing_memory_byte_size;
  uint32_t scratch_wave64_lane_byte_size, queue_properties;
  uint32_t reserved4[2];
  uint64_t queue_inactive_signal;
  uint32_t reserved5[14];
};
static_assert(offsetof(Queue, write_dispatch_id) == 56 && offsetof(Queue, read_dispatch_id) == 128);
static_assert(offsetof(Queue, scratch_backing_memory_location) == 160 && sizeof(Queue) == 256);

}  // namespace Atoll::machine::aql
