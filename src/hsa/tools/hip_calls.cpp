// HIP's functions that free, copy and fill memory: a library that `atoll run --check` preloads.
//
// HIP validates addresses and sizes itself. A wrong call returns an error, of which the runtime below HIP never learns,
// and few programs look at it. Memory of hipFreeAsync stays with HIP's pool, so the runtime does not learn of that
// either. The functions here have HIP's names, call HIP's own, and report to the runtime which calls were refused, and
// which allocations a stream has begun or ended.
//
// All arguments of these functions are integers or pointers, which the host's calling convention passes alike, in up to
// six registers.
#include <dlfcn.h>
#include <link.h>
#include <string.h>

#include <atomic>
#include <cstdint>

#include "hsa/tools/hip_calls.h"

#define ATOLL_INTERPOSED extern "C" __attribute__((visibility("default")))

/// The runtime's callback, or null. The runtime finds this symbol by its name.
ATOLL_INTERPOSED std::atomic<const Atoll::hsa::HipCallListener*> atoll_hip_calls{nullptr};

namespace {

using Word = uint64_t;
using Function = int(Word, Word, Word, Word, Word, Word);
constexpr int not_initialized = 3;  // hipErrorNotInitialized

/// A library that HIP's functions are in, by its name.
int find_hip(dl_phdr_info* info, size_t, void* found) {
  const char* const slash = strrchr(info->dlpi_name, '/');
  const char* const name = slash == nullptr ? info->dlpi_name : slash + 1;
  constexpr char hip[] = "libamdhip64.so";
  if (strncmp(name, hip, sizeof hip - 1) != 0) return 0;
  *static_cast<void**>(found) = dlopen(info->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
  return 1;
}

/// HIP's own function. RTLD_NEXT does not reach what was loaded with dlopen().
Function* next(std::atomic<Function*>& known, const char* name) {
  Function* found = known.load(std::memory_order_relaxed);
  if (found != nullptr) return found;
  found = reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
  if (found == nullptr) {
    void* library = nullptr;
    dl_iterate_phdr(find_hip, static_cast<void*>(&library));
    if (library != nullptr) found = reinterpret_cast<Function*>(dlsym(library, name));
  }
  known.store(found, std::memory_order_relaxed);
  return found;
}

const Atoll::hsa::HipCallListener* listener() { return atoll_hip_calls.load(std::memory_order_acquire); }

}  // namespace

/// Defines the function `name`, which calls HIP's with the arguments a to f and then does `notify` with the listener
/// `to` and HIP's `status`.
#define ATOLL_HIP_FUNCTION(name, notify)                                      \
  ATOLL_INTERPOSED int name(Word a, Word b, Word c, Word d, Word e, Word f) { \
    static constinit std::atomic<Function*> known{nullptr};                   \
    Function* const own = next(known, #name);                                 \
    if (own == nullptr) return not_initialized;                               \
    const int status = own(a, b, c, d, e, f);                                 \
    if (const auto* const to = listener()) notify return status;              \
  }
#define ATOLL_HIP_FREE(name)                     \
  ATOLL_HIP_FUNCTION(name, {                     \
    if (status != 0) to->refused_free(#name, a); \
  })
#define ATOLL_HIP_COPY(name)                           \
  ATOLL_HIP_FUNCTION(name, {                           \
    if (status != 0) to->refused_copy(#name, a, b, c); \
  })
#define ATOLL_HIP_FILL(name, unit)                            \
  ATOLL_HIP_FUNCTION(name, {                                  \
    if (status != 0) to->refused_copy(#name, a, 0, c*(unit)); \
  })
#define ATOLL_HIP_ALLOCATE(name)                                                           \
  ATOLL_HIP_FUNCTION(name, {                                                               \
    if (status == 0) to->allocated_in_stream(#name, *reinterpret_cast<const Word*>(a), b); \
  })

ATOLL_HIP_FREE(hipFree)
ATOLL_HIP_FREE(hipFreeHost)
ATOLL_HIP_FREE(hipHostFree)
ATOLL_HIP_FUNCTION(hipFreeAsync,
                   { status != 0 ? to->refused_free("hipFreeAsync", a) : to->freed_in_stream("hipFreeAsync", a); })
ATOLL_HIP_ALLOCATE(hipMallocAsync)
ATOLL_HIP_ALLOCATE(hipMallocFromPoolAsync)

ATOLL_HIP_COPY(hipMemcpy)
ATOLL_HIP_COPY(hipMemcpy_spt)
ATOLL_HIP_COPY(hipMemcpyAsync)
ATOLL_HIP_COPY(hipMemcpyAsync_spt)
ATOLL_HIP_COPY(hipMemcpyWithStream)
ATOLL_HIP_COPY(hipMemcpyDtoD)
ATOLL_HIP_COPY(hipMemcpyDtoDAsync)
ATOLL_HIP_COPY(hipMemcpyDtoH)
ATOLL_HIP_COPY(hipMemcpyDtoHAsync)
ATOLL_HIP_COPY(hipMemcpyHtoD)
ATOLL_HIP_COPY(hipMemcpyHtoDAsync)
ATOLL_HIP_FILL(hipMemset, 1)
ATOLL_HIP_FILL(hipMemset_spt, 1)
ATOLL_HIP_FILL(hipMemsetAsync, 1)
ATOLL_HIP_FILL(hipMemsetAsync_spt, 1)
ATOLL_HIP_FILL(hipMemsetD8, 1)
ATOLL_HIP_FILL(hipMemsetD8Async, 1)
ATOLL_HIP_FILL(hipMemsetD16, 2)
ATOLL_HIP_FILL(hipMemsetD16Async, 2)
ATOLL_HIP_FILL(hipMemsetD32, 4)
ATOLL_HIP_FILL(hipMemsetD32Async, 4)
