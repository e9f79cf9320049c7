// assembler: frames (frames.h).
//
// Each of the two sections has common entries and after each the frames that share it. In .eh_frame a common entry
// says how a frame's symbols are written, so that there is one for each way; in .debug_frame one is enough.
#include "assembler/unit/frames.h"

#include <elf.h>

#include <algorithm>
#include <charconv>
#include <tuple>

#include "assembler/unit/dwarf_bytes.h"

namespace Atoll::assembler {

namespace {

constexpr int64_t data_alignment = 4;  // bytes; saved registers lie at multiples of it
constexpr uint8_t program_counter = 16;

// DW_CFA_*
namespace op {
constexpr uint8_t advance_loc = 0x40, offset = 0x80, restore = 0xC0;  // with 6 bits of operand
constexpr uint8_t advance_loc1 = 2, advance_loc2 = 3, advance_loc4 = 4, offset_extended = 5, restore_extended = 6,
                  undefined = 7, same_value = 8, in_register = 9, remember_state = 10, restore_state = 11, def_cfa = 12,
                  def_cfa_register = 13, def_cfa_offset = 14, offset_extended_sf = 17, val_offset = 20,
                  val_offset_sf = 21, window_save = 0x2D, def_aspace_cfa = 0x30;
constexpr uint64_t largest_operand = 0x3F;
}  // namespace op

// DW_EH_PE_*: the size in the lower four bits, how it is to be read in the next three.
namespace encoding {
constexpr uint8_t none = 0xFF, size_mask = 7, pc_relative = 0x10, signed_4 = 0x0B;
}

unsigned encoded_size(uint8_t how) {
  switch (how & encoding::size_mask) {
    case 2:
      return 2;
    case 3:
      return 4;
    default:
      return address_size;
  }
}

class FrameSection {
 public:
  FrameSection(Unit& unit, bool unwind) : unit_(unit), out_(unit), unwind_(unwind) {}

  void emit(const std::vector<Frame>& frames) {
    std::vector<const Frame*> sorted;
    for (const Frame& frame : frames) sorted.push_back(&frame);
    const auto in_order = [](const Frame* frame) { return std::pair(common_part(frame), frame); };
    std::ranges::sort(sorted, {}, in_order);
    const Frame* last = nullptr;
    const Expression* common = nullptr;
    for (const Frame* frame : sorted) {
      if (last == nullptr || (unwind_ && common_part(last) != common_part(frame))) common = &emit_common(*frame);
      last = frame;
      emit_frame(*frame, *common, frame == sorted.back());
    }
  }

 private:
  /// What frames with one common entry share, in the order in which those come.
  static std::tuple<std::string_view, uint8_t, uint8_t, bool, bool, uint64_t> common_part(const Frame* frame) {
    const Symbol* personality = frame->personality.symbol;
    return {personality != nullptr ? std::string_view(personality->name) : std::string_view(),
            frame->personality.encoding,
            frame->language_data.encoding,
            frame->is_signal_frame,
            frame->is_simple,
            frame->return_register.value_or(INT32_MAX)};
  }

  /// A length, and what it is the length of, filled up to a multiple of `alignment`.
  template <typename Body>
  void entry(unsigned alignment, Body body) {
    Symbol& end = unit_.anonymous_label();
    const Expression& after = unit_.operation(Operation::add, {&unit_.here(), &unit_.constant(4)});
    out_.difference(unit_.reference(end), after, 4);
    body();
    unit_.emit_tail({.kind = Tail::Kind::align, .alignment = alignment, .place = {}});
    unit_.define(end, {});
  }

  void symbol(const EncodedSymbol& what) { value(unit_.reference(*what.symbol), what.encoding); }
  void value(const Expression& what, uint8_t how) {
    if ((how & encoding::pc_relative) != 0) return out_.difference(what, unit_.here(), encoded_size(how));
    out_.value(what, encoded_size(how));
  }

  const Expression& emit_common(const Frame& frame) {
    const Expression& start = unit_.here();
    entry(unwind_ ? 4 : address_size, [&] {
      unit_.emit_integer(unwind_ ? 0 : 0xFFFF'FFFF, 4);  // no frame, but common
      out_.byte(unwind_ ? 1 : 4);                        // version
      const bool personality = frame.personality.symbol != nullptr, data = frame.language_data.symbol != nullptr;
      std::string augmentation;
      if (unwind_) {
        augmentation = "z";
        if (personality) augmentation += 'P';
        if (data) augmentation += 'L';
        augmentation += 'R';
        if (frame.is_signal_frame) augmentation += 'S';
      }
      out_.text(augmentation);
      if (!unwind_) {
        out_.byte(address_size);
        out_.byte(0);  // no segments
      }
      out_.unsigned_leb(smallest_instruction);
      out_.signed_leb(data_alignment);
      const uint64_t return_register = frame.return_register.value_or(program_counter);
      if (unwind_) {
        out_.byte(return_register);
        out_.unsigned_leb(1u + (data ? 1 : 0) + (personality ? 1 + encoded_size(frame.personality.encoding) : 0));
        if (personality) {
          out_.byte(frame.personality.encoding);
          symbol(frame.personality);
        }
        if (data) out_.byte(frame.language_data.encoding);
        out_.byte(encoding::pc_relative | encoding::signed_4);
      } else {
        out_.unsigned_leb(return_register);
      }
    });
    first_offset_ = offset_;
    return start;
  }

  void emit_frame(const Frame& frame, const Expression& common, bool is_last) {
    offset_ = first_offset_;
    entry(is_last || !unwind_ ? address_size : 4, [&] {
      if (unwind_) {
        out_.difference(unit_.here(), common, 4);
        value(*frame.begin, encoding::pc_relative | encoding::signed_4);
        out_.difference(*frame.end, *frame.begin, 4);
        const bool data = frame.language_data.symbol != nullptr;
        out_.unsigned_leb(data ? encoded_size(frame.language_data.encoding) : 0);
        if (data) symbol(frame.language_data);
      } else {
        out_.value(common, 4);
        out_.value(*frame.begin, address_size);
        out_.difference(*frame.end, *frame.begin, address_size);
      }
      const Expression* before = frame.begin;
      for (const FrameStep& step : frame.steps) {
        advance(*before, *step.at);
        before = step.at;
        emit_step(step);
      }
    });
  }

  void advance(const Expression& from, const Expression& to) {
    const auto bytes = unit_.absolute(unit_.operation(Operation::subtract, {&to, &from}));
    if (!bytes) {
      unit_.source().error(to.place, "invalid CFI advance_loc expression");
      return;
    }
    const uint64_t steps = static_cast<uint64_t>(*bytes) / smallest_instruction;
    if (steps == 0) return;
    if (steps <= op::largest_operand) return out_.byte(op::advance_loc | steps);
    const unsigned size = steps <= UINT8_MAX ? 1 : steps <= UINT16_MAX ? 2 : 4;
    out_.byte(size == 1 ? op::advance_loc1 : size == 2 ? op::advance_loc2 : op::advance_loc4);
    unit_.emit_integer(steps, size);
  }

  void saved_at(uint64_t reg, int64_t bytes) {
    const int64_t offset = bytes / data_alignment;
    if (offset < 0) {
      out_.byte(op::offset_extended_sf);
      out_.unsigned_leb(reg);
      return out_.signed_leb(offset);
    }
    if (reg <= op::largest_operand) {
      out_.byte(op::offset | reg);
    } else {
      out_.byte(op::offset_extended);
      out_.unsigned_leb(reg);
    }
    out_.unsigned_leb(static_cast<uint64_t>(offset));
  }

  void emit_step(const FrameStep& step) {
    using Kind = FrameStep::Kind;
    const auto with_register = [&](uint8_t opcode) {
      out_.byte(opcode);
      out_.unsigned_leb(step.reg);
    };
    const auto set_offset = [&](int64_t offset) {
      offset_ = offset;
      out_.unsigned_leb(static_cast<uint64_t>(offset));
    };
    switch (step.kind) {
      case Kind::define_cfa:
        with_register(op::def_cfa);
        return set_offset(step.offset);
      case Kind::define_cfa_register:
        return with_register(op::def_cfa_register);
      case Kind::define_cfa_offset:
        out_.byte(op::def_cfa_offset);
        return set_offset(step.offset);
      case Kind::adjust_cfa_offset:
        out_.byte(op::def_cfa_offset);
        return set_offset(offset_ + step.offset);
      case Kind::define_cfa_in_space:
        with_register(op::def_aspace_cfa);
        set_offset(step.offset);
        return out_.unsigned_leb(step.second);
      case Kind::offset:
        return saved_at(step.reg, step.offset);
      case Kind::relative_offset:
        return saved_at(step.reg, step.offset - offset_);
      case Kind::value_offset: {
        const int64_t offset = step.offset / data_alignment;
        with_register(offset < 0 ? op::val_offset_sf : op::val_offset);
        return offset < 0 ? out_.signed_leb(offset) : out_.unsigned_leb(static_cast<uint64_t>(offset));
      }
      case Kind::same_value:
        return with_register(op::same_value);
      case Kind::undefined:
        return with_register(op::undefined);
      case Kind::restore:
        if (step.reg <= op::largest_operand) return out_.byte(op::restore | step.reg);
        return with_register(op::restore_extended);
      case Kind::in_register:
        with_register(op::in_register);
        return out_.unsigned_leb(step.second);
      case Kind::remember:
        return out_.byte(op::remember_state);
      case Kind::restore_remembered:
        return out_.byte(op::restore_state);
      case Kind::window_save:
        return out_.byte(op::window_save);
      case Kind::escape:
        return unit_.emit(step.bytes);
      case Kind::label:
        return unit_.define(*step.symbol, {});
    }
  }

  Unit& unit_;
  DwarfBytes out_;
  const bool unwind_;
  int64_t offset_ = 0, first_offset_ = 0;  // of the frame's address from its register
};

}  // namespace

bool is_frame_encoding(int64_t value) {
  if (value == encoding::none) return true;
  if ((value & ~int64_t{0xFF}) != 0) return false;
  const int64_t format = value & 0xF, application = value & 0x70;
  const bool known_format = format == 0 || format == 2 || format == 3 || format == 4 || format == 10 || format == 11 ||
                            format == 12;  // a pointer, or 2, 4 or 8 bytes, unsigned or signed
  return known_format && (application == 0 || application == encoding::pc_relative);
}

std::optional<uint64_t> dwarf_register(std::string_view name, bool wave32) {
  if (name == "pc") return program_counter;
  if (name == "exec") return 17;
  if (name == "exec_lo") return 1;
  if (name == "vcc") return 768;  // LLVM writes register -1 for it, which debuggers do not know
  if (name == "vcc_lo") return 512;
  if (name.size() < 2) return std::nullopt;
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(name.data() + 1, name.data() + name.size(), number);
  if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;
  if (name[0] == 's' && number <= 105) return number <= 63 ? 32 + number : 1024 + number;
  if (name[0] == 'v' && number <= 255) return (wave32 ? 1536 : 2560) + number;
  if (name[0] == 'a' && number <= 255) return (wave32 ? 2048 : 3072) + number;
  return std::nullopt;
}

void emit_unwind_frames(Unit& unit, const std::vector<Frame>& frames) {
  unit.switch_to(unit.section({.name = ".eh_frame", .group = {}}, SHT_PROGBITS, SHF_ALLOC));
  FrameSection(unit, true).emit(frames);
}

void emit_debug_frames(Unit& unit, const std::vector<Frame>& frames) {
  unit.switch_to(unit.section({.name = ".debug_frame", .group = {}}, SHT_PROGBITS, 0));
  FrameSection(unit, false).emit(frames);
}

}  // namespace Atoll::assembler
