// Subjects of the sweeps: every processor whose instructions Atoll supports, in each of its wave sizes.
#pragma once

#include <algorithm>
#include <ostream>
#include <string>
#include <vector>

#include "isa/opcode_map.h"
#include "target/processor.h"

namespace Atoll::isa::test {

/// A processor in one of the wave sizes that it has.
struct Subject {
  const target::Processor* processor;
  unsigned wave_size;  ///< 0: the smaller one

  /// As a test is called.
  std::string name() const {
    std::string text(processor->name);
    std::ranges::replace(text, '-', '_');
    return wave_size == 0 ? text : text + "_wave" + std::to_string(wave_size);
  }
  /// As the oracle is told.
  std::string_view features() const { return wave_size == 64 ? "+wavefrontsize64" : ""; }
};
inline void PrintTo(const Subject& subject, std::ostream* out) { *out << subject.name(); }

inline std::vector<Subject> all_subjects() {
  constexpr uint8_t both_wave_sizes = 3;
  std::vector<Subject> subjects;
  for (const target::Processor& processor : target::processors()) {
    if (opcode_map_of(processor).empty) continue;
    subjects.push_back({&processor, 0});
    if (processor.wave_sizes == both_wave_sizes) subjects.push_back({&processor, 64});
  }
  return subjects;
}

}  // namespace Atoll::isa::test
