// tools: descriptions of core files (core_description.h).
#include "tools/core_description.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <string>

#include <fmt/format.h>

#include "debug_info/code_address.h"
#include "library/kernel_names.h"
#include "machine/queue/aql.h"
#include "object/code_object.h"
#include "object/gpu_core.h"
#include "support/bytes.h"

namespace Atoll::tools {

namespace {

using Json = nlohmann::ordered_json;
using library::demangled;
using support::ErrorKind;
using support::fail;
using support::Result;
namespace aql = machine::aql;

/// Names come from the file, and JSON is UTF-8.
std::string text(std::string_view name) {
  std::string result(name);
  for (char& c : result)
    if (static_cast<unsigned char>(c) >= 0x80 || static_cast<unsigned char>(c) < 0x20) c = '?';
  return result;
}

std::string string_of(const Json& json, const char* key) { return json.value(key, std::string()); }
uint64_t number_of(const Json& json, const char* key) { return json.value(key, uint64_t{0}); }

class Description {
 public:
  explicit Description(const object::GpuCore& core) : core_(core) {
    for (const object::CoreCode& code : core.codes) {
      auto object = object::read_code_object(code.file);
      objects_.push_back(object ? std::optional(std::move(*object)) : std::nullopt);
    }
  }

  Result<Json> all(uint64_t bytes, std::optional<uint32_t> wanted) {
    Json out;
    out["type"] = "AMDGPU core file";
    out["bytes"] = bytes;
    out["driver_interface"] = fmt::format("{}.{}", core_.state.version_major, core_.state.version_minor);
    out["agents"] = Json::array();
    for (const object::KfdAgent& agent : core_.state.agents) out["agents"].push_back(describe(agent));
    out["queues"] = Json::array();
    out["waves"] = Json::array();
    uint32_t number = 0;
    for (const object::CoreQueue& queue : core_.queues) {
      out["queues"].push_back(describe(queue));
      for (const object::SavedWave& wave : queue.waves) {
        if (!wanted || number == *wanted) out["waves"].push_back(describe(wave, queue, number, wanted.has_value()));
        ++number;
      }
    }
    if (wanted && out["waves"].empty())
      return fail(ErrorKind::not_found, "there is no wave {}: {}", *wanted,
                  number == 0 ? "the file has none" : fmt::format("they are numbered from 0 to {}", number - 1));
    out["code_objects"] = Json::array();
    for (size_t i = 0; i < core_.codes.size(); ++i) out["code_objects"].push_back(describe_code(i));
    out["segments"] = Json::array();
    for (const object::CoreSegment& segment : core_.segments)
      out["segments"].push_back(
          {{"address", segment.address},
           {"memory_bytes", segment.memory_bytes},
           {"file_bytes", segment.bytes.size()},
           {"offset", segment.offset},
           {"flags", fmt::format("R{}{}", segment.writable ? "W" : "", segment.executable ? "E" : "")}});
    if (!core_.code_error.empty()) out["errors"].push_back(core_.code_error);
    return out;
  }

 private:
  static Json describe(const object::KfdAgent& agent) {
    Json out{{"gpu_id", agent.gpu_id}};
    const target::Processor* processor = object::processor_of_version(agent.gfx_target_version);
    out["processor"] =
        processor != nullptr ? std::string(processor->name) : fmt::format("unknown ({})", agent.gfx_target_version);
    out["vendor_id"] = agent.vendor_id;
    out["device_id"] = agent.device_id;
    out["simds"] = agent.simd_count;
    out["waves_per_simd"] = agent.max_waves_per_simd;
    out["lds_aperture"] = agent.lds_base;
    out["scratch_aperture"] = agent.scratch_base;
    out["exceptions"] = object::kfd_exception_names(agent.exception_status);
    return out;
  }

  template <typename T>
  std::optional<T> value_at(uint64_t address) const {
    const auto bytes = core_.memory(address, sizeof(T));
    return bytes ? support::read<T>(*bytes, 0) : std::nullopt;
  }

  Json describe(const object::CoreQueue& queue) const {
    const object::KfdQueue& raw = queue.queue;
    Json out{{"id", raw.queue_id}, {"gpu_id", raw.gpu_id}};
    constexpr const char* types[] = {"compute", "SDMA", "AQL", "SDMA between GPUs"};
    out["type"] =
        raw.queue_type < std::size(types) ? std::string(types[raw.queue_type]) : fmt::format("{}", raw.queue_type);
    out["ring"] = raw.ring_base_address;
    out["packets"] = raw.ring_size / sizeof(aql::KernelDispatchPacket);
    if (const auto index = value_at<uint64_t>(raw.read_pointer_address)) out["read_index"] = *index;
    if (const auto index = value_at<uint64_t>(raw.write_pointer_address)) out["write_index"] = *index;
    out["exceptions"] = object::kfd_exception_names(raw.exception_status);
    out["waves"] = queue.waves.size();
    if (!queue.error.empty()) out["error"] = queue.error;
    return out;
  }

  Json describe_code(size_t index) const {
    const object::CoreCode& code = core_.codes[index];
    Json out{{"address", code.address}, {"uri", text(code.uri)}, {"bytes", code.file.size()}};
    if (objects_[index]) out["target"] = objects_[index]->target.to_string();
    return out;
  }

  /// The code object around an address.
  std::optional<size_t> code_at(uint64_t address) const {
    for (size_t i = 0; i < objects_.size(); ++i)
      if (objects_[i] && address - core_.codes[i].address < objects_[i]->memory_size) return i;
    return std::nullopt;
  }

  /// The kernel that a wave is of: its packet is in the queue's ring.
  std::string kernel_of(const object::CoreQueue& queue, const object::SavedState& state) const {
    const auto packet = value_at<aql::KernelDispatchPacket>(queue.queue.ring_base_address +
                                                            uint64_t{state.packet} * sizeof(aql::KernelDispatchPacket));
    if (!packet || aql::packet_type(packet->header) != aql::PacketType::kernel_dispatch) return {};
    const auto code = code_at(packet->kernel_object);
    if (!code) return {};
    const object::CodeObject& object = *objects_[*code];
    const uint64_t value = packet->kernel_object - core_.codes[*code].address;
    for (const object::Symbol& symbol : object.symbols) {
      if (!symbol.defined || symbol.value != value || symbol.name.empty()) continue;
      const object::KernelMetadata* metadata = object.find_kernel(symbol.name);
      std::string_view name = metadata != nullptr ? metadata->name : symbol.name;
      if (metadata == nullptr && name.ends_with(".kd")) name.remove_suffix(3);
      return demangled(text(name));
    }
    return {};
  }

  void describe_place(Json& out, uint64_t pc, const target::Processor& processor, unsigned lanes) const {
    if (const auto code = code_at(pc)) {
      const debug_info::Symbolizer symbolizer(core_.codes[*code].file, objects_[*code]->functions,
                                              core_.codes[*code].address);
      if (const std::string_view symbol = symbolizer.symbol_at(pc); !symbol.empty())
        out["function"] = demangled(text(symbol));
      if (const std::string line = symbolizer.source_at(pc); !line.empty()) out["source"] = text(line);
    }
    for (uint64_t bytes = debug_info::max_instruction_bytes; bytes != 0; bytes -= 4) {
      const auto words = core_.memory(pc, bytes);
      if (!words) continue;
      if (std::string instruction = debug_info::instruction_text(*words, processor, lanes); !instruction.empty())
        out["instruction"] = std::move(instruction);
      return;
    }
  }

  Json describe(const object::SavedWave& wave, const object::CoreQueue& queue, uint32_t number,
                bool with_registers) const {
    // A queue has waves only if its agent's processor is known.
    const target::Processor& processor = *object::processor_of_version(core_.agent_of(queue.queue)->gfx_target_version);
    const object::SavedState state = object::state_of(wave, processor);
    Json out{{"number", number}, {"queue", queue.queue.queue_id}, {"work_group", state.work_group}};
    out["wave"] = state.wave;
    out["lanes"] = wave.lanes;
    out["pc"] = state.pc;
    out["state"] = state.is_stopped ? "stopped" : "running";
    if (state.is_stopped) {
      std::string reason = state.trap != 0 ? fmt::format("s_trap {}", state.trap) : "exception";
      if (object::exception_of(wave, processor) == object::WaveException::memory_violation) reason = "memory violation";
      if (object::exception_of(wave, processor) == object::WaveException::illegal_instruction)
        reason = "illegal instruction";
      out["reason"] = reason;
    }
    if (const std::string kernel = kernel_of(queue, state); !kernel.empty()) out["kernel"] = kernel;
    describe_place(out, state.pc, processor, wave.lanes);
    out["exec"] = state.exec;
    out["vcc"] = state.vcc;
    out["scc"] = state.scc;
    out["m0"] = wave.hardware[object::saved::m0];
    out["mode"] = state.mode;
    out["status"] = wave.hardware[object::saved::status];
    out["trap_status"] = wave.hardware[object::saved::trap_status];
    out["flat_scratch"] = state.flat_scratch;
    out["vgprs"] = wave.vgprs.size() / wave.lanes;
    out["agprs"] = wave.agprs.size() / wave.lanes;
    out["sgprs"] = wave.sgprs;
    out["ttmps"] = wave.ttmps;
    if (wave.is_first) out["lds_bytes"] = wave.lds.size();
    if (with_registers) {
      const auto rows = [&](const std::vector<uint32_t>& words) {
        Json list = Json::array();
        for (size_t i = 0; i < words.size(); i += wave.lanes)
          list.push_back(std::vector<uint32_t>(words.begin() + static_cast<ptrdiff_t>(i),
                                               words.begin() + static_cast<ptrdiff_t>(i + wave.lanes)));
        return list;
      };
      out["vector_registers"] = {{"v", rows(wave.vgprs)}, {"a", rows(wave.agprs)}};
    }
    return out;
  }

  const object::GpuCore& core_;
  std::vector<std::optional<object::CodeObject>> objects_;  ///< of core_.codes, where they can be read
};

std::string joined(const Json& list) {
  std::string all;
  for (const Json& each : list) all += (all.empty() ? "" : ", ") + each.get<std::string>();
  return all;
}

/// Registers, so many to a line, each line with the number of its first.
void print_words(const std::string& name, const Json& words) {
  constexpr size_t per_line = 8;
  for (size_t i = 0; i < words.size(); i += per_line) {
    std::string line;
    for (size_t j = i; j < std::min(words.size(), i + per_line); ++j)
      line += fmt::format(" {:08x}", words[j].get<uint32_t>());
    fmt::print("      {:<10}{}\n", name.ends_with('[') ? fmt::format("{}{}]", name, i) : fmt::format("{}{}", name, i),
               line);
  }
}

void print_wave(const Json& wave, bool with_registers) {
  const std::string reason = string_of(wave, "reason");
  const Json& group = wave["work_group"];
  fmt::print("  {:>4}  {:>5}  {:<20}{:>4}{:>7}  {:#018x}  {}{}{}\n", number_of(wave, "number"),
             number_of(wave, "queue"),
             fmt::format("({}, {}, {})", group[0].get<uint32_t>(), group[1].get<uint32_t>(), group[2].get<uint32_t>()),
             number_of(wave, "wave"), number_of(wave, "lanes"), number_of(wave, "pc"), string_of(wave, "state"),
             reason.empty() ? "" : ": ", reason);
  std::string place = string_of(wave, "kernel");
  if (const std::string function = string_of(wave, "function"); function != place && !function.empty())
    place += fmt::format("{}in {}", place.empty() ? "" : ", ", function);
  if (const std::string source = string_of(wave, "source"); !source.empty())
    place += fmt::format("{}{}", place.empty() ? "" : ", ", source);
  if (!place.empty()) fmt::print("        {}\n", place);
  if (const std::string instruction = string_of(wave, "instruction"); !instruction.empty())
    fmt::print("        {}\n", instruction);
  if (!with_registers) return;
  for (const char* key : {"exec", "vcc", "flat_scratch"})
    fmt::print("      {:<13} {:#018x}\n", key, number_of(wave, key));
  for (const char* key : {"m0", "mode", "status", "trap_status"})
    fmt::print("      {:<13} {:#010x}\n", key, number_of(wave, key));
  fmt::print("      {:<13} {}\n", "scc", wave["scc"].get<bool>() ? 1 : 0);
  print_words("s", wave["sgprs"]);
  print_words("ttmp", wave["ttmps"]);
  for (const char* kind : {"v", "a"}) {
    const Json& registers = wave["vector_registers"][kind];
    for (size_t i = 0; i < registers.size(); ++i) print_words(fmt::format("{}{}[", kind, i), registers[i]);
  }
}

}  // namespace

Result<Json> describe_core(std::span<const uint8_t> file, std::optional<uint32_t> wave) {
  const auto core = object::read_gpu_core(file);
  if (!core) return std::unexpected(core.error());
  return Description(*core).all(file.size(), wave);
}

void print_core(const Json& core, std::optional<uint32_t> wave) {
  const auto title = [](const char* name, const Json& list) { fmt::print("\n{} ({})\n", name, list.size()); };
  if (!wave) {
    fmt::print("AMDGPU core file, {} bytes, driver interface {}\n", number_of(core, "bytes"),
               string_of(core, "driver_interface"));
    if (core.contains("errors"))
      for (const Json& error : core["errors"]) fmt::print("  wrong          {}\n", error.get<std::string>());
    title("Agents", core["agents"]);
    fmt::print("  GPU  PROCESSOR         DEVICE  SIMDS  EXCEPTIONS\n");
    for (const Json& agent : core["agents"])
      fmt::print("  {:>3}  {:<16}{:>#8x}{:>7}  {}\n", number_of(agent, "gpu_id"), string_of(agent, "processor"),
                 number_of(agent, "device_id"), number_of(agent, "simds"), joined(agent["exceptions"]));
    title("Queues", core["queues"]);
    fmt::print("  QUEUE  GPU  TYPE  PACKETS  {:<18}  WAVES  EXCEPTIONS\n", "RING");
    for (const Json& queue : core["queues"]) {
      fmt::print("  {:>5}  {:>3}  {:<4}  {:>7}  {:#018x}  {:>5}  {}\n", number_of(queue, "id"),
                 number_of(queue, "gpu_id"), string_of(queue, "type"), number_of(queue, "packets"),
                 number_of(queue, "ring"), number_of(queue, "waves"), joined(queue["exceptions"]));
      if (queue.contains("error")) fmt::print("         wrong: {}\n", string_of(queue, "error"));
    }
    title("Waves", core["waves"]);
  }
  if (!core["waves"].empty())
    fmt::print("  {:>4}  {:>5}  {:<20}{:>4}{:>7}  {:<18}  STATE\n", "WAVE", "QUEUE", "WORK-GROUP", "IN IT", "LANES",
               "PC");
  for (const Json& each : core["waves"]) print_wave(each, wave.has_value());
  if (wave) return;
  title("Code objects", core["code_objects"]);
  for (const Json& code : core["code_objects"])
    fmt::print("  {:#018x}  {}  {}\n", number_of(code, "address"), code.value("target", std::string("not in the file")),
               string_of(code, "uri"));
  title("Memory", core["segments"]);
  fmt::print("  {:<18}{:>16}{:>16}  FLAGS\n", "ADDRESS", "BYTES", "IN THE FILE");
  for (const Json& segment : core["segments"])
    fmt::print("  {:#018x}{:>16}{:>16}  {}\n", number_of(segment, "address"), number_of(segment, "memory_bytes"),
               number_of(segment, "file_bytes"), string_of(segment, "flags"));
}

}  // namespace Atoll::tools
