// object: the context save area, in which a GPU keeps the waves of a queue that it has taken off: registers, and LDS of
// their work-groups. Core files have it (gpu_core.h); Atoll writes it when a kernel faults.
//
// The area begins with a header that says where two parts of it are. The control stack has a word for each wave,
// and before it a word or two for all that follow which have as many registers; it grows upwards. The waves' registers
// lie above it and grow downwards from the end of the area: the first wave's are the last. Each wave has, from its end
// down to its beginning: the LDS of its work-group if it is the first one, TTMPs, hardware registers, SGPRs, AGPRs,
// VGPRs.
// Source: struct kfd_context_save_area_header of the Linux driver (kfd_ioctl.h); the layout of a wave is what the
// driver's trap handlers write (drivers/gpu/drm/amd/amdkfd/cwsr_trap_handler_*.asm) and ROCdbgapi reads.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "support/error.h"
#include "target/processor.h"

namespace Atoll::object {

/// One wave, with its registers as they lie in memory: a vector register is a word for each lane.
struct SavedWave {
  unsigned lanes = 64;
  bool is_first = false, is_last = false;  ///< of those of its work-group
  std::vector<uint32_t> vgprs{}, agprs{};
  std::vector<uint32_t> sgprs{};  ///< s0 and on, VCC where it lies among them
  std::array<uint32_t, 16> hardware{}, ttmps{};
  std::vector<uint8_t> lds{};  ///< of the work-group, if it is the first wave
};

/// Where some registers are among SavedWave::hardware, each a word but those named otherwise.
namespace saved {
inline constexpr unsigned m0 = 0;
inline constexpr unsigned pc = 1;    ///< two
inline constexpr unsigned exec = 3;  ///< two
/// STATUS and TRAPSTS; on GFX12 STATE_PRIV and EXCP_FLAG_PRIV.
inline constexpr unsigned status = 5, trap_status = 6;
inline constexpr unsigned xnack_mask = 7;  ///< two on GFX9
}  // namespace saved

/// What differs between processors.
struct ContextLayout {
  uint8_t state_words;               ///< in the control stack, for all waves that have as many registers
  uint8_t vgpr_block, vgpr_block32;  ///< registers of a block, in waves of 64 and of 32 lanes
  uint8_t sgprs;                     ///< of every wave; 0: the state says how many
  uint8_t aliases;                   ///< SGPRs at the end whose places VCC and what else GFX9 has there take
  uint8_t named_sgprs;               ///< the most that instructions can name besides those
  enum class Agprs : uint8_t { none, as_many, after_vgprs } agprs;
  uint8_t lds_shift, lds_bits;    ///< of the state word: LDS in units of 512 bytes
  uint8_t first_wave, last_wave;  ///< bits of a wave's word
  uint8_t gap;                    ///< bytes after each wave
  uint8_t mode;                   ///< where MODE is among the hardware registers
  uint8_t flat_scratch;           ///< and FLAT_SCRATCH; 0: among the SGPRs
  uint8_t scc;                    ///< its bit in STATUS (or STATE_PRIV)
  /// In which TTMP a wave has the number of its packet in the queue, from which bit on, and in which its own number in
  /// the work-group. Work-group ids are in TTMP8 to 10, on GFX12 in TTMP9 and 7.
  uint8_t packet_ttmp, packet_shift, wave_ttmp, wave_shift, wave_bits;
  bool ids_in_sgprs;    ///< of work-groups, so TTMP8 to 10 have them
  uint8_t setup_ttmp;   ///< the TTMP whose bit 31 says that the trap handler's TTMPs are valid; 0: always
  bool parks;           ///< PCs of stopped waves are in the TTMPs, because such waves are led elsewhere
  uint8_t parked_ttmp;  ///< the lower half; the rest is in TTMP11, bits 22:7
};
const ContextLayout& context_layout(const target::Processor& processor);

/// Facts about a wave from its TTMPs and other registers.
struct SavedState {
  uint64_t pc = 0, exec = 0, vcc = 0, flat_scratch = 0;
  uint32_t mode = 0;
  bool scc = false;
  std::array<uint32_t, 3> work_group{};
  uint32_t wave = 0;        ///< in its work-group
  uint32_t packet = 0;      ///< in the queue's ring
  bool is_stopped = false;  ///< by the trap handler: it did something wrong, or trapped
  uint32_t trap = 0;        ///< the number of the s_trap
};
SavedState state_of(const SavedWave& wave, const target::Processor& processor);
/// Puts it into the registers. SGPRs must be there.
void set_state(SavedWave& wave, const SavedState& state, const target::Processor& processor);

/// Exception that TRAPSTS (or EXCP_FLAG_PRIV) reports.
enum class WaveException : uint8_t { none, memory_violation, illegal_instruction };
WaveException exception_of(const SavedWave& wave, const target::Processor& processor);
void set_exception(SavedWave& wave, WaveException exception, const target::Processor& processor);

/// The area with these waves in it.
std::vector<uint8_t> write_context_save_area(std::span<const SavedWave> waves, const target::Processor& processor);

/// The waves in an area. `max_bytes` is how many of their registers may take; errors say what is wrong.
support::Result<std::vector<SavedWave>> read_context_save_area(std::span<const uint8_t> area,
                                                               const target::Processor& processor,
                                                               uint64_t max_bytes = UINT64_MAX);

}  // namespace Atoll::object
