// object: context save areas (context_save.h).
#include "object/context_save.h"

#include <algorithm>
#include <cstring>

#include "support/bytes.h"

namespace Atoll::object {

namespace {

using support::ErrorKind;
using support::fail;
using support::Result;
using target::Generation;

struct Header {
  uint32_t control_stack_offset, control_stack_bytes, wave_state_offset, wave_state_bytes;
  uint32_t debugger_offset, debugger_bytes;
  uint64_t error_payload;
  uint32_t error_event, reserved;
};
static_assert(sizeof(Header) == 40);

using Agprs = ContextLayout::Agprs;

constexpr ContextLayout gfx9 = {.state_words = 1,
                                .vgpr_block = 4,
                                .vgpr_block32 = 0,
                                .sgprs = 0,
                                .aliases = 6,
                                .named_sgprs = 102,
                                .agprs = Agprs::none,
                                .lds_shift = 9,
                                .lds_bits = 9,
                                .first_wave = 17,
                                .last_wave = 16,
                                .gap = 64,
                                .mode = 9,
                                .flat_scratch = 0,
                                .scc = 0,
                                .packet_ttmp = 6,
                                .packet_shift = 0,
                                .wave_ttmp = 11,
                                .wave_shift = 0,
                                .wave_bits = 6,
                                .ids_in_sgprs = true,
                                .setup_ttmp = 0,
                                .parks = true,
                                .parked_ttmp = 7};

constexpr ContextLayout with_agprs(ContextLayout layout, Agprs agprs, uint8_t vgpr_block) {
  layout.agprs = agprs;
  layout.vgpr_block = vgpr_block;
  return layout;
}
constexpr ContextLayout gfx908 = with_agprs(gfx9, Agprs::as_many, 4);
constexpr ContextLayout gfx90a = with_agprs(gfx9, Agprs::after_vgprs, 8);

constexpr ContextLayout make_gfx940() {
  ContextLayout layout = gfx90a;
  layout.packet_ttmp = 11;
  layout.packet_shift = 6;
  layout.setup_ttmp = 11;
  layout.parks = false;
  return layout;
}
constexpr ContextLayout gfx940 = make_gfx940();

constexpr ContextLayout make_gfx10() {
  ContextLayout layout = gfx9;
  layout.state_words = 2;
  layout.vgpr_block32 = 8;
  layout.sgprs = 128;
  layout.aliases = 2;
  layout.named_sgprs = 106;
  layout.lds_shift = 10;
  layout.lds_bits = 8;
  layout.first_wave = 12;
  layout.last_wave = 29;
  layout.gap = 0;
  layout.mode = 8;
  layout.flat_scratch = 9;
  return layout;
}
constexpr ContextLayout gfx10 = make_gfx10();

constexpr ContextLayout make_gfx12() {
  ContextLayout layout = gfx10;
  layout.scc = 9;
  layout.packet_ttmp = layout.wave_ttmp = 8;
  layout.wave_shift = 25;
  layout.wave_bits = 5;
  layout.ids_in_sgprs = false;
  layout.setup_ttmp = 8;
  layout.parked_ttmp = 10;
  return layout;
}
constexpr ContextLayout gfx12 = make_gfx12();

constexpr unsigned lds_unit = 512, sgpr_block = 16, ttmps = 16, hardware_registers = 16;
constexpr uint32_t is_state = 1u << 31, is_event = 1u << 30, is_wave32 = 1u << 24;
constexpr unsigned accum_offset_shift = 24, accum_offset_block = 4;
/// Fields of TTMP6, which the trap handler writes.
constexpr uint32_t wave_stopped = 1u << 30;
constexpr unsigned trap_shift = 25;
constexpr uint32_t grid_has_y_and_z = 1u << 30, ttmps_are_set_up = 1u << 31;
constexpr unsigned packet_bits_after_6 = 25;
/// The control stack begins with the header of the packet by which it is read back.
constexpr unsigned packet_header_words = 2;

constexpr uint32_t bits(uint32_t word, unsigned shift, unsigned count) { return word >> shift & ((1u << count) - 1); }
constexpr uint32_t put(uint32_t word, unsigned shift, unsigned count, uint32_t value) {
  const uint32_t mask = ((1u << count) - 1) << shift;
  return (word & ~mask) | (value << shift & mask);
}
uint64_t pair(std::span<const uint32_t> words, size_t first) { return words[first] | uint64_t{words[first + 1]} << 32; }
void set_pair(std::span<uint32_t> words, size_t first, uint64_t value) {
  words[first] = static_cast<uint32_t>(value);
  words[first + 1] = static_cast<uint32_t>(value >> 32);
}

/// The first SGPR whose place is not its own.
size_t first_alias(const ContextLayout& layout, size_t sgprs) {
  return std::min<size_t>(layout.named_sgprs + layout.aliases, sgprs) - std::min<size_t>(layout.aliases, sgprs);
}

/// How many registers a wave has, in memory.
struct Sizes {
  unsigned lanes = 64;
  size_t vgprs = 0, agprs = 0, sgprs = 0, lds_bytes = 0;

  uint64_t bytes() const { return (ttmps + hardware_registers + sgprs + (agprs + vgprs) * lanes) * sizeof(uint32_t); }
};

/// Decodes a state word. The LDS belongs to first waves only.
Sizes sizes_of(uint32_t state, const ContextLayout& layout) {
  Sizes sizes;
  const bool wave32 = layout.vgpr_block32 != 0 && (state & is_wave32) != 0;
  sizes.lanes = wave32 ? 32 : 64;
  const size_t blocks = bits(state, 0, 6) + size_t{1};
  sizes.vgprs = blocks * (wave32 ? layout.vgpr_block32 : layout.vgpr_block);
  if (layout.agprs == Agprs::as_many) sizes.agprs = sizes.vgprs;
  if (layout.agprs == Agprs::after_vgprs) {
    const size_t all = sizes.vgprs;
    sizes.vgprs = std::min<size_t>(all, (bits(state, accum_offset_shift, 6) + size_t{1}) * accum_offset_block);
    sizes.agprs = all - sizes.vgprs;
  }
  sizes.sgprs = layout.sgprs != 0 ? layout.sgprs : bits(state, 6, 3) * size_t{sgpr_block};
  sizes.lds_bytes = size_t{bits(state, layout.lds_shift, layout.lds_bits)} * lds_unit;
  return sizes;
}

/// The state word of waves like this one; its work-group's first wave has the LDS.
uint32_t state_word(const SavedWave& wave, size_t lds_bytes, const ContextLayout& layout) {
  const auto blocks = [](size_t count, size_t size) { return static_cast<uint32_t>((count + size - 1) / size); };
  const size_t vgprs = wave.vgprs.size() / wave.lanes, agprs = wave.agprs.size() / wave.lanes;
  uint32_t state = is_state;
  size_t all = std::max<size_t>(vgprs, 1);
  if (layout.agprs == Agprs::as_many) all = std::max(all, agprs);
  if (layout.agprs == Agprs::after_vgprs) {
    const uint32_t own = std::max(1u, blocks(vgprs, accum_offset_block));
    state = put(state, accum_offset_shift, 6, own - 1);
    all = size_t{own} * accum_offset_block + agprs;
  }
  if (wave.lanes == 32) state |= is_wave32;
  state = put(state, 0, 6, blocks(all, wave.lanes == 32 ? layout.vgpr_block32 : layout.vgpr_block) - 1);
  if (layout.sgprs == 0) state = put(state, 6, 3, blocks(wave.sgprs.size(), sgpr_block));
  return put(state, layout.lds_shift, layout.lds_bits, blocks(lds_bytes, lds_unit));
}

void append_words(std::vector<uint8_t>& bytes, std::span<const uint32_t> words, size_t count) {
  const size_t begin = bytes.size(), there = std::min(count, words.size());
  bytes.resize(begin + count * sizeof(uint32_t));
  if (there != 0) std::memcpy(bytes.data() + begin, words.data(), there * sizeof(uint32_t));
}

/// The words from `offset` on, which then lies after them. They must be there.
std::vector<uint32_t> take_words(std::span<const uint8_t> bytes, uint64_t& offset, size_t count) {
  std::vector<uint32_t> words(count);
  if (count != 0) std::memcpy(words.data(), bytes.data() + offset, count * sizeof(uint32_t));
  offset += count * sizeof(uint32_t);
  return words;
}

}  // namespace

const ContextLayout& context_layout(const target::Processor& processor) {
  if (processor.generation >= Generation::gfx12) return gfx12;
  if (processor.generation >= Generation::gfx10) return gfx10;
  if (processor.generation >= Generation::gfx940) return gfx940;
  if (processor.unified_vgprs) return gfx90a;
  return processor.has_agprs ? gfx908 : gfx9;
}

SavedState state_of(const SavedWave& wave, const target::Processor& processor) {
  const ContextLayout& layout = context_layout(processor);
  SavedState state;
  const auto& ttmp = wave.ttmps;
  state.is_stopped =
      (ttmp[6] & wave_stopped) != 0 && (layout.setup_ttmp == 0 || (ttmp[layout.setup_ttmp] & ttmps_are_set_up) != 0);
  state.pc = pair(wave.hardware, saved::pc);
  if (state.is_stopped && layout.parks) state.pc = ttmp[layout.parked_ttmp] | uint64_t{bits(ttmp[11], 7, 16)} << 32;
  if (state.is_stopped) state.trap = bits(ttmp[6], trap_shift, 4);
  state.exec = pair(wave.hardware, saved::exec);
  if (wave.lanes == 32) state.exec &= UINT32_MAX;
  const size_t aliases = first_alias(layout, wave.sgprs.size());
  if (wave.sgprs.size() >= layout.aliases) {
    state.vcc = pair(wave.sgprs, aliases + layout.aliases - 2);
    if (layout.flat_scratch == 0) state.flat_scratch = pair(wave.sgprs, aliases);
  }
  if (layout.flat_scratch != 0) state.flat_scratch = pair(wave.hardware, layout.flat_scratch);
  state.mode = wave.hardware[layout.mode];
  state.scc = bits(wave.hardware[saved::status], layout.scc, 1) != 0;
  if (layout.ids_in_sgprs) {
    std::copy_n(&ttmp[8], 3, state.work_group.begin());
  } else {
    state.work_group[0] = ttmp[9];
    if ((ttmp[8] & grid_has_y_and_z) != 0) {
      state.work_group[1] = ttmp[7] & 0xFFFF;
      state.work_group[2] = ttmp[7] >> 16;
    }
  }
  state.wave = bits(ttmp[layout.wave_ttmp], layout.wave_shift, layout.wave_bits);
  state.packet = bits(ttmp[layout.packet_ttmp], layout.packet_shift, packet_bits_after_6);
  return state;
}

void set_state(SavedWave& wave, const SavedState& state, const target::Processor& processor) {
  const ContextLayout& layout = context_layout(processor);
  auto& ttmp = wave.ttmps;
  set_pair(wave.hardware, saved::pc, state.pc);
  set_pair(wave.hardware, saved::exec, state.exec);
  const size_t aliases = first_alias(layout, wave.sgprs.size());
  if (wave.sgprs.size() >= layout.aliases) {
    set_pair(wave.sgprs, aliases + layout.aliases - 2, state.vcc);
    if (layout.flat_scratch == 0) set_pair(wave.sgprs, aliases, state.flat_scratch);
  }
  if (layout.flat_scratch != 0) set_pair(wave.hardware, layout.flat_scratch, state.flat_scratch);
  wave.hardware[layout.mode] = state.mode;
  wave.hardware[saved::status] = put(wave.hardware[saved::status], layout.scc, 1, state.scc ? 1 : 0);
  if (layout.ids_in_sgprs) {
    std::ranges::copy(state.work_group, &ttmp[8]);
  } else {
    ttmp[9] = state.work_group[0];
    ttmp[7] = (state.work_group[1] & 0xFFFF) | state.work_group[2] << 16;
    ttmp[8] |= grid_has_y_and_z;
  }
  ttmp[layout.wave_ttmp] = put(ttmp[layout.wave_ttmp], layout.wave_shift, layout.wave_bits, state.wave);
  ttmp[layout.packet_ttmp] = put(ttmp[layout.packet_ttmp], layout.packet_shift, packet_bits_after_6, state.packet);
  if (layout.setup_ttmp != 0) ttmp[layout.setup_ttmp] |= ttmps_are_set_up;
  if (!state.is_stopped) return;
  ttmp[6] = put(ttmp[6] | wave_stopped, trap_shift, 4, state.trap);
  if (!layout.parks) return;
  ttmp[layout.parked_ttmp] = static_cast<uint32_t>(state.pc);
  ttmp[11] = put(ttmp[11], 7, 16, static_cast<uint32_t>(state.pc >> 32));
}

namespace {

/// Bits of TRAPSTS and EXCP_FLAG_PRIV (ISA guides).
struct ExceptionBits {
  uint32_t memory_violation, illegal_instruction;
};
ExceptionBits exception_bits(const target::Processor& processor) {
  if (processor.generation >= Generation::gfx12) return {.memory_violation = 1u << 4, .illegal_instruction = 1u << 6};
  return {.memory_violation = 1u << 8, .illegal_instruction = 1u << 11};
}

}  // namespace

WaveException exception_of(const SavedWave& wave, const target::Processor& processor) {
  const ExceptionBits of = exception_bits(processor);
  const uint32_t status = wave.hardware[saved::trap_status];
  if ((status & of.memory_violation) != 0) return WaveException::memory_violation;
  if ((status & of.illegal_instruction) != 0) return WaveException::illegal_instruction;
  return WaveException::none;
}

void set_exception(SavedWave& wave, WaveException exception, const target::Processor& processor) {
  const ExceptionBits of = exception_bits(processor);
  uint32_t& status = wave.hardware[saved::trap_status];
  if (exception == WaveException::memory_violation) status |= of.memory_violation;
  if (exception == WaveException::illegal_instruction) status |= of.illegal_instruction;
}

std::vector<uint8_t> write_context_save_area(std::span<const SavedWave> waves, const target::Processor& processor) {
  const ContextLayout& layout = context_layout(processor);
  std::vector<uint32_t> control(packet_header_words);
  uint32_t last_state = 0;
  std::vector<Sizes> sizes;
  size_t lds_bytes = 0;
  for (const SavedWave& wave : waves) {
    if (wave.is_first) lds_bytes = wave.lds.size();
    const uint32_t state = state_word(wave, lds_bytes, layout);
    if (state != last_state) {
      control.push_back(state);
      control.resize(control.size() + layout.state_words - 1);
    }
    last_state = state;
    control.push_back((wave.is_first ? 1u << layout.first_wave : 0) | (wave.is_last ? 1u << layout.last_wave : 0));
    sizes.push_back(sizes_of(state, layout));
  }

  // The first wave's registers are the last, so they are written from the last wave's on.
  std::vector<uint8_t> registers;
  for (size_t i = waves.size(); i-- > 0;) {
    const SavedWave& wave = waves[i];
    const Sizes& size = sizes[i];
    append_words(registers, wave.vgprs, size.vgprs * size.lanes);
    append_words(registers, wave.agprs, size.agprs * size.lanes);
    append_words(registers, wave.sgprs, size.sgprs);
    append_words(registers, wave.hardware, hardware_registers);
    append_words(registers, wave.ttmps, ttmps);
    if (wave.is_first) {
      registers.insert(registers.end(), wave.lds.begin(), wave.lds.end());
      registers.resize(registers.size() + size.lds_bytes - wave.lds.size());
    }
    registers.resize(registers.size() + layout.gap);
  }

  Header header{};
  header.control_stack_offset = sizeof header;
  header.control_stack_bytes = static_cast<uint32_t>(control.size() * sizeof(uint32_t));
  header.wave_state_offset = static_cast<uint32_t>(sizeof header + header.control_stack_bytes + registers.size());
  header.wave_state_bytes = static_cast<uint32_t>(registers.size());
  std::vector<uint8_t> area;
  support::append(area, header);
  append_words(area, control, control.size());
  area.insert(area.end(), registers.begin(), registers.end());
  return area;
}

Result<std::vector<SavedWave>> read_context_save_area(std::span<const uint8_t> area, const target::Processor& processor,
                                                      uint64_t max_bytes) {
  const auto broken = [](std::string_view what) {
    return fail(ErrorKind::invalid_file, "the context save area is damaged: {}", what);
  };
  const ContextLayout& layout = context_layout(processor);
  const auto header = support::read<Header>(area, 0);
  if (!header) return broken("its header is truncated");
  const auto control = support::slice(area, header->control_stack_offset, header->control_stack_bytes);
  if (!control || header->wave_state_bytes > header->wave_state_offset || header->wave_state_offset > area.size() ||
      header->control_stack_offset + uint64_t{header->control_stack_bytes} !=
          header->wave_state_offset - header->wave_state_bytes)
    return broken("its header has invalid offsets");
  const auto registers = area.subspan(header->wave_state_offset - header->wave_state_bytes, header->wave_state_bytes);

  std::vector<SavedWave> waves;
  Sizes sizes;
  bool has_state = false;
  uint64_t end = registers.size(), used = 0;
  for (uint64_t at = packet_header_words * sizeof(uint32_t); at < control->size(); at += sizeof(uint32_t)) {
    const auto word = support::read<uint32_t>(*control, at);
    if (!word) return broken("its control stack ends within a word");
    if ((*word & is_event) != 0) continue;
    if ((*word & is_state) != 0) {
      sizes = sizes_of(*word, layout);
      has_state = true;
      at += (layout.state_words - 1) * sizeof(uint32_t);
      continue;
    }
    if (!has_state) return broken("a wave comes before the word that says how many registers it has");
    SavedWave wave{.lanes = sizes.lanes,
                   .is_first = bits(*word, layout.first_wave, 1) != 0,
                   .is_last = bits(*word, layout.last_wave, 1) != 0};
    const uint64_t lds_bytes = wave.is_first ? sizes.lds_bytes : 0;
    const uint64_t all = sizes.bytes() + lds_bytes + layout.gap;
    if (all > end) return broken(fmt::format("the registers of wave {} are not all there", waves.size()));
    used += all;
    if (used > max_bytes) return broken("it has more waves than the file has room for");
    end -= all;
    uint64_t offset = end;
    wave.vgprs = take_words(registers, offset, sizes.vgprs * sizes.lanes);
    wave.agprs = take_words(registers, offset, sizes.agprs * sizes.lanes);
    wave.sgprs = take_words(registers, offset, sizes.sgprs);
    std::ranges::copy(take_words(registers, offset, hardware_registers), wave.hardware.begin());
    std::ranges::copy(take_words(registers, offset, ttmps), wave.ttmps.begin());
    const auto lds = registers.subspan(offset, lds_bytes);
    wave.lds.assign(lds.begin(), lds.end());
    waves.push_back(std::move(wave));
  }
  if (end != 0) return broken(fmt::format("{} bytes of registers belong to no wave", end));
  return waves;
}

}  // namespace Atoll::object
