#include "isa/opcode_map.h"

#include <atomic>
#include <memory>

namespace Atoll::isa {

namespace {

// Where VOP1, VOP2, VOPC and VINTRP instructions are among VOP3's opcodes on GFX8 and GFX9 (ISA guides, "VOP3A").
constexpr unsigned vop1_in_vop3 = 0x140, vop2_in_vop3 = 0x100, vopc_in_vop3 = 0, vintrp_in_vop3 = 0x270;

}  // namespace

Layout::Layout(const target::Processor& processor) {
  const bool unified = processor.has(target::Feature::gfx90a_insts);
  accumulation_bit = even_tuples = scc_bit = row_newbcast = unified;
  tfe_bit = gds_bit = !unified;
  scratch_vaddr_bit = processor.has(target::Feature::gfx940_insts);
  flat_lds_bit = !scratch_vaddr_bit;
  cache_levels = scratch_vaddr_bit;
  fadd_returns = processor.has(target::Feature::atomic_fadd_rtn_insts);
  wide_lds_loads = processor.has(target::Feature::gfx950_insts);
}

OpcodeMap::OpcodeMap(const target::Processor& processor) : layout(processor) {
  for (unsigned i = 1; i < static_cast<unsigned>(Opcode::count); ++i) {
    const auto opcode = static_cast<Opcode>(i);
    const InstructionRow& row = isa::row(opcode);
    const Opcodes::Change now = row.opcodes.on(processor.generation);
    if (now.opcode == Opcodes::none || !processor.has(row.feature)) continue;
    empty = false;
    if (now.vop3_only) {
      vop3[now.opcode] = opcode;
    } else {
      place(opcode, row, now.opcode);
    }
  }
}

void OpcodeMap::place(Opcode opcode, const InstructionRow& row, unsigned value) {
  switch (row.encoding) {
    case Encoding::sop1:
      sop1[value] = opcode;
      break;
    case Encoding::sop2:
      sop2[value] = opcode;
      break;
    case Encoding::sopk:
      sopk[value] = opcode;
      break;
    case Encoding::sopc:
      sopc[value] = opcode;
      break;
    case Encoding::sopp:
      sopp[value] = opcode;
      break;
    case Encoding::smem:
      smem[value] = opcode;
      break;
    case Encoding::vop1:
      vop1[value] = opcode;
      break;
    case Encoding::vop2:
      vop2[value] = opcode;
      break;
    case Encoding::vopc:
      vopc[value] = opcode;
      break;
    case Encoding::vop3:
      vop3[value] = opcode;
      break;
    case Encoding::vop3p:
      (row.has(flag::scaled) ? scaled : vop3p)[value] = opcode;
      break;
    case Encoding::vintrp:
      vintrp[value] = opcode;
      break;
    case Encoding::ds:
      ds[value] = opcode;
      break;
    case Encoding::flat:
      flat[value] = opcode;
      break;
    case Encoding::global:
      global[value] = opcode;
      break;
    case Encoding::scratch:
      scratch[value] = opcode;
      break;
    case Encoding::mubuf:
      mubuf[value] = opcode;
      break;
    case Encoding::mtbuf:
      mtbuf[value] = opcode;
      break;
    case Encoding::mimg:
      mimg[value] = opcode;
      break;
    case Encoding::exp:
      exp[value] = opcode;
      break;
    case Encoding::vopd:
    case Encoding::vinterp:
    case Encoding::ldsdir:
      break;  // not before GFX11
  }
  if (!row.has(flag::vop3)) return;
  switch (row.encoding) {
    case Encoding::vop1:
      vop3[value + vop1_in_vop3] = opcode;
      break;
    case Encoding::vop2:
      vop3[value + vop2_in_vop3] = opcode;
      break;
    case Encoding::vopc:
      vop3[value + vopc_in_vop3] = opcode;
      break;
    case Encoding::vintrp:
      vop3[value + vintrp_in_vop3] = opcode;
      break;
    default:
      break;
  }
}

const OpcodeMap& opcode_map_of(const target::Processor& processor) {
  static std::array<std::atomic<const OpcodeMap*>, 128> made{};
  const auto all = target::processors();
  const target::Processor* known = &processor;
  if (known < all.data() || known >= all.data() + all.size()) known = target::find_processor(processor.name);  // a copy
  auto& slot = made[static_cast<size_t>(known - all.data()) % made.size()];
  const OpcodeMap* map = slot.load(std::memory_order_acquire);
  if (map == nullptr) {
    // Threads may make it at the same time; the first one's stays.
    auto fresh = std::make_unique<const OpcodeMap>(processor);
    if (slot.compare_exchange_strong(map, fresh.get(), std::memory_order_acq_rel)) map = fresh.release();
  }
  return *map;
}

}  // namespace Atoll::isa
