// engine: global wave sync: the GPU's counters by which waves of all work-groups wait for one another. A cooperative
// launch's grid barrier is made of it.
// Source: Vega ISA guide, "DS_GWS_INIT" to "DS_GWS_BARRIER"; LLVM's lowering of them for the resource's number.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>

#include "engine/interpreter/prepare.h"

namespace Atoll::engine {

class GlobalWaveSync {
 public:
  static constexpr unsigned resource_count = 64;

  /// ds_gws_init: `value` more waves are to arrive at the barrier before the last; or the semaphore's count.
  void initialize(unsigned resource, uint32_t value);
  /// ds_gws_sema_v and ds_gws_sema_br: lets `count` waves pass.
  void signal(unsigned resource, uint32_t count);
  /// ds_gws_sema_release_all: lets all that wait now pass.
  void release_all(unsigned resource);

  // Both say whether the wave may go on; if not, it asks again later. `waiting` is the wave's own and 0 before it asks
  // first.
  /// ds_gws_barrier; `value` is the count for the barrier's next use.
  bool barrier(unsigned resource, uint32_t value, uint8_t& waiting);
  /// ds_gws_sema_p
  bool wait(unsigned resource, uint8_t& waiting);

 private:
  struct Resource {
    int64_t count = 0;
    bool phase = false;  ///< changes when all that wait are let go
  };
  bool released(const Resource& resource, uint8_t& waiting);

  std::mutex mutex_;
  std::array<Resource, resource_count> resources_{};
};

Handler prepare_global_wave_sync(Preparation& p);

}  // namespace Atoll::engine
