// WMMA and SWMMAC as machine code, on each generation in each wave size, with modifiers and whatever EXEC is, against
// the reference of tests/semantics/wave_matrix_reference.h.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "engine/instruction_programs.h"
#include "engine/wave_runner.h"
#include "isa/table.h"
#include "semantics/wave_matrix_reference.h"

namespace Atoll {
namespace {

using machine::WaveState;
using semantics::WaveElement;
using semantics::WaveMatrixCall;
using semantics::WaveMatrixShape;
using semantics::test::bits_of;
using semantics::test::Multiplication;
using semantics::test::Options;
using target::WaveMatrices;
using test::Machine;
using test::registers;
using test::WaveRunner;

struct Case {
  const WaveMatrixShape* shape;
  Options options;
  std::string source;
};

// Where the operands are.
constexpr unsigned d_at = 24, a_at = 8, b_at = 16, index_at = 40;

/// How many registers hold `elements` elements of each of 16 rows.
unsigned words_of(WaveMatrices layout, unsigned wave, WaveElement element, unsigned elements) {
  if (layout == WaveMatrices::replicated) return elements * bits_of(element) / 32;
  return std::max(1u, elements * 16 * bits_of(element) / 32 / wave);
}
unsigned words_of_result(WaveMatrices layout, unsigned wave, WaveElement element) {
  return layout == WaveMatrices::replicated ? 256 / wave : words_of(layout, wave, element, 16);
}

std::string source_of(const std::string& name, const WaveMatrixShape& shape, WaveMatrices layout, unsigned wave,
                      const Options& options) {
  const std::string d = registers('v', d_at, words_of_result(layout, wave, shape.d));
  const std::string a = registers('v', a_at, words_of(layout, wave, shape.a, shape.depth / (shape.sparse ? 2u : 1u)));
  const std::string b = registers('v', b_at, words_of(layout, wave, shape.b, shape.depth));
  const std::string third = shape.sparse       ? registers('v', index_at, 1)
                            : options.constant ? (shape.d == WaveElement::i32 ? "2" : "2.0")
                                               : d;
  std::string source = fmt::format("{} {}, {}, {}, {}", name, d, a, b, third);
  const bool integers = shape.d == WaveElement::i32;
  const bool negates = shape.a == WaveElement::f16 || shape.a == WaveElement::bf16;
  if (options.upper) source += " op_sel:[0,0,1]";
  if (options.key != 0) source += fmt::format(" index_key:{}", options.key);
  if (integers) {
    source += fmt::format(" neg_lo:[{},{},0]", int{options.a_signed}, int{options.b_signed});
    if (options.clamp) source += " clamp";
  } else if (negates || !shape.sparse) {
    const bool* const low = options.negate;
    const bool* const high = options.negate_high;
    source += fmt::format(" neg_lo:[{},{},{}] neg_hi:[{},{},{}]", int{low[0]}, int{low[1]}, int{low[2]}, int{high[0]},
                          int{high[1]}, int{high[2]});
  }
  return source;
}

/// Some of what there is of modifiers, all of it in the three together.
std::vector<Options> options_of(const WaveMatrixShape& shape, WaveMatrices layout, unsigned wave) {
  const bool negates = shape.a == WaveElement::f16 || shape.a == WaveElement::bf16;
  const bool negates_c = !shape.sparse && shape.d != WaveElement::i32;
  const bool halves = bits_of(shape.d) == 16;
  Options first, second, third;
  first.a_signed = true;
  first.negate[0] = first.negate_high[1] = negates;
  second.b_signed = second.clamp = true;
  second.negate_high[0] = second.negate[1] = negates;
  second.negate[2] = negates_c;
  third.a_signed = third.b_signed = true;
  third.constant = !shape.sparse;
  third.upper = halves && layout == WaveMatrices::replicated;
  if (third.upper) third.constant = false;
  third.negate_high[2] = negates_c;
  if (shape.sparse) {
    const unsigned bits = 2 * std::max(shape.depth / 2u * 16 / wave, 32 / bits_of(shape.a));
    third.key = 32 / bits - 1;
  }
  return {first, second, third};
}

TEST(WaveMatricesOnEachGeneration, MultiplyAsTheReferenceDoes) {
  for (const Machine& machine : test::machines) {
    const target::Processor& processor = *target::find_processor(machine.processor);
    const WaveMatrices layout = processor.wave_matrices;
    if (layout == WaveMatrices::none) continue;
    SCOPED_TRACE(test::name_of_machine(machine));
    const unsigned wave = machine.wave_size;
    std::vector<Case> cases;
    for (const WaveMatrixShape& shape : semantics::wave_matrix_shapes()) {
      const std::string name = test::name_on(processor, isa::row(shape.opcode).name);
      if (name.empty()) continue;
      for (const Options& options : options_of(shape, layout, wave)) {
        cases.push_back({&shape, options, source_of(name, shape, layout, wave, options)});
      }
    }
    EXPECT_GE(cases.size(), layout == WaveMatrices::replicated ? 18u : 66u);
    std::vector<std::string> sources;
    sources.reserve(cases.size());
    for (const Case& one : cases) sources.push_back(one.source);
    const auto codes = test::assemble_programs(sources, processor, wave);
    WaveRunner runner(machine.processor, "", wave);
    for (unsigned i = 0; i < cases.size(); ++i) {
      SCOPED_TRACE(cases[i].source);
      const WaveMatrixShape& shape = *cases[i].shape;
      const auto multiply = [&](const WaveMatrixCall& call) {
        const auto put = [&](unsigned at, const semantics::Row* rows) {
          if (rows != nullptr) std::memcpy(runner.v(at), rows, 8 * sizeof *rows);
        };
        put(a_at, call.a);
        put(b_at, call.b);
        put(d_at, call.c != nullptr ? call.c : call.d);
        std::memcpy(runner.v(index_at), call.index, sizeof *call.index);
        runner.wave().set_exec(i % 3 == 0 ? 0 : i % 3 == 1 ? 0x8421'0FF0'8001'7EE1 : ~uint64_t{0});
        ASSERT_EQ(runner.run_instructions(codes[i]), WaveState::ended);
        std::memcpy(call.d, runner.v(d_at), 8 * sizeof *call.d);
      };
      Multiplication(shape, layout, wave, cases[i].options, i, multiply).check();
    }
  }
}

}  // namespace
}  // namespace Atoll
