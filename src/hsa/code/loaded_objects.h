// hsa: the program and the libraries that the process has loaded.
#pragma once

#include <link.h>

#include <exception>

namespace Atoll::hsa {

/// Calls `visit` with each. Exceptions are rethrown after dl_iterate_phdr(): its frame needs the system's unwinder, not
/// the one linked into the runtime.
template <typename Visit>
void for_each_loaded_object(const Visit& visit) {
  struct Visiting {
    const Visit& visit;
    std::exception_ptr thrown;
  } visiting{visit, nullptr};
  const auto look = [](dl_phdr_info* info, size_t, void* data) {
    auto& state = *static_cast<Visiting*>(data);
    try {
      state.visit(*info);
    } catch (...) {
      state.thrown = std::current_exception();
      return 1;
    }
    return 0;
  };
  dl_iterate_phdr(look, &visiting);
  if (visiting.thrown) std::rethrow_exception(visiting.thrown);
}

}  // namespace Atoll::hsa
