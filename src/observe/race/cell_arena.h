// observe: memory of the race checker's cells, which a kernel's first launch needs by the megabyte.
//
// Reads at addresses that are no multiple of 256 bytes need 7 KiB of cells for each 4 KiB of memory. malloc took these
// from fresh pages of 4 KiB: page faults were half of the processor time of a checked stencil's first launch. An arena
// takes blocks from regions that the host backs with huge pages, so that there is one fault for 2 MiB.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

namespace Atoll::observe {

/// Zeroed memory in huge pages where the host has such. It is returned to the host all at once.
class HugePages {
 public:
  static constexpr size_t page_bytes = size_t{2} << 20, region_bytes = 4 * page_bytes;

  HugePages() = default;
  HugePages(const HugePages&) = delete;
  HugePages& operator=(const HugePages&) = delete;
  ~HugePages();

  /// Returns that many bytes, at most `region_bytes`, aligned to 64. Throws std::bad_alloc. Any thread may call it.
  std::byte* take(size_t bytes);

 private:
  std::mutex mutex_;
  std::vector<std::byte*> regions_;
  size_t used_ = region_bytes;  ///< of the last region
};

/// Destroys an object whose memory an arena keeps.
struct DestroyInArena {
  template <typename Object>
  void operator()(Object* object) const {
    std::destroy_at(object);
  }
};
template <typename Object>
using InArena = std::unique_ptr<Object, DestroyInArena>;

/// A bump allocator for objects that are freed together. One thread at a time.
class CellArena {
 public:
  static constexpr size_t block_bytes = size_t{32} << 10;

  /// Takes its memory from there, which outlives it.
  void begin(HugePages& memory) { memory_ = &memory; }

  template <typename Object, typename... Arguments>
  InArena<Object> make(Arguments&&... arguments) {
    static_assert(sizeof(Object) <= block_bytes && alignof(Object) <= alignment);
    return InArena<Object>(::new (take((sizeof(Object) + alignment - 1) / alignment * alignment))
                               Object(std::forward<Arguments>(arguments)...));
  }
  /// Hands out its blocks again from the first on. All its objects have been destroyed.
  void rewind() {
    next_block_ = 0;
    at_ = end_ = nullptr;
  }

 private:
  static constexpr size_t alignment = 16;

  std::byte* take(size_t bytes) {
    if (static_cast<size_t>(end_ - at_) < bytes) next_block();
    return std::exchange(at_, at_ + bytes);
  }
  void next_block();

  HugePages* memory_ = nullptr;
  std::vector<std::byte*> blocks_;
  size_t next_block_ = 0;
  std::byte *at_ = nullptr, *end_ = nullptr;
};

}  // namespace Atoll::observe
