// The kernel driver's presence: a library that `atoll run` preloads.
//
// Some programs look for AMD's kernel driver before they call the runtime, or instead: rocminfo wants its module and
// /dev/kfd, rocm_agent_enumerator reads which GPUs it has found. Atoll needs no driver. `atoll run` writes the files
// that a machine with one would have into a directory (tools/driver_files.h), which ATOLL_DRIVER names, and the C
// library's functions that take a path go there for them; /dev/kfd is the null device. Every other path passes through.
//
// Functions that take a path only in the C library's newer or older versions are here, too: __xstat is stat in programs
// that were linked before glibc 2.33, __open_2 and so on are open in programs compiled with _FORTIFY_SOURCE.
//
// The driver also learns when memory goes that it has given to GPUs, as the kernel notifies it (HIP's managed memory is
// the program's own, and HIP says nothing to the runtime when it frees it). So munmap tells the runtime, if it wants to
// know (svm.h).
//
// A process can end without its exit handlers. Then the exit code that findings give it comes from here (checking.h).
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>

#include "support/environment.h"

#define ATOLL_INTERPOSED extern "C" __attribute__((visibility("default")))

namespace {

/// What the driver's files are below. /sys/class/kfd is, on a real machine, a link into /sys/devices. The host's own
/// graphics devices and sensors are not among Atoll's, so that no program takes one of them for a GPU of this machine.
struct Place {
  const char *path, *target;
};
constexpr Place places[] = {{"/proc/modules", "/proc/modules"},
                            {"/sys/module/amdgpu", "/sys/module/amdgpu"},
                            {"/sys/bus/pci/devices", "/sys/bus/pci/devices"},
                            {"/sys/bus/pci/drivers/amdgpu", "/sys/bus/pci/drivers/amdgpu"},
                            {"/sys/class/drm", "/sys/class/drm"},
                            {"/sys/class/hwmon", "/sys/class/hwmon"},
                            {"/sys/class/kfd", "/sys/class/kfd"},
                            {"/sys/devices/virtual/kfd", "/sys/class/kfd"}};
constexpr char device[] = "/dev/kfd", null_device[] = "/dev/null";

/// A path after redirection, for the next function.
class Redirected {
 public:
  explicit Redirected(const char* path) : path_(path) {
    if (path == nullptr || path[0] != '/') return;
    if (strcmp(path, device) == 0) {
      path_ = null_device;
      return;
    }
    for (const Place& place : places) {
      const size_t length = strlen(place.path);
      if (strncmp(path, place.path, length) != 0 || (path[length] != '\0' && path[length] != '/')) continue;
      const char* const files = Atoll::support::environment_variable(Atoll::support::Setting::driver);
      if (files == nullptr) return;
      const int written = snprintf(buffer_, sizeof buffer_, "%s%s%s", files, place.target, path + length);
      if (written > 0 && static_cast<size_t>(written) < sizeof buffer_) path_ = buffer_;
      return;
    }
  }
  operator const char*() const { return path_; }  // NOLINT(google-explicit-constructor): stands for the path in calls

 private:
  const char* path_;
  char buffer_[PATH_MAX];
};

/// Returns the next definition of this function. Old programs require old symbol versions. Every process that a program
/// starts loads this library, so it avoids the C++ library and its lock for static variables.
template <typename Function>
Function* next(std::atomic<Function*>& known, const char* name) {
  Function* found = known.load(std::memory_order_relaxed);
  for (const char* version : {"", "GLIBC_2.2.5", "GLIBC_2.3.3", "GLIBC_2.4", "GLIBC_2.7"}) {
    if (found != nullptr) break;
    found = reinterpret_cast<Function*>(*version == '\0' ? dlsym(RTLD_NEXT, name) : dlvsym(RTLD_NEXT, name, version));
  }
  known.store(found, std::memory_order_relaxed);
  return found;
}

/// The argument that open has only when it may make a file.
#define ATOLL_MODE(flags)                                               \
  mode_t mode = 0;                                                      \
  if (((flags) & O_CREAT) != 0 || ((flags) & O_TMPFILE) == O_TMPFILE) { \
    va_list arguments;                                                  \
    va_start(arguments, flags);                                         \
    mode = va_arg(arguments, mode_t);                                   \
    va_end(arguments);                                                  \
  }

}  // namespace

/// Defines the function `name`, which calls the next with `...`: its arguments, the path redirected.
#define ATOLL_PATH_FUNCTION(result, name, parameters, ...)             \
  ATOLL_INTERPOSED result name parameters {                            \
    static constinit std::atomic<result(*) parameters> known{nullptr}; \
    return next(known, #name)(__VA_ARGS__);                            \
  }

#define ATOLL_OPEN(name)                                                         \
  ATOLL_INTERPOSED int name(const char* path, int flags, ...) {                  \
    static constinit std::atomic<int (*)(const char*, int, ...)> known{nullptr}; \
    ATOLL_MODE(flags)                                                            \
    return next(known, #name)(Redirected(path), flags, mode);                    \
  }
ATOLL_OPEN(open)
ATOLL_OPEN(open64)

#define ATOLL_OPENAT(name)                                                            \
  ATOLL_INTERPOSED int name(int directory, const char* path, int flags, ...) {        \
    static constinit std::atomic<int (*)(int, const char*, int, ...)> known{nullptr}; \
    ATOLL_MODE(flags)                                                                 \
    return next(known, #name)(directory, Redirected(path), flags, mode);              \
  }
ATOLL_OPENAT(openat)
ATOLL_OPENAT(openat64)

ATOLL_PATH_FUNCTION(int, __open_2, (const char* path, int flags), Redirected(path), flags)
ATOLL_PATH_FUNCTION(int, __open64_2, (const char* path, int flags), Redirected(path), flags)
ATOLL_PATH_FUNCTION(int, __openat_2, (int directory, const char* path, int flags), directory, Redirected(path), flags)
ATOLL_PATH_FUNCTION(int, __openat64_2, (int directory, const char* path, int flags), directory, Redirected(path), flags)

ATOLL_PATH_FUNCTION(FILE*, fopen, (const char* path, const char* mode), Redirected(path), mode)
ATOLL_PATH_FUNCTION(FILE*, fopen64, (const char* path, const char* mode), Redirected(path), mode)
ATOLL_PATH_FUNCTION(DIR*, opendir, (const char* path), Redirected(path))

ATOLL_PATH_FUNCTION(int, stat, (const char* path, struct stat* to), Redirected(path), to)
ATOLL_PATH_FUNCTION(int, lstat, (const char* path, struct stat* to), Redirected(path), to)
ATOLL_PATH_FUNCTION(int, stat64, (const char* path, struct stat64* to), Redirected(path), to)
ATOLL_PATH_FUNCTION(int, lstat64, (const char* path, struct stat64* to), Redirected(path), to)
ATOLL_PATH_FUNCTION(int, fstatat, (int directory, const char* path, struct stat* to, int flags), directory,
                    Redirected(path), to, flags)
ATOLL_PATH_FUNCTION(int, fstatat64, (int directory, const char* path, struct stat64* to, int flags), directory,
                    Redirected(path), to, flags)
ATOLL_PATH_FUNCTION(int, __xstat, (int version, const char* path, struct stat* to), version, Redirected(path), to)
ATOLL_PATH_FUNCTION(int, __lxstat, (int version, const char* path, struct stat* to), version, Redirected(path), to)
ATOLL_PATH_FUNCTION(int, __xstat64, (int version, const char* path, struct stat64* to), version, Redirected(path), to)
ATOLL_PATH_FUNCTION(int, __lxstat64, (int version, const char* path, struct stat64* to), version, Redirected(path), to)
ATOLL_PATH_FUNCTION(int, statx, (int directory, const char* path, int flags, unsigned mask, struct statx* to),
                    directory, Redirected(path), flags, mask, to)

ATOLL_PATH_FUNCTION(int, access, (const char* path, int mode), Redirected(path), mode)
ATOLL_PATH_FUNCTION(int, euidaccess, (const char* path, int mode), Redirected(path), mode)
ATOLL_PATH_FUNCTION(int, faccessat, (int directory, const char* path, int mode, int flags), directory, Redirected(path),
                    mode, flags)
ATOLL_PATH_FUNCTION(ssize_t, readlink, (const char* path, char* to, size_t bytes), Redirected(path), to, bytes)
ATOLL_PATH_FUNCTION(ssize_t, readlinkat, (int directory, const char* path, char* to, size_t bytes), directory,
                    Redirected(path), to, bytes)

ATOLL_PATH_FUNCTION(ssize_t, getxattr, (const char* path, const char* name, void* to, size_t bytes), Redirected(path),
                    name, to, bytes)
ATOLL_PATH_FUNCTION(ssize_t, lgetxattr, (const char* path, const char* name, void* to, size_t bytes), Redirected(path),
                    name, to, bytes)

/// Called with addresses that are about to be unmapped, and their size; null: disabled. The runtime finds it by name.
extern "C" __attribute__((visibility("default"))) std::atomic<void (*)(void*, size_t)> atoll_memory_goes{nullptr};

ATOLL_INTERPOSED int munmap(void* address, size_t bytes) {
  static constinit std::atomic<int (*)(void*, size_t)> known{nullptr};
  if (auto* const report = atoll_memory_goes.load(std::memory_order_acquire)) report(address, bytes);
  return next(known, "munmap")(address, bytes);
}

/// Replaces the status with which the process ends; null: it stays. The runtime finds it by its name.
extern "C" __attribute__((visibility("default"))) std::atomic<int (*)(int)> atoll_exit_status{nullptr};

/// The next functions that end a process. They are found as this library is loaded: a child of vfork(), which shares
/// the memory of a process whose threads may hold the loader's lock, calls them, too.
static void (*next_exits[3])(int);
__attribute__((constructor)) static void find_exits() {
  const char* const names[] = {"_exit", "_Exit", "quick_exit"};
  for (unsigned i = 0; i < 3; ++i) next_exits[i] = reinterpret_cast<void (*)(int)>(dlsym(RTLD_NEXT, names[i]));
}

/// Defines a function that ends the process without its exit handlers, or with others.
#define ATOLL_EXIT_FUNCTION(name, number)                                                                  \
  ATOLL_INTERPOSED __attribute__((noreturn)) void name(int status) {                                       \
    if (auto* const replace = atoll_exit_status.load(std::memory_order_acquire)) status = replace(status); \
    if (next_exits[number] != nullptr) next_exits[number](status);                                         \
    for (;;) syscall(SYS_exit_group, status);                                                              \
  }
ATOLL_EXIT_FUNCTION(_exit, 0)
ATOLL_EXIT_FUNCTION(_Exit, 1)
ATOLL_EXIT_FUNCTION(quick_exit, 2)

// The C library opens the directory itself.
ATOLL_PATH_FUNCTION(int, scandir,
                    (const char* path, struct dirent*** names, int (*choose)(const struct dirent*),
                     int (*compare)(const struct dirent**, const struct dirent**)),
                    Redirected(path), names, choose, compare)
ATOLL_PATH_FUNCTION(int, scandir64,
                    (const char* path, struct dirent64*** names, int (*choose)(const struct dirent64*),
                     int (*compare)(const struct dirent64**, const struct dirent64**)),
                    Redirected(path), names, choose, compare)
