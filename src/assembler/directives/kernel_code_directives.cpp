// assembler: the directives of code object V2 (parser.h): its notes, the type of its kernels' symbols, and the record
// of 256 bytes that stands before a kernel's code, amd_kernel_code_t. Source: user guide, "Code Object V2 Assembler
// Directives"; the record and its bits: "AMD Kernel Code Object amd_kernel_code_t" of the older ABI document. The keys
// are those that LLVM reads.
#include <fmt/format.h>

#include "assembler/catalyst/catalyst_text.h"
#include "assembler/syntax/parser.h"
#include "object/code_object_v2.h"
#include "object/elf.h"
#include "object/kernel_code.h"
#include "support/bytes.h"

namespace Atoll::assembler {

namespace {

using object::KernelCodeField;
using object::KernelCodeKey;

const KernelCodeField* find_field(std::string_view key) {
  for (const KernelCodeField& field : object::kernel_code_fields()) {
    const bool is_key = field.key != KernelCodeKey::none && field.name == key;
    if (is_key || (!field.older_key.empty() && field.older_key == key)) return &field;
  }
  return nullptr;
}

}  // namespace

object::RawKernelCode usual_kernel_code(const target::Processor& processor, bool wave32) {
  object::RawKernelCode record{};
  for (const KernelCodeField& field : object::kernel_code_fields()) field.set(record, field.usual);
  const auto set = [&](std::string_view name, uint64_t value) { object::kernel_code_field(name).set(record, value); };
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
  emit_note("AMD", object::elf::nt_amd_hsa_code_object_version, content, true);
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
  version = target::isa_version_in_v2(version, target_.xnack);
  std::vector<uint8_t> content;
  for (const std::string& text : {vendor, architecture}) {
    support::append(content, static_cast<uint16_t>(text.size() + 1));
  }
  for (const uint32_t part : {version.major, version.minor, version.stepping}) {
    support::append(content, part);
  }
  for (const std::string& text : {vendor, architecture}) {
    content.insert(content.end(), text.begin(), text.end());
    content.push_back(0);
  }
  emit_note("AMD", object::elf::nt_amd_hsa_isa_version, content, true);
  return true;
}

/// .amd_amdgpu_isa "amdgcn-amd-amdhsa--gfx901": a note for readers, with what is in quotes
bool Parser::directive_isa_name(std::string_view, Place) {
  const auto text = quoted();
  if (!text || !expect_end()) return false;
  emit_note("AMD", object::elf::nt_amd_hsa_isa_name, {reinterpret_cast<const uint8_t*>(text->data()), text->size()},
            true);
  return true;
}

/// .amd_amdgpu_hsa_metadata, YAML, .end_amd_amdgpu_hsa_metadata
bool Parser::directive_hsa_metadata(std::string_view, Place place) {
  if (!expect_end()) return false;
  auto text = text_until(".end_amd_amdgpu_hsa_metadata", place);
  if (!text) return false;
  if (const auto metadata = object::read_metadata_v2(*text); !metadata) return error(place, metadata.error().message);
  if (text->ends_with("\n\n")) text->pop_back();  // the line break before the end of the directive
  emit_note("AMD", object::elf::nt_amd_hsa_metadata, {reinterpret_cast<const uint8_t*>(text->data()), text->size()},
            true);
  return true;
}

/// .amdgpu_hsa_kernel name
bool Parser::directive_amdgpu_hsa_kernel(std::string_view, Place) {
  const auto symbol_name = name();
  if (!symbol_name || !expect_end()) return false;
  Symbol& symbol = unit_.symbol(*symbol_name);
  symbol.type = object::elf::stt_amdgpu_hsa_kernel;
  unit_.keep(symbol);
  return true;
}

/// .amd_kernel_code_t, lines "key = value", .end_amd_kernel_code_t
bool Parser::directive_amd_kernel_code_t(std::string_view, Place begin) {
  if (!expect_end()) return false;
  object::RawKernelCode record = usual_kernel_code(*target_.processor, options_.wave32);
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
    if (field == nullptr) {
      good = error(place, fmt::format("amd_kernel_code_t has no {}", key));
    } else if (!expect(TokenKind::equal, "expected '='")) {
      good = false;
    } else if (const auto value = absolute()) {
      if (field->key == KernelCodeKey::sets) field->set(record, static_cast<uint64_t>(*value));
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
