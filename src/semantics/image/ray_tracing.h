// semantics: what the ray-tracing instructions of GFX10.3 and GFX11 compute: one ray against one node of a bounding
// volume hierarchy (image_bvh_intersect_ray, image_bvh64_intersect_ray), and a step of the stack of nodes that are
// still to be visited (ds_bvh_stack_rtn_b32).
//
// A node pointer is the node's address in units of 8 bytes, with the node's type in the lowest 3 bits. There are
// - triangle nodes, 64 bytes: five vertices and a word that describes its up to four triangles, a byte for each;
// - box nodes, 64 or 128 bytes: four child pointers, four boxes in half or single precision, and, in the larger ones,
//   a byte of flags for each child;
// - nodes that only programs know (instances, procedural geometry).
// The layouts are those that AMD's open driver builds, and what is computed is what that driver's own replacement of
// the instructions computes (GPUOpen-Drivers/gpurt, IntersectCommon.hlsl and BvhStack); the words of the resource are
// those of the RDNA2 and RDNA3 ISA guides, "BVH texture resource definition". The hardware's rounding is not published:
// here each operation is rounded to single precision.
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace Atoll::semantics {

inline constexpr uint32_t invalid_node = 0xFFFF'FFFF, terminal_node = 0xFFFF'FFFE;

/// The four words that describe a hierarchy to the instructions.
struct BvhResource {
  uint64_t base;  ///< bytes
  uint64_t size;  ///< of the hierarchy, in bytes
  /// By which the box's children are ordered.
  enum class Order : uint8_t { closest, largest, closest_midpoint, none } order;
  uint8_t box_growth;        ///< units in the last place by which the far end of a box's interval is moved
  bool has_pointer_flags;    ///< the upper 10 bits of 64-bit node pointers are flags
  bool returns_barycentric;  ///< triangles yield coordinates, not the id and whether it was hit

  /// GFX10 has neither orders to choose from nor pointer flags.
  BvhResource(std::span<const uint32_t, 4> words, bool is_gfx11);
};

struct Ray {
  float extent;
  std::array<float, 3> origin, direction, inverse_direction;
};

/// Where a node is, in bytes from the hierarchy's base.
uint64_t node_offset(uint64_t pointer, const BvhResource& resource);
/// How many bytes of it are read; 0 of a node that only programs know.
unsigned node_bytes(uint64_t pointer);

/// The instruction's four words: children that the ray meets, or {t numerator, t denominator, i, j} of a triangle.
/// `node` has node_bytes(pointer) bytes.
std::array<uint32_t, 4> intersect_node(uint64_t pointer, const uint8_t* node, const Ray& ray,
                                       const BvhResource& resource);

/// A lane's stack in LDS: a ring of 8, 16, 32 or 64 dwords, 128 bytes apart, so that 32 lanes' are interleaved.
struct BvhStack {
  uint32_t base;   ///< bytes in LDS
  uint32_t index;  ///< dwords that were pushed and not popped; the ring holds the last of them
  uint32_t mask;   ///< entries less one

  static constexpr uint32_t stride = 128;

  BvhStack(uint32_t address, uint8_t offset1)
      : base((address >> 18) * 4), index(address & 0x3FFFF), mask((8u << (offset1 >> 4 & 3)) - 1) {}
  uint32_t address() const { return base / 4 << 18 | index; }
  uint32_t slot(uint32_t number) const { return base + (number & mask) * stride; }
};

/// Pushes the nodes that are to be visited later and yields the one that is next. With a last visited node, only those
/// before it are new. `load(byte address)` and `store(byte address, value)` access LDS.
///
/// The guide's pseudo-code pushes data[0] to data[2] and goes on with data[3]. But what compilers pass are the four
/// words of intersect_node() as they are, the closest first, and the open driver's replacement pushes data[3] to
/// data[1].
template <typename Load, typename Store>
uint32_t push_nodes(BvhStack& stack, uint32_t last_visited, const std::array<uint32_t, 4>& data, const Load& load,
                    const Store& store) {
  const bool all_are_new = last_visited == invalid_node;
  bool is_new = all_are_new;
  for (const uint32_t node : data) is_new = is_new || node == last_visited;
  uint32_t next = invalid_node;
  for (unsigned i = 4; i-- > 0;) {
    is_new = is_new && (all_are_new || data[i] != last_visited);
    if (!is_new || data[i] == invalid_node) continue;
    if (i == 0) {
      next = data[0];
    } else {
      store(stack.slot(stack.index), data[i]);
      if (stack.index != 0x3FFFF) ++stack.index;
    }
  }
  if (next != invalid_node) return next;
  if (stack.index == 0) return terminal_node;
  --stack.index;
  const uint32_t slot = stack.slot(stack.index);
  next = load(slot);
  store(slot, invalid_node);
  return next;
}

}  // namespace Atoll::semantics
