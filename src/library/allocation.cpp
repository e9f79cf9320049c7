// library: where libatoll.so's memory comes from.
//
// The C++ library is linked into libatoll.so, and its API hands out strings and vectors that the program frees: so both
// must use the same operators new and delete. These pass on to the program's, which may be its own or a sanitizer's,
// and are the C library's allocator where the process has none (a C program that loads the library).
#include <dlfcn.h>

#include <cstdlib>
#include <new>

namespace {

template <typename Function>
Function program_function(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
}

void* allocate(std::size_t size) {
  static const auto allocate_next = program_function<void* (*)(std::size_t)>("_Znwm");
  if (allocate_next != nullptr) return allocate_next(size);
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}

void* allocate(std::size_t size, std::align_val_t alignment) {
  static const auto allocate_next = program_function<void* (*)(std::size_t, std::align_val_t)>("_ZnwmSt11align_val_t");
  if (allocate_next != nullptr) return allocate_next(size, alignment);
  void* memory = nullptr;
  if (posix_memalign(&memory, static_cast<std::size_t>(alignment), size) == 0) return memory;
  throw std::bad_alloc();
}

void release(void* memory) noexcept {
  static const auto release_next = program_function<void (*)(void*)>("_ZdlPv");
  release_next != nullptr ? release_next(memory) : std::free(memory);
}

void release(void* memory, std::align_val_t alignment) noexcept {
  static const auto release_next = program_function<void (*)(void*, std::align_val_t)>("_ZdlPvSt11align_val_t");
  release_next != nullptr ? release_next(memory, alignment) : std::free(memory);
}

}  // namespace

// The other forms of the C++ library (arrays, nothrow, sized) call these.
void* operator new(std::size_t size) { return allocate(size); }
void* operator new(std::size_t size, std::align_val_t alignment) { return allocate(size, alignment); }
void operator delete(void* memory) noexcept { release(memory); }
void operator delete(void* memory, std::align_val_t alignment) noexcept { release(memory, alignment); }
