// assembler: sections, symbols and values (unit.h).
#include "assembler/unit.h"

#include <elf.h>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "object/relocation_type.h"

namespace Atoll::assembler {

namespace {

using namespace object;  // R_AMDGPU_*

/// s_nop 0, which has the same bits on every GPU.
constexpr uint32_t nop = 0xBF80'0000;

void append(std::vector<uint8_t>& bytes, uint64_t value, unsigned size) {
  for (unsigned i = 0; i < size; ++i) bytes.push_back(i < 8 ? static_cast<uint8_t>(value >> (8 * i)) : 0);
}

std::vector<uint8_t> leb128(int64_t value, bool is_signed) {
  std::vector<uint8_t> bytes;
  for (;;) {
    const auto low = static_cast<uint8_t>(value & 0x7F);
    value = is_signed ? value >> 7 : static_cast<int64_t>(static_cast<uint64_t>(value) >> 7);
    const bool last = is_signed ? (value == 0 && (low & 0x40) == 0) || (value == -1 && (low & 0x40) != 0) : value == 0;
    bytes.push_back(last ? low : low | 0x80);
    if (last) return bytes;
  }
}

bool fits(int64_t value, unsigned size) {
  if (size >= 8) return true;
  const int64_t limit = int64_t{1} << (8 * size);
  return value < limit && value >= -(limit / 2);
}

/// The relocation of a place of 4 or 8 bytes.
std::optional<uint32_t> relocation_type(Specifier specifier, unsigned size, bool pc_relative) {
  switch (specifier) {
    case Specifier::gotpcrel:
      return R_AMDGPU_GOTPCREL;
    case Specifier::gotpcrel32_lo:
      return R_AMDGPU_GOTPCREL32_LO;
    case Specifier::gotpcrel32_hi:
      return R_AMDGPU_GOTPCREL32_HI;
    case Specifier::rel32_lo:
      return R_AMDGPU_REL32_LO;
    case Specifier::rel32_hi:
      return R_AMDGPU_REL32_HI;
    case Specifier::rel64:
      return R_AMDGPU_REL64;
    case Specifier::abs32_lo:
      return R_AMDGPU_ABS32_LO;
    case Specifier::abs32_hi:
      return R_AMDGPU_ABS32_HI;
    case Specifier::abs64:
      return R_AMDGPU_ABS64;
    case Specifier::none:
      break;
  }
  if (size == 4) return pc_relative ? R_AMDGPU_REL32 : R_AMDGPU_ABS32;
  if (size == 8) return pc_relative ? R_AMDGPU_REL64 : R_AMDGPU_ABS64;
  return std::nullopt;
}

}  // namespace

// --- Sections -------------------------------------------------------------------------------------------------------

Section& Unit::section(const SectionKey& key, uint32_t type, uint64_t flags, uint64_t entry_size) {
  if (Section* found = find_section(key)) return *found;
  Section& made = sections_.emplace_back();
  made.key = key;
  made.type = type;
  made.flags = flags;
  made.entry_size = entry_size;
  // Its name stands for its start, unless a symbol or another section has it.
  Symbol& named = symbol(key.name);
  Symbol& start = named.is_defined() ? symbols_.emplace_back() : named;
  start.name = key.name;
  start.temporary = false;
  start.section = &made;
  start.type = STT_SECTION;
  start.is_section = true;
  made.symbol = &start;
  if (!key.group.empty()) keep(symbol(key.group));
  keep(start);
  sections_by_key_[key] = &made;
  return made;
}

Section* Unit::find_section(const SectionKey& key) {
  const auto found = sections_by_key_.find(key);
  return found == sections_by_key_.end() ? nullptr : found->second;
}

void Unit::switch_to(Section& section) {
  previous_ = current_;
  current_ = &section;
}

bool Unit::pop_section() {
  if (section_stack_.empty()) return false;
  std::tie(current_, previous_) = section_stack_.back();
  section_stack_.pop_back();
  return true;
}

bool Unit::previous_section() {
  if (previous_ == nullptr) return false;
  std::swap(current_, previous_);
  return true;
}

// --- Symbols --------------------------------------------------------------------------------------------------------

Symbol* Unit::find_symbol(std::string_view name) {
  const auto found = symbols_by_name_.find(name);
  return found == symbols_by_name_.end() ? nullptr : found->second;
}

Symbol& Unit::symbol(std::string_view name) {
  if (Symbol* found = find_symbol(name)) return *found;
  Symbol& made = symbols_.emplace_back();
  made.name = name;
  made.temporary = name.starts_with(".L");
  symbols_by_name_.emplace(made.name, &made);
  return made;
}

Symbol& Unit::local_label(uint64_t number, bool forward) {
  const uint64_t instance = local_labels_[number] + (forward ? 1 : 0);
  // A name that no text can spell.
  Symbol& found = symbol(fmt::format("{}\1{}", number, instance));
  found.temporary = true;
  return found;
}

void Unit::define_local_label(uint64_t number, Place place) {
  Symbol& label = local_label(number, true);
  ++local_labels_[number];
  define(label, place);
}

void Unit::define(Symbol& symbol, Place place) {
  if (symbol.is_defined()) {
    source_.error(place, fmt::format("symbol '{}' is already defined", symbol.name));
    return;
  }
  symbol.section = current_;
  symbol.fragment = static_cast<uint32_t>(current_->fragments.size() - 1);
  symbol.offset = current_->fragments.back().bytes.size();
  if ((current_->flags & SHF_TLS) != 0) symbol.type = STT_TLS;
  keep(symbol);
}

void Unit::assign(Symbol& symbol, const Expression& value) {
  keep(symbol);
  keep_symbols_of(value);
  symbol.value = &value;
}

void Unit::keep(Symbol& symbol) {
  if (symbol.registered) return;
  symbol.registered = true;
  kept_.push_back(&symbol);
}

void Unit::keep_symbols_of(const Expression& expression) {
  // What is named by a .weakref alone is kept when a relocation needs it.
  if (expression.symbol != nullptr && (expression.symbol->named || !expression.symbol->weakly_named)) {
    keep(*expression.symbol);
  }
  for (const Expression* operand : expression.operands) keep_symbols_of(*operand);
}

// --- Expressions ----------------------------------------------------------------------------------------------------

const Expression& Unit::constant(int64_t value, Place place) {
  Expression& made = expressions_.emplace_back();
  made.constant = value;
  made.place = place;
  return made;
}

const Expression& Unit::reference(Symbol& name, Specifier specifier, Place place) {
  Symbol& symbol = name.weakly_names != nullptr ? *name.weakly_names : name;
  (name.weakly_names != nullptr ? symbol.weakly_named : symbol.named) = true;
  // A number that may be set anew is taken as it is now.
  if (symbol.is_variable() && symbol.value->kind == Expression::Kind::constant && specifier == Specifier::none) {
    return constant(symbol.value->constant, place);
  }
  Expression& made = expressions_.emplace_back();
  made.kind = Expression::Kind::symbol;
  made.symbol = &symbol;
  made.specifier = specifier;
  made.place = place;
  return made;
}

const Expression& Unit::operation(Operation operation, std::vector<const Expression*> operands, Place place) {
  const bool constants =
      std::ranges::all_of(operands, [](const Expression* e) { return e->kind == Expression::Kind::constant; });
  if (constants) {
    std::vector<int64_t> values;
    for (const Expression* operand : operands) values.push_back(operand->constant);
    if (const auto value = apply(operation, values, processor_)) return constant(*value, place);
  }
  Expression& made = expressions_.emplace_back();
  made.kind = Expression::Kind::operation;
  made.operation = operation;
  made.operands = std::move(operands);
  made.place = place;
  return made;
}

Symbol& Unit::anonymous_label() {
  Symbol& label = symbols_.emplace_back();
  label.name = ".";
  label.temporary = true;
  return label;
}

const Expression& Unit::here() {
  Symbol& label = anonymous_label();
  label.section = current_;
  label.fragment = static_cast<uint32_t>(current_->fragments.size() - 1);
  label.offset = current_->fragments.back().bytes.size();
  return reference(label);
}

std::optional<Value> Unit::combine(Operation operation, const Value& a, const Value& b) {
  Value result;
  result.constant = static_cast<int64_t>(
      static_cast<uint64_t>(a.constant) +
      (operation == Operation::add ? static_cast<uint64_t>(b.constant) : -static_cast<uint64_t>(b.constant)));
  result.specifier = a.specifier != Specifier::none ? a.specifier : b.specifier;
  std::vector<Symbol*> plus, minus;
  const auto add = [](std::vector<Symbol*>& to, Symbol* symbol) {
    if (symbol != nullptr) to.push_back(symbol);
  };
  add(plus, a.plus);
  add(minus, a.minus);
  add(operation == Operation::add ? plus : minus, b.plus);
  add(operation == Operation::add ? minus : plus, b.minus);
  // Labels of one section whose distance is known cancel out.
  for (size_t i = 0; i < plus.size();) {
    bool gone = false;
    for (size_t j = 0; j < minus.size() && !gone; ++j) {
      Symbol *p = plus[i], *m = minus[j];
      std::optional<uint64_t> distance;
      if (p == m) {
        distance = 0;
      } else if (p->is_label() && m->is_label() && p->section == m->section) {
        if (p->fragment == m->fragment) {
          distance = p->offset - m->offset;
        } else if (const auto from = address_of(*m), to = address_of(*p); from && to) {
          distance = *to - *from;
        }
      }
      if (!distance) continue;
      result.constant = static_cast<int64_t>(static_cast<uint64_t>(result.constant) + *distance);
      plus.erase(plus.begin() + static_cast<std::ptrdiff_t>(i));
      minus.erase(minus.begin() + static_cast<std::ptrdiff_t>(j));
      gone = true;
    }
    if (!gone) ++i;
  }
  if (plus.size() > 1 || minus.size() > 1) return std::nullopt;
  if (!plus.empty()) result.plus = plus[0];
  if (!minus.empty()) result.minus = minus[0];
  return result;
}

std::optional<Value> Unit::evaluate(const Expression& expression) {
  switch (expression.kind) {
    case Expression::Kind::constant:
      return Value{.constant = expression.constant};
    case Expression::Kind::symbol: {
      Symbol& symbol = *expression.symbol;
      if (!symbol.is_variable()) return Value{.plus = &symbol, .specifier = expression.specifier};
      if (symbol.being_evaluated) return std::nullopt;
      symbol.being_evaluated = true;
      auto value = evaluate(*symbol.value);
      symbol.being_evaluated = false;
      if (value && expression.specifier != Specifier::none) value->specifier = expression.specifier;
      return value;
    }
    case Expression::Kind::operation:
      break;
  }
  std::vector<Value> values;
  for (const Expression* operand : expression.operands) {
    const auto value = evaluate(*operand);
    if (!value) return std::nullopt;
    values.push_back(*value);
  }
  if (std::ranges::all_of(values, &Value::is_absolute)) {
    std::vector<int64_t> numbers;
    for (const Value& value : values) numbers.push_back(value.constant);
    const auto result = apply(expression.operation, numbers, processor_);
    return result ? std::optional(Value{.constant = *result}) : std::nullopt;
  }
  switch (expression.operation) {
    case Operation::add:
    case Operation::subtract:
      return combine(expression.operation, values[0], values[1]);
    case Operation::negate:
      return combine(Operation::subtract, Value{}, values[0]);
    case Operation::plus:
      return values[0];
    default:
      return std::nullopt;
  }
}

std::optional<int64_t> Unit::absolute(const Expression& expression) {
  const auto value = evaluate(expression);
  if (!value || !value->is_absolute()) return std::nullopt;
  return value->constant;
}

// --- Content --------------------------------------------------------------------------------------------------------

void Unit::emit(std::span<const uint8_t> bytes) {
  begin_content();
  auto& to = current_->fragments.back().bytes;
  to.insert(to.end(), bytes.begin(), bytes.end());
}

void Unit::begin_content() {
  if (before_content_ == nullptr) return;
  const auto action = std::exchange(before_content_, nullptr);
  action();
}

void Unit::emit_integer(uint64_t value, unsigned size) {
  begin_content();
  append(current_->fragments.back().bytes, value, size);
}

void Unit::emit_value(const Expression& expression, unsigned size, Place place) {
  keep_symbols_of(expression);
  if (const auto value = absolute(expression)) {
    if (!fits(*value, size)) source_.error(place, "out of range literal value");
    emit_integer(static_cast<uint64_t>(*value), size);
    return;
  }
  emit_integer(0, size);
  add_fixup({.size = static_cast<uint8_t>(size), .expression = &expression, .place = place}, size);
}

void Unit::add_fixup(Fixup fixup, uint64_t back) {
  fixup.fragment = static_cast<uint32_t>(current_->fragments.size() - 1);
  fixup.offset = current_->fragments.back().bytes.size() - back;
  current_->fixups.push_back(fixup);
}

void Unit::emit_tail(Tail tail) {
  if (tail.kind == Tail::Kind::align) {
    current_->alignment = std::max(current_->alignment, tail.alignment);
    if (const auto at = position()) {  // known already: no fragment of its own
      if (const auto length = tail_length(*current_, tail, *at)) {
        std::vector<uint8_t>& bytes = current_->fragments.back().bytes;
        if (*length <= 4096) {
          const size_t before = bytes.size();
          if (tail.nops) {
            bytes.resize(before + *length % 4);
            for (uint64_t i = 0; i < *length / 4; ++i) append(bytes, nop, 4);
          } else {
            for (uint64_t i = 0; i < *length / tail.fill_size; ++i) append(bytes, tail.fill, tail.fill_size);
            bytes.resize(before + *length);
          }
          return;
        }
      }
    }
  }
  current_->fragments.back().tail = tail;
  current_->fragments.emplace_back();
}

std::optional<uint64_t> Unit::position() {
  const auto base = address_of(*current_, static_cast<uint32_t>(current_->fragments.size() - 1));
  return base ? std::optional(*base + current_->fragments.back().bytes.size()) : std::nullopt;
}

// --- Layout ---------------------------------------------------------------------------------------------------------

std::optional<uint64_t> Unit::address_of(Section& section, uint32_t fragment) {
  std::vector<uint64_t>& addresses = section.addresses;
  if (addresses.empty()) addresses.push_back(0);
  while (addresses.size() <= fragment) {
    const size_t last = addresses.size() - 1;
    if (addresses[last] == UINT64_MAX) return std::nullopt;
    const Fragment& at = section.fragments[last];
    const uint64_t end = addresses[last] + at.bytes.size();
    addresses.push_back(UINT64_MAX);  // in the making: whoever asks meanwhile goes without
    const auto length = tail_length(section, at.tail, end);
    addresses.resize(last + 1);
    if (!length) return std::nullopt;
    addresses.push_back(end + *length);
  }
  return addresses[fragment] == UINT64_MAX ? std::nullopt : std::optional(addresses[fragment]);
}

std::optional<uint64_t> Unit::tail_length(const Section& section, const Tail& tail, uint64_t address) {
  switch (tail.kind) {
    case Tail::Kind::none:
      return 0;
    case Tail::Kind::align: {
      const uint64_t length = -address & (tail.alignment - 1);
      return tail.most_bytes != 0 && length > tail.most_bytes ? 0 : length;
    }
    case Tail::Kind::fill: {
      const auto count = absolute(*tail.expression);
      if (!count) return std::nullopt;
      return *count < 0 ? 0 : static_cast<uint64_t>(*count) * tail.fill_size;
    }
    case Tail::Kind::org: {
      const auto value = evaluate(*tail.expression);
      if (!value || value->minus != nullptr) return std::nullopt;
      auto to = static_cast<uint64_t>(value->constant);
      if (value->plus != nullptr) {
        if (!value->plus->is_label() || value->plus->section != &section) return std::nullopt;
        const auto base = address_of(*value->plus);
        if (!base) return std::nullopt;
        to += *base;
      }
      if (to < address) {
        if (final_) source_.error(tail.place, fmt::format("invalid .org offset '{}' (at offset '{}')", to, address));
        return 0;
      }
      return to - address;
    }
    case Tail::Kind::branch_nop:
      if (!final_) return std::nullopt;
      return tail.taken ? 4 : 0;
    case Tail::Kind::leb: {
      const auto value = absolute(*tail.expression);
      return value ? std::optional(leb128(*value, tail.is_signed).size()) : std::nullopt;
    }
  }
  return 0;
}

void Unit::fill_tail(Section& section, const Tail& tail, uint64_t length) {
  std::vector<uint8_t>& bytes = section.bytes;
  const size_t end = bytes.size() + length;
  if (tail.kind == Tail::Kind::leb) {
    const auto value = leb128(absolute(*tail.expression).value_or(0), tail.is_signed);
    bytes.insert(bytes.end(), value.begin(), value.end());
  } else if (tail.nops || tail.kind == Tail::Kind::branch_nop) {
    bytes.resize(bytes.size() + length % 4);
    while (bytes.size() < end) append(bytes, nop, 4);
  } else {
    while (bytes.size() + tail.fill_size <= end) append(bytes, tail.fill, tail.fill_size);
    bytes.resize(end);
  }
}

void Unit::lay_out(Section& section) {
  /// No kernel is that large, and a mistaken .org must not take the host's memory.
  constexpr uint64_t largest_section = uint64_t{1} << 32;
  const auto last = static_cast<uint32_t>(section.fragments.size() - 1);
  if (!address_of(section, last)) {
    const Fragment& stuck = section.fragments[section.addresses.size() - 1];
    source_.error(stuck.tail.place, "expected absolute expression");
    return;
  }
  section.size = section.addresses[last] + section.fragments[last].bytes.size();
  if (section.size > largest_section) {
    source_.error({}, fmt::format("section '{}' is larger than 4 GiB", section.key.name));
    return;
  }
  if (!section.has_bytes()) {
    const bool any = std::ranges::any_of(section.fragments, [](const Fragment& fragment) {
      return std::ranges::any_of(fragment.bytes, [](uint8_t byte) { return byte != 0; });
    });
    if (any || !section.fixups.empty()) {
      source_.error({}, fmt::format("section '{}' has no bytes in the file and cannot have content", section.key.name));
    }
    return;
  }
  section.bytes.reserve(section.size);
  for (uint32_t i = 0; i <= last; ++i) {
    const Fragment& fragment = section.fragments[i];
    section.bytes.insert(section.bytes.end(), fragment.bytes.begin(), fragment.bytes.end());
    const uint64_t end = i == last ? section.size : section.addresses[i + 1];
    fill_tail(section, fragment.tail, end - section.bytes.size());
  }
}

/// Whether a branch goes 63 words ahead, or to where it is not known.
bool Unit::needs_nop(Section& section, const Fixup& branch) {
  constexpr int64_t astray = 63;
  const auto value = evaluate(*branch.expression);
  if (!value || value->plus == nullptr || value->minus != nullptr || !value->plus->is_label() ||
      value->plus->section != &section || value->plus->binding != STB_LOCAL) {
    return true;
  }
  const auto from = address_of(section, branch.fragment), to = address_of(*value->plus);
  if (!from || !to) return false;
  return (value->constant + static_cast<int64_t>(*to - *from - branch.offset) - 4) / 4 == astray;
}

/// Puts nops behind branches that need them, until no further one does.
void Unit::add_branch_nops(Section& section) {
  for (bool again = true; again;) {
    again = false;
    for (const Fixup& fixup : section.fixups) {
      if (fixup.kind != Fixup::Kind::branch) continue;
      Tail& tail = section.fragments[fixup.fragment].tail;
      if (tail.kind != Tail::Kind::branch_nop || tail.taken || !needs_nop(section, fixup)) continue;
      tail.taken = again = true;
      section.addresses.resize(std::min<size_t>(section.addresses.size(), fixup.fragment + 1));
    }
  }
}

void Unit::resolve(Section& section, const Fixup& fixup) {
  const uint64_t address = section.addresses[fixup.fragment] + fixup.offset;
  auto value = evaluate(*fixup.expression);
  if (!value) {
    source_.error(fixup.place, "expected relocatable expression");
    return;
  }
  const auto place = [&](uint64_t bits, unsigned size) {
    for (unsigned i = 0; i < size && i < 8; ++i) section.bytes[address + i] = static_cast<uint8_t>(bits >> (8 * i));
  };
  bool pc_relative = fixup.pc_relative || fixup.kind == Fixup::Kind::branch;
  if (value->minus != nullptr) {
    if (!value->minus->is_defined()) {
      source_.error(fixup.place,
                    fmt::format("symbol '{}' can not be undefined in a subtraction expression", value->minus->name));
      return;
    }
    if (!value->minus->is_label() || value->minus->section != &section || pc_relative || value->plus == nullptr) {
      source_.error(fixup.place, "Cannot represent a difference across sections");
      return;
    }
    value->constant += static_cast<int64_t>(address - *address_of(*value->minus));
    value->minus = nullptr;
    pc_relative = true;
  }
  Symbol* symbol = value->plus;
  if (symbol == nullptr && !pc_relative && value->specifier == Specifier::none) {
    if (!fits(value->constant, fixup.size)) {
      source_.error(fixup.place, fmt::format("value evaluated as {} is out of range.", value->constant));
    }
    return place(static_cast<uint64_t>(value->constant), fixup.size);
  }
  const bool local = symbol != nullptr && symbol->is_label() && symbol->binding == STB_LOCAL;
  if (pc_relative && local && symbol->section == &section && value->specifier == Specifier::none) {
    const int64_t distance = value->constant + static_cast<int64_t>(*address_of(*symbol) - address);
    if (fixup.kind == Fixup::Kind::data) return place(static_cast<uint64_t>(distance), fixup.size);
    const int64_t words = (distance - 4) / 4;
    if (words != static_cast<int16_t>(words)) source_.error(fixup.place, "branch size exceeds simm16");
    return place(static_cast<uint64_t>(words), 2);
  }
  if (symbol != nullptr && symbol->temporary && !symbol->is_defined()) {
    source_.error(fixup.place, fixup.kind == Fixup::Kind::branch
                                   ? fmt::format("undefined label '{}'", symbol->name)
                                   : fmt::format("Undefined temporary symbol {}", symbol->name));
    return;
  }
  std::optional<uint32_t> type = relocation_type(value->specifier, fixup.size, pc_relative);
  if (fixup.kind == Fixup::Kind::branch) {
    if (symbol != nullptr && !symbol->is_defined()) {
      source_.error(fixup.place, fmt::format("undefined label '{}'", symbol->name));
      return;
    }
    type = R_AMDGPU_REL16;
  }
  if (!type) {
    source_.error(fixup.place, "unsupported relocation type");
    return;
  }
  Atoll::assembler::Relocation relocation{
      .offset = address, .symbol = symbol, .type = *type, .addend = value->constant};
  // A local symbol's place is said by its section, which spares the symbol. Merged sections move about.
  const bool merged = local && (symbol->section->flags & SHF_MERGE) != 0 && value->constant != 0;
  const bool thread_local_symbol = local && (symbol->section->flags & SHF_TLS) != 0;
  if (local && !merged && !thread_local_symbol) {
    relocation.addend += static_cast<int64_t>(*address_of(*symbol));
    relocation.symbol = symbol->section->symbol;
  }
  if (relocation.symbol != nullptr) {
    keep(*relocation.symbol);
    relocation.symbol->in_relocation = true;
  }
  section.relocations.push_back(relocation);
}

void Unit::resolve(Section& section, const SpelledRelocation& spelled) {
  const auto offset = evaluate(*spelled.offset);
  const bool in_section = offset && offset->minus == nullptr &&
                          (offset->plus == nullptr || (offset->plus->is_label() && offset->plus->section == &section));
  if (!in_section) {
    source_.error(spelled.offset->place, ".reloc offset is not representable");
    return;
  }
  const auto at = static_cast<uint64_t>(offset->constant) + (offset->plus != nullptr ? *address_of(*offset->plus) : 0);
  Atoll::assembler::Relocation relocation{.offset = at, .symbol = nullptr, .type = spelled.type, .addend = 0};
  if (spelled.value != nullptr) {
    const auto value = evaluate(*spelled.value);
    if (!value || value->minus != nullptr || value->specifier != Specifier::none) {
      source_.error(spelled.value->place, "expression must be relocatable");
      return;
    }
    relocation.symbol = value->plus;
    relocation.addend = value->constant;
  }
  if (relocation.symbol != nullptr) {
    keep(*relocation.symbol);
    relocation.symbol->in_relocation = true;
  }
  section.relocations.push_back(relocation);
}

void Unit::finish() {
  final_ = true;
  const size_t errors = source_.errors();
  for (Section& section : sections_) {
    add_branch_nops(section);
    lay_out(section);
  }
  if (source_.errors() != errors) return;
  for (Section& section : sections_) {
    // In LLVM's order: spelled ones at a number belong to the section's beginning, which is empty in the .text that is
    // there from the start, the others to what holds their place.
    const auto is_early = [&](const SpelledRelocation& spelled) {
      return &section == &sections_.front() && absolute(*spelled.offset).has_value();
    };
    for (const SpelledRelocation& spelled : section.spelled_relocations) {
      if (is_early(spelled)) resolve(section, spelled);
    }
    const auto early = static_cast<ptrdiff_t>(section.relocations.size());
    for (const Fixup& fixup : section.fixups) resolve(section, fixup);
    std::ranges::sort(section.relocations.begin() + early, section.relocations.end(), {}, &Relocation::offset);
    for (const SpelledRelocation& spelled : section.spelled_relocations) {
      if (!is_early(spelled)) resolve(section, spelled);
    }
  }
}

}  // namespace Atoll::assembler
