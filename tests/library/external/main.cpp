// external CODE_OBJECT: scales 0, 1, 2, ... by 2.5 on a virtual MI250X and prints what the third became.
#include <cstdio>
#include <vector>

#include <atoll/atoll.h>

int main(int argc, char** argv) {
  auto gpu = Atoll::Gpu::create("mi250x");
  if (!gpu || argc != 2) return 1;
  auto code = gpu->load_file(argv[1]);
  if (!code) {
    std::fprintf(stderr, "%s\n", code.error().message.c_str());
    return 1;
  }
  auto data = gpu->allocate<float>(1000).value();
  for (size_t i = 0; i < data.count(); i++) data.span()[i] = static_cast<float>(i);
  auto done = gpu->launch(*code, "scale", {.grid = {1000}, .block = {256}}, data, 2.5f, 1000);
  if (!done) {
    std::fprintf(stderr, "%s\n", done.error().message.c_str());
    return 1;
  }
  std::printf("%g\n", static_cast<double>(data.read()[3]));
}
