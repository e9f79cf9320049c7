// HW_ID and XCC_ID: where a wave runs. A program that counts the compute units that it has been on finds as many as the
// GPU's agent says that there are. The fields are those of HIP's device functions (__smid()).
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

#include "engine/engines.h"
#include "machine/fixture.h"
#include "machine/guest_vector.h"
#include "support/parameter_name.h"

namespace Atoll::test {

namespace {

class HardwareId : public testing::TestWithParam<std::string> {};

TEST_P(HardwareId, ShowsEveryComputeUnit) {
  const auto model = target::find_gpu(GetParam());
  ASSERT_TRUE(model) << model.error().message;
  const auto make = engine::find_engine(std::getenv("ATOLL_ENGINE") != nullptr ? std::getenv("ATOLL_ENGINE") : "");
  ASSERT_TRUE(make) << make.error().message;
  const auto gpu = machine::Gpu::create(*model, *make, {.threads = 1});
  ASSERT_TRUE(gpu) << gpu.error().message;
  const std::string processor(model->product.processor);
  const bool has_dies = processor == "gfx942" || processor == "gfx950";
  const std::string id = has_dies ? "s_getreg_b32 s6, hwreg(HW_REG_XCC_ID, 0, 4)" : "s_mov_b32 s6, 0";
  // The kernarg pointer in s[0:1], the work-group's number in s2.
  const auto code = load(**gpu, assemble_kernel(processor,
                                                {"next_free_vgpr 8", "next_free_sgpr 16",
                                                 "user_sgpr_kernarg_segment_ptr 1", "system_sgpr_workgroup_id_x 1"},
                                                "s_load_dwordx2 s[4:5], s[0:1], 0x0\n" + id +
                                                    "\ns_getreg_b32 s7, hwreg(HW_REG_HW_ID, 8, 8)\n"
                                                    "s_lshl_b32 s6, s6, 8\n"
                                                    "s_or_b32 s6, s6, s7\n"
                                                    "s_lshl_b32 s2, s2, 2\n"
                                                    "v_mov_b32 v1, s6\n"
                                                    "v_mov_b32 v2, s2\n"
                                                    "s_waitcnt lgkmcnt(0)\n"
                                                    "global_store_dword v2, v1, s[4:5]\n"
                                                    "s_endpgm"));
  constexpr uint32_t groups = 1000;
  GuestVector<uint32_t> places(groups);
  const GuestVector<const void*> arguments{places.data()};
  auto packet = packet_for(*code, {groups * 64, 1, 1}, {64, 1, 1});
  packet.kernarg_address = reinterpret_cast<uint64_t>(arguments.data());
  const auto ran = (*gpu)->run(packet);
  ASSERT_TRUE(ran) << ran.error().message;
  EXPECT_EQ(std::set(places.begin(), places.end()).size(), model->product.compute_units);
}

INSTANTIATE_TEST_SUITE_P(OfProducts, HardwareId,
                         testing::Values("vega64", "mi60", "mi100", "mi250x", "mi300x", "mi300a", "mi350x"),
                         test::NamedByParameter());

}  // namespace

}  // namespace Atoll::test
