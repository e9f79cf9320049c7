// The runtime loaded later than the program: by dlopen, as Python's ctypes and plugins do, directly and as what a
// plugin is linked with, in the main thread and others.
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <string>

#include "support/command.h"

using namespace Atoll::test;

namespace {

constexpr const char* agents_source = R"(
#include <hsa/hsa.h>
static hsa_status_t count(hsa_agent_t agent, void* data) {
  hsa_device_type_t type;
  if (hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type) != HSA_STATUS_SUCCESS) return HSA_STATUS_ERROR;
  *(int*)data += type == HSA_DEVICE_TYPE_GPU;
  return HSA_STATUS_SUCCESS;
}
int count_gpus(void) {
  int gpus = 0;
  if (hsa_init() != HSA_STATUS_SUCCESS) return -1;
  if (hsa_iterate_agents(count, &gpus) != HSA_STATUS_SUCCESS) return -2;
  hsa_signal_t signal;
  if (hsa_signal_create(1, 0, 0, &signal) != HSA_STATUS_SUCCESS) return -3;
  hsa_signal_destroy(signal);
  return hsa_shut_down() == HSA_STATUS_SUCCESS ? gpus : -4;
}
)";

// Loads a library that has nothing to do with the program, and calls a function in it from two threads.
constexpr const char* host_source = R"(
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
static void* call(void* function) {
  int gpus = ((int (*)(void))function)();
  return (void*)(long)gpus;
}
int main(int count, char** arguments) {
  void* library = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
  if (library == 0) return puts(dlerror()), 1;
  if (count == 2) return puts(dlsym(library, "hsa_init") != 0 ? "loaded" : "incomplete") < 0;
  void* function = dlsym(library, arguments[2]);
  long there = 0;
  pthread_t thread;
  pthread_create(&thread, 0, call, function);
  pthread_join(thread, (void**)&there);
  printf("%ld %ld\n", (long)call(function), there);
  return 0;
}
)";

class HsaLoading : public testing::Test {
 protected:
  void SetUp() override {
    write_file(directory / "host.c", host_source);
    compile("-x c host.c -o host");
  }

  void compile(const std::string& arguments) const {
    const auto compiled =
        run_command("cd " + directory.path().string() + " && " ATOLL_COMPILER " " + arguments + " 2>&1");
    ASSERT_EQ(compiled.exit_code, 0) << compiled.output;
  }

  TemporaryDirectory directory;
};

TEST_F(HsaLoading, ByDlopen) {
  EXPECT_EQ(run_command(directory / "host" + " " ATOLL_HSA_LIBRARY " 2>&1").output, "loaded\n");
}

TEST_F(HsaLoading, AsWhatAPluginIsLinkedWith) {
  write_file(directory / "plugin.c", agents_source);
  compile("-x c -shared -fPIC -I" ATOLL_HSA_HEADERS " plugin.c -o plugin.so -x none " ATOLL_HSA_LIBRARY " -Wl,-rpath," +
          std::filesystem::path(ATOLL_HSA_LIBRARY).parent_path().string());
  EXPECT_EQ(run_command(directory / "host" + " " + directory / "plugin.so" + " count_gpus 2>&1").output, "1 1\n");
}

// The HIP runtime, as ctypes and plugins load it.
TEST_F(HsaLoading, AsWhatHipIsLinkedWith) {
  write_file(directory / "hip.c", R"(
#include <dlfcn.h>
int hipGetDeviceCount(int*);
int hipMalloc(void**, unsigned long);
int hipMemset(void*, int, unsigned long);
int hipMemcpy(void*, const void*, unsigned long, int);
int fill(void) {
  void* memory = 0;
  unsigned char back[100] = {};
  int gpus = 0;
  if (hipGetDeviceCount(&gpus) != 0 || gpus != 1 || hipMalloc(&memory, sizeof back) != 0) return -1;
  if (hipMemset(memory, 42, sizeof back) != 0 || hipMemcpy(back, memory, sizeof back, 2) != 0) return -2;
  return back[0] + back[99];
}
)");
  compile("-x c -shared -fPIC hip.c -o hip.so -x none -l:libamdhip64.so.5");
  const std::string runtime = std::filesystem::path(ATOLL_HSA_LIBRARY).parent_path();
  EXPECT_EQ(
      run_command("LD_LIBRARY_PATH=" + runtime + " " + directory / "host" + " " + directory / "hip.so" + " fill 2>&1")
          .output,
      "84 84\n");

  // The HIP of 2022 does not know the GPU of 2023. One line says so, and HIP finds no GPU instead of crashing.
  const auto newer = run_command("ATOLL_GPU=mi300x LD_LIBRARY_PATH=" + runtime + " " + directory / "host" + " " +
                                 directory / "hip.so" + " fill 2>&1");
  EXPECT_EQ(newer.exit_code, 0);
  EXPECT_TRUE(std::regex_match(newer.output,
                               std::regex("atoll: .*libamdhip64\\.so\\.5.* does not know .*gfx942.*gfx90a.*\n-1 -1\n")))
      << newer.output;
}

// A library without code for the GPU. HIP 5.2 ends the process when it meets it: by then, one line says why.
TEST_F(HsaLoading, OfALibraryWithoutCodeForTheGpu) {
  write_file(directory / "kernels.hip", R"(
#include <hip/hip_runtime.h>
__global__ void set(int* p) { *p = 7; }
extern "C" int get() {
  int value = 0;
  int* memory = nullptr;
  if (hipMalloc((void**)&memory, sizeof value) != hipSuccess) return -1;
  set<<<1, 1>>>(memory);
  if (hipMemcpy(&value, memory, sizeof value, hipMemcpyDeviceToHost) != hipSuccess) return -2;
  return value;
}
)");
  const auto compiled = run_command("cd " + directory.path().string() +
                                    " && hipcc --offload-arch=gfx900 --offload-arch=gfx906 -shared -fPIC kernels.hip "
                                    "-o libkernels.so 2>/dev/null");
  ASSERT_EQ(compiled.exit_code, 0) << compiled.output;
  const std::string library = directory / "libkernels.so";
  const auto run = [&](const std::string& gpu) {
    return run_command("ATOLL_GPU=" + gpu +
                       " LD_LIBRARY_PATH=" + std::filesystem::path(ATOLL_HSA_LIBRARY).parent_path().string() + " " +
                       (directory / "host") + " " + library + " get 2>&1");
  };
  EXPECT_EQ(run("vega64").output, "7 7\n");
  EXPECT_EQ(run("mi50").output, "7 7\n");
  const auto none = run("mi250x");
  EXPECT_NE(none.exit_code, 0);
  EXPECT_TRUE(none.output.starts_with("atoll: " + library +
                                      ": the GPU code is for gfx900, gfx906, and the GPU, mi250x, is "
                                      "gfx90a:sramecc+:xnack-; --gpu gfx900:xnack- runs it\n"))
      << none.output;
  EXPECT_NE(none.output.find("hipErrorNoBinaryForGpu"), std::string::npos) << none.output;
}

}  // namespace
