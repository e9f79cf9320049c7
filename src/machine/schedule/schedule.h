// machine: in which order waves run.
//
// By default a wave runs until it ends, waits or has used up a budget of a thousand instructions or more, which is
// fastest. A program with a race can then give another result than on hardware, where the waves of a work-group run
// side by side. The other schedules run waves in turns of few instructions, on one thread, and depend on no clock: the
// same program has the same interleaving in every run. They help to find out whether a result depends on the order.
#pragma once

#include <cstdint>
#include <string_view>

#include "support/error.h"

namespace Atoll::machine {

struct Schedule {
  enum class Kind : uint8_t {
    fast,    ///< the default
    fair,    ///< every wave of every resident work-group executes one instruction in turn
    random,  ///< pseudo-random waves for pseudo-random numbers of instructions, by the seed
  };
  Kind kind = Kind::fast;
  uint64_t seed = 0;

  bool is_deterministic() const { return kind != Kind::fast; }
};

/// "fast", "fair" or a seed, a number.
support::Result<Schedule> parse_schedule(std::string_view text);

/// Numbers for Schedule::Kind::random: splitmix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number
/// generators", 2014).
class ScheduleRandom {
 public:
  explicit ScheduleRandom(uint64_t seed) : state_(seed) {}
  uint64_t next() {
    uint64_t z = state_ += 0x9E37'79B9'7F4A'7C15;
    z = (z ^ z >> 30) * 0xBF58'476D'1CE4'E5B9;
    z = (z ^ z >> 27) * 0x94D0'49BB'1331'11EB;
    return z ^ z >> 31;
  }
  uint64_t below(uint64_t limit) { return next() % limit; }

 private:
  uint64_t state_;
};

}  // namespace Atoll::machine
