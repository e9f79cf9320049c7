// semantics: rays against nodes (ray_tracing.h).
#include "semantics/image/ray_tracing.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "support/half.h"

namespace Atoll::semantics {

namespace {

using Point = std::array<float, 3>;
using Words = std::array<uint32_t, 4>;

constexpr float infinity = std::numeric_limits<float>::infinity();

// Types of nodes; 0 to 3: a triangle of the node.
constexpr unsigned half_boxes = 4, boxes = 5;

// Flags of a 64-bit node pointer.
constexpr unsigned force_opaque = 54, force_not_opaque = 55, culls_no_triangles = 56, flips_winding = 57,
                   culls_back_faces = 58, culls_front_faces = 59, culls_opaque = 60, culls_not_opaque = 61,
                   skips_triangles = 62, skips_procedural = 63;
// Flags of a box's child.
constexpr unsigned only_opaque = 0, only_not_opaque = 1, only_triangles = 2, only_procedural = 3;
// For a triangle: which of its three vertices i and j belong to, and flags.
constexpr unsigned i_source = 0, j_source = 2, is_double_sided = 4, is_flipped = 5, is_opaque = 7;

bool is_set(uint64_t flags, unsigned bit) { return (flags >> bit & 1) != 0; }

unsigned type_of(uint64_t pointer) { return pointer & 7; }

template <typename Value>
Value read(const uint8_t* from) {
  Value value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

float half_at(const uint8_t* from) { return support::half_value(read<uint16_t>(from)); }

Point difference(const Point& a, const Point& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }
float dot(const Point& a, const Point& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
Point cross(const Point& a, const Point& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

struct Box {
  Point low, high;
};

/// The stretch of the ray that is inside a box.
struct Interval {
  float begin, end;                      ///< within the ray's extent
  float begin_unclamped, end_unclamped;  ///< of the line
};

Interval intersect_box(const Box& box, const Ray& ray) {
  float begin = -infinity, end = infinity;
  bool is_nan = false;
  for (unsigned axis = 0; axis < 3; ++axis) {
    const float inverse = ray.inverse_direction[axis];
    float near = (box.low[axis] - ray.origin[axis]) * inverse;
    float far = (box.high[axis] - ray.origin[axis]) * inverse;
    if (!(inverse >= 0)) std::swap(near, far);
    is_nan = is_nan || std::isnan(near) || std::isnan(far);
    begin = std::fmax(begin, near);
    end = std::fmin(end, far);
  }
  if (is_nan) return {.begin = infinity, .end = -infinity, .begin_unclamped = 0, .end_unclamped = infinity};
  return {
      .begin = std::max(begin, 0.0f), .end = std::min(end, ray.extent), .begin_unclamped = begin, .end_unclamped = end};
}

/// Returns the key by which children are sorted in ascending order.
float sort_key(const Interval& interval, BvhResource::Order order) {
  using enum BvhResource::Order;
  switch (order) {
    case largest:
      return interval.begin - interval.end;
    case closest_midpoint:
      return interval.begin_unclamped + interval.end_unclamped;
    case closest:
    case none:
      break;
  }
  return interval.begin;
}

Box read_box(const uint8_t* node, bool is_half, unsigned number) {
  Box box;
  const uint8_t* begin = node + 16 + number * (is_half ? 12 : 24);
  for (unsigned axis = 0; axis < 3; ++axis) {
    box.low[axis] = is_half ? half_at(begin + axis * 2) : read<float>(begin + axis * 4);
    box.high[axis] = is_half ? half_at(begin + 6 + axis * 2) : read<float>(begin + 12 + axis * 4);
  }
  return box;
}

/// Whether pointer flags leave out all that is below a child.
bool is_culled(uint64_t pointer, uint32_t child) {
  const bool opaque =
      (is_set(child, only_opaque) || is_set(pointer, force_opaque)) && !is_set(pointer, force_not_opaque);
  const bool not_opaque =
      (is_set(child, only_not_opaque) || is_set(pointer, force_not_opaque)) && !is_set(pointer, force_opaque);
  return (opaque && is_set(pointer, culls_opaque)) || (not_opaque && is_set(pointer, culls_not_opaque)) ||
         (is_set(child, only_triangles) && is_set(pointer, skips_triangles)) ||
         (is_set(child, only_procedural) && is_set(pointer, skips_procedural));
}

Words intersect_boxes(uint64_t pointer, const uint8_t* node, const Ray& ray, const BvhResource& resource) {
  const bool is_half = type_of(pointer) == half_boxes;
  // Boxes and triangles are not rounded alike: a box's interval is grown so that no triangle in it is lost.
  const float growth = 1 + static_cast<float>(resource.box_growth) * 0x1p-24f;
  Words child;
  std::array<float, 4> key;
  for (unsigned i = 0; i < 4; ++i) {
    const Interval interval = intersect_box(read_box(node, is_half, i), ray);
    child[i] = interval.begin <= interval.end * growth ? read<uint32_t>(node + i * 4) : invalid_node;
    if (!is_half && resource.has_pointer_flags && is_culled(pointer, node[112 + i])) child[i] = invalid_node;
    key[i] = sort_key(interval, resource.order);
  }
  if (resource.order == BvhResource::Order::none) return child;
  // Equal keys keep the order that this network gives them.
  for (const auto [a, b] : {std::pair{0, 2}, {1, 3}, {0, 1}, {2, 3}, {1, 2}}) {
    if ((child[b] != invalid_node && key[b] < key[a]) || child[a] == invalid_node) {
      std::swap(child[a], child[b]);
      std::swap(key[a], key[b]);
    }
  }
  return child;
}

Words intersect_triangle(uint64_t pointer, const uint8_t* node, const Ray& ray, const BvhResource& resource) {
  constexpr uint8_t vertices[4][3] = {{0, 1, 2}, {1, 3, 2}, {2, 3, 4}, {2, 4, 0}};
  constexpr unsigned vertex_bytes = 12, id_offset = 60;
  const unsigned number = type_of(pointer);
  const auto vertex = [&](unsigned i) { return read<Point>(node + vertices[number][i] * vertex_bytes); };
  const uint32_t id = read<uint32_t>(node + id_offset), flags = id >> (8 * number) & 0xFF;

  // The ray meets the plane where t = numerator / denominator; i and j are the coordinates of the second and the third
  // vertex times the denominator.
  const Point first = vertex(0), edge1 = difference(vertex(1), first), edge2 = difference(vertex(2), first);
  const Point from_first = difference(ray.origin, first);
  const Point normal_of_edge2 = cross(ray.direction, edge2), normal_of_edge1 = cross(from_first, edge1);
  float numerator = dot(edge2, normal_of_edge1), denominator = dot(normal_of_edge2, edge1);
  const float i = dot(from_first, normal_of_edge2), j = dot(ray.direction, normal_of_edge1);
  const float t = numerator / denominator, u = i / denominator, v = j / denominator;
  bool is_missed = u < 0 || u > 1 || v < 0 || u + v > 1 || t < 0;
  if (is_missed) {
    numerator = infinity;
    denominator = 1;
  }
  // Triangles that share a node are rotated so that their common vertices coincide.
  const float coordinates[4] = {denominator - i - j, i, j, 0};
  float i_result = coordinates[flags >> i_source & 3], j_result = coordinates[flags >> j_source & 3];

  if (resource.has_pointer_flags) {
    bool is_front = denominator >= 0;
    if (is_set(pointer, flips_winding) != is_set(flags, is_flipped)) {
      is_front = !is_front;
      numerator = -numerator;
      denominator = -denominator;
    }
    const bool is_one_sided = !is_set(pointer, culls_no_triangles) && !is_set(flags, is_double_sided);
    const bool opaque =
        is_set(pointer, force_opaque) || (is_set(flags, is_opaque) && !is_set(pointer, force_not_opaque));
    if ((is_one_sided && is_set(pointer, is_front ? culls_front_faces : culls_back_faces)) ||
        is_set(pointer, opaque ? culls_opaque : culls_not_opaque) || is_set(pointer, skips_triangles)) {
      is_missed = true;
      numerator = infinity;
      denominator = 1;
      i_result = j_result = 0;
    }
  }
  const auto bits = [](float value) { return std::bit_cast<uint32_t>(value); };
  if (resource.returns_barycentric) return {bits(numerator), bits(denominator), bits(i_result), bits(j_result)};
  return {bits(numerator), bits(denominator), id, is_missed ? 0u : 1u};
}

}  // namespace

BvhResource::BvhResource(std::span<const uint32_t, 4> words, bool is_gfx11)
    : base((words[0] | uint64_t{words[1] & 0xFF} << 32) << 8),
      size(((words[2] | uint64_t{words[3] & 0x3FF} << 32) + 1) * 64),
      order(Order::none),
      box_growth(words[1] >> 23 & 0xFF),
      has_pointer_flags(is_gfx11 && is_set(words[3], 23)),
      returns_barycentric(is_set(words[3], 24)) {
  if (is_set(words[1], 31)) order = is_gfx11 ? static_cast<Order>(words[1] >> 21 & 3) : Order::closest;
}

uint64_t node_offset(uint64_t pointer, const BvhResource& resource) {
  if (resource.has_pointer_flags) pointer &= (uint64_t{1} << force_opaque) - 1;
  return (pointer & ~uint64_t{7}) << 3;
}

unsigned node_bytes(uint64_t pointer) {
  const unsigned type = type_of(pointer);
  return type <= half_boxes ? 64 : type == boxes ? 128 : 0;
}

Words intersect_node(uint64_t pointer, const uint8_t* node, const Ray& ray, const BvhResource& resource) {
  switch (type_of(pointer)) {
    case half_boxes:
    case boxes:
      return intersect_boxes(pointer, node, ray, resource);
    case 6:
    case 7:
      return {invalid_node, invalid_node, invalid_node, invalid_node};
    default:
      return intersect_triangle(pointer, node, ray, resource);
  }
}

}  // namespace Atoll::semantics
