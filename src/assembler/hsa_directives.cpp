// assembler: AMDGPU's own directives, as of code object V3 (parser.h). Those of V2 are in kernel_code_directives.cpp.
// Source: user guide, "Assembler", "Code Object V3 Assembler Directives".
#include <elf.h>

#include <algorithm>

#include <fmt/format.h>

#include "assembler/parser.h"
#include "object/elf.h"
#include "object/kernel_descriptor_fields.h"
#include "object/metadata_writer.h"
#include "object/register_usage.h"

namespace Atoll::assembler {

namespace {

using object::DescriptorField;
using object::DescriptorWord;
namespace field = object::descriptor_field;

/// The user SGPRs that a field asks for when it is set.
struct UserSgprs {
  const DescriptorField* field;
  unsigned count;
};
constexpr UserSgprs user_sgprs[] = {
    {&field::private_segment_buffer, 4}, {&field::dispatch_ptr, 2},   {&field::queue_ptr, 2},
    {&field::kernarg_segment_ptr, 2},    {&field::dispatch_id, 2},    {&field::flat_scratch_init, 2},
    {&field::private_segment_size, 1},   {&field::preload_length, 1},
};

/// Directives that are no field of their own, or one under two names.
constexpr std::string_view figures[] = {
    ".amdhsa_group_segment_fixed_size",
    ".amdhsa_private_segment_fixed_size",
    ".amdhsa_kernarg_size",
    ".amdhsa_user_sgpr_count",
    ".amdhsa_system_sgpr_private_segment_wavefront_offset",
    ".amdhsa_enable_private_segment",
    ".amdhsa_next_free_vgpr",
    ".amdhsa_next_free_sgpr",
    ".amdhsa_accum_offset",
    ".amdhsa_reserve_vcc",
    ".amdhsa_reserve_flat_scratch",
    ".amdhsa_reserve_xnack_mask",
};

/// The field that a directive sets, if there is one; `exists` tells whether this processor has it.
const DescriptorField* find_field(std::string_view directive, const target::Processor& processor, bool& exists) {
  const DescriptorField* found = nullptr;
  exists = false;
  for (const DescriptorField* candidate : field::all) {
    if (candidate->directive != directive) continue;
    found = candidate;
    if (candidate->exists(processor)) {
      exists = true;
      return candidate;
    }
  }
  return found;
}

}  // namespace

bool Parser::directive_amdgcn_target(std::string_view, Place) {
  const Place place = lexer().place();
  const auto text = quoted();
  if (!text || !expect_end()) return false;
  const auto parsed = target::parse_target_id(*text);
  if (!parsed) return error(place, parsed.error().message);
  if (parsed->processor != target_.processor) {
    return error(place, fmt::format("the code is for {}, but is assembled for {}", parsed->processor->name,
                                    target_.processor->name));
  }
  target_.xnack = parsed->xnack;
  target_.sramecc = parsed->sramecc;
  return true;
}

bool Parser::directive_code_object_version(std::string_view, Place) {
  const Place place = lexer().place();
  const auto version = absolute();
  if (!version || !expect_end()) return false;
  if (*version < 3 || *version > 6) return error(place, fmt::format("unsupported code object version {}", *version));
  code_object_version_ = static_cast<uint32_t>(*version);
  return true;
}

/// .amdhsa_kernel name ... .end_amdhsa_kernel: the kernel's descriptor. Values may depend on symbols that are set
/// later, so the words of the descriptor are expressions.
bool Parser::directive_amdhsa_kernel(std::string_view, Place begin) {
  const auto kernel_name = name();
  if (!kernel_name || !expect_end()) return false;
  const target::Processor& processor = *target_.processor;
  std::map<std::string, const Expression*, std::less<>> given;
  std::map<std::string, Place, std::less<>> places;
  bool good = true;
  for (;;) {
    while (lexer().accept(TokenKind::end_of_statement)) {
    }
    if (lexer().is(TokenKind::end_of_file)) {
      return error(begin, "expected .amdhsa_ directive or .end_amdhsa_kernel");
    }
    const Place place = lexer().place();
    if (!lexer().is(TokenKind::identifier)) return error("expected .amdhsa_ directive or .end_amdhsa_kernel");
    const std::string directive(token().text);
    lexer().advance();
    if (directive == ".end_amdhsa_kernel") break;
    bool exists = true;
    const DescriptorField* set = nullptr;
    if (std::ranges::find(figures, directive) == std::end(figures)) set = find_field(directive, processor, exists);
    const bool architected = processor.flat_scratch == target::FlatScratch::architected;
    if (directive == ".amdhsa_system_sgpr_private_segment_wavefront_offset" ||
        directive == ".amdhsa_reserve_flat_scratch") {
      exists = !architected;
    }
    if (directive == ".amdhsa_reserve_flat_scratch") exists &= processor.flat_scratch != target::FlatScratch::none;
    const bool xnack_mask = target_.xnack == target::Setting::any || target_.xnack == target::Setting::on;
    if (directive == ".amdhsa_reserve_xnack_mask") exists = processor.generation >= target::Generation::gfx8;
    if (directive == ".amdhsa_enable_private_segment") exists = architected;
    if (directive == ".amdhsa_accum_offset") exists = processor.unified_vgprs;
    if (set == nullptr && std::ranges::find(figures, directive) == std::end(figures)) {
      good = error(place, "unknown .amdhsa_kernel directive");
    } else if (!exists) {
      good = error(place, fmt::format("{} has no {}", processor.name, directive));
    } else if (given.contains(directive)) {
      good = error(place, ".amdhsa_ directives cannot be repeated");
    } else {
      const Place value_place = lexer().place();
      const Expression* value = expression();
      if (value == nullptr) {
        good = false;
      } else {
        given.emplace(directive, value);
        places.emplace(directive, value_place);
        const auto number = unit_.absolute(*value);
        const int64_t limit = set != nullptr ? int64_t{1} << set->width : int64_t{1} << 32;
        if (number && (*number < 0 || *number >= limit)) good = error(value_place, "value out of range");
        if (directive == ".amdhsa_reserve_xnack_mask" && number && (*number != 0) != xnack_mask) {
          good = error(value_place, ".amdhsa_reserve_xnack_mask does not match target id");
        }
        good &= expect_end();
      }
    }
    while (!lexer().at_end()) lexer().advance();
  }
  if (!expect_end()) return false;

  const auto value_of = [&](std::string_view directive, int64_t fallback) -> const Expression* {
    const auto found = given.find(directive);
    return found != given.end() ? found->second : &unit_.constant(fallback);
  };
  const auto number_of = [&](std::string_view directive, int64_t fallback) -> std::optional<int64_t> {
    const auto found = given.find(directive);
    return found == given.end() ? std::optional(fallback) : unit_.absolute(*found->second);
  };
  const auto op = [&](Operation operation, const Expression* a, const Expression* b) {
    return &unit_.operation(operation, {a, b}, begin);
  };
  const auto constant = [&](int64_t value) { return &unit_.constant(value); };
  for (const char* required : {".amdhsa_next_free_vgpr", ".amdhsa_next_free_sgpr"}) {
    if (!given.contains(required)) good = error(begin, fmt::format("{} directive is required", required));
  }
  if (processor.unified_vgprs && !given.contains(".amdhsa_accum_offset")) {
    good = error(begin, ".amdhsa_accum_offset directive is required");
  }
  if (!good) return false;

  // Words, as sums of fields.
  const Expression* words[5];
  std::ranges::fill(words, constant(0));
  const auto put = [&](const DescriptorField& at, const Expression* value) {
    const Expression*& word = words[static_cast<size_t>(at.word)];
    const Expression* bits = op(Operation::bit_and, value, constant(at.mask()));
    word = op(Operation::bit_or, word, op(Operation::shift_left, bits, constant(at.shift)));
  };

  // What is not said. (Defaults: the table "AMDHSA Kernel Assembler Directives".)
  const auto default_of = [&](const DescriptorField& at) -> int64_t {
    if (&at == &field::denorm_mode_16_64) return 3;
    if (&at == &field::dx10_clamp || &at == &field::ieee_mode || &at == &field::work_group_id_x) return 1;
    if (&at == &field::wgp_mode || &at == &field::mem_ordered || &at == &field::fwd_progress) return 1;
    if (&at == &field::wavefront_size32) return options_.wave32;
    return 0;
  };
  for (const DescriptorField* at : field::all) {
    if (at->directive.empty() || !at->exists(processor)) continue;
    put(*at, value_of(at->directive, default_of(*at)));
  }
  put(field::private_segment, value_of(processor.flat_scratch == target::FlatScratch::architected
                                           ? ".amdhsa_enable_private_segment"
                                           : ".amdhsa_system_sgpr_private_segment_wavefront_offset",
                                       0));

  // User SGPRs: as many as what is asked for takes, or more.
  int64_t implied = 0;
  for (const UserSgprs& each : user_sgprs) {
    if (!each.field->exists(processor)) continue;
    const auto set = number_of(each.field->directive, 0);
    if (!set) return error(places[std::string(each.field->directive)], "expected absolute expression");
    implied += *set * each.count;
  }
  const auto count = number_of(".amdhsa_user_sgpr_count", implied);
  if (!count) return error(places[".amdhsa_user_sgpr_count"], "expected absolute expression");
  if (*count < implied) {
    return error(places[".amdhsa_user_sgpr_count"],
                 "amdgpu_user_sgpr_count smaller than than implied by enabled user SGPRs");
  }
  if (*count > processor.user_sgprs) return error(begin, "too many user SGPRs enabled");
  put(field::wide_user_sgpr_count.exists(processor) ? field::wide_user_sgpr_count : field::user_sgpr_count,
      constant(*count));

  // Registers, in granules.
  const auto blocks = [&](const Expression* registers, int64_t granule) {
    const Expression* some = &unit_.operation(Operation::maximum, {registers, constant(1)}, begin);
    const Expression* aligned = &unit_.operation(Operation::align_to, {some, constant(granule)}, begin);
    return op(Operation::subtract, op(Operation::divide, aligned, constant(granule)), constant(1));
  };
  const auto wave32 = number_of(".amdhsa_wavefront_size32", options_.wave32 ? 1 : 0);
  const bool both_sizes = processor.has_wave_size(32) && processor.has_wave_size(64);
  const bool narrow = both_sizes ? wave32.value_or(0) != 0 : field::wavefront_size32.exists(processor);
  const Expression* vgprs = value_of(".amdhsa_next_free_vgpr", 0);
  put(field::vgpr_count, blocks(vgprs, narrow ? processor.vgpr_granule_wave32 : processor.vgpr_granule));
  if (const auto known = unit_.absolute(*vgprs); known && *known > processor.addressable_vgprs) {
    return error(places[".amdhsa_next_free_vgpr"], "value out of range");
  }
  if (!processor.fixed_sgprs) {
    const Expression* sgprs = value_of(".amdhsa_next_free_sgpr", 0);
    if (const auto known = unit_.absolute(*sgprs); known && *known > processor.addressable_sgprs) {
      return error(places[".amdhsa_next_free_sgpr"], "value out of range");
    }
    const bool flat = processor.flat_scratch != target::FlatScratch::architected;
    const bool xnack = target_.xnack == target::Setting::any || target_.xnack == target::Setting::on;
    const Expression* extra =
        &unit_.operation(Operation::extra_sgprs,
                         {value_of(".amdhsa_reserve_vcc", 1), value_of(".amdhsa_reserve_flat_scratch", flat ? 1 : 0),
                          value_of(".amdhsa_reserve_xnack_mask", xnack ? 1 : 0)},
                         begin);
    const Expression* all =
        processor.allocated_sgprs != 0 ? constant(processor.allocated_sgprs) : op(Operation::add, sgprs, extra);
    put(field::sgpr_count, blocks(all, 8));
  }
  if (processor.unified_vgprs) {
    const Expression* offset = value_of(".amdhsa_accum_offset", 4);
    if (const auto known = unit_.absolute(*offset)) {
      const Place place = places[".amdhsa_accum_offset"];
      if (*known < 4 || *known > 256 || *known % 4 != 0) {
        return error(place, "accum_offset should be in range [4..256] in increments of 4");
      }
      const auto total = unit_.absolute(*vgprs);
      if (total && *known > (std::max<int64_t>(*total, 1) + 3) / 4 * 4) {
        return error(place, "accum_offset exceeds total VGPR allocation");
      }
    }
    put(field::accum_offset, op(Operation::subtract, op(Operation::divide, offset, constant(4)), constant(1)));
  }

  // The descriptor's symbol is as widely known as the kernel's, which has to be found from it without the dynamic
  // linker's doing.
  Symbol& kernel = unit_.symbol(*kernel_name);
  Symbol& descriptor = unit_.symbol(*kernel_name + ".kd");
  descriptor.binding = kernel.binding_set || kernel.is_defined() ? kernel.binding : uint8_t{STB_GLOBAL};
  descriptor.binding_set = true;
  descriptor.visibility = kernel.visibility;
  descriptor.type = STT_OBJECT;
  descriptor.size = constant(64);
  if (kernel.visibility == STV_DEFAULT) kernel.visibility = STV_PROTECTED;
  unit_.define(descriptor, begin);
  unit_.emit_value(*value_of(".amdhsa_group_segment_fixed_size", 0), 4, begin);
  unit_.emit_value(*value_of(".amdhsa_private_segment_fixed_size", 0), 4, begin);
  unit_.emit_value(*value_of(".amdhsa_kernarg_size", 0), 4, begin);
  unit_.emit_integer(0, 4);
  unit_.emit_value(*op(Operation::subtract, &unit_.reference(kernel), &unit_.reference(descriptor)), 8, begin);
  for (unsigned i = 0; i < 20; ++i) unit_.emit_integer(0, 1);
  for (const DescriptorWord word : {DescriptorWord::rsrc3, DescriptorWord::rsrc1, DescriptorWord::rsrc2}) {
    unit_.emit_value(*words[static_cast<size_t>(word)], 4, begin);
  }
  unit_.emit_value(*words[static_cast<size_t>(DescriptorWord::properties)], 2, begin);
  unit_.emit_value(*words[static_cast<size_t>(DescriptorWord::preload)], 2, begin);
  unit_.emit_integer(0, 4);
  return true;
}

/// The text from the next line up to a line that holds nothing but `end`, which is read as well.
std::optional<std::string> Parser::text_until(std::string_view end, Place place) {
  const std::string& text = lexer().buffer().text;
  // The current token is the end of the directive's own line.
  size_t at = std::min(text.size(), lexer().start() + 1);
  const size_t begin = at;
  while (at < text.size()) {
    const size_t line_end = std::min(text.find('\n', at), text.size());
    std::string_view line = std::string_view(text).substr(at, line_end - at);
    while (!line.empty() && (line.front() == ' ' || line.front() == '\t')) line.remove_prefix(1);
    while (!line.empty() && (line.back() == ' ' || line.back() == '\t' || line.back() == '\r')) line.remove_suffix(1);
    if (line == end) {
      lexer().jump(line_end);
      return text.substr(begin, at - begin);
    }
    at = line_end + 1;
  }
  lexer().jump(text.size());
  error(place, fmt::format("expected directive {} not found", end));
  return std::nullopt;
}

void Parser::emit_note(std::string_view owner, uint32_t type, std::span<const uint8_t> content, bool allocated) {
  unit_.push_section();
  unit_.switch_to(unit_.section({.name = ".note", .group = {}}, SHT_NOTE, allocated ? SHF_ALLOC : 0));
  const auto align = [&] { unit_.emit_tail({.kind = Tail::Kind::align, .alignment = 4, .place = {}}); };
  align();
  unit_.emit_integer(owner.size() + 1, 4);
  unit_.emit_integer(content.size(), 4);
  unit_.emit_integer(type, 4);
  unit_.emit({reinterpret_cast<const uint8_t*>(owner.data()), owner.size()});
  unit_.emit_integer(0, 1);
  align();
  unit_.emit(content);
  align();
  unit_.pop_section();
}

bool Parser::directive_metadata(std::string_view, Place place) {
  if (!expect_end()) return false;
  const auto text = text_until(".end_amdgpu_metadata", place);
  if (!text) return false;
  const auto note = object::metadata_from_yaml(*text);
  if (!note) return error(place, "invalid metadata: " + note.error().message);
  emit_note("AMDGPU", object::elf::nt_amdgpu_metadata, *note, true);
  return true;
}

bool Parser::directive_pal_metadata(std::string_view directive, Place place) {
  if (directive == ".amdgpu_pal_metadata") {
    if (!expect_end()) return false;
    const auto text = text_until(".end_amdgpu_pal_metadata", place);
    if (!text) return false;
    const auto note = object::pal_metadata_from_yaml(*text);
    if (!note) return error(place, "invalid PAL metadata: " + note.error().message);
    emit_note("AMDGPU", object::elf::nt_amdgpu_metadata, *note, true);
    return true;
  }
  // The older form: pairs of keys and values.
  std::vector<uint8_t> content;
  size_t numbers = 0;
  do {
    const auto value = absolute();
    if (!value) return false;
    for (unsigned i = 0; i < 4; ++i) content.push_back(static_cast<uint8_t>(*value >> (8 * i)));
    ++numbers;
  } while (lexer().accept(TokenKind::comma));
  if (numbers % 2 != 0) return error(place, fmt::format("expected an even number of values in {}", directive));
  if (!expect_end()) return false;
  constexpr uint32_t nt_amd_pal_metadata = 12;
  emit_note("AMD", nt_amd_pal_metadata, content, true);
  return true;
}

/// .amdgpu_lds name, size[, alignment]
bool Parser::directive_lds(std::string_view, Place) {
  const Place place = lexer().place();
  const auto symbol_name = name();
  if (!symbol_name || !expect_comma()) return false;
  const Place size_place = lexer().place();
  const auto size = absolute();
  if (!size) return false;
  if (*size < 0) return error(size_place, "size must be non-negative");
  if (*size > target_.processor->lds_bytes) return error(size_place, "size is too large");
  int64_t alignment = 4;
  if (lexer().accept(TokenKind::comma)) {
    const Place alignment_place = lexer().place();
    const auto value = absolute();
    if (!value) return false;
    if (*value <= 0 || (*value & (*value - 1)) != 0) return error(alignment_place, "alignment must be a power of two");
    if (*value >= int64_t{1} << 31) return error(alignment_place, "alignment is too large");
    alignment = *value;
  }
  if (!expect_end()) return false;
  Symbol& symbol = unit_.symbol(*symbol_name);
  if (symbol.is_defined()) return error(place, "invalid symbol redefinition");
  symbol.redefinable = false;
  symbol.type = STT_OBJECT;
  if (!symbol.binding_set) symbol.binding = STB_GLOBAL;
  symbol.binding_set = true;
  symbol.common_size = static_cast<uint64_t>(*size);
  symbol.offset = static_cast<uint64_t>(alignment);
  symbol.special_section = object::elf::shn_amdgpu_lds;
  symbol.size = &unit_.constant(*size);
  return true;
}

}  // namespace Atoll::assembler
