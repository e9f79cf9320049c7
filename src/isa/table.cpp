// isa: the instruction table, made from table/*.inc; table.h explains the columns.
#include "isa/table.h"

#include <array>
#include <vector>

namespace Atoll::isa {
namespace {

namespace rows {

using namespace flag;
using enum DataType;
using enum target::Generation;

constexpr Opcodes at(target::Generation since, uint16_t opcode) { return Opcodes{}.at(since, opcode); }
[[maybe_unused]] constexpr Opcodes vop3_at(target::Generation since, uint16_t opcode) {
  return Opcodes{}.vop3_at(since, opcode);
}
constexpr Opcodes vop2_at(target::Generation since, uint16_t opcode) { return Opcodes{}.vop2_at(since, opcode); }
constexpr Opcodes vop2_only_at(target::Generation since, uint16_t opcode) {
  return Opcodes{}.vop2_only_at(since, opcode);
}

#define ATOLL_FIELD(name) \
  constexpr OperandSpec name(DataType type) { return {Field::name, type}; }
ATOLL_FIELD(vdst)
ATOLL_FIELD(src0)
ATOLL_FIELD(src1)
ATOLL_FIELD(src2)
ATOLL_FIELD(vgpr_src0)
ATOLL_FIELD(vgpr_src1)
ATOLL_FIELD(vgpr_src2)
ATOLL_FIELD(agpr_dst)
ATOLL_FIELD(agpr_src0)
ATOLL_FIELD(carry_out)
ATOLL_FIELD(carry_in)
ATOLL_FIELD(vcc_in)
ATOLL_FIELD(cmp_dst)
ATOLL_FIELD(lane_dst)
ATOLL_FIELD(src0_dst)
ATOLL_FIELD(literal)
ATOLL_FIELD(message_code)
ATOLL_FIELD(wmma_dst)
ATOLL_FIELD(wmma_src0)
ATOLL_FIELD(wmma_src1)
ATOLL_FIELD(wmma_acc)
ATOLL_FIELD(wmma_acc_f16)
ATOLL_FIELD(wmma_index)
ATOLL_FIELD(interp_slot)
ATOLL_FIELD(matrix_dst)
ATOLL_FIELD(matrix_src0)
ATOLL_FIELD(matrix_src1)
ATOLL_FIELD(matrix_acc_f32)
ATOLL_FIELD(matrix_acc_f64)
ATOLL_FIELD(matrix_acc_i32)
ATOLL_FIELD(scale_src0)
ATOLL_FIELD(scale_src1)
ATOLL_FIELD(sdst)
ATOLL_FIELD(sdst_in)
ATOLL_FIELD(ssrc0)
ATOLL_FIELD(ssrc1)
ATOLL_FIELD(sdata)
ATOLL_FIELD(sdata_imm)
ATOLL_FIELD(prefetch_length)
ATOLL_FIELD(sbase)
ATOLL_FIELD(soffset)
ATOLL_FIELD(ds_dst)
ATOLL_FIELD(ds_addr)
ATOLL_FIELD(ds_data0)
ATOLL_FIELD(ds_data1)
ATOLL_FIELD(flat_dst)
ATOLL_FIELD(flat_return)
ATOLL_FIELD(flat_address)
ATOLL_FIELD(flat_data)
ATOLL_FIELD(flat_base)
ATOLL_FIELD(tensor_base)
ATOLL_FIELD(lds_address)
ATOLL_FIELD(lds_data_address)
ATOLL_FIELD(buffer_data)
ATOLL_FIELD(buffer_address)
ATOLL_FIELD(buffer_resource)
ATOLL_FIELD(buffer_offset)
ATOLL_FIELD(image_data)
ATOLL_FIELD(image_address)
ATOLL_FIELD(image_resource)
ATOLL_FIELD(image_sampler)
ATOLL_FIELD(tensor_group0)
ATOLL_FIELD(tensor_group1)
ATOLL_FIELD(tensor_group2)
ATOLL_FIELD(tensor_group3)
ATOLL_FIELD(export_src0)
ATOLL_FIELD(export_src1)
ATOLL_FIELD(export_src2)
ATOLL_FIELD(export_src3)
#undef ATOLL_FIELD
constexpr OperandSpec attribute() { return {Field::attribute, DataType::none}; }

/// The parameters of an operation that take an argument.
struct By {
  uint8_t number;
};
struct From {
  Element element, second;
};
struct Accumulates {
  Element element;
};
struct Elements {
  uint8_t count;
};
struct Format {
  uint8_t components;
};
struct D16 {};
constexpr By by(uint8_t number) { return {number}; }
constexpr By byte(uint8_t number) { return {number}; }
constexpr From from(Element element, Element second = Element::none) { return {element, second}; }
constexpr Accumulates accumulates(Element element) { return {element}; }
constexpr Elements count(uint8_t number) { return {number}; }
constexpr Format format(uint8_t components) { return {components}; }
constexpr MatrixShape shape(uint8_t m, uint8_t n, uint8_t k, uint8_t blocks = 1) { return {m, n, k, blocks}; }
constexpr D16 d16;

constexpr void set(Computation& c, Element type) { c.type = type; }
constexpr void set(Computation& c, From source) { c.from = source.element, c.from2 = source.second; }
constexpr void set(Computation& c, Accumulates by) { c.accumulator = by.element; }
constexpr void set(Computation& c, Predicate predicate) { c.predicate = predicate; }
constexpr void set(Computation& c, Order order) { c.order = order; }
constexpr void set(Computation& c, Part part) { c.part = part; }
constexpr void set(Computation& c, ExecUse use) { c.exec = use; }
constexpr void set(Computation& c, Places places) { c.places = places; }
constexpr void set(Computation& c, Rounding rounding) { c.rounding = rounding; }
constexpr void set(Computation& c, Counter counter) { c.counter = counter; }
constexpr void set(Computation& c, Cache cache) { c.cache = cache; }
constexpr void set(Computation& c, By by) { c.number = by.number; }
constexpr void set(Computation& c, Elements elements) { c.elements = elements.count; }
constexpr void set(Computation& c, Format format) { c.type = Element::components, c.elements = format.components; }
constexpr void set(Computation& c, D16) { c.d16 = true; }
constexpr void set(Computation& c, MatrixShape shape) { c.shape = shape; }
constexpr void set(Computation& c, ImageForm form) { c.image_form |= static_cast<uint16_t>(form); }

template <typename... Parameters>
constexpr Computation computation(Operation operation, Parameters... parameters) {
  Computation result{.operation = operation};
  (set(result, parameters), ...);
  return result;
}

// Within its braces the parameters hide flags and types of the same names.
#define op(operation, ...)                                               \
  [] {                                                                   \
    using enum Element;                                                  \
    using enum Predicate;                                                \
    using enum Order;                                                    \
    using enum Part;                                                     \
    using enum ExecUse;                                                  \
    using enum Places;                                                   \
    using enum Rounding;                                                 \
    using enum Counter;                                                  \
    using enum Cache;                                                    \
    using enum ImageForm;                                                \
    return computation(Operation::operation __VA_OPT__(, ) __VA_ARGS__); \
  }()
#define ATOLL_ROW(name, encoding, operation, feature, flags, opcodes, ...) \
  {#name, Encoding::encoding, opcodes, target::Feature::feature, flags, {__VA_ARGS__}, operation},
constexpr InstructionRow all[] = {
    {},
#include "isa/table/rows.inc"
};
#undef ATOLL_ROW
#undef op

static_assert(std::size(all) == static_cast<size_t>(Opcode::count));

struct Variant {
  Opcode opcode;
  target::Generation since;
  Flags flags;
  std::array<OperandSpec, InstructionRow::max_operands> operands;
};

#define ATOLL_VARIANT(name, since, flags, ...) {Opcode::name, since, flags, {__VA_ARGS__}},
constexpr Variant variants[] = {
#include "isa/table/variants.inc"
};
#undef ATOLL_VARIANT

}  // namespace rows

/// The first generation of the family in which opcodes are handed down.
constexpr target::Generation family_of(target::Generation generation) {
  using enum target::Generation;
  if (generation < gfx8) return gfx6;
  if (generation < gfx10) return gfx8;
  if (generation < gfx11) return gfx10;
  if (generation < gfx12) return gfx11;
  return gfx12;
}

}  // namespace

Opcodes::Change Opcodes::on(target::Generation generation) const {
  Change now{generation};
  for (unsigned i = 0; i < count; ++i) {
    if (changes[i].since >= family_of(generation) && changes[i].since <= generation) now = changes[i];
  }
  return now;
}

namespace {

/// The rows of rows::variants, and which of them are an opcode's.
struct Variants {
  static constexpr uint16_t none = 0xFFFF;
  std::vector<InstructionRow> made;
  std::vector<uint16_t> next;                         ///< of the same opcode
  std::array<uint16_t, size_t(Opcode::count)> first;  ///< by opcode

  Variants() {
    first.fill(none);
    for (const rows::Variant& variant : rows::variants) {
      InstructionRow changed = row(variant.opcode);
      changed.flags = variant.flags;
      changed.operands = variant.operands;
      const auto number = static_cast<uint16_t>(made.size());
      made.push_back(changed);
      next.push_back(none);
      uint16_t* last = &first[static_cast<size_t>(variant.opcode)];
      while (*last != none) last = &next[*last];
      *last = number;
    }
  }
};

}  // namespace

const InstructionRow& row_on(Opcode opcode, target::Generation generation) {
  static const Variants variants;
  const InstructionRow* now = &row(opcode);
  for (uint16_t i = variants.first[static_cast<size_t>(opcode)]; i != Variants::none; i = variants.next[i]) {
    const target::Generation since = rows::variants[i].since;
    if (since > generation) continue;
    // The rows themselves are GFX9's: what holds before GFX9 ends there.
    if (since < target::Generation::gfx9 && generation >= target::Generation::gfx9) continue;
    now = &variants.made[i];
  }
  return *now;
}

bool writes(const InstructionRow& row, Field field, bool returns) {
  switch (field) {
    case Field::vdst:
    case Field::wmma_dst:
    case Field::agpr_dst:
    case Field::carry_out:
    case Field::cmp_dst:
    case Field::lane_dst:
    case Field::src0_dst:
    case Field::matrix_dst:
    case Field::sdst:
    case Field::ds_dst:
    case Field::flat_dst:
    case Field::flat_return:
      return true;
    case Field::sdata:
    case Field::buffer_data:
    case Field::image_data:
      return row.has(flag::atomic) ? returns : row.has(flag::load) || !row.has(flag::store);
    default:
      return false;
  }
}

const InstructionRow& row(Opcode opcode) { return rows::all[static_cast<size_t>(opcode)]; }

}  // namespace Atoll::isa
