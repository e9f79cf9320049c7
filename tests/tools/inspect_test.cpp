// `atoll inspect` against llvm-readelf-22 (header, sections, symbols, relocations, notes), llvm-objdump-22 (the kernel
// descriptor as directives) and the remarks of clang-22 (registers, LDS, scratch, occupancy).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <regex>

#include "support/command.h"

namespace Atoll {
namespace {

using nlohmann::json;
using testing::HasSubstr;

constexpr const char* kernels = R"(
extern "C" __attribute__((amdgpu_kernel, amdgpu_flat_work_group_size(SIZE, SIZE))) void taken(int* p, float f) {
  static __attribute__((address_space(3), loader_uninitialized)) char lds[LDS];
  asm volatile("" ::: VGPRS SGPRS "memory");
  lds[p[1]] = p[0];
  p[0] = lds[f > 3 ? 1 : 0];
}
extern "C" __attribute__((amdgpu_kernel)) void scratch(int* p, int n) {
  volatile int many[100];
  for (int i = 0; i < n; i++) many[i] = p[i];
  p[0] = many[n];
}
)";

class InspectCommand : public testing::Test {
 protected:
  /// Compiles the kernels; the compiler's output, remarks that is.
  std::string compile(const std::string& gpu, bool linked, const std::string& options) {
    test::write_file(directory_ / "kernels.cpp", kernels);
    const auto run =
        test::run_command(fmt::format("cd {} && clang-22 --target=amdgcn-amd-amdhsa -mcpu={} -nogpulib -O1 "
                                      "-Rpass-analysis=kernel-resource-usage {} {} kernels.cpp -o code 2>&1",
                                      directory_.path().string(), gpu, linked ? "" : "-c", options));
    EXPECT_EQ(run.exit_code, 0) << run.output;
    return run.output;
  }
  static std::string options(unsigned size, unsigned lds, unsigned vgprs, unsigned sgprs) {
    const auto clobber = [](char file, unsigned count) {
      return count == 0 ? std::string() : fmt::format("\\\"{}{}\\\",", file, count - 1);
    };
    return fmt::format("-DSIZE={} -DLDS={} \"-DVGPRS={}\" \"-DSGPRS={}\"", size, lds, clobber('v', vgprs),
                       clobber('s', sgprs));
  }
  test::CommandResult run(const std::string& command) {
    return test::run_command(fmt::format("cd {} && {} 2>&1", directory_.path().string(), command));
  }
  json inspect(const std::string& arguments = {}) {
    const auto result = run(fmt::format("{} inspect code --json {}", ATOLL_COMMAND, arguments));
    EXPECT_EQ(result.exit_code, 0) << result.output;
    const auto parsed = json::parse(result.output, nullptr, false);
    return parsed.is_array() && !parsed.empty() ? parsed[0] : json();
  }
  json readelf(const std::string& what) {
    const auto parsed =
        json::parse(run(fmt::format("llvm-readelf-22 --elf-output-style=JSON {} code", what)).output, nullptr, false);
    return parsed.is_array() && !parsed.empty() ? parsed[0] : json();
  }
  /// The kernel of that name.
  static json kernel(const json& code, const std::string& name) {
    for (const json& each : code["kernels"])
      if (each["name"] == name) return each;
    return {};
  }
  static uint64_t remark(const std::string& remarks, const std::string& kernel, const std::string& what) {
    const size_t start = remarks.find("Function Name: " + kernel);
    const size_t at = start == std::string::npos ? start : remarks.find(" " + what, start);
    EXPECT_NE(at, std::string::npos) << kernel << ": " << what;
    return at == std::string::npos ? 0 : std::stoull(remarks.substr(remarks.find(": ", at) + 2));
  }

  test::TemporaryDirectory directory_;
};

TEST_F(InspectCommand, TablesAreReadelfs) {
  for (const bool linked : {false, true}) {
    SCOPED_TRACE(linked);
    compile("gfx90a:xnack+", linked, options(64, 100, 0, 0));
    const json code = inspect();
    const json oracle = readelf("-h -S -s --dyn-symbols -r -n");
    ASSERT_TRUE(oracle.is_object());
    EXPECT_EQ(code["header"]["flags"], oracle["ElfHeader"]["Flags"]["Value"]);
    EXPECT_EQ(code["header"]["abi_version"], oracle["ElfHeader"]["Ident"]["ABIVersion"]);
    EXPECT_EQ(code["target"], "gfx90a:xnack+");
    EXPECT_EQ(code["header"]["xnack"], "on");
    EXPECT_EQ(code["header"]["sramecc"], "any");

    ASSERT_EQ(code["sections"].size() + 1, oracle["Sections"].size());
    for (size_t i = 0; i < code["sections"].size(); ++i) {
      const json &ours = code["sections"][i], &theirs = oracle["Sections"][i + 1]["Section"];
      EXPECT_EQ(ours["name"], theirs["Name"]["Name"]);
      EXPECT_EQ("SHT_" + ours["type"].get<std::string>(), theirs["Type"]["Name"].get<std::string>());
      EXPECT_EQ(ours["address"], theirs["Address"]);
      EXPECT_EQ(ours["offset"], theirs["Offset"]);
      EXPECT_EQ(ours["bytes"], theirs["Size"]);
    }

    std::vector<std::string> ours, theirs;
    const auto line = [](const std::string& name, uint64_t value, uint64_t size, const std::string& type,
                         const std::string& binding, const std::string& section) {
      std::string upper = type;
      for (char& c : upper) c = static_cast<char>(std::toupper(c));
      std::string upper_binding = binding;
      for (char& c : upper_binding) c = static_cast<char>(std::toupper(c));
      return fmt::format("{} {:#x} {} {} {} {}", name, value, size, upper, upper_binding, section);
    };
    for (const json& each : code["symbols"])
      ours.push_back(line(each["name"], each["value"], each["bytes"], each["type"], each["binding"], each["section"]));
    for (const char* table : {"DynamicSymbols", "Symbols"}) {
      for (const json& each : oracle.value(table, json::array())) {
        const json& symbol = each["Symbol"];
        std::string name = symbol["Name"]["Name"], type = symbol["Type"]["Name"], section = symbol["Section"]["Name"];
        if (type == "None") type = "NOTYPE";
        if (type == "Function") type = "FUNC";
        if (type == "Section") name = "";
        if (section == "Undefined") section = "UND";
        if (section == "Absolute") section = "ABS";
        if (symbol["Value"] == 0 && name.empty() && type == "NOTYPE") continue;  // the null symbol
        theirs.push_back(line(name, symbol["Value"], symbol["Size"], type, symbol["Binding"]["Name"], section));
      }
    }
    EXPECT_GT(ours.size(), 4u);
    EXPECT_THAT(ours, testing::UnorderedElementsAreArray(theirs));

    std::vector<std::string> our_relocations, their_relocations;
    for (const json& each : code.value("relocations", json::array()))
      our_relocations.push_back(fmt::format("{} {} {}", each["offset"].get<uint64_t>(), each["type"].get<std::string>(),
                                            each["addend"].get<int64_t>()));
    for (const json& table : oracle.value("Relocations", json::array()))
      for (const json& each : table["Relocs"])
        their_relocations.push_back(fmt::format("{} {} {}", each["Relocation"]["Offset"].get<uint64_t>(),
                                                each["Relocation"]["Type"]["Name"].get<std::string>(),
                                                each["Relocation"]["Addend"].get<int64_t>()));
    EXPECT_EQ(our_relocations, their_relocations);
    if (!linked) EXPECT_FALSE(our_relocations.empty());

    ASSERT_EQ(code["notes"].size(), 1u);
    EXPECT_EQ(code["notes"][0]["owner"], "AMDGPU");
    EXPECT_EQ(code["notes"][0]["type"], "NT_AMDGPU_METADATA");
  }
}

/// The values that the compiler reports, over sizes that make each kind of limit the one that counts.
TEST_F(InspectCommand, ResourcesAndOccupancyAreTheCompilers) {
  struct Case {
    const char* gpu;
    unsigned size, lds, vgprs, sgprs;
    const char* limit;  ///< what must be among the limits named; empty: none
    const char* more = "";
  };
  const Case cases[] = {
      {"gfx900", 64, 1, 0, 0, ""},
      {"gfx900", 256, 1, 41, 0, "VGPRs"},
      {"gfx900", 256, 1, 0, 90, "SGPRs"},
      {"gfx900", 256, 20000, 0, 0, "LDS"},
      {"gfx803", 256, 1, 0, 99, "SGPRs"},
      {"gfx906", 128, 1, 0, 0, "work-groups"},
      {"gfx90a", 256, 1, 200, 0, "VGPRs"},
      {"gfx908", 64, 1, 256, 0, "VGPRs"},
      {"gfx950", 128, 30000, 0, 0, "LDS"},
      {"gfx1010", 32, 1, 50, 0, "VGPRs"},
      {"gfx1010", 64, 1, 0, 0, "work-groups"},
      {"gfx1030", 256, 1, 97, 0, "VGPRs"},
      {"gfx1030", 256, 1, 97, 0, "VGPRs", "-mwavefrontsize64"},
      {"gfx1030", 256, 30000, 0, 0, "LDS", "-mcumode"},
      {"gfx1030", 256, 30000, 0, 0, "LDS"},
      {"gfx1100", 256, 1, 150, 0, "VGPRs"},
      {"gfx1102", 256, 1, 150, 0, "VGPRs"},
      {"gfx1151", 256, 1, 150, 0, "VGPRs"},
      {"gfx1200", 256, 1, 150, 0, "VGPRs"},
      {"gfx1250", 256, 1, 150, 0, "VGPRs"},
      {"gfx1250", 64, 1, 0, 0, "work-groups"},
  };
  for (const Case& each : cases) {
    SCOPED_TRACE(fmt::format("{} {}: {} work-items, {} bytes, {} VGPRs, {} SGPRs", each.gpu, each.more, each.size,
                             each.lds, each.vgprs, each.sgprs));
    const std::string remarks =
        compile(each.gpu, false, options(each.size, each.lds, each.vgprs, each.sgprs) + " " + each.more);
    const json taken = kernel(inspect(), "taken");
    ASSERT_TRUE(taken.is_object());
    EXPECT_EQ(taken["vgprs"].get<uint64_t>(), std::max(remark(remarks, "taken", "VGPRs"), uint64_t{1}));
    EXPECT_EQ(taken["lds_bytes"], remark(remarks, "taken", "LDS Size [bytes/block]"));
    EXPECT_EQ(kernel(inspect(), "scratch")["scratch_bytes"], remark(remarks, "scratch", "ScratchSize [bytes/lane]"));
    ASSERT_EQ(taken["occupancy"].size(), 1u);
    const json& occupancy = taken["occupancy"][0];
    EXPECT_EQ(occupancy["processor"], each.gpu);
    uint64_t waves = remark(remarks, "taken", "Occupancy [waves/SIMD]");
    if (std::string_view(each.limit) == "SGPRs") {
      // LLVM 22 does not count the trap handler's 16 (measured on gfx942: ROCm/rocm-systems#10618).
      waves = 800 / ((remark(remarks, "taken", "TotalSGPRs") + 15) / 16 * 16 + 16);
    }
    EXPECT_EQ(occupancy["waves_per_simd"], waves);
    const auto limits = occupancy.value("limited_by", std::vector<std::string>());
    if (*each.limit == 0) {
      EXPECT_TRUE(limits.empty()) << occupancy;
    } else {
      EXPECT_THAT(limits, testing::Contains(each.limit));
    }
  }
}

TEST_F(InspectCommand, WhatKernelsMayBeLaunchedWithIsTheAttributes) {
  test::write_file(directory_ / "limits.cl", R"(
kernel __attribute__((amdgpu_max_num_work_groups(4, 2, 1))) void few(global int* out) { *out = 1; }
kernel void any(global int* out) { *out = 1; }
)");
  for (const bool whole : {false, true}) {
    ASSERT_EQ(run(fmt::format("clang-22 -target amdgcn-amd-amdhsa -mcpu=gfx90a -nogpulib -cl-std={} limits.cl -o code",
                              whole ? "CL1.2" : "CL2.0"))
                  .exit_code,
              0);
    const json code = inspect();
    EXPECT_EQ(kernel(code, "few")["max_work_groups"], json::parse("[4, 2, 1]"));
    EXPECT_FALSE(kernel(code, "any").contains("max_work_groups"));
    for (const char* name : {"few", "any"}) EXPECT_EQ(kernel(code, name).contains("uniform_work_group_size"), whole);
  }
}

TEST_F(InspectCommand, CodeWithoutMetadataHasNoVersionOfIt) {
  const auto linked =
      run("echo s_endpgm > f.s && llvm-mc-22 -triple=amdgcn-amd-amdhsa -mcpu=gfx90a -filetype=obj f.s -o code");
  ASSERT_EQ(linked.exit_code, 0) << linked.output;
  EXPECT_TRUE(inspect()["metadata"].is_null());
  EXPECT_THAT(run(fmt::format("{} inspect code", ATOLL_COMMAND)).output, HasSubstr("\n  metadata       none\n"));
}

/// A generic processor's code has an occupancy on each GPU that runs it.
TEST_F(InspectCommand, GenericCodeHasOccupancyOnEachGpu) {
  compile("gfx11-generic", true, options(256, 1, 150, 0));
  std::map<std::string, int> waves;
  for (const json& each : kernel(inspect(), "taken")["occupancy"]) waves[each["processor"]] = each["waves_per_simd"];
  EXPECT_GT(waves.size(), 5u);
  for (const char* gpu : {"gfx1100", "gfx1102", "gfx1151"}) {
    const std::string remarks = compile(gpu, false, options(256, 1, 150, 0));
    EXPECT_EQ(waves[gpu], remark(remarks, "taken", "Occupancy [waves/SIMD]")) << gpu;
  }
}

/// llvm-objdump prints a descriptor as the directives that make it; each of the fields with a directive must be there
/// with its value.
TEST_F(InspectCommand, DescriptorsAreObjdumps) {
  for (const char* gpu : {"gfx803", "gfx900", "gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1200"}) {
    SCOPED_TRACE(gpu);
    compile(gpu, true, options(64, 100, 30, 20));
    const std::string oracle = run("llvm-objdump-22 -D -j .rodata --disassemble-symbols=taken.kd code").output;
    const json descriptor = kernel(inspect(), "taken")["descriptor"];
    EXPECT_THAT(oracle, HasSubstr(fmt::format(".amdhsa_group_segment_fixed_size {}\n",
                                              descriptor["GROUP_SEGMENT_FIXED_SIZE"].get<int>())));
    EXPECT_THAT(oracle, HasSubstr(fmt::format(".amdhsa_kernarg_size {}\n", descriptor["KERNARG_SIZE"].get<int>())));
    unsigned compared = 0;
    for (const json& field : descriptor["fields"]) {
      if (!field.contains("directive")) continue;
      const std::string directive = field["directive"];
      if (oracle.find(directive + " ") == std::string::npos) continue;  // not printed where it is the default
      EXPECT_THAT(oracle, HasSubstr(fmt::format("{} {}\n", directive, field["value"].get<int>())));
      ++compared;
    }
    EXPECT_GT(compared, 12u) << oracle;
  }
}

TEST_F(InspectCommand, TextTellsAKernel) {
  compile("gfx90a", true, options(256, 20000, 100, 0));
  const std::string text = run(fmt::format("{} inspect code", ATOLL_COMMAND)).output;
  for (const char* part :
       {"  target         gfx90a\n", "(code object V6)", ": gfx90a, xnack any, sramecc any", "Segments (", "Sections (",
        "  AMDGPU    NT_AMDGPU_METADATA", "  .symtab", "\nKernel taken\n", "    memory       20000 bytes of LDS",
        "waves per SIMD in work-groups of 256, limited by LDS\n", "    arguments    ",
        "         8    4 bytes  by_value\n", "      COMPUTE_PGM_RSRC1\n",
        "FLOAT_DENORM_MODE_16_64                         3  (kept)\n"})
    EXPECT_THAT(text, HasSubstr(part));
  const std::string one = run(fmt::format("{} inspect code --kernel taken --block 64", ATOLL_COMMAND)).output;
  EXPECT_THAT(one, HasSubstr("in work-groups of 64"));
  EXPECT_THAT(one, testing::Not(HasSubstr("Kernel scratch")));
  const auto none = run(fmt::format("{} inspect code --kernel none", ATOLL_COMMAND));
  EXPECT_EQ(none.exit_code, 1);
  EXPECT_THAT(none.output, HasSubstr("there is no kernel none"));
}

TEST_F(InspectCommand, PalMetadataHasNamesOfRegistersAndUserData) {
  test::write_file(directory_ / "shader.s", R"(.globl main
.type main,@function
main: s_endpgm
.size main, .-main
.amdgpu_pal_metadata
---
amdpal.pipelines:
  - .hardware_stages:
      .cs: {.entry_point_symbol: main, .vgpr_count: 3, .sgpr_count: 8}
    .registers: {0x2e12: 0x2f0041, 0x2e13: 4, 0x2e40: 0x10000000, 0x2e41: 5}
    .user_data_limit: 3
amdpal.version: [2, 6]
...
.end_amdgpu_pal_metadata
)");
  const auto made = run("llvm-mc-22 -triple=amdgcn--amdpal -mcpu=gfx900 -filetype=obj shader.s -o code");
  ASSERT_EQ(made.exit_code, 0) << made.output;
  const json code = inspect();
  ASSERT_TRUE(code.contains("pal")) << code.dump();
  const json& pipeline = code["pal"][0]["pipelines"][0];
  EXPECT_EQ(pipeline["registers"][0]["name"], "COMPUTE_PGM_RSRC1");
  EXPECT_EQ(pipeline["registers"][0]["fields"][0]["name"], "VGPRS");
  EXPECT_EQ(pipeline["registers"][0]["fields"][0]["value"], 1);
  EXPECT_EQ(pipeline["user_data"][0]["name"], "GlobalTable");
  EXPECT_EQ(pipeline["user_data"][1]["name"], "user data entry 5");
  EXPECT_THAT(code["pal"][0]["contradictions"][0].get<std::string>(), HasSubstr(".user_data_limit is 3"));
  const std::string text = run(fmt::format("{} inspect code", ATOLL_COMMAND)).output;
  EXPECT_THAT(text, HasSubstr("PAL metadata, MessagePack version 2.6"));
  EXPECT_THAT(text, HasSubstr("COMPUTE_USER_DATA_0"));
  EXPECT_THAT(text, HasSubstr("cs s0    GlobalTable"));
}

}  // namespace
}  // namespace Atoll
