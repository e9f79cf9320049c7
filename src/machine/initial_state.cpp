// machine: the registers with which a wave starts. See initial_state.h.
#include "machine/initial_state.h"

#include <algorithm>
#include <cstring>

#include "machine/gpu.h"

namespace Atoll::machine {

namespace {

/// User data registers that the packet processor fills; a descriptor may ask for more, but gets no more.
constexpr unsigned max_user_sgprs = 16;

/// Hands out SGPRs from s0 upwards. What lies beyond the `limit` is asked for in vain.
class ScalarWriter {
 public:
  ScalarWriter(Wave& wave, unsigned next, unsigned limit) : wave_(wave), next_(next), limit_(limit) {}
  void word(uint32_t value) {
    if (next_ < limit_) wave_.scalar[isa::scalar::s0 + next_] = value;
    ++next_;
  }
  void pair(uint64_t value) {
    word(static_cast<uint32_t>(value));
    word(static_cast<uint32_t>(value >> 32));
  }

 private:
  Wave& wave_;
  unsigned next_, limit_;
};

/// Everything that is the same for all waves of a work-group: user SGPRs, MODE, counts, PC.
void set_common_state(Wave& wave, const Dispatch& dispatch, const WorkGroupStorage& storage) {
  const object::KernelDescriptor& descriptor = dispatch.kernel->descriptor;
  std::memset(wave.scalar, 0, sizeof wave.scalar);
  wave.pc = dispatch.kernel->entry;
  wave.sgprs = descriptor.sgprs;
  wave.vgprs = descriptor.vgprs;
  wave.agprs = descriptor.agprs;
  wave.wave_size = static_cast<uint8_t>(dispatch.wave_size);
  wave.scc = false;
  wave.mode = descriptor.mode;
  wave.float_mode = float_mode_of(
      descriptor.mode, dispatch.gpu->processor().ocp_fp8 ? semantics::EightBit::ocp : semantics::EightBit::fnuz);
  wave.status = 0;
  wave.trap_status = 0;
  wave.state = WaveState::ready;
  wave.global_sync = 0;
  wave.instructions = 0;
  wave.fingerprint = 0;
  wave.scratch_bytes_per_lane = dispatch.scratch_bytes_per_lane;
  wave.fault.reset();

  ScalarWriter user(wave, 0, std::min<unsigned>(descriptor.user_sgprs, max_user_sgprs));
  const auto scratch_base = reinterpret_cast<uint64_t>(storage.scratch);
  if (descriptor.private_segment_buffer) {
    uint32_t resource[4];
    scratch_resource(scratch_base, uint64_t{dispatch.scratch_bytes_per_wave} * waves_needed(dispatch), resource);
    for (const uint32_t word : resource) user.word(word);
  }
  if (descriptor.dispatch_ptr) user.pair(reinterpret_cast<uint64_t>(&dispatch.packet));
  if (descriptor.queue_ptr) user.pair(dispatch.queue_address);
  if (descriptor.kernarg_segment_ptr) user.pair(dispatch.packet.kernarg_address);
  if (descriptor.dispatch_id) user.pair(dispatch.dispatch_id);
  if (descriptor.flat_scratch_init) user.pair(scratch_base);
  if (descriptor.private_segment_size) user.word(dispatch.scratch_bytes_per_lane);
  for (unsigned i = 0; i < descriptor.kernarg_preload_length; ++i) {
    uint32_t word = 0;
    const uint64_t offset = (uint64_t{descriptor.kernarg_preload_offset} + i) * sizeof word;
    std::memcpy(&word, reinterpret_cast<const void*>(dispatch.packet.kernarg_address + offset), sizeof word);
    user.word(word);
  }
}

/// What differs from wave to wave: the system SGPRs behind the user SGPRs, scratch, EXEC.
void set_wave_state(Wave& wave, const WorkGroup& group, const Dispatch& dispatch, const WorkGroupStorage& storage,
                    const target::Processor& processor, uint32_t lanes) {
  const object::KernelDescriptor& descriptor = dispatch.kernel->descriptor;
  const bool architected = processor.flat_scratch == target::FlatScratch::architected;
  const uint64_t scratch_offset = uint64_t{wave.index} * dispatch.scratch_bytes_per_wave;
  wave.scratch = storage.scratch == nullptr ? nullptr : storage.scratch + scratch_offset;

  ScalarWriter system(wave, descriptor.user_sgprs, descriptor.sgprs);
  if (!processor.architected_work_group_ids) {
    if (descriptor.work_group_id_x) system.word(group.id[0]);
    if (descriptor.work_group_id_y) system.word(group.id[1]);
    if (descriptor.work_group_id_z) system.word(group.id[2]);
  }
  if (descriptor.work_group_info) {  // bit 31: first wave; bits 5:0: waves of the work-group
    system.word((wave.index == 0 ? 1u << 31 : 0u) | (static_cast<uint32_t>(group.waves.size()) & 0x3F));
  }
  if (descriptor.private_segment && !architected) system.word(static_cast<uint32_t>(scratch_offset));
  if (descriptor.private_segment && architected) {
    wave.set_scalar64(isa::scalar::flat_scratch_lo, reinterpret_cast<uint64_t>(wave.scratch));
  }
  wave.set_exec(lanes >= 64 ? ~uint64_t{0} : (uint64_t{1} << lanes) - 1);
}

/// How many work-items a work-group has in each dimension: fewer at the grid's far edges.
void partial_size(const WorkGroup& group, const Dispatch& dispatch, uint32_t (&size)[3]) {
  for (unsigned d = 0; d < 3; ++d) {
    const uint64_t first = uint64_t{group.id[d]} * dispatch.work_group_size[d];
    size[d] = static_cast<uint32_t>(std::min<uint64_t>(dispatch.work_group_size[d], dispatch.grid_size[d] - first));
  }
}

/// Work-item ids: x runs fastest, work-items fill the waves without gaps.
void set_work_item_ids(Wave& wave, const Dispatch& dispatch, const uint32_t (&size)[3], bool packed, uint32_t lanes) {
  const object::KernelDescriptor& descriptor = dispatch.kernel->descriptor;
  const uint32_t first = wave.index * dispatch.wave_size;
  uint32_t x = first % size[0];
  uint32_t y = first / size[0] % size[1];
  uint32_t z = first / size[0] / size[1];
  const uint8_t ids = descriptor.work_item_ids;
  for (uint32_t lane = 0; lane < lanes; ++lane) {
    if (packed) {
      wave.vgpr[0][lane] = x | (ids > 0 ? y << 10 : 0) | (ids > 1 ? z << 20 : 0);
    } else {
      wave.vgpr[0][lane] = x;
      if (ids > 0) wave.vgpr[1][lane] = y;
      if (ids > 1) wave.vgpr[2][lane] = z;
    }
    if (++x < size[0]) continue;
    x = 0;
    if (++y < size[1]) continue;
    y = 0;
    ++z;
  }
}

}  // namespace

void scratch_resource(uint64_t base, uint64_t bytes, uint32_t (&resource)[4]) {
  resource[0] = static_cast<uint32_t>(base);
  resource[1] = static_cast<uint32_t>(base >> 32 & 0xFFFF)  // stride 0
                | 1u << 31;                                 // SWIZZLE_ENABLE
  resource[2] = static_cast<uint32_t>(std::min<uint64_t>(bytes, UINT32_MAX));
  resource[3] = 4u | 5u << 3 | 6u << 6 | 7u << 9  // DST_SEL: x, y, z, w
                | 4u << 12                        // NUM_FORMAT: uint
                | 0u << 15                        // DATA_FORMAT: with ADD_TID it is the stride's upper bits
                | 3u << 21                        // INDEX_STRIDE: 64
                | 1u << 23;                       // ADD_TID_ENABLE
}

uint32_t waves_needed(const Dispatch& dispatch) {
  const uint32_t items = dispatch.work_group_size[0] * dispatch.work_group_size[1] * dispatch.work_group_size[2];
  return (items + dispatch.wave_size - 1) / dispatch.wave_size;
}

uint64_t rows_needed(const Dispatch& dispatch) {
  const object::KernelDescriptor& descriptor = dispatch.kernel->descriptor;
  // A program may name registers that its wave has not. They are then a neighbour's, or behind the last wave's, where
  // there must be rows for all that an instruction can name.
  constexpr uint64_t nameable = 256 + 256;
  return uint64_t{waves_needed(dispatch)} * (uint64_t{descriptor.vgprs} + descriptor.agprs) + nameable;
}

void begin_work_group(WorkGroup& group, Dispatch& dispatch, uint64_t index, const WorkGroupStorage& storage) {
  const target::Processor& processor = dispatch.gpu->processor();
  const object::KernelDescriptor& descriptor = dispatch.kernel->descriptor;
  group.dispatch = &dispatch;
  group.id[0] = static_cast<uint32_t>(index % dispatch.work_groups[0]);
  group.id[1] = static_cast<uint32_t>(index / dispatch.work_groups[0] % dispatch.work_groups[1]);
  group.id[2] = static_cast<uint32_t>(index / dispatch.work_groups[0] / dispatch.work_groups[1]);
  group.lds = storage.lds;
  group.lds_bytes = dispatch.lds_bytes;
  if (dispatch.lds_bytes != 0) std::memset(storage.lds, 0, dispatch.lds_bytes);

  uint32_t size[3];
  partial_size(group, dispatch, size);
  const uint32_t items = size[0] * size[1] * size[2];
  const uint32_t waves = (items + dispatch.wave_size - 1) / dispatch.wave_size;
  group.waves.resize(waves);
  group.waves_running = waves;
  group.waves_at_barrier = 0;

  const unsigned rows = unsigned{descriptor.vgprs} + descriptor.agprs;
  std::memset(storage.rows, 0, sizeof(Row) * rows * waves);
  for (uint32_t i = 0; i < waves; ++i) {
    Wave& wave = group.waves[i];
    set_common_state(wave, dispatch, storage);
    wave.index = i;
    wave.work_group = &group;
    wave.vgpr = storage.rows + size_t{i} * rows;
    wave.agpr = wave.vgpr + descriptor.vgprs;
    const uint32_t lanes = std::min(items - i * dispatch.wave_size, dispatch.wave_size);
    set_work_item_ids(wave, dispatch, size, processor.packed_work_item_ids, lanes);
    set_wave_state(wave, group, dispatch, storage, processor, lanes);
  }
}

void work_item_of(const WorkGroup& group, uint32_t wave, uint32_t lane, uint32_t (&id)[3]) {
  uint32_t size[3];
  partial_size(group, *group.dispatch, size);
  const uint32_t item = wave * group.dispatch->wave_size + lane;
  id[0] = item % size[0];
  id[1] = item / size[0] % size[1];
  id[2] = item / size[0] / size[1];
}

}  // namespace Atoll::machine
