// isa: latency classes by unit, operation and types, and the timing of each by model of the hardware.
//
// Source of each latency: LLVM 22's SISchedule.td, by the name of the model. SIQuarterSpeedModel: GFX6 to GFX9 with
// slow doubles. SIFullSpeedModel: those with fast ones. SIDPFullSpeedModel, SIDPGFX942FullSpeedModel,
// SIDPGFX950FullSpeedModel: gfx90a, gfx942, gfx950, which are equal but for matrices. GFX10SpeedModel, GFX11SpeedModel,
// GFX12SpeedModel, GFX1250SpeedModel. LLVM takes those before GFX10 from AMD's APP programming guide.
//
// Source of each issue time: get_perf_info() in aco_statistics.cpp (Mesa, ACO), for GFX6 to GFX12. The vector ALU
// before GFX10 issues an instruction for as long as its latency, so gfx90a's are LLVM's latencies. LLVM and ACO agree
// on the latencies 5, 6, 8, 10, 22 and 24 of GFX10's vector ALU and on 2, 4 and 7 of GFX12's scalar floats. No source
// states issue times of GFX12.5: they are unknown.
#include "isa/latency.h"

#include <algorithm>
#include <array>

#include "isa/element_type.h"
#include "isa/unit.h"

namespace Atoll::isa {

namespace {

using enum target::Generation;

enum class Model : uint8_t { quarter, full, gfx90a, gfx10, gfx11, gfx12, gfx12_5, count };

/// Processors of SIFullSpeedModel: half of the rate for double precision, where others of their generation have less.
constexpr std::array<std::string_view, 2> full_speed{"gfx600", "gfx701"};

Model model_of(const target::Processor& processor) {
  if (processor.generation >= gfx12_5) return Model::gfx12_5;
  if (processor.generation >= gfx12) return Model::gfx12;
  if (processor.generation >= gfx11) return Model::gfx11;
  if (processor.generation >= gfx10) return Model::gfx10;
  if (processor.unified_vgprs) return Model::gfx90a;
  return std::ranges::find(full_speed, processor.name) != full_speed.end() ? Model::full : Model::quarter;
}

using ByModel = std::array<uint16_t, static_cast<size_t>(Model::count)>;

struct Row {
  LatencyClass latency;
  std::string_view name;
  ByModel latencies;  ///< in the model's unit (unit_of_latency())
  ByModel issues;     ///< in cycles; 0: unknown
};

constexpr std::array<Row, static_cast<size_t>(LatencyClass::count)> rows{{
    // clang-format off
    //                                  quarter  full gfx90a gfx10 gfx11 gfx12 gfx12.5       quarter full gfx90a gfx10 11 12 12.5
    {LatencyClass::valu,                  "VALU",
     {1,      1,    1,      5,     5,     5,     5},    {4,  4,  4,  1,  1,  1,  0}},
    {LatencyClass::conversion,            "conversion",
     {4,      4,    4,      5,     5,     5,     5},    {16, 16, 16, 1,  1,  1,  0}},
    {LatencyClass::wide,                  "64-bit",
     {2,      2,    1,      6,     6,     6,     7},    {8,  8,  4,  2,  2,  2,  0}},
    {LatencyClass::wide_multiply,         "64-bit product or minimum",
     {0,      0,    0,      0,     0,     0,     32},   {0,  0,  0,  0,  0,  0,  0}},
    {LatencyClass::multiply,              "32-bit product",
     {4,      4,    1,      8,     8,     8,     11},   {16, 16, 4,  4,  4,  4,  0}},
    {LatencyClass::transcendental,        "transcendental",
     {4,      4,    4,      10,    10,    10,    7},    {16, 16, 16, 4,  4,  4,  0}},
    {LatencyClass::scalar_transcendental, "transcendental to SGPR",
     {0,      0,    0,      0,     0,     7,     8},    {0,  0,  0,  0,  0,  1,  0}},
    {LatencyClass::double_add,            "double sum",
     {8,      2,    1,      22,    38,    38,    32},   {32, 8,  4,  16, 16, 16, 0}},
    {LatencyClass::double_other,          "double",
     {16,     4,    1,      22,    38,    38,    32},   {64, 16, 4,  16, 16, 16, 0}},
    {LatencyClass::double_conversion,     "double conversion",
     {4,      4,    1,      22,    38,    38,    32},   {16, 16, 4,  16, 16, 16, 0}},
    {LatencyClass::double_transcendental, "double transcendental",
     {16,     4,    4,      24,    40,    40,    38},   {64, 16, 16, 16, 16, 16, 0}},
    {LatencyClass::salu,                  "SALU",
     {1,      1,    1,      2,     2,     2,     2},    {4,  4,  4,  1,  1,  1,  0}},
    {LatencyClass::scalar_float,          "scalar float",
     {0,      0,    0,      0,     4,     4,     4},    {0,  0,  0,  0,  1,  1,  0}},
    {LatencyClass::smem,                  "SMEM",
     {5,      5,    5,      20,    20,    20,    20},   {4,  4,  4,  1,  1,  1,  0}},
    {LatencyClass::vmem,                  "VMEM",
     {80,     80,   80,     320,   320,   320,   320},  {4,  4,  4,  1,  1,  1,  0}},
    {LatencyClass::lds,                   "LDS",
     {5,      5,    5,      20,    20,    20,    20},   {4,  4,  4,  1,  1,  1,  0}},
    {LatencyClass::export_,               "export",
     {4,      4,    4,      16,    16,    16,    16},   {16, 16, 16, 1,  1,  1,  0}},
    {LatencyClass::branch,                "branch",
     {8,      8,    8,      32,    32,    32,    32},   {4,  4,  4,  3,  3,  3,  0}},
    {LatencyClass::barrier,               "barrier",
     {500,    500,  500,    2000,  2000,  2000,  2000}, {4,  4,  4,  0,  0,  0,  0}},
    // clang-format on
}};

constexpr bool rows_are_in_order() {
  for (size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].latency != static_cast<LatencyClass>(i)) return false;
  }
  return true;
}
static_assert(rows_are_in_order());

const Row& row_of(LatencyClass latency) { return rows[static_cast<size_t>(latency)]; }

bool has_type(const InstructionRow& row, DataType type) {
  return std::ranges::any_of(row.operands, [&](const OperandSpec& operand) { return operand.type == type; });
}

/// The element of the first source.
Element source_element(const InstructionRow& row) {
  return row.computes.from != Element::none ? row.computes.from : element_of(row.operands[1].type);
}

LatencyClass class_of_scalar(const InstructionRow& row) {
  if (row.has(flag::barrier) && row.has(flag::waits)) return LatencyClass::barrier;
  const bool has_floats = std::ranges::any_of(
      row.operands, [](const OperandSpec& operand) { return operand.field != Field::none && is_float(operand.type); });
  return has_floats || is_float(element_type(row)) ? LatencyClass::scalar_float : LatencyClass::salu;
}

LatencyClass class_of_double(const InstructionRow& row) {
  switch (row.computes.operation) {
    case Operation::convert:
    case Operation::convert_normalized:
      return LatencyClass::double_conversion;
    case Operation::div_scale:
    case Operation::div_fmas:
    case Operation::trig_preop:
      return LatencyClass::double_other;
    default:
      return LatencyClass::double_add;
  }
}

bool is_multiplication(Operation operation) {
  return operation == Operation::mul || operation == Operation::mul_hi || operation == Operation::mad;
}

/// True for conversions at the full rate: of bytes, into packed or randomly rounded halves, and between 16 bits.
bool is_fast_conversion(const InstructionRow& row) {
  if (source_element(row) == Element::u8) return true;
  if (bits_of(element_type(row)) != 16) return false;
  const bool rounds_to_nearest = row.computes.elements <= 1 && row.computes.rounding == Rounding::mode;
  return bits_of(source_element(row)) == 16 || (bits_of(source_element(row)) == 32 && !rounds_to_nearest);
}

LatencyClass class_of_vector(const InstructionRow& row) {
  const Element element = element_type(row);
  const Operation operation = row.computes.operation;
  const bool is_wide_integer = !is_float(element) && bits_of(element) == 64;
  if (is_wide_integer && (operation == Operation::mul || operation == Operation::min || operation == Operation::max)) {
    return LatencyClass::wide_multiply;
  }
  if (is_multiplication(operation) && !is_float(element) && bits_of(element) >= 32) {
    return bits_of(source_element(row)) == 16 ? LatencyClass::valu : LatencyClass::multiply;
  }
  switch (operation) {
    case Operation::convert:
    case Operation::convert_offset:
      return is_fast_conversion(row) ? LatencyClass::valu : LatencyClass::conversion;
    case Operation::swap:
      return LatencyClass::wide;
    case Operation::convert_scaled:
    case Operation::table_lookup:
      return LatencyClass::valu;
    default:
      break;
  }
  const bool is_wide = has_type(row, DataType::b64) || has_type(row, DataType::i64) || has_type(row, DataType::u64);
  return is_wide ? LatencyClass::wide : LatencyClass::valu;
}

}  // namespace

LatencyClass latency_class(const InstructionRow& row) {
  switch (unit_of(row)) {
    case Unit::none:
    case Unit::salu:
      return class_of_scalar(row);
    case Unit::message:
      return LatencyClass::salu;
    case Unit::branch:
      return row.has(flag::ends) ? LatencyClass::salu : LatencyClass::branch;
    case Unit::smem:
      return LatencyClass::smem;
    case Unit::vmem:
    case Unit::flat:
      return LatencyClass::vmem;
    case Unit::lds:
    case Unit::gds:
      return LatencyClass::lds;
    case Unit::export_:
      return LatencyClass::export_;
    case Unit::transcendental:
      if (has_type(row, DataType::f64)) return LatencyClass::double_transcendental;
      return row.operands[0].field == Field::lane_dst ? LatencyClass::scalar_transcendental
                                                      : LatencyClass::transcendental;
    case Unit::double_rate:
      return class_of_double(row);
    case Unit::valu:
    case Unit::matrix:
      return class_of_vector(row);
  }
  return LatencyClass::valu;
}

Timing timing_of(LatencyClass latency, const target::Processor& processor) {
  const auto model = static_cast<size_t>(model_of(processor));
  const Row& row = row_of(latency);
  return {.latency = row.latencies[model] * unit_of_latency(processor), .issue = row.issues[model]};
}

unsigned unit_of_latency(const target::Processor& processor) { return processor.generation >= gfx10 ? 1 : 4; }

std::string_view name_of(LatencyClass latency) { return row_of(latency).name; }

}  // namespace Atoll::isa
