// Agents that may access memory, according to the runtime.
#pragma once

#include <gtest/gtest.h>
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include <cstdint>
#include <cstdlib>
#include <set>

namespace Atoll::test {

/// Their handles.
inline std::set<uint64_t> agents_with_access(const void* pointer) {
  hsa_amd_pointer_info_t info{};
  info.size = sizeof info;
  uint32_t count = 0;
  hsa_agent_t* agents = nullptr;
  EXPECT_EQ(hsa_amd_pointer_info(pointer, &info, std::malloc, &count, &agents), HSA_STATUS_SUCCESS);
  std::set<uint64_t> handles;
  for (uint32_t i = 0; i < count; ++i) handles.insert(agents[i].handle);
  std::free(agents);
  return handles;
}

}  // namespace Atoll::test
