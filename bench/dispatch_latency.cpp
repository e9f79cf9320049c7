// How long an empty kernel takes through a queue: write the packet, ring the doorbell, wait for the completion signal.
// Plain HSA, as a HIP runtime would do it; run under `atoll run`. Prints a Markdown table.
//
//     dispatch_latency KERNELS.co
#include <fcntl.h>
#include <hsa/hsa.h>
#include <unistd.h>

#include <cstdint>
#include <vector>

#include "measure.h"

using namespace Atoll::bench;

namespace {

void check(hsa_status_t status, std::string_view what) {
  if (status == HSA_STATUS_SUCCESS || status == HSA_STATUS_INFO_BREAK) return;
  die(fmt::format("{} failed with HSA status {:#x}", what, static_cast<unsigned>(status)));
}

hsa_status_t take_gpu(hsa_agent_t agent, void* found) {
  hsa_device_type_t type{};
  const hsa_status_t status = hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type);
  if (status != HSA_STATUS_SUCCESS || type != HSA_DEVICE_TYPE_GPU) return status;
  *static_cast<hsa_agent_t*>(found) = agent;
  return HSA_STATUS_INFO_BREAK;
}

/// The address of the kernel descriptor of `empty`.
uint64_t load_kernel(hsa_agent_t gpu, const char* path) {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  hsa_code_object_reader_t reader{};
  check(hsa_code_object_reader_create_from_file(file, &reader), "reading the code object");
  hsa_executable_t executable{};
  check(hsa_executable_create_alt(HSA_PROFILE_FULL, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, nullptr, &executable),
        "hsa_executable_create_alt");
  check(hsa_executable_load_agent_code_object(executable, gpu, reader, nullptr, nullptr), "loading the code object");
  check(hsa_executable_freeze(executable, nullptr), "hsa_executable_freeze");
  hsa_executable_symbol_t symbol{};
  check(hsa_executable_get_symbol_by_name(executable, "empty.kd", &gpu, &symbol), "finding the kernel");
  uint64_t object = 0;
  check(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, &object), "symbol info");
  close(file);
  return object;
}

void dispatch(hsa_queue_t* queue, uint64_t kernel, hsa_signal_t done) {
  const uint64_t index = hsa_queue_add_write_index_relaxed(queue, 1);
  while (index - hsa_queue_load_read_index_scacquire(queue) >= queue->size) {
  }
  auto* packet = static_cast<hsa_kernel_dispatch_packet_t*>(queue->base_address) + index % queue->size;
  packet->setup = 1 << HSA_KERNEL_DISPATCH_PACKET_SETUP_DIMENSIONS;
  packet->workgroup_size_x = 64;
  packet->workgroup_size_y = packet->workgroup_size_z = 1;
  packet->grid_size_x = 64;
  packet->grid_size_y = packet->grid_size_z = 1;
  packet->private_segment_size = packet->group_segment_size = 0;
  packet->kernel_object = kernel;
  packet->kernarg_address = nullptr;
  packet->completion_signal = done;
  const auto header =
      static_cast<uint16_t>(HSA_PACKET_TYPE_KERNEL_DISPATCH << HSA_PACKET_HEADER_TYPE | 1 << HSA_PACKET_HEADER_BARRIER |
                            HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |
                            HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE);
  __atomic_store_n(&packet->header, header, __ATOMIC_RELEASE);
  hsa_signal_store_screlease(queue->doorbell_signal, static_cast<hsa_signal_value_t>(index));
}

void wait(hsa_signal_t done) {
  while (hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX, HSA_WAIT_STATE_BLOCKED) >= 1) {
  }
}

}  // namespace

int main(int argc, char** argv) {
  check(hsa_init(), "hsa_init");
  if (argc == 2) {
    hsa_agent_t gpu{};
    check(hsa_iterate_agents(take_gpu, &gpu), "hsa_iterate_agents");
    const uint64_t kernel = load_kernel(gpu, argv[1]);
    hsa_queue_t* queue = nullptr;
    check(hsa_queue_create(gpu, 1024, HSA_QUEUE_TYPE_MULTI, nullptr, nullptr, UINT32_MAX, UINT32_MAX, &queue),
          "hsa_queue_create");
    hsa_signal_t done{};
    check(hsa_signal_create(0, 0, nullptr, &done), "hsa_signal_create");

    constexpr int rounds = 2000;
    const auto waited_for = [&] {
      hsa_signal_store_relaxed(done, 1);
      dispatch(queue, kernel, done);
      wait(done);
    };
    const auto in_a_row = [&] {
      hsa_signal_store_relaxed(done, rounds);
      for (int i = 0; i < rounds; ++i) dispatch(queue, kernel, done);
      wait(done);
    };
    const Contestant contestants[] = {{.run = waited_for, .rounds = rounds}, {.run = in_a_row, .rounds = 1}};
    const std::vector<double> seconds = median_seconds(contestants);
    fmt::print("| an empty dispatch | time |\n| --- | ---: |\n");
    fmt::print("| each waited for, median of {} | {:.1f} us |\n", rounds, seconds[0] * 1e6);
    fmt::print("| {} in a row, for each | {:.1f} us |\n\n", rounds, seconds[1] * 1e6 / rounds);
    print_goal("an empty dispatch, waited for", seconds[0] * 1e6, "at most", 5, " us");
    check(hsa_queue_destroy(queue), "hsa_queue_destroy");
    check(hsa_signal_destroy(done), "hsa_signal_destroy");
  }
  // Without an argument: a program that does nothing but start and stop the runtime.
  check(hsa_shut_down(), "hsa_shut_down");
  return 0;
}
