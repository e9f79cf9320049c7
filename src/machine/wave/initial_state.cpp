// machine: the registers with which a wave starts. See initial_state.h.
#include "machine/wave/initial_state.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "isa/effects.h"
#include "machine/gpu.h"
#include "target/buffer_elements.h"

namespace Atoll::machine {

namespace {

/// Hands out SGPRs from `next` upwards. What lies beyond the `limit` is asked for in vain.
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

/// The user SGPRs, which are the same for all waves.
void write_user_sgprs(Wave& wave, const Dispatch& dispatch, const WorkGroupStorage& storage) {
  const object::KernelDescriptor& descriptor = dispatch.kernel->descriptor;
  // A descriptor may ask for more than the packet processor fills, but gets no more.
  ScalarWriter user(wave, 0, std::min<unsigned>(descriptor.user_sgprs, dispatch.gpu->processor().user_sgprs));
  const auto scratch_base = reinterpret_cast<uint64_t>(storage.scratch);
  if (descriptor.private_segment_buffer) {
    uint32_t resource[4];
    const auto target = target::Target(dispatch.gpu->processor()).with_wave_size(dispatch.wave_size);
    scratch_resource(target, scratch_base, uint64_t{dispatch.scratch_bytes_per_wave} * waves_needed(dispatch),
                     resource);
    for (const uint32_t word : resource) user.word(word);
  }
  if (descriptor.dispatch_ptr) user.pair(dispatch.packet_address);
  if (descriptor.queue_ptr) user.pair(dispatch.queue_address);
  if (descriptor.kernarg_segment_ptr) user.pair(dispatch.packet.kernarg_address);
  if (descriptor.dispatch_id) user.pair(dispatch.dispatch_id);
  if (descriptor.flat_scratch_init) {
    // Where FLAT_SCRATCH is an offset and a size, scratch begins where the hardware's hidden base of it is: at offset
    // 0.
    const bool is_address = dispatch.gpu->processor().flat_scratch == target::FlatScratch::absolute;
    user.pair(is_address ? scratch_base : uint64_t{dispatch.scratch_bytes_per_lane} << 32);
  }
  if (descriptor.private_segment_size) user.word(dispatch.scratch_bytes_per_lane);
  for (unsigned d = 0; d < 3; ++d)
    if (descriptor.grid_work_groups[d]) user.word(dispatch.work_groups[d]);
  for (unsigned i = 0; i < descriptor.kernarg_preload_length; ++i) {
    uint32_t word = 0;
    const uint64_t offset = (uint64_t{descriptor.kernarg_preload_offset} + i) * sizeof word;
    std::memcpy(&word, reinterpret_cast<const void*>(dispatch.packet.kernarg_address + offset), sizeof word);
    user.word(word);
  }
}

/// Scalar registers are copied by blocks: few short copies are quicker than a call for a long one.
constexpr unsigned scalars_of_a_block = 8;
static_assert(isa::scalar::count % scalars_of_a_block == 0);

/// Everything but what begin_wave() says of each wave, of the scalar registers the first blocks.
void copy_start(const Wave& start, Wave& wave, uint32_t scalar_blocks) {
  for (uint32_t block = 0; block < scalar_blocks; ++block) {
    const unsigned first = block * scalars_of_a_block;
    std::memcpy(&wave.scalar[first], &start.scalar[first], scalars_of_a_block * sizeof wave.scalar[0]);
  }
  wave.pc = start.pc;
  wave.sgprs = start.sgprs;
  wave.vgprs = start.vgprs;
  wave.agprs = start.agprs;
  wave.wave_size = start.wave_size;
  wave.watches_exceptions = start.watches_exceptions;
  wave.scc = false;
  wave.mode = start.mode;
  wave.status = 0;
  wave.trap_status = 0;
  wave.float_mode = start.float_mode;
  wave.state = WaveState::ready;
  wave.global_sync = 0;
  wave.spin_backoff = 0;
  wave.barrier_phase = wave.named_phase = wave.cluster_phase = 0;
  wave.named_barrier = 0;
  wave.instructions = wave.interpreted = 0;
  wave.reported = {};
  wave.fingerprint = 0;
  wave.seems_to_wait = false;
  wave.scratch_bytes_per_lane = start.scratch_bytes_per_lane;
  wave.fault.reset();
}

/// How many work-items a work-group has in each dimension: fewer at the grid's far edges.
void partial_size(const WorkGroup& group, const Dispatch& dispatch, uint32_t (&size)[3]) {
  for (unsigned d = 0; d < 3; ++d) {
    const uint64_t first = uint64_t{group.id[d]} * dispatch.work_group_size[d];
    size[d] = static_cast<uint32_t>(std::min<uint64_t>(dispatch.work_group_size[d], dispatch.grid_size[d] - first));
  }
}

}  // namespace

void scratch_resource(const target::Target& target, uint64_t base, uint64_t bytes, uint32_t (&resource)[4]) {
  resource[0] = static_cast<uint32_t>(base);
  resource[1] = static_cast<uint32_t>(base >> 32 & 0xFFFF)  // stride 0
                | 1u << 31;                                 // SWIZZLE_ENABLE
  resource[2] = static_cast<uint32_t>(std::min<uint64_t>(bytes, UINT32_MAX));
  resource[3] = 4u | 5u << 3 | 6u << 6 | 7u << 9            // DST_SEL: x, y, z, w
                | (target.wave_size == 32 ? 2u : 3u) << 21  // INDEX_STRIDE: 32 or 64
                | 1u << 23;                                 // ADD_TID_ENABLE
  const target::BufferResources layout = target.processor->buffer_resources;
  if (target::has_element_size(*target.processor)) resource[3] |= 1u << 19;  // ELEMENT_SIZE: 4 bytes
  if (layout < target::BufferResources::gfx10) {
    resource[3] |= 4u << 12;  // NUM_FORMAT: uint; from GFX8 on DATA_FORMAT, 0, is the stride's upper bits with ADD_TID
    if (layout == target::BufferResources::gfx6) resource[3] |= 4u << 15;  // DATA_FORMAT: 32
  } else {
    resource[3] |= 20u << 12   // FORMAT: 32_UINT
                   | 1u << 24  // RESOURCE_LEVEL
                   | 2u << 28  // OOB_SELECT: not checked
        ;
  }
}

uint32_t waves_needed(const Dispatch& dispatch) {
  const uint32_t items = dispatch.work_group_size[0] * dispatch.work_group_size[1] * dispatch.work_group_size[2];
  return (items + dispatch.wave_size - 1) / dispatch.wave_size;
}

uint32_t rows_of_a_wave(const Dispatch& dispatch) {
  const object::KernelDescriptor& descriptor = dispatch.kernel->descriptor;
  return uint32_t{descriptor.vgprs} + descriptor.agprs;
}

uint64_t rows_needed(const Dispatch& dispatch) {
  // A program may name registers that its wave has not. They are then a neighbour's, or after the last wave's, where
  // there must be rows for all that an instruction can name.
  const uint64_t nameable = std::max<uint64_t>(256 + 256, dispatch.gpu->processor().addressable_vgprs);
  return uint64_t{waves_needed(dispatch)} * rows_of_a_wave(dispatch) + nameable;
}

void InitialState::prepare(Dispatch& dispatch, const WorkGroupStorage& storage, Engine& engine) {
  const target::Processor& processor = dispatch.gpu->processor();
  const object::KernelDescriptor& descriptor = dispatch.kernel->descriptor;
  dispatch_ = &dispatch;
  storage_ = storage;
  size_[0] = 0;  // no work-group has begun
  next_index_ = UINT64_MAX;
  has_partial_ = false;
  for (unsigned d = 0; d < 3; ++d) has_partial_ |= dispatch.grid_size[d] % dispatch.work_group_size[d] != 0;
  std::memset(start_.scalar, 0, sizeof start_.scalar);
  start_.pc = dispatch.kernel->entry;
  start_.sgprs = descriptor.sgprs;
  start_.vgprs = descriptor.dynamic_vgprs ? uint16_t{dynamic_vgpr_block} : descriptor.vgprs;
  start_.agprs = descriptor.agprs;
  start_.wave_size = static_cast<uint8_t>(dispatch.wave_size);
  start_.mode = descriptor.mode;
  start_.float_mode = float_mode_of(descriptor.mode, processor);
  start_.scratch_bytes_per_lane = dispatch.scratch_bytes_per_lane;
  write_user_sgprs(start_, dispatch, storage);

  // The system SGPRs stand after the user SGPRs.
  const bool architected_scratch = processor.flat_scratch == target::FlatScratch::architected;
  const bool ids_in_sgprs = !processor.architected_work_group_ids;
  ids_in_ttmps_ = !ids_in_sgprs;
  unsigned next = descriptor.user_sgprs;
  const auto place = [&](bool wanted) -> uint8_t {
    if (!wanted) return none;
    const unsigned reg = next++;
    return reg < descriptor.sgprs ? static_cast<uint8_t>(reg) : none;
  };
  work_group_id_[0] = place(ids_in_sgprs && descriptor.work_group_id_x);
  work_group_id_[1] = place(ids_in_sgprs && descriptor.work_group_id_y);
  work_group_id_[2] = place(ids_in_sgprs && descriptor.work_group_id_z);
  work_group_info_ = place(descriptor.work_group_info);
  scratch_offset_ = place(descriptor.private_segment && !architected_scratch);
  own_flat_scratch_ = descriptor.private_segment && architected_scratch;
  packed_ids_ = processor.packed_work_item_ids;
  id_rows_ = packed_ids_ ? 1 : 1u + descriptor.work_item_ids;
  has_named_barriers_ = processor.generation >= target::Generation::gfx12_5;
  start_.watches_exceptions = dispatch.kernel->watches_exceptions;
  note_needed(start_.watches_exceptions ? nullptr
                                        : engine.needed_at_start(start_.pc, start_.wave_size, start_.float_mode));
  is_series_ = work_group_info_ == none && storage.scratch == nullptr;
}

/// Which registers a wave begins with, from what the engine knows.
void InitialState::note_needed(const LiveInRegisters* needed) {
  const Kernel& kernel = *dispatch_->kernel;
  const auto is_cleared = [&](unsigned key) {
    return key < isa::first_agpr ? key >= id_rows_ && key < kernel.named_vgprs
                                 : key - isa::first_agpr < kernel.named_agprs;
  };
  cleared_rows_.clear();
  for (uint16_t key = 0; needed == nullptr && key < isa::vector_registers; ++key) {
    if (is_cleared(key)) cleared_rows_.push_back(key);
  }
  if (needed != nullptr) std::ranges::copy_if(needed->rows, std::back_inserter(cleared_rows_), is_cleared);
  const unsigned scalars = needed != nullptr ? needed->scalars : unsigned{isa::scalar::count};
  scalar_blocks_ = (scalars + scalars_of_a_block - 1) / scalars_of_a_block;
}

/// TTMP9: x; TTMP7: y and z
void InitialState::write_ids_to_ttmps(const uint32_t (&id)[3]) {
  start_.scalar[isa::scalar::ttmp0 + 9] = id[0];
  start_.scalar[isa::scalar::ttmp0 + 7] = (id[1] & 0xFFFF) | id[2] << 16;
}

void InitialState::place_in_grid(WorkGroup& group, uint64_t index) {
  const Dispatch& dispatch = *dispatch_;
  if (index != next_index_) {
    group.id[0] = static_cast<uint32_t>(index % dispatch.work_groups[0]);
    group.id[1] = static_cast<uint32_t>(index / dispatch.work_groups[0] % dispatch.work_groups[1]);
    group.id[2] = static_cast<uint32_t>(index / dispatch.work_groups[0] / dispatch.work_groups[1]);
  } else if (++group.id[0] == dispatch.work_groups[0]) {
    group.id[0] = 0;
    if (++group.id[1] == dispatch.work_groups[1]) {
      group.id[1] = 0;
      ++group.id[2];
    }
  }
  next_index_ = index + 1;
  group.cluster = nullptr;
  for (unsigned d = 0; d < 3; ++d) {
    if (work_group_id_[d] != none) start_.scalar[work_group_id_[d]] = group.id[d];
  }
  if (ids_in_ttmps_) write_ids_to_ttmps(group.id);
}

/// The work-groups of a cluster are numbered one after the other. The TTMPs have the cluster's id in place of the
/// work-group's, and TTMP6 has the work-group's place in its cluster (x, y, z) and the largest (x, y, z, number), each
/// of 4 bits: so clang's code reads them (llvm.amdgcn.cluster.workgroup.id.x and others).
void InitialState::place_in_cluster(WorkGroup& group, uint64_t index) {
  const Clusters& clusters = *dispatch_->clusters;
  const uint32_t work_groups = clusters.work_groups();
  uint64_t cluster = index / work_groups;
  group.cluster = &dispatch_->cluster_barriers[cluster];
  group.number_in_cluster = static_cast<uint32_t>(index % work_groups);
  uint32_t number = group.number_in_cluster, of_cluster[3], places = 0;
  for (unsigned d = 0; d < 3; ++d) {
    of_cluster[d] = static_cast<uint32_t>(cluster % clusters.count[d]);
    cluster /= clusters.count[d];
    const uint32_t inside = number % clusters.size[d];
    number /= clusters.size[d];
    group.id[d] = of_cluster[d] * clusters.size[d] + inside;
    places |= inside << d * 4 | (clusters.size[d] - 1) << (12 + d * 4);
  }
  start_.scalar[isa::scalar::ttmp0 + 6] = places | (work_groups - 1) << 24;
  write_ids_to_ttmps(of_cluster);
}

void InitialState::begin_work_group(WorkGroup& group, uint64_t index) {
  const Dispatch& dispatch = *dispatch_;
  if (dispatch.clusters) {
    place_in_cluster(group, index);
  } else {
    place_in_grid(group, index);
  }
  if (dispatch.lds_bytes != 0) std::memset(storage_.lds, 0, dispatch.lds_bytes);

  if (has_partial_ || size_[0] == 0) set_size(group);
  group.waves_begun = 0;
  group.waves_running = static_cast<uint32_t>(group.waves.size());
  group.barrier = {};
  if (has_named_barriers_) group.named_barriers = {};
}

void InitialState::set_size(WorkGroup& group) {
  uint32_t size[3];
  partial_size(group, *dispatch_, size);
  if (std::ranges::equal(size, size_)) return;
  group.dispatch = dispatch_;
  group.lds = storage_.lds;
  group.lds_bytes = dispatch_->lds_bytes;
  group.bounds = dispatch_->bounds;
  std::ranges::copy(size, size_);
  items_ = size[0] * size[1] * size[2];
  group.waves.resize((items_ + dispatch_->wave_size - 1) / dispatch_->wave_size);
  keep_ids();
}

uint32_t InitialState::lanes_of(uint32_t wave) const {
  return std::min(items_ - wave * dispatch_->wave_size, dispatch_->wave_size);
}

/// Writes the work-item ids of a wave to its first rows: x runs fastest, work-items fill the waves without gaps.
void InitialState::write_work_item_ids(Row* rows, uint32_t wave) const {
  const uint8_t ids = dispatch_->kernel->descriptor.work_item_ids;
  std::memset(rows, 0, sizeof(FirstRows));
  const uint32_t first = wave * dispatch_->wave_size, lanes = lanes_of(wave);
  uint32_t x = first % size_[0];
  uint32_t y = first / size_[0] % size_[1];
  uint32_t z = first / size_[0] / size_[1];
  for (uint32_t lane = 0; lane < lanes; ++lane) {
    if (packed_ids_) {
      rows[0][lane] = x | (ids > 0 ? y << 10 : 0) | (ids > 1 ? z << 20 : 0);
    } else {
      rows[0][lane] = x;
      if (ids > 0) rows[1][lane] = y;
      if (ids > 1) rows[2][lane] = z;
    }
    if (++x < size_[0]) continue;
    x = 0;
    if (++y < size_[1]) continue;
    y = 0;
    ++z;
  }
}

/// Sees to it that `ids_` are those of the work-group that begins.
void InitialState::keep_ids() {
  const uint32_t wanted[5] = {size_[0], size_[1], size_[2], dispatch_->wave_size,
                              dispatch_->kernel->descriptor.work_item_ids};
  Ids& kept = std::ranges::equal(size_, dispatch_->work_group_size) ? whole_ : partial_;
  ids_ = &kept;
  if (std::ranges::equal(wanted, kept.wanted)) return;
  const uint32_t waves = (items_ + dispatch_->wave_size - 1) / dispatch_->wave_size;
  kept.rows.resize(waves);
  for (uint32_t wave = 0; wave < waves; ++wave) write_work_item_ids(kept.rows[wave].row, wave);
  std::ranges::copy(wanted, kept.wanted);
}

uint64_t InitialState::first_exec(uint32_t wave) const {
  const uint32_t lanes = lanes_of(wave);
  return lanes >= 64 ? ~uint64_t{0} : (uint64_t{1} << lanes) - 1;
}

void InitialState::describe(const WorkGroup& group, WaveBatch& series) const {
  const auto waves = static_cast<uint32_t>(group.waves.size());
  series.waves_left = waves - group.waves_begun;
  series.exec = first_exec(0);
  series.last_exec = first_exec(waves - 1);
  series.scalars = start_.scalar;
  series.first_rows = ids_->rows.data();
}

Wave& InitialState::begin_wave(WorkGroup& group, Row* rows) {
  const uint32_t index = group.waves_begun++;
  Wave& wave = group.waves[index];
  copy_start(start_, wave, scalar_blocks_);
  wave.index = index;
  wave.work_group = &group;
  wave.vgpr = rows;
  wave.agpr = rows + start_.vgprs;
  wave.set_exec(first_exec(index));

  const uint64_t scratch_offset = uint64_t{index} * dispatch_->scratch_bytes_per_wave;
  wave.scratch = storage_.scratch == nullptr ? nullptr : storage_.scratch + scratch_offset;
  if (ids_in_ttmps_) wave.scalar[wave_number_register] = index << wave_number_shift;
  if (work_group_info_ != none) {  // bit 31: first wave; bits 5:0: waves of the work-group
    wave.scalar[work_group_info_] = (index == 0 ? 1u << 31 : 0u) | (static_cast<uint32_t>(group.waves.size()) & 0x3F);
  }
  if (scratch_offset_ != none) wave.scalar[scratch_offset_] = static_cast<uint32_t>(scratch_offset);
  if (own_flat_scratch_) {
    wave.set_scalar64(isa::scalar::flat_scratch_lo, reinterpret_cast<uint64_t>(wave.scratch));
  }

  // A wave of 32 has the first half of each row.
  const std::size_t row_bytes = dispatch_->wave_size * sizeof rows[0][0];
  for (unsigned row = 0; row < id_rows_; ++row) std::memcpy(rows[row], ids_->rows[index].row[row], row_bytes);
  for (const uint16_t key : cleared_rows_) {
    std::memset(key < isa::first_agpr ? rows[key] : wave.agpr[key - isa::first_agpr], 0, row_bytes);
  }
  return wave;
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
