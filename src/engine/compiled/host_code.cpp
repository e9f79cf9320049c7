// engine/compiled: host code in memory (host_code.h). Memory is never writable and executable at once.
#include "engine/compiled/host_code.h"

#include <math.h>  // the names of C, which are not overloaded
#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace Atoll::engine {

namespace {

/// In the order of import_names.
const void* const import_addresses[] = {
    reinterpret_cast<const void*>(&std::memcpy),
    reinterpret_cast<const void*>(&std::memmove),
    reinterpret_cast<const void*>(&std::memset),
    reinterpret_cast<const void*>(&std::memcmp),
    reinterpret_cast<const void*>(&::fmaf),
    reinterpret_cast<const void*>(static_cast<double (*)(double, double, double)>(&::fma)),
    reinterpret_cast<const void*>(&::floorf),
    reinterpret_cast<const void*>(static_cast<double (*)(double)>(&::floor)),
    reinterpret_cast<const void*>(&::ceilf),
    reinterpret_cast<const void*>(static_cast<double (*)(double)>(&::ceil)),
    reinterpret_cast<const void*>(&::truncf),
    reinterpret_cast<const void*>(static_cast<double (*)(double)>(&::trunc)),
    reinterpret_cast<const void*>(&::rintf),
    reinterpret_cast<const void*>(static_cast<double (*)(double)>(&::rint)),
    reinterpret_cast<const void*>(&::nearbyintf),
    reinterpret_cast<const void*>(static_cast<double (*)(double)>(&::nearbyint)),
    reinterpret_cast<const void*>(&::roundevenf),
    reinterpret_cast<const void*>(static_cast<double (*)(double)>(&::roundeven)),
};
static_assert(std::size(import_addresses) == std::size(import_names));

}  // namespace

support::Result<std::shared_ptr<const HostCode>> HostCode::place(TranslatedCode translated) {
  const auto refused = [] {
    return support::fail(support::ErrorKind::system, "no executable memory: {}", std::strerror(errno));
  };
  std::shared_ptr<HostCode> placed(new HostCode);
  const size_t size = translated.code.size();
  void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return refused();
  placed->memory_ = static_cast<uint8_t*>(memory);
  placed->size_ = size;
  std::memcpy(memory, translated.code.data(), size);
  for (const Import& import : translated.imports) {
    std::memcpy(placed->memory_ + import.slot, &import_addresses[import.function], sizeof(void*));
  }
  if (mprotect(memory, size, PROT_READ | PROT_EXEC) != 0) return refused();
  placed->translated_ = std::move(translated);
  placed->translated_.code = {};
  return placed;
}

HostCode::~HostCode() {
  if (memory_ != nullptr) munmap(memory_, size_);
}

}  // namespace Atoll::engine
