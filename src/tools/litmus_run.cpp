#include "tools/litmus_run.h"

#include <cstring>
#include <random>

#include <fmt/format.h>

#include "memory_model/litmus_code.h"
#include "target/product.h"
#include "tools/command_line.h"

namespace Atoll::tools {

using memory_model::LitmusKernel;
using memory_model::LitmusOutcome;
using memory_model::LitmusTest;
using support::Result;

namespace {

std::unexpected<support::Error> failed(const Failure& failure) {
  return support::fail(support::ErrorKind::invalid_argument, "{}", failure.message);
}

/// How often each wave gives way before each of its steps.
void choose_delays(const LitmusKernel& kernel, std::minstd_rand& random, std::byte* data) {
  for (size_t thread = 0; thread < kernel.threads; ++thread) {
    for (uint32_t i = 0; i < LitmusKernel::delay_count; ++i) {
      const unsigned times = i == 0 ? random() % 4 : random() % 8 < 3 ? 1 + random() % 2 : 0;
      const uint32_t bits = (1u << times) - 1;
      std::memcpy(data + kernel.delays_of(thread) + i * 4, &bits, sizeof bits);
    }
  }
}

int64_t number_at(const std::byte* data) {
  int32_t number = 0;
  std::memcpy(&number, data, sizeof number);
  return number;
}

}  // namespace

Result<LitmusRuns> LitmusRuns::create(const std::string& name, uint64_t seed) {
  const auto model = target::find_gpu(name);
  if (!model) return std::unexpected(model.error());
  GpuOptions options;
  options.check = fmt::format("order,seed={}", seed);
  options.on_finding = [](std::string_view) {};
  options.timeout_seconds = 60;
  auto gpu = Gpu::create(name, options);
  if (!gpu) return failed(gpu.error());
  return LitmusRuns(std::move(*gpu), *model->target.processor, seed);
}

Result<std::map<LitmusOutcome, uint64_t>> LitmusRuns::run(const LitmusTest& test, uint64_t count) {
  const auto kernel = memory_model::litmus_kernel(test, *processor_);
  if (!kernel) return std::unexpected(kernel.error());
  const auto object = assemble(kernel->text, {.gpu = std::string(processor_->name), .name = test.name});
  if (!object) return failed(object.error());
  const auto code = gpu_.load(*object);
  if (!code) return failed(code.error());
  const auto buffer = gpu_.allocate_bytes(kernel->bytes());
  if (!buffer) return failed(buffer.error());
  auto* const data = static_cast<std::byte*>(buffer->data());
  std::minstd_rand random(static_cast<unsigned>(seed_ % 0x7FFF'FFFE + 1));
  const LaunchShape shape{.grid = {kernel->work_groups * kernel->work_group_size, 1, 1},
                          .block = {kernel->work_group_size, 1, 1}};
  std::map<LitmusOutcome, uint64_t> outcomes;
  for (uint64_t i = 0; i < count; ++i) {
    std::memset(data, 0, kernel->bytes());
    for (size_t location = 0; location < test.locations.size(); ++location) {
      const auto initial = static_cast<int32_t>(test.initial[location]);
      std::memcpy(data + kernel->location(location), &initial, sizeof initial);
    }
    choose_delays(*kernel, random, data);
    if (const auto done = gpu_.launch(*code, "litmus", shape, *buffer); !done) return failed(done.error());
    LitmusOutcome outcome;
    for (size_t thread = 0; thread < test.threads.size(); ++thread) {
      for (size_t number = 0; number < test.threads[thread].registers.size(); ++number)
        outcome.push_back(number_at(data + kernel->register_of(thread, number)));
    }
    for (size_t location = 0; location < test.locations.size(); ++location)
      outcome.push_back(number_at(data + kernel->location(location)));
    ++outcomes[outcome];
  }
  return outcomes;
}

}  // namespace Atoll::tools
