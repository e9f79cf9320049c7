// engine/compiled: host code in memory, ready to be called.
#pragma once

#include <memory>

#include "engine/compiled/jit_context.h"
#include "engine/compiled/translation.h"
#include "support/error.h"

namespace Atoll::engine {

/// Translated code in executable memory. It serves every place that the same GPU code is loaded at.
class HostCode {
 public:
  /// Error: the system gives no executable memory.
  static support::Result<std::shared_ptr<const HostCode>> place(TranslatedCode translated);
  ~HostCode();
  HostCode(const HostCode&) = delete;
  HostCode& operator=(const HostCode&) = delete;

  /// What it is the code of, without the code's bytes.
  const TranslatedCode& translated() const { return translated_; }
  uint64_t begin() const { return reinterpret_cast<uint64_t>(memory_); }
  uint64_t end() const { return begin() + size_; }
  HostFunction function(const EntryPoint& entry) const {
    return reinterpret_cast<HostFunction>(memory_ + entry.function);
  }

 private:
  HostCode() = default;
  TranslatedCode translated_;
  uint8_t* memory_ = nullptr;
  size_t size_ = 0;
};

}  // namespace Atoll::engine
