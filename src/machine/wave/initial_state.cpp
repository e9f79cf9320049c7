// machine: the registers with which a wave starts.
#include "machine/wave/initial_state.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <iterator>

#include "isa/effects.h"
#include "machine/gpu.h"
#include "target/buffer_elements.h"

namespace Atoll::machine {

namespace {

/// Scalar registers are copied by blocks: few short copies are quicker than a call for a long one.
constexpr unsigned scalars_of_a_block = 8;
static_assert(isa::scalar::count % scalars_of_a_block == 0);

#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Winvalid-offsetof"  // supported by the compilers that build this
/// The part of a Wave between its scalar registers and what belongs to its work-group. It is copied as a whole, so that
/// no field of an earlier wave survives.
constexpr size_t fields_begin = offsetof(Wave, pc), fields_end = offsetof(Wave, work_group);
static_assert(offsetof(Wave, scalar) + sizeof Wave::scalar == fields_begin &&
                  offsetof(Wave, fault) == fields_end + sizeof(WorkGroup*) &&
                  sizeof(Wave) - offsetof(Wave, fault) < sizeof Wave::fault + alignof(Wave),
              "begin_wave() sets each field of a wave outside of this part by itself");
#pragma clang diagnostic pop

/// Copies the wave that all waves of a work-group begin as; of the scalar registers, the first blocks.
void copy_start(const Wave& start, Wave& wave, uint32_t scalar_blocks) {
  for (uint32_t block = 0; block < scalar_blocks; ++block) {
    const unsigned first = block * scalars_of_a_block;
    std::memcpy(&wave.scalar[first], &start.scalar[first], scalars_of_a_block * sizeof wave.scalar[0]);
  }
  std::memcpy(reinterpret_cast<char*>(&wave) + fields_begin, reinterpret_cast<const char*>(&start) + fields_begin,
              fields_end - fields_begin);
  wave.fault.reset();
}

/// How many work-items a work-group has in each dimension: fewer at the grid's far edges.
void partial_size(const WorkGroup& group, const LaunchState& launch, uint32_t (&size)[3]) {
  for (unsigned d = 0; d < 3; ++d) {
    const uint64_t first = uint64_t{group.id[d]} * launch.work_group_size[d];
    size[d] = static_cast<uint32_t>(std::min<uint64_t>(launch.work_group_size[d], launch.grid_size[d] - first));
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

void InitialState::prepare(Dispatch& dispatch, const WorkGroupStorage& storage, Engine& engine) {
  const target::Processor& processor = dispatch.gpu->processor();
  const LaunchState& launch = dispatch.launch;
  dispatch_ = &dispatch;
  launch_ = &launch;
  storage_ = storage;
  size_[0] = 0;  // no work-group has begun
  next_index_ = UINT64_MAX;
  has_partial_ = false;
  for (unsigned d = 0; d < 3; ++d) has_partial_ |= launch.grid_size[d] % launch.work_group_size[d] != 0;
  std::memset(start_.scalar, 0, sizeof start_.scalar);
  start_.pc = launch.entry;
  start_.sgprs = launch.sgprs;
  start_.vgprs = launch.vgprs;
  start_.agprs = launch.agprs;
  start_.wave_size = static_cast<uint8_t>(launch.wave_size);
  start_.mode = launch.mode;
  start_.float_mode = float_mode_of(launch.mode, processor);
  start_.scratch_bytes_per_lane = launch.scratch_bytes_per_lane;
  write_scalars();
  has_named_barriers_ = processor.generation >= target::Generation::gfx12_5;
  start_.watches_exceptions = launch.watches_exceptions;
  note_needed(start_.watches_exceptions ? nullptr
                                        : engine.needed_at_start(start_.pc, start_.wave_size, start_.float_mode));
  is_series_ = work_group_info_ == none && storage.scratch == nullptr;
}

/// Writes the scalar registers that all waves share, and notes where the others are.
void InitialState::write_scalars() {
  const auto scratch = reinterpret_cast<uint64_t>(storage_.scratch);
  uint32_t resource[4];
  scratch_resource(target::Target(dispatch_->gpu->processor()).with_wave_size(launch_->wave_size), scratch,
                   uint64_t{launch_->scratch_bytes_per_wave} * waves_needed(*launch_), resource);
  if (storage_.global_table != nullptr) {
    // Always for waves of 64: code of waves of 32 changes it (LLVM 22, SIFrameLowering.cpp).
    uint32_t in_table[4];
    scratch_resource(target::Target(dispatch_->gpu->processor()).with_wave_size(64), scratch,
                     uint64_t{launch_->scratch_bytes_per_wave} * waves_needed(*launch_), in_table);
    std::memcpy(storage_.global_table + compute_scratch_in_table, in_table, sizeof in_table);
  }
  std::ranges::fill(work_group_id_, none);
  work_group_info_ = scratch_offset_ = none;
  for (const InitialScalar& scalar : launch_->scalars.list()) {
    uint32_t& start = start_.scalar[scalar.reg];
    switch (scalar.source) {
      case InitialScalar::Source::literal:
        start = scalar.literal;
        break;
      case InitialScalar::Source::scratch_resource:
        start = resource[scalar.part];
        break;
      case InitialScalar::Source::scratch_address:
        start = static_cast<uint32_t>(scratch >> scalar.part * 32);
        break;
      case InitialScalar::Source::global_table:
        start = static_cast<uint32_t>(reinterpret_cast<uint64_t>(storage_.global_table) >> scalar.part * 32);
        break;
      case InitialScalar::Source::work_group_id:
        work_group_id_[scalar.part] = scalar.reg;
        break;
      case InitialScalar::Source::work_group_info:
        work_group_info_ = scalar.reg;
        break;
      case InitialScalar::Source::scratch_offset:
        scratch_offset_ = scalar.reg;
        break;
    }
  }
}

/// Which registers a wave begins with, from what the engine knows.
void InitialState::note_needed(const LiveInRegisters* needed) {
  const unsigned id_rows = launch_->work_item_id_rows();
  const auto is_cleared = [&](unsigned key) {
    return key < isa::first_agpr ? key >= id_rows && key < launch_->named_vgprs
                                 : key - isa::first_agpr < launch_->named_agprs;
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
  const LaunchState& launch = *launch_;
  if (index != next_index_) {
    group.id[0] = static_cast<uint32_t>(index % launch.work_groups[0]);
    group.id[1] = static_cast<uint32_t>(index / launch.work_groups[0] % launch.work_groups[1]);
    group.id[2] = static_cast<uint32_t>(index / launch.work_groups[0] / launch.work_groups[1]);
  } else if (++group.id[0] == launch.work_groups[0]) {
    group.id[0] = 0;
    if (++group.id[1] == launch.work_groups[1]) {
      group.id[1] = 0;
      ++group.id[2];
    }
  }
  next_index_ = index + 1;
  group.cluster = nullptr;
  for (unsigned d = 0; d < 3; ++d) {
    if (work_group_id_[d] != none) start_.scalar[work_group_id_[d]] = group.id[d];
  }
  if (launch_->has_work_group_ids_in_ttmps) write_ids_to_ttmps(group.id);
}

/// The work-groups of a cluster are numbered one after the other. The TTMPs have the cluster's id in place of the
/// work-group's, and TTMP6 has the work-group's place in its cluster (x, y, z) and the largest (x, y, z, number), each
/// of 4 bits: so clang's code reads them (llvm.amdgcn.cluster.workgroup.id.x and others).
void InitialState::place_in_cluster(WorkGroup& group, uint64_t index) {
  const Clusters& clusters = *launch_->clusters;
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
  const LaunchState& launch = *launch_;
  if (launch.clusters) {
    place_in_cluster(group, index);
  } else {
    place_in_grid(group, index);
  }
  if (launch.lds_bytes != 0) std::memset(storage_.lds, 0, launch.lds_bytes);

  if (has_partial_ || size_[0] == 0) set_size(group);
  group.waves_begun = 0;
  group.waves_running = static_cast<uint32_t>(group.waves.size());
  group.barrier = {};
  if (has_named_barriers_) group.named_barriers = {};
}

void InitialState::set_size(WorkGroup& group) {
  uint32_t size[3];
  partial_size(group, *launch_, size);
  if (std::ranges::equal(size, size_)) return;
  group.dispatch = dispatch_;
  group.lds = storage_.lds;
  group.lds_bytes = launch_->lds_bytes;
  group.bounds = launch_->bounds;
  std::ranges::copy(size, size_);
  items_ = size[0] * size[1] * size[2];
  group.waves.resize((items_ + launch_->wave_size - 1) / launch_->wave_size);
  keep_ids();
}

uint32_t InitialState::lanes_of(uint32_t wave) const {
  return std::min(items_ - wave * launch_->wave_size, launch_->wave_size);
}

/// Writes the work-item ids of a wave to its first rows: x runs fastest, work-items fill the waves without gaps.
void InitialState::write_work_item_ids(Row* rows, uint32_t wave) const {
  const uint8_t ids = launch_->work_item_ids;
  std::memset(rows, 0, sizeof(FirstRows));
  const uint32_t first = wave * launch_->wave_size, lanes = lanes_of(wave);
  uint32_t x = first % size_[0];
  uint32_t y = first / size_[0] % size_[1];
  uint32_t z = first / size_[0] / size_[1];
  for (uint32_t lane = 0; lane < lanes; ++lane) {
    if (launch_->has_packed_work_item_ids) {
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
  const uint32_t wanted[5] = {size_[0], size_[1], size_[2], launch_->wave_size, launch_->work_item_ids};
  Ids& kept = std::ranges::equal(size_, launch_->work_group_size) ? whole_ : partial_;
  ids_ = &kept;
  if (std::ranges::equal(wanted, kept.wanted)) return;
  const uint32_t waves = (items_ + launch_->wave_size - 1) / launch_->wave_size;
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

  const uint64_t scratch_offset = uint64_t{index} * launch_->scratch_bytes_per_wave;
  wave.scratch = storage_.scratch == nullptr ? nullptr : storage_.scratch + scratch_offset;
  if (launch_->has_work_group_ids_in_ttmps) wave.scalar[wave_number_register] = index << wave_number_shift;
  if (work_group_info_ != none) {  // bit 31: first wave; bits 5:0: waves of the work-group
    wave.scalar[work_group_info_] = (index == 0 ? 1u << 31 : 0u) | (static_cast<uint32_t>(group.waves.size()) & 0x3F);
  }
  if (scratch_offset_ != none) wave.scalar[scratch_offset_] = static_cast<uint32_t>(scratch_offset);
  if (launch_->has_flat_scratch) {
    wave.set_scalar64(isa::scalar::flat_scratch_lo, reinterpret_cast<uint64_t>(wave.scratch));
  }

  // A wave of 32 has the first half of each row.
  const std::size_t row_bytes = launch_->wave_size * sizeof rows[0][0];
  for (unsigned row = 0; row < launch_->work_item_id_rows(); ++row)
    std::memcpy(rows[row], ids_->rows[index].row[row], row_bytes);
  for (const uint16_t key : cleared_rows_) {
    std::memset(key < isa::first_agpr ? rows[key] : wave.agpr[key - isa::first_agpr], 0, row_bytes);
  }
  return wave;
}

void work_item_of(const WorkGroup& group, uint32_t wave, uint32_t lane, uint32_t (&id)[3]) {
  uint32_t size[3];
  partial_size(group, group.dispatch->launch, size);
  const uint32_t item = wave * group.dispatch->launch.wave_size + lane;
  id[0] = item % size[0];
  id[1] = item / size[0] % size[1];
  id[2] = item / size[0] / size[1];
}

}  // namespace Atoll::machine
