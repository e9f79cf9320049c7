// engine/compiled: executable memory with translated code.
#pragma once

#include <memory>

#include "engine/compiled/jit_context.h"
#include "engine/compiled/translation.h"
#include "support/error.h"

namespace Atoll::engine {

/// Translated code in executable memory. Shared by all load addresses of the same GPU code.
class HostCode {
 public:
  /// Fails if the system provides no executable memory.
  static support::Result<std::shared_ptr<const HostCode>> place(TranslatedCode translated);
  ~HostCode();
  HostCode(const HostCode&) = delete;
  HostCode& operator=(const HostCode&) = delete;

  /// Returns the translation's metadata, without the code bytes.
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
