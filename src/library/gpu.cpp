// library: the public class Gpu.
#include <algorithm>
#include <chrono>
#include <optional>
#include <span>

#include "atoll/atoll.h"
#include "engine/engines.h"
#include "library/failure.h"
#include "library/state.h"
#include "machine/host.h"
#include "object/bundle.h"
#include "settings/configuration.h"
#include "support/bytes.h"
#include "support/mapped_file.h"

namespace Atoll {

using library::failed;

std::string_view version() { return ATOLL_VERSION_STRING; }

namespace {

support::Result<observe::Options> check_options(const GpuOptions& options) {
  if (options.check.empty()) return settings::read_checks(settings::Values::from_environment());
  observe::Options check;
  auto checkers = observe::parse_checkers(options.check);
  if (!checkers) return std::unexpected(checkers.error());
  check.checkers = std::move(*checkers);
  check.suppressions = options.check_suppressions;
  check.report_file = options.check_report;
  return check;
}

}  // namespace

Gpu::State::~State() {
  hostcalls.reset();
  if (!checkers) return;
  if (const auto written = checkers->finish(); !written) fmt::print(stderr, "atoll: {}\n", written.error().message);
  // Memory that was freed and kept goes back to the GPU's.
  checkers->forget();
}

Expected<Gpu> Gpu::create(std::string_view name, const GpuOptions& options) {
  return library::Internals::create(name, options, nullptr);
}

Expected<Gpu> library::Internals::create(std::string_view name, const GpuOptions& options,
                                         machine::Observer* observer) {
  const auto model = target::find_gpu(name);
  if (!model) return failed(model.error());
  machine::GpuOptions machine_options;
  machine_options.threads = options.threads;
  machine_options.core_file = options.core_file;
  machine_options.kernel_timeout =
      std::chrono::nanoseconds(static_cast<int64_t>(std::clamp(options.timeout_seconds, 0.0, 1e9) * 1e9));
  auto make_engine = engine::find_engine(options.engine);
  if (!make_engine) return failed(make_engine.error());
  if (const auto checked = settings::check_engine_settings(settings::Values::from_environment()); !checked)
    return failed(checked.error());
  const auto schedule = machine::parse_schedule(options.schedule.empty() ? "fast" : options.schedule);
  if (!schedule) return failed(support::within("schedule " + options.schedule, schedule.error()).error());
  if (schedule->is_deterministic()) {
    if (options.engine == "compiled")
      return failed(
          {support::ErrorKind::invalid_argument, "schedule " + options.schedule + " requires the interpreter"});
    make_engine = engine::stepping_engine(observer);
    machine_options.host = std::make_shared<machine::Host>(1, 1, *schedule);
  }
  if (observer != nullptr) {
    machine_options.observer = observer;
    if (!schedule->is_deterministic()) make_engine = engine::observed_engine(*observer, options.engine);
  }
  const auto check =
      observer != nullptr ? support::Result<observe::Options>(observe::Options{}) : check_options(options);
  if (!check) return failed(check.error());
  std::unique_ptr<observe::Checkers> checkers;
  if (check->any()) {
    auto made = observe::Checkers::create(*check, {.report = options.on_finding, .program = std::string(name)});
    if (!made) return failed(made.error());
    checkers = std::move(*made);
    make_engine = schedule->is_deterministic() ? engine::stepping_engine(checkers.get())
                                               : engine::observed_engine(*checkers, options.engine);
    if (checkers->wants("order")) machine_options.threads = 1;  // so that a seed always means the same
    machine_options.observer = checkers.get();
  }
  auto machine = machine::Gpu::create(*model, *make_engine, std::move(machine_options));
  if (!machine) return failed(machine.error());
  Gpu gpu;
  gpu.state_ = std::make_shared<Gpu::State>(options.on_output);
  gpu.state_->checkers = std::move(checkers);
  gpu.state_->gpu = std::move(*machine);
  gpu.state_->hostcalls = std::make_unique<library::Hostcalls>(gpu.state_->gpu->memory(), gpu.state_->output);
  return gpu;
}

Expected<std::string> library::Internals::gpu_for_file(const std::string& path) {
  const auto file = support::MappedFile::open(path);
  if (!file) return failed(file.error());
  const auto found = object::find_targets(file->bytes());
  if (!found) return failed(support::within(path, found.error()).error());
  const auto model = object::choose_gpu(std::span(&*found, 1));
  if (!model) return failed(support::within(path, model.error()).error());
  return model->target.to_string();
}

Expected<Gpu> Gpu::create_for_file(const std::string& path, const GpuOptions& options) {
  const auto name = library::Internals::gpu_for_file(path);
  if (!name) return std::unexpected(name.error());
  return create(*name, options);
}

std::string Gpu::product() const { return std::string(state_->gpu->model().product.marketing_name); }

std::string Gpu::target_id() const { return state_->gpu->model().target.to_string(); }

std::vector<Finding> Gpu::findings() const {
  std::vector<Finding> list;
  if (!state_->checkers) return list;
  for (observe::Finding& finding : state_->checkers->findings().all()) {
    std::string report = observe::to_text(finding);
    list.push_back({.checker = std::move(finding.checker),
                    .kind = std::move(finding.kind),
                    .is_note = finding.is_note,
                    .message = std::move(finding.message),
                    .report = std::move(report),
                    .kernel = std::move(finding.kernel),
                    .source_file = std::move(finding.source.file),
                    .line = finding.source.line,
                    .column = finding.source.column,
                    .count = finding.count});
  }
  return list;
}

void Gpu::interrupt() const { state_->gpu->interrupt(); }

Expected<Code> Gpu::load_file(const std::string& path) const {
  const auto file = support::MappedFile::open(path);
  if (!file) return failed(file.error());
  auto code = load(std::as_bytes(file->bytes()));
  if (!code) {
    code.error().message = fmt::format("{}: {}", path, code.error().message);
    return code;
  }
  for (const auto& object : code->state_->objects) object.code->uri = "file://" + path;
  return code;
}

Expected<Code> Gpu::load(std::span<const std::byte> file) const {
  const std::span bytes(reinterpret_cast<const uint8_t*>(file.data()), file.size());
  const auto found = object::find_code_objects(bytes);
  if (!found) return failed(found.error());
  const auto chosen = object::choose_code_objects(*found, state_->gpu->model().target);
  if (!chosen) return failed(chosen.error());
  const auto nobody = [](std::string_view) { return std::optional<uint64_t>(); };
  Code code;
  code.state_ = std::make_shared<Code::State>();
  code.state_->gpu = state_;
  for (const object::FoundCodeObject& each : *chosen) {
    auto loaded =
        state_->gpu->load(each.bytes, nobody, fmt::format("memory://{}", each.where), object::AcceptedAbis::all);
    if (!loaded) return failed(loaded.error());
    auto formats = library::parse_printf_formats((*loaded)->code_object().metadata.printf_formats);
    auto catalyst = object::catalyst::constant_buffer_code((*loaded)->file());
    if (!catalyst) return failed(catalyst.error());
    code.state_->objects.push_back({.code = std::move(*loaded), .printf_formats = std::move(formats)});
    code.state_->objects.back().has_image_blocks =
        object::catalyst::container_of(code.state_->objects.back().code->file()).has_value();
    if (*catalyst)
      code.state_->objects.back().catalyst =
          std::make_shared<const object::catalyst::ConstantBufferCode>(std::move(**catalyst));
  }
  if (const auto done = library::run_all(*code.state_, library::init_kind); !done) return std::unexpected(done.error());
  code.state_->initialized = true;
  return code;
}

Expected<Buffer> Gpu::allocate_bytes(size_t bytes) const {
  const auto address = state_->gpu->memory().allocate(std::max<size_t>(bytes, 1), 0, "a buffer");
  if (!address) return failed(address.error());
  constexpr uint64_t page = 4096;
  if (state_->checkers) {
    state_->checkers->allocated({.kind = machine::MemoryEvent::Kind::device,
                                 .address = *address,
                                 .size = bytes,
                                 .reserved = support::align_up(std::max<size_t>(bytes, 1), page),
                                 .function = "Gpu::allocate"});
  }
  Buffer buffer;
  buffer.size_ = bytes;
  buffer.data_ = std::shared_ptr<void>(reinterpret_cast<void*>(*address), [state = state_](void* memory) {
    // It was allocated there: that cannot fail.
    const auto release = [gpu = state->gpu.get(), memory] {
      (void)gpu->memory().free(reinterpret_cast<uint64_t>(memory));
    };
    if (!state->checkers) return release();
    state->checkers->freed(reinterpret_cast<uint64_t>(memory), "~Buffer", release);
  });
  return buffer;
}

Expected<LaunchResult> Gpu::launch_with(const Code& code, std::string_view kernel, const LaunchShape& shape,
                                        std::span<const Argument> arguments) const {
  auto prepared = library::prepare(*state_, *code.state_, kernel, shape, arguments);
  if (!prepared) return std::unexpected(std::move(prepared).error());
  return library::run(*state_, std::move(*prepared));
}

}  // namespace Atoll
