// observe: returns the value that a store is about to write.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "machine/observer.h"
#include "machine/wave/wave.h"

namespace Atoll::observe {

/// An element of up to four dwords.
struct StoredValue {
  std::array<uint8_t, 16> bytes{};
  uint32_t size = 0;

  friend bool operator==(const StoredValue&, const StoredValue&) = default;
};

/// Returns a lane's value for stores of one element from registers; nullopt for others.
std::optional<StoredValue> stored_value(const machine::Wave& wave, const machine::AccessEvent& access, unsigned lane);

/// Returns whether memory already holds the bytes [begin, end) of a lane's element.
bool holds(const machine::Wave& wave, const machine::AccessEvent& access, unsigned lane, const StoredValue& value,
           uint64_t begin, uint64_t end);

}  // namespace Atoll::observe
