// assembler: sections, symbols and what is put into sections (unit.h).
#include "assembler/unit/assembly_unit.h"

#include <elf.h>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace Atoll::assembler {

// --- Sections -------------------------------------------------------------------------------------------------------

Section& Unit::section(const SectionKey& key, uint32_t type, uint64_t flags, uint64_t entry_size) {
  if (Section* found = find_section(key)) return *found;
  Section& made = sections_.emplace_back();
  made.key = key;
  made.type = type;
  made.flags = flags;
  made.entry_size = entry_size;
  // Defines the section's name as its start, unless a symbol or another section has that name.
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

void Unit::switch_to(Section& whole, uint32_t number) {
  previous_ = current_;
  current_ = &whole;
  if (number == 0) return;
  const auto [found, is_new] = subsections_.try_emplace({&whole, number});
  Section& part = found->second;
  if (is_new) {
    part.type = whole.type;
    part.flags = whole.flags;
    part.whole = &whole;
    part.symbol = whole.symbol;
    part.addresses = {UINT64_MAX};  // not before the parts are joined
  }
  current_ = &part;
}

void Unit::join_subsections() {
  std::map<const Section*, uint32_t> first_fragments;
  for (auto& [key, part] : subsections_) {
    Section& whole = *key.first;
    const auto first = static_cast<uint32_t>(whole.fragments.size());
    first_fragments[&part] = first;
    std::ranges::move(part.fragments, std::back_inserter(whole.fragments));
    for (Fixup& fixup : part.fixups) {
      fixup.fragment += first;
      whole.fixups.push_back(fixup);
    }
    std::ranges::move(part.explicit_relocations, std::back_inserter(whole.explicit_relocations));
    whole.alignment = std::max(whole.alignment, part.alignment);
  }
  if (first_fragments.empty()) return;
  for (Symbol& symbol : symbols_) {
    const auto found = first_fragments.find(symbol.section);
    if (found == first_fragments.end()) continue;
    symbol.section = found->first->whole;
    symbol.fragment += found->second;
  }
  current_ = &current_whole();
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
  if (symbol.is_variable()) {
    // Expressions that name it keep the value that it has had so far.
    if (symbol.in_expressions) {
      Symbol& earlier = symbols_.emplace_back();
      earlier.name = symbol.name;
      earlier.temporary = true;
      earlier.value = symbol.value;
      symbol.earlier.push_back(&earlier);
      symbol.in_expressions = false;
    }
    // Its last definition determines its place in the symbol table, as in LLVM.
    if (symbol.registered) kept_[symbol.place_in_order] = nullptr;
    symbol.registered = false;
  }
  keep(symbol);
  keep_symbols_of(value);
  symbol.value = &value;
  symbol.known_in = 0;
}

void Unit::set_value(Symbol& symbol, const Expression& value) {
  if (symbol.value != nullptr) ++epoch_;
  symbol.value = &value;
}

void Unit::keep(Symbol& symbol) {
  if (symbol.registered) return;
  symbol.registered = true;
  symbol.place_in_order = kept_.size();
  kept_.push_back(&symbol);
}

void Unit::keep_symbols_of(const Expression& expression) {
  // What is named by a .weakref alone is kept when a relocation needs it.
  walk(expression, [&](const Expression& part) {
    if (part.symbol != nullptr && (part.symbol->named || !part.symbol->weakly_named)) keep(*part.symbol);
    return true;
  });
}

// --- Content --------------------------------------------------------------------------------------------------------

void Unit::emit(std::span<const uint8_t> bytes) {
  begin_content();
  if (!take_room(bytes.size())) return;
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
  if (take_room(size)) append_integer(current_->fragments.back().bytes, value, size);
}

/// Counts bytes that sections get: no text may have more than memory.
bool Unit::take_room(uint64_t bytes) {
  content_ += bytes;
  if (content_ <= largest_content) return true;
  if (!exhausted_) source_.error({}, fmt::format("the sections have more than {} MiB", largest_content >> 20));
  exhausted_ = true;
  return false;
}

void Unit::emit_value(const Expression& expression, unsigned size, Place place) {
  keep_symbols_of(expression);
  if (const auto value = absolute(expression)) {
    if (!fits_integer(*value, size)) source_.error(place, "out of range literal value");
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
          if (take_room(*length)) append_padding(bytes, tail, *length);
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

}  // namespace Atoll::assembler
