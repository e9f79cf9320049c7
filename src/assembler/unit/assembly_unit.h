// assembler: what is being assembled: sections of bytes, the symbols, and the places that wait for a value.
//
// A section is a list of fragments: bytes, and after them a tail whose length may not be known yet (an alignment is
// known as soon as all before it is; a fill may depend on symbols that come later). Instructions have a fixed length
// from the start; only on GPUs where a branch by 63 words goes astray, a nop is put after such a one. Subsections are
// lists of fragments of their own until the text has ended; then they follow each other. finish() gives the tails their
// lengths, fills in the values and leaves what it cannot know to relocations.
//
// unit.cpp has sections, symbols and content, values.cpp expressions, layout.cpp addresses, relocations.cpp the rest.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "assembler/syntax/expression.h"
#include "assembler/syntax/source.h"
#include "object/relocatable.h"
#include "target/processor.h"

namespace Atoll::assembler {

/// What follows a fragment's bytes.
struct Tail {
  enum class Kind : uint8_t { none, align, fill, org, leb, branch_nop };
  Kind kind = Kind::none;
  bool taken = false;                      ///< branch_nop: the branch before it needs it
  bool is_signed = false;                  ///< leb
  bool nops = false;                       ///< align: filled with instructions that do nothing
  uint64_t alignment = 1, max_bytes = 0;   ///< align; max_bytes 0: any number
  uint64_t fill = 0;                       ///< value of each element
  unsigned fill_size = 1;                  ///< bytes of an element
  const Expression* expression = nullptr;  ///< fill: how many elements; org: where to; leb: the value
  Place place;
};

struct Fragment {
  std::vector<uint8_t> bytes;
  Tail tail;
};

/// A place whose value comes later.
struct Fixup {
  enum class Kind : uint8_t {
    data,    ///< `size` bytes
    branch,  ///< the 16 bits of a branch: words, counted from the end of the instruction
  };
  Kind kind = Kind::data;
  uint8_t size = 4;
  bool pc_relative = false;  ///< counted from its own place
  uint32_t fragment = 0;
  uint64_t offset = 0;  ///< in the fragment
  const Expression* expression = nullptr;
  Place place;
};

struct SectionKey {
  std::string name, group;
  uint32_t unique = 0;  ///< of sections that share a name
  auto operator<=>(const SectionKey&) const = default;
};

struct Relocation {
  uint64_t offset;
  Symbol* symbol;  ///< or null
  uint32_t type;
  int64_t addend;
};

/// A relocation that the text spells out (.reloc).
struct ExplicitRelocation {
  const Expression* offset = nullptr;
  uint32_t type = 0;
  const Expression* value = nullptr;  ///< or null
  Place place;
};

struct Section {
  SectionKey key;
  uint32_t type = 0;
  uint64_t flags = 0, entry_size = 0, alignment = 1;
  bool comdat = false;       ///< its group is; of groups with the same name one is kept
  std::string linked_to;     ///< name of the symbol whose section SHF_LINK_ORDER names
  Section* whole = nullptr;  ///< of a subsection: what it is part of
  Symbol* symbol = nullptr;
  std::vector<Fragment> fragments{1};
  std::vector<Fixup> fixups;
  std::vector<ExplicitRelocation> explicit_relocations;
  // Made by finish():
  std::vector<uint64_t> addresses;  ///< of the fragments; as far as known before
  std::vector<uint8_t> bytes;
  uint64_t size = 0;  ///< also where it has no bytes
  std::vector<Relocation> relocations;

  bool has_bytes() const { return type != 8; }       ///< SHT_NOBITS
  bool is_code() const { return (flags & 4) != 0; }  ///< SHF_EXECINSTR
};

using object::largest_content;
/// Size that a section without bytes in the file (.bss) may have.
inline constexpr uint64_t largest_without_bytes = uint64_t{1} << 32;
/// Lengths of fills and addresses saturate here, so that sums do not overflow.
inline constexpr uint64_t largest_address = uint64_t{1} << 60;

/// Puts an integer of `size` bytes after others; from the ninth on they are 0.
void append_integer(std::vector<uint8_t>& bytes, uint64_t value, unsigned size);
/// Puts the bytes of an alignment, a fill or a nop after others.
void append_padding(std::vector<uint8_t>& bytes, const Tail& tail, uint64_t length);
/// Whether an integer of `size` bytes can have that value, signed or not.
bool fits_integer(int64_t value, unsigned size);

class Unit {
 public:
  Unit(Source& source, const target::Processor& processor) : source_(source), processor_(processor) {}

  const target::Processor& processor() const { return processor_; }
  Source& source() { return source_; }

  // --- Sections
  Section& section(const SectionKey& key, uint32_t type, uint64_t flags, uint64_t entry_size = 0);
  Section* find_section(const SectionKey& key);
  Section& current() { return *current_; }
  /// Switches to a subsection of a section; it starts with number 0.
  void switch_to(Section& section, uint32_t subsection = 0);
  /// The current section, all of it where a subsection is current.
  Section& current_whole() { return current_->whole != nullptr ? *current_->whole : *current_; }
  /// Puts the subsections after each other: when no more content comes.
  void join_subsections();
  void push_section() { section_stack_.emplace_back(current_, previous_); }
  bool pop_section();
  bool previous_section();
  const std::deque<Section>& sections() const { return sections_; }

  // --- Symbols
  Symbol& symbol(std::string_view name);
  Symbol* find_symbol(std::string_view name);
  /// The label that a number names: the last before here, or the next.
  Symbol& local_label(uint64_t number, bool forward);
  /// Defines the label here.
  void define(Symbol& symbol, Place place);
  void define_local_label(uint64_t number, Place place);
  /// Sets it, maybe anew.
  void assign(Symbol& symbol, const Expression& value);
  /// Returns the symbol that an expression refers to: its value at that time, if it has been redefined since.
  static Symbol& meant(const Expression& reference);
  /// What it is set to, without a place in the symbol table, and in all expressions that name it.
  void set_value(Symbol& symbol, const Expression& value);
  /// Puts the symbol at the end of the symbol table unless it has its place already.
  void keep(Symbol& symbol);
  void keep_symbols_of(const Expression& expression);
  /// In the order of the symbol table; null where a symbol has got a later place.
  const std::vector<Symbol*>& kept() const { return kept_; }
  // The table of symbols whose address matters (.addrsig).
  void want_address_significance() { wants_address_significance_ = true; }
  void address_significant(Symbol& symbol) { address_significant_.push_back(&symbol); }
  bool wants_address_significance() const { return wants_address_significance_; }
  const std::vector<Symbol*>& address_significant_symbols() const { return address_significant_; }

  // --- Expressions
  const Expression& constant(int64_t value, Place place = {});
  const Expression& reference(Symbol& symbol, Specifier specifier = Specifier::none, Place place = {});
  const Expression& operation(Operation operation, std::vector<const Expression*> operands, Place place = {});
  /// A symbol that stands here.
  const Expression& here();
  /// A label that no text names, to be defined later.
  Symbol& anonymous_label();
  /// Evaluates the expression as far as possible now; nullopt if it is invalid.
  std::optional<Value> evaluate(const Expression& expression);
  /// The number that it is, if that is known by now.
  std::optional<int64_t> absolute(const Expression& expression);
  /// Whether `is` holds for a symbol that the expression names, or that what variables are set to names in turn.
  bool names(const Expression& expression, const std::function<bool(const Symbol&)>& is);
  /// Whether the text takes more steps or memory than any needs, which has been reported.
  bool is_exhausted() const { return exhausted_; }

  // --- Content of the current section
  /// What is to be done before the next bytes are emitted.
  void before_content(std::function<void()> action) { before_content_ = std::move(action); }
  void emit(std::span<const uint8_t> bytes);
  void emit_integer(uint64_t value, unsigned size);
  /// `size` bytes with the value of the expression, now or at the end.
  void emit_value(const Expression& expression, unsigned size, Place place);
  /// A place within bytes emitted last: `back` bytes before the end.
  void add_fixup(Fixup fixup, uint64_t back);
  void emit_tail(Tail tail);
  /// Bytes from the section's start to here, if that is known.
  std::optional<uint64_t> position();

  /// Decides which branches get a nop: when no more code comes. Until then it is not known how far code after a branch
  /// is from what is before it.
  void settle_branches();
  /// Gives everything its address and fills in the values. What goes wrong is in the Source.
  void finish();

 private:
  void begin_content();
  bool take_room(uint64_t bytes);
  std::optional<uint64_t> address_of(Section& section, uint32_t fragment);
  std::optional<uint64_t> address_of(const Symbol& symbol) {
    const auto base = address_of(*symbol.section, symbol.fragment);
    return base ? std::optional(*base + symbol.offset) : std::nullopt;
  }
  std::optional<uint64_t> distance(const Symbol& from, const Symbol& to);
  std::optional<uint64_t> tail_length(const Section& section, const Tail& tail, uint64_t address);
  void fill_tail(Section& section, const Tail& tail, uint64_t length);
  void lay_out(Section& section);
  void fill(Section& section);
  void add_branch_nops(Section& section);
  bool needs_nop(Section& section, const Fixup& branch);
  void resolve(Section& section, const Fixup& fixup);
  void resolve(Section& section, const ExplicitRelocation& relocation);
  std::optional<Value> combine(Operation operation, const Value& a, const Value& b);
  std::optional<Value> apply_to(Operation operation, std::span<const Value> values);
  struct Pending;
  std::optional<Value> evaluate_pending(std::vector<Pending>& pending);
  bool enter_symbol(std::vector<Pending>& pending, std::vector<Value>& values,
                    const std::unordered_map<const Symbol*, Value>& done);
  bool spend(uint64_t steps, Place place = {});

  Source& source_;
  const target::Processor& processor_;
  std::deque<Section> sections_;
  std::map<SectionKey, Section*> sections_by_key_;
  std::map<std::pair<Section*, uint32_t>, Section> subsections_;
  Section* current_ = nullptr;
  Section* previous_ = nullptr;
  std::vector<std::pair<Section*, Section*>> section_stack_;
  std::deque<Symbol> symbols_;
  std::unordered_map<std::string_view, Symbol*> symbols_by_name_;
  std::map<uint64_t, uint64_t> local_labels_;  ///< how often a number has been defined
  std::vector<Symbol*> kept_, address_significant_;
  bool wants_address_significance_ = false;
  std::deque<Expression> expressions_;
  uint32_t epoch_ = 1;        ///< another when a count is, or code becomes longer: what was known is not any more
  unsigned evaluations_ = 0;  ///< within each other: where a section's length depends on another's
  uint64_t steps_ = 0;        ///< that evaluating has taken
  uint64_t content_ = 0;      ///< bytes that the text gives; then those that all sections have
  bool exhausted_ = false;
  std::function<void()> before_content_;
  bool branches_settled_ = false;
  bool final_ = false;  ///< every label has its address
};

}  // namespace Atoll::assembler
