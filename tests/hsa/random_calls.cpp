// Calls of the HSA API with random arguments. See random_calls.h.
#include "hsa/random_calls.h"

#include <functional>
#include <iterator>
#include <map>
#include <random>
#include <vector>

#include <fmt/format.h>

#include "hsa/interface/rocm_7_2.h"
#include "hsa/program.h"

namespace Atoll::test {

namespace {

/// What arguments are made of.
class Values {
 public:
  explicit Values(uint64_t seed) : random_(seed) {}

  uint64_t below(uint64_t limit) { return random_() % limit; }
  bool one_in(uint64_t n) { return below(n) == 0; }

  uint64_t size() {
    static constexpr uint64_t ends[] = {0,        1,           3,       4,        64,      4095,         4096,
                                        4097,     1 << 16,     1 << 21, SIZE_MAX, 1 << 30, SIZE_MAX - 1, INT64_MAX,
                                        1u << 31, SIZE_MAX / 4};
    return one_in(3) ? below(1 << 14) : ends[below(std::size(ends))];
  }
  uint32_t word() { return one_in(2) ? static_cast<uint32_t>(below(40)) : static_cast<uint32_t>(random_()); }

  /// Returns the handle of an object of one kind, live or destroyed, or a handle that never existed.
  uint64_t handle(const std::vector<uint64_t>& things) {
    static constexpr uint64_t never[] = {0, 1, 64, 0x1000, 0x7fff'0000'0000, UINT64_MAX, uint64_t{1} << 47};
    if (!things.empty() && !one_in(4)) return things[below(things.size())];
    return never[below(std::size(never))];
  }
  template <typename Handle>
  Handle as(const std::vector<uint64_t>& things) {
    return {handle(things)};
  }
  /// Where a function puts an answer: large enough for any.
  template <typename T>
  T* answer() {
    return one_in(8) ? nullptr : reinterpret_cast<T*>(answers_);
  }
  void* memory() {
    static constexpr uint64_t wild[] = {0, 8, 0x1000, 0x123456, 0x7fff'ffff'f000, UINT64_MAX - 4095};
    if (one_in(3)) return reinterpret_cast<void*>(wild[below(std::size(wild))]);
    const uint64_t offset = one_in(2) ? 0 : below(5000);
    if (allocations.empty()) return answers_;
    return reinterpret_cast<char*>(allocations[below(allocations.size())]) + offset;
  }

  std::vector<uint64_t> agents, pools, signals, groups, executables;
  std::vector<uint64_t> allocations;  ///< some of them freed
  std::vector<hsa_queue_t*> queues;   ///< some of them destroyed

 private:
  std::mt19937_64 random_;
  alignas(64) char answers_[1 << 16] = {};
};

/// Keeps what a call made, for later calls.
template <typename Things, typename Thing>
void keep(Things& things, Thing thing, size_t most = 64) {
  if (things.size() < most) {
    things.push_back(thing);
  } else {
    things[static_cast<size_t>(thing) / 64 % most] = thing;
  }
}

using Call = std::function<hsa_status_t(Values&)>;

std::vector<Call> memory_calls() {
  return {
      [](Values& v) {
        void* memory = nullptr;
        const auto pool = v.as<hsa_amd_memory_pool_t>(v.pools);
        const uint64_t size = v.size();
        const auto status = hsa_amd_memory_pool_allocate(pool, size, v.one_in(4) ? v.word() : 0, &memory);
        if (status == HSA_STATUS_SUCCESS) {
          // Large allocations are freed at once, so that memory remains for others.
          if (size > 1 << 22 || v.one_in(4)) must("hsa_amd_memory_pool_free", hsa_amd_memory_pool_free(memory));
          keep(v.allocations, reinterpret_cast<uint64_t>(memory));
        }
        return status;
      },
      [](Values& v) { return hsa_amd_memory_pool_free(v.memory()); },
      [](Values& v) { return hsa_memory_free(v.memory()); },
      [](Values& v) {
        auto* info = v.answer<hsa_amd_pointer_info_t>();
        if (info != nullptr) info->size = v.word() % 200;
        return hsa_amd_pointer_info(v.memory(), info, nullptr, nullptr, nullptr);
      },
      [](Values& v) { return hsa_amd_pointer_info_set_userdata(v.memory(), nullptr); },
      [](Values& v) { return hsa_amd_memory_fill(v.memory(), 0, v.size()); },
      [](Values& v) { return hsa_amd_memory_unlock(v.memory()); },
      [](Values& v) {
        hsa_agent_t agents[3] = {v.as<hsa_agent_t>(v.agents), v.as<hsa_agent_t>(v.agents), v.as<hsa_agent_t>(v.agents)};
        return hsa_amd_agents_allow_access(static_cast<uint32_t>(v.below(4)), v.one_in(8) ? nullptr : agents, nullptr,
                                           v.memory());
      },
      [](Values& v) {
        return hsa_amd_memory_pool_get_info(v.as<hsa_amd_memory_pool_t>(v.pools),
                                            static_cast<hsa_amd_memory_pool_info_t>(v.word()), v.answer<void>());
      },
      [](Values& v) {
        return hsa_region_get_info(v.as<hsa_region_t>(v.pools), static_cast<hsa_region_info_t>(v.word()),
                                   v.answer<void>());
      },
      [](Values& v) {
        hsa_amd_svm_attribute_pair_t pairs[4];
        for (auto& pair : pairs) pair = {v.word(), v.one_in(2) ? v.handle(v.agents) : v.word()};
        return hsa_amd_svm_attributes_set(v.memory(), v.size(), v.one_in(8) ? nullptr : pairs, v.below(5));
      },
      [](Values& v) {
        hsa_amd_svm_attribute_pair_t pairs[4];
        for (auto& pair : pairs) pair = {v.word(), v.one_in(2) ? v.handle(v.agents) : v.word()};
        return hsa_amd_svm_attributes_get(v.memory(), v.size(), v.one_in(8) ? nullptr : pairs, v.below(5));
      },
      [](Values& v) {
        // To the program's own memory, or to what is none: what was freed may be the C library's by now.
        void* to = v.one_in(4) ? reinterpret_cast<void*>(0x1000) : v.answer<void>();
        return hsa_amd_memory_async_copy(to, v.as<hsa_agent_t>(v.agents), v.memory(), v.as<hsa_agent_t>(v.agents),
                                         v.below(5000), 0, nullptr, v.as<hsa_signal_t>(v.signals));
      },
      [](Values& v) { return hsa_amd_vmem_address_free(v.memory(), v.size()); },
      [](Values& v) { return hsa_amd_vmem_handle_release({v.word()}); },
      [](Values& v) { return hsa_amd_vmem_unmap(v.memory(), v.size()); },
      [](Values& v) { return hsa_amd_ipc_memory_detach(v.memory()); },
  };
}

std::vector<Call> signal_calls() {
  return {
      [](Values& v) {
        hsa_signal_t signal{};
        hsa_agent_t agents[2] = {v.as<hsa_agent_t>(v.agents), v.as<hsa_agent_t>(v.agents)};
        const auto status =
            hsa_amd_signal_create(v.word(), static_cast<uint32_t>(v.below(3)), v.one_in(4) ? nullptr : agents,
                                  v.below(2), v.one_in(8) ? nullptr : &signal);
        if (status == HSA_STATUS_SUCCESS) keep(v.signals, signal.handle);
        return status;
      },
      [](Values& v) { return v.one_in(3) ? hsa_signal_destroy(v.as<hsa_signal_t>(v.signals)) : HSA_STATUS_SUCCESS; },
      [](Values& v) {
        return hsa_amd_signal_value_pointer(v.as<hsa_signal_t>(v.signals), v.answer<volatile hsa_signal_value_t*>());
      },
      [](Values& v) {
        const auto done = [](hsa_signal_value_t, void*) { return false; };
        return hsa_amd_signal_async_handler(v.as<hsa_signal_t>(v.signals),
                                            static_cast<hsa_signal_condition_t>(v.below(6)), v.word(),
                                            v.one_in(8) ? nullptr : static_cast<hsa_amd_signal_handler>(done), nullptr);
      },
      [](Values& v) {
        hsa_signal_t signals[12];
        hsa_signal_condition_t conditions[12];
        hsa_signal_value_t values[12];
        for (size_t i = 0; i < std::size(signals); ++i) {
          signals[i] = v.as<hsa_signal_t>(v.signals);
          conditions[i] = static_cast<hsa_signal_condition_t>(v.below(4));
          values[i] = v.word();
        }
        const auto count = static_cast<uint32_t>(v.below(13));
        const auto wait = v.one_in(2) ? hsa_amd_signal_wait_any : hsa_amd_signal_wait_all;
        const uint32_t found =
            wait(count, v.one_in(8) ? nullptr : signals, v.one_in(8) ? nullptr : conditions,
                 v.one_in(8) ? nullptr : values, 0, HSA_WAIT_STATE_BLOCKED, v.answer<hsa_signal_value_t>());
        return found < std::max(1u, count) || found == UINT32_MAX ? HSA_STATUS_SUCCESS : static_cast<hsa_status_t>(-1);
      },
      [](Values& v) {
        hsa_signal_t signals[3];
        for (auto& signal : signals) signal = v.as<hsa_signal_t>(v.signals);
        hsa_signal_group_t group{};
        const auto status = hsa_signal_group_create(static_cast<uint32_t>(v.below(4)), v.one_in(8) ? nullptr : signals,
                                                    0, nullptr, v.one_in(8) ? nullptr : &group);
        if (status == HSA_STATUS_SUCCESS) keep(v.groups, group.handle);
        return status;
      },
      [](Values& v) { return hsa_signal_group_destroy(v.as<hsa_signal_group_t>(v.groups)); },
  };
}

std::vector<Call> other_calls() {
  return {
      [](Values& v) {
        return hsa_agent_get_info(v.as<hsa_agent_t>(v.agents), static_cast<hsa_agent_info_t>(v.word()),
                                  v.answer<void>());
      },
      [](Values& v) {
        return hsa_agent_get_info(v.as<hsa_agent_t>(v.agents), static_cast<hsa_agent_info_t>(0xA000 + v.below(0x130)),
                                  v.answer<void>());
      },
      [](Values& v) { return hsa_system_get_info(static_cast<hsa_system_info_t>(v.word()), v.answer<void>()); },
      [](Values& v) {
        const char* text = nullptr;
        const auto status = hsa_status_string(static_cast<hsa_status_t>(v.word()), v.one_in(8) ? nullptr : &text);
        return status;
      },
      [](Values& v) {
        hsa_queue_t* queue = nullptr;
        const auto status = hsa_queue_create(v.as<hsa_agent_t>(v.agents), v.one_in(2) ? 64 : v.word(), v.word() % 4,
                                             nullptr, nullptr, v.word(), v.word(), v.one_in(8) ? nullptr : &queue);
        if (status == HSA_STATUS_SUCCESS) {
          if (v.queues.size() > 8) hsa_queue_destroy(queue);
          v.queues.push_back(queue);
        }
        return status;
      },
      [](Values& v) {
        return v.queues.empty() ? hsa_queue_destroy(nullptr) : hsa_queue_destroy(v.queues[v.below(v.queues.size())]);
      },
      [](Values& v) {
        hsa_queue_t* queue = v.queues.empty() || v.one_in(4) ? nullptr : v.queues[v.below(v.queues.size())];
        return hsa_amd_queue_set_priority(queue, static_cast<hsa_amd_queue_priority_t>(v.word()));
      },
      [](Values& v) {
        hsa_queue_t* queue = v.queues.empty() || v.one_in(4) ? nullptr : v.queues[v.below(v.queues.size())];
        return hsa_amd_queue_get_info(queue, static_cast<hsa_queue_info_attribute_t>(v.word()), v.answer<void>());
      },
      [](Values& v) {
        hsa_executable_t executable{};
        const auto status = hsa_executable_create_alt(static_cast<hsa_profile_t>(v.below(3)),
                                                      static_cast<hsa_default_float_rounding_mode_t>(v.below(4)),
                                                      nullptr, v.one_in(8) ? nullptr : &executable);
        if (status == HSA_STATUS_SUCCESS) {
          if (v.executables.size() >= 64) hsa_executable_destroy(executable);
          keep(v.executables, executable.handle);
        }
        return status;
      },
      [](Values& v) { return hsa_executable_destroy(v.as<hsa_executable_t>(v.executables)); },
      [](Values& v) { return hsa_executable_freeze(v.as<hsa_executable_t>(v.executables), nullptr); },
      [](Values& v) { return hsa_executable_validate(v.as<hsa_executable_t>(v.executables), v.answer<uint32_t>()); },
      [](Values& v) {
        uint8_t bytes[64];
        for (auto& byte : bytes) byte = static_cast<uint8_t>(v.word());
        hsa_code_object_reader_t reader{};
        const auto status =
            hsa_code_object_reader_create_from_memory(v.one_in(8) ? nullptr : bytes, v.below(65), &reader);
        if (status != HSA_STATUS_SUCCESS) return status;
        const auto loaded = hsa_executable_load_agent_code_object(
            v.as<hsa_executable_t>(v.executables), v.as<hsa_agent_t>(v.agents), reader, nullptr, nullptr);
        hsa_code_object_reader_destroy(reader);
        return loaded;
      },
  };
}

bool is_status(hsa_status_t status) {
  const char* text = nullptr;
  return status == HSA_STATUS_INFO_BREAK || hsa_status_string(status, &text) == HSA_STATUS_SUCCESS;
}

}  // namespace

int random_calls(uint64_t seed, uint64_t count) {
  Values values(seed);
  const Gpu gpu;
  values.agents = {gpu.agent.handle, gpu.host.handle};
  values.pools = {gpu.device.handle, gpu.system.handle, gpu.kernarg.handle};
  std::vector<Call> calls = memory_calls();
  for (auto& more : {signal_calls(), other_calls()}) calls.insert(calls.end(), more.begin(), more.end());
  uint64_t accepted = 0, unknown = 0;
  for (uint64_t i = 0; i < count; ++i) {
    const hsa_status_t status = calls[values.below(calls.size())](values);
    accepted += status == HSA_STATUS_SUCCESS ? 1 : 0;
    unknown += is_status(status) ? 0 : 1;
  }
  fmt::print(R"({{"calls": {}, "seed": {}, "functions": {}, "accepted": {}, "right": {}}})"
             "\n",
             count, seed, calls.size(), accepted, unknown == 0);
  return unknown == 0 ? 0 : 1;
}

}  // namespace Atoll::test
