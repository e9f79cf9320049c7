// isa: what instructions compute.
//
// A row of the instruction table names an operation, which as many rows share as compute the same: v_add_f32,
// s_add_f32, v_pk_add_f16 and ds_add_f32 are `add`. Types are parameters. The row's operands give them, unless memory
// or a packed operand holds other elements than the operand's type says. What is true of an operation (its exceptions,
// how it propagates undefined bits, its affine form, its description) is a table over operations, not over opcodes.
//
// tests/semantics/test_operation.cpp executes the rows that share an operation and types, and compares their results.
#pragma once

#include <cstdint>
#include <string_view>

namespace Atoll::isa {

enum class Operation : uint16_t {
  none,  ///< of Opcode::invalid alone
#define ATOLL_OPERATION(name) name,
#define ATOLL_ELEMENT(name)
#include "isa/operations.inc"
#undef ATOLL_OPERATION
#undef ATOLL_ELEMENT
  count
};

/// Element types of an operation: of registers, of packed or matrix operands, and of memory.
enum class Element : uint8_t {
  none,
#define ATOLL_OPERATION(name)
#define ATOLL_ELEMENT(name) name,
#include "isa/operations.inc"
#undef ATOLL_OPERATION
#undef ATOLL_ELEMENT
};

/// The relation that a comparison yields. Those with an n are negations, true of unordered numbers. `ne` is the
/// negation of `eq`; `lg` is less or greater.
enum class Predicate : uint8_t {
  no_predicate,
  never,
  lt,
  eq,
  le,
  gt,
  lg,
  ge,
  ordered,
  unordered,
  nge,
  nlg,
  ngt,
  nle,
  ne,
  nlt,
  always
};

/// `reversed`: the first two sources have each other's place (v_subrev).
enum class Order : uint8_t { straight, reversed };

/// Which half of a register the value is in, if it is half as wide.
enum class Part : uint8_t { whole, low_half, high_half };

/// How EXEC takes part: the operation's second source and second result, and D is its old or its new value.
enum class ExecUse : uint8_t { no_exec, save_exec, write_exec };

/// Where a memory instruction has its values.
enum class Places : uint8_t {
  one,
  two,          ///< two elements, an offset for each
  two_st64,     ///< the offsets count 64 elements
  by_lane,      ///< four bytes for each lane, without an address of its own
  data_in_lds,  ///< the data are in LDS, too
};

/// How a conversion rounds, if not as MODE or the types say.
enum class Rounding : uint8_t { mode, toward_zero, downward, half_up, stochastic };

/// The counter, or counters, that an instruction waits for.
enum class Counter : uint8_t {
  no_counter,
  vm_exp_lgkm,
  dependencies,
  vm,
  exp,
  lgkm,
  vs,
  load,
  store,
  sample,
  bvh,
  ds,
  km,
  load_ds,
  store_ds,
  async,
  tensor,
  translation
};

/// Which cache: a level, or those that the instruction's scope reaches.
enum class Cache : uint8_t { no_cache, code, scalar, scalar_volatile, l1, l1_volatile, l1_system, l2, gl0, gl1, scope };

/// Modifiers of image instructions, a bit each.
enum class ImageForm : uint16_t {
  plain = 0,
  mip = 1,
  packed = 2,
  sign_extended = 4,
  compared = 8,
  lod_clamped = 16,
  derivatives = 32,
  coarse_derivatives = 64,
  lod = 128,
  biased = 256,
  lod_zero = 512,
  offsets = 1024,
  g16 = 2048
};

/// M x N x K of a matrix instruction, and how many such products it computes.
struct MatrixShape {
  uint8_t m = 0, n = 0, k = 0, blocks = 1;
  friend constexpr bool operator==(const MatrixShape&, const MatrixShape&) = default;
};

/// A row's operation with its parameters.
struct Computation {
  Operation operation = Operation::none;
  Element type = Element::none;  ///< of the result, and of memory; none: the first operand's that is no lane mask
  Element from = Element::none, from2 = Element::none;  ///< of the sources, where theirs is another
  Element accumulator = Element::none;                  ///< of a matrix product, if not `type`
  Predicate predicate = Predicate::no_predicate;
  Order order = Order::straight;
  Part part = Part::whole;
  ExecUse exec = ExecUse::no_exec;
  Places places = Places::one;
  Rounding rounding = Rounding::mode;
  Counter counter = Counter::no_counter;
  Cache cache = Cache::no_cache;
  bool d16 = false;         ///< components of 16 bits
  uint8_t number = 0;       ///< by(): a constant operand; byte(): which byte of the source
  uint8_t elements = 0;     ///< how many are converted together, or components of a format
  uint16_t image_form = 0;  ///< bits of ImageForm
  MatrixShape shape{};

  constexpr bool has(ImageForm form) const { return (image_form & static_cast<uint16_t>(form)) != 0; }
  friend constexpr bool operator==(const Computation&, const Computation&) = default;
};

/// The enumerators' names.
std::string_view name_of(Operation operation);
std::string_view name_of(Element element);

}  // namespace Atoll::isa
