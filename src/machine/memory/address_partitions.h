// machine: where the memory of several GPUs lies, so that one comparison tells what each of them may touch.
//
// The range of guest memory is divided into parts (address_range.h), whose number is a power of two. Part 0 is
// everybody's: memory of the host that GPUs use, queues, signals, code. Each GPU's own memory has a part whose number
// has bits that no other GPU's has all of: with 4 GPUs parts 1, 2, 4 and 8 of 16, with 8 those of two bits of 32. So
// what a GPU may not touch are the addresses with one of the bits that its own part does not have.
//
// A GPU that has been given access to memory of another one may touch that one's part (hsa_amd_agents_allow_access,
// hipDeviceEnablePeerAccess): what it has not been given of it is not told apart, nor, with more than 4 GPUs, the
// memory of a third GPU whose bits are those of the two together.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "machine/memory/address_range.h"

namespace Atoll::machine {

class AddressPartitions {
 public:
  /// Where the range cannot be divided for so many, all memory is everybody's.
  explicit AddressPartitions(unsigned gpus);

  /// The part that memory of a GPU is to be taken from, 0 for a number that there is no GPU of.
  unsigned part_of(unsigned gpu) const { return gpu < own_.size() ? own_[gpu] : 0; }
  /// How many GPUs have a part.
  unsigned count() const { return static_cast<unsigned>(own_.size()); }

  /// That a GPU may use a block of another's memory, or no longer.
  void allow(unsigned gpu, unsigned owner);
  void disallow(unsigned gpu, unsigned owner);

  /// What a GPU may touch. All of the range, where it has been made one again because a part had no addresses left.
  AddressBounds bounds(unsigned gpu) const;

 private:
  std::atomic<unsigned>& blocks(unsigned gpu, unsigned owner) const { return blocks_[gpu * own_.size() + owner]; }

  unsigned parts_ = 1;
  std::vector<unsigned> own_;                        ///< part numbers by GPU
  std::unique_ptr<std::atomic<unsigned>[]> blocks_;  ///< how many of a GPU's another may use
};

}  // namespace Atoll::machine
