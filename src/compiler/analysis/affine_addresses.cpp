// compiler: which rows grow by the same from each lane to the next (affine_addresses.h).
#include "compiler/analysis/affine_addresses.h"

#include <algorithm>
#include <bit>

#include "compiler/analysis/varying_masks.h"
#include "engine/prepare.h"
#include "engine/vector.h"

namespace Atoll::compiler {

namespace {

using Form = AffineAddresses::Form;
using Word = AffineAddresses::Word;
using isa::Opcode;

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

/// What an instruction makes of its sources.
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

AffineAddresses::Results AffineAddresses::results_of(const ValuLowering::Prepared& prepared, size_t item) {
  Results results;
  if (engine::is_modified(*prepared.instruction, prepared.shape) || prepared.result == nullptr) return results;
  const Content a = source(prepared, 0, 0);
  const Content b = prepared.shape.sources > 1 ? source(prepared, 1, 0) : Content{};
  const Content c = prepared.shape.sources > 2 ? source(prepared, 2, 0) : Content{};
  const auto known = [](const auto&... contents) { return ((contents.word != nullptr) && ...); };
  const auto low = [&](Form form) { return Content{new_word(std::move(form), item, row_key(*prepared.result, 0))}; };
  /// The upper half of a number with that lower half.
  const auto high = [&](const std::optional<Form>& form, const Word* its_low, unsigned word) {
    Content content{nullptr, form, its_low};
    if (form && form->multiples.empty()) content.word = new_word(*form, item, row_key(*prepared.result, word));
    return content;
  };
  const auto set_pair = [&](Content first, const std::optional<Form>& form) {
    results.high = high(form, first.word, 1);
    results.low = std::move(first);
  };
  const auto add_with_carry = [&](const Content& x, const Content& y, bool subtracts) {
    if (!known(x, y)) return;
    results.low = low(sum(x.word->form, subtracts ? times(y.word->form, ~uint64_t{0}) : y.word->form));
    results.carry = Carry{x.word, y.word, results.low->word, subtracts, prepared.instruction->lane_mask_words};
  };
  const auto take_carry = [&](const Content& x, const Content& y, bool subtracts) {
    const auto carry = carries_.find(prepared.mask->reg);
    if (prepared.mask_whole != nullptr || carry == carries_.end() || carry->second.subtracts != subtracts) return;
    const Content low_a{carry->second.a}, low_b{carry->second.b};
    auto first = pair(low_a, x), second = pair(low_b, y);
    if (!subtracts && (!first || !second)) {  // which halves belong together is not to be seen
      first = pair(low_a, y);
      second = pair(low_b, x);
    }
    if (!first || !second) return;
    results.low = high(sum(*first, subtracts ? times(*second, ~uint64_t{0}) : *second), carry->second.result, 0);
  };

  switch (prepared.instruction->opcode) {
    case Opcode::v_mov_b32:
      results.low = a;
      break;
    case Opcode::v_mov_b64:
      results.low = a;
      results.high = source(prepared, 0, 1);
      break;
    case Opcode::v_add_u32:
      if (known(a, b)) results.low = low(sum(a.word->form, b.word->form));
      break;
    case Opcode::v_sub_u32:
      if (known(a, b)) results.low = low(sum(a.word->form, times(b.word->form, ~uint64_t{0})));
      break;
    case Opcode::v_subrev_u32:
      if (known(a, b)) results.low = low(sum(b.word->form, times(a.word->form, ~uint64_t{0})));
      break;
    case Opcode::v_add3_u32:
      if (known(a, b, c)) results.low = low(sum(sum(a.word->form, b.word->form), c.word->form));
      break;
    case Opcode::v_lshlrev_b32:
      if (known(a, b)) results.low = low(shifted(b.word->form, *a.word, 32));
      break;
    case Opcode::v_lshl_add_u32:
      if (known(a, b, c)) results.low = low(sum(shifted(a.word->form, *b.word, 32), c.word->form));
      break;
    case Opcode::v_add_lshl_u32:
      if (known(a, b, c)) results.low = low(shifted(sum(a.word->form, b.word->form), *c.word, 32));
      break;
    case Opcode::v_mul_lo_u32:
      if (known(a, b)) results.low = low(product(*a.word, *b.word));
      break;
    case Opcode::v_and_b32: {
      const Content& mask = known(a) && a.word->constant ? a : b;
      const Content& other = &mask == &a ? b : a;
      if (!known(mask, other) || !mask.word->constant || !std::has_single_bit(uint64_t{*mask.word->constant} + 1))
        break;
      results.low = low(low_bits(*other.word, static_cast<unsigned>(std::popcount(*mask.word->constant))));
      break;
    }
    case Opcode::v_bfe_u32: {
      if (!known(a, b, c) || !b.word->constant || !c.word->constant) break;
      const unsigned first = *b.word->constant & 31, bits = *c.word->constant & 31;
      if (first + bits > 32 || bits == 0) break;
      results.low = low(low_bits(*a.word, first != 0 ? first : bits));
      if (first != 0) results.low = low(times(results.low->word->form, 0));
      break;
    }
    case Opcode::v_ashrrev_i32:
      // Of a number that is as wide as its sign is, the upper half.
      if (known(a, b) && a.word->constant == 31) results.low = high(low_bits(*b.word, 32, true), b.word, 0);
      break;
    case Opcode::v_add_co_u32:
      add_with_carry(a, b, false);
      break;
    case Opcode::v_sub_co_u32:
      add_with_carry(a, b, true);
      break;
    case Opcode::v_subrev_co_u32:
      add_with_carry(b, a, true);
      break;
    case Opcode::v_addc_co_u32:
      take_carry(a, b, false);
      break;
    case Opcode::v_subb_co_u32:
      take_carry(a, b, true);
      break;
    case Opcode::v_subbrev_co_u32:
      take_carry(b, a, true);
      break;
    case Opcode::v_lshlrev_b64: {
      const auto number = pair_source(prepared, 1);
      if (!known(a, b) || !a.word->constant || *a.word->constant > 31 || !number) break;
      set_pair(low(shifted(b.word->form, *a.word, 32)), shifted(*number, *a.word, 64));
      break;
    }
    case Opcode::v_lshl_add_u64: {
      const auto first = pair_source(prepared, 0), second = pair_source(prepared, 2);
      if (!known(a, b, c) || !b.word->constant || *b.word->constant > 31 || !first || !second) break;
      set_pair(low(sum(shifted(a.word->form, *b.word, 32), c.word->form)), sum(shifted(*first, *b.word, 64), *second));
      break;
    }
    case Opcode::v_mad_u64_u32: {
      if (!known(a, b, c)) break;
      const Form whole = product(*a.word, *b.word);
      auto number = pair_source(prepared, 2);
      if (number) {
        number = sum(sum(whole, *number), sum(times(low_bits(*a.word, 32), 0), times(low_bits(*b.word, 32), 0)));
      }
      set_pair(low(sum(whole, c.word->form)), number);
      break;
    }
    default:
      break;
  }
  return results;
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
