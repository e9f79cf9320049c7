// Common parts of the tests of GFX12.5: a wave, and numbers in the form that registers hold.
#pragma once

#include <algorithm>
#include <bit>

#include "engine/wave_runner.h"

namespace Atoll::test {

inline constexpr unsigned lanes = 32;

class Gfx1250 : public WaveRunner {
 public:
  Gfx1250() : WaveRunner("gfx1250", "", lanes) { wave().vgprs = 512; }
  void fill(unsigned reg, uint32_t value) { std::fill_n(v(reg), lanes, value); }
  void set_address(unsigned reg, const void* address) {
    set_rows(reg, [&](unsigned) { return reinterpret_cast<uint64_t>(address); });
  }
};

inline uint32_t bits(float number) { return std::bit_cast<uint32_t>(number); }
inline float number(uint32_t word) { return std::bit_cast<float>(word); }
inline float brain(uint32_t half) { return number(half << 16); }
inline uint16_t to_brain(float value) {
  const uint32_t word = bits(value);
  return static_cast<uint16_t>((word + 0x7FFF + (word >> 16 & 1)) >> 16);
}
inline uint16_t to_half(float value) { return std::bit_cast<uint16_t>(static_cast<_Float16>(value)); }
inline float half(uint32_t code) { return static_cast<float>(std::bit_cast<_Float16>(static_cast<uint16_t>(code))); }

}  // namespace Atoll::test
