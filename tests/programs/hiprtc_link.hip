// hiprtc beyond one source: headers given as text, bitcode of several sources linked (hiprtcLink...), kernels that call
// each other's functions; half-precision and cooperative-group headers; a compiler's warnings in the log.
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

constexpr int kCount = 300;

hipDeviceProp_t properties_of_gpu() {
  hipDeviceProp_t properties;
  HIP(hipGetDeviceProperties(&properties, 0));
  return properties;
}

std::string architecture() { return std::string("--offload-arch=") + properties_of_gpu().gcnArchName; }

struct Header {
  const char *name, *text;
};

hiprtcProgram compile(const char* source, const std::vector<Header>& headers, std::vector<std::string> options) {
  std::vector<const char*> names, texts, arguments;
  for (const Header& header : headers) {
    names.push_back(header.name);
    texts.push_back(header.text);
  }
  options.push_back(architecture());
  for (const std::string& option : options) arguments.push_back(option.c_str());
  hiprtcProgram program;
  RTC(hiprtcCreateProgram(&program, source, "source.hip", static_cast<int>(headers.size()), texts.data(),
                          names.data()));
  const hiprtcResult compiled = hiprtcCompileProgram(program, static_cast<int>(arguments.size()), arguments.data());
  if (compiled != HIPRTC_SUCCESS) {
    size_t size = 0;
    RTC(hiprtcGetProgramLogSize(program, &size));
    std::string log(size, '\0');
    RTC(hiprtcGetProgramLog(program, log.data()));
    std::fprintf(stderr, "%s\n", log.c_str());
  }
  RTC(compiled);
  return program;
}

std::vector<char> code(hiprtcProgram program) {
  size_t size = 0;
  RTC(hiprtcGetCodeSize(program, &size));
  std::vector<char> bytes(size);
  RTC(hiprtcGetCode(program, bytes.data()));
  RTC(hiprtcDestroyProgram(&program));
  return bytes;
}

std::vector<char> bitcode(const char* source) {
  hiprtcProgram program = compile(source, {}, {"-fgpu-rdc"});
  size_t size = 0;
  RTC(hiprtcGetBitcodeSize(program, &size));
  std::vector<char> bytes(size);
  RTC(hiprtcGetBitcode(program, bytes.data()));
  RTC(hiprtcDestroyProgram(&program));
  return bytes;
}

std::vector<int> launch(const void* image, const char* name) {
  hipModule_t module;
  HIP(hipModuleLoadData(&module, image));
  hipFunction_t function;
  HIP(hipModuleGetFunction(&function, module, name));
  const check::Device<int> out(kCount);
  int* pointer = out.get();
  int count = kCount;
  void* arguments[] = {&pointer, &count};
  HIP(hipModuleLaunchKernel(function, (kCount + 63) / 64, 1, 1, 64, 1, 1, 0, nullptr, arguments, nullptr));
  check::finish();
  std::vector<int> values = out.read();
  HIP(hipModuleUnload(module));
  return values;
}

void check_headers() {
  const char* source = R"(
    #include "shapes/square.h"
    #include "triangle.h"
    extern "C" __global__ void shapes(int* out, int count) {
      const int i = blockIdx.x * blockDim.x + threadIdx.x;
      if (i < count) out[i] = i % 2 ? square(i) : triangle(i);
    })";
  const std::vector<char> image =
      code(compile(source,
                   {{"shapes/square.h", "__device__ int square(int x) { return x * x; }\n"},
                    {"triangle.h", "#pragma once\n__device__ int triangle(int x) { return x * (x + 1) / 2; }\n"}},
                   {}));
  std::vector<int> want(kCount);
  for (int i = 0; i < kCount; ++i) want[i] = i % 2 != 0 ? i * i : i * (i + 1) / 2;
  check::equal("headers as text", launch(image.data(), "shapes"), want);
}

// What hiprtc brings itself: half precision, vectors, and the types and limits of the standard headers.
void check_builtin_headers() {
  const char* source = R"(
    #include <hip/hip_fp16.h>
    extern "C" __global__ void halves(int* out, int count) {
      const int i = blockIdx.x * blockDim.x + threadIdx.x;
      if (i >= count) return;
      const __half2 pair = __floats2half2_rn(i, 2 * i);
      const float4 all = make_float4(1, 2, 3, 4);
      out[i] = static_cast<int>(__half2float(__hadd(__low2half(pair), __high2half(pair))) + all.w * warpSize);
    })";
  std::vector<int> want(kCount);
  const int lanes = properties_of_gpu().warpSize;
  for (int i = 0; i < kCount; ++i) want[i] = 3 * i + 4 * lanes;
  check::equal("half precision", launch(code(compile(source, {}, {"-O2", "-std=c++17"})).data(), "halves"), want);
}

void check_linking() {
  const std::vector<char> kernel = bitcode(R"(
    extern __device__ int twice(int);
    extern __constant__ int table[4];
    extern "C" __global__ void linked(int* out, int count) {
      const int i = blockIdx.x * blockDim.x + threadIdx.x;
      if (i < count) out[i] = twice(i) + table[i % 4];
    })");
  const std::vector<char> function = bitcode(R"(
    __constant__ int table[4] = {10, 20, 30, 40};
    __device__ __attribute__((noinline)) int twice(int x) { return 2 * x; })");
  hiprtcLinkState state;
  RTC(hiprtcLinkCreate(0, nullptr, nullptr, &state));
  for (const auto* part : {&kernel, &function}) {
    RTC(hiprtcLinkAddData(state, HIPRTC_JIT_INPUT_LLVM_BITCODE, const_cast<char*>(part->data()), part->size(), "part",
                          0, nullptr, nullptr));
  }
  void* image = nullptr;
  size_t size = 0;
  RTC(hiprtcLinkComplete(state, &image, &size));
  EXPECT(size > 0);
  std::vector<int> want(kCount);
  for (int i = 0; i < kCount; ++i) want[i] = 2 * i + 10 * (i % 4 + 1);
  check::equal("linked", launch(image, "linked"), want);
  RTC(hiprtcLinkDestroy(state));
}

void check_version() {
  int major = 0, minor = 0;
  RTC(hiprtcVersion(&major, &minor));
  EXPECT(major > 0);
}

}  // namespace

int main() {
  check_version();
  check_headers();
  check_builtin_headers();
  check_linking();
  return check::result();
}
