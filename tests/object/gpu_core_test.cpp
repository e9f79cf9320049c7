// Core files of GPUs: the note, whose layout is written out here as the user guide and the Linux driver's header have
// it, context save areas against the layout of each generation, and damaged files.
#include "object/gpu_core.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "object/elf.h"
#include "support/bytes.h"
#include "support/parameter_name.h"

namespace Atoll::object {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

uint32_t word_at(std::span<const uint8_t> bytes, uint64_t offset) {
  return support::read<uint32_t>(bytes, offset).value();
}
uint64_t long_at(std::span<const uint8_t> bytes, uint64_t offset) {
  return support::read<uint64_t>(bytes, offset).value();
}

std::vector<uint32_t> numbers(size_t count, uint32_t from) {
  std::vector<uint32_t> all(count);
  std::iota(all.begin(), all.end(), from);
  return all;
}

TEST(CoreNote, HasThePublishedLayout) {
  CoreState state;
  state.runtime = {.r_debug = 0x1122334455667788, .runtime_state = 1, .ttmp_setup = 1};
  KfdAgent agent{};
  agent.gpu_id = 7;
  agent.gfx_target_version = 90010;
  agent.debug_prop = 0x400;
  state.agents = {agent};
  KfdQueue queue{};
  queue.ring_base_address = 0xAABB;
  queue.ctx_save_restore_address = 0xCC000;
  queue.queue_id = 3;
  queue.gpu_id = 7;
  queue.ctx_save_restore_area_size = 0x2000;
  state.queues = {queue, queue};
  const std::vector<uint8_t> note = write_core_state(state);

  // A version, the driver's version, how large each part is; then the parts.
  ASSERT_EQ(note.size(), 8u + 8 + 8 + 16 + 16 + 120 + 2 * 64);
  EXPECT_EQ(long_at(note, 0), 1u);
  EXPECT_EQ(word_at(note, 8), 1u);
  EXPECT_EQ(word_at(note, 12), 16u);
  EXPECT_EQ(long_at(note, 16), 16u);  // of kfd_runtime_info
  EXPECT_EQ(word_at(note, 24), 1u);
  EXPECT_EQ(word_at(note, 28), 120u);  // of kfd_dbg_device_info_entry
  EXPECT_EQ(word_at(note, 32), 2u);
  EXPECT_EQ(word_at(note, 36), 64u);  // of kfd_queue_snapshot_entry
  EXPECT_EQ(long_at(note, 40), 0x1122334455667788u);
  EXPECT_EQ(word_at(note, 56 + 7 * 8), 7u);              // gpu_id
  EXPECT_EQ(word_at(note, 56 + 7 * 8 + 8 * 4), 90010u);  // gfx_target_version
  EXPECT_EQ(word_at(note, 56 + 116), 0x400u);            // debug_prop
  EXPECT_EQ(long_at(note, 176 + 8), 0xAABBu);            // ring_base_address
  EXPECT_EQ(long_at(note, 176 + 32), 0xCC000u);          // ctx_save_restore_address
  EXPECT_EQ(word_at(note, 176 + 40), 3u);                // queue_id
  EXPECT_EQ(word_at(note, 176 + 56), 0x2000u);           // ctx_save_restore_area_size

  const auto again = read_core_state(note);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->agents[0].gfx_target_version, 90010u);
  EXPECT_EQ(again->queues[1].ctx_save_restore_address, 0xCC000u);
  for (size_t size = 0; size < note.size(); ++size) EXPECT_FALSE(read_core_state(std::span(note).first(size))) << size;
}

/// Drivers of later versions have longer entries.
TEST(CoreNote, EntriesMayBeLongerThanThoseThatAreKnown) {
  CoreState state;
  state.agents.resize(1);
  state.agents[0].gpu_id = 5;
  std::vector<uint8_t> note = write_core_state(state);
  note[28] = 128;
  EXPECT_FALSE(read_core_state(note));
  note.resize(note.size() + 8);
  const auto read = read_core_state(note);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->agents[0].gpu_id, 5u);
}

struct Layout {
  const char* processor;
  unsigned lanes;
  uint32_t state;           ///< the word that says how many registers there are
  unsigned words_of_state;  ///< of the control stack
  uint32_t first, last;     ///< the words of the group's first and last wave
  size_t vgprs, agprs, sgprs;
  size_t gap;               ///< bytes after a wave
  size_t mode, status_scc;  ///< MODE among the hardware registers, and SCC's bit
};
void PrintTo(const Layout& layout, std::ostream* out) { *out << layout.processor; }

class ContextSave : public testing::TestWithParam<Layout> {};

/// Two waves of a work-group with 512 bytes of LDS, v3 or a1 known in each.
TEST_P(ContextSave, WavesAreWhereTrapHandlersPutThem) {
  const Layout& layout = GetParam();
  const target::Processor& processor = *target::find_processor(layout.processor);
  std::vector<SavedWave> waves(2);
  for (uint32_t i = 0; i < 2; ++i) {
    SavedWave& wave = waves[i];
    wave.lanes = layout.lanes;
    wave.vgprs = numbers(layout.vgprs * layout.lanes, 0x1000 * (i + 1));
    wave.agprs = numbers(layout.agprs * layout.lanes, 0x10000 * (i + 1));
    wave.sgprs = numbers(layout.sgprs, 0x100000 * (i + 1));
    wave.hardware[saved::m0] = 77 + i;
    set_state(wave,
              {.pc = uint64_t{0x7FFF12345678} + i,
               .exec = 0xF0F0F0F0,
               .vcc = 0xABC,
               .flat_scratch = 0,
               .mode = 0x2F0,
               .scc = true,
               .work_group = {5, 6, 7},
               .wave = i,
               .packet = 9,
               .is_stopped = i == 1,
               .trap = 2},
              processor);
  }
  waves[0].is_first = waves[1].is_last = true;
  waves[0].lds.assign(512, 0xEE);
  const std::vector<uint8_t> area = write_context_save_area(waves, processor);

  // The header of 40 bytes, two words of a packet's header, the state, a word for each wave; then the registers.
  const uint64_t control = (2 + layout.words_of_state + 2) * 4;
  EXPECT_EQ(word_at(area, 0), 40u);
  EXPECT_EQ(word_at(area, 4), control);
  EXPECT_EQ(word_at(area, 8), area.size());
  EXPECT_EQ(word_at(area, 12), area.size() - 40 - control);
  EXPECT_EQ(word_at(area, 40 + 8), layout.state);
  EXPECT_EQ(word_at(area, 40 + 8 + layout.words_of_state * 4), layout.first);
  EXPECT_EQ(word_at(area, 40 + 12 + layout.words_of_state * 4), layout.last);

  uint64_t end = area.size();
  for (uint32_t i = 0; i < 2; ++i) {
    SCOPED_TRACE(i);
    end -= layout.gap;
    if (i == 0) {
      end -= 512;
      EXPECT_EQ(area[end], 0xEE);
      EXPECT_EQ(area[end + 511], 0xEE);
    }
    const uint64_t ttmps = end - 64, hardware = ttmps - 64, sgprs = hardware - layout.sgprs * 4,
                   agprs = sgprs - layout.agprs * layout.lanes * 4, vgprs = agprs - layout.vgprs * layout.lanes * 4;
    EXPECT_EQ(word_at(area, hardware), 77 + i);                            // M0
    if (i == 0) EXPECT_EQ(long_at(area, hardware + 4), 0x7FFF12345678u);   // PC
    EXPECT_EQ(word_at(area, hardware + 12), 0xF0F0F0F0u);                  // EXEC
    EXPECT_EQ(word_at(area, hardware + 20) >> layout.status_scc & 1, 1u);  // STATUS or STATE_PRIV
    EXPECT_EQ(word_at(area, hardware + layout.mode * 4), 0x2F0u);
    EXPECT_EQ(word_at(area, sgprs + 4), 0x100000 * (i + 1) + 1);                                    // s1
    EXPECT_EQ(word_at(area, vgprs + (layout.lanes + 3) * 4), 0x1000 * (i + 1) + layout.lanes + 3);  // v1, lane 3
    if (layout.agprs != 0) EXPECT_EQ(word_at(area, agprs + 8), 0x10000 * (i + 1) + 2);              // a0, lane 2
    end = vgprs;
  }
  EXPECT_EQ(end, 40 + control);

  const auto again = read_context_save_area(area, processor);
  ASSERT_TRUE(again) << again.error().message;
  ASSERT_EQ(again->size(), 2u);
  for (uint32_t i = 0; i < 2; ++i) {
    SCOPED_TRACE(i);
    const SavedState state = state_of((*again)[i], processor);
    EXPECT_EQ(state.pc, uint64_t{0x7FFF12345678} + i);
    EXPECT_EQ(state.exec, 0xF0F0F0F0u);
    EXPECT_EQ(state.vcc, 0xABCu);
    EXPECT_THAT(state.work_group, ElementsAre(5, 6, 7));
    EXPECT_EQ(state.wave, i);
    EXPECT_EQ(state.packet, 9u);
    EXPECT_EQ(state.is_stopped, i == 1);
    EXPECT_EQ(state.trap, i == 1 ? 2u : 0u);
    EXPECT_EQ((*again)[i].vgprs, waves[i].vgprs);
    EXPECT_EQ((*again)[i].agprs, waves[i].agprs);
    EXPECT_EQ((*again)[i].lanes, layout.lanes);
  }
  EXPECT_EQ((*again)[0].lds, waves[0].lds);
}

// Sizes are in blocks less one: VGPRs of 4 (gfx90a and later: of 8, AGPRs among them; waves of 32: of 8) in bits 5:0,
// SGPRs of 16 with 16 TTMPs in bits 8:6, LDS of 512 bytes from bit 9 (GFX9) or 10 on. Bit 31 makes it a state.
INSTANTIATE_TEST_SUITE_P(
    Generations, ContextSave,
    testing::Values(
        Layout{"gfx900", 64, 0x80000000 | 1 | 2 << 6 | 1 << 9, 1, 1 << 17, 1 << 16, 8, 0, 32, 64, 9, 0},
        Layout{"gfx908", 64, 0x80000000 | 1 | 2 << 6 | 1 << 9, 1, 1 << 17, 1 << 16, 8, 8, 32, 64, 9, 0},
        Layout{"gfx90a", 64, 0x80000000 | 1 | 2 << 6 | 1 << 9 | 1 << 24, 1, 1 << 17, 1 << 16, 8, 8, 32, 64, 9, 0},
        Layout{"gfx942", 64, 0x80000000 | 1 | 7 << 6 | 1 << 9 | 2 << 24, 1, 1 << 17, 1 << 16, 12, 4, 112, 64, 9, 0},
        Layout{"gfx1030", 32, 0x80000000 | 1 << 24 | 2 | 1 << 10, 2, 1 << 12, 1 << 29, 24, 0, 128, 0, 8, 0},
        Layout{"gfx1030", 64, 0x80000000 | 2 | 1 << 10, 2, 1 << 12, 1 << 29, 12, 0, 128, 0, 8, 0},
        Layout{"gfx1100", 32, 0x80000000 | 1 << 24 | 2 | 1 << 10, 2, 1 << 12, 1 << 29, 24, 0, 128, 0, 8, 0},
        Layout{"gfx1201", 32, 0x80000000 | 1 << 24 | 2 | 1 << 10, 2, 1 << 12, 1 << 29, 24, 0, 128, 0, 8, 9}),
    [](const auto& info) { return fmt::format("{}Wave{}", info.param.processor, info.param.lanes); });

/// A core file with a queue that has two waves, and with one code object in its list that is no code object.
std::vector<uint8_t> small_core() {
  const target::Processor& processor = *target::find_processor("gfx906");
  std::vector<SavedWave> waves(2);
  for (SavedWave& wave : waves) {
    wave.vgprs.resize(4 * 64);
    wave.sgprs.resize(16);
  }
  waves[0].is_first = waves[1].is_last = true;
  const std::vector<uint8_t> area = write_context_save_area(waves, processor);
  std::vector<uint8_t> memory;  // at 0x10000: the area; after it the list
  memory = area;
  const uint64_t list = 0x10000 + area.size();
  const uint64_t uri = list + 80;
  for (const uint64_t value : {uint64_t{10}, list + 40, uint64_t{0}, uint64_t{0}, uint64_t{0},  // r_debug
                               uint64_t{0x10000}, uri, uint64_t{0}, uint64_t{0}, uint64_t{0}})  // a link_map
    support::append(memory, value);
  for (const char c : std::string("memory://1#offset=0x10000&size=64")) memory.push_back(static_cast<uint8_t>(c));
  memory.push_back(0);

  CoreState state;
  state.runtime = {.r_debug = list, .runtime_state = 1, .ttmp_setup = 1};
  KfdAgent agent{};
  agent.gpu_id = 1;
  agent.gfx_target_version = 90006;
  state.agents = {agent};
  KfdQueue queue{};
  queue.gpu_id = 1;
  queue.queue_type = 2;
  queue.ctx_save_restore_address = 0x10000;
  queue.ctx_save_restore_area_size = static_cast<uint32_t>(area.size());
  state.queues = {queue};
  const std::vector<uint8_t> note = write_core_state(state);

  Elf64_Ehdr header = elf::header_of(ET_CORE, elf::osabi_amdgpu_hsa, 0, 0);
  header.e_phoff = sizeof header;
  header.e_phnum = 2;
  header.e_phentsize = sizeof(Elf64_Phdr);
  Elf64_Phdr segments[2]{};
  segments[0].p_type = PT_NOTE;
  segments[0].p_offset = sizeof header + sizeof segments;
  segments[0].p_filesz = segments[0].p_memsz = 20 + note.size();
  segments[0].p_align = 4;
  segments[1].p_type = PT_LOAD;
  segments[1].p_vaddr = 0x10000;
  segments[1].p_offset = segments[0].p_offset + segments[0].p_filesz;
  segments[1].p_filesz = segments[1].p_memsz = memory.size();
  std::vector<uint8_t> file;
  support::append(file, header);
  support::append(file, segments);
  support::append(file, uint32_t{7});
  support::append(file, static_cast<uint32_t>(note.size()));
  support::append(file, uint32_t{33});
  for (const char c : {'A', 'M', 'D', 'G', 'P', 'U', '\0', '\0'}) file.push_back(static_cast<uint8_t>(c));
  file.insert(file.end(), note.begin(), note.end());
  file.insert(file.end(), memory.begin(), memory.end());
  return file;
}

TEST(CoreFile, IsRead) {
  const std::vector<uint8_t> file = small_core();
  ASSERT_TRUE(is_gpu_core(file));
  const auto core = read_gpu_core(file);
  ASSERT_TRUE(core) << core.error().message;
  ASSERT_EQ(core->queues.size(), 1u);
  EXPECT_EQ(core->queues[0].error, "");
  EXPECT_EQ(core->queues[0].waves.size(), 2u);
  ASSERT_EQ(core->codes.size(), 1u);
  EXPECT_EQ(core->codes[0].address, 0x10000u);
  EXPECT_EQ(core->codes[0].file.size(), 64u);
  EXPECT_TRUE(core->memory(0x10000, 40));
  EXPECT_FALSE(core->memory(0xFFFF, 40));
  EXPECT_FALSE(core->memory(0x10000, UINT64_MAX));
}

TEST(CoreFile, WhatIsDamagedInAQueueIsSaidOfIt) {
  std::vector<uint8_t> file = small_core();
  const auto core = read_gpu_core(file);
  ASSERT_TRUE(core);
  const uint64_t area = core->segments[0].offset;
  file[area + 4] = 12;  // the control stack's size
  const auto damaged = read_gpu_core(file);
  ASSERT_TRUE(damaged) << damaged.error().message;
  EXPECT_THAT(damaged->queues[0].error, HasSubstr("context save area is damaged"));
  EXPECT_EQ(damaged->codes.size(), 1u);
}

TEST(CoreFile, AListThatGoesInCirclesEnds) {
  std::vector<uint8_t> file = small_core();
  const auto core = read_gpu_core(file);
  ASSERT_TRUE(core);
  const uint64_t list = core->state.runtime.r_debug;
  const uint64_t next = core->segments[0].offset + (list + 40 + 24 - 0x10000);
  const uint64_t itself = list + 40;
  std::memcpy(file.data() + next, &itself, sizeof itself);
  const auto circle = read_gpu_core(file);
  ASSERT_TRUE(circle);
  EXPECT_EQ(circle->codes.size(), 1u);
  EXPECT_THAT(circle->code_error, HasSubstr("circle"));
}

TEST(CoreFile, NothingThatIsDamagedCrashes) {
  const std::vector<uint8_t> whole = small_core();
  std::mt19937 random(7);
  const auto below = [&](size_t limit) { return std::uniform_int_distribution<size_t>(0, limit - 1)(random); };
  for (int i = 0; i < 3000; ++i) {
    std::vector<uint8_t> file = whole;
    for (size_t changes = 1 + below(4); changes > 0; --changes) {
      const size_t at = below(below(2) == 0 ? file.size() : std::min<size_t>(file.size(), 700));
      file[at] = below(2) == 0 ? 0xFF : static_cast<uint8_t>(random());
    }
    if (below(4) == 0) file.resize(below(file.size()));
    const auto core = read_gpu_core(file);
    if (!core) continue;
    uint64_t bytes = 0;
    for (const CoreQueue& queue : core->queues)
      for (const SavedWave& wave : queue.waves) bytes += (wave.vgprs.size() + wave.agprs.size()) * 4;
    EXPECT_LE(bytes, file.size());
  }
}

}  // namespace
}  // namespace Atoll::object
