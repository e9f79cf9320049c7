// A library to be preloaded, in which calls of the HSA runtime for memory, mappings, threads and files fail.
//
//     FAIL_FIRST  the number of the first call that fails, counted from 1; none: no call fails
//     FAIL_COUNT  how many fail from there on (1)
//     FAIL_REPORT a file to which the number of calls is written at the end
//
// Only calls that come from libhsa-runtime64 itself count, its C++ library among them: what the program and the C
// library want for themselves they get.
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

// The C library's own, by which it lets its functions be replaced.
extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);
}

namespace {

struct Range {
  uintptr_t begin = 0, end = 0;
};

Range find_runtime() {
  Range range;
  const auto look = [](dl_phdr_info* info, size_t, void* data) {
    if (std::strstr(info->dlpi_name, "libhsa-runtime64") == nullptr) return 0;
    auto& found = *static_cast<Range*>(data);
    found.begin = info->dlpi_addr;
    for (unsigned i = 0; i < info->dlpi_phnum; ++i) {
      const ElfW(Phdr)& segment = info->dlpi_phdr[i];
      if (segment.p_type == PT_LOAD && info->dlpi_addr + segment.p_vaddr + segment.p_memsz > found.end)
        found.end = info->dlpi_addr + segment.p_vaddr + segment.p_memsz;
    }
    return 1;
  };
  dl_iterate_phdr(look, &range);
  return range;
}

uint64_t number_of(const char* variable, uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

std::atomic<uint64_t> calls{0};
/// Nothing counts until the program begins: the loader and constructors of libraries are no concern of the runtime's.
std::atomic<bool> begun{false};
Range runtime;
uint64_t first = 0, count = 0;

bool fails(const void* caller) {
  if (!begun.load(std::memory_order_acquire)) return false;
  const auto address = reinterpret_cast<uintptr_t>(caller);
  if (address < runtime.begin || address >= runtime.end) return false;
  const uint64_t number = calls.fetch_add(1) + 1;
  return number >= first && number - first < count;
}

[[gnu::constructor]] void begin() {
  runtime = find_runtime();
  first = number_of("FAIL_FIRST", UINT64_MAX);
  count = number_of("FAIL_COUNT", 1);
  begun.store(true, std::memory_order_release);
}

[[gnu::destructor]] void report() {
  begun = false;
  if (const char* path = std::getenv("FAIL_REPORT")) {
    FILE* file = std::fopen(path, "w");
    if (file == nullptr) return;
    std::fprintf(file, "%llu\n", static_cast<unsigned long long>(calls.load()));
    std::fclose(file);
  }
}

bool is_readable(void* address) {
  char byte = 0;
  const iovec here{.iov_base = &byte, .iov_len = 1}, there{.iov_base = address, .iov_len = 1};
  return process_vm_readv(getpid(), &here, 1, &there, 1, 0) == 1;
}

/// The function that a call would have reached without this library.
template <typename Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

template <typename Result>
Result refuse(int error, Result result) {
  errno = error;
  return result;
}

}  // namespace

#define CALLER __builtin_return_address(0)

extern "C" {

void* malloc(size_t size) noexcept { return fails(CALLER) ? refuse<void*>(ENOMEM, nullptr) : __libc_malloc(size); }
void* calloc(size_t number, size_t size) noexcept {
  return fails(CALLER) ? refuse<void*>(ENOMEM, nullptr) : __libc_calloc(number, size);
}
void* realloc(void* memory, size_t size) noexcept {
  return fails(CALLER) ? refuse<void*>(ENOMEM, nullptr) : __libc_realloc(memory, size);
}
void* aligned_alloc(size_t alignment, size_t size) noexcept {
  return fails(CALLER) ? refuse<void*>(ENOMEM, nullptr) : __libc_memalign(alignment, size);
}
int posix_memalign(void** memory, size_t alignment, size_t size) noexcept {
  if (fails(CALLER)) return ENOMEM;
  *memory = __libc_memalign(alignment, size);
  return *memory != nullptr ? 0 : ENOMEM;
}

void* mmap(void* address, size_t size, int protection, int flags, int file, off_t offset) noexcept {
  if (fails(CALLER)) return refuse(ENOMEM, MAP_FAILED);
  return reinterpret_cast<void*>(syscall(SYS_mmap, address, size, protection, flags, file, offset));
}
void* mmap64(void* address, size_t size, int protection, int flags, int file, off64_t offset) noexcept {
  if (fails(CALLER)) return refuse(ENOMEM, MAP_FAILED);
  return reinterpret_cast<void*>(syscall(SYS_mmap, address, size, protection, flags, file, offset));
}
int mprotect(void* address, size_t size, int protection) noexcept {
  // To make pages writable that are readable never fails where they have been writable: that gives mappings back.
  if (!((protection & PROT_WRITE) != 0 && is_readable(address)) && fails(CALLER)) return refuse(ENOMEM, -1);
  return static_cast<int>(syscall(SYS_mprotect, address, size, protection));
}
int memfd_create(const char* name, unsigned flags) noexcept {
  if (fails(CALLER)) return refuse(EMFILE, -1);
  return static_cast<int>(syscall(SYS_memfd_create, name, flags));
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*),
                   void* argument) noexcept {
  if (fails(CALLER)) return EAGAIN;
  return next<int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*)>("pthread_create")(thread, attributes,
                                                                                                     start, argument);
}

FILE* fopen(const char* path, const char* mode) {
  if (fails(CALLER)) return refuse<FILE*>(EMFILE, nullptr);
  return next<FILE* (*)(const char*, const char*)>("fopen")(path, mode);
}
FILE* fopen64(const char* path, const char* mode) {
  if (fails(CALLER)) return refuse<FILE*>(EMFILE, nullptr);
  return next<FILE* (*)(const char*, const char*)>("fopen64")(path, mode);
}

#define MODE_OF_OPEN(flags)                                             \
  mode_t mode = 0;                                                      \
  if (((flags) & O_CREAT) != 0 || ((flags) & O_TMPFILE) == O_TMPFILE) { \
    va_list arguments;                                                  \
    va_start(arguments, flags);                                         \
    mode = va_arg(arguments, mode_t);                                   \
    va_end(arguments);                                                  \
  }
int open(const char* path, int flags, ...) {
  MODE_OF_OPEN(flags)
  if (fails(CALLER)) return refuse(EMFILE, -1);
  return static_cast<int>(syscall(SYS_openat, AT_FDCWD, path, flags, mode));
}
int open64(const char* path, int flags, ...) {
  MODE_OF_OPEN(flags)
  if (fails(CALLER)) return refuse(EMFILE, -1);
  return static_cast<int>(syscall(SYS_openat, AT_FDCWD, path, flags, mode));
}
int openat(int directory, const char* path, int flags, ...) {
  MODE_OF_OPEN(flags)
  if (fails(CALLER)) return refuse(EMFILE, -1);
  return static_cast<int>(syscall(SYS_openat, directory, path, flags, mode));
}

}  // extern "C"
