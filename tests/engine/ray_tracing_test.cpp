// Ray tracing of GFX10.3 and GFX11, against geometry in double precision; transposing loads of GFX12; loops over the
// halves of EXEC.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "engine/wave_runner.h"
#include "support/parameter_name.h"

namespace Atoll::test {
namespace {

using machine::WaveState;

constexpr unsigned lanes = 32;
constexpr uint32_t none = 0xFFFF'FFFF, terminal = 0xFFFF'FFFE;

using Vector = std::array<double, 3>;

uint32_t bits(double value) { return std::bit_cast<uint32_t>(static_cast<float>(value)); }
float number(uint32_t word) { return std::bit_cast<float>(word); }
uint32_t half(double value) { return std::bit_cast<uint16_t>(static_cast<_Float16>(value)); }

struct Ray {
  Vector origin, direction;
};

/// A hierarchy of a few nodes in memory, 256 bytes aligned, and the words that describe it.
struct Hierarchy {
  alignas(256) std::array<uint32_t, 96> words{};

  uint32_t pointer(unsigned offset, unsigned type) const { return offset / 8 | type; }
  std::array<uint32_t, 4> resource(bool barycentric, bool sorts, unsigned growth = 6) const {
    const uint64_t base = reinterpret_cast<uint64_t>(words.data()) >> 8;
    return {static_cast<uint32_t>(base), static_cast<uint32_t>(base >> 32) | growth << 23 | uint32_t{sorts} << 31,
            sizeof(words) / 64 - 1, 8u << 28 | uint32_t{barycentric} << 24};
  }
};

class RayTracing : public testing::TestWithParam<std::string> {
 protected:
  RayTracing() : runner(GetParam(), "interpreter", lanes) {}

  /// v4: pointer, v6: extent, v7 to v9: origin, v10 to v12: direction, v13 to v15: its inverse.
  void set_rays(const std::vector<Ray>& rays, uint32_t pointer) {
    for (unsigned lane = 0; lane < lanes; ++lane) {
      runner.v(5)[lane] = pointer;
      runner.v(6)[lane] = bits(1000);
      for (unsigned axis = 0; axis < 3; ++axis) {
        runner.v(7 + axis)[lane] = bits(rays[lane].origin[axis]);
        runner.v(10 + axis)[lane] = bits(rays[lane].direction[axis]);
        runner.v(13 + axis)[lane] = bits(1 / rays[lane].direction[axis]);
      }
    }
  }
  void set_resource(const std::array<uint32_t, 4>& words) {
    for (unsigned i = 0; i < 4; ++i) runner.s(4 + i) = words[i];
  }
  std::array<uint32_t, 4> result(unsigned lane) {
    return {runner.v(20)[lane], runner.v(21)[lane], runner.v(22)[lane], runner.v(23)[lane]};
  }

  WaveRunner runner;
  Hierarchy hierarchy;
  std::mt19937 random{7};
};

constexpr const char* instruction = "image_bvh_intersect_ray v[20:23], v[5:15], s[4:7]";

Vector random_vector(std::mt19937& random, double most) {
  std::uniform_real_distribution<double> distribution(-most, most);
  return {distribution(random), distribution(random), distribution(random)};
}

/// Entry of a ray into a box, or infinity.
double enters(const Ray& ray, const Vector& low, const Vector& high) {
  double begin = 0, end = 1000;
  for (unsigned axis = 0; axis < 3; ++axis) {
    const double a = (low[axis] - ray.origin[axis]) / ray.direction[axis];
    const double b = (high[axis] - ray.origin[axis]) / ray.direction[axis];
    begin = std::max(begin, std::min(a, b));
    end = std::min(end, std::max(a, b));
  }
  return begin <= end ? begin : std::numeric_limits<double>::infinity();
}

TEST_P(RayTracing, YieldsTheBoxesThatARayMeetsClosestFirst) {
  for (const bool is_half : {false, true}) {
    std::vector<Ray> rays;
    for (unsigned i = 0; i < lanes; ++i) {
      Ray ray{random_vector(random, 20), random_vector(random, 6)};  // towards somewhere among the boxes
      for (unsigned axis = 0; axis < 3; ++axis) ray.direction[axis] = (ray.direction[axis] - ray.origin[axis]) / 20;
      rays.push_back(ray);
    }
    std::array<Vector, 4> low, high;
    const std::array<uint32_t, 4> children{0x105, 0x204, 0x300, 0x406};
    for (unsigned i = 0; i < 4; ++i) {
      hierarchy.words[i] = children[i];
      const Vector center = random_vector(random, 8);
      for (unsigned axis = 0; axis < 3; ++axis) {
        low[i][axis] = std::round(center[axis] - 3);  // exact in half precision
        high[i][axis] = std::round(center[axis] + 3);
        if (is_half) {
          auto* halves = reinterpret_cast<uint16_t*>(&hierarchy.words[4 + i * 3]);
          halves[axis] = static_cast<uint16_t>(half(low[i][axis]));
          halves[3 + axis] = static_cast<uint16_t>(half(high[i][axis]));
        } else {
          hierarchy.words[4 + i * 6 + axis] = bits(low[i][axis]);
          hierarchy.words[4 + i * 6 + 3 + axis] = bits(high[i][axis]);
        }
      }
    }
    set_rays(rays, hierarchy.pointer(0, is_half ? 4 : 5));
    set_resource(hierarchy.resource(true, true));
    ASSERT_EQ(runner.run(instruction), WaveState::ended);
    unsigned met = 0;
    for (unsigned lane = 0; lane < lanes; ++lane) {
      std::vector<std::pair<double, uint32_t>> expected;
      for (unsigned i = 0; i < 4; ++i) {
        const double entry = enters(rays[lane], low[i], high[i]);
        if (std::isfinite(entry)) expected.emplace_back(entry, children[i]);
      }
      std::ranges::sort(expected);
      // The order of equal entries, as inside of several boxes, is unspecified.
      const bool is_clear =
          std::ranges::adjacent_find(expected, {}, &std::pair<double, uint32_t>::first) == expected.end();
      met += expected.size();
      const auto found = result(lane);
      for (unsigned i = 0; i < 4 && is_clear; ++i) {
        EXPECT_EQ(found[i], i < expected.size() ? expected[i].second : none) << lane << " " << i;
      }
    }
    EXPECT_GT(met, 20U);

    set_resource(hierarchy.resource(true, false));
    ASSERT_EQ(runner.run(instruction), WaveState::ended);
    for (unsigned lane = 0; lane < lanes; ++lane) {
      for (unsigned i = 0; i < 4; ++i) {
        const bool is_met = std::isfinite(enters(rays[lane], low[i], high[i]));
        EXPECT_EQ(result(lane)[i], is_met ? children[i] : none) << lane << " " << i;
      }
    }
  }
}

Vector cross(const Vector& a, const Vector& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
double dot(const Vector& a, const Vector& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
Vector minus(const Vector& a, const Vector& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }

TEST_P(RayTracing, MeetsTheTrianglesOfANode) {
  // Two triangles that share an edge: 0, 1, 2 and 1, 3, 2. The second's vertices are stored rotated by one.
  std::array<Vector, 4> vertices{{{-6, -6, 0}, {6, -5, 1}, {-5, 6, 2}, {7, 7, -1}}};
  for (unsigned i = 0; i < 4; ++i) {
    for (unsigned axis = 0; axis < 3; ++axis) hierarchy.words[i * 3 + axis] = bits(vertices[i][axis]);
  }
  hierarchy.words[15] = (1 | 2 << 2) | (2 | 0 << 2) << 8;
  std::vector<Ray> rays;
  for (unsigned i = 0; i < lanes; ++i) {
    Ray ray{random_vector(random, 5), random_vector(random, 0.3)};
    ray.origin[2] = 10;
    ray.direction[2] = -1;
    rays.push_back(ray);
  }
  unsigned hits = 0;
  for (const unsigned triangle : {0u, 1u}) {
    const std::array<unsigned, 3> order = triangle == 0 ? std::array{0u, 1u, 2u} : std::array{1u, 3u, 2u};
    set_rays(rays, hierarchy.pointer(0, triangle));
    set_resource(hierarchy.resource(true, true));
    ASSERT_EQ(runner.run(instruction), WaveState::ended);
    for (unsigned lane = 0; lane < lanes; ++lane) {
      // In coordinates of the plane: origin + t * direction = v0 + u * e1 + v * e2.
      const Vector& v0 = vertices[order[0]];
      const Vector e1 = minus(vertices[order[1]], v0), e2 = minus(vertices[order[2]], v0);
      const Vector normal = cross(e1, e2);
      const double t = dot(minus(v0, rays[lane].origin), normal) / dot(rays[lane].direction, normal);
      Vector point = rays[lane].origin;
      for (unsigned axis = 0; axis < 3; ++axis) point[axis] += t * rays[lane].direction[axis];
      const Vector from = minus(point, v0);
      const double u = dot(cross(from, e2), normal) / dot(normal, normal);
      const double v = dot(cross(e1, from), normal) / dot(normal, normal);
      const double margin = std::min({u, v, 1 - u - v, t});
      if (std::abs(margin) < 1e-4) continue;
      const auto found = result(lane);
      const float distance = number(found[0]) / number(found[1]);
      if (margin < 0) {
        EXPECT_TRUE(std::isinf(distance)) << triangle << " " << lane;
        continue;
      }
      ++hits;
      EXPECT_NEAR(distance, t, 1e-4) << triangle << " " << lane;
      const std::array<double, 3> coordinates{1 - u - v, u, v};
      const double i = coordinates[triangle == 0 ? 1 : 2], j = coordinates[triangle == 0 ? 2 : 0];
      EXPECT_NEAR(number(found[2]) / number(found[1]), i, 1e-4) << triangle << " " << lane;
      EXPECT_NEAR(number(found[3]) / number(found[1]), j, 1e-4) << triangle << " " << lane;
    }
    set_resource(hierarchy.resource(false, true));
    ASSERT_EQ(runner.run(instruction), WaveState::ended);
    for (unsigned lane = 0; lane < lanes; ++lane) {
      EXPECT_EQ(result(lane)[2], hierarchy.words[15]);
      EXPECT_EQ(result(lane)[3], std::isinf(number(result(lane)[0])) ? 0u : 1u);
    }
  }
  EXPECT_GT(hits, 15U);
}

TEST_P(RayTracing, TakesItsAddressInEveryForm) {
  const bool is_gfx11 = std::string_view(GetParam()) >= "gfx11";
  for (unsigned axis = 0; axis < 3; ++axis) {
    hierarchy.words[4 + axis] = bits(-1);
    hierarchy.words[7 + axis] = bits(1);
  }
  hierarchy.words[0] = 0x105;
  std::fill_n(hierarchy.words.begin() + 1, 3, none);
  std::vector<Ray> rays;
  for (unsigned i = 0; i < lanes; ++i) rays.push_back({{i % 2 == 0 ? 0.5 : 8.0, 0, 5}, {0.0625, 0.03125, -1}});
  set_rays(rays, hierarchy.pointer(0, 5));
  set_resource(hierarchy.resource(true, true));
  // v45 to v52: the same with directions of 16 bits, in the order of this generation.
  for (unsigned lane = 0; lane < lanes; ++lane) {
    const Vector& d = rays[lane].direction;
    const std::array<uint32_t, 6> halves{half(d[0]),     half(d[1]),     half(d[2]),
                                         half(1 / d[0]), half(1 / d[1]), half(1 / d[2])};
    const std::array<std::array<unsigned, 2>, 3> pairs =
        is_gfx11 ? std::array<std::array<unsigned, 2>, 3>{{{0, 3}, {1, 4}, {2, 5}}}
                 : std::array<std::array<unsigned, 2>, 3>{{{0, 1}, {2, 3}, {4, 5}}};
    for (unsigned i = 0; i < 3; ++i) runner.v(50 + i)[lane] = halves[pairs[i][0]] | halves[pairs[i][1]] << 16;
    runner.v(45)[lane] = runner.v(5)[lane];
    for (unsigned i = 0; i < 4; ++i) runner.v(46 + i)[lane] = runner.v(6 + i)[lane];
  }
  std::vector<std::string> forms{
      "image_bvh_intersect_ray v[20:23], v[5:15], s[4:7]",
      "v_mov_b32 v61, v5\nv_mov_b32 v62, 0\nv_mov_b32 v63, v6\nv_mov_b32 v64, v7\nv_mov_b32 v65, v8\nv_mov_b32 v66, "
      "v9\n"
      "v_mov_b32 v67, v10\nv_mov_b32 v68, v11\nv_mov_b32 v69, v12\nv_mov_b32 v70, v13\nv_mov_b32 v71, v14\n"
      "v_mov_b32 v72, v15\nimage_bvh64_intersect_ray v[20:23], v[61:72], s[4:7]",
      "image_bvh_intersect_ray v[20:23], v[45:52], s[4:7] a16",
      is_gfx11 ? "image_bvh_intersect_ray v[20:23], [v45, v6, v[7:9], v[10:12], v[13:15]], s[4:7]"
               : "image_bvh_intersect_ray v[20:23], [v45, v6, v7, v8, v9, v10, v11, v12, v13, v14, v15], s[4:7]",
  };
  for (const std::string& form : forms) {
    for (unsigned i = 20; i < 24; ++i) std::fill_n(runner.v(i), lanes, 0x12345678);
    ASSERT_EQ(runner.run(form), WaveState::ended) << form;
    for (unsigned lane = 0; lane < lanes; ++lane) {
      EXPECT_EQ(result(lane), (std::array<uint32_t, 4>{lane % 2 == 0 ? 0x105 : none, none, none, none}))
          << form << lane;
    }
  }
}

TEST_P(RayTracing, NodesOfProgramsAndThoseBeyondTheEnd) {
  const std::vector<Ray> rays(lanes, Ray{{0, 0, 5}, {0.1, 0.1, -1}});
  set_rays(rays, hierarchy.pointer(0, 6));
  set_resource(hierarchy.resource(true, true));
  ASSERT_EQ(runner.run(instruction), WaveState::ended);
  EXPECT_EQ(result(3), (std::array<uint32_t, 4>{none, none, none, none}));
  set_rays(rays, hierarchy.pointer(sizeof(hierarchy.words), 5));
  ASSERT_EQ(runner.run(instruction), WaveState::faulted);
  EXPECT_NE(runner.wave().fault->what.find("beyond the hierarchy"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Radeons, RayTracing, testing::Values("gfx1030", "gfx1100", "gfx1151", "gfx1170"),
                         test::NamedByParameter());

class BvhStack : public testing::TestWithParam<std::string> {};

TEST_P(BvhStack, GivesNodesBackInOrder) {
  WaveRunner runner(GetParam(), "interpreter", lanes);
  constexpr unsigned stack_size_16 = 1 << 4;
  // Each lane's stack begins at its own dword.
  std::string code = "v_lshlrev_b32 v1, 18, v0\n";
  const auto step = [&](unsigned result) {
    return fmt::format("ds_bvh_stack_rtn_b32 v{}, v1, v2, v[4:7] offset:{}\n", result, stack_size_16 << 8);
  };
  // The node whose children are 10 to 13, then leaves.
  code += "v_mov_b32 v2, -1\nv_mov_b32 v4, 10\nv_mov_b32 v5, 11\nv_mov_b32 v6, 12\nv_mov_b32 v7, 13\n" + step(20);
  code += "v_mov_b32 v4, -1\nv_mov_b32 v5, -1\nv_mov_b32 v6, -1\nv_mov_b32 v7, -1\n";
  for (unsigned i = 21; i < 25; ++i) code += step(i);
  // Again at the same node after its child 11: 12 and 13 are done already, 10 is new.
  code += "v_mov_b32 v2, 12\nv_mov_b32 v4, 10\nv_mov_b32 v5, 11\nv_mov_b32 v6, 12\nv_mov_b32 v7, 13\n" + step(25);
  ASSERT_EQ(runner.run(code), WaveState::ended);
  for (unsigned lane = 0; lane < lanes; ++lane) {
    for (unsigned i = 0; i < 4; ++i) EXPECT_EQ(runner.v(20 + i)[lane], 10 + i);
    EXPECT_EQ(runner.v(24)[lane], terminal);
    EXPECT_EQ(runner.v(25)[lane], 13u);
    EXPECT_EQ(runner.v(1)[lane], lane << 18);
    // Popped entries are marked in LDS.
    uint32_t word;
    std::memcpy(&word, runner.lds() + lane * 4 + 128, 4);
    EXPECT_EQ(word, none);
  }
}

INSTANTIATE_TEST_SUITE_P(OfGfx11, BvhStack, testing::Values("gfx1100", "gfx1150", "gfx1170"), test::NamedByParameter());

TEST(TransposingLoads, GiveEachLaneAColumnOfEightRows) {
  WaveRunner runner("gfx1201", "interpreter", lanes);
  std::array<uint16_t, 256> halves;
  std::iota(halves.begin(), halves.end(), uint16_t{0});
  std::array<uint8_t, 256> bytes;
  std::iota(bytes.begin(), bytes.end(), uint8_t{0});
  runner.set_pair(2, halves.data());
  runner.set_pair(4, bytes.data());
  runner.set_rows(30, [&](unsigned lane) { return reinterpret_cast<uint64_t>(bytes.data() + lane * 8); });
  ASSERT_EQ(runner.run(R"(
      v_lshlrev_b32 v1, 4, v0
      global_load_tr_b128 v[4:7], v1, s[2:3]
      global_load_tr_b64 v[8:9], v[30:31], off)"),
            WaveState::ended);
  // As published for gfx1201: within each group of 8 lanes the tile of 8 x 8 is transposed.
  for (unsigned lane = 0; lane < lanes; ++lane) {
    for (unsigned i = 0; i < 8; ++i) {
      const uint32_t expected = lane / 8 * 64 + i * 8 + lane % 8;
      EXPECT_EQ(runner.v(4 + i / 2)[lane] >> i % 2 * 16 & 0xFFFF, expected) << lane;
      EXPECT_EQ(runner.v(8 + i / 4)[lane] >> i % 4 * 8 & 0xFF, expected) << lane;
    }
  }
}

TEST(SubvectorLoop, RunsTheHalvesThatHaveLanes) {
  struct Case {
    uint64_t exec;
    uint32_t passes;
  };
  for (const auto [exec, passes] : {Case{~uint64_t{0}, 2}, Case{0xFF, 1}, Case{uint64_t{0xF0} << 32, 1}, Case{0, 0}}) {
    WaveRunner runner("gfx1030", "interpreter", 64);
    runner.wave().set_exec(exec);
    ASSERT_EQ(runner.run(R"(
      s_mov_b32 s10, 0
      s_mov_b32 s11, 0
      s_subvector_loop_begin s0, end
      body:
      s_add_u32 s10, s10, 1
      s_and_b32 s12, exec_lo, exec_hi
      s_or_b32 s11, s11, s12
      v_add_nc_u32 v1, v0, 5
      s_subvector_loop_end s0, body
      end:)"),
              WaveState::ended);
    EXPECT_EQ(runner.s(10), passes);
    EXPECT_EQ(runner.s(11), 0u) << "both halves at once";
    EXPECT_EQ(runner.wave().exec(), exec);
    for (unsigned lane = 0; lane < 64; ++lane) EXPECT_EQ(runner.v(1)[lane], (exec >> lane & 1) != 0 ? lane + 5 : 0);
  }
}

}  // namespace
}  // namespace Atoll::test
