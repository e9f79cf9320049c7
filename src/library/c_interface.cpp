// library: the C interface, on top of the C++ one. Each handle holds its class; no exception leaves.
#include <algorithm>
#include <cstring>
#include <list>
#include <mutex>
#include <new>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "atoll/atoll.h"
#include "atoll/atoll_c.h"
#include "library/failure.h"

using Atoll::Expected;
using Atoll::Failure;
using Atoll::FailureKind;
using Atoll::library::refuse;

struct atoll_error {
  Failure failure;
  atoll_fault fault{};
  bool on_heap = true;
};
/// A finding, as C has it.
struct KeptFinding {
  Atoll::Finding finding;
  atoll_finding c;
};
struct atoll_gpu {
  Atoll::Gpu gpu;
  std::string product, target_id;
  mutable std::mutex mutex;                 ///< of the findings
  mutable std::list<KeptFinding> findings;  ///< that were asked for, and those before them
};
/// A kernel's description with its parameters, as C has them.
struct DescribedKernel {
  Atoll::KernelInfo info;
  std::vector<atoll_parameter> parameters;
  atoll_kernel_info c;
};
struct atoll_code {
  Atoll::Code code;
  std::vector<std::string> kernels;
  std::mutex mutex;                      ///< of the descriptions
  std::list<DescribedKernel> described;  ///< each once
};
struct atoll_buffer {
  Atoll::Buffer buffer;
};
struct atoll_stream {
  Atoll::Stream stream;
};
struct atoll_event {
  Atoll::Event event;
};
struct atoll_data {
  std::vector<std::byte> bytes;  ///< with the zero
};
struct atoll_evaluation {
  Atoll::Evaluation evaluation;
  atoll_error error;  ///< when it failed
};

namespace {

/// A structure of a program that may have been compiled with an older header: members that it has not are as `usual`.
template <typename Options>
Options options_of(const Options* given, const Options& usual) {
  Options options = usual;
  if (given != nullptr) std::memcpy(&options, given, std::min(given->struct_size, sizeof options));
  return options;
}

std::string text_of(const char* text) { return text == nullptr ? std::string() : std::string(text); }

atoll_status status_of(FailureKind kind) { return static_cast<atoll_status>(static_cast<int>(kind) + 1); }

void fill_fault(atoll_error& error) {
  if (!error.failure.fault) return;
  const Atoll::KernelFault& from = *error.failure.fault;
  error.fault = {.struct_size = sizeof(atoll_fault),
                 .kind = static_cast<atoll_fault_kind>(from.kind),
                 .kind_name = name_of(from.kind).data(),
                 .kernel = from.kernel.c_str(),
                 .function = from.function.c_str(),
                 .instruction = from.instruction.c_str(),
                 .program_counter = from.program_counter,
                 .source_file = from.source_file.c_str(),
                 .line = from.line,
                 .column = from.column,
                 .address_known = from.address ? 1 : 0,
                 .address = from.address.value_or(0),
                 .is_write = from.is_write ? 1 : 0,
                 .near = from.near.c_str(),
                 .work_group = {from.work_group[0], from.work_group[1], from.work_group[2]},
                 .work_item = {from.work_item[0], from.work_item[1], from.work_item[2]},
                 .wave = from.wave,
                 .lane = from.lane,
                 .lane_known = from.lane_known ? 1 : 0};
}

/// What there is to say when there is no memory to say it in.
atoll_error& no_memory() {
  static atoll_error error{.failure = {.message = "no memory", .kind = FailureKind::out_of_resources, .fault = {}},
                           .on_heap = false};
  return error;
}

/// Calls `work`, which returns an Expected<void>, and reports what goes wrong in it.
template <typename Work>
atoll_status guarded(atoll_error** error, const Work& work) {
  if (error != nullptr) *error = nullptr;
  try {
    Expected<void> done = work();
    if (done) return ATOLL_OK;
    const atoll_status status = status_of(done.error().kind);
    if (error != nullptr) {
      *error = new atoll_error{.failure = std::move(done).error()};
      fill_fault(**error);
    }
    return status;
  } catch (...) {  // std::bad_alloc: nothing else throws
    if (error != nullptr) *error = &no_memory();
    return ATOLL_OUT_OF_RESOURCES;
  }
}

/// The same for what makes a handle: `make` returns an Expected of a pointer to a new one.
template <typename Handle, typename Make>
atoll_status made(Handle** handle, atoll_error** error, const Make& make) {
  if (handle != nullptr) *handle = nullptr;
  return guarded(error, [&]() -> Expected<void> {
    if (handle == nullptr) return refuse(FailureKind::invalid_argument, "there is no place for the result");
    auto done = make();
    if (!done) return std::unexpected(std::move(done).error());
    *handle = *done;
    return {};
  });
}

std::unexpected<Failure> null_argument(const char* what) {
  return refuse(FailureKind::invalid_argument, "a null pointer was given for {}", what);
}

Atoll::GpuOptions gpu_options(const atoll_gpu_options* given) {
  const atoll_gpu_options from = options_of(given, ATOLL_GPU_OPTIONS_INIT);
  Atoll::GpuOptions options{
      .threads = from.threads, .timeout_seconds = from.timeout_seconds, .engine = text_of(from.engine)};
  options.check = text_of(from.check);
  options.check_suppressions = text_of(from.check_suppressions);
  options.check_report = text_of(from.check_report);
  if (from.on_finding != nullptr) {
    options.on_finding = [receive = from.on_finding, user = from.user](std::string_view text) {
      receive(user, text.data(), text.size(), 1);
    };
  }
  if (from.on_output != nullptr) {
    options.on_output = [receive = from.on_output, user = from.user](std::string_view text, Atoll::Output where) {
      receive(user, text.data(), text.size(), where == Atoll::Output::standard_error ? 1 : 0);
    };
  }
  return options;
}

Expected<atoll_gpu*> gpu_handle(Expected<Atoll::Gpu> gpu) {
  if (!gpu) return std::unexpected(std::move(gpu).error());
  return new atoll_gpu{
      .gpu = *gpu, .product = gpu->product(), .target_id = gpu->target_id(), .mutex = {}, .findings = {}};
}

Expected<atoll_code*> code_handle(Expected<Atoll::Code> code) {
  if (!code) return std::unexpected(std::move(code).error());
  return new atoll_code{.code = *code, .kernels = code->kernels(), .mutex = {}, .described = {}};
}

template <typename Bytes>
Expected<atoll_data*> data_handle(const Expected<Bytes>& bytes) {
  if (!bytes) return std::unexpected(bytes.error());
  const auto view = std::as_bytes(std::span(*bytes));
  auto* data = new atoll_data{.bytes = {view.begin(), view.end()}};
  data->bytes.push_back(std::byte{0});
  return data;
}

/// What atoll_launch and atoll_stream_launch take.
struct LaunchRequest {
  const atoll_code* code;
  const char* kernel;
  const atoll_shape* shape;
  const atoll_argument* arguments;
  size_t count;
};

/// Calls `launch` with code, kernel, shape and arguments as C++ has them.
template <typename Launch>
auto with_launch(const LaunchRequest& request, const Launch& launch)
    -> decltype(launch(Atoll::LaunchShape(), std::span<const Atoll::Argument>())) {
  if (request.code == nullptr) return null_argument("the code");
  if (request.kernel == nullptr) return null_argument("the kernel's name");
  if (request.arguments == nullptr && request.count != 0) return null_argument("the arguments");
  const atoll_shape from = options_of(request.shape, ATOLL_SHAPE_INIT);
  std::vector<Atoll::Argument> arguments;
  for (size_t i = 0; i < request.count; ++i) {
    const atoll_argument& each = request.arguments[i];
    if (each.kind == ATOLL_ARGUMENT_LOCAL_MEMORY) {
      if (each.size > UINT32_MAX)
        return refuse(FailureKind::out_of_resources, "argument {} asks for {} bytes of LDS", i + 1, each.size);
      arguments.emplace_back(Atoll::LocalMemory{static_cast<uint32_t>(each.size)});
      continue;
    }
    if (each.value == nullptr) return null_argument(fmt::format("argument {}", i + 1).c_str());
    if (each.kind == ATOLL_ARGUMENT_BUFFER) {
      arguments.emplace_back(static_cast<const atoll_buffer*>(each.value)->buffer);
      continue;
    }
    if (each.kind != ATOLL_ARGUMENT_VALUE && each.kind != ATOLL_ARGUMENT_INTEGER &&
        each.kind != ATOLL_ARGUMENT_FLOATING)
      return refuse(FailureKind::invalid_argument, "argument {} has the unknown kind {}", i + 1,
                    static_cast<int>(each.kind));
    Atoll::Argument& made = arguments.emplace_back(char{});
    const auto* bytes = static_cast<const std::byte*>(each.value);
    made.bytes.assign(bytes, bytes + each.size);
    made.type = {};
    if (each.kind != ATOLL_ARGUMENT_VALUE && each.size <= sizeof(uint64_t))
      made.type = {.size = static_cast<uint8_t>(each.size), .is_floating = each.kind == ATOLL_ARGUMENT_FLOATING};
  }
  return launch(Atoll::LaunchShape{.grid = {from.grid[0], from.grid[1], from.grid[2]},
                                   .block = {from.block[0], from.block[1], from.block[2]},
                                   .dynamic_lds_bytes = from.dynamic_lds_bytes},
                std::span<const Atoll::Argument>(arguments));
}

void give(atoll_launch_result* to, const Atoll::LaunchResult& result) {
  if (to == nullptr) return;
  *to = {.work_groups = result.work_groups,
         .waves = result.waves,
         .wave_instructions = result.wave_instructions,
         .seconds = result.seconds};
}

void give(atoll_event** to, Atoll::Event event) {
  if (to != nullptr) *to = new atoll_event{.event = std::move(event)};
}

Expected<DescribedKernel> describe(const Atoll::Code& code, const char* kernel) {
  auto info = code.describe(kernel);
  if (!info) return std::unexpected(std::move(info).error());
  return DescribedKernel{.info = std::move(*info), .parameters = {}, .c = {}};
}

/// What points into the description, which must be where it stays.
void fill_pointers(DescribedKernel& described) {
  const Atoll::KernelInfo& info = described.info;
  for (const Atoll::Parameter& parameter : info.parameters)
    described.parameters.push_back({.name = parameter.name.c_str(),
                                    .type = parameter.type.c_str(),
                                    .element = parameter.element.c_str(),
                                    .kind = static_cast<atoll_parameter_kind>(parameter.kind),
                                    .offset = parameter.offset,
                                    .size = parameter.size});
  described.c = {.struct_size = sizeof(atoll_kernel_info),
                 .name = info.name.c_str(),
                 .parameter_count = info.parameters.size(),
                 .parameters = described.parameters.data(),
                 .lds_bytes = info.lds_bytes,
                 .scratch_bytes = info.scratch_bytes,
                 .vgprs = info.vgprs,
                 .agprs = info.agprs,
                 .sgprs = info.sgprs,
                 .max_block_size = info.max_block_size,
                 .required_block = {info.required_block[0], info.required_block[1], info.required_block[2]},
                 .max_blocks = {info.max_blocks[0], info.max_blocks[1], info.max_blocks[2]},
                 .whole_blocks = info.whole_blocks ? 1 : 0,
                 .on_load = info.on_load ? 1 : 0,
                 .on_unload = info.on_unload ? 1 : 0,
                 .is_shader = info.is_shader ? 1 : 0,
                 .argument_bytes = info.argument_bytes};
}

std::span<const std::byte> span_of(const void* bytes, size_t size) {
  return {static_cast<const std::byte*>(bytes), bytes == nullptr ? 0 : size};
}

}  // namespace

extern "C" {

const char* atoll_version(void) { return ATOLL_VERSION_STRING; }
int atoll_version_number(void) { return ATOLL_VERSION_NUMBER; }

const char* atoll_status_name(atoll_status status) {
  if (status == ATOLL_OK) return "ok";
  if (status < ATOLL_OK || status > ATOLL_SYSTEM) return "unknown";
  return name_of(static_cast<FailureKind>(status - 1)).data();
}

atoll_status atoll_error_status(const atoll_error* error) {
  return error == nullptr ? ATOLL_OK : status_of(error->failure.kind);
}
const char* atoll_error_message(const atoll_error* error) {
  return error == nullptr ? "" : error->failure.message.c_str();
}
const atoll_fault* atoll_error_fault(const atoll_error* error) {
  return error == nullptr || !error->failure.fault ? nullptr : &error->fault;
}
void atoll_error_free(atoll_error* error) {
  if (error != nullptr && error->on_heap) delete error;
}

atoll_status atoll_gpu_create(const char* name, const atoll_gpu_options* options, atoll_gpu** gpu,
                              atoll_error** error) {
  return made(gpu, error, [&]() -> Expected<atoll_gpu*> {
    if (name == nullptr) return null_argument("the GPU's name");
    return gpu_handle(Atoll::Gpu::create(name, gpu_options(options)));
  });
}
atoll_status atoll_gpu_create_for_file(const char* path, const atoll_gpu_options* options, atoll_gpu** gpu,
                                       atoll_error** error) {
  return made(gpu, error, [&]() -> Expected<atoll_gpu*> {
    if (path == nullptr) return null_argument("the path");
    return gpu_handle(Atoll::Gpu::create_for_file(path, gpu_options(options)));
  });
}
const char* atoll_gpu_product(const atoll_gpu* gpu) { return gpu == nullptr ? "" : gpu->product.c_str(); }
const char* atoll_gpu_target_id(const atoll_gpu* gpu) { return gpu == nullptr ? "" : gpu->target_id.c_str(); }
size_t atoll_gpu_finding_count(const atoll_gpu* gpu) { return gpu == nullptr ? 0 : gpu->gpu.findings().size(); }
const atoll_finding* atoll_gpu_finding(const atoll_gpu* gpu, size_t index) {
  if (gpu == nullptr) return nullptr;
  const std::lock_guard lock(gpu->mutex);
  if (index >= gpu->findings.size()) {
    std::vector<Atoll::Finding> all = gpu->gpu.findings();
    for (size_t i = gpu->findings.size(); i < all.size(); ++i) {
      KeptFinding& kept = gpu->findings.emplace_back(std::move(all[i]), atoll_finding{});
      const Atoll::Finding& from = kept.finding;
      kept.c = {.struct_size = sizeof(atoll_finding),
                .checker = from.checker.c_str(),
                .kind = from.kind.c_str(),
                .message = from.message.c_str(),
                .report = from.report.c_str(),
                .kernel = from.kernel.c_str(),
                .source_file = from.source_file.c_str(),
                .line = from.line,
                .column = from.column,
                .count = from.count,
                .is_note = from.is_note ? 1 : 0};
    }
  }
  return index < gpu->findings.size() ? &std::next(gpu->findings.begin(), static_cast<ptrdiff_t>(index))->c : nullptr;
}
void atoll_gpu_interrupt(const atoll_gpu* gpu) {
  if (gpu != nullptr) gpu->gpu.interrupt();
}
void atoll_gpu_free(atoll_gpu* gpu) { delete gpu; }

atoll_status atoll_code_load_file(const atoll_gpu* gpu, const char* path, atoll_code** code, atoll_error** error) {
  return made(code, error, [&]() -> Expected<atoll_code*> {
    if (gpu == nullptr) return null_argument("the GPU");
    if (path == nullptr) return null_argument("the path");
    return code_handle(gpu->gpu.load_file(path));
  });
}
atoll_status atoll_code_load(const atoll_gpu* gpu, const void* bytes, size_t size, atoll_code** code,
                             atoll_error** error) {
  return made(code, error, [&]() -> Expected<atoll_code*> {
    if (gpu == nullptr) return null_argument("the GPU");
    return code_handle(gpu->gpu.load(span_of(bytes, size)));
  });
}
size_t atoll_code_kernel_count(const atoll_code* code) { return code == nullptr ? 0 : code->kernels.size(); }
const char* atoll_code_kernel_name(const atoll_code* code, size_t index) {
  return code == nullptr || index >= code->kernels.size() ? nullptr : code->kernels[index].c_str();
}
atoll_status atoll_code_variable(const atoll_code* code, const char* name, void** data, size_t* size,
                                 atoll_error** error) {
  return guarded(error, [&]() -> Expected<void> {
    if (code == nullptr || name == nullptr) return null_argument("the code or the name");
    const auto bytes = code->code.variable(name);
    if (bytes.data() == nullptr) return refuse(FailureKind::not_found, "there is no variable {}", name);
    if (data != nullptr) *data = bytes.data();
    if (size != nullptr) *size = bytes.size();
    return {};
  });
}
atoll_status atoll_code_describe(const atoll_code* code, const char* kernel, const atoll_kernel_info** info,
                                 atoll_error** error) {
  return made(info, error, [&]() -> Expected<const atoll_kernel_info*> {
    if (code == nullptr || kernel == nullptr) return null_argument("the code or the kernel's name");
    auto& owner = const_cast<atoll_code&>(*code);
    const std::lock_guard lock(owner.mutex);
    for (const DescribedKernel& each : owner.described)
      if (each.info.name == kernel) return &each.c;
    auto described = describe(code->code, kernel);
    if (!described) return std::unexpected(std::move(described).error());
    owner.described.push_back(std::move(*described));
    fill_pointers(owner.described.back());
    return &owner.described.back().c;
  });
}
void atoll_code_free(atoll_code* code) { delete code; }

atoll_status atoll_buffer_create(const atoll_gpu* gpu, size_t bytes, atoll_buffer** buffer, atoll_error** error) {
  return made(buffer, error, [&]() -> Expected<atoll_buffer*> {
    if (gpu == nullptr) return null_argument("the GPU");
    auto memory = gpu->gpu.allocate_bytes(bytes);
    if (!memory) return std::unexpected(std::move(memory).error());
    return new atoll_buffer{.buffer = std::move(*memory)};
  });
}
void* atoll_buffer_data(const atoll_buffer* buffer) { return buffer == nullptr ? nullptr : buffer->buffer.data(); }
size_t atoll_buffer_size(const atoll_buffer* buffer) { return buffer == nullptr ? 0 : buffer->buffer.size(); }
void atoll_buffer_free(atoll_buffer* buffer) { delete buffer; }

atoll_status atoll_launch(const atoll_gpu* gpu, const atoll_code* code, const char* kernel, const atoll_shape* shape,
                          const atoll_argument* arguments, size_t argument_count, atoll_launch_result* result,
                          atoll_error** error) {
  return guarded(error, [&]() -> Expected<void> {
    if (gpu == nullptr) return null_argument("the GPU");
    const auto done = with_launch({code, kernel, shape, arguments, argument_count},
                                  [&](const Atoll::LaunchShape& as, std::span<const Atoll::Argument> list) {
                                    return gpu->gpu.launch_with(code->code, kernel, as, list);
                                  });
    if (!done) return std::unexpected(done.error());
    give(result, *done);
    return {};
  });
}

atoll_status atoll_launch_shader(const atoll_gpu* gpu, const atoll_code* code, const char* shader,
                                 const atoll_shape* shape, const uint32_t* entries, const atoll_argument* values,
                                 size_t count, atoll_launch_result* result, atoll_error** error) {
  return guarded(error, [&]() -> Expected<void> {
    if (gpu == nullptr) return null_argument("the GPU");
    if (entries == nullptr && count != 0) return null_argument("the user data entries");
    const auto done = with_launch({code, shader, shape, values, count},
                                  [&](const Atoll::LaunchShape& as, std::span<const Atoll::Argument> list) {
                                    std::vector<Atoll::UserData> data;
                                    for (size_t i = 0; i < list.size(); ++i)
                                      data.push_back({.entry = entries[i], .value = list[i]});
                                    return gpu->gpu.launch_shader(code->code, shader, as, data);
                                  });
    if (!done) return std::unexpected(done.error());
    give(result, *done);
    return {};
  });
}

atoll_status atoll_stream_create(const atoll_gpu* gpu, atoll_stream** stream, atoll_error** error) {
  return made(stream, error, [&]() -> Expected<atoll_stream*> {
    if (gpu == nullptr) return null_argument("the GPU");
    auto created = gpu->gpu.create_stream();
    if (!created) return std::unexpected(std::move(created).error());
    return new atoll_stream{.stream = std::move(*created)};
  });
}
atoll_status atoll_stream_launch(const atoll_stream* stream, const atoll_code* code, const char* kernel,
                                 const atoll_shape* shape, const atoll_argument* arguments, size_t argument_count,
                                 atoll_event** event, atoll_error** error) {
  if (event != nullptr) *event = nullptr;
  return guarded(error, [&]() -> Expected<void> {
    if (stream == nullptr) return null_argument("the stream");
    auto begun = with_launch({code, kernel, shape, arguments, argument_count},
                             [&](const Atoll::LaunchShape& as, std::span<const Atoll::Argument> list) {
                               return stream->stream.launch_with(code->code, kernel, as, list);
                             });
    if (!begun) return std::unexpected(std::move(begun).error());
    give(event, std::move(*begun));
    return {};
  });
}
atoll_status atoll_stream_call(const atoll_stream* stream, void (*function)(void* user), void* user,
                               atoll_event** event, atoll_error** error) {
  if (event != nullptr) *event = nullptr;
  return guarded(error, [&]() -> Expected<void> {
    if (stream == nullptr || function == nullptr) return null_argument("the stream or the function");
    give(event, stream->stream.call([function, user] { function(user); }));
    return {};
  });
}
atoll_status atoll_stream_wait(const atoll_stream* stream, const atoll_event* event, atoll_error** error) {
  return guarded(error, [&]() -> Expected<void> {
    if (stream == nullptr || event == nullptr) return null_argument("the stream or the event");
    stream->stream.wait(event->event);
    return {};
  });
}
atoll_status atoll_stream_synchronize(const atoll_stream* stream, atoll_error** error) {
  return guarded(error, [&]() -> Expected<void> {
    if (stream == nullptr) return null_argument("the stream");
    return stream->stream.synchronize();
  });
}
void atoll_stream_free(atoll_stream* stream) { delete stream; }

int atoll_event_is_done(const atoll_event* event) { return event == nullptr || event->event.is_done() ? 1 : 0; }
int atoll_event_wait_for(const atoll_event* event, double seconds) {
  return event == nullptr || event->event.wait_for(seconds) ? 1 : 0;
}
atoll_status atoll_event_wait(const atoll_event* event, atoll_launch_result* result, atoll_error** error) {
  return guarded(error, [&]() -> Expected<void> {
    if (event == nullptr) return null_argument("the event");
    const auto done = event->event.wait();
    if (!done) return std::unexpected(done.error());
    give(result, *done);
    return {};
  });
}
void atoll_event_free(atoll_event* event) { delete event; }

const void* atoll_data_bytes(const atoll_data* data) { return data == nullptr ? nullptr : data->bytes.data(); }
size_t atoll_data_size(const atoll_data* data) { return data == nullptr ? 0 : data->bytes.size() - 1; }
void atoll_data_free(atoll_data* data) { delete data; }

atoll_status atoll_assemble(const char* text, const atoll_assemble_options* options, atoll_data** object,
                            atoll_error** error) {
  return made(object, error, [&]() -> Expected<atoll_data*> {
    if (text == nullptr) return null_argument("the text");
    const atoll_assemble_options from = options_of(options, ATOLL_ASSEMBLE_OPTIONS_INIT);
    Atoll::AssembleOptions to{
        .gpu = text_of(from.gpu), .relocatable = from.relocatable != 0, .wave_size = from.wave_size};
    if (from.name != nullptr) to.name = from.name;
    if (from.code_object_version != 0) to.code_object_version = from.code_object_version;
    return data_handle(Atoll::assemble(text, to));
  });
}

atoll_status atoll_link(const atoll_link_input* objects, size_t count, atoll_data** code_object, atoll_error** error) {
  return made(code_object, error, [&]() -> Expected<atoll_data*> {
    if (objects == nullptr && count != 0) return null_argument("the objects");
    std::vector<Atoll::LinkInput> inputs;
    for (const atoll_link_input& each : std::span(objects, count))
      inputs.push_back({.name = text_of(each.name), .bytes = span_of(each.bytes, each.size)});
    return data_handle(Atoll::link(inputs));
  });
}

atoll_status atoll_disassemble(const void* file, size_t size, const char* gpu, const char* kernel, int with_bytes,
                               atoll_data** text, atoll_error** error) {
  return made(text, error, [&]() -> Expected<atoll_data*> {
    return data_handle(Atoll::disassemble(span_of(file, size),
                                          {.gpu = text_of(gpu), .kernel = text_of(kernel), .bytes = with_bytes != 0}));
  });
}

atoll_status atoll_decode(const void* code, size_t size, const char* gpu, uint32_t wave_size, atoll_decoded each,
                          void* user, atoll_error** error) {
  return guarded(error, [&]() -> Expected<void> {
    if (gpu == nullptr || each == nullptr) return null_argument("the GPU's name or the function");
    const auto instructions = Atoll::decode(span_of(code, size), gpu, wave_size);
    if (!instructions) return std::unexpected(instructions.error());
    for (const Atoll::DecodedInstruction& one : *instructions) each(user, one.offset, one.size, one.text.c_str());
    return {};
  });
}

atoll_status atoll_gpus(atoll_data** json, atoll_error** error) {
  return made(json, error, []() -> Expected<atoll_data*> { return data_handle(Expected<std::string>(Atoll::gpus())); });
}

atoll_status atoll_inspect(const void* file, size_t size, const char* gpu, const char* kernel, uint32_t work_group_size,
                           atoll_data** json, atoll_error** error) {
  return made(json, error, [&]() -> Expected<atoll_data*> {
    return data_handle(Atoll::inspect(
        span_of(file, size), {.gpu = text_of(gpu), .kernel = text_of(kernel), .work_group_size = work_group_size}));
  });
}

atoll_status atoll_evaluate(const char* const* lines, size_t line_count, const atoll_evaluate_options* options,
                            atoll_evaluation** evaluation, atoll_error** error) {
  return made(evaluation, error, [&]() -> Expected<atoll_evaluation*> {
    const atoll_evaluate_options from = options_of(options, ATOLL_EVALUATE_OPTIONS_INIT);
    if ((lines == nullptr && line_count != 0) || (from.values == nullptr && from.value_count != 0))
      return null_argument("the lines or the values");
    std::vector<std::string> code, values;
    for (const char* line : std::span(lines, line_count)) code.push_back(text_of(line));
    for (const char* value : std::span(from.values, from.value_count)) values.push_back(text_of(value));
    Atoll::EvaluateOptions to{.gpu = text_of(from.gpu), .values = values, .wave_size = from.wave_size};
    if (from.max_instructions != 0) to.max_instructions = from.max_instructions;
    if (from.timeout_seconds != 0) to.timeout_seconds = from.timeout_seconds;
    auto done = Atoll::evaluate(code, to);
    if (!done) return std::unexpected(std::move(done).error());
    auto* handle = new atoll_evaluation{.evaluation = std::move(*done), .error = {}};
    if (handle->evaluation.failure) {
      handle->error.failure = *handle->evaluation.failure;
      fill_fault(handle->error);
    }
    return handle;
  });
}
const char* atoll_evaluation_text(const atoll_evaluation* evaluation) {
  return evaluation == nullptr ? "" : evaluation->evaluation.text.c_str();
}
const char* atoll_evaluation_json(const atoll_evaluation* evaluation) {
  return evaluation == nullptr ? "" : evaluation->evaluation.json.c_str();
}
const atoll_error* atoll_evaluation_error(const atoll_evaluation* evaluation) {
  return evaluation == nullptr || !evaluation->evaluation.failure ? nullptr : &evaluation->error;
}
void atoll_evaluation_free(atoll_evaluation* evaluation) { delete evaluation; }

}  // extern "C"
