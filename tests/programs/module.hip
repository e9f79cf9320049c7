// Code loaded from a file by hipModuleLoad, from memory by hipModuleLoadData, and launched by name: with a list of
// arguments, with one packed buffer, with dynamic LDS, and with a grid that ends within a work-group.
#include <hip/hip_ext.h>

#include "check.h"

namespace {

hipFunction_t function(hipModule_t module, const char* name) {
  hipFunction_t found;
  HIP(hipModuleGetFunction(&found, module, name));
  return found;
}

void check_scale(hipModule_t module, bool packed) {
  constexpr int count = 777;
  std::vector<float> in(count), want(count);
  for (int i = 0; i < count; ++i) {
    in[i] = static_cast<float>(i);
    want[i] = in[i] * 2.5f + 40;
  }
  hipDeviceptr_t offset = nullptr;
  size_t size = 0;
  HIP(hipModuleGetGlobal(&offset, &size, module, "offset"));
  EXPECT(size == sizeof(int));
  int value = 0;
  HIP(hipMemcpyDtoH(&value, offset, sizeof value));
  EXPECT(value == (packed ? 40 : 3));
  value = 40;
  HIP(hipMemcpyHtoD(offset, &value, sizeof value));

  const check::Device<float> device_in(in), out(count);
  struct {
    const float* in;
    float* out;
    float factor;
    int count;
  } arguments{device_in.get(), out.get(), 2.5f, count};
  if (packed) {
    size_t bytes = sizeof arguments;
    void* extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, &arguments, HIP_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                     HIP_LAUNCH_PARAM_END};
    HIP(hipModuleLaunchKernel(function(module, "scale"), (count + 63) / 64, 1, 1, 64, 1, 1, 0, nullptr, nullptr,
                              extra));
  } else {
    void* list[] = {&arguments.in, &arguments.out, &arguments.factor, &arguments.count};
    HIP(hipModuleLaunchKernel(function(module, "scale"), (count + 63) / 64, 1, 1, 64, 1, 1, 0, nullptr, list, nullptr));
  }
  check::finish();
  check::equal("scale", out.read(), want);
}

void check_partial_work_group(hipModule_t module) {
  const check::Device<unsigned> marks(256);
  unsigned* pointer = marks.get();
  void* list[] = {&pointer};
  HIP(hipExtModuleLaunchKernel(function(module, "mark"), 150, 1, 1, 64, 1, 1, 0, nullptr, list, nullptr));
  check::finish();
  std::vector<unsigned> want(256, 0);
  for (unsigned i = 0; i < 150; ++i) want[i] = 1000 + i % 64;
  check::equal("partial work-group", marks.read(), want);
}

void check_dynamic_lds(hipModule_t module) {
  std::vector<int> values(200), want(200);
  for (int i = 0; i < 200; ++i) values[i] = want[199 - i] = i * i;
  const check::Device<int> device(values);
  int* pointer = device.get();
  void* list[] = {&pointer};
  HIP(hipModuleLaunchKernel(function(module, "reverse"), 1, 1, 1, 200, 1, 1, 200 * sizeof(int), nullptr, list,
                            nullptr));
  check::finish();
  check::equal("reverse", device.read(), want);
}

std::vector<char> file_contents(const char* path) {
  std::vector<char> bytes;
  if (FILE* file = std::fopen(path, "rb")) {
    char buffer[4096];
    for (size_t got; (got = std::fread(buffer, 1, sizeof buffer, file)) > 0;) {
      bytes.insert(bytes.end(), buffer, buffer + got);
    }
    std::fclose(file);
  }
  return bytes;
}

// Bytes that are no code object, and a bundle whose code objects are damaged, are refused.
constexpr hipError_t kBadImage = HIP_VERSION < 60000000 ? hipErrorInvalidKernelFile : hipErrorInvalidImage;

void check_bad_data(const std::vector<char>& good) {
  hipModule_t module;
  const std::vector<char> zeros(good.size(), 0), letters(good.size(), 'x');
  EXPECT(hipModuleLoadData(&module, zeros.data()) == kBadImage);
  EXPECT(hipModuleLoadData(&module, letters.data()) == kBadImage);
  // With an intact ELF header HIP 5.2 trusts what follows it.
  std::vector<char> damaged = good;
  for (size_t i = 4096; i < damaged.size(); ++i) damaged[i] = static_cast<char>(damaged[i] ^ 0x5a);
  EXPECT(hipModuleLoadData(&module, damaged.data()) != hipSuccess);
  (void)hipGetLastError();
}

}  // namespace

int main(int argc, char** argv) {
  const char* path = argc > 1 ? argv[1] : "module_kernels";
  HIP(hipInit(0));
  hipModule_t module;
  HIP(hipModuleLoad(&module, path));
  check_scale(module, false);
  check_scale(module, true);
  check_partial_work_group(module);
  check_dynamic_lds(module);
  hipFunction_t none;
  EXPECT(hipModuleGetFunction(&none, module, "no such kernel") == hipErrorNotFound);
  (void)hipGetLastError();
  HIP(hipModuleUnload(module));

  const std::vector<char> contents = file_contents(path);
  HIP(hipModuleLoadData(&module, contents.data()));
  check_scale(module, false);  // the variable is new again
  HIP(hipModuleUnload(module));

  check_bad_data(contents);
  EXPECT(hipModuleLoad(&module, "no such file") == hipErrorFileNotFound);
  (void)hipGetLastError();
  return check::result();
}
