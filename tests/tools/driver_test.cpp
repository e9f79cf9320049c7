// What programs under `atoll run` see of a kernel driver that is not there: the files in which Linux's driver describes
// itself and its GPUs, through whichever function they look. Debian's rocm_agent_enumerator and lsmod judge.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "support/command.h"

namespace Atoll {
namespace {

using testing::HasSubstr;

std::string run(const std::string& gpu, const std::string& command) {
  return test::run_command(fmt::format("{} run --gpu {} -- {} 2>&1", ATOLL_COMMAND, gpu, command)).output;
}

TEST(Driver, HasEnumeratedTheGpu) {
  EXPECT_THAT(run("mi100", "rocm_agent_enumerator"), HasSubstr("gfx908\n"));
  EXPECT_THAT(run("mi250x", "rocm_agent_enumerator"), HasSubstr("gfx90a\n"));
}

TEST(Driver, IsAModule) {
  EXPECT_THAT(run("mi100", "sh -c 'lsmod | grep ^amdgpu'"), HasSubstr("amdgpu"));
  EXPECT_EQ(run("mi100", "cat /sys/module/amdgpu/initstate"), "live\n");
}

TEST(Driver, DescribesTheGpuInItsTopology) {
  const std::string node = "/sys/class/kfd/kfd/topology/nodes/1/";
  EXPECT_THAT(run("mi250x", "cat " + node + "properties"),
              testing::AllOf(HasSubstr("gfx_target_version 90010\n"), HasSubstr("vendor_id 4098\n"),
                             HasSubstr("simd_count 440\n")));
  EXPECT_THAT(run("vega64", "cat " + node + "properties"), HasSubstr("gfx_target_version 90000\n"));
  EXPECT_EQ(run("vega64", "cat " + node + "name"), "gfx900\n");
  EXPECT_EQ(run("vega64", "ls /sys/devices/virtual/kfd/kfd/topology/nodes"), "0\n1\n");
}

// Types of links: HSA_IOLINKTYPE_PCIEXPRESS is 2, HSA_IOLINK_TYPE_XGMI 11 (ROCm's hsakmttypes.h).
TEST(Driver, DescribesSeveralGpusAndTheirLinks) {
  const std::string gpus = "mi250x,rx7900xtx,mi250x --memory 4G", nodes = "/sys/class/kfd/kfd/topology/nodes/";
  EXPECT_THAT(run(gpus, "rocm_agent_enumerator"), testing::EndsWith("gfx90a\ngfx1100\ngfx90a\n"));
  EXPECT_EQ(run(gpus, "ls " + nodes), "0\n1\n2\n3\n");
  EXPECT_THAT(run(gpus, "cat " + nodes + "2/properties"),
              testing::AllOf(HasSubstr("gfx_target_version 110000\n"), HasSubstr("location_id 1024\n"),
                             HasSubstr("local_mem_size 4294967296\n"), HasSubstr("io_links_count 1\n"),
                             HasSubstr("p2p_links_count 2\n")));
  // The first one's: the host, and the other of its kind.
  EXPECT_EQ(run(gpus, "sh -c 'grep -hE \"^(type|node_to) \" " + nodes + "1/io_links/*/properties'"),
            "type 2\nnode_to 0\ntype 11\nnode_to 3\n");
  EXPECT_EQ(run(gpus, "sh -c 'grep -hE \"^(type|node_to) \" " + nodes + "1/p2p_links/*/properties'"),
            "type 2\nnode_to 2\n");
}

// What RCCL's tests look for before they run, and what hwloc takes PCI devices from, by libpciaccess.
TEST(Driver, HasParametersAndAPlaceOnTheBus) {
  EXPECT_EQ(run("mi250x", "cat /sys/module/amdgpu/parameters/pcie_p2p /sys/module/amdgpu/parameters/emu_mode"),
            "Y\n0\n");
  EXPECT_THAT(run("mi250x", "cat /sys/module/amdgpu/version"), testing::MatchesRegex("[0-9]+\\.[0-9]+\\.[0-9]+\n"));
  const std::string devices = "/sys/bus/pci/devices/";
  EXPECT_EQ(run("mi250x,rx7900xtx", "cat " + devices + "0000:03:00.0/device " + devices + "0000:04:00.0/device"),
            "0x7408\n0x744c\n");
  // Little-endian, as on the bus: vendor, device, and after the command and status the class.
  EXPECT_EQ(run("mi250x", "od -An -tx2 -N12 " + devices + "0000:03:00.0/config"), " 1002 7408 0006 0000 0000 0380\n");
  EXPECT_EQ(run("mi250x", "readlink /sys/class/drm/card0"), "../../devices/pci0000:00/0000:03:00.0/drm/card0\n");
  EXPECT_EQ(run("mi250x", "readlink " + devices + "0000:03:00.0/driver"), "../../../bus/pci/drivers/amdgpu\n");
  // All devices of the host are there but for graphics devices, or one in the GPU's place.
  EXPECT_EQ(
      run("mi250x", "sh -c 'ls " + devices + "'"),
      test::run_command("(for d in " + devices +
                        "*; do grep -qs ^0x03 $d/class || basename $d; done; echo 0000:03:00.0) | grep -v '[*]' | "
                        "sort -u")
          .output);
}

// Debian's rocm-smi reads the graphics devices, and wants each to be a node of the topology.
TEST(Driver, HasGraphicsDevicesForRocmSmi) {
  EXPECT_THAT(run("mi250x,rx7900xtx --memory 4G", "rocm-smi --showid --showmeminfo vram --showbus --csv"),
              testing::AllOf(HasSubstr("card0,0x7408,0000:03:00.0,4294967296,0\n"),
                             HasSubstr("card1,0x744c,0000:04:00.0,4294967296,0\n")));
}

// Each of these takes another function of the C library.
TEST(Driver, IsSeenByEveryFunction) {
  test::TemporaryDirectory directory;
  test::write_file(directory / "look.c", R"(
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#define NODE "/sys/class/kfd/kfd/topology/nodes/1"
#define CHECK(condition) if (!(condition)) puts(#condition)
static int holds(int file) {
  char text[8] = "";
  return file >= 0 && read(file, text, 6) == 6 && strcmp(text, "gfx908") == 0;
}
static int number_of(FILE* file) { return file != 0 ? fileno(file) : -1; }
int main(void) {
  struct stat status;
  struct stat64 status64;
  struct statx extended;
  struct dirent** names;
  char text[100];
  CHECK(holds(open(NODE "/name", O_RDONLY)));
  CHECK(holds(open64(NODE "/name", O_RDONLY)));
  CHECK(holds(openat(AT_FDCWD, NODE "/name", O_RDONLY)));
  CHECK(holds(openat64(AT_FDCWD, NODE "/name", O_RDONLY)));
  CHECK(holds(openat(open(NODE, O_RDONLY | O_DIRECTORY), "name", O_RDONLY)));
  CHECK(holds(number_of(fopen(NODE "/name", "r"))));
  CHECK(holds(number_of(fopen64(NODE "/name", "r"))));
  CHECK(opendir(NODE) != 0);
  CHECK(opendir("/sys/module/amdgpu/holders") != 0);
  CHECK(scandir(NODE, &names, 0, alphasort) > 2);
  CHECK(stat(NODE, &status) == 0 && S_ISDIR(status.st_mode));
  CHECK(lstat(NODE "/name", &status) == 0 && S_ISREG(status.st_mode));
  CHECK(stat64(NODE, &status64) == 0 && S_ISDIR(status64.st_mode));
  CHECK(fstatat(AT_FDCWD, NODE, &status, 0) == 0);
  CHECK(statx(AT_FDCWD, NODE, 0, STATX_ALL, &extended) == 0);
  CHECK(access(NODE "/name", R_OK) == 0);
  CHECK(faccessat(AT_FDCWD, NODE "/name", R_OK, 0) == 0);
  CHECK(readlink(NODE "/name", text, sizeof text) < 0);
  CHECK(open("/dev/kfd", O_RDWR) >= 0);
  CHECK(stat("/dev/kfd", &status) == 0 && S_ISCHR(status.st_mode));
  CHECK(access("/sys/class/kfdx", F_OK) != 0 && access("/sys/class/kfd/no", F_OK) != 0);
  CHECK(access("/proc/self/maps", R_OK) == 0);
  return 0;
}
)");
  for (const char* options : {"", "-O2 -D_FORTIFY_SOURCE=2"}) {
    const auto compiled =
        test::run_command(fmt::format("cd {} && clang-19 {} look.c -o look 2>&1", directory.path().string(), options));
    ASSERT_EQ(compiled.exit_code, 0) << compiled.output;
    EXPECT_EQ(run("mi100", directory / "look"), "");
    EXPECT_THAT(test::run_command(directory / "look" + " 2>&1").output, testing::Not(testing::IsEmpty()));
  }
}

}  // namespace
}  // namespace Atoll
