// Scales numbers on a virtual MI250X, and shows what is known of a kernel that faults.
//
//   c++ -std=c++23 scale.cpp -o scale $(pkg-config --cflags --libs atoll)
//   ./scale scale.co
#include <cstdio>
#include <numeric>

#include <atoll/atoll.h>

namespace {

void print(const Atoll::Failure& failure) {
  std::printf("%s: %s\n", std::string(name_of(failure.kind)).c_str(), failure.message.c_str());
  if (!failure.fault) return;
  const Atoll::KernelFault& fault = *failure.fault;
  std::printf("in fields: %s in line %u of %s, work-group %u, lane %u\n", std::string(name_of(fault.kind)).c_str(),
              fault.line, fault.source_file.c_str(), fault.work_group[0], fault.lane);
}

}  // namespace

int main(int argc, char** argv) try {
  auto gpu = Atoll::value_of(Atoll::Gpu::create("mi250x"));
  auto code = Atoll::value_of(gpu.load_file(argc > 1 ? argv[1] : "scale.co"));
  auto scale = Atoll::value_of(gpu.kernel<void(float*, float, int)>(code, "scale"));

  auto data = Atoll::value_of(gpu.allocate<float>(1000));
  std::iota(data.span().begin(), data.span().end(), 0.0F);
  auto done = Atoll::value_of(scale({.grid = {1024}, .block = {256}}, data, 2.5F, 1000));
  std::printf("data[3] is %g after %llu instructions of %llu waves\n", static_cast<double>(data.span()[3]),
              static_cast<unsigned long long>(done.wave_instructions), static_cast<unsigned long long>(done.waves));

  // In a stream, while the program goes on.
  auto stream = Atoll::value_of(gpu.create_stream());
  for (int i = 0; i < 2; i++) Atoll::value_of(stream.launch(scale, {.grid = {1024}, .block = {256}}, data, 2.0F, 1000));
  Atoll::value_of(stream.synchronize());
  std::printf("data[3] is %g\n", static_cast<double>(data.span()[3]));

  // 1280 floats are more than there are.
  if (auto bad = scale({.grid = {1280}, .block = {256}}, data, 2.0F, 1280); !bad) print(bad.error());
} catch (const Atoll::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
