// compiler: measuring itself (measure.h).
#include "compiler/driver/measure.h"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compiler/driver/compile.h"
#include "compiler/driver/passes.h"
#include "machine/loader.h"
#include "machine/memory/memory.h"
#include "machine/wave/hsa_launch.h"
#include "object/bundle.h"
#include "support/mapped_file.h"

namespace Atoll::compiler {

namespace {

struct Row {
  std::string kernel;
  uint64_t instructions, fallbacks, host_bytes;
  double seconds;
  uint32_t digest;  ///< of the host code: two versions of the compiler that make the same code have the same
};

/// FNV-1a (Fowler, Noll, Vo), folded to 32 bits.
uint32_t digest_of(std::span<const uint8_t> bytes) {
  uint64_t hash = 0xCBF2'9CE4'8422'2325;
  for (const uint8_t byte : bytes) hash = (hash ^ byte) * 0x100'0000'01B3;
  return static_cast<uint32_t>(hash >> 32 ^ hash);
}

double per_thousand(double seconds, uint64_t instructions) {
  return instructions == 0 ? 0 : seconds * 1000 / static_cast<double>(instructions);
}

void print(const Row& row) {
  fmt::print("{:>8} {:>8} {:>9} {:>8.3f} {:>8.4f} {:08x}  {}\n", row.instructions, row.fallbacks, row.host_bytes,
             row.seconds, per_thousand(row.seconds, row.instructions), row.digest, row.kernel);
}

class Measurement {
 public:
  explicit Measurement(const target::GpuModel& gpu) : gpu_(gpu) {}

  support::Result<void> file(const std::string& path, const std::string& part) {
    const auto mapped = support::MappedFile::open(path);
    if (!mapped) return std::unexpected(mapped.error());
    const auto found = object::find_code_objects(mapped->bytes());
    if (!found) return std::unexpected(found.error());
    const auto chosen = object::choose_code_objects(*found, gpu_.target);
    if (!chosen) return std::unexpected(chosen.error());
    for (const object::FoundCodeObject& code : *chosen) {
      const auto elsewhere = [](std::string_view) { return std::optional<uint64_t>(0); };
      auto loaded = machine::LoadedCode::load(memory_, gpu_.target, code.bytes, elsewhere, path);
      if (!loaded) return support::within(code.where, loaded.error());
      for (const machine::LoadedSymbol& symbol : (*loaded)->symbols()) {
        if (symbol.kind != machine::LoadedSymbol::Kind::kernel || symbol.name.find(part) == std::string::npos) continue;
        if (auto done = add(*loaded, symbol); !done) fmt::print("{}: {}\n", symbol.name, done.error().message);
      }
    }
    return {};
  }

  /// As many kernels at once as the host has threads; towards the end, those of the largest ones that are idle.
  support::Result<void> compile_all() {
    const auto start = std::chrono::steady_clock::now();
    std::ranges::sort(kernels_, std::greater{}, [](const Kernel& kernel) { return kernel.request.flow.instructions; });
    std::vector<std::jthread> others;
    for (unsigned i = 1; i < threads_; ++i) others.emplace_back([this] { compile_some(); });
    compile_some();
    others.clear();
    seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (failure_) return std::unexpected(*failure_);
    return {};
  }

  /// Prints what `dump` adds to a text for each kernel, after its name as a `heading`. Returns the first error, after
  /// all of them.
  template <typename Dump>
  support::Result<void> print_each(fmt::format_string<const std::string&> heading, Dump dump) const {
    support::Result<void> result;
    for (const Kernel& kernel : kernels_) {
      std::string text;
      const support::Result<void> done = dump(kernel.request, text);
      fmt::print(heading, kernel.name);
      fmt::print("\n{}\n", text);
      if (!done && result) result = support::within(kernel.name, done.error());
    }
    return result;
  }

  void report() {
    std::ranges::sort(rows_, {}, &Row::seconds);
    fmt::print("{:>8} {:>8} {:>9} {:>8} {:>8} {:>8}  kernel\n", "instr.", "fallback", "bytes", "seconds", "s/1000",
               "digest");
    Row sum{"all", 0, 0, 0, 0, 0};
    for (const Row& row : rows_) {
      print(row);
      sum.instructions += row.instructions;
      sum.fallbacks += row.fallbacks;
      sum.host_bytes += row.host_bytes;
      sum.seconds += row.seconds;
      sum.digest ^= row.digest;  // in any order
    }
    print(sum);
    fmt::print("by the clock, {} threads: {:.3f} seconds, {:.4f} per 1000\n", threads_, seconds_,
               per_thousand(seconds_, sum.instructions));
    std::vector<std::pair<uint64_t, std::string>> names;
    names.reserve(untranslated_.size());
    for (const auto& [name, count] : untranslated_) names.emplace_back(count, name);
    std::ranges::sort(names, std::greater{});
    fmt::print("interpreter fallbacks:");
    for (const auto& [count, name] : names) fmt::print(" {} {}", count, name);
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    fmt::print("\npeak memory: {} MiB\n", usage.ru_maxrss / 1024);
  }

 private:
  struct Kernel {
    std::string name;
    engine::TranslationRequest request;
  };

  support::Result<void> add(const std::shared_ptr<machine::LoadedCode>& code, const machine::LoadedSymbol& symbol) {
    const target::Processor& processor = *gpu_.target.processor;
    const auto made = machine::make_kernel(symbol.address, code, processor);
    if (!made) return std::unexpected(made.error());
    const engine::CodeMode mode{.floats = machine::float_mode_of((*made)->descriptor.mode, processor)};
    const target::Target target = target::Target(gpu_.target).with_wave_size((*made)->descriptor.wave32 ? 32 : 64);
    auto flow = engine::follow((*made)->entry, mode, code->base(), code->base() + code->size(), target);
    if (!flow) return std::unexpected(flow.error());
    if (flow->blocks.empty()) return support::fail(support::ErrorKind::invalid_file, "no code");
    const auto aids = engine::TranslationAids::from_environment();
    if (!aids) return std::unexpected(aids.error());
    flow->aids = aids->loaded_at(code->base());
    const auto bytes = engine::TranslationRequest::serialise(target, *flow, flow->blocks.begin()->first, 0);
    auto request = engine::TranslationRequest::parse(bytes);
    if (!request) return std::unexpected(request.error());
    kernels_.push_back({symbol.name, *std::move(request)});
    return {};
  }

  void compile_some() {
    const auto host = HostCompiler::create();
    std::unique_lock lock(mutex_);
    if (!host) failure_ = host.error();
    while (!failure_ && next_ != kernels_.size()) {
      const Kernel& kernel = kernels_[next_++];
      const auto share = static_cast<unsigned>(threads_ / std::min<size_t>(threads_, kernels_.size() - next_ + 1));
      lock.unlock();
      const auto result = compile(kernel.request, **host, [] { return true; }, {.threads = share});
      lock.lock();
      if (result) {
        rows_.push_back({kernel.name, result->instructions, result->fallbacks(), result->code.size(), result->seconds,
                         digest_of(result->code)});
        for (const auto& [name, count] : result->untranslated) untranslated_[name] += count;
      } else {
        fmt::print("{}: {}\n", kernel.name, result.error().message);
      }
    }
  }

  const target::GpuModel& gpu_;
  const unsigned threads_ = std::max(1u, std::thread::hardware_concurrency());
  machine::Memory memory_;
  std::vector<Kernel> kernels_;
  double seconds_ = 0;  ///< by the clock, for all kernels

  std::mutex mutex_;  ///< of what follows
  size_t next_ = 0;
  std::optional<support::Error> failure_;
  std::vector<Row> rows_;
  std::map<std::string, uint64_t> untranslated_;
};

}  // namespace

namespace {

/// Reads the kernels and has `use` do something with them. The exit code.
template <typename Use>
int with_kernels(const std::string& file, const std::string& gpu, const std::string& part, Use use) {
  const auto run = [&]() -> support::Result<void> {
    const auto model = target::find_gpu(gpu);
    if (!model) return std::unexpected(model.error());
    Measurement measurement(*model);
    if (auto done = measurement.file(file, part); !done) return done;
    return use(measurement);
  };
  const auto done = run();
  if (done) return 0;
  fmt::print(stderr, "atoll-compiler: {}\n", done.error().message);
  return 1;
}

}  // namespace

int measure(const std::string& file, const std::string& gpu, const std::string& part) {
  return with_kernels(file, gpu, part, [](Measurement& measurement) -> support::Result<void> {
    if (auto done = measurement.compile_all(); !done) return done;
    measurement.report();
    return {};
  });
}

int print_regions(const std::string& file, const std::string& gpu, const std::string& part) {
  return with_kernels(file, gpu, part,
                      [](const Measurement& measurement) { return measurement.print_each("{}:", dump_regions); });
}

int print_ir(const std::string& file, const std::string& gpu, const std::string& part, const std::string& step) {
  if (!step.empty() && std::ranges::find(ir_steps, step) == std::end(ir_steps)) {
    fmt::print(stderr, "atoll-compiler: no step is named '{}'; there are: {}\n", step, fmt::join(ir_steps, ", "));
    return 2;
  }
  return with_kernels(file, gpu, part, [&](const Measurement& measurement) {
    return measurement.print_each("; kernel {}", [&](const engine::TranslationRequest& request, std::string& text) {
      return dump_ir(request, step, text);
    });
  });
}

}  // namespace Atoll::compiler
