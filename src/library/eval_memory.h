// library: the memory visible to code of `atoll eval`: what the user has filled, at the chosen addresses.
//
// Guest addresses are host addresses, so the whole process would be accessible. evaluate() may run inside a user's
// program, whose memory must be protected. Therefore this class observes the interpreter's accesses and rejects those
// outside the given memory, as the host rejects unmapped ones.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "machine/observer.h"
#include "support/error.h"

namespace Atoll::library {

class EvalMemory final : public machine::Observer {
 public:
  EvalMemory() = default;
  EvalMemory(const EvalMemory&) = delete;
  EvalMemory& operator=(const EvalMemory&) = delete;
  ~EvalMemory() override;

  /// Maps pages for these bytes at guest addresses, initially zero. `text`: origin of the request, for errors.
  support::Result<uint8_t*> give(uint64_t address, uint64_t bytes, const std::string& text);
  /// Existing memory that the code may also access.
  enum class Use : uint8_t { read, read_write };
  void allow(uint64_t address, uint64_t bytes, Use use);

  /// Returns the current contents of the given memory, by address.
  std::map<uint64_t, std::vector<uint8_t>> content() const;
  /// Describes the given memory near an address; empty if the address is inside it.
  std::string neighbourhood(uint64_t address) const;

  machine::EventMask watched() const override { return {.accesses = true}; }
  void access(const machine::Wave& wave, const machine::AccessEvent& access) override;

 private:
  struct Range {
    uint64_t bytes = 0;
    Use use = Use::read_write;
  };
  bool holds(uint64_t address, uint64_t bytes, bool writes) const;

  std::map<uint64_t, Range> pages_;   ///< given memory
  std::map<uint64_t, Range> others_;  ///< existing memory
};

}  // namespace Atoll::library
