// library: the public class Code.
#include <cstdio>

#include "atoll/atoll.h"
#include "library/element_type.h"
#include "library/failure.h"
#include "library/state.h"

namespace Atoll {

Code::State::~State() {
  if (!initialized) return;
  if (const auto done = library::run_all(*this, library::fini_kind); !done)
    fmt::print(stderr, "atoll: {}\n", done.error().message);
}

const std::vector<Parameter>& Code::State::parameters(const object::KernelMetadata& kernel) const {
  const std::lock_guard lock(mutex_);
  const auto [entry, is_new] = parameters_.try_emplace(&kernel);  // references stay valid while others are added
  if (is_new) entry->second = library::parameters_of(kernel);
  return entry->second;
}

std::vector<std::string> Code::kernels() const {
  std::vector<std::string> names;
  for (const auto& object : state_->objects)
    for (const object::KernelMetadata& kernel : object.code->code_object().metadata.kernels)
      names.push_back(kernel.name);
  for (std::string& shader : library::entries_of(*state_)) names.push_back(std::move(shader));
  return names;
}

Expected<KernelInfo> Code::describe(std::string_view kernel) const {
  const object::KernelMetadata* metadata = library::find_kernel(*state_, kernel).metadata;
  if (metadata == nullptr) {
    const auto found = library::find_entry(*state_, kernel);
    if (found.entry == nullptr) return library::refuse(FailureKind::not_found, "there is no kernel {}", kernel);
    return library::describe(*found.entry);
  }
  return KernelInfo{.name = metadata->name,
                    .parameters = state_->parameters(*metadata),
                    .lds_bytes = metadata->group_segment_fixed_size,
                    .scratch_bytes = metadata->private_segment_fixed_size,
                    .vgprs = metadata->vgpr_count,
                    .agprs = metadata->agpr_count,
                    .sgprs = metadata->sgpr_count,
                    .max_block_size = metadata->max_flat_workgroup_size,
                    .required_block = metadata->required_workgroup_size.value_or(std::array<uint32_t, 3>{}),
                    .max_blocks = metadata->max_workgroups,
                    .whole_blocks = metadata->uniform_work_group_size,
                    .on_load = metadata->kind == library::init_kind,
                    .on_unload = metadata->kind == library::fini_kind};
}

namespace {

/// What of a parameter is not as a signature has it; empty if nothing is.
std::string difference(const Parameter& parameter, const ParameterType& type) {
  using Kind = Parameter::Kind;
  if (parameter.kind == Kind::unsupported) return "is of a kind that cannot be passed";
  if ((parameter.kind == Kind::local_memory) != (type.kind == Kind::local_memory))
    return parameter.kind == Kind::local_memory ? "is a pointer to local memory" : "is not a pointer to local memory";
  if (type.kind == Kind::local_memory) return {};
  if (parameter.size != type.size) return fmt::format("has {} bytes, in the signature {}", parameter.size, type.size);
  if (parameter.kind == Kind::pointer && type.kind != Kind::pointer) return "is a pointer, in the signature a value";
  // A pointer of the signature may be an integer, or part of a structure, to the kernel. Numbers are compared where the
  // metadata or the kernel's name has their types.
  const library::ElementType* const element = library::find_element_type(parameter.element);
  const bool both_point = parameter.kind == Kind::pointer && type.number.is_pointer;
  const bool both_are_values = parameter.kind == Kind::value && !type.number.is_pointer;
  if (element == nullptr || type.number.size == 0 || (!both_point && !both_are_values)) return {};
  const bool floating = element->kind == library::ElementType::Kind::floating;
  const char* const points = both_point ? "points to " : "is ";
  if (floating != type.number.is_floating)
    return fmt::format("{}{}, in the signature {}", points, floating ? "a floating-point number" : "an integer",
                       floating ? "an integer" : "a floating-point number");
  if (element->size != type.number.size)
    return fmt::format("{}numbers of {} bytes, in the signature {}", points, element->size, type.number.size);
  return {};
}

}  // namespace

Expected<void> Code::check_signature(std::string_view kernel, std::span<const ParameterType> types) const {
  const auto info = describe(kernel);
  if (!info) return std::unexpected(info.error());
  if (info->parameters.size() != types.size())
    return library::refuse(FailureKind::invalid_argument, "kernel {} takes {} arguments, the signature has {}", kernel,
                           info->parameters.size(), types.size());
  for (size_t i = 0; i < types.size(); i++) {
    const Parameter& parameter = info->parameters[i];
    const std::string what = difference(parameter, types[i]);
    if (what.empty()) continue;
    const std::string name = parameter.name.empty() ? std::string()
                                                    : fmt::format(" ({}{}{})", parameter.type,
                                                                  parameter.type.empty() ? "" : " ", parameter.name);
    return library::refuse(FailureKind::invalid_argument, "argument {}{} of kernel {} {}", i + 1, name, kernel, what);
  }
  return {};
}

std::span<std::byte> Code::variable(std::string_view name) const {
  for (const auto& object : state_->objects) {
    const machine::LoadedSymbol* symbol = object.code->find(name);
    if (symbol != nullptr && symbol->kind == machine::LoadedSymbol::Kind::variable)
      return {reinterpret_cast<std::byte*>(symbol->address), symbol->size};
  }
  return {};
}

}  // namespace Atoll
