// Common parts of the wrong programs on the HSA runtime itself; see case.h.
#pragma once

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

void run(bool mended);

inline void must(hsa_status_t status, const char* what) {
  if (status == HSA_STATUS_SUCCESS) return;
  std::fprintf(stderr, "%s: %#x\n", what, static_cast<unsigned>(status));
  std::exit(3);
}
#define HSA(call) must(call, #call)

inline hsa_agent_t gpu() {
  hsa_agent_t found{};
  const auto take = [](hsa_agent_t agent, void* data) {
    hsa_device_type_t type = HSA_DEVICE_TYPE_CPU;
    hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type);
    if (type == HSA_DEVICE_TYPE_GPU) *static_cast<hsa_agent_t*>(data) = agent;
    return HSA_STATUS_SUCCESS;
  };
  HSA(hsa_iterate_agents(take, &found));
  return found;
}

/// The GPU's first pool is its memory.
inline hsa_amd_memory_pool_t pool() {
  hsa_amd_memory_pool_t found{};
  const auto take = [](hsa_amd_memory_pool_t each, void* data) {
    *static_cast<hsa_amd_memory_pool_t*>(data) = each;
    return HSA_STATUS_INFO_BREAK;
  };
  hsa_amd_agent_iterate_memory_pools(gpu(), take, &found);
  return found;
}

int main(int argc, char** argv) {
  HSA(hsa_init());
  run(argc > 1 && std::strcmp(argv[1], "mended") == 0);
  HSA(hsa_shut_down());
  return 0;
}
