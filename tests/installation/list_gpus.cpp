// A program that lists GPUs by the HSA runtime only.
#include <hsa/hsa.h>

#include <cstdio>
#include <string>
#include <vector>

namespace {

hsa_status_t add_gpu(hsa_agent_t agent, void* list) {
  hsa_device_type_t type;
  char name[64] = {};
  hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type);
  hsa_agent_get_info(agent, HSA_AGENT_INFO_NAME, name);
  if (type == HSA_DEVICE_TYPE_GPU) static_cast<std::vector<std::string>*>(list)->emplace_back(name);
  return HSA_STATUS_SUCCESS;
}

}  // namespace

int main() {
  std::vector<std::string> gpus;
  if (hsa_init() != HSA_STATUS_SUCCESS || hsa_iterate_agents(add_gpu, &gpus) != HSA_STATUS_SUCCESS) return 1;
  std::printf("%zu GPU%s:", gpus.size(), gpus.size() == 1 ? "" : "s");
  for (const std::string& gpu : gpus) std::printf(" %s", gpu.c_str());
  std::printf("\n");
  return hsa_shut_down() == HSA_STATUS_SUCCESS ? 0 : 1;
}
