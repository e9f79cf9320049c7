// hiprtc: source text compiled at run time for the GPU at hand, its log when there is an error, lowered names, launch.
#include <hip/hiprtc.h>

#include "check.h"

#define RTC(call)                                                                                           \
  do {                                                                                                      \
    const hiprtcResult rtc_status = (call);                                                                 \
    if (rtc_status != HIPRTC_SUCCESS) {                                                                     \
      std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, hiprtcGetErrorString(rtc_status)); \
      std::exit(1);                                                                                         \
    }                                                                                                       \
  } while (false)

namespace {

const char* const kSource = R"(
template <typename T>
__global__ void polynomial(const T* in, T* out, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) out[i] = (in[i] * FACTOR + T(2)) * in[i];
}
)";

template <typename T>
void check_launch(hipModule_t module, const char* name) {
  constexpr int count = 500;
  std::vector<T> in(count), want(count);
  for (int i = 0; i < count; ++i) {
    in[i] = static_cast<T>(i - 250);
    want[i] = (in[i] * 3 + T(2)) * in[i];
  }
  hipFunction_t function;
  HIP(hipModuleGetFunction(&function, module, name));
  const check::Device<T> device_in(in), out(count);
  const T* in_pointer = device_in.get();
  T* out_pointer = out.get();
  int size = count;
  void* arguments[] = {&in_pointer, &out_pointer, &size};
  HIP(hipModuleLaunchKernel(function, (count + 127) / 128, 1, 1, 128, 1, 1, 0, nullptr, arguments, nullptr));
  check::finish();
  check::equal(name, out.read(), want);
}

}  // namespace

int main() {
  hipDeviceProp_t properties;
  HIP(hipGetDeviceProperties(&properties, 0));
  const std::string architecture = std::string("--gpu-architecture=") + properties.gcnArchName;
  const char* options[] = {architecture.c_str(), "-DFACTOR=3"};

  hiprtcProgram program;
  RTC(hiprtcCreateProgram(&program, kSource, "polynomial.hip", 0, nullptr, nullptr));
  RTC(hiprtcAddNameExpression(program, "polynomial<int>"));
  RTC(hiprtcAddNameExpression(program, "polynomial<double>"));
  const hiprtcResult compiled = hiprtcCompileProgram(program, 2, options);
  size_t log_size = 0;
  RTC(hiprtcGetProgramLogSize(program, &log_size));
  if (log_size > 1) {
    std::string log(log_size, '\0');
    RTC(hiprtcGetProgramLog(program, log.data()));
    std::fprintf(stderr, "%s\n", log.c_str());
  }
  RTC(compiled);
  size_t size = 0;
  RTC(hiprtcGetCodeSize(program, &size));
  std::vector<char> code(size);
  RTC(hiprtcGetCode(program, code.data()));

  hipModule_t module;
  HIP(hipModuleLoadData(&module, code.data()));
  const char* name = nullptr;
  RTC(hiprtcGetLoweredName(program, "polynomial<int>", &name));
  check_launch<int>(module, name);
  RTC(hiprtcGetLoweredName(program, "polynomial<double>", &name));
  check_launch<double>(module, name);
  HIP(hipModuleUnload(module));
  RTC(hiprtcDestroyProgram(&program));

  RTC(hiprtcCreateProgram(&program, "__global__ void broken( { }", "broken.hip", 0, nullptr, nullptr));
  EXPECT(hiprtcCompileProgram(program, 1, options) == HIPRTC_ERROR_COMPILATION);
  RTC(hiprtcGetProgramLogSize(program, &log_size));
  EXPECT(log_size > 1);
  RTC(hiprtcDestroyProgram(&program));
  return check::result();
}
