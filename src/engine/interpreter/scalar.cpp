// engine: scalar arithmetic and logic: SOP1, SOP2, SOPC and SOPK instructions with a function in semantics.
//
// Handlers are specialised by operand width, so that none inspects its operands.
#include "engine/interpreter/prepare.h"
#include "isa/table.h"
#include "semantics/scalar/scalar_float.h"

namespace Atoll::engine {

namespace {

/// How a scalar operand is fetched or kept.
enum class Width : uint8_t { none, constant, word, pair };

template <Width width>
[[gnu::always_inline]] inline uint64_t fetch(const Wave& wave, const ScalarOp& op, unsigned i) {
  if constexpr (width == Width::constant) return op.constant[i];
  if constexpr (width == Width::word) return wave.scalar[op.source[i]];
  if constexpr (width == Width::pair) return wave.scalar64(op.source[i]);
  return 0;
}

template <Width a, Width b, Width result>
void scalar(Wave& wave, const MicroOp& op, Run&) {
  const ScalarOp& s = op.scalar;
  semantics::ScalarCall call;
  call.src[0] = fetch<a>(wave, s, 0);
  call.src[1] = fetch<b>(wave, s, 1);
  call.scc = wave.scc;
  if constexpr (result == Width::word) call.dst = wave.scalar[s.result];
  if constexpr (result == Width::pair) call.dst = wave.scalar64(s.result);
  s.function(call);
  if constexpr (result == Width::word) wave.scalar[s.result] = static_cast<uint32_t>(call.dst);
  if constexpr (result == Width::pair) wave.set_scalar64(s.result, call.dst);
  wave.scc = call.scc;
}

/// Any operands, EXEC (s_and_saveexec_b64 and its like) and null included.
void scalar_general(Wave& wave, const MicroOp& op, Run&) {
  const isa::Instruction& instruction = op.origin->instruction;
  semantics::ScalarCall call{};
  for (unsigned i = 0; i < instruction.sources() && i < 3; ++i) {
    call.src[i] = scalar_value(wave, instruction.src(i));
  }
  const isa::Operand* result = instruction.destinations != 0 ? &instruction.dst() : nullptr;
  if (result != nullptr && result->reg == isa::scalar::null) result = nullptr;
  if (result != nullptr) call.dst = scalar_value(wave, *result);
  call.exec = wave.exec();
  call.scc = wave.scc;
  op.scalar.function(call);
  if (result != nullptr && result->words == 2) {
    wave.set_scalar64(result->reg, call.dst);
  } else if (result != nullptr) {
    wave.scalar[result->reg] = static_cast<uint32_t>(call.dst);
  }
  // A result in EXEC itself is what call.exec would otherwise undo.
  if (result == nullptr || result->reg != isa::scalar::exec_lo) wave.set_exec(call.exec);
  wave.scc = call.scc;
}

/// Scalar floating point: rare enough for one handler of all operands.
void scalar_floating(Wave& wave, const MicroOp& op, Run& run) {
  const isa::Instruction& instruction = op.origin->instruction;
  semantics::ScalarCall call{};
  for (unsigned i = 0; i < instruction.sources(); ++i) call.src[i] = scalar_value(wave, instruction.src(i));
  if (instruction.destinations != 0) call.dst = scalar_value(wave, instruction.dst());
  call.scc = wave.scc;
  semantics::scalar_float(instruction, run.code->target().processor->generation, run.call.mode, call);
  if (instruction.destinations != 0) wave.scalar[instruction.dst().reg] = static_cast<uint32_t>(call.dst);
  wave.scc = call.scc;
}

template <Width a, Width b>
Handler for_result(Width result) {
  switch (result) {
    case Width::word:
      return step<scalar<a, b, Width::word>>;
    case Width::pair:
      return step<scalar<a, b, Width::pair>>;
    default:
      return step<scalar<a, b, Width::none>>;
  }
}

template <Width a>
Handler for_second(Width b, Width result) {
  switch (b) {
    case Width::none:
      return for_result<a, Width::none>(result);
    case Width::constant:
      return for_result<a, Width::constant>(result);
    case Width::word:
      return for_result<a, Width::word>(result);
    case Width::pair:
      return for_result<a, Width::pair>(result);
  }
  return nullptr;
}

Handler for_first(Width a, Width b, Width result) {
  switch (a) {
    case Width::none:
      return for_second<Width::none>(b, result);
    case Width::constant:
      return for_second<Width::constant>(b, result);
    case Width::word:
      return for_second<Width::word>(b, result);
    case Width::pair:
      return for_second<Width::pair>(b, result);
  }
  return nullptr;
}

}  // namespace

Handler prepare_scalar(Preparation& p) {
  const isa::Instruction& instruction = p.instruction;
  if (semantics::lane_equivalent(instruction.opcode) != isa::Opcode::invalid) return step<scalar_floating>;
  ScalarOp& s = p.op.scalar;
  s.function = semantics::scalar_function(instruction.opcode);
  if (s.function == nullptr || instruction.sources() > 2) return nullptr;

  Width source[2] = {Width::none, Width::none};
  bool general = isa::row(instruction.opcode).has(isa::flag::exec_out);
  if (instruction.destinations != 0 && instruction.dst().reg == isa::scalar::null) general = true;
  for (unsigned i = 0; i < instruction.sources(); ++i) {
    const isa::Operand& operand = instruction.src(i);
    if (const auto value = constant_value(operand)) {
      source[i] = Width::constant;
      s.constant[i] = *value;
    } else if (operand.kind == isa::OperandKind::scalar) {
      source[i] = operand.words == 2 ? Width::pair : Width::word;
      s.source[i] = static_cast<uint8_t>(operand.reg);
    } else {
      general = true;
    }
  }
  if (instruction.encoding == isa::Encoding::sopk) {  // the immediate is the last source
    if (instruction.sources() > 1) return nullptr;
    source[instruction.sources()] = Width::constant;
    s.constant[instruction.sources()] = instruction.immediate;
  }
  if (general) return step<scalar_general>;
  Width result = Width::none;
  if (instruction.destinations != 0) {
    result = instruction.dst().words == 2 ? Width::pair : Width::word;
    s.result = static_cast<uint8_t>(instruction.dst().reg);
  }
  return for_first(source[0], source[1], result);
}

}  // namespace Atoll::engine
