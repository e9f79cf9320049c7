// library: what Atoll::evaluate() and `atoll eval` have in common.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "isa/instruction.h"
#include "library/eval_changes.h"
#include "library/eval_wave.h"
#include "support/error.h"
#include "target/processor.h"

namespace Atoll::library {

/// The wave size that is asked for, or, if it is 0, 32 where the GPU has both.
unsigned eval_wave_size(unsigned wanted, const target::Processor& processor);

/// What follows the code. Two ends: the compiled engine's code ends with the first, and a jump to the second
/// (eval_wave.cpp).
inline constexpr std::string_view eval_code_end = "\n.text\ns_endpgm\ns_endpgm\n";

/// The code's instructions without those of its end.
std::vector<isa::Instruction> own_instructions(const EvalWave& wave);

/// All that is known of an evaluation: {"processor": ..., "registers": [...], "memory": [...]}.
nlohmann::ordered_json evaluation_as_json(const EvalWave& wave, const std::string& engine, EvalWave::Outcome outcome,
                                          const std::optional<support::Error>& error, const WaveSnapshot& before,
                                          const WaveSnapshot& after, const RegisterTypes& types);

}  // namespace Atoll::library
