// compiler: which rows grow by the same from each lane to the next (affine_addresses.h).
#include "compiler/analysis/affine_addresses.h"

#include <algorithm>
#include <bit>

#include "compiler/analysis/varying_masks.h"
#include "engine/interpreter/prepare.h"
#include "engine/interpreter/vector.h"
#include "isa/element_type.h"
#include "isa/table.h"

namespace Atoll::compiler {

namespace {

using Form = AffineAddresses::Form;
using Word = AffineAddresses::Word;
using isa::Element;

void join(Form& form, const Form& other) {
  form.rows |= other.rows;
  form.level |= other.level;
  for (const AffineAddresses::Condition& each : other.conditions) {
    if (std::ranges::find(form.conditions, each) == form.conditions.end()) form.conditions.push_back(each);
  }
}

Form times(Form form, uint64_t factor) {
  for (auto& [key, multiple] : form.multiples) multiple *= factor;
  std::erase_if(form.multiples, [](const auto& each) { return each.second == 0; });
  return form;
}

Form sum(Form form, const Form& other) {
  join(form, other);
  for (const auto& [key, multiple] : other.multiples) form.multiples[key] += multiple;
  return times(std::move(form), 1);
}

/// Where the stride's multiple is known only to the program: there must be none.
Form flat(Form form) {
  for (const auto& [key, multiple] : form.multiples) form.level.set(key);
  form.multiples.clear();
  return form;
}

Form product(const Word& a, const Word& b) {
  if (a.constant) return times(b.form, *a.constant);
  if (b.constant) return times(a.form, *b.constant);
  return sum(flat(a.form), flat(b.form));
}

Form shifted(const Form& form, const Word& count, unsigned bits) {
  if (count.constant) return times(form, uint64_t{1} << (*count.constant & (bits - 1)));
  return sum(flat(form), flat(count.form));
}

/// The number that is a word's lowest bits.
Form low_bits(const Word& word, unsigned bits, bool is_signed = false) {
  Form form = word.form;
  if (!form.rows.none()) form.conditions.push_back({&word, bits, is_signed});
  return form;
}

}  // namespace

/// What an instruction yields.
struct AffineAddresses::Results {
  std::optional<Content> low, high;  ///< the result's first and second row
  std::optional<Carry> carry;
};

const Word* AffineAddresses::new_word(Form form, std::optional<size_t> item, unsigned key) {
  // Of those that are the same modulo 2^32, the multiple that is nearest to 0.
  for (auto& [row, multiple] : form.multiples)
    multiple = static_cast<uint64_t>(int64_t{static_cast<int32_t>(multiple)});
  return &words_.emplace_back(Word{.form = std::move(form), .item = item, .key = key, .constant = {}});
}

AffineAddresses::Content& AffineAddresses::content(unsigned key) {
  const auto [found, is_new] = rows_.try_emplace(key);
  if (is_new) {
    Form form;
    form.multiples[key] = 1;
    form.rows.set(key);
    found->second.word = new_word(std::move(form), {}, key);
  }
  return found->second;
}

AffineAddresses::Content AffineAddresses::source(const ValuLowering::Prepared& prepared, unsigned number,
                                                 unsigned word) {
  const ValuLowering::Source& source = prepared.source[number];
  if (source.scalar[0] == nullptr) return content(row_key(source.operand, word));
  Word& made = words_.emplace_back();
  if (const auto value = engine::constant_value(source.operand)) {
    made.constant = static_cast<uint32_t>(word == 0 ? *value : *value >> 32);
  }
  return {&made};
}

std::optional<Form> AffineAddresses::pair(const Content& low, const Content& high) {
  if (low.word == nullptr) return {};
  if (high.pair && high.pair_low == low.word) return high.pair;
  if (high.word == nullptr) return {};
  return sum(low_bits(*low.word, 32), flat(high.word->form));
}

std::optional<Form> AffineAddresses::pair_source(const ValuLowering::Prepared& prepared, unsigned number) {
  return pair(source(prepared, number, 0), source(prepared, number, 1));
}

/// What one instruction makes of its sources.
class AffineAddresses::Follower {
 public:
  Follower(AffineAddresses& addresses, const ValuLowering::Prepared& prepared, size_t item)
      : addresses_(addresses),
        prepared_(prepared),
        item_(item),
        a_(addresses.source(prepared, 0, 0)),
        b_(prepared.shape.sources > 1 ? addresses.source(prepared, 1, 0) : Content{}),
        c_(prepared.shape.sources > 2 ? addresses.source(prepared, 2, 0) : Content{}) {}

  Results results() {
    const isa::InstructionRow& row = isa::row_of(*prepared_.instruction);
    const Element type = isa::element_type(row);
    if (isa::bits_of(type) == 64) {
      compute_wide(row);
    } else if (isa::bits_of(type) == 32 && !isa::is_float(type)) {
      compute(row, type);
    }
    return std::move(results_);
  }

 private:
  /// Follows an operation on 32 bits.
  void compute(const isa::InstructionRow& row, Element type);
  /// Follows an operation whose result has 64 bits.
  void compute_wide(const isa::InstructionRow& row);
  void add(const isa::InstructionRow& row);
  void and_mask();
  void extract_bits();

  static bool known(const auto&... contents) { return ((contents.word != nullptr) && ...); }
  static Form negative(const Form& form) { return times(form, ~uint64_t{0}); }
  Content low(Form form) { return {addresses_.new_word(std::move(form), item_, row_key(*prepared_.result, 0))}; }
  /// The upper half of a number with that lower half.
  Content high(const std::optional<Form>& form, const Word* its_low, unsigned word) {
    Content content{nullptr, form, its_low};
    if (form && form->multiples.empty()) {
      content.word = addresses_.new_word(*form, item_, row_key(*prepared_.result, word));
    }
    return content;
  }
  void set_pair(Content first, const std::optional<Form>& form) {
    results_.high = high(form, first.word, 1);
    results_.low = std::move(first);
  }
  std::optional<Form> pair_source(unsigned number) { return addresses_.pair_source(prepared_, number); }
  /// The lower half of a sum or difference of 64 bits, and the upper one.
  void add_with_carry(const Content& x, const Content& y, bool subtracts);
  void take_carry(const Content& x, const Content& y, bool subtracts);

  AffineAddresses& addresses_;
  const ValuLowering::Prepared& prepared_;
  const size_t item_;
  const Content a_, b_, c_;  ///< the sources
  Results results_;
};

/// True for a move between VGPRs, or from a scalar or constant to a VGPR.
bool is_vgpr_move(const isa::InstructionRow& row) {
  return row.operands[0].field == isa::Field::vdst && row.operands[1].field == isa::Field::src0;
}

void AffineAddresses::Follower::add(const isa::InstructionRow& row) {
  const bool subtracts = row.computes.operation == isa::Operation::sub,
             is_reversed = row.computes.order == isa::Order::reversed;
  const Content &x = is_reversed ? b_ : a_, &y = is_reversed ? a_ : b_;
  if (row.operands[1].field == isa::Field::carry_out) return add_with_carry(x, y, subtracts);
  if (known(a_, b_)) results_.low = low(sum(x.word->form, subtracts ? negative(y.word->form) : y.word->form));
}

void AffineAddresses::Follower::and_mask() {
  const Content& mask = known(a_) && a_.word->constant ? a_ : b_;
  const Content& other = &mask == &a_ ? b_ : a_;
  if (!known(mask, other) || !mask.word->constant || !std::has_single_bit(uint64_t{*mask.word->constant} + 1)) return;
  results_.low = low(low_bits(*other.word, static_cast<unsigned>(std::popcount(*mask.word->constant))));
}

void AffineAddresses::Follower::extract_bits() {
  if (!known(a_, b_, c_) || !b_.word->constant || !c_.word->constant) return;
  const unsigned first = *b_.word->constant & 31, bits = *c_.word->constant & 31;
  if (first + bits > 32 || bits == 0) return;
  results_.low = low(low_bits(*a_.word, first != 0 ? first : bits));
  if (first != 0) results_.low = low(times(results_.low->word->form, 0));
}

void AffineAddresses::Follower::compute(const isa::InstructionRow& row, Element type) {
  const bool is_unsigned = type == Element::u32, is_reversed = row.computes.order == isa::Order::reversed;
  switch (row.computes.operation) {
    case isa::Operation::mov:
      if (is_vgpr_move(row)) results_.low = a_;
      break;
    case isa::Operation::add:
    case isa::Operation::sub:
      if (is_unsigned) add(row);
      break;
    case isa::Operation::add_carry:
      take_carry(a_, b_, false);
      break;
    case isa::Operation::sub_borrow:
      is_reversed ? take_carry(b_, a_, true) : take_carry(a_, b_, true);
      break;
    case isa::Operation::add3:
      if (known(a_, b_, c_)) results_.low = low(sum(sum(a_.word->form, b_.word->form), c_.word->form));
      break;
    case isa::Operation::shl:
      if (is_reversed && known(a_, b_)) results_.low = low(shifted(b_.word->form, *a_.word, 32));
      break;
    case isa::Operation::shl_add:
      if (known(a_, b_, c_)) results_.low = low(sum(shifted(a_.word->form, *b_.word, 32), c_.word->form));
      break;
    case isa::Operation::add_shl:
      if (known(a_, b_, c_)) results_.low = low(shifted(sum(a_.word->form, b_.word->form), *c_.word, 32));
      break;
    case isa::Operation::mad:
      if (!is_unsigned || row.operands[1].type != isa::DataType::u32) break;
      if (known(a_, b_, c_)) results_.low = low(sum(product(*a_.word, *b_.word), c_.word->form));
      break;
    case isa::Operation::mul:
      if (is_unsigned && known(a_, b_)) results_.low = low(product(*a_.word, *b_.word));
      break;
    case isa::Operation::bit_and:
      and_mask();
      break;
    case isa::Operation::bit_field_extract:
      if (is_unsigned) extract_bits();
      break;
    case isa::Operation::ashr:
      // A shift by 31 gives the upper half of a sign-extended number.
      if (is_reversed && known(a_, b_) && a_.word->constant == 31) {
        results_.low = high(low_bits(*b_.word, 32, true), b_.word, 0);
      }
      break;
    default:
      break;
  }
}

void AffineAddresses::Follower::add_with_carry(const Content& x, const Content& y, bool subtracts) {
  if (!known(x, y)) return;
  results_.low = low(sum(x.word->form, subtracts ? negative(y.word->form) : y.word->form));
  results_.carry = Carry{x.word, y.word, results_.low->word, subtracts, prepared_.instruction->lane_mask_words};
}

void AffineAddresses::Follower::take_carry(const Content& x, const Content& y, bool subtracts) {
  const auto carry = addresses_.carries_.find(prepared_.mask->reg);
  if (prepared_.mask_whole != nullptr || carry == addresses_.carries_.end() || carry->second.subtracts != subtracts) {
    return;
  }
  const Content low_a{carry->second.a}, low_b{carry->second.b};
  auto first = addresses_.pair(low_a, x), second = addresses_.pair(low_b, y);
  if (!subtracts && (!first || !second)) {  // which halves belong together is not to be seen
    first = addresses_.pair(low_a, y);
    second = addresses_.pair(low_b, x);
  }
  if (!first || !second) return;
  results_.low = high(sum(*first, subtracts ? negative(*second) : *second), carry->second.result, 0);
}

void AffineAddresses::Follower::compute_wide(const isa::InstructionRow& row) {
  const isa::DataType type = row.operands[0].type;
  switch (row.computes.operation) {
    case isa::Operation::mov:
      if (!is_vgpr_move(row)) break;
      results_.low = a_;
      results_.high = addresses_.source(prepared_, 0, 1);
      break;
    case isa::Operation::shl: {
      const auto number = pair_source(1);
      const bool shifts = row.computes.order == isa::Order::reversed && known(a_, b_) && a_.word->constant;
      if (!shifts || *a_.word->constant > 31 || !number) break;
      set_pair(low(shifted(b_.word->form, *a_.word, 32)), shifted(*number, *a_.word, 64));
      break;
    }
    case isa::Operation::add:
    case isa::Operation::sub: {
      if (type != isa::DataType::u64) break;
      const auto first = pair_source(0), second = pair_source(1);
      if (!known(a_, b_) || !first || !second) break;
      const bool subtracts = row.computes.operation == isa::Operation::sub;
      const auto difference = [&](const Form& x, const Form& y) { return sum(x, subtracts ? negative(y) : y); };
      set_pair(low(difference(a_.word->form, b_.word->form)), difference(*first, *second));
      break;
    }
    case isa::Operation::shl_add: {
      const auto first = pair_source(0), second = pair_source(2);
      if (!known(a_, b_, c_) || !b_.word->constant || *b_.word->constant > 31 || !first || !second) break;
      set_pair(low(sum(shifted(a_.word->form, *b_.word, 32), c_.word->form)),
               sum(shifted(*first, *b_.word, 64), *second));
      break;
    }
    case isa::Operation::mad: {
      if (type != isa::DataType::u64 || !known(a_, b_, c_)) break;
      const Form whole = product(*a_.word, *b_.word);
      auto number = pair_source(2);
      if (number) {
        number = sum(sum(whole, *number), sum(times(low_bits(*a_.word, 32), 0), times(low_bits(*b_.word, 32), 0)));
      }
      set_pair(low(sum(whole, c_.word->form)), number);
      break;
    }
    default:
      break;
  }
}

AffineAddresses::Results AffineAddresses::results_of(const ValuLowering::Prepared& prepared, size_t item) {
  if (engine::is_modified(*prepared.instruction, prepared.shape) || prepared.result == nullptr) return {};
  return Follower(*this, prepared, item).results();
}

void AffineAddresses::take(const ValuLowering::Prepared& prepared, size_t item) {
  const Results results = results_of(prepared, item);
  forget(lane_effects_of(*prepared.instruction));
  const auto set = [&](const std::optional<Content>& content, unsigned word) {
    if (content) rows_[row_key(*prepared.result, word)] = *content;
  };
  set(results.low, 0);
  set(results.high, 1);
  if (results.carry && prepared.mask_result != nullptr) carries_[prepared.mask_result->reg] = *results.carry;
}

void AffineAddresses::forget(const LaneEffects& effects) {
  for (unsigned key = 0; effects.vector_writes.any() && key < effects.vector_writes.size(); ++key) {
    if (effects.vector_writes[key]) rows_[key] = {};
  }
  std::erase_if(carries_,
                [&](const auto& carry) { return has_mask(effects.writes, carry.first, carry.second.lane_mask_words); });
}

std::optional<Form> AffineAddresses::address(const ChunkMemory::Prepared& access) {
  const isa::Operand& rows = *access.operands.address;
  const Content low = content(row_key(rows, 0));
  if (low.word == nullptr) return {};
  const unsigned scale = access.operands.offset_scale;
  if (rows.words == 1 && scale != 0) return times(low_bits(*low.word, 32, /*is_signed=*/true), scale);
  if (rows.words == 1) return low_bits(*low.word, 32);
  return pair(low, content(row_key(rows, 1)));
}

int64_t AffineAddresses::stride_of_row(unsigned key) const {
  const auto found = strides_.find(key);
  return found != strides_.end() ? found->second : 0;
}

int64_t AffineAddresses::stride(const Form& form) const {
  uint64_t stride = 0;
  for (const auto& [key, multiple] : form.multiples) {
    stride += multiple * static_cast<uint64_t>(stride_of_row(key));
  }
  return static_cast<int64_t>(stride);
}

std::optional<int64_t> AffineAddresses::settle(const Form& form, const semantics::MemoryAccess& access) {
  const std::map<unsigned, int64_t> before = strides_;
  const auto fits = [&] { return ChunkMemory::prefers_stride(access, stride(form)); };
  const auto unsettled = std::ranges::find_if(form.multiples, [&](const auto& each) {
    return !strides_.contains(each.first) && !form.level[each.first] && !level_[each.first];
  });
  if (unsettled != form.multiples.end()) {
    // Work-item numbers, most of all; or the row has the addresses themselves.
    strides_[unsettled->first] = 1;
    if (!fits()) strides_[unsettled->first] = access.bytes;
  }
  bool is_level = true;
  for (unsigned key = 0; key < form.rows.size(); ++key) {
    // What only has bits taken from it is work-item numbers, too, of several dimensions.
    const bool is_packed = !form.multiples.contains(key) && !form.level[key] && !level_[key];
    if (form.rows[key]) strides_.try_emplace(key, is_packed ? 1 : 0);
    if (form.level[key] && stride_of_row(key) != 0) is_level = false;
  }
  if (!is_level || !fits()) {
    strides_ = before;
    return {};
  }
  level_ |= form.level;
  return stride(form);
}

}  // namespace Atoll::compiler
