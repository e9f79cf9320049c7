// semantics: which level the host has, which one is wanted (host_vectors.h), and the way into it.
#include "semantics/host_vectors.h"

#include <array>

#include "semantics/host_isa_functions.h"
#include "support/environment.h"

namespace Atoll::semantics {

namespace portable {
extern const LevelFunctions level_functions;
}
namespace avx2 {
extern const LevelFunctions level_functions;
}
namespace avx512 {
extern const LevelFunctions level_functions;
}

namespace {

constexpr std::array levels = {HostVectors::portable, HostVectors::avx2, HostVectors::avx512};

/// Whether the processor has the instructions, and the system saves their registers.
bool host_has(HostVectors level) {
  switch (level) {
    case HostVectors::portable:
      return true;
    case HostVectors::avx2:
      return __builtin_cpu_supports("x86-64-v3") != 0;
    case HostVectors::avx512:
      return __builtin_cpu_supports("x86-64-v4") != 0;
  }
  return false;
}

const LevelFunctions& level() {
  static const LevelFunctions& used = functions_of(host_vectors());
  return used;
}

}  // namespace

std::span<const HostVectors> available_host_vectors() {
  static const size_t count = [] {
    __builtin_cpu_init();
    size_t found = 0;
    while (found < levels.size() && host_has(levels[found])) ++found;
    return found;
  }();
  return {levels.data(), count};
}

std::string_view name(HostVectors level) {
  switch (level) {
    case HostVectors::portable:
      return "portable";
    case HostVectors::avx2:
      return "avx2";
    case HostVectors::avx512:
      return "avx512";
  }
  return "";
}

std::string_view psabi_name(HostVectors level) {
  switch (level) {
    case HostVectors::portable:
      return "x86-64";
    case HostVectors::avx2:
      return "x86-64-v3";
    case HostVectors::avx512:
      return "x86-64-v4";
  }
  return "";
}

support::Result<HostVectors> wanted_host_vectors() {
  constexpr auto setting = support::Setting::host_vectors;
  constexpr const char* variable = support::row_of(setting).name;
  const std::span<const HostVectors> available = available_host_vectors();
  const char* text = support::environment_variable(setting);
  const std::string_view wish = text == nullptr ? "" : text;
  if (wish.empty()) return available.back();
  for (const HostVectors level : available) {
    if (name(level) == wish) return level;
  }
  for (const HostVectors level : levels) {
    if (name(level) == wish) {
      return support::fail(support::ErrorKind::not_found, "{}={}: this host has no such vector instructions", variable,
                           wish);
    }
  }
  return support::fail(support::ErrorKind::invalid_argument, "{}={}: there are avx512, avx2 and portable", variable,
                       wish);
}

HostVectors host_vectors() {
  static const HostVectors used = wanted_host_vectors().value_or(available_host_vectors().back());
  return used;
}

const LevelFunctions& functions_of(HostVectors level) {
  switch (level) {
    case HostVectors::avx512:
      return avx512::level_functions;
    case HostVectors::avx2:
      return avx2::level_functions;
    case HostVectors::portable:
      break;
  }
  return portable::level_functions;
}

// --- From code outside of the levels to the level in use -----------------------------------------------------------

const VectorShape& vector_function(isa::Opcode opcode, target::Generation generation) {
  return level().vector_function(opcode, generation);
}

bool has_source_modifiers(const isa::Operand& operand) { return level().has_source_modifiers(operand); }
void apply_source_modifiers(Row* out, const Row* in, const isa::Operand& operand) {
  level().apply_source_modifiers(out, in, operand);
}
void apply_mixed_source(Row& out, const Row& in, const isa::Operand& operand, Denormals singles) {
  level().apply_mixed_source(out, in, operand, singles);
}
void apply_result_modifiers(Row* result, isa::DataType type, uint8_t omod, bool clamp, const FloatMode& mode) {
  level().apply_result_modifiers(result, type, omod, clamp, mode);
}
void merge_high_half(Row& dst, const Row& result, uint64_t exec) { level().merge_high_half(dst, result, exec); }
void merge_sdwa(Row& dst, const Row& result, isa::SdwaSelect select, isa::SdwaUnused unused, uint64_t exec) {
  level().merge_sdwa(dst, result, select, unused, exec);
}

uint64_t apply_dpp(const DppMove& move, uint64_t exec, const Row& source, Row& result) {
  return level().apply_dpp(move, exec, source, result);
}
void swizzle(const LaneMap& map, uint64_t exec, const Row& source, Row& result) {
  level().swizzle(map, exec, source, result);
}
void permute(uint64_t exec, const Row& address, uint16_t offset, const Row& source, Row& result, unsigned reach) {
  level().permute(exec, address, offset, source, result, reach);
}
void backward_permute(uint64_t exec, const Row& address, uint16_t offset, const Row& source, Row& result,
                      unsigned reach) {
  level().backward_permute(exec, address, offset, source, result, reach);
}

void multiply(const MatrixCall& call, std::span<const MatrixFactors> further) { level().multiply(call, further); }
void wave_multiply(std::span<const WaveMatrixCall> calls) { level().wave_multiply(calls); }
void deep_multiply(std::span<const DeepMatrixCall> calls) { level().deep_multiply(calls); }

}  // namespace Atoll::semantics
