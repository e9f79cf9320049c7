// library: output of kernels.
#pragma once

#include <cstdio>
#include <functional>
#include <mutex>
#include <string_view>
#include <utility>

#include "atoll/atoll.h"

namespace Atoll::library {

class OutputSink {
 public:
  explicit OutputSink(std::function<void(std::string_view, Output)> receiver) : receiver_(std::move(receiver)) {}
  /// Writes to the program's receiver, or to standard output or standard error.
  void write(std::string_view text, Output where) {
    if (text.empty()) return;
    const std::lock_guard lock(mutex_);
    if (receiver_) return receiver_(text, where);
    std::FILE* const file = where == Output::standard_error ? stderr : stdout;
    std::fwrite(text.data(), 1, text.size(), file);
  }

 private:
  std::mutex mutex_;
  std::function<void(std::string_view, Output)> receiver_;
};

}  // namespace Atoll::library
