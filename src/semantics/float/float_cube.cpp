// semantics: cube map coordinates: which of a cube's six faces a direction (x, y, z) points to, and where on it.
//
// The face is that of the component with the largest magnitude, z before y before x where they are equal.
#include "semantics/entries.h"
#include "semantics/float/float_lanes.h"

namespace Atoll::semantics {
ATOLL_HOST_ISA_BEGIN

/// One of three values by the direction's major axis.
[[gnu::always_inline]] inline F32 by_axis(F32 x, F32 y, F32 z, F32 for_x, F32 for_y, F32 for_z) {
  const F32 ax = magnitude(x), ay = magnitude(y), az = magnitude(z);
  return select((az >= ax) & (az >= ay), for_z, select(ay >= ax, for_y, for_x));
}

// Faces are numbered +x, -x, +y, -y, +z, -z.
LANES(v_cubeid_f32, F32, (F32 x, F32 y, F32 z)) {
  return by_axis(x, y, z, select(x < 0, F32(1), F32(0)), select(y < 0, F32(3), F32(2)), select(z < 0, F32(5), F32(4)));
}
LANES(v_cubesc_f32, F32, (F32 x, F32 y, F32 z)) {
  return by_axis(x, y, z, select(x < 0, z, negate(z)), x, select(z < 0, negate(x), x));
}
LANES(v_cubetc_f32, F32, (F32 x, F32 y, F32 z)) {
  return by_axis(x, y, z, negate(y), select(y < 0, negate(z), z), negate(y));
}
// Twice the major axis.
LANES(v_cubema_f32, F32, (F32 x, F32 y, F32 z)) {
  const F32 major = by_axis(x, y, z, x, y, z);
  return add(major, major);
}

std::span<const VectorEntry> float_cube_entries() {
  static constexpr VectorEntry entries[] = {
      ENTRY(v_cubeid_f32),
      ENTRY(v_cubesc_f32),
      ENTRY(v_cubetc_f32),
      ENTRY(v_cubema_f32),
  };
  return entries;
}

ATOLL_HOST_ISA_END
}  // namespace Atoll::semantics
