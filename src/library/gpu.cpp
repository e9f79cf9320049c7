// library: the public classes, each a handle on a State that it shares with its copies.
#include <algorithm>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "atoll/atoll.h"
#include "engine/engines.h"
#include "library/kernel_arguments.h"
#include "machine/gpu.h"
#include "object/bundle.h"
#include "semantics/host_vectors.h"
#include "support/mapped_file.h"

namespace Atoll {

namespace {

/// What a lane gets whose stack the compiler could not size (recursion, calls through pointers). The HIP runtime's
/// figure for such kernels.
constexpr uint32_t dynamic_stack_bytes = 16 << 10;

std::unexpected<Failure> failure(support::Error error) { return std::unexpected(Failure{std::move(error.message)}); }

/// Memory for kernel arguments, kept from one launch to the next: to map and unmap it takes longer than a small kernel.
class KernargMemory {
 public:
  /// A segment with a copy of these arguments.
  support::Result<uint64_t> take(machine::Memory& memory, std::span<const std::byte> arguments) {
    auto address = take_free(arguments.size());
    if (!address) {
      auto made = memory.allocate(std::max(arguments.size(), kept_bytes), 0, "a kernel's arguments");
      if (!made) return made;
      address = *made;
    }
    std::ranges::copy(arguments, reinterpret_cast<std::byte*>(*address));
    return *address;
  }
  void give_back(machine::Memory& memory, uint64_t address, size_t bytes) {
    if (bytes <= kept_bytes) {
      const std::lock_guard lock(mutex_);
      if (free_.size() < most_kept) return free_.push_back(address);
    }
    static_cast<void>(memory.free(address));  // it was allocated there: cannot fail
  }

 private:
  static constexpr size_t kept_bytes = 4096, most_kept = 16;

  std::optional<uint64_t> take_free(size_t bytes) {
    const std::lock_guard lock(mutex_);
    if (bytes > kept_bytes || free_.empty()) return std::nullopt;
    const uint64_t address = free_.back();
    free_.pop_back();
    return address;
  }

  std::mutex mutex_;
  std::vector<uint64_t> free_;
};

}  // namespace

struct Gpu::State {
  std::unique_ptr<machine::Gpu> gpu;
  KernargMemory kernarg;  ///< what is left in it goes with the GPU's memory
};

struct Code::State {
  std::shared_ptr<Gpu::State> gpu;                            // first: the code goes before its GPU does
  std::vector<std::shared_ptr<machine::LoadedCode>> objects;  // several for a program of several source files
  bool initialized = false;                                   ///< its init kernels have run, its fini kernels will

  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State();
};

namespace {

/// A kernel's metadata and symbol, and the code object that has it; nulls when none has.
struct FoundKernel {
  const object::KernelMetadata* metadata = nullptr;
  const machine::LoadedSymbol* symbol = nullptr;
};

// What compilers make of constructors and destructors (user guide, ".kind" in the kernel metadata map).
constexpr std::string_view init_kind = "init", fini_kind = "fini";

FoundKernel find_kernel(const Code::State& state, std::string_view name) {
  for (const auto& object : state.objects)
    if (const auto* metadata = object->code_object().find_kernel(name))
      if (const auto* symbol = object->find(metadata->object_symbol())) return {metadata, symbol};
  return {};
}

/// "16 x 4 x 1".
std::string text_of(const std::array<uint32_t, 3>& shape) {
  return fmt::format("{} x {} x {}", shape[0], shape[1], shape[2]);
}

/// Whether a kernel is made for a launch of this shape. Hardware does not look at what a kernel was compiled for, and
/// neither does the packet processor; a language runtime refuses some of it, and code that counts on it goes wrong.
support::Result<void> check_shape(const object::KernelMetadata& kernel, const std::array<uint32_t, 3>& grid,
                                  const std::array<uint32_t, 3>& block) {
  const auto refuse = [&]<typename... Args>(fmt::format_string<Args...> words, Args&&... values) {
    return support::fail(support::ErrorKind::invalid_argument, "kernel {} was compiled for {}", kernel.name,
                         fmt::format(words, std::forward<Args>(values)...));
  };
  if (kernel.required_workgroup_size && *kernel.required_workgroup_size != block)
    return refuse("work-groups of {}", text_of(*kernel.required_workgroup_size));
  std::array<uint32_t, 3> work_groups{};
  for (size_t i = 0; i < 3; i++) work_groups[i] = static_cast<uint32_t>((uint64_t{grid[i]} + block[i] - 1) / block[i]);
  for (size_t i = 0; i < 3; i++) {
    if (kernel.uniform_work_group_size && grid[i] % block[i] != 0)
      return refuse("whole work-groups: of a grid of {} in work-groups of {}, the last in {} would be partial",
                    text_of(grid), text_of(block), "XYZ"[i]);
    if (const uint32_t most = kernel.max_workgroups[i]; most != 0 && work_groups[i] > most)
      return refuse("at most {} work-groups in {}: a grid of {} in work-groups of {} is {}", most, "XYZ"[i],
                    text_of(grid), text_of(block), text_of(work_groups));
  }
  return {};
}

/// Runs a kernel to its end, without regard to what it was compiled for.
support::Result<machine::KernelStatistics> run(Gpu::State& gpu, const FoundKernel& kernel, library::Launch launch,
                                               std::span<const Argument> arguments) {
  const auto& [metadata, symbol] = kernel;
  launch.queue_address = gpu.gpu->queue_address();
  const auto segment = library::pack_arguments(*metadata, arguments, launch);
  if (!segment) return std::unexpected(segment.error());
  machine::Memory& memory = gpu.gpu->memory();
  const auto kernarg = gpu.kernarg.take(memory, *segment);
  if (!kernarg) return std::unexpected(kernarg.error());

  machine::aql::KernelDispatchPacket packet{};
  packet.header = static_cast<uint16_t>(machine::aql::PacketType::kernel_dispatch);
  packet.setup = 3;
  packet.workgroup_size_x = static_cast<uint16_t>(launch.block[0]);
  packet.workgroup_size_y = static_cast<uint16_t>(launch.block[1]);
  packet.workgroup_size_z = static_cast<uint16_t>(launch.block[2]);
  packet.grid_size_x = launch.grid[0];
  packet.grid_size_y = launch.grid[1];
  packet.grid_size_z = launch.grid[2];
  packet.private_segment_size =
      std::max(metadata->private_segment_fixed_size, metadata->uses_dynamic_stack ? dynamic_stack_bytes : 0);
  packet.group_segment_size = metadata->group_segment_fixed_size + launch.dynamic_lds_bytes;
  packet.kernel_object = symbol->address;
  packet.kernarg_address = *kernarg;
  auto done = gpu.gpu->run(packet);
  gpu.kernarg.give_back(memory, *kernarg, segment->size());
  return done;
}

/// Runs the init or fini kernels, one work-item of each, as HIP does.
support::Result<void> run_all(const Code::State& code, std::string_view kind) {
  for (const auto& object : code.objects) {
    for (const object::KernelMetadata& kernel : object->code_object().metadata.kernels) {
      if (kernel.kind != kind) continue;
      const auto* symbol = object->find(kernel.object_symbol());
      if (symbol == nullptr) continue;  // the reader of code objects has told of that
      const auto done = run(*code.gpu, {&kernel, symbol}, {.grid = {1, 1, 1}, .block = {1, 1, 1}}, {});
      if (!done) return support::within(fmt::format("{} kernel {}", kind, kernel.name), done.error());
    }
  }
  return {};
}

}  // namespace

Code::State::~State() {
  if (!initialized) return;
  if (const auto done = run_all(*this, fini_kind); !done) fmt::print(stderr, "atoll: {}\n", done.error().message);
}

std::vector<std::string> Code::kernels() const {
  std::vector<std::string> names;
  for (const auto& object : state_->objects)
    for (const object::KernelMetadata& kernel : object->code_object().metadata.kernels) names.push_back(kernel.name);
  return names;
}

Expected<KernelInfo> Code::describe(std::string_view kernel) const {
  const object::KernelMetadata* metadata = find_kernel(*state_, kernel).metadata;
  if (metadata == nullptr) return std::unexpected(Failure{fmt::format("there is no kernel {}", kernel)});
  return KernelInfo{.name = metadata->name,
                    .parameters = library::parameters_of(*metadata),
                    .lds_bytes = metadata->group_segment_fixed_size,
                    .scratch_bytes = metadata->private_segment_fixed_size,
                    .vgprs = metadata->vgpr_count,
                    .agprs = metadata->agpr_count,
                    .sgprs = metadata->sgpr_count,
                    .max_block_size = metadata->max_flat_workgroup_size,
                    .required_block = metadata->required_workgroup_size.value_or(std::array<uint32_t, 3>{}),
                    .max_blocks = metadata->max_workgroups,
                    .whole_blocks = metadata->uniform_work_group_size,
                    .on_load = metadata->kind == init_kind,
                    .on_unload = metadata->kind == fini_kind};
}

std::span<std::byte> Code::variable(std::string_view name) const {
  for (const auto& object : state_->objects) {
    const machine::LoadedSymbol* symbol = object->find(name);
    if (symbol != nullptr && symbol->kind == machine::LoadedSymbol::Kind::variable)
      return {reinterpret_cast<std::byte*>(symbol->address), symbol->size};
  }
  return {};
}

Expected<Gpu> Gpu::create(std::string_view name, const GpuOptions& options) {
  const auto model = target::find_gpu(name);
  if (!model) return failure(model.error());
  machine::GpuOptions machine_options;
  machine_options.threads = options.threads;
  machine_options.kernel_timeout =
      std::chrono::nanoseconds(static_cast<int64_t>(std::clamp(options.timeout_seconds, 0.0, 1e9) * 1e9));
  machine_options.core_file = options.core_file;
  const auto make_engine = engine::find_engine(options.engine);
  if (!make_engine) return failure(make_engine.error());
  if (const auto level = semantics::wanted_host_vectors(); !level) return failure(level.error());
  auto machine = machine::Gpu::create(*model, *make_engine, std::move(machine_options));
  if (!machine) return failure(machine.error());
  Gpu gpu;
  gpu.state_ = std::make_shared<State>();
  gpu.state_->gpu = std::move(*machine);
  return gpu;
}

Expected<Gpu> Gpu::create_for_file(const std::string& path, const GpuOptions& options) {
  const auto file = support::MappedFile::open(path);
  if (!file) return failure(file.error());
  const auto found = object::find_targets(file->bytes());
  if (!found) return std::unexpected(Failure{fmt::format("{}: {}", path, found.error().message)});
  const auto model = object::choose_gpu(std::span(&*found, 1));
  if (!model) return std::unexpected(Failure{fmt::format("{}: {}", path, model.error().message)});
  return create(model->target.to_string(), options);
}

std::string Gpu::product() const { return std::string(state_->gpu->model().product.marketing_name); }

std::string Gpu::target_id() const { return state_->gpu->model().target.to_string(); }

Expected<Code> Gpu::load_file(const std::string& path) const {
  const auto file = support::MappedFile::open(path);
  if (!file) return failure(file.error());
  auto code = load(std::as_bytes(file->bytes()));
  if (!code) return std::unexpected(Failure{fmt::format("{}: {}", path, code.error().message)});
  for (const auto& object : code->state_->objects) object->uri = "file://" + path;
  return code;
}

Expected<Code> Gpu::load(std::span<const std::byte> file) const {
  const std::span bytes(reinterpret_cast<const uint8_t*>(file.data()), file.size());
  const auto found = object::find_code_objects(bytes);
  if (!found) return failure(found.error());
  const auto chosen = object::choose_code_objects(*found, state_->gpu->model().target);
  if (!chosen) return failure(chosen.error());
  const auto nobody = [](std::string_view) { return std::optional<uint64_t>(); };
  Code code;
  code.state_ = std::make_shared<Code::State>();
  code.state_->gpu = state_;
  for (const object::FoundCodeObject& each : *chosen) {
    auto loaded = state_->gpu->load(each.bytes, nobody, fmt::format("memory://{}", each.where));
    if (!loaded) return failure(loaded.error());
    code.state_->objects.push_back(std::move(*loaded));
  }
  if (const auto done = run_all(*code.state_, init_kind); !done) return failure(done.error());
  code.state_->initialized = true;
  return code;
}

Expected<Buffer> Gpu::allocate_bytes(size_t bytes) const {
  const auto address = state_->gpu->memory().allocate(std::max<size_t>(bytes, 1), 0, "a buffer");
  if (!address) return failure(address.error());
  Buffer buffer;
  buffer.size_ = bytes;
  buffer.data_ = std::shared_ptr<void>(reinterpret_cast<void*>(*address), [state = state_](void* memory) {
    (void)state->gpu->memory().free(reinterpret_cast<uint64_t>(memory));  // it was allocated there: cannot fail
  });
  return buffer;
}

Expected<LaunchResult> Gpu::launch_with(const Code& code, std::string_view kernel, const LaunchShape& shape,
                                        std::span<const Argument> arguments) const {
  const auto refuse = [](std::string message) { return std::unexpected(Failure{std::move(message)}); };
  const FoundKernel found = find_kernel(*code.state_, kernel);
  if (found.symbol == nullptr) return refuse(fmt::format("there is no kernel {}", kernel));
  if (code.state_->gpu != state_)
    return refuse(fmt::format("kernel {} was loaded on another GPU than it is launched on", kernel));

  library::Launch launch{.grid = shape.grid, .block = shape.block, .dynamic_lds_bytes = shape.dynamic_lds_bytes};
  for (uint32_t& size : launch.grid) size = std::max(size, 1u);
  for (uint32_t& size : launch.block) size = std::max(size, 1u);
  if (std::ranges::any_of(launch.block, [](uint32_t size) { return size > UINT16_MAX; }))
    return refuse(fmt::format("a work-group of {} is larger than any GPU's", text_of(launch.block)));
  if (const auto fits = check_shape(*found.metadata, launch.grid, launch.block); !fits) return failure(fits.error());
  const auto done = run(*state_, found, launch, arguments);
  if (!done) return failure(done.error());
  return LaunchResult{.work_groups = done->work_groups,
                      .waves = done->waves,
                      .wave_instructions = done->wave_instructions,
                      .seconds = done->seconds};
}

}  // namespace Atoll
