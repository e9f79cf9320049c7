// The kernel driver's presence: a library that `atoll run` preloads.
//
// Some programs look for AMD's kernel driver before they call the runtime: rocminfo asks lsmod for a module named
// amdgpu and opens /dev/kfd. Atoll needs no driver, so it gives the answers that a machine with one would:
// /proc/modules lists amdgpu, whose directory under /sys/module can be listed, and /dev/kfd opens, as the null device.
// Everything else passes through.
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define ATOLL_INTERPOSED extern "C" __attribute__((visibility("default")))

namespace {

using OpenFile = FILE* (*)(const char*, const char*);
using Open = int (*)(const char*, int, ...);

template <typename Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

constexpr char modules_path[] = "/proc/modules";
constexpr char driver_path[] = "/dev/kfd";
constexpr char driver_line[] = "amdgpu 0 0 - Live 0x0000000000000000\n";

/// The host's list of modules with the driver in it.
FILE* open_modules(OpenFile open_file) {
  const int file = memfd_create("modules", MFD_CLOEXEC);
  FILE* list = file < 0 ? nullptr : fdopen(file, "w+");
  if (list == nullptr) return nullptr;
  bool has_driver = false;
  if (FILE* host = open_file(modules_path, "re"); host != nullptr) {
    char line[1024];
    while (fgets(line, sizeof line, host) != nullptr) {
      has_driver |= strncmp(line, "amdgpu ", 7) == 0;
      fputs(line, list);
    }
    fclose(host);
  }
  if (!has_driver) fputs(driver_line, list);
  rewind(list);
  return list;
}

/// An empty directory, for what hangs on a module that the host does not have.
DIR* open_nothing(DIR* (*open_directory)(const char*)) {
  char path[] = "/tmp/atoll-empty-XXXXXX";
  if (mkdtemp(path) == nullptr) return nullptr;
  DIR* directory = open_directory(path);
  rmdir(path);
  return directory;
}

int open_path(Open open_next, const char* path, int flags, mode_t mode) {
  const int file = open_next(path, flags, mode);
  if (file >= 0 || path == nullptr || strcmp(path, driver_path) != 0) return file;
  return open_next("/dev/null", flags, mode);
}

}  // namespace

ATOLL_INTERPOSED FILE* fopen(const char* path, const char* mode) {
  static const auto open_file = next<OpenFile>("fopen");
  return strcmp(path, modules_path) == 0 ? open_modules(open_file) : open_file(path, mode);
}

ATOLL_INTERPOSED FILE* fopen64(const char* path, const char* mode) {
  static const auto open_file = next<OpenFile>("fopen64");
  return strcmp(path, modules_path) == 0 ? open_modules(open_file) : open_file(path, mode);
}

ATOLL_INTERPOSED DIR* opendir(const char* path) {
  static const auto open_directory = next<DIR* (*)(const char*)>("opendir");
  DIR* directory = open_directory(path);
  if (directory != nullptr || strncmp(path, "/sys/module/amdgpu/", 19) != 0) return directory;
  return open_nothing(open_directory);
}

ATOLL_INTERPOSED int open(const char* path, int flags, ...) {
  static const auto open_next = next<Open>("open");
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  return open_path(open_next, path, flags, mode);
}

ATOLL_INTERPOSED int open64(const char* path, int flags, ...) {
  static const auto open_next = next<Open>("open64");
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  return open_path(open_next, path, flags, mode);
}
