// library: shared by Atoll::evaluate() and `atoll eval`.
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

/// Returns the requested wave size; for 0, 32 if the GPU supports both.
unsigned eval_wave_size(unsigned wanted, const target::Processor& processor);

/// Appended to the code. Two ends, because the compiled engine ends its code with the first and jumps to the second
/// (eval_wave.cpp).
inline constexpr std::string_view eval_code_end = "\n.text\ns_endpgm\ns_endpgm\n";

/// Returns the code's instructions without the appended ones.
std::vector<isa::Instruction> own_instructions(const EvalWave& wave);

/// Returns the complete result: {"processor": ..., "registers": [...], "memory": [...]}.
nlohmann::ordered_json evaluation_as_json(const EvalWave& wave, const std::string& engine, EvalWave::Outcome outcome,
                                          const std::optional<support::Error>& error, const WaveSnapshot& before,
                                          const WaveSnapshot& after, const RegisterTypes& types);

}  // namespace Atoll::library
