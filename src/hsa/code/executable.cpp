// hsa: executables and their symbols.
#include "hsa/code/executable.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "hsa/interface/attribute.h"
#include "hsa/interface/status.h"
#include "hsa/runtime.h"
#include "object/kernel_descriptor.h"

namespace Atoll::hsa {

Executable* Executables::create() {
  auto executable = std::make_unique<Executable>();
  Executable* pointer = executable.get();
  const std::scoped_lock lock(mutex_);
  executables_[reinterpret_cast<uint64_t>(pointer)] = std::move(executable);
  return pointer;
}

Executable* Executables::find(hsa_executable_t handle) const {
  const std::scoped_lock lock(mutex_);
  const auto position = executables_.find(handle.handle);
  return position == executables_.end() ? nullptr : position->second.get();
}

bool Executables::destroy(hsa_executable_t handle) {
  std::unique_lock lock(mutex_);
  const auto node = executables_.extract(handle.handle);
  lock.unlock();
  return !node.empty();  // gone with the node
}

std::vector<Executable*> Executables::all() const {
  const std::scoped_lock lock(mutex_);
  std::vector<Executable*> list;
  for (const auto& [handle, executable] : executables_) list.push_back(executable.get());
  return list;
}

void Executables::clear() {
  const std::scoped_lock lock(mutex_);
  executables_.clear();
  readers_.clear();
}

CodeObjectReader* Executables::add_reader(std::unique_ptr<CodeObjectReader> reader) {
  CodeObjectReader* pointer = reader.get();
  const std::scoped_lock lock(mutex_);
  readers_[reinterpret_cast<uint64_t>(pointer)] = std::move(reader);
  return pointer;
}

CodeObjectReader* Executables::find_reader(hsa_code_object_reader_t handle) const {
  const std::scoped_lock lock(mutex_);
  const auto position = readers_.find(handle.handle);
  return position == readers_.end() ? nullptr : position->second.get();
}

bool Executables::destroy_reader(hsa_code_object_reader_t handle) {
  const std::scoped_lock lock(mutex_);
  return readers_.erase(handle.handle) != 0;
}

CodeObjectReader* Executables::with_symbols(hsa_code_object_reader_t handle) {
  const std::scoped_lock lock(mutex_);
  const auto position = readers_.find(handle.handle);
  if (position == readers_.end()) return nullptr;
  position->second->read_symbols();
  return position->second.get();
}

const CodeSymbol* Executables::find_code_symbol(hsa_code_symbol_t handle) const {
  const std::scoped_lock lock(mutex_);
  for (const auto& [number, reader] : readers_) {
    for (const CodeSymbol& symbol : reader->symbols) {
      if (reinterpret_cast<uint64_t>(&symbol) == handle.handle) return &symbol;
    }
  }
  return nullptr;
}

const LoadedCodeObject* Executables::around(uint64_t address) const {
  for (const Executable* executable : all()) {
    const std::scoped_lock lock(executable->mutex);
    for (const LoadedCodeObject& loaded : executable->loaded) {
      if (address >= loaded.code->base() && address - loaded.code->base() < loaded.code->size()) return &loaded;
    }
  }
  return nullptr;
}

const LoadedCodeObject* Executables::find_loaded(hsa_loaded_code_object_t handle) const {
  for (const Executable* executable : all()) {
    const std::scoped_lock lock(executable->mutex);
    for (const LoadedCodeObject& loaded : executable->loaded) {
      if (reinterpret_cast<uint64_t>(&loaded) == handle.handle) return &loaded;
    }
  }
  return nullptr;
}

const ExecutableSymbol* Executables::find_symbol(hsa_executable_symbol_t handle) const {
  for (const Executable* executable : all()) {
    const std::scoped_lock lock(executable->mutex);
    const auto* symbol = reinterpret_cast<const ExecutableSymbol*>(handle.handle);
    if (executable->handles.contains(symbol)) return symbol;
  }
  return nullptr;
}

void Executable::add(ExecutableSymbol symbol) {
  const ExecutableSymbol& added = symbols.emplace_back(std::move(symbol));
  by_name.emplace(added.name, &added);
  handles.insert(&added);
}

const ExecutableSymbol* Executable::find(std::string_view name, const Agent* agent) const {
  const auto [begin, end] = by_name.equal_range(name);
  const auto found = std::find_if(begin, end, [=](const auto& entry) {
    const ExecutableSymbol& symbol = *entry.second;
    return agent == nullptr || symbol.agent == nullptr || symbol.agent == agent;
  });
  return found == end ? nullptr : found->second;
}

namespace {

/// What hsa_executable_load_*_code_object return, which HIP turns into its own errors.
hsa_status_t load_status(support::ErrorKind kind) {
  if (kind == support::ErrorKind::not_found) return HSA_STATUS_ERROR_VARIABLE_UNDEFINED;
  // An unknown relocation type, ABI version, operating system or processor.
  if (kind == support::ErrorKind::unsupported) return HSA_STATUS_ERROR_INVALID_CODE_OBJECT;
  return status_of(kind);
}

}  // namespace

hsa_status_t load_into(Executable& executable, const GpuAgent& agent, const CodeObjectReader& reader, bool is_program,
                       hsa_loaded_code_object_t* loaded) {
  const std::scoped_lock lock(executable.mutex);
  if (executable.frozen) return HSA_STATUS_ERROR_FROZEN_EXECUTABLE;
  const auto external = [&](std::string_view name) -> std::optional<uint64_t> {
    const ExecutableSymbol* definition = executable.find(name, &agent);
    return definition != nullptr && definition->loaded == nullptr ? std::optional(definition->address) : std::nullopt;
  };
  auto code = agent.machine->load({reader.bytes, reader.size}, external, reader.uri);
  if (!code) return report("hsa_executable_load_agent_code_object", code.error(), load_status(code.error().kind));

  const auto is_taken = [&](const machine::LoadedSymbol& symbol) {
    return symbol.is_global && executable.find(symbol.name, &agent) != nullptr;
  };
  if (std::ranges::any_of((*code)->symbols(), is_taken)) return HSA_STATUS_ERROR_VARIABLE_ALREADY_DEFINED;

  const LoadedCodeObject& object = executable.loaded.emplace_back(
      LoadedCodeObject{&executable, &agent, *code, reader.storage.empty() ? reader.bytes : nullptr, reader.size,
                       reader.file, is_program, std::make_unique<DebuggerEntry>((*code)->base(), reader.uri)});
  for (const machine::LoadedSymbol& symbol : (*code)->symbols()) {
    executable.add({&executable, &agent, &object, &symbol, symbol.name, symbol.address, symbol.size, !is_program});
  }
  if (loaded != nullptr) *loaded = {reinterpret_cast<uint64_t>(&object)};
  return HSA_STATUS_SUCCESS;
}

namespace {

/// The GPU that a code object for all agents goes to: the first one that runs it, or else the first one, which says why
/// it does not. Null when there is no GPU.
const GpuAgent* gpu_for(const CodeObjectReader& reader) {
  const auto& gpus = Runtime::get()->gpu_agents;
  const auto code = object::read_code_object({reader.bytes, reader.size});
  const auto runs_it = [&](const auto& gpu) {
    return code && target::check_runs_on(code->target, gpu->model().target).has_value();
  };
  const auto found = std::ranges::find_if(gpus, runs_it);
  return found != gpus.end() ? found->get() : gpus.empty() ? nullptr : gpus.front().get();
}

/// A variable of the program's, for the code of one agent, or with null for all that is loaded.
hsa_status_t define_variable(hsa_executable_t handle, const Agent* agent, const char* name, void* address) {
  Executable* executable = Runtime::get()->executables.find(handle);
  if (executable == nullptr) return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
  if (name == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  const std::scoped_lock lock(executable->mutex);
  if (executable->frozen) return HSA_STATUS_ERROR_FROZEN_EXECUTABLE;
  if (executable->find(name, agent) != nullptr) return HSA_STATUS_ERROR_VARIABLE_ALREADY_DEFINED;
  const auto number = reinterpret_cast<uint64_t>(address);
  executable->add({executable, agent, nullptr, nullptr, name, number, 0, agent != nullptr});
  return HSA_STATUS_SUCCESS;
}

hsa_status_t find_symbol_named(hsa_executable_t handle, const char* name, const Agent* agent,
                               hsa_executable_symbol_t* symbol) {
  Executable* executable = Runtime::get()->executables.find(handle);
  if (executable == nullptr) return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
  if (name == nullptr || symbol == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  const std::scoped_lock lock(executable->mutex);
  const ExecutableSymbol* found = executable->find(name, agent);
  if (found == nullptr) return HSA_STATUS_ERROR_INVALID_SYMBOL_NAME;
  *symbol = {reinterpret_cast<uint64_t>(found)};
  return HSA_STATUS_SUCCESS;
}

hsa_status_t iterate_symbols(hsa_executable_t handle, auto&& is_wanted, auto&& callback) {
  Executable* executable = Runtime::get()->executables.find(handle);
  if (executable == nullptr) return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
  std::vector<const ExecutableSymbol*> wanted;
  {
    const std::scoped_lock lock(executable->mutex);
    for (const ExecutableSymbol& symbol : executable->symbols) {
      if (is_wanted(symbol)) wanted.push_back(&symbol);
    }
  }
  for (const ExecutableSymbol* symbol : wanted) {
    const hsa_status_t status = callback(hsa_executable_symbol_t{reinterpret_cast<uint64_t>(symbol)});
    if (status != HSA_STATUS_SUCCESS) return status;
  }
  return HSA_STATUS_SUCCESS;
}

hsa_status_t give_kernel_info(const ExecutableSymbol& symbol, hsa_executable_symbol_info_t attribute, void* value) {
  const object::CodeObject& code = symbol.loaded->code->code_object();
  const object::Symbol* in_file = code.find_symbol(symbol.name);
  const object::RawKernelDescriptor descriptor =
      in_file != nullptr ? code.descriptor_of(*in_file).value_or(object::RawKernelDescriptor{})
                         : object::RawKernelDescriptor{};
  const object::KernelMetadata* metadata = symbol.symbol->metadata;
  constexpr uint32_t least_alignment = 16;  // of a kernarg segment (HSA)
  switch (attribute) {
    case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT:
      return give<uint64_t>(value, symbol.address);
    case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_SIZE:
      // Descriptors of older compilers leave the size to the metadata.
      return give<uint32_t>(value, metadata != nullptr ? metadata->kernarg_segment_size : descriptor.kernarg_size);
    case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_ALIGNMENT:
      return give<uint32_t>(value,
                            std::max(least_alignment, metadata != nullptr ? metadata->kernarg_segment_align : 0));
    case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE:
      return give<uint32_t>(value, descriptor.group_segment_fixed_size);
    case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE:
      return give<uint32_t>(value, descriptor.private_segment_fixed_size);
    case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_DYNAMIC_CALLSTACK:
      return give(value, metadata != nullptr && metadata->uses_dynamic_stack);
    case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_CALL_CONVENTION:
      return give<uint32_t>(value, 0);
    default:
      return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
}

hsa_status_t give_variable_info(const ExecutableSymbol& symbol, hsa_executable_symbol_info_t attribute, void* value) {
  switch (attribute) {
    case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ADDRESS:
      return give<uint64_t>(value, symbol.address);
    case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ALLOCATION:
      return give(value, symbol.agent_allocation ? HSA_VARIABLE_ALLOCATION_AGENT : HSA_VARIABLE_ALLOCATION_PROGRAM);
    case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_SEGMENT:
      return give(value, HSA_VARIABLE_SEGMENT_GLOBAL);
    case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ALIGNMENT:
      // ELF does not record it; the address says what it is at least, up to a page.
      return give<uint32_t>(value, static_cast<uint32_t>(std::min<uint64_t>(symbol.address & -symbol.address, 4096)));
    case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_SIZE:
      return give<uint32_t>(value, static_cast<uint32_t>(symbol.size));
    case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_IS_CONST:
      return give(value, false);
    default:
      return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
}

}  // namespace

}  // namespace Atoll::hsa

using namespace Atoll;
using namespace Atoll::hsa;

hsa_status_t hsa_executable_create_alt(hsa_profile_t profile,
                                       hsa_default_float_rounding_mode_t default_float_rounding_mode, const char*,
                                       hsa_executable_t* executable) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if ((profile != HSA_PROFILE_BASE && profile != HSA_PROFILE_FULL) ||
      default_float_rounding_mode > HSA_DEFAULT_FLOAT_ROUNDING_MODE_NEAR || executable == nullptr) {
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
  Executable* made = Runtime::get()->executables.create();
  made->profile = profile;
  made->rounding = default_float_rounding_mode;
  *executable = {reinterpret_cast<uint64_t>(made)};
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_executable_create(hsa_profile_t profile, hsa_executable_state_t executable_state, const char* options,
                                   hsa_executable_t* executable) {
  const hsa_status_t status =
      hsa_executable_create_alt(profile, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, options, executable);
  if (status == HSA_STATUS_SUCCESS && executable_state == HSA_EXECUTABLE_STATE_FROZEN) {
    Runtime::get()->executables.find(*executable)->frozen = true;
  }
  return status;
}

hsa_status_t hsa_executable_destroy(hsa_executable_t executable) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  return Runtime::get()->executables.destroy(executable) ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_EXECUTABLE;
}

hsa_status_t hsa_executable_load_agent_code_object(hsa_executable_t executable, hsa_agent_t agent,
                                                   hsa_code_object_reader_t code_object_reader, const char*,
                                                   hsa_loaded_code_object_t* loaded_code_object) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  Executable* found = Runtime::get()->executables.find(executable);
  if (found == nullptr) return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
  const GpuAgent* gpu = Runtime::get()->find_gpu(agent);
  if (gpu == nullptr) return HSA_STATUS_ERROR_INVALID_AGENT;
  const CodeObjectReader* reader = Runtime::get()->executables.find_reader(code_object_reader);
  if (reader == nullptr) return HSA_STATUS_ERROR_INVALID_CODE_OBJECT_READER;
  return load_into(*found, *gpu, *reader, false, loaded_code_object);
}

hsa_status_t hsa_executable_load_program_code_object(hsa_executable_t executable,
                                                     hsa_code_object_reader_t code_object_reader, const char*,
                                                     hsa_loaded_code_object_t* loaded_code_object) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  Executable* found = Runtime::get()->executables.find(executable);
  if (found == nullptr) return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
  const CodeObjectReader* reader = Runtime::get()->executables.find_reader(code_object_reader);
  if (reader == nullptr) return HSA_STATUS_ERROR_INVALID_CODE_OBJECT_READER;
  const GpuAgent* gpu = gpu_for(*reader);
  if (gpu == nullptr) return HSA_STATUS_ERROR_INVALID_AGENT;
  return load_into(*found, *gpu, *reader, true, loaded_code_object);
}

hsa_status_t hsa_executable_freeze(hsa_executable_t executable, const char*) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  Executable* found = Runtime::get()->executables.find(executable);
  if (found == nullptr) return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
  const std::scoped_lock lock(found->mutex);
  return std::exchange(found->frozen, true) ? HSA_STATUS_ERROR_FROZEN_EXECUTABLE : HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_executable_get_info(hsa_executable_t executable, hsa_executable_info_t attribute, void* value) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  const Executable* found = Runtime::get()->executables.find(executable);
  if (found == nullptr) return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
  if (value == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  const std::scoped_lock lock(found->mutex);
  switch (attribute) {
    case HSA_EXECUTABLE_INFO_PROFILE:
      return give(value, found->profile);
    case HSA_EXECUTABLE_INFO_STATE:
      return give(value, found->frozen ? HSA_EXECUTABLE_STATE_FROZEN : HSA_EXECUTABLE_STATE_UNFROZEN);
    case HSA_EXECUTABLE_INFO_DEFAULT_FLOAT_ROUNDING_MODE:
      return give(value, found->rounding);
  }
  return HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

hsa_status_t hsa_executable_global_variable_define(hsa_executable_t executable, const char* variable_name,
                                                   void* address) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  return define_variable(executable, nullptr, variable_name, address);
}

hsa_status_t hsa_executable_agent_global_variable_define(hsa_executable_t executable, hsa_agent_t agent,
                                                         const char* variable_name, void* address) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  const Agent* found = Runtime::get()->find_agent(agent);
  if (found == nullptr) return HSA_STATUS_ERROR_INVALID_AGENT;
  return define_variable(executable, found, variable_name, address);
}

hsa_status_t hsa_executable_readonly_variable_define(hsa_executable_t executable, hsa_agent_t agent,
                                                     const char* variable_name, void* address) {
  return hsa_executable_agent_global_variable_define(executable, agent, variable_name, address);
}

hsa_status_t hsa_executable_validate(hsa_executable_t executable, uint32_t* result) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (Runtime::get()->executables.find(executable) == nullptr) return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
  if (result == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  *result = 0;  // what could not be loaded is not in it
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_executable_validate_alt(hsa_executable_t executable, const char*, uint32_t* result) {
  return hsa_executable_validate(executable, result);
}

hsa_status_t hsa_executable_get_symbol_by_name(hsa_executable_t executable, const char* symbol_name,
                                               const hsa_agent_t* agent, hsa_executable_symbol_t* symbol) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  const Agent* found = agent != nullptr ? Runtime::get()->find_agent(*agent) : nullptr;
  if (agent != nullptr && found == nullptr) return HSA_STATUS_ERROR_INVALID_AGENT;
  return find_symbol_named(executable, symbol_name, found, symbol);
}

hsa_status_t hsa_executable_get_symbol(hsa_executable_t executable, const char* module_name, const char* symbol_name,
                                       hsa_agent_t agent, int32_t, hsa_executable_symbol_t* symbol) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  const Agent* found = Runtime::get()->find_agent(agent);
  if (found == nullptr) return HSA_STATUS_ERROR_INVALID_AGENT;
  // Code objects have not known modules since V2.
  if (module_name != nullptr && *module_name != '\0') return HSA_STATUS_ERROR_INVALID_SYMBOL_NAME;
  return find_symbol_named(executable, symbol_name, found, symbol);
}

hsa_status_t hsa_executable_symbol_get_info(hsa_executable_symbol_t executable_symbol,
                                            hsa_executable_symbol_info_t attribute, void* value) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  const ExecutableSymbol* symbol = Runtime::get()->executables.find_symbol(executable_symbol);
  if (symbol == nullptr) return HSA_STATUS_ERROR_INVALID_EXECUTABLE_SYMBOL;
  if (value == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  const bool is_kernel = symbol->symbol != nullptr && symbol->symbol->kind == machine::LoadedSymbol::Kind::kernel;
  switch (attribute) {
    case HSA_EXECUTABLE_SYMBOL_INFO_TYPE:
      return give(value, is_kernel ? HSA_SYMBOL_KIND_KERNEL : HSA_SYMBOL_KIND_VARIABLE);
    case HSA_EXECUTABLE_SYMBOL_INFO_NAME_LENGTH:
      return give<uint32_t>(value, static_cast<uint32_t>(symbol->name.size()));
    case HSA_EXECUTABLE_SYMBOL_INFO_NAME:  // without a zero at the end
      std::memcpy(value, symbol->name.data(), symbol->name.size());
      return HSA_STATUS_SUCCESS;
    case HSA_EXECUTABLE_SYMBOL_INFO_MODULE_NAME_LENGTH:
      return give<uint32_t>(value, 0);
    case HSA_EXECUTABLE_SYMBOL_INFO_MODULE_NAME:
      return HSA_STATUS_SUCCESS;
    case HSA_EXECUTABLE_SYMBOL_INFO_LINKAGE:
      return give(value, symbol->symbol == nullptr || symbol->symbol->is_global ? HSA_SYMBOL_LINKAGE_PROGRAM
                                                                                : HSA_SYMBOL_LINKAGE_MODULE);
    case HSA_EXECUTABLE_SYMBOL_INFO_IS_DEFINITION:
      return give(value, true);
    case HSA_EXECUTABLE_SYMBOL_INFO_AGENT:
      return give(value, symbol->agent != nullptr ? symbol->agent->handle() : hsa_agent_t{0});
    default:
      return is_kernel ? give_kernel_info(*symbol, attribute, value) : give_variable_info(*symbol, attribute, value);
  }
}

hsa_status_t hsa_executable_iterate_symbols(hsa_executable_t executable,
                                            hsa_status_t (*callback)(hsa_executable_t exec,
                                                                     hsa_executable_symbol_t symbol, void* data),
                                            void* data) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (callback == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  return iterate_symbols(
      executable, [](const ExecutableSymbol&) { return true; },
      [=](hsa_executable_symbol_t symbol) { return callback(executable, symbol, data); });
}

hsa_status_t hsa_executable_iterate_agent_symbols(hsa_executable_t executable, hsa_agent_t agent,
                                                  hsa_status_t (*callback)(hsa_executable_t exec, hsa_agent_t agent,
                                                                           hsa_executable_symbol_t symbol, void* data),
                                                  void* data) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  const Agent* found = Runtime::get()->find_agent(agent);
  if (found == nullptr) return HSA_STATUS_ERROR_INVALID_AGENT;
  if (callback == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  return iterate_symbols(
      executable, [=](const ExecutableSymbol& symbol) { return symbol.agent == found && symbol.agent_allocation; },
      [=](hsa_executable_symbol_t symbol) { return callback(executable, agent, symbol, data); });
}

hsa_status_t hsa_executable_iterate_program_symbols(
    hsa_executable_t executable,
    hsa_status_t (*callback)(hsa_executable_t exec, hsa_executable_symbol_t symbol, void* data), void* data) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (callback == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  return iterate_symbols(
      executable, [](const ExecutableSymbol& symbol) { return !symbol.agent_allocation; },
      [=](hsa_executable_symbol_t symbol) { return callback(executable, symbol, data); });
}
