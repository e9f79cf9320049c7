// library: the memory that code sees which `atoll eval` runs: what the user has filled, at the addresses that he said.
//
// A guest address is the host's, so all of this process lies at some address. Of that the code is to see nothing:
// evaluate() runs within a program of the user's. So this observes the accesses of the interpreter, and refuses those
// of memory that was not given, as the host refuses those where nothing is mapped.
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

  /// Host memory for guest addresses: pages that hold these bytes, zeros at first. `text`: what asks, for errors.
  support::Result<uint8_t*> give(uint64_t address, uint64_t bytes, const std::string& text);
  /// Memory that is there already and that code may touch, too.
  enum class Use : uint8_t { read, read_write };
  void allow(uint64_t address, uint64_t bytes, Use use);

  /// What was given, by address, and what is there now.
  std::map<uint64_t, std::vector<uint8_t>> content() const;
  /// What of it lies next to an address, in words; nothing for an address that is in it.
  std::string neighbourhood(uint64_t address) const;

  machine::EventMask watched() const override { return {.accesses = true}; }
  void access(const machine::Wave& wave, const machine::AccessEvent& access) override;

 private:
  struct Range {
    uint64_t bytes = 0;
    Use use = Use::read_write;
  };
  bool holds(uint64_t address, uint64_t bytes, bool writes) const;

  std::map<uint64_t, Range> pages_;   ///< that were given
  std::map<uint64_t, Range> others_;  ///< allowed
};

}  // namespace Atoll::library
