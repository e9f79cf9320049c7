// isa: the words of modifiers and immediates that are a number each, in the numbers' order, as the printer writes them
// and the assembler reads them.
// Sources: the vendor's ISA guides ("SDWA", "Image resource", "Buffer formats", "S_SENDMSG", "S_DELAY_ALU"); the
// spelling is LLVM's.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace Atoll::isa::names {

using Name = std::string_view;

inline constexpr std::array<Name, 7> sdwa_selects{"BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3", "WORD_0", "WORD_1", "DWORD"};
inline constexpr std::array<Name, 3> sdwa_unused{"UNUSED_PAD", "UNUSED_SEXT", "UNUSED_PRESERVE"};

/// Without "SQ_RSRC_IMG_".
inline constexpr std::array<Name, 8> dimensions{"1D",       "2D",       "3D",      "CUBE",
                                                "1D_ARRAY", "2D_ARRAY", "2D_MSAA", "2D_MSAA_ARRAY"};
/// Without "BUF_DATA_FORMAT_"; before GFX10.
inline constexpr std::array<Name, 16> data_formats{
    "INVALID",    "8",          "16",      "8_8",   "32",          "16_16",    "10_11_11",    "11_11_10",
    "10_10_10_2", "2_10_10_10", "8_8_8_8", "32_32", "16_16_16_16", "32_32_32", "32_32_32_32", "RESERVED_15"};
/// Without "BUF_NUM_FORMAT_".
inline constexpr std::array<Name, 8> number_formats{"UNORM", "SNORM", "USCALED",    "SSCALED",
                                                    "UINT",  "SINT",  "RESERVED_6", "FLOAT"};
inline constexpr std::array<Name, 8> number_formats_with_snorm_ogl{"UNORM", "SNORM", "USCALED",   "SSCALED",
                                                                   "UINT",  "SINT",  "SNORM_OGL", "FLOAT"};
constexpr const std::array<Name, 8>& number_formats_of(bool snorm_ogl) {
  return snorm_ogl ? number_formats_with_snorm_ogl : number_formats;
}
/// Defaults where the text names no format.
inline constexpr uint8_t usual_data_format = 1, usual_number_format = 0, usual_unified_format = 1;

/// Formats of a matrix's elements, without "MATRIX_FMT_", and of its scales, without "MATRIX_SCALE_FMT_".
inline constexpr std::array<Name, 5> matrix_formats{"FP8", "BF8", "FP6", "BF6", "FP4"};
inline constexpr std::array<Name, 3> matrix_scale_formats{"E8", "E5M3", "E4M3"};
/// Which half of the lanes has a matrix's scales, without "MATRIX_SCALE_".
inline constexpr std::array<Name, 2> matrix_scale_rows{"ROW0", "ROW1"};

/// Operations of messages, without "GS_OP_" and "SYSMSG_OP_"; an empty one is none.
inline constexpr std::array<Name, 4> gs_operations{"NOP", "CUT", "EMIT", "EMIT_CUT"};
inline constexpr std::array<Name, 5> system_operations{"", "ECC_ERR_INTERRUPT", "REG_RD", "HOST_TRAP_ACK", "TTRACE_PC"};
inline constexpr unsigned host_trap_acknowledged = 3;

/// instid0 and instid1 of s_delay_alu, and its instskip.
inline constexpr std::array<Name, 12> delay_dependencies{
    "NO_DEP",        "VALU_DEP_1",    "VALU_DEP_2",        "VALU_DEP_3",   "VALU_DEP_4",   "TRANS32_DEP_1",
    "TRANS32_DEP_2", "TRANS32_DEP_3", "FMA_ACCUM_CYCLE_1", "SALU_CYCLE_1", "SALU_CYCLE_2", "SALU_CYCLE_3"};
inline constexpr std::array<Name, 6> delay_skips{"SAME", "NEXT", "SKIP_1", "SKIP_2", "SKIP_3", "SKIP_4"};

/// Parts of s_version's immediate: a version in the low byte, and what the code is made for.
struct NamedNumber {
  uint16_t value;
  Name name;
};
inline constexpr std::array shader_versions{
    NamedNumber{0, "UC_VERSION_GFX7"},         NamedNumber{4, "UC_VERSION_GFX10"},
    NamedNumber{6, "UC_VERSION_GFX11"},        NamedNumber{9, "UC_VERSION_GFX12"},
    NamedNumber{0x2000, "UC_VERSION_W64_BIT"}, NamedNumber{0x4000, "UC_VERSION_W32_BIT"},
    NamedNumber{0x8000, "UC_VERSION_MDP_BIT"}};

/// Bits of the mode of s_set_gpr_idx_on.
inline constexpr std::array<Name, 4> gpr_index_modes{"SRC0", "SRC1", "SRC2", "DST"};

}  // namespace Atoll::isa::names
