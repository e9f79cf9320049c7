// library: kernel launches: whether shape and arguments fit the kernel, what it needs besides, and its run (state.h).
#include <algorithm>
#include <cstring>
#include <optional>

#include "library/failure.h"
#include "library/state.h"
#include "machine/wave/catalyst_image.h"
#include "machine/wave/catalyst_launch.h"

namespace Atoll::library {

namespace {

/// What a lane gets whose stack the compiler could not size (recursion, calls through pointers). The HIP runtime's
/// figure for such kernels.
constexpr uint32_t dynamic_stack_bytes = 16 << 10;
/// Between parts of LDS, for the checker of memory.
constexpr uint32_t lds_guard_bytes = 256;

/// "16 x 4 x 1".
std::string text_of(const std::array<uint32_t, 3>& shape) {
  return fmt::format("{} x {} x {}", shape[0], shape[1], shape[2]);
}

/// Whether a shape has no work-items: 0 in X, or 0 before a dimension that has a size.
bool is_empty(const std::array<uint32_t, 3>& shape) { return shape[0] == 0 || (shape[1] == 0 && shape[2] != 0); }

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

Expected<PreparedLaunch> prepare(const Gpu::State& gpu, const FoundKernel& kernel, Launch launch,
                                 std::span<const Argument> arguments) {
  launch.queue_address = gpu.gpu->queue_address();
  const Launch given = launch;
  if (gpu.checkers && gpu.checkers->wants("memory")) launch.lds_guard_bytes = lds_guard_bytes;
  auto segment = pack_arguments(*kernel.metadata, arguments, launch);
  const uint64_t lds_bytes = uint64_t{kernel.metadata->group_segment_fixed_size} + launch.dynamic_lds_bytes;
  if (segment && launch.lds_guard_bytes != 0 && lds_bytes > gpu.gpu->processor().lds_bytes) {
    launch = given;  // there is no room for gaps
    segment = pack_arguments(*kernel.metadata, arguments, launch);
  }
  if (!segment) return failed(std::move(segment).error());
  return PreparedLaunch{
      .kernel = kernel, .launch = launch, .segment = std::move(*segment), .entry = {}, .user_data = {}};
}

const object::KernelArgument* find_argument(const object::KernelMetadata& kernel, object::ArgumentKind kind) {
  const auto found = std::ranges::find(kernel.arguments, kind, &object::KernelArgument::kind);
  return found == kernel.arguments.end() ? nullptr : &*found;
}

/// What printf() needs while a kernel runs, given to it by hidden arguments.
class PrintfServices {
 public:
  PrintfServices(Gpu::State& gpu, PreparedLaunch& launch) : gpu_(gpu), launch_(launch) {}
  PrintfServices(const PrintfServices&) = delete;
  PrintfServices& operator=(const PrintfServices&) = delete;
  ~PrintfServices() {
    if (calls_) gpu_.hostcalls->end(ended_well);
    if (buffer_)
      gpu_.output.write(print_records(launch_.kernel.object->printf_formats, buffer_->records()),
                        Output::standard_output);
  }

  support::Result<void> begin() {
    const object::KernelMetadata& kernel = *launch_.kernel.metadata;
    const auto* at = find_argument(kernel, object::ArgumentKind::hidden_printf_buffer);
    if (at != nullptr && !launch_.kernel.object->printf_formats.empty()) {
      auto made = PrintfBuffer::create(gpu_.gpu->memory());
      if (!made) return std::unexpected(made.error());
      buffer_.emplace(std::move(*made));
      put(*at, buffer_->address());
    }
    if (const auto* calls_at = find_argument(kernel, object::ArgumentKind::hidden_hostcall_buffer)) {
      const auto address = gpu_.hostcalls->begin();
      if (!address) return std::unexpected(address.error());
      calls_ = true;
      put(*calls_at, *address);
    }
    return {};
  }

  bool ended_well = false;

 private:
  void put(const object::KernelArgument& argument, uint64_t address) {
    std::memcpy(launch_.segment.data() + argument.offset, &address, std::min<size_t>(argument.size, sizeof address));
  }

  Gpu::State& gpu_;
  PreparedLaunch& launch_;
  std::optional<PrintfBuffer> buffer_;
  bool calls_ = false;
};

}  // namespace

support::Result<uint64_t> KernargMemory::take(machine::Memory& memory, std::span<const std::byte> arguments) {
  auto address = take_free(arguments.size());
  if (!address) {
    auto made = memory.allocate(std::max(arguments.size(), kept_bytes), 0, "a kernel's arguments");
    if (!made) return made;
    address = *made;
  }
  std::ranges::copy(arguments, reinterpret_cast<std::byte*>(*address));
  return *address;
}

void KernargMemory::give_back(machine::Memory& memory, uint64_t address, size_t bytes) {
  if (bytes <= kept_bytes) {
    const std::lock_guard lock(mutex_);
    if (free_.size() < max_kept) return free_.push_back(address);
  }
  static_cast<void>(memory.free(address));  // it was allocated there: cannot fail
}

std::optional<uint64_t> KernargMemory::take_free(size_t bytes) {
  const std::lock_guard lock(mutex_);
  if (bytes > kept_bytes || free_.empty()) return std::nullopt;
  const uint64_t address = free_.back();
  free_.pop_back();
  return address;
}

FoundKernel find_kernel(const Code::State& code, std::string_view name) {
  for (const LoadedObject& object : code.objects)
    if (const auto* metadata = object.code->code_object().find_kernel(name))
      if (const auto* symbol = object.code->find(metadata->object_symbol())) return {metadata, symbol, &object};
  return {};
}

Expected<Launch> make_launch(std::string_view kernel, const LaunchShape& shape) {
  Launch launch{.grid = shape.grid, .block = shape.block, .dynamic_lds_bytes = shape.dynamic_lds_bytes};
  for (auto [sizes, word] : {std::pair(&launch.grid, "grid"), std::pair(&launch.block, "work-group")}) {
    if (is_empty(*sizes))
      return refuse(FailureKind::invalid_argument, "cannot launch kernel {}: a {} of {} has no work-items", kernel,
                    word, text_of(*sizes));
    for (uint32_t& size : *sizes) size = std::max(size, 1u);  // {64} in C++ is 64, 0, 0
  }
  if (std::ranges::any_of(launch.block, [](uint32_t size) { return size > UINT16_MAX; }))
    return refuse(FailureKind::out_of_resources, "a work-group of {} is larger than any GPU's", text_of(launch.block));
  return launch;
}

Expected<PreparedLaunch> prepare(const Gpu::State& gpu, const Code::State& code, std::string_view kernel,
                                 const LaunchShape& shape, std::span<const Argument> arguments) {
  const FoundKernel found = find_kernel(code, kernel);
  FoundEntry entry = found.symbol == nullptr ? find_entry(code, kernel) : FoundEntry{};
  if (found.symbol == nullptr && entry.entry == nullptr)
    return refuse(FailureKind::not_found, "there is no kernel {}", kernel);
  if (code.gpu.get() != &gpu)
    return refuse(FailureKind::invalid_argument, "kernel {} was loaded on another GPU than it is launched on", kernel);
  if (entry.entry != nullptr) return prepare_entry(gpu, std::move(entry), shape, arguments);

  const auto made = make_launch(kernel, shape);
  if (!made) return std::unexpected(made.error());
  const Launch& launch = *made;
  if (auto fits = check_shape(*found.metadata, launch.grid, launch.block); !fits)
    return failed(std::move(fits).error());
  const std::vector<Parameter>& parameters = code.parameters(*found.metadata);
  for (size_t i = 0; i < std::min(parameters.size(), arguments.size()); i++)
    if (auto same = check_type(parameters[i], i, arguments[i]); !same)
      return failed(support::within(fmt::format("kernel {}", kernel), same.error()).error());
  return prepare(gpu, found, launch, arguments);
}

/// Checks the images that a kernel of a Catalyst container gets the addresses of.
support::Result<void> check_images(const Gpu::State& gpu, const PreparedLaunch& launch) {
  for (const object::KernelArgument& argument : launch.kernel.metadata->arguments) {
    if (argument.access.empty()) continue;
    uint64_t address = 0;
    std::memcpy(&address, launch.segment.data() + argument.offset, std::min<size_t>(argument.size, sizeof address));
    const auto image = machine::read_catalyst_image(address, argument.type_name, gpu.gpu->processor());
    if (!image)
      return support::within(fmt::format("kernel {}: argument {}", launch.kernel.metadata->name, argument.name),
                             image.error());
  }
  return {};
}

/// Runs a kernel whose arguments are in constant buffers.
support::Result<machine::KernelStatistics> run_catalyst(Gpu::State& gpu, const PreparedLaunch& launch,
                                                        const object::catalyst::LaunchInfo& info,
                                                        std::optional<machine::FaultReport>& fault) {
  const machine::CatalystLaunch given{
      .code = *launch.kernel.object->catalyst,
      .kernel = info,
      .grid = launch.launch.grid,
      .work_group = launch.launch.block,
      .dimensions = num_dimensions(launch.launch),
      .lds_bytes = launch.kernel.metadata->group_segment_fixed_size + launch.launch.dynamic_lds_bytes,
      .arguments = launch.segment};
  const auto tables = machine::CatalystTables::make(given, gpu.gpu->memory());
  if (!tables) return std::unexpected(tables.error());
  const uint64_t entry = launch.kernel.symbol->address + sizeof(object::RawKernelCode);
  auto state = machine::make_catalyst_launch(given, *tables, launch.kernel.object->code, entry, gpu.gpu->model());
  if (!state) return std::unexpected(state.error());
  return gpu.gpu->run(std::move(*state), info.name, &fault);
}

Expected<LaunchResult> run(Gpu::State& gpu, PreparedLaunch launch) {
  if (launch.entry.entry != nullptr) return run_entry(gpu, launch);
  const object::KernelMetadata& metadata = *launch.kernel.metadata;
  PrintfServices services(gpu, launch);
  if (auto begun = services.begin(); !begun) return failed(std::move(begun).error());
  const auto result_of = [](const machine::KernelStatistics& done) {
    return LaunchResult{.work_groups = done.work_groups,
                        .waves = done.waves,
                        .wave_instructions = done.wave_instructions,
                        .seconds = done.seconds};
  };
  std::optional<machine::FaultReport> fault;
  if (const auto& catalyst = launch.kernel.object->catalyst) {
    if (const object::catalyst::LaunchInfo* const info = catalyst->find(metadata.name)) {
      const auto done = run_catalyst(gpu, launch, *info, fault);
      if (!done) return std::unexpected(failure_of(done.error(), fault));
      services.ended_well = true;
      return result_of(*done);
    }
  }
  if (launch.kernel.object->has_image_blocks) {
    if (auto checked = check_images(gpu, launch); !checked) return failed(std::move(checked).error());
  }
  machine::Memory& memory = gpu.gpu->memory();
  const auto kernarg = gpu.kernarg.take(memory, launch.segment);
  if (!kernarg) return failed(kernarg.error());

  machine::aql::KernelDispatchPacket packet{};
  packet.header = static_cast<uint16_t>(machine::aql::PacketType::kernel_dispatch);
  packet.setup = static_cast<uint16_t>(num_dimensions(launch.launch));
  packet.workgroup_size_x = static_cast<uint16_t>(launch.launch.block[0]);
  packet.workgroup_size_y = static_cast<uint16_t>(launch.launch.block[1]);
  packet.workgroup_size_z = static_cast<uint16_t>(launch.launch.block[2]);
  packet.grid_size_x = launch.launch.grid[0];
  packet.grid_size_y = launch.launch.grid[1];
  packet.grid_size_z = launch.launch.grid[2];
  packet.private_segment_size =
      std::max(metadata.private_segment_fixed_size, metadata.uses_dynamic_stack ? dynamic_stack_bytes : 0);
  packet.group_segment_size = metadata.group_segment_fixed_size + launch.launch.dynamic_lds_bytes;
  packet.kernel_object = launch.kernel.symbol->address;
  packet.kernarg_address = *kernarg;
  const bool has_gaps = launch.launch.lds_guard_bytes != 0 && launch.launch.lds.size() > 1;
  if (has_gaps) gpu.checkers->lds_laid_out(*kernarg, std::move(launch.launch.lds));
  auto done = gpu.gpu->run(packet, &fault);
  if (has_gaps) gpu.checkers->lds_laid_out(*kernarg, {});
  gpu.kernarg.give_back(memory, *kernarg, launch.segment.size());
  if (!done) return std::unexpected(failure_of(std::move(done).error(), fault));
  services.ended_well = true;
  return result_of(*done);
}

Expected<void> run_all(const Code::State& code, std::string_view kind) {
  for (const LoadedObject& object : code.objects) {
    for (const object::KernelMetadata& kernel : object.code->code_object().metadata.kernels) {
      if (kernel.kind != kind) continue;
      const auto* symbol = object.code->find(kernel.object_symbol());
      if (symbol == nullptr) continue;  // the reader of code objects has told of that
      auto prepared = prepare(*code.gpu, {&kernel, symbol, &object}, {.grid = {1, 1, 1}, .block = {1, 1, 1}}, {});
      auto done = prepared ? run(*code.gpu, std::move(*prepared)) : std::unexpected(std::move(prepared).error());
      if (done) continue;
      Failure failure = std::move(done).error();
      failure.message = fmt::format("{} kernel {}: {}", kind, kernel.name, failure.message);
      return std::unexpected(std::move(failure));
    }
  }
  return {};
}

}  // namespace Atoll::library
