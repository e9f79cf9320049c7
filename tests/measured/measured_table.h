// The table of results that others measured on GPUs (measured.txt), as data.
//
// A line that begins with @ says where the lines after it were measured:
//
//   @ GPU waveN mode=MODE SOURCE
//
// GPU is a processor, MODE the value of the MODE register, SOURCE the repository and path, or the issue. Each other
// line is one measurement:
//
//   NAME | INPUTS | CODE | RESULTS
//
// The bars have blanks around them. NAME groups lines into a test. INPUTS are registers before CODE runs, all others
// are 0: `v1=0x3f800000` for all lanes, `v1[3]=5` for lane 3, `v1=lane` for the number of the lane; s4, vcc, scc, exec,
// m0 and mode likewise. EXEC has all lanes unless it is given. CODE is assembly, instructions separated by `;`. RESULTS
// are registers after it, in the active lanes: a number, `nan` for any single-precision NaN, or `NUMBER~N` for at most
// N units in the last place from it. Empty lines and lines that begin with # are comments.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "support/error.h"

namespace Atoll::test {

/// A register, or one lane of it, with its value before or after the code.
struct MeasuredRegister {
  enum class Kind : uint8_t { vgpr, sgpr, vcc, scc, exec, m0, mode } kind{};
  uint16_t number = 0;  ///< of a VGPR or SGPR
  int lane = -1;        ///< of a VGPR; -1: all
  uint64_t value = 0;
  bool is_lane_number = false;  ///< the value is the number of the lane
  bool is_nan = false;          ///< any NaN
  uint32_t tolerance = 0;       ///< units in the last place
  std::string text;             ///< as it stands in the table
};

struct Measurement {
  std::string name, gpu, source;
  unsigned wave_size = 0;
  uint32_t mode = 0;
  std::vector<MeasuredRegister> inputs, results;
  std::string code;  ///< an instruction a line
  unsigned line = 0;
};

/// Reads a table. An error names the line.
support::Result<std::vector<Measurement>> read_measurements(std::string_view text);

}  // namespace Atoll::test
