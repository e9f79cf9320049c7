// What the order checker gives loads that come late, of values that nobody else has changed: what the instruction makes
// of them by itself, whatever it converts.
#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "machine/memory/memory.h"
#include "observe/checkers.h"
#include "observe/recorder.h"

namespace Atoll::test {
namespace {

constexpr uint32_t items = 512, group = 64, item_bytes = 16, place_bytes = items * item_bytes;

/// A load into v[8:11] at v1, by a resource whose last word is `word3`.
struct ConvertingLoad {
  uint32_t word3;
  const char* text;
};

/// Each work-item stores four words of its own, waits, and loads them in each way; results are behind them in memory.
std::vector<uint32_t> results(const char* gpu_name, const std::vector<ConvertingLoad>& loads, bool ordered) {
  auto checkers = observe::Checkers::create({.checkers = {"order"}}, {.report = [](std::string_view) {}});
  EXPECT_TRUE(checkers);
  const auto model = target::find_gpu(gpu_name);
  EXPECT_TRUE(model);
  machine::Observer* observer = ordered ? checkers->get() : nullptr;
  auto gpu = machine::Gpu::create(
      *model, ordered ? engine::observed_engine(*observer) : engine::find_engine("interpreter").value(),
      {.threads = 1, .observer = observer});
  EXPECT_TRUE(gpu);
  machine::Memory memory;
  const uint32_t bytes = place_bytes * static_cast<uint32_t>(loads.size() + 1);
  const uint64_t base = memory.allocate(bytes + 64, 0, "data and arguments").value_or(0);
  *reinterpret_cast<uint64_t*>(base + bytes) = base;
  std::string text = fmt::format(R"(
    s_load_dwordx2 s[4:5], s[0:1], 0x0
    s_mul_i32 s8, s2, {}
    v_lshlrev_b32 v1, 4, v0
    s_waitcnt lgkmcnt(0)
    v_or_b32 v1, s8, v1
    s_mov_b32 s6, {}
    s_mov_b32 s12, 0x9e3779b1
    v_mul_lo_u32 v2, v1, s12
    v_mul_lo_u32 v3, v2, s12
    v_mul_lo_u32 v4, v3, s12
    v_mul_lo_u32 v5, v4, s12
    s_mov_b32 s7, {:#x}
    s_mov_b32 s9, 0
    buffer_store_dwordx4 v[2:5], v1, s[4:7], 0 offen
    s_waitcnt vmcnt(0)
)",
                                 group * item_bytes, bytes, loads[0].word3);
  for (const ConvertingLoad& load : loads) {
    text += fmt::format(R"(
      v_mov_b32 v8, 0x12345678
      v_mov_b32 v9, v8
      v_mov_b32 v10, v8
      v_mov_b32 v11, v8
      s_mov_b32 s7, {:#x}
      s_add_i32 s9, s9, {}
      {}
      s_waitcnt vmcnt(0)
      buffer_store_dwordx4 v[8:11], v1, s[4:7], s9 offen
)",
                        load.word3, place_bytes, load.text);
  }
  const auto code = load(
      **gpu, assemble_kernel(gpu_name, {"next_free_vgpr 16", "next_free_sgpr 32", "user_sgpr_kernarg_segment_ptr 1"},
                             text + "s_endpgm"));
  EXPECT_NE(code, nullptr);
  if (code == nullptr) return {};
  auto packet = packet_for(*code, {items, 1, 1}, {group, 1, 1});
  packet.kernarg_address = base + bytes;
  const auto ran = (*gpu)->run(packet);
  EXPECT_TRUE(ran) << ran.error().message;
  EXPECT_EQ((*checkers)->findings().errors(), 0U);
  const auto* words = reinterpret_cast<const uint32_t*>(base);
  return {words, words + bytes / 4};
}

void compare(const char* gpu, const std::vector<ConvertingLoad>& loads) {
  const std::vector<uint32_t> plain = results(gpu, loads, false), ordered = results(gpu, loads, true);
  ASSERT_EQ(plain.size(), ordered.size());
  for (size_t i = 0; i <= loads.size(); ++i) {
    const auto begin = static_cast<ptrdiff_t>(i * place_bytes / 4), end = begin + place_bytes / 4;
    EXPECT_TRUE(std::equal(plain.begin() + begin, plain.begin() + end, ordered.begin() + begin))
        << gpu << ": " << (i == 0 ? "the stores" : loads[i - 1].text);
  }
}

// The resource's selectors take Z for X, X for Z and 1 for W.
constexpr uint32_t selects = 0x32e;
constexpr uint32_t resource(uint32_t data, uint32_t number) { return selects | number << 12 | data << 15; }
constexpr uint32_t unorm8x4 = resource(10, 0), sint16x2 = resource(5, 5), float32x4 = resource(14, 7),
                   unorm8 = resource(1, 0);

TEST(OrderedLoads, GiveWhatTheInstructionMakes) {
  std::vector<ConvertingLoad> loads = {
      {float32x4, "buffer_load_dwordx4 v[8:11], v1, s[4:7], 0 offen"},
      {float32x4, "buffer_load_sbyte v8, v1, s[4:7], 0 offen offset:1"},
      {float32x4, "buffer_load_ushort v8, v1, s[4:7], 0 offen offset:2"},
      {float32x4, "buffer_load_format_xyzw v[8:11], v1, s[4:7], 0 offen"},
      {unorm8x4, "buffer_load_format_xyz v[8:10], v1, s[4:7], 0 offen offset:4"},
      {unorm8, "buffer_load_format_x v8, v1, s[4:7], 0 offen offset:3"},
      {sint16x2, "buffer_load_format_xy v[8:9], v1, s[4:7], 0 offen offset:8"},
      {unorm8x4, "tbuffer_load_format_xyzw v[8:11], v1, s[4:7], 0 format:[BUF_DATA_FORMAT_2_10_10_10] offen"},
  };
  const std::vector<ConvertingLoad> unpacked = {
      {unorm8x4, "buffer_load_format_d16_xyz v[8:10], v1, s[4:7], 0 offen"},
  };
  const std::vector<ConvertingLoad> packed = {
      {unorm8x4, "buffer_load_format_d16_xyz v[8:9], v1, s[4:7], 0 offen"},
      {sint16x2, "buffer_load_format_d16_x v8, v1, s[4:7], 0 offen"},
      {float32x4, "buffer_load_short_d16 v8, v1, s[4:7], 0 offen offset:2"},
      {float32x4, "buffer_load_short_d16_hi v8, v1, s[4:7], 0 offen offset:2"},
      {float32x4, "buffer_load_sbyte_d16_hi v8, v1, s[4:7], 0 offen offset:5"},
  };
  const auto with = [&](const std::vector<ConvertingLoad>& more) {
    std::vector<ConvertingLoad> all = loads;
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  compare("gfx803", with(unpacked));
  compare("gfx900", with(packed));
  compare("gfx90a", with(packed));
}

}  // namespace
}  // namespace Atoll::test
