// assembler: the directives of code object V2 (parser.h): its notes, the type of its kernels' symbols, and the record
// of 256 bytes that stands before a kernel's code, amd_kernel_code_t. Source: user guide, "Code Object V2 Assembler
// Directives"; the record and its bits: "AMD Kernel Code Object amd_kernel_code_t" of the older ABI document. The keys
// are those that LLVM reads.
#include <array>

#include <fmt/format.h>

#include "assembler/parser.h"
#include "support/bytes.h"

namespace Atoll::assembler {

namespace {

constexpr size_t record_size = 256;

/// Where a key's value is: bits of the record, counted from its first byte's lowest.
struct KernelCodeField {
  std::string_view key, older_key;
  uint16_t bit;
  uint8_t width;
  uint64_t usual = 0;
};

constexpr unsigned resources1 = 48 * 8, resources2 = 52 * 8, properties = 56 * 8;  // COMPUTE_PGM_RSRC1 and 2

constexpr KernelCodeField fields[] = {
    {"amd_code_version_major", "kernel_code_version_major", 0, 32, 1},
    {"amd_code_version_minor", "kernel_code_version_minor", 4 * 8, 32, 2},
    {"amd_machine_kind", "machine_kind", 8 * 8, 16, 1},
    {"amd_machine_version_major", "machine_version_major", 10 * 8, 16},
    {"amd_machine_version_minor", "machine_version_minor", 12 * 8, 16},
    {"amd_machine_version_stepping", "machine_version_stepping", 14 * 8, 16},
    {"kernel_code_entry_byte_offset", "", 16 * 8, 64, record_size},
    {"kernel_code_prefetch_byte_size", "", 32 * 8, 64},
    {"granulated_workitem_vgpr_count", "compute_pgm_rsrc1_vgprs", resources1, 6},
    {"granulated_wavefront_sgpr_count", "compute_pgm_rsrc1_sgprs", resources1 + 6, 4},
    {"priority", "compute_pgm_rsrc1_priority", resources1 + 10, 2},
    {"float_mode", "compute_pgm_rsrc1_float_mode", resources1 + 12, 8},
    {"priv", "compute_pgm_rsrc1_priv", resources1 + 20, 1},
    {"enable_dx10_clamp", "compute_pgm_rsrc1_dx10_clamp", resources1 + 21, 1},
    {"debug_mode", "compute_pgm_rsrc1_debug_mode", resources1 + 22, 1},
    {"enable_ieee_mode", "compute_pgm_rsrc1_ieee_mode", resources1 + 23, 1},
    {"enable_wgp_mode", "compute_pgm_rsrc1_wgp_mode", resources1 + 29, 1},
    {"enable_mem_ordered", "compute_pgm_rsrc1_mem_ordered", resources1 + 30, 1},
    {"enable_fwd_progress", "compute_pgm_rsrc1_fwd_progress", resources1 + 31, 1},
    {"enable_sgpr_private_segment_wave_byte_offset", "compute_pgm_rsrc2_scratch_en", resources2, 1},
    {"user_sgpr_count", "compute_pgm_rsrc2_user_sgpr", resources2 + 1, 5},
    {"enable_trap_handler", "compute_pgm_rsrc2_trap_handler", resources2 + 6, 1},
    {"enable_sgpr_workgroup_id_x", "compute_pgm_rsrc2_tgid_x_en", resources2 + 7, 1},
    {"enable_sgpr_workgroup_id_y", "compute_pgm_rsrc2_tgid_y_en", resources2 + 8, 1},
    {"enable_sgpr_workgroup_id_z", "compute_pgm_rsrc2_tgid_z_en", resources2 + 9, 1},
    {"enable_sgpr_workgroup_info", "compute_pgm_rsrc2_tg_size_en", resources2 + 10, 1},
    {"enable_vgpr_workitem_id", "compute_pgm_rsrc2_tidig_comp_cnt", resources2 + 11, 2},
    {"enable_exception_msb", "compute_pgm_rsrc2_excp_en_msb", resources2 + 13, 2},
    {"granulated_lds_size", "compute_pgm_rsrc2_lds_size", resources2 + 15, 9},
    {"enable_exception", "compute_pgm_rsrc2_excp_en", resources2 + 24, 7},
    {"enable_sgpr_private_segment_buffer", "", properties, 1},
    {"enable_sgpr_dispatch_ptr", "", properties + 1, 1},
    {"enable_sgpr_queue_ptr", "", properties + 2, 1},
    {"enable_sgpr_kernarg_segment_ptr", "", properties + 3, 1},
    {"enable_sgpr_dispatch_id", "", properties + 4, 1},
    {"enable_sgpr_flat_scratch_init", "", properties + 5, 1},
    {"enable_sgpr_private_segment_size", "", properties + 6, 1},
    {"enable_sgpr_grid_workgroup_count_x", "", properties + 7, 1},
    {"enable_sgpr_grid_workgroup_count_y", "", properties + 8, 1},
    {"enable_sgpr_grid_workgroup_count_z", "", properties + 9, 1},
    {"enable_wavefront_size32", "", properties + 10, 1},
    {"enable_ordered_append_gds", "", properties + 16, 1},
    {"private_element_size", "", properties + 17, 2},
    {"is_ptr64", "", properties + 19, 1},
    {"is_dynamic_callstack", "", properties + 20, 1},
    {"is_debug_enabled", "", properties + 21, 1},
    {"is_xnack_enabled", "", properties + 22, 1},
    {"workitem_private_segment_byte_size", "", 60 * 8, 32},
    {"workgroup_group_segment_byte_size", "", 64 * 8, 32},
    {"gds_segment_byte_size", "", 68 * 8, 32},
    {"kernarg_segment_byte_size", "", 72 * 8, 64},
    {"workgroup_fbarrier_count", "", 80 * 8, 32},
    {"wavefront_sgpr_count", "", 84 * 8, 16},
    {"workitem_vgpr_count", "", 86 * 8, 16},
    {"reserved_vgpr_first", "", 88 * 8, 16},
    {"reserved_vgpr_count", "", 90 * 8, 16},
    {"reserved_sgpr_first", "", 92 * 8, 16},
    {"reserved_sgpr_count", "", 94 * 8, 16},
    {"debug_wavefront_private_segment_offset_sgpr", "", 96 * 8, 16},
    {"debug_private_segment_buffer_sgpr", "", 98 * 8, 16},
    {"kernarg_segment_alignment", "", 100 * 8, 8, 4},  // these are exponents of 2
    {"group_segment_alignment", "", 101 * 8, 8, 4},
    {"private_segment_alignment", "", 102 * 8, 8, 4},
    {"wavefront_size", "", 103 * 8, 8, 6},
    {"call_convention", "", 104 * 8, 32, 0xFFFFFFFF},
    {"runtime_loader_kernel_symbol", "", 120 * 8, 64},
};

using Record = std::array<uint8_t, record_size>;

void put(Record& record, const KernelCodeField& field, uint64_t value) {
  for (unsigned i = 0; i < field.width; ++i) {
    const unsigned at = field.bit + i;
    const auto mask = static_cast<uint8_t>(1u << at % 8);
    record[at / 8] = static_cast<uint8_t>((value >> i & 1) != 0 ? record[at / 8] | mask : record[at / 8] & ~mask);
  }
}

const KernelCodeField* find_field(std::string_view key) {
  for (const KernelCodeField& field : fields) {
    if (field.key == key || (!field.older_key.empty() && field.older_key == key)) return &field;
  }
  return nullptr;
}

Record usual_record(const target::Processor& processor, bool wave32) {
  Record record{};
  for (const KernelCodeField& field : fields) put(record, field, field.usual);
  const auto set = [&](std::string_view key, uint64_t value) { put(record, *find_field(key), value); };
  const target::IsaVersion version = target::isa_version(processor);
  set("amd_machine_version_major", version.major);
  set("amd_machine_version_minor", version.minor);
  set("amd_machine_version_stepping", version.stepping);
  if (processor.work_group_processors) {
    set("enable_wgp_mode", 1);
    set("enable_mem_ordered", 1);
  }
  if (wave32) {
    set("wavefront_size", 5);
    set("enable_wavefront_size32", 1);
  }
  return record;
}

/// V2 has a number of its own for code that may retry faulting memory accesses.
uint32_t stepping_with_xnack(const target::IsaVersion& version, target::Setting xnack) {
  const bool on = xnack == target::Setting::any || xnack == target::Setting::on;
  const bool has_another =
      version.major == 9 && version.minor == 0 && version.stepping <= 6 && version.stepping % 2 == 0;
  return version.stepping + (on && has_another ? 1u : 0u);
}

}  // namespace

/// .hsa_code_object_version major, minor
bool Parser::directive_hsa_code_object_version(std::string_view, Place) {
  const Place place = lexer().place();
  const auto major = absolute();
  if (!major || !expect_comma()) return false;
  const auto minor = absolute();
  if (!minor || !expect_end()) return false;
  if (*major < 1 || *major > 2) return error(place, fmt::format("unsupported code object version {}", *major));
  code_object_version_ = 2;
  std::vector<uint8_t> content;
  support::append(content, static_cast<uint32_t>(*major));
  support::append(content, static_cast<uint32_t>(*minor));
  constexpr uint32_t nt_amd_hsa_code_object_version = 1;
  emit_note("AMD", nt_amd_hsa_code_object_version, content, true);
  return true;
}

/// .hsa_code_object_isa [major, minor, stepping, "vendor", "architecture"]
bool Parser::directive_hsa_code_object_isa(std::string_view, Place) {
  target::IsaVersion version = target::isa_version(*target_.processor);
  std::string vendor = "AMD", architecture = "AMDGPU";
  if (!lexer().at_end()) {
    for (auto* part : {&version.major, &version.minor, &version.stepping}) {
      const auto number = absolute();
      if (!number || !expect_comma()) return false;
      *part = static_cast<unsigned>(*number);
    }
    const auto first = quoted();
    if (!first || !expect_comma()) return false;
    const auto second = quoted();
    if (!second || !expect_end()) return false;
    vendor = *first;
    architecture = *second;
  }
  std::vector<uint8_t> content;
  for (const std::string& text : {vendor, architecture}) {
    support::append(content, static_cast<uint16_t>(text.size() + 1));
  }
  for (const uint32_t part : {version.major, version.minor, stepping_with_xnack(version, target_.xnack)}) {
    support::append(content, part);
  }
  for (const std::string& text : {vendor, architecture}) {
    content.insert(content.end(), text.begin(), text.end());
    content.push_back(0);
  }
  constexpr uint32_t nt_amd_hsa_isa_version = 3;
  emit_note("AMD", nt_amd_hsa_isa_version, content, true);
  return true;
}

/// .amdgpu_hsa_kernel name
bool Parser::directive_amdgpu_hsa_kernel(std::string_view, Place) {
  const auto symbol_name = name();
  if (!symbol_name || !expect_end()) return false;
  constexpr uint8_t stt_amdgpu_hsa_kernel = 10;
  Symbol& symbol = unit_.symbol(*symbol_name);
  symbol.type = stt_amdgpu_hsa_kernel;
  unit_.keep(symbol);
  return true;
}

/// .amd_kernel_code_t, lines "key = value", .end_amd_kernel_code_t
bool Parser::directive_amd_kernel_code_t(std::string_view, Place begin) {
  if (!expect_end()) return false;
  Record record = usual_record(*target_.processor, options_.wave32);
  bool good = true;
  for (;;) {
    while (lexer().accept(TokenKind::end_of_statement)) {
    }
    if (lexer().is(TokenKind::end_of_file)) return error(begin, "expected value identifier or .end_amd_kernel_code_t");
    const Place place = lexer().place();
    if (!lexer().is(TokenKind::identifier)) return error("expected value identifier or .end_amd_kernel_code_t");
    const std::string key(token().text);
    lexer().advance();
    if (key == ".end_amd_kernel_code_t") break;
    const KernelCodeField* field = find_field(key);
    constexpr std::string_view ignored = "max_scratch_backing_memory_byte_size";  // so does LLVM
    if (field == nullptr && key != ignored) {
      good = error(place, fmt::format("amd_kernel_code_t has no {}", key));
    } else if (!expect(TokenKind::equal, "expected '='")) {
      good = false;
    } else if (const auto value = absolute()) {
      if (field != nullptr) put(record, *field, static_cast<uint64_t>(*value));
    } else {
      good = false;
    }
    while (!lexer().at_end()) lexer().advance();
  }
  if (!good) return false;
  unit_.emit(record);
  return expect_end();
}

}  // namespace Atoll::assembler
