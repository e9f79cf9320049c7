// semantics: image instructions by the parts of their names (image_operation.h).
#include "semantics/image/image_operation.h"

#include <array>
#include <cstddef>
#include <string_view>

#include "isa/table.h"

namespace Atoll::semantics {

namespace {

using Kind = ImageOperation::Kind;
using Lod = ImageOperation::Lod;

struct AtomicName {
  std::string_view name;
  AtomicOperation operation;
};
constexpr AtomicName atomic_names[] = {
    {"swap", AtomicOperation::swap},
    {"cmpswap", AtomicOperation::compare_swap},
    {"add", AtomicOperation::add},
    {"sub", AtomicOperation::subtract},
    {"rsub", AtomicOperation::reverse_subtract},
    {"smin", AtomicOperation::signed_min},
    {"umin", AtomicOperation::unsigned_min},
    {"smax", AtomicOperation::signed_max},
    {"umax", AtomicOperation::unsigned_max},
    {"and", AtomicOperation::bit_and},
    {"or", AtomicOperation::bit_or},
    {"xor", AtomicOperation::bit_xor},
    {"inc", AtomicOperation::increment},
    {"dec", AtomicOperation::decrement},
    {"fcmpswap", AtomicOperation::float_compare_swap},
    {"fmin", AtomicOperation::float_min},
    {"fmax", AtomicOperation::float_max},
    {"add_flt", AtomicOperation::float_add},
    {"pk_add_f16", AtomicOperation::packed_add_f16},
    {"pk_add_bf16", AtomicOperation::packed_add_bf16},
};

/// Takes `prefix` off; whether it was there.
bool take(std::string_view& name, std::string_view prefix) {
  if (!name.starts_with(prefix)) return false;
  name.remove_prefix(prefix.size());
  return true;
}

/// "_c_d_cl_o_g16" of a sample or a gather.
void read_parts(ImageOperation& operation, std::string_view name) {
  while (!name.empty()) {
    if (take(name, "_cd") || take(name, "_d")) {  // coarse derivatives are derivatives, too
      operation.lod = Lod::gradients;
    } else if (take(name, "_cl")) {
      operation.clamps = true;
    } else if (take(name, "_c")) {
      operation.compares = true;
    } else if (take(name, "_lz")) {
      operation.lod = Lod::zero;
    } else if (take(name, "_l")) {
      operation.lod = Lod::address;
    } else if (take(name, "_b")) {
      operation.bias = true;
    } else if (take(name, "_o")) {
      operation.offset = true;
    } else if (take(name, "_g16")) {
      operation.half_gradients = true;
    } else {
      operation = {};
      return;
    }
  }
}

/// "_mip_pck_sgn" of a load or a store.
void read_forms(ImageOperation& operation, std::string_view name) {
  operation.has_level = take(name, "_mip");
  operation.packed = take(name, "_pck");
  operation.sign_extends = take(name, "_sgn");
  if (!name.empty()) operation = {};
}

ImageOperation operation_of(std::string_view name) {
  ImageOperation operation;
  if (!take(name, "image_")) return operation;
  if (name == "get_resinfo") return {.kind = Kind::resource_info, .has_level = true};
  if (name == "get_lod") return {.kind = Kind::lod};
  if (name == "msaa_load") return {.kind = Kind::msaa_load};
  if (take(name, "load")) {
    operation.kind = Kind::load;
    read_forms(operation, name);
  } else if (take(name, "store")) {
    operation.kind = Kind::store;
    read_forms(operation, name);
  } else if (take(name, "sample")) {
    operation.kind = Kind::sample;
    read_parts(operation, name);
  } else if (take(name, "gather4")) {
    operation.kind = Kind::gather;
    operation.in_a_row = take(name, "h");
    read_parts(operation, name);
  } else if (take(name, "atomic_")) {
    for (const AtomicName& atomic : atomic_names) {
      if (atomic.name == name) return {.kind = Kind::atomic, .atomic = atomic.operation};
    }
  }
  return operation;
}

}  // namespace

const ImageOperation& image_operation(isa::Opcode opcode) {
  static const auto table = [] {
    std::array<ImageOperation, static_cast<size_t>(isa::Opcode::count)> operations;
    for (size_t i = 0; i < operations.size(); ++i) {
      operations[i] = operation_of(isa::row(static_cast<isa::Opcode>(i)).name);
    }
    return operations;
  }();
  return table[static_cast<size_t>(opcode)];
}

}  // namespace Atoll::semantics
