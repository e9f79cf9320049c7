// target: the table of processors.
//
// A row is written as the family it belongs to (everything that is the same from one chip of a generation to the
// next) and what is its own: name, ELF number, instruction groups, the features that its target ID may name, and
// the generic processor that covers it. The rows are put together when Atoll is compiled.
// Sources: user guide, "Processors" (names, features, generics), "Kernel Descriptor" (granules, sizes), "Initial Kernel
// Execution State"; llvm/BinaryFormat/ELF.h (EF_AMDGPU_MACH_AMDGCN_*); the instruction groups are what
// `clang -mcpu=... -emit-llvm` lists as target-features, and tests/target asks llvm-mc about each.
#include "target/processor.h"

#include <algorithm>
#include <array>
#include <initializer_list>

namespace Atoll::target {
namespace {

constexpr uint64_t set(std::initializer_list<Feature> features, uint64_t more = 0) {
  for (const Feature feature : features) more |= uint64_t{1} << static_cast<unsigned>(feature);
  return more;
}

constexpr uint64_t without(uint64_t features, Feature feature) {
  return features & ~(uint64_t{1} << static_cast<unsigned>(feature));
}

constexpr uint8_t wave32 = 1, wave64 = 2;

// The families. Each is a processor without a name; a later one starts from an earlier one and says what changed.

constexpr Processor gfx6{
    .name = {},
    .elf_machine = 0,
    .generation = Generation::gfx6,
    .features = set({Feature::image_insts, Feature::extended_image_insts}),
    .supports_xnack = false,
    .supports_sramecc = false,
    .addressable_vgprs = 256,
    .vgpr_granule = 4,
    .vgpr_granule_wave32 = 0,
    .simd_vgprs = 256,
    .vgpr_allocation_granule = 4,
    .addressable_sgprs = 104,
    .fixed_sgprs = false,
    .allocated_sgprs = 0,
    .user_sgprs = 16,
    .shared_vgprs = false,
    .work_group_processors = false,
    .ieee_mode = true,
    .fp16_ovfl_mode = false,
    .has_agprs = false,
    .ocp_fp8 = false,
    .matrix_sums = MatrixSums::chained,
    .wave_matrices = WaveMatrices::none,
    .permute_lanes = 64,
    .unified_vgprs = false,
    .packed_work_item_ids = false,
    .kernarg_preload = false,
    .flat_scratch = FlatScratch::none,
    .buffer_resources = BufferResources::gfx6,
    .architected_work_group_ids = false,
    .lds_bytes = 32 << 10,
    .scratch_bytes_per_wave = ((1 << 13) - 1) << 10,  // COMPUTE_TMPRING_SIZE.WAVESIZE: 13 bits, in 256 dwords
    .simds_per_cu = 4,
    .waves_per_simd = 10,
    .wave_sizes = wave64,
    .generic = false,
    .generic_processor = {},
    .generic_since = 0,
};

constexpr Processor gfx7 = [] {
  Processor p = gfx6;
  p.generation = Generation::gfx7;
  p.flat_scratch = FlatScratch::offset_size;
  p.lds_bytes = 64 << 10;
  return p;
}();

constexpr Processor gfx8 = [] {
  Processor p = gfx7;
  p.generation = Generation::gfx8;
  p.buffer_resources = BufferResources::gfx8;
  p.addressable_sgprs = 102;
  return p;
}();

/// Waves with fewer SGPRs start with wrong ones.
constexpr Processor gfx8_sgpr_fault = [] {
  Processor p = gfx8;
  p.allocated_sgprs = 96;
  return p;
}();

constexpr Processor gfx9 = [] {
  Processor p = gfx8;
  p.generation = Generation::gfx9;
  p.fp16_ovfl_mode = true;
  p.flat_scratch = FlatScratch::absolute;
  return p;
}();

constexpr Processor gfx908 = [] {
  Processor p = gfx9;
  p.features = set({Feature::fma_mix_insts, Feature::dl_insts, Feature::dot1_insts, Feature::dot2_insts,
                    Feature::dot3_insts, Feature::dot4_insts, Feature::dot5_insts, Feature::dot6_insts,
                    Feature::dot7_insts, Feature::dot10_insts, Feature::mai_insts, Feature::atomic_fadd_no_rtn_insts},
                   p.features);
  p.has_agprs = true;
  p.matrix_sums = MatrixSums::exact;
  return p;
}();

constexpr Processor gfx90a = [] {
  Processor p = gfx908;
  p.generation = Generation::gfx90a;
  p.features =
      without(set({Feature::gfx90a_insts, Feature::atomic_fadd_rtn_insts}, p.features), Feature::extended_image_insts);
  p.addressable_vgprs = 512;
  p.vgpr_granule = 8;
  p.simd_vgprs = 512;
  p.vgpr_allocation_granule = 8;
  p.matrix_sums = MatrixSums::pairwise_flushing;
  p.unified_vgprs = true;
  p.packed_work_item_ids = true;
  p.kernarg_preload = true;
  p.waves_per_simd = 8;
  return p;
}();

constexpr Processor gfx940 = [] {
  Processor p = gfx90a;
  p.generation = Generation::gfx940;
  p.features = without(set({Feature::gfx940_insts}, p.features), Feature::image_insts);
  p.matrix_sums = MatrixSums::aligned;
  p.flat_scratch = FlatScratch::architected;
  return p;
}();

constexpr Processor gfx950 = [] {
  Processor p = gfx940;
  p.generation = Generation::gfx950;
  p.features = set({Feature::gfx950_insts, Feature::fp8_conversion_insts, Feature::dot12_insts, Feature::dot13_insts},
                   p.features);
  p.lds_bytes = 160 << 10;
  p.ocp_fp8 = true;
  p.matrix_sums = MatrixSums::chained;  // nobody has measured them
  return p;
}();

constexpr Processor gfx10 = [] {
  Processor p = gfx9;
  p.generation = Generation::gfx10;
  p.buffer_resources = BufferResources::gfx10;
  p.permute_lanes = 32;  // each half by itself: "RDNA3" ISA guide, DS_BPERMUTE_B32, and how Mesa gets round it
  p.features = set({Feature::fma_mix_insts, Feature::dl_insts}, p.features);
  p.vgpr_granule_wave32 = 8;
  p.simd_vgprs = 512;
  p.addressable_sgprs = 106;
  p.fixed_sgprs = true;
  p.shared_vgprs = true;
  p.work_group_processors = true;
  p.simds_per_cu = 2;
  p.waves_per_simd = 20;
  p.wave_sizes = wave32 | wave64;
  return p;
}();

constexpr uint64_t gfx10_dots = set({Feature::dot1_insts, Feature::dot2_insts, Feature::dot5_insts, Feature::dot6_insts,
                                     Feature::dot7_insts, Feature::dot10_insts});

constexpr Processor gfx10_3 = [] {
  Processor p = gfx10;
  p.generation = Generation::gfx10_3;
  p.vgpr_allocation_granule = 8;
  p.features |= gfx10_dots | set({Feature::msaa_load_insts});
  p.waves_per_simd = 16;
  return p;
}();

constexpr Processor gfx11 = [] {
  Processor p = gfx10_3;
  p.generation = Generation::gfx11;
  p.wave_matrices = WaveMatrices::replicated;
  p.features = set({Feature::dot5_insts, Feature::dot7_insts, Feature::dot8_insts, Feature::dot9_insts,
                    Feature::dot10_insts, Feature::dot12_insts, Feature::atomic_fadd_rtn_insts,
                    Feature::atomic_fadd_no_rtn_insts, Feature::msaa_load_insts},
                   gfx10.features);
  p.packed_work_item_ids = true;
  p.buffer_resources = BufferResources::gfx11;
  p.flat_scratch = FlatScratch::architected;
  p.scratch_bytes_per_wave = ((1 << 15) - 1) << 8;  // WAVESIZE: 15 bits, in 64 dwords
  return p;
}();

/// With half as many VGPRs again.
constexpr Processor with_more_vgprs(Processor p) {
  p.simd_vgprs = 768;
  p.vgpr_allocation_granule = 12;
  return p;
}

constexpr Processor gfx11_5 = [] {
  Processor p = gfx11;
  p.generation = Generation::gfx11_5;
  return p;
}();

/// What LLVM's main branch says of gfx1170 to gfx1172, which are alike and not in LLVM 22: GFX11.5 with GFX12's matrix
/// instructions, 8-bit floats and IEEE 754-2019 minimum and maximum (llvm/test/MC/AMDGPU/gfx1170_*, pull requests
/// 180185, 180191, 180516, 185625), and without IEEE and DX10_CLAMP (182107). Sizes are GFX11.5's.
constexpr Processor gfx11_7 = [] {
  Processor p = gfx11_5;
  p.generation = Generation::gfx11_7;
  p.wave_matrices = WaveMatrices::spread;
  p.ieee_mode = false;
  p.features = without(set({Feature::dot11_insts, Feature::fp8_conversion_insts}, p.features), Feature::dot5_insts);
  p.ocp_fp8 = true;
  return p;
}();

constexpr Processor gfx12 = [] {
  Processor p = with_more_vgprs(gfx11);
  p.generation = Generation::gfx12;
  p.wave_matrices = WaveMatrices::spread;
  p.permute_lanes = 64;
  p.shared_vgprs = false;
  p.ieee_mode = false;
  p.features = without(set({Feature::dot11_insts, Feature::fp8_conversion_insts}, p.features), Feature::dot5_insts);
  p.ocp_fp8 = true;
  p.architected_work_group_ids = true;
  p.scratch_bytes_per_wave = ((1 << 18) - 1) << 8;  // WAVESIZE: 18 bits
  return p;
}();

constexpr Processor gfx12_5 = [] {
  Processor p = gfx12;
  p.generation = Generation::gfx12_5;
  p.features = set({Feature::fma_mix_insts, Feature::dl_insts, Feature::dot7_insts, Feature::dot8_insts,
                    Feature::fp8_conversion_insts, Feature::atomic_fadd_rtn_insts, Feature::atomic_fadd_no_rtn_insts});
  p.addressable_vgprs = 1024;
  p.vgpr_granule = 0;
  p.vgpr_granule_wave32 = 16;
  p.simd_vgprs = 512;
  p.vgpr_allocation_granule = 8;
  p.simds_per_cu = 4;
  p.user_sgprs = 32;
  p.kernarg_preload = true;
  p.lds_bytes = 320 << 10;
  p.wave_sizes = wave32;
  return p;
}();

// What target IDs may say.
enum class Names : uint8_t { nothing, xnack, xnack_and_sramecc };
using enum Names;

constexpr Processor row(std::string_view name, uint32_t elf_machine, Processor family, Names names,
                        std::string_view generic_processor = {}, uint64_t more_features = 0) {
  family.name = name;
  family.elf_machine = elf_machine;
  family.features |= more_features;
  family.supports_xnack = names != nothing;
  family.supports_sramecc = names == xnack_and_sramecc;
  family.generic_processor = generic_processor;
  family.generic_since = generic_processor.empty() ? 0 : 1;  // every one was there from the first version on
  family.generic = name.ends_with("-generic");
  return family;
}

constexpr uint64_t mad_mix = set({Feature::mad_mix_insts});
constexpr uint64_t fma_mix = set({Feature::fma_mix_insts});
constexpr uint64_t gfx906_more = set({Feature::fma_mix_insts, Feature::dl_insts, Feature::dot1_insts,
                                      Feature::dot2_insts, Feature::dot7_insts, Feature::dot10_insts});
constexpr uint64_t gfx942_more = set({Feature::fp8_conversion_insts, Feature::xf32_insts});

// The assembler writes both settings for gfx1250 and gfx1251 too, although the compiler does not let one name them.
constexpr std::array table{
    row("gfx600", 0x020, gfx6, nothing),
    row("gfx601", 0x021, gfx6, nothing),
    row("gfx602", 0x03a, gfx6, nothing),
    row("gfx700", 0x022, gfx7, nothing),
    row("gfx701", 0x023, gfx7, nothing),
    row("gfx702", 0x024, gfx7, nothing),
    row("gfx703", 0x025, gfx7, nothing),
    row("gfx704", 0x026, gfx7, nothing),
    row("gfx705", 0x03b, gfx7, nothing),
    row("gfx801", 0x028, gfx8, xnack, {}, set({Feature::unpacked_d16})),
    row("gfx802", 0x029, gfx8_sgpr_fault, nothing, {}, set({Feature::unpacked_d16})),
    row("gfx803", 0x02a, gfx8, nothing, {}, set({Feature::unpacked_d16})),
    row("gfx805", 0x03c, gfx8_sgpr_fault, nothing, {}, set({Feature::unpacked_d16})),
    row("gfx810", 0x02b, gfx8, xnack),
    row("gfx900", 0x02c, gfx9, xnack, "gfx9-generic", mad_mix),
    row("gfx902", 0x02d, gfx9, xnack, "gfx9-generic", mad_mix),
    row("gfx904", 0x02e, gfx9, xnack, "gfx9-generic", fma_mix),
    row("gfx906", 0x02f, gfx9, xnack_and_sramecc, "gfx9-generic", gfx906_more),
    row("gfx908", 0x030, gfx908, xnack_and_sramecc),
    row("gfx909", 0x031, gfx9, xnack, "gfx9-generic", mad_mix),
    row("gfx90a", 0x03f, gfx90a, xnack_and_sramecc),
    row("gfx90c", 0x032, gfx9, xnack, "gfx9-generic", mad_mix),
    row("gfx942", 0x04c, gfx940, xnack_and_sramecc, "gfx9-4-generic", gfx942_more),
    row("gfx950", 0x04f, gfx950, xnack_and_sramecc, "gfx9-4-generic"),
    row("gfx9-generic", 0x051, gfx9, xnack),
    row("gfx9-4-generic", 0x05f, gfx940, xnack_and_sramecc),
    row("gfx1010", 0x033, gfx10, xnack, "gfx10-1-generic"),
    row("gfx1011", 0x034, gfx10, xnack, "gfx10-1-generic", gfx10_dots),
    row("gfx1012", 0x035, gfx10, xnack, "gfx10-1-generic", gfx10_dots),
    row("gfx1013", 0x042, gfx10, xnack, "gfx10-1-generic", set({Feature::msaa_load_insts})),
    row("gfx1030", 0x036, gfx10_3, nothing, "gfx10-3-generic"),
    row("gfx1031", 0x037, gfx10_3, nothing, "gfx10-3-generic"),
    row("gfx1032", 0x038, gfx10_3, nothing, "gfx10-3-generic"),
    row("gfx1033", 0x039, gfx10_3, nothing, "gfx10-3-generic"),
    row("gfx1034", 0x03e, gfx10_3, nothing, "gfx10-3-generic"),
    row("gfx1035", 0x03d, gfx10_3, nothing, "gfx10-3-generic"),
    row("gfx1036", 0x045, gfx10_3, nothing, "gfx10-3-generic"),
    row("gfx10-1-generic", 0x052, gfx10, xnack),
    row("gfx10-3-generic", 0x053, gfx10_3, nothing),
    row("gfx1100", 0x041, with_more_vgprs(gfx11), nothing, "gfx11-generic"),
    row("gfx1101", 0x046, with_more_vgprs(gfx11), nothing, "gfx11-generic"),
    row("gfx1102", 0x047, gfx11, nothing, "gfx11-generic"),
    row("gfx1103", 0x044, gfx11, nothing, "gfx11-generic"),
    row("gfx1150", 0x043, gfx11_5, nothing, "gfx11-generic"),
    row("gfx1151", 0x04a, with_more_vgprs(gfx11_5), nothing, "gfx11-generic"),
    row("gfx1152", 0x055, gfx11_5, nothing, "gfx11-generic"),
    row("gfx1153", 0x058, gfx11_5, nothing, "gfx11-generic"),
    row("gfx1154", 0x057, gfx11_5, nothing, "gfx11-generic"),
    row("gfx11-generic", 0x054, gfx11, nothing),
    row("gfx1170", 0x05d, gfx11_7, nothing, "gfx11-7-generic"),
    row("gfx1171", 0x05e, gfx11_7, nothing, "gfx11-7-generic"),
    row("gfx1172", 0x05c, gfx11_7, nothing, "gfx11-7-generic"),
    row("gfx11-7-generic", 0x062, gfx11_7, nothing),
    row("gfx1200", 0x048, gfx12, nothing, "gfx12-generic"),
    row("gfx1201", 0x04e, gfx12, nothing, "gfx12-generic"),
    row("gfx12-generic", 0x059, gfx12, nothing),
    row("gfx1250", 0x049, gfx12_5, xnack_and_sramecc, "gfx12-5-generic"),
    row("gfx1251", 0x05a, gfx12_5, xnack_and_sramecc, "gfx12-5-generic", set({Feature::dpp_64bit})),
    row("gfx12-5-generic", 0x05b, gfx12_5, xnack_and_sramecc),
};

}  // namespace

IsaVersion isa_version(const Processor& processor) {
  std::string_view name = processor.name.substr(3);
  const auto digit = [](char c) { return static_cast<unsigned>(c <= '9' ? c - '0' : c - 'a' + 10); };
  const auto number = [&](std::string_view digits) {
    unsigned value = 0;
    for (const char c : digits) value = value * 10 + digit(c);
    return value;
  };
  if (!processor.generic) {
    const size_t major = name.size() - 2;
    return {number(name.substr(0, major)), digit(name[major]), digit(name[major + 1])};
  }
  // "gfx9-4-generic" is 9.4.0. LLVM's number of gfx11-generic is that of its first stepping without a bug of gfx1100's.
  const size_t dash = name.find('-');
  const bool minor = name[dash + 1] != 'g';
  const unsigned major = number(name.substr(0, dash));
  return {major, minor ? digit(name[dash + 1]) : 0, major == 11 && !minor ? 3u : 0u};
}

std::span<const Processor> processors() { return table; }

std::span<const AlternativeName> alternative_names() {
  static constexpr AlternativeName names[] = {
      {"tahiti", "gfx600"},   {"pitcairn", "gfx601"}, {"verde", "gfx601"},     {"hainan", "gfx602"},
      {"oland", "gfx602"},    {"kaveri", "gfx700"},   {"hawaii", "gfx701"},    {"kabini", "gfx703"},
      {"mullins", "gfx703"},  {"bonaire", "gfx704"},  {"carrizo", "gfx801"},   {"iceland", "gfx802"},
      {"tonga", "gfx802"},    {"fiji", "gfx803"},     {"polaris10", "gfx803"}, {"polaris11", "gfx803"},
      {"tongapro", "gfx805"}, {"stoney", "gfx810"},
  };
  return names;
}

const Processor* find_processor(std::string_view name) {
  const auto alternative = std::ranges::find(alternative_names(), name, &AlternativeName::name);
  if (alternative != alternative_names().end()) name = alternative->processor;
  const auto found = std::ranges::find(table, name, &Processor::name);
  return found == table.end() ? nullptr : &*found;
}

const Processor* find_processor(uint32_t elf_machine) {
  const auto found = std::ranges::find(table, elf_machine, &Processor::elf_machine);
  return found == table.end() ? nullptr : &*found;
}

}  // namespace Atoll::target
