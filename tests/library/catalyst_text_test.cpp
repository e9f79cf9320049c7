// Catalyst's containers as text: `atoll asm` writes them, `atoll inspect` and `atoll disasm` show them, and `atoll
// launch` executes what was written. Results are the host's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <numeric>

#include "object/catalyst_container.h"
#include "support/command.h"

namespace Atoll {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class CatalystText : public testing::Test {
 protected:
  test::CommandResult atoll(const std::string& arguments) {
    return test::run_command(
        fmt::format("cd {} && '{}' {} 2>&1", directory_.path().string(), ATOLL_COMMAND, arguments));
  }
  void assemble(const std::string& text, const std::string& to) {
    test::write_file(directory_ / (to + ".s"), text);
    const auto made = atoll(fmt::format("asm {0}.s -o {0}", to));
    ASSERT_EQ(made.exit_code, 0) << made.output;
  }
  std::string error_of(const std::string& text) {
    test::write_file(directory_ / "wrong.s", text);
    const auto made = atoll("asm wrong.s -o wrong");
    EXPECT_EQ(made.exit_code, 1);
    return made.output;
  }
  /// Asm, inspect, disasm, asm: the second container has the bytes of the first.
  void round_trip(const std::string& text) {
    assemble(text, "first");
    const auto shown = atoll("inspect first");
    EXPECT_EQ(shown.exit_code, 0) << shown.output;
    const auto again = atoll("disasm first > second.s && '" ATOLL_COMMAND "' asm second.s -o second");
    ASSERT_EQ(again.exit_code, 0) << again.output << atoll("disasm first").output;
    EXPECT_EQ(test::read_bytes(directory_ / "first"), test::read_bytes(directory_ / "second"));
  }

  test::TemporaryDirectory directory_;
};

/// Adds n to each element of a buffer in place.
constexpr const char* version_2 = R"(.catalyst_target "gfx803", 64, "OpenCL 2.0"
.catalyst_driver "AMD-COMP-LIB-v0.8"
.catalyst_options "-cl-std=CL2.0 \"x\""
.catalyst_read_only_data
	.long 1, 2, 3
.catalyst_kernel add
.catalyst_argument n, "int", int32
.catalyst_argument v, "float3", float32x3
.catalyst_argument data, "int*", pointer, global, restrict
.catalyst_argument i, "image2d_t", image, read_only, 3
.catalyst_argument s, "sampler_t", sampler, 2
.catalyst_argument t, "T", structure, 24
.catalyst_argument q, "queue_t", queue
.catalyst_argument l, "int*", pointer, local, volatile
.catalyst_relocation 4, lo, .hsadata_readonly_agent, 4
.catalyst_work_group_size 8, 4, 2
.catalyst_features usesetup, useargs
.catalyst_vgprs 4
.catalyst_sgprs 20
.catalyst_lds 64
.catalyst_scratch 16
.catalyst_float_mode 0xc0
.catalyst_text
	s_mov_b32 s20, 0x1234
	s_endpgm
.catalyst_kernel other
.catalyst_text
	.amd_kernel_code_t
		enable_sgpr_private_segment_buffer = 1
		user_sgpr_count = 4
	.end_amd_kernel_code_t
	s_branch later
later:
	s_endpgm
)";

constexpr const char* version_1 = R"(.catalyst_target "tahiti", 32
.catalyst_driver "driver 923.1"
.catalyst_options "-O3"
.catalyst_global 2
	.long 1, 2, 3, 4
.catalyst_kernel add
.catalyst_header
	.fill 20, 1, 0
	.byte 1, 0, 0, 0
.catalyst_metadata
	.ascii ";ARGSTART:__OpenCL_add_kernel\n"
	.ascii ";version:3:1:104\n"
	.ascii ";memory:hwlocal:64\n"
	.ascii ";pointer:data:i32:1:1:0:uav:10:4:RW:0:0\n"
	.ascii ";value:n:i32:1:1:16\n"
	.ascii ";ARGEND:__OpenCL_add_kernel\n"
.catalyst_note ATI_UAV
	.long 10, 4, 0, 5
.catalyst_user_data PTR_UAV_TABLE, 0, 2, 2
.catalyst_user_data IMM_CONST_BUFFER, 0, 4, 4
.catalyst_user_data IMM_CONST_BUFFER, 1, 8, 4
.catalyst_vgprs 3
.catalyst_sgprs 24
.catalyst_lds 64
.catalyst_dimensions 1
.catalyst_float_mode 0xc0
.catalyst_text
	s_buffer_load_dword s0, s[8:11], 0x0
	s_buffer_load_dword s1, s[8:11], 0x4
	s_load_dwordx4 s[16:19], s[2:3], 0x50
	s_buffer_load_dword s13, s[4:7], 0x4
	s_waitcnt lgkmcnt(0)
	s_mul_i32 s13, s13, s12
	v_add_i32_e32 v0, vcc, s13, v0
	v_lshlrev_b32_e32 v1, 2, v0
	v_add_i32_e32 v1, vcc, s0, v1
	buffer_load_dword v2, v1, s[16:19], 0 offen
	s_waitcnt vmcnt(0)
	v_add_i32_e32 v2, vcc, s1, v2
	buffer_store_dword v2, v1, s[16:19], 0 offen
	s_endpgm
)";

TEST_F(CatalystText, RoundTripsOpenCl2) { round_trip(version_2); }
TEST_F(CatalystText, RoundTripsOpenCl1) { round_trip(version_1); }

TEST_F(CatalystText, InspectShowsWhatWasWritten) {
  assemble(version_2, "k");
  const std::string shown = atoll("inspect k").output;
  EXPECT_THAT(shown, AllOf(HasSubstr("Catalyst OpenCL 2.0"), HasSubstr("gfx803"), HasSubstr("-cl-std=CL2.0 \"x\""),
                           HasSubstr("name v, type_name float3, type float32, elements 3"),
                           HasSubstr("holds setup_pointer, first_sgpr 4"), HasSubstr("name l, offset ")));
  assemble(version_1, "k1");
  EXPECT_THAT(atoll("inspect k1").output,
              AllOf(HasSubstr("Catalyst OpenCL 1.x"), HasSubstr("driver 923.1"),
                    HasSubstr("class IMM_CONST_BUFFER, api_slot 1, first_sgpr 8, num_sgprs 4"),
                    HasSubstr("token pointer, name data")));
}

TEST_F(CatalystText, LaunchesWhatWasWritten) {
  assemble(version_1, "k1");
  const auto run =
      atoll("launch k1 --kernel add --grid 200 --block 50 --arg buf:200:i32=ramp --arg 1000 --print 1:all");
  EXPECT_EQ(run.exit_code, 0) << run.output;
  std::string numbers;
  for (int i = 0; i < 200; ++i) {
    if (i % 8 == 0) numbers += fmt::format("{:>8}:", i);
    numbers += fmt::format(" {}{}", i + 1000, i % 8 == 7 ? "\n" : "");
  }
  EXPECT_EQ(run.output, "1: 200 x i32\n" + numbers);
}

TEST_F(CatalystText, NamesMistakes) {
  const std::string target = ".catalyst_target \"tahiti\", 32\n";
  const std::string target2 = ".catalyst_target \"gfx900\", 64, \"OpenCL 2.0\"\n.catalyst_kernel k\n";
  EXPECT_EQ(error_of(target + target), "wrong.s:2:1: error: a second .catalyst_target\n");
  EXPECT_EQ(error_of(".catalyst_target \"cypress\", 32\n"),
            "wrong.s:1:1: error: cypress is Evergreen, whose code is not assembled\n");
  EXPECT_EQ(error_of(".catalyst_target \"gfx1030\", 64, \"OpenCL 2.0\"\n"),
            "wrong.s:1:1: error: Catalyst's OpenCL 2.0 is for GFX7 to GFX9, gfx1030 is another\n");
  EXPECT_EQ(error_of(target + ".catalyst_bogus\n"), "wrong.s:2:1: error: unknown directive .catalyst_bogus\n");
  EXPECT_EQ(error_of(target + ".catalyst_text\n"),
            "wrong.s:2:1: error: .catalyst_text stands before the first .catalyst_kernel\n");
  EXPECT_EQ(error_of(target + ".catalyst_kernel k\n.catalyst_note ATI_BOGUS\n"),
            "wrong.s:3:1: error: there is no note ATI_BOGUS\n");
  EXPECT_EQ(error_of(target + ".catalyst_kernel k\n.catalyst_features useargs\n"),
            "wrong.s:3:1: error: .catalyst_features is a directive of OpenCL 2.0\n");
  EXPECT_THAT(
      error_of(target + ".catalyst_kernel k\n.catalyst_metadata\n\t.ascii \";ARGSTART:k\\n;bogus:1\\n;ARGEND:k\\n\"\n"
                        ".catalyst_text\n"),
      HasSubstr("wrong.s:3:1: error: metadata: line 2: unknown token 'bogus'"));
  EXPECT_THAT(error_of(target + ".catalyst_kernel k\n.catalyst_text\n\ts_bogus s0\n"),
              HasSubstr("wrong.s:4:2: error: "));
  EXPECT_EQ(error_of(target2 + ".catalyst_features usebogus\n"),
            "wrong.s:3:1: error: there is no feature usebogus; use usesetup, useargs, useenqueue or usegeneric\n");
  EXPECT_EQ(error_of(target2 + ".catalyst_argument i, \"image2d_t\", image, upside_down\n"),
            "wrong.s:3:1: error: 'upside_down' is not a property of an argument\n");
  EXPECT_EQ(error_of(target2 + ".catalyst_argument i, \"T\", image3x5\n"),
            "wrong.s:3:1: error: image3x5 is a vector of 5 elements; 2, 3, 4, 8 and 16 are allowed\n");
  EXPECT_THAT(error_of(target2 + ".catalyst_text\n\ts_endpgm\n"), HasSubstr("the code has no .amd_kernel_code_t"));
}

TEST_F(CatalystText, CheckersReportsAndCoreFilesWork) {
  assemble(version_1, "k1");
  const std::string launch = "launch k1 --kernel add --grid 64 --block 64 --arg 1000 ";
  const auto checked =
      atoll("launch k1 --kernel add --grid 256 --block 64 --arg buf:256:i32 --arg 1 --check=memory,race");
  EXPECT_EQ(checked.exit_code, 0) << checked.output;
  const auto counted = atoll("launch k1 --kernel add --grid 256 --block 64 --arg buf:256:i32 --arg 1 --stats");
  EXPECT_THAT(counted.output, HasSubstr("4 work-groups, 4 waves, 56 wave instructions"));
  // s_load from a null pointer
  std::string text = version_1;
  text.insert(text.find("\ts_buffer_load_dword s0"),
              "\ts_mov_b64 s[20:21], 0\n\ts_load_dword s22, s[20:21], 0x40\n\ts_waitcnt lgkmcnt(0)\n");
  assemble(text, "bad");
  const auto faulted = atoll("launch bad --kernel add --grid 64 --block 64 --arg buf:64:i32 --arg 1 --core=bad.core");
  EXPECT_EQ(faulted.exit_code, 1);
  EXPECT_THAT(faulted.output, AllOf(HasSubstr("kernel 'add' read from 0x100"),
                                    HasSubstr("s_load_dword s22, s[20:21], 0x40"), HasSubstr("bad.core")));
  const auto core = atoll("inspect bad.core");
  EXPECT_EQ(core.exit_code, 0) << core.output;
  EXPECT_THAT(core.output, HasSubstr("add"));
}

}  // namespace
}  // namespace Atoll
