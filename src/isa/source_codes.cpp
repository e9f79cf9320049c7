#include "isa/source_codes.h"

#include <initializer_list>

namespace Atoll::isa {
namespace {

struct Codes {
  SourceCodes codes{};

  void registers(unsigned first, unsigned last, uint16_t reg) {
    for (unsigned code = first; code <= last; ++code) {
      codes[code] = {.kind = OperandKind::scalar, .reg = static_cast<uint16_t>(reg + (code - first))};
    }
  }
  void kinds(unsigned first, std::initializer_list<OperandKind> all) {
    for (const OperandKind kind : all) codes[first++] = {.kind = kind};
  }
  void integers(unsigned first, unsigned last, int from, int step) {
    for (unsigned code = first; code <= last; ++code, from += step) {
      codes[code] = {.kind = OperandKind::constant, .integer = static_cast<int8_t>(from)};
    }
  }
  void floats(unsigned first, unsigned last) {
    for (unsigned code = first; code <= last; ++code) {
      codes[code] = {.kind = OperandKind::constant, .float_index = static_cast<int8_t>(code - first)};
    }
  }
};

}  // namespace

SourceCodes source_codes_of(target::Generation generation) {
  using enum target::Generation;
  Codes made;
  // On all generations.
  made.registers(106, 107, scalar::vcc_lo);
  made.registers(126, 127, scalar::exec_lo);
  made.integers(128, 192, 0, 1);
  made.integers(193, 208, -1, -1);
  made.floats(240, generation >= gfx8 ? 248 : 247);
  // LLVM 22 decodes the codes that are reserved on a generation as what they are on others; later versions refuse them
  // on GFX12.5 (llvm-project issue 214952).
  if (generation < gfx11) made.kinds(251, {OperandKind::vccz, OperandKind::execz});
  made.kinds(253, {OperandKind::scc, OperandKind::lds_direct});
  made.codes[255] = {.kind = OperandKind::constant, .literal = true};
  if (generation >= gfx12_5) made.codes[254] = {.kind = OperandKind::constant, .literal = true, .wide = true};

  if (generation >= gfx12_5) {
    made.kinds(230, {OperandKind::flat_scratch_base_lo, OperandKind::flat_scratch_base_hi});
  }

  const unsigned last_sgpr = generation >= gfx10 ? 105 : generation >= gfx8 ? 101 : 103;
  made.registers(0, last_sgpr, scalar::s0);
  if (generation == gfx7) made.registers(104, 105, scalar::flat_scratch_lo);
  if (last_sgpr == 101) {
    made.registers(102, 103, scalar::flat_scratch_lo);
    made.registers(104, 105, scalar::xnack_mask_lo);
  }
  if (generation >= gfx9) {
    made.registers(108, 123, scalar::ttmp0);
    made.kinds(235, {OperandKind::shared_base, OperandKind::shared_limit});
    if (generation < gfx12_5) made.kinds(237, {OperandKind::private_base, OperandKind::private_limit});
    if (generation < gfx11) made.kinds(239, {OperandKind::pops_exiting_wave_id});
  } else {
    made.registers(108, 109, scalar::tba_lo);
    made.registers(110, 111, scalar::tma_lo);
    made.registers(112, 123, scalar::ttmp0);
  }
  made.registers(generation >= gfx11 ? 125 : 124, generation >= gfx11 ? 125 : 124, scalar::m0);
  if (generation >= gfx10)
    made.registers(generation >= gfx11 ? 124 : 125, generation >= gfx11 ? 124 : 125, scalar::null);
  return made.codes;
}

}  // namespace Atoll::isa
