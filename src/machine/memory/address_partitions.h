// machine: per-GPU partitions of guest memory, so that one comparison determines whether a GPU may access an address.
//
// The address range is divided into a power of two of partitions (address_range.h). Partition 0 is shared: host memory
// used by GPUs, queues, signals, code. Each GPU's partition number has a set of bits that no other GPU's contains: with
// 4 GPUs partitions 1, 2, 4 and 8 of 16, with 8 GPUs two bits of 32 partitions each. The addresses that a GPU may not
// access are those with a bit that its own partition lacks.
//
// A GPU that may access memory of another GPU (hsa_amd_agents_allow_access, hipDeviceEnablePeerAccess) can access the
// other's whole partition. With more than 4 GPUs, it can also access a third GPU's memory if that one's bits are
// covered by both.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "machine/memory/address_range.h"

namespace Atoll::machine {

class AddressPartitions {
 public:
  /// If the range cannot be divided this often, all memory is shared.
  explicit AddressPartitions(unsigned gpus);

  /// Returns the partition for a GPU's own memory; 0 for an unknown GPU.
  unsigned part_of(unsigned gpu) const { return gpu < own_.size() ? own_[gpu] : 0; }
  /// Returns the number of GPUs with a partition.
  unsigned count() const { return static_cast<unsigned>(own_.size()); }

  /// Grants a GPU access to a block of another GPU's memory, or revokes it.
  void allow(unsigned gpu, unsigned owner);
  void disallow(unsigned gpu, unsigned owner);

  /// Returns the addresses that a GPU may access: the whole range if it was merged because a partition was full.
  AddressBounds bounds(unsigned gpu) const;

 private:
  std::atomic<unsigned>& blocks(unsigned gpu, unsigned owner) const { return blocks_[gpu * own_.size() + owner]; }

  unsigned parts_ = 1;
  std::vector<unsigned> own_;                        ///< partition number by GPU
  std::unique_ptr<std::atomic<unsigned>[]> blocks_;  ///< number of blocks of one GPU's memory that another may access
};

}  // namespace Atoll::machine
