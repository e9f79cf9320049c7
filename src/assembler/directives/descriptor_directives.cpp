// assembler: .amdhsa_kernel ... .end_amdhsa_kernel, which make a kernel's descriptor (parser.h).
//
// Values may depend on symbols that are set later. The directives' values are therefore kept as expressions, and each
// word of the descriptor is an expression of them, computed when the object is written.
//
// Source: user guide, "Code Object V3 Assembler Directives" and "Kernel Descriptor".
#include <elf.h>

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "assembler/syntax/parser.h"
#include "object/kernel_descriptor_fields.h"
#include "object/register_usage.h"

namespace Atoll::assembler {

namespace {

using object::DescriptorField;
using object::DescriptorWord;
namespace field = object::descriptor_field;
using target::FlatScratch;
using target::Processor;

/// The user SGPRs that a field requires when it is set.
struct UserSgprs {
  const DescriptorField* field;
  unsigned count;
};
constexpr UserSgprs user_sgprs[] = {
    {&field::private_segment_buffer, 4}, {&field::dispatch_ptr, 2},   {&field::queue_ptr, 2},
    {&field::kernarg_segment_ptr, 2},    {&field::dispatch_id, 2},    {&field::flat_scratch_init, 2},
    {&field::private_segment_size, 1},   {&field::preload_length, 1},
};

bool is_architected(const Processor& processor) { return processor.flat_scratch == FlatScratch::architected; }

/// Directives that are no field of their own, or one under two names, and the processors that have them.
struct Figure {
  std::string_view directive;
  bool (*exists)(const Processor&);
};
constexpr auto on_all = [](const Processor&) { return true; };
constexpr Figure figures[] = {
    {".amdhsa_group_segment_fixed_size", on_all},
    {".amdhsa_private_segment_fixed_size", on_all},
    {".amdhsa_kernarg_size", on_all},
    {".amdhsa_user_sgpr_count", on_all},
    {".amdhsa_system_sgpr_private_segment_wavefront_offset", [](const Processor& of) { return !is_architected(of); }},
    {".amdhsa_enable_private_segment", is_architected},
    {".amdhsa_next_free_vgpr", on_all},
    {".amdhsa_next_free_sgpr", on_all},
    {".amdhsa_accum_offset", [](const Processor& of) { return of.unified_vgprs; }},
    {".amdhsa_reserve_vcc", on_all},
    {".amdhsa_reserve_flat_scratch",
     [](const Processor& of) { return !is_architected(of) && of.flat_scratch != FlatScratch::none; }},
    {".amdhsa_reserve_xnack_mask", [](const Processor& of) { return of.generation >= target::Generation::gfx8; }},
};

/// What a directive sets.
struct Known {
  bool is_known = false, exists = false;   ///< at all; on this processor
  const DescriptorField* field = nullptr;  ///< no figure
};
Known find(std::string_view directive, const Processor& processor) {
  if (const auto* figure = std::ranges::find(figures, directive, &Figure::directive); figure != std::end(figures)) {
    return {.is_known = true, .exists = figure->exists(processor)};
  }
  Known found;
  for (const DescriptorField* candidate : field::all) {
    if (candidate->directive != directive) continue;
    found = {.is_known = true, .exists = candidate->exists(processor), .field = candidate};
    if (found.exists) break;
  }
  return found;
}

/// The value of a field whose directive is not given (table "AMDHSA Kernel Assembler Directives").
int64_t default_of(const DescriptorField& at, const Options& options) {
  if (&at == &field::denorm_mode_16_64) return 3;
  if (&at == &field::dx10_clamp || &at == &field::ieee_mode || &at == &field::work_group_id_x) return 1;
  if (&at == &field::wgp_mode || &at == &field::mem_ordered || &at == &field::fwd_progress) return 1;
  if (&at == &field::wavefront_size32) return options.wave32;
  return 0;
}

}  // namespace

/// The directives between .amdhsa_kernel and .end_amdhsa_kernel, and the descriptor that they make.
class Parser::DescriptorBlock {
 public:
  DescriptorBlock(Parser& parser, Place begin)
      : parser_(parser), unit_(parser.unit_), processor_(*parser.target_.processor), begin_(begin) {
    words_.fill(&unit_.constant(0));
  }

  /// Reads the directives, the last one too. All mistakes are reported.
  bool read();
  /// Computes the descriptor's words.
  bool compute() { return put_fields() && put_user_sgprs() && put_registers() && put_accum_offset(); }
  void emit(const std::string& kernel_name);

 private:
  struct Given {
    const Expression* value;
    Place place;
  };

  bool read_directive(const std::string& directive, Place place);
  bool has_required();
  bool put_fields();
  bool put_user_sgprs();
  bool put_registers();
  bool put_accum_offset();

  const Expression* value_of(std::string_view directive, int64_t fallback) {
    const auto found = given_.find(directive);
    return found != given_.end() ? found->second.value : &unit_.constant(fallback);
  }
  /// Where it is known already.
  std::optional<int64_t> number_of(std::string_view directive, int64_t fallback) {
    const auto found = given_.find(directive);
    return found == given_.end() ? std::optional(fallback) : unit_.absolute(*found->second.value);
  }
  bool error_at(std::string_view directive, std::string message) {
    const auto found = given_.find(directive);
    return parser_.error(found != given_.end() ? found->second.place : begin_, std::move(message));
  }
  const Expression* constant(int64_t value) { return &unit_.constant(value); }
  const Expression* op(Operation operation, const Expression* a, const Expression* b) {
    return &unit_.operation(operation, {a, b}, begin_);
  }
  /// Registers in granules, less one.
  const Expression* blocks(const Expression* registers, int64_t granule) {
    const Expression* aligned =
        op(Operation::align_to, op(Operation::maximum, registers, constant(1)), constant(granule));
    return op(Operation::subtract, op(Operation::divide, aligned, constant(granule)), constant(1));
  }
  void put(const DescriptorField& at, const Expression* value) {
    const Expression*& word = words_[static_cast<size_t>(at.word)];
    const Expression* bits = op(Operation::bit_and, value, constant(at.mask()));
    word = op(Operation::bit_or, word, op(Operation::shift_left, bits, constant(at.shift)));
  }
  /// Whether XNACK is on, or may be.
  bool has_xnack_mask() const {
    const target::Setting xnack = parser_.target_.xnack;
    return xnack == target::Setting::any || xnack == target::Setting::on;
  }

  Parser& parser_;
  Unit& unit_;
  const Processor& processor_;
  const Place begin_;
  std::map<std::string, Given, std::less<>> given_;
  std::array<const Expression*, 5> words_{};  ///< by DescriptorWord
};

bool Parser::DescriptorBlock::read() {
  bool good = true;
  for (;;) {
    Lexer& lexer = parser_.lexer();
    while (lexer.accept(TokenKind::end_of_statement)) {
    }
    if (lexer.is(TokenKind::end_of_file)) {
      return parser_.error(begin_, "expected .amdhsa_ directive or .end_amdhsa_kernel");
    }
    const Place place = lexer.place();
    if (!lexer.is(TokenKind::identifier)) return parser_.error("expected .amdhsa_ directive or .end_amdhsa_kernel");
    const std::string directive(parser_.token().text);
    lexer.advance();
    if (directive == ".end_amdhsa_kernel") break;
    good &= read_directive(directive, place);
    while (!lexer.at_end()) lexer.advance();
  }
  if (!parser_.expect_end()) return false;
  return has_required() && good;
}

bool Parser::DescriptorBlock::read_directive(const std::string& directive, Place place) {
  const Known known = find(directive, processor_);
  if (!known.is_known) return parser_.error(place, "unknown .amdhsa_kernel directive");
  if (!known.exists) return parser_.error(place, fmt::format("{} has no {}", processor_.name, directive));
  if (given_.contains(directive)) return parser_.error(place, ".amdhsa_ directives cannot be repeated");
  const Place value_place = parser_.lexer().place();
  const Expression* value = parser_.expression();
  if (value == nullptr) return false;
  given_.emplace(directive, Given{value, value_place});
  bool good = true;
  const auto number = unit_.absolute(*value);
  const int64_t limit = int64_t{1} << (known.field != nullptr ? known.field->width : 32);
  if (number && (*number < 0 || *number >= limit)) good = parser_.error(value_place, "value out of range");
  if (directive == ".amdhsa_reserve_xnack_mask" && number && (*number != 0) != has_xnack_mask()) {
    good = parser_.error(value_place, ".amdhsa_reserve_xnack_mask does not match target id");
  }
  return parser_.expect_end() && good;
}

bool Parser::DescriptorBlock::has_required() {
  bool good = true;
  const auto require = [&](std::string_view directive) {
    if (!given_.contains(directive)) good = parser_.error(begin_, fmt::format("{} directive is required", directive));
  };
  require(".amdhsa_next_free_vgpr");
  require(".amdhsa_next_free_sgpr");
  if (processor_.unified_vgprs) require(".amdhsa_accum_offset");
  return good;
}

bool Parser::DescriptorBlock::put_fields() {
  for (const DescriptorField* at : field::all) {
    if (at->directive.empty() || !at->exists(processor_)) continue;
    put(*at, value_of(at->directive, default_of(*at, parser_.options_)));
  }
  put(field::private_segment,
      value_of(is_architected(processor_) ? ".amdhsa_enable_private_segment"
                                          : ".amdhsa_system_sgpr_private_segment_wavefront_offset",
               0));
  return true;
}

/// Writes the number of user SGPRs: at least those required by the fields.
bool Parser::DescriptorBlock::put_user_sgprs() {
  int64_t implied = 0;
  for (const UserSgprs& each : user_sgprs) {
    if (!each.field->exists(processor_)) continue;
    const auto set = number_of(each.field->directive, 0);
    if (!set) return error_at(each.field->directive, "expected absolute expression");
    implied += *set * each.count;
  }
  constexpr std::string_view directive = ".amdhsa_user_sgpr_count";
  const auto count = number_of(directive, implied);
  if (!count) return error_at(directive, "expected absolute expression");
  if (*count < implied) {
    return error_at(directive, "amdgpu_user_sgpr_count smaller than than implied by enabled user SGPRs");
  }
  // LLVM takes what fits the field, but there are no more registers (COMPUTE_USER_DATA) to set them from.
  if (*count > processor_.user_sgprs) {
    return error_at(directive, fmt::format("too many user SGPRs enabled: {}, {} has {}", *count, processor_.name,
                                           processor_.user_sgprs));
  }
  const bool is_wide = field::wide_user_sgpr_count.exists(processor_);
  put(is_wide ? field::wide_user_sgpr_count : field::user_sgpr_count, constant(*count));
  return true;
}

bool Parser::DescriptorBlock::put_registers() {
  const auto is_beyond = [&](const Expression* registers, int64_t limit) {
    const auto known = unit_.absolute(*registers);
    return known && *known > limit;
  };
  const auto wave32 = number_of(".amdhsa_wavefront_size32", parser_.options_.wave32 ? 1 : 0);
  const bool both_sizes = processor_.has_wave_size(32) && processor_.has_wave_size(64);
  const bool narrow = both_sizes ? wave32.value_or(0) != 0 : field::wavefront_size32.exists(processor_);
  const Expression* vgprs = value_of(".amdhsa_next_free_vgpr", 0);
  put(field::vgpr_count, blocks(vgprs, narrow ? processor_.vgpr_granule_wave32 : processor_.vgpr_granule));
  if (is_beyond(vgprs, processor_.addressable_vgprs)) return error_at(".amdhsa_next_free_vgpr", "value out of range");
  if (processor_.fixed_sgprs) return true;
  const Expression* sgprs = value_of(".amdhsa_next_free_sgpr", 0);
  if (is_beyond(sgprs, processor_.addressable_sgprs)) return error_at(".amdhsa_next_free_sgpr", "value out of range");
  const Expression* extra = &unit_.operation(
      Operation::extra_sgprs,
      {value_of(".amdhsa_reserve_vcc", 1), value_of(".amdhsa_reserve_flat_scratch", is_architected(processor_) ? 0 : 1),
       value_of(".amdhsa_reserve_xnack_mask", has_xnack_mask() ? 1 : 0)},
      begin_);
  const Expression* all =
      processor_.allocated_sgprs != 0 ? constant(processor_.allocated_sgprs) : op(Operation::add, sgprs, extra);
  put(field::sgpr_count, blocks(all, 8));
  return true;
}

bool Parser::DescriptorBlock::put_accum_offset() {
  if (!processor_.unified_vgprs) return true;
  constexpr std::string_view directive = ".amdhsa_accum_offset";
  const Expression* offset = value_of(directive, 4);
  if (const auto known = unit_.absolute(*offset)) {
    if (*known < 4 || *known > 256 || *known % 4 != 0) {
      return error_at(directive, "accum_offset should be in range [4..256] in increments of 4");
    }
    const auto total = unit_.absolute(*value_of(".amdhsa_next_free_vgpr", 0));
    if (total && *known > (std::max<int64_t>(*total, 1) + 3) / 4 * 4) {
      return error_at(directive, "accum_offset exceeds total VGPR allocation");
    }
  }
  put(field::accum_offset, op(Operation::subtract, op(Operation::divide, offset, constant(4)), constant(1)));
  return true;
}

void Parser::DescriptorBlock::emit(const std::string& kernel_name) {
  // The descriptor's symbol is as widely known as the kernel's, which has to be found from it without the dynamic
  // linker's doing.
  Symbol& kernel = unit_.symbol(kernel_name);
  Symbol& descriptor = unit_.symbol(kernel_name + ".kd");
  descriptor.binding = kernel.binding_set || kernel.is_defined() ? kernel.binding : uint8_t{STB_GLOBAL};
  descriptor.binding_set = true;
  descriptor.visibility = kernel.visibility;
  descriptor.type = STT_OBJECT;
  descriptor.size = constant(64);
  if (kernel.visibility == STV_DEFAULT) kernel.visibility = STV_PROTECTED;
  unit_.define(descriptor, begin_);
  unit_.emit_value(*value_of(".amdhsa_group_segment_fixed_size", 0), 4, begin_);
  unit_.emit_value(*value_of(".amdhsa_private_segment_fixed_size", 0), 4, begin_);
  unit_.emit_value(*value_of(".amdhsa_kernarg_size", 0), 4, begin_);
  unit_.emit_integer(0, 4);
  unit_.emit_value(*op(Operation::subtract, &unit_.reference(kernel), &unit_.reference(descriptor)), 8, begin_);
  for (unsigned i = 0; i < 20; ++i) unit_.emit_integer(0, 1);
  const auto emit_word = [&](DescriptorWord word, unsigned bytes) {
    unit_.emit_value(*words_[static_cast<size_t>(word)], bytes, begin_);
  };
  emit_word(DescriptorWord::rsrc3, 4);
  emit_word(DescriptorWord::rsrc1, 4);
  emit_word(DescriptorWord::rsrc2, 4);
  emit_word(DescriptorWord::properties, 2);
  emit_word(DescriptorWord::preload, 2);
  unit_.emit_integer(0, 4);
}

/// .amdhsa_kernel name
bool Parser::directive_amdhsa_kernel(std::string_view, Place begin) {
  const auto kernel_name = name();
  if (!kernel_name || !expect_end()) return false;
  DescriptorBlock block(*this, begin);
  if (!block.read() || !block.compute()) return false;
  block.emit(*kernel_name);
  return true;
}

}  // namespace Atoll::assembler
