#include "isa/code_map.h"

#include <algorithm>
#include <utility>

#include "isa/constants.h"
#include "isa/per_processor.h"

namespace Atoll::isa {

namespace {

constexpr unsigned zero_code = 128, minus_one_code = 193, floats_code = 240;  // ISA guides, "Inline constants"

/// Whether the processor has what a code of its generation names.
bool is_there(const SourceCode& source, const target::Processor& processor) {
  using enum target::Generation;
  switch (source.kind) {
    case OperandKind::lds_direct:
      return processor.generation < gfx11 && !processor.unified_vgprs;
    case OperandKind::scalar:
      if ((source.reg & ~1) == scalar::xnack_mask_lo) return processor.supports_xnack;
      return true;
    default:
      return true;
  }
}

}  // namespace

CodeMap::CodeMap(const target::Processor& processor, unsigned wave_size) : map(opcode_map_of(processor, wave_size)) {
  for (const Format& format : formats_of(map.generation)) formats[static_cast<size_t>(format.encoding)] = &format;

  constexpr auto count = static_cast<size_t>(Opcode::count);
  std::vector<bool> there(count);
  const auto add = [&](Encoding encoding, const std::vector<Opcode>& opcodes) {
    for (size_t value = 0; value < opcodes.size(); ++value) {
      const auto opcode = static_cast<size_t>(opcodes[value]);
      uint16_t& known = values_[static_cast<size_t>(encoding)][opcode];
      if (known == none) known = static_cast<uint16_t>(value);
      there[opcode] = true;
    }
  };
  for (size_t encoding = 0; encoding < values_.size(); ++encoding) {
    values_[encoding].assign(count, none);
    add(static_cast<Encoding>(encoding), map.opcodes[encoding]);
  }
  for (const std::vector<Opcode>& scaled : map.scaled) add(Encoding::vop3p, scaled);
  for (std::vector<uint16_t>& values : values_) values[static_cast<size_t>(Opcode::invalid)] = none;

  registers_.fill(none);
  kinds_.fill(none);
  for (unsigned code = 0; code < map.sources.size(); ++code) {
    const SourceCode& source = map.sources[code];
    if (!is_there(source, processor)) continue;
    if (source.kind == OperandKind::scalar) {
      registers_[source.reg] = static_cast<uint16_t>(code);
    } else if (source.kind == OperandKind::constant) {
      inline_floats_ += source.float_index >= 0 ? 1 : 0;
    } else if (source.kind != OperandKind::none) {
      kinds_[static_cast<size_t>(source.kind)] = static_cast<uint16_t>(code);
    }
  }

  for (size_t opcode = 1; opcode < count; ++opcode) {
    if (there[opcode]) by_name_.push_back(static_cast<Opcode>(opcode));
  }
  std::ranges::sort(by_name_, {}, [this](Opcode opcode) { return std::pair(map.name(opcode), opcode); });
  for (uint32_t i = 0; i < by_name_.size(); ++i) {
    ++names_.try_emplace(map.name(by_name_[i]), Range{i, 0}).first->second.count;
  }
}

uint16_t CodeMap::code_of_half(std::span<const Opcode> halves, Opcode opcode) {
  const auto found = std::ranges::find(halves, opcode);
  return found == halves.end() || opcode == Opcode::invalid ? none : static_cast<uint16_t>(found - halves.begin());
}

uint16_t CodeMap::code_of_constant(uint64_t value, DataType type, const InlineFloats& floats) const {
  const unsigned spare = 64 - constant_width(type);
  const int64_t integer = static_cast<int64_t>(value << spare) >> spare;
  if (integer >= 0 && integer <= 64) return static_cast<uint16_t>(zero_code + integer);
  if (integer < 0 && integer >= -16) return static_cast<uint16_t>(minus_one_code - 1 - integer);
  const uint64_t pattern = value << spare >> spare;
  for (unsigned i = 0; i < inline_floats_; ++i) {
    if (floats[i] == pattern) return static_cast<uint16_t>(floats_code + i);
  }
  return none;
}

bool CodeMap::needs_wide_literal(uint64_t value, DataType type, Encoding encoding) const {
  if (!map.layout.wide_literals || !is_one_word(encoding) || constant_width(type) != 64) return false;
  return type == DataType::f64 ? static_cast<uint32_t>(value) != 0 : value > INT32_MAX;
}

std::span<const Opcode> CodeMap::named(std::string_view name) const {
  const auto found = names_.find(name);
  if (found == names_.end()) return {};
  return std::span(by_name_).subspan(found->second.first, found->second.count);
}

Opcode CodeMap::dual_named(std::string_view name) const {
  for (size_t code = 0; code < map.vopd.y.size(); ++code) {
    // Each first half of VOPD can also be the second half.
    for (const auto* halves : {&map.vopd.y, &map.vopd3.x, &map.vopd3.y}) {
      const Opcode opcode = (*halves)[code];
      if (opcode != Opcode::invalid && map.dual_names[code].substr(2) == name) return opcode;
    }
  }
  return Opcode::invalid;
}

const CodeMap& code_map_of(const target::Processor& processor, unsigned wave_size) {
  return per_processor<CodeMap>(processor, wave_size);
}

}  // namespace Atoll::isa
