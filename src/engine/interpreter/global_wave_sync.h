// engine: global wave sync (GWS): barriers and semaphores shared by waves of all work-groups. Grid barriers of
// cooperative launches use it. Source: Vega ISA guide, "DS_GWS_INIT" to "DS_GWS_BARRIER"; LLVM's lowering of them for
// the resource's number.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>

#include "engine/interpreter/prepare.h"

namespace Atoll::engine {

class GlobalWaveSync {
 public:
  static constexpr unsigned resource_count = 64;

  /// ds_gws_init: sets the barrier's number of arriving waves - 1, or the semaphore's count.
  void initialize(unsigned resource, uint32_t value);
  /// ds_gws_sema_v and ds_gws_sema_br: adds `count` to the semaphore.
  void signal(unsigned resource, uint32_t count);
  /// ds_gws_sema_release_all: releases all currently waiting waves.
  void release_all(unsigned resource);

  // The following functions return whether the wave may continue; otherwise it has to retry. `waiting` is kept per wave
  // and initially 0. ds_gws_barrier; `value` is the count for the barrier's next use.
  bool barrier(unsigned resource, uint32_t value, uint8_t& waiting);
  /// ds_gws_sema_p
  bool wait(unsigned resource, uint8_t& waiting);

 private:
  struct Resource {
    int64_t count = 0;
    bool phase = false;  ///< toggles when all waiting waves are released
  };
  bool released(const Resource& resource, uint8_t& waiting);

  std::mutex mutex_;
  std::array<Resource, resource_count> resources_{};
};

Handler prepare_global_wave_sync(Preparation& p);

}  // namespace Atoll::engine
