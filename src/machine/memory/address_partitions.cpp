// machine: numbers of parts, and what a GPU may touch of them. See address_partitions.h.
#include "machine/memory/address_partitions.h"

#include <bit>
#include <utility>

namespace Atoll::machine {

namespace {

/// Numbers of as few bits as there are for so many GPUs, none of which has all bits of another one: those with as many
/// bits set as each other.
std::vector<unsigned> part_numbers(unsigned gpus, unsigned& parts) {
  std::vector<unsigned> numbers;
  for (unsigned bits = 1; bits < 16; ++bits) {
    parts = 1u << bits;
    for (int set = 1; set <= static_cast<int>(bits); ++set) {
      numbers.clear();
      for (unsigned number = 1; number < parts && numbers.size() < gpus; ++number)
        if (std::popcount(number) == set) numbers.push_back(number);
      if (numbers.size() == gpus) return numbers;
    }
  }
  return {};
}

}  // namespace

AddressPartitions::AddressPartitions(unsigned gpus) {
  if (gpus <= 1) return;  // a scheduler has memory of its own beside that of its GPUs
  unsigned parts = 1;
  std::vector<unsigned> own = part_numbers(gpus, parts);
  if (own.empty() || !AddressRange::of_process().divide(parts)) return;
  blocks_ = std::make_unique<std::atomic<unsigned>[]>(own.size() * own.size());
  parts_ = parts;
  own_ = std::move(own);
}

void AddressPartitions::allow(unsigned gpu, unsigned owner) {
  if (gpu < count() && owner < count()) ++blocks(gpu, owner);
}

void AddressPartitions::disallow(unsigned gpu, unsigned owner) {
  if (gpu < count() && owner < count()) --blocks(gpu, owner);
}

AddressBounds AddressPartitions::bounds(unsigned gpu) const {
  const AddressRange& range = AddressRange::of_process();
  AddressBounds bounds = range.bounds();
  if (gpu >= count() || range.parts() != parts_) return bounds;
  unsigned allowed = own_[gpu];
  for (unsigned owner = 0; owner < count(); ++owner)
    if (blocks(gpu, owner).load(std::memory_order_relaxed) != 0) allowed |= own_[owner];
  const uint64_t part_bytes = (~bounds.outside + 1) / parts_;
  bounds.outside |= ((parts_ - 1) & ~allowed) * part_bytes;
  return bounds;
}

}  // namespace Atoll::machine
