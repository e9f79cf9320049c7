#include "tools/instruction_description.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "isa/element_type.h"

namespace Atoll::tools {

namespace {

using isa::Computation;
using isa::Element;
using isa::Encoding;
using isa::Field;
using isa::ImageForm;
using isa::InstructionRow;
using isa::Operation;
using isa::Part;
using isa::Places;
using isa::Predicate;
namespace flag = isa::flag;

struct Phrase {
  Operation operation;
  std::string_view text;
};

/// Effect of an operation, in terms of its result D and its sources S0, S1 and S2. These are replaced by the
/// operands of an encoding: an atomic's memory and data, EXEC, a literal, the result's old value.
constexpr Phrase phrases[] = {
    {Operation::nop, "Does nothing"},
    {Operation::mov, "D = S0"},
    {Operation::conditional_mov, "D = S0 if SCC is set"},
    {Operation::swap, "Exchanges D and S0"},
    {Operation::pack_low_low, "D = the lower parts of S0 and S1"},
    {Operation::pack_low_high, "D = the lower half of S0 and the upper half of S1"},
    {Operation::pack_high_low, "D = the upper half of S0 and the lower half of S1"},
    {Operation::pack_high_high, "D = the upper halves of S0 and S1"},
    {Operation::add, "D = S0 + S1"},
    {Operation::add_carry, "D = S0 + S1 + the carry"},
    {Operation::add3, "D = S0 + S1 + S2"},
    {Operation::sub, "D = S0 - S1"},
    {Operation::sub_borrow, "D = S0 - S1 - the borrow"},
    {Operation::abs, "D = |S0|"},
    {Operation::abs_diff, "D = |S0 - S1|"},
    {Operation::mul, "D = S0 * S1"},
    {Operation::mul_hi, "D = the upper half of S0 * S1"},
    {Operation::mad, "D = S0 * S1 + S2"},
    {Operation::fma, "D = S0 * S1 + S2"},
    {Operation::min, "D = the smaller of S0 and S1"},
    {Operation::max, "D = the larger of S0 and S1"},
    {Operation::min3, "D = the smallest of S0, S1 and S2"},
    {Operation::max3, "D = the largest of S0, S1 and S2"},
    {Operation::med3, "D = the middle one of S0, S1 and S2"},
    {Operation::min_max, "D = max(min(S0, S1), S2)"},
    {Operation::max_min, "D = min(max(S0, S1), S2)"},
    {Operation::add_min, "D = min(S0 + S1, S2)"},
    {Operation::add_max, "D = max(S0 + S1, S2)"},
    {Operation::add_shl, "D = (S0 + S1) << S2"},
    {Operation::shl_add, "D = (S0 << S1) + S2"},
    {Operation::bit_xor_add, "D = (S0 ^ S1) + S2"},
    {Operation::bit_and, "D = S0 & S1"},
    {Operation::bit_or, "D = S0 | S1"},
    {Operation::bit_xor, "D = S0 ^ S1"},
    {Operation::bit_not, "D = ~S0"},
    {Operation::bit_and_not, "D = S0 & ~S1"},
    {Operation::bit_or_not, "D = S0 | ~S1"},
    {Operation::bit_nand, "D = ~(S0 & S1)"},
    {Operation::bit_nor, "D = ~(S0 | S1)"},
    {Operation::bit_xnor, "D = ~(S0 ^ S1)"},
    {Operation::bit_or3, "D = S0 | S1 | S2"},
    {Operation::bit_xor3, "D = S0 ^ S1 ^ S2"},
    {Operation::bit_and_or, "D = (S0 & S1) | S2"},
    {Operation::bit_table, "Each bit of D is a bit of the truth table, chosen by those of S0, S1 and S2"},
    {Operation::shl, "D = S0 << S1"},
    {Operation::lshr, "D = S0 >> S1, filled with zeros"},
    {Operation::ashr, "D = S0 >> S1, filled with the sign"},
    {Operation::shl_or, "D = (S0 << S1) | S2"},
    {Operation::align_bits, "D = the 32 bits of S0:S1 from bit S2 on"},
    {Operation::align_bytes, "D = the 32 bits of S0:S1 from byte S2 on"},
    {Operation::byte_permute,
     "Each byte of D is one of the eight of S0:S1, or a constant or sign, as the byte of S2 says"},
    {Operation::table_lookup, "16 elements chosen from a table by indices of four bits"},
    {Operation::bit_field_extract, "D = a field of S0: where it begins and how wide it is, the other source says"},
    {Operation::bit_field_extract_packed,
     "D = a field of S0: where it begins and how wide it is, the other source says"},
    {Operation::bit_field_insert, "D = (S0 & S1) | (~S0 & S2)"},
    {Operation::bit_field_mask, "D = a mask of S0 ones from bit S1 on"},
    {Operation::bit_reverse, "D = S0 with its bits in reverse order"},
    {Operation::bit_set, "Bit S0 of D becomes 1"},
    {Operation::bit_clear, "Bit S0 of D becomes 0"},
    {Operation::bit_test, "SCC = whether bit S1 of S0 is "},
    {Operation::bit_replicate, "D = S0 with each bit twice"},
    {Operation::quad_mask, "D = for each four bits of S0, whether one is 1"},
    {Operation::whole_quad, "D = S0 with all of each four bits set of which one is"},
    {Operation::count_zeros, "D = how many bits of S0 are 0"},
    {Operation::count_ones, "D = how many bits of S0 are 1"},
    {Operation::count_ones_add, "D = how many bits of S0 are 1, plus S1"},
    {Operation::masked_count_low,
     "D = how many of S0's bits for the lanes before this one, of the first 32, are 1, plus S1"},
    {Operation::masked_count_high,
     "D = how many of S0's bits for the lanes before this one, of the last 32, are 1, plus S1"},
    {Operation::find_first_zero, "D = the number of the lowest bit of S0 that is 0, or -1"},
    {Operation::find_first_one, "D = the number of the lowest bit of S0 that is 1, or -1"},
    {Operation::find_high_one,
     "D = how many bits are above the highest one of S0 that is 1 (signed: unlike the sign), or -1"},
    {Operation::find_high_sign,
     "D = how many bits are above the highest one of S0 that is 1 (signed: unlike the sign), or -1"},
    {Operation::lerp, "The mean of each byte of S0 and S1, rounded as the byte of S2 says"},
    {Operation::sad, "D = S2 + the sum of |S0 - S1| over their elements"},
    {Operation::sad_high, "D = S2 + (the sum of |S0 - S1| over their bytes << 16)"},
    {Operation::masked_sad, "D = S2 + the sum of |S0 - S1| over the bytes of S1 that are not 0"},
    {Operation::quad_sad, "Four sums of absolute differences, each of four bytes of S0 and those of S1"},
    {Operation::masked_quad_sad,
     "Four sums of absolute differences, as of v_qsad, over the bytes of S1 that are not 0"},
    {Operation::saturate_pack, "Saturates two elements and packs them"},
    {Operation::saturate_pack4, "Saturates four elements and packs them"},
    {Operation::ashr_saturate_pack, "Two shifts to the right, saturated and packed"},
    {Operation::random_step, "D = the next state of a random number generator, a shift register, whose state is S0"},
    {Operation::mul_legacy, "D = S0 * S1, 0 if either is 0, whatever the other is"},
    {Operation::mul_lit, "D = S0 * S1 as lighting has it: the least number if S1 or S2 is not positive or is NaN"},
    {Operation::mad_legacy, "D = S0 * S1 + S2"},
    {Operation::fma_legacy, "D = S0 * S1 + S2"},
    {Operation::min_legacy, "D = S0 < S1 ? S0 : S1"},
    {Operation::max_legacy, "D = S0 >= S1 ? S0 : S1"},
    {Operation::minimum, "D = the smaller of S0 and S1; NaN if either is"},
    {Operation::maximum, "D = the larger of S0 and S1; NaN if either is"},
    {Operation::minimum3, "D = the smallest of S0, S1 and S2; NaN if any is"},
    {Operation::maximum3, "D = the largest of S0, S1 and S2; NaN if any is"},
    {Operation::minimum_maximum, "D = max(min(S0, S1), S2); NaN if any is"},
    {Operation::maximum_minimum, "D = min(max(S0, S1), S2); NaN if any is"},
    {Operation::trunc, "D = S0 without its fraction"},
    {Operation::ceil, "D = the next integer from S0 upwards"},
    {Operation::floor, "D = the next integer from S0 downwards"},
    {Operation::round_even, "D = the integer nearest to S0, ties to even"},
    {Operation::fract, "D = S0 - floor(S0)"},
    {Operation::ldexp, "D = S0 * 2 to the power of S1"},
    {Operation::frexp_exponent, "D = the exponent of S0 as frexp() has it"},
    {Operation::frexp_mantissa, "D = the mantissa of S0 as frexp() has it, from 0.5 to 1"},
    {Operation::div_scale,
     "D = S0, scaled for a division that would leave the range; VCC says whether the quotient is to be"},
    {Operation::div_fmas, "D = S0 * S1 + S2, scaled back where VCC says so"},
    {Operation::div_fixup, "D = the quotient S0, put right for special cases of the denominator S1 and numerator S2"},
    {Operation::trig_preop, "D = a part of 2 / pi, chosen by S1 and the size of S0, to reduce large arguments with"},
    {Operation::exp2, "D = 2 to the power of S0, approximately"},
    {Operation::exp2_legacy, "D = 2 to the power of S0, approximately, less exactly than v_exp"},
    {Operation::log2, "D = the logarithm of S0 to base 2, approximately"},
    {Operation::log2_legacy, "D = the logarithm of S0 to base 2, approximately, less exactly than v_log"},
    {Operation::log2_clamp, "D = the logarithm of S0 to base 2, the least number instead of -infinity"},
    {Operation::rcp, "D = 1 / S0, approximately"},
    {Operation::rcp_iflag, "D = 1 / S0, approximately, raising the integers' division by zero"},
    {Operation::rcp_clamp, "D = 1 / S0, approximately, the largest number instead of infinity"},
    {Operation::rcp_legacy, "D = 1 / S0, approximately, 0 instead of infinity"},
    {Operation::rsq, "D = 1 / sqrt(S0), approximately"},
    {Operation::rsq_clamp, "D = 1 / sqrt(S0), approximately, the largest number instead of infinity"},
    {Operation::rsq_legacy, "D = 1 / sqrt(S0), approximately, 0 instead of infinity"},
    {Operation::sqrt, "D = the square root of S0, approximately"},
    {Operation::sin, "D = the sine of S0 turns, approximately"},
    {Operation::cos, "D = the cosine of S0 turns, approximately"},
    {Operation::tanh, "D = the hyperbolic tangent of S0, approximately"},
    {Operation::cube_face, "D = the face of a cube that the direction S0, S1, S2 meets"},
    {Operation::cube_s, "D = the S coordinate on the face that the direction S0, S1, S2 meets"},
    {Operation::cube_t, "D = the T coordinate on the face that the direction S0, S1, S2 meets"},
    {Operation::cube_major_axis, "D = twice the largest of the components of S0, S1, S2"},
    {Operation::dot2, "D = S2 + the products of the two elements of S0 and S1, added up"},
    {Operation::dot4, "D = S2 + the products of the four elements of S0 and S1, added up"},
    {Operation::dot8, "D = S2 + the products of the eight elements of S0 and S1, added up"},
    {Operation::load_matrix_scales, "Loads the scales of the matrix instruction after it"},
    {Operation::interpolate_p1, "Interpolates an attribute, first step: P10 * I + P0"},
    {Operation::interpolate_p2, "Interpolates an attribute, second step: P20 * J + D"},
    {Operation::interpolate_mov, "D = one of the attribute's values P0, P10, P20"},
    {Operation::interpolate_p1_ll, "Interpolates an attribute of 16 bits, first step"},
    {Operation::interpolate_p1_lv, "Interpolates an attribute of 16 bits, first step, of two attributes"},
    {Operation::interpolate_p10_registers, "Interpolates an attribute in registers, first step"},
    {Operation::interpolate_p2_registers, "Interpolates an attribute in registers, second step"},
    {Operation::read_lane, "The scalar D = S0 of lane S1, whatever EXEC is"},
    {Operation::read_first_lane, "The scalar D = S0 of the first active lane"},
    {Operation::write_lane, "Lane S1 of D = S0, whatever EXEC is"},
    {Operation::permute_row, "Lanes of each row of 16 read S0 of the lane that S1 and S2 name, four bits for each"},
    {Operation::permute_other_row,
     "Lanes of each row of 16 read S0 of the neighbouring row's lane that S1 and S2 name"},
    {Operation::permute_row_by_lane, "Lanes of each row of 16 read S0 of the lane that their S1 names"},
    {Operation::permute_other_row_by_lane,
     "Lanes of each row of 16 read S0 of the neighbouring row's lane that their S1 names"},
    {Operation::exchange_wave_halves, "Exchanges the halves of a wave of 64 lanes"},
    {Operation::swap_rows, "Exchanges odd rows of 16 lanes of D with even ones of S0"},
    {Operation::swap_halves, "Exchanges the upper 32 lanes of D with the lower ones of S0"},
    {Operation::lanes_broadcast, "Lanes of each group read S0 of one of its lanes"},
    {Operation::lanes_down, "Lanes read S0 of a later lane of their group"},
    {Operation::lanes_up, "Lanes read S0 of an earlier lane of their group"},
    {Operation::lanes_xor, "Lanes read S0 of the lane whose number differs in some bits"},
    {Operation::lane_indices, "D = the lane numbers that other permutations take"},
    {Operation::lanes_swizzle, "Lanes read S0 of the lane that a pattern in the offset selects"},
    {Operation::lanes_push, "Lanes send their data to the lane whose number times 4 their address is"},
    {Operation::lanes_pull, "Lanes read the data of the lane whose number times 4 their address is"},
    {Operation::lanes_pull_inactive,
     "Lanes read the data of the lane whose number times 4 their address is, active or not"},
    {Operation::load_direct, "D = the dword of LDS at M0, in all lanes"},
    {Operation::load_parameter, "D = an attribute's values P0, P10, P20, out of LDS"},
    {Operation::exchange, "D = S1"},
    {Operation::compare_exchange, "D = S1 if D equals S2"},
    {Operation::compare_store, "D = S2 if D equals S1"},
    {Operation::conditional_exchange, "D = in each half, S1 without its highest bit, if that is set"},
    {Operation::sub_saturate, "D = S0 - S1, at least 0"},
    {Operation::sub_if_enough, "D = S0 - S1 if that is not negative"},
    {Operation::mask_or, "D = (S0 & ~S1) | S2"},
    {Operation::increment_wrap, "D = S0 >= S1 ? 0 : S0 + 1"},
    {Operation::decrement_wrap, "D = S0 == 0 or S0 > S1 ? S1 : S0 - 1"},
    {Operation::wrap, "D = S0 >= S1 ? S0 - S1 : S0 + S2"},
    {Operation::append, "Adds the number of active lanes to a dword of LDS; D = the old value"},
    {Operation::consume, "Subtracts the number of active lanes from a dword of LDS; D = the old value"},
    {Operation::ordered_add, "D = S0 + S1, in the order of the waves"},
    {Operation::ordered_count, "Adds to a counter of GDS in the order of the waves"},
    {Operation::add_geometry_register, "Adds to a register of the geometry engine; D = the old value"},
    {Operation::sub_geometry_register, "Subtracts from a register of the geometry engine; D = the old value"},
    {Operation::bvh_stack, "Pushes nodes of a bounding volume hierarchy to a stack in LDS and pops the next"},
    {Operation::bvh_stack8, "Pushes up to eight nodes of a hierarchy to a stack in LDS and pops the next"},
    {Operation::barrier_arrive, "Arrives at a barrier in LDS; D = its state before"},
    {Operation::async_barrier_arrive, "Arrives at a barrier in LDS when asynchronous copies are done"},
    {Operation::tensor_load, "Copies a part of a tensor from memory to LDS"},
    {Operation::tensor_store, "Copies a part of a tensor from LDS to memory"},
    {Operation::tensor_save, "Saves the state of tensor copies"},
    {Operation::tensor_stop, "Stops tensor copies"},
    {Operation::export_values, "Exports up to four values to a render target, a parameter or a position"},
    {Operation::image_load_samples, "Loads a component of all samples of an image"},
    {Operation::image_info, "D = an image's size and number of levels"},
    {Operation::image_lod, "D = the level of detail that a sample would have"},
    {Operation::intersect_ray, "Intersects a ray with a node of a bounding volume hierarchy"},
    {Operation::intersect_ray2, "Intersects a ray with two nodes of a hierarchy"},
    {Operation::intersect_ray8, "Intersects a ray with a node of a hierarchy that has eight children"},
    {Operation::invalidate, "Invalidates "},
    {Operation::write_back, "Writes back "},
    {Operation::write_back_invalidate, "Writes back and invalidates "},
    {Operation::discard_lines, "Drops dirty lines of the scalar cache of data"},
    {Operation::translate_ahead, "Has an address translated ahead"},
    {Operation::prefetch_code, "Fetches code into the cache"},
    {Operation::prefetch_data, "Fetches data into the cache"},
    {Operation::branch_debug_system, "Jumps by the immediate if the system debugger's flag is set"},
    {Operation::branch_debug_user, "Jumps by the immediate if the user debugger's flag is set"},
    {Operation::branch_debug_either, "Jumps by the immediate if one of the debuggers' flags is set"},
    {Operation::branch_debug_both, "Jumps by the immediate if both of the debuggers' flags are set"},
    {Operation::jump, "Jumps to the address S0"},
    {Operation::jump_relative, "Jumps by S0 bytes, counted from the next instruction"},
    {Operation::call, "D = the address of the next instruction; jumps to S0"},
    {Operation::get_pc, "D = the address of the next instruction"},
    {Operation::fork, "Takes both ways of a branch one after the other, the one for fewer lanes first"},
    {Operation::fork_join, "Ends a fork: goes on with the other way, or after it when both are done"},
    {Operation::subvector_begin, "Begins a loop that runs for each half of a wave of 64 lanes"},
    {Operation::subvector_end, "Ends a loop that runs for each half of a wave of 64 lanes"},
    {Operation::trap, "Enters the trap handler with a number"},
    {Operation::trap_return, "Returns from the trap handler to the address S0"},
    {Operation::end_program, "Ends the wave"},
    {Operation::end_program_saved, "Ends the wave after its state has been saved"},
    {Operation::end_program_ordered, "Ends the wave of a pixel shader and its part that is in order"},
    {Operation::code_end, "Marks the end of code; never executed"},
    {Operation::illegal, "Never an instruction: an exception"},
    {Operation::barrier, "Waits until all waves of the work-group are here"},
    {Operation::barrier_signal, "Arrives at a barrier without waiting"},
    {Operation::barrier_signal_is_first, "Arrives at a barrier without waiting; SCC = whether it is the first"},
    {Operation::barrier_wait, "Waits until a barrier is complete"},
    {Operation::barrier_init, "Says how many waves belong to a named barrier"},
    {Operation::barrier_join, "Joins a named barrier"},
    {Operation::barrier_leave, "Leaves a named barrier"},
    {Operation::barrier_wakeup, "Wakes the waves at a barrier"},
    {Operation::barrier_state, "D = how many waves a barrier has and how many are there"},
    {Operation::gws_release_all, "Global wave sync: releases all waves at a semaphore"},
    {Operation::gws_init, "Global wave sync: sets a barrier's number of waves, or a semaphore"},
    {Operation::gws_signal, "Global wave sync: releases one wave at a semaphore"},
    {Operation::gws_signal_some, "Global wave sync: releases some waves at a semaphore"},
    {Operation::gws_wait, "Global wave sync: waits at a semaphore"},
    {Operation::gws_barrier, "Global wave sync: waits at a barrier of all waves"},
    {Operation::wait_idle, "Waits until the wave has nothing outstanding"},
    {Operation::wait_event, "Waits for an event"},
    {Operation::delay_alu, "Says how far away the results are that the next instructions need"},
    {Operation::clause, "Keeps the next instructions together"},
    {Operation::sleep, "Pauses the wave for about 64 cycles times S0"},
    {Operation::monitor_sleep, "Pauses the wave until what it monitors changes, or for a while"},
    {Operation::wakeup, "Wakes the other waves of the work-group that sleep"},
    {Operation::set_priority, "Sets the wave's priority"},
    {Operation::raise_group_priority, "Raises the work-group's priority"},
    {Operation::set_halt, "Halts the wave, or lets it go on"},
    {Operation::set_kill, "Ends the wave if the immediate's lowest bit is set"},
    {Operation::send_message, "Sends a message"},
    {Operation::send_message_halt, "Sends a message and halts"},
    {Operation::send_message_return, "Sends a message and gets an answer"},
    {Operation::get_register, "D = bits of a hardware register"},
    {Operation::set_register, "Bits of a hardware register = S0"},
    {Operation::set_rounding, "Sets how results are rounded (MODE)"},
    {Operation::set_denormals, "Sets how denormals are treated (MODE)"},
    {Operation::set_vector_skip, "Whether vector instructions are skipped = bit S1 of S0"},
    {Operation::set_vgpr_banks, "Says in which bank of VGPRs the operands of the next instructions are"},
    {Operation::allocate_vgprs, "Changes how many VGPRs the wave has"},
    {Operation::indexing_on, "Begins indexing of VGPRs by S0 for the operands selected by the immediate"},
    {Operation::indexing_off, "Ends indexing of VGPRs"},
    {Operation::indexing_mode, "Says which operands' VGPRs are indexed"},
    {Operation::indexing_index, "The index of VGPRs = S0"},
    {Operation::clear_exceptions, "Clears the exceptions that are noted"},
    {Operation::pipe_flush, "Waits until earlier vector instructions are done"},
    {Operation::screen_partition, "D = to which of four shader engines a tile of the screen belongs"},
    {Operation::cycle_counter, "D = the cycle counter"},
    {Operation::real_time_counter, "D = the counter of the constant clock"},
    {Operation::wave_in_group, "D = the wave's number in its work-group"},
    {Operation::set_prefetch, "Sets how far code is fetched ahead"},
    {Operation::count_up, "Increments a performance counter"},
    {Operation::count_down, "Decrements a performance counter"},
    {Operation::trace, "Sends S0 to the thread trace"},
    {Operation::version, "Marks the code's target; no effect"},
};

std::string_view phrase_of(Operation operation) {
  const auto* found = std::ranges::find(phrases, operation, &Phrase::operation);
  return found == std::end(phrases) ? std::string_view() : found->text;
}

std::string_view relation_of(Predicate predicate) {
  switch (predicate) {
    using enum Predicate;
    case no_predicate:
    case never:
      return "false";
    case lt:
      return "S0 < S1";
    case eq:
      return "S0 == S1";
    case le:
      return "S0 <= S1";
    case gt:
      return "S0 > S1";
    case lg:
      return "S0 < S1 or S0 > S1";
    case ge:
      return "S0 >= S1";
    case ordered:
      return "neither S0 nor S1 is NaN";
    case unordered:
      return "S0 or S1 is NaN";
    case nge:
      return "not S0 >= S1";
    case nlg:
      return "not (S0 < S1 or S0 > S1)";
    case ngt:
      return "not S0 > S1";
    case nle:
      return "not S0 <= S1";
    case ne:
      return "S0 != S1";
    case nlt:
      return "not S0 < S1";
    case always:
      return "true";
  }
  return {};
}

/// Replaces D and S0 to S2, where they stand as words, by these.
std::string with_names(std::string_view text, std::string_view result, const std::array<std::string, 3>& sources) {
  const auto is_letter = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool begins = i == 0 || !is_letter(text[i - 1]);
    if (begins && text[i] == 'D' && (i + 1 == text.size() || !is_letter(text[i + 1]))) {
      out += result;
    } else if (begins && text[i] == 'S' && i + 1 < text.size() && text[i + 1] >= '0' && text[i + 1] <= '2' &&
               (i + 2 == text.size() || !is_letter(text[i + 2]))) {
      out += sources[static_cast<size_t>(text[++i] - '0')];
    } else {
      out += text[i];
    }
  }
  return out;
}

/// The names of the sources in the operation's order.
std::array<std::string, 3> sources_of(const InstructionRow& row) {
  std::array<std::string, 3> names{"S0", "S1", "S2"};
  unsigned place = 0, number = 0;
  for (const isa::OperandSpec& operand : row.operands) {
    if (operand.field == Field::none || isa::writes(row, operand.field, true) || place == names.size()) continue;
    names[place++] = operand.field == Field::literal ? "K" : fmt::format("S{}", number++);
  }
  if (row.encoding == Encoding::sopk && row.has(flag::simm16)) {
    // The result's old value comes before the immediate, but for a move, which keeps it.
    if (row.has(flag::reads_dst) && row.computes.operation != Operation::conditional_mov) names[place++] = "D";
    names[place] = "the immediate, sign-extended";
  } else if (row.has(flag::label)) {
    names[place] = "the immediate, in dwords from here";
  } else if (row.encoding == Encoding::sopp) {
    names[place] = row.has(flag::reads_m0) ? "M0" : "the immediate";
  } else if (row.has(flag::reads_dst) && place == 2) {
    names[2] = "D";
  }
  if (row.computes.exec != isa::ExecUse::no_exec) names[1] = "EXEC";
  if (row.computes.order == isa::Order::reversed) std::swap(names[0], names[1]);
  return names;
}

/// Notes on a product that is added to something.
std::string rounding_of(const InstructionRow& row) {
  const Operation operation = row.computes.operation;
  if (!isa::is_float(isa::element_type(row))) return {};
  switch (operation) {
    case Operation::mad:
      return ", rounded twice";
    case Operation::fma:
      return ", rounded once";
    case Operation::mad_legacy:
      return ", rounded twice; 0 times anything is 0";
    case Operation::fma_legacy:
      return ", rounded once; 0 times anything is 0";
    default:
      return {};
  }
}

/// Notes on a carry or a borrow.
std::string carry_of(const InstructionRow& row) {
  const Operation operation = row.computes.operation;
  const bool adds = operation == Operation::add || operation == Operation::add_carry;
  const bool subtracts = operation == Operation::sub || operation == Operation::sub_borrow;
  if (!adds && !subtracts) return {};
  if (row.has(flag::scc_in)) return fmt::format("; SCC is the {}, in and out", adds ? "carry" : "borrow");
  const bool is_for_lanes = std::ranges::any_of(
      row.operands, [](const isa::OperandSpec& operand) { return operand.field == Field::carry_out; });
  return is_for_lanes ? fmt::format(", with a {} for each lane", adds ? "carry-out" : "borrow") : "";
}

/// Notes on the result that the operation does not state.
std::string notes_of(const InstructionRow& row) {
  std::string notes = rounding_of(row) + carry_of(row);
  if (row.has(flag::mix)) notes += "; each source is f32 or a half, as op_sel_hi says";
  if (row.computes.rounding == isa::Rounding::toward_zero) notes += ", rounded towards 0";
  const bool from_index = row.has(flag::indexed_source), to_index = row.has(flag::indexed_result);
  if (from_index || to_index) {
    notes += fmt::format("; M0 is added to the number of {}", from_index && to_index ? "both registers"
                                                              : from_index           ? "the source"
                                                                                     : "the result");
  }
  const bool has_literal = std::ranges::any_of(
      row.operands, [](const isa::OperandSpec& operand) { return operand.field == Field::literal; });
  if (has_literal) notes += "; K is the literal";
  if (row.computes.operation == Operation::trap_return && row.operands[1].field != Field::none) {
    notes += " and restores STATUS from S1";
  }
  return notes;
}

std::string describe_branch(const InstructionRow& row) {
  std::string text = "Jumps by the immediate";
  const std::string_view what = row.has(flag::scc_in)       ? "SCC"
                                : row.has(flag::reads_vcc)  ? "VCC"
                                : row.has(flag::reads_exec) ? "EXEC"
                                                            : "";
  if (what.empty()) return text + ", in dwords";
  return text + fmt::format(" if {} is {}0", what, row.has(flag::if_zero) ? "" : "not ");
}

std::string_view counters_of(isa::Counter counter) {
  switch (counter) {
    using enum isa::Counter;
    case vm_exp_lgkm:
      return "counters of outstanding memory operations are";
    case dependencies:
      return "counters between instructions are";
    case vm:
      return "the counter of vector loads is";
    case exp:
      return "the exports' counter is";
    case lgkm:
      return "the counter of LDS, scalar memory and messages is";
    case vs:
      return "the counter of vector stores is";
    case load:
      return "the counter of loads is";
    case store:
      return "the counter of stores is";
    case sample:
      return "the counter of image samples is";
    case bvh:
      return "the counter of ray traversal is";
    case ds:
      return "the counter of LDS operations is";
    case km:
      return "the counter of scalar memory and messages is";
    case load_ds:
      return "the counters of loads and of LDS are";
    case store_ds:
      return "the counters of stores and of LDS are";
    case async:
      return "the counter of asynchronous copies is";
    case tensor:
      return "the counter of tensor copies is";
    case translation:
      return "the counter of address translations is";
    case no_counter:
      break;
  }
  return {};
}

std::string_view cache_of(isa::Cache cache) {
  switch (cache) {
    using enum isa::Cache;
    case code:
      return "the cache of code";
    case scalar:
      return "the scalar cache of data";
    case scalar_volatile:
      return "volatile lines of the scalar cache of data";
    case l1:
      return "the cache of first level";
    case l1_volatile:
      return "volatile lines of the cache of first level";
    case l1_system:
      return "lines of the cache of first level that are coherent with the system";
    case l2:
      return "the cache of second level";
    case gl0:
      return "the cache of data of a compute unit or work-group processor";
    case gl1:
      return "the cache of first level that a shader array shares";
    case scope:
      return "caches of data, as far as the scope says";
    case no_cache:
      break;
  }
  return {};
}

std::string describe_comparison(const InstructionRow& row) {
  const Computation& computes = row.computes;
  const std::string_view condition =
      computes.operation == Operation::classify
          ? "S0 is of one of the classes (NaN, infinity, normal, denormal, zero) in the mask S1"
          : relation_of(computes.predicate);
  if (row.has(flag::scc_out)) {
    return fmt::format("SCC = whether {}{}", condition, row.encoding == Encoding::sopk ? "; S1 is the immediate" : "");
  }
  std::string text = fmt::format("Lane mask D = where {}", condition);
  if (row.has(flag::exec_out)) text += "; EXEC becomes the same (from GFX10 on, nothing else is written)";
  if (computes.operation == Operation::compare_signalling) text += "; signals quiet NaNs, too";
  return text;
}

std::string describe_matrix(const InstructionRow& row) {
  const Computation& computes = row.computes;
  const isa::MatrixShape& shape = computes.shape;
  std::string sources(isa::name_of(computes.from));
  if (computes.from2 != Element::none) sources += fmt::format(" and {}", isa::name_of(computes.from2));
  std::string text = fmt::format(
      "Product of matrices{}, {}x{}x{} (M x N x K), of {}, added to a matrix of {}",
      shape.blocks == 1 ? "" : fmt::format(" of {} blocks", shape.blocks), shape.m, shape.n, shape.k, sources,
      isa::name_of(computes.accumulator != Element::none ? computes.accumulator : isa::element_type(row)));
  if (computes.accumulator != Element::none) text += fmt::format("; the result is {}", isa::name_of(computes.type));
  if (computes.operation == Operation::sparse_matrix_fma) {
    text += "; the first is sparse: two of each four elements are there, an index says which";
  }
  if (row.has(flag::scaled)) text += "; with scales";
  return text;
}

std::string describe_conversion(const InstructionRow& row) {
  const Computation& computes = row.computes;
  if (computes.from == Element::u8) return fmt::format("D = byte {} of S0, converted to f32", computes.number);
  std::string how;
  if (computes.operation == Operation::convert_normalized) how += ", normalized: 1 becomes the largest integer";
  if (computes.operation == Operation::convert_offset) how += ", in sixteenths";
  if (computes.operation == Operation::convert_scaled) how += ", with a scale";
  if (computes.operation == Operation::convert_to_byte) how += ", put into the byte of S2 that S1 names";
  if (computes.operation == Operation::convert_to_byte_of_dst) how += ", put into the byte of D that S1 names";
  if (computes.part == Part::high_half) how += ", from the upper half";
  switch (computes.rounding) {
    case isa::Rounding::toward_zero:
      how += ", rounded towards 0";
      break;
    case isa::Rounding::downward:
      how += ", rounded downwards";
      break;
    case isa::Rounding::half_up:
      how += ", rounded to the nearest integer, ties upwards";
      break;
    case isa::Rounding::stochastic:
      how += ", rounded stochastically";
      break;
    case isa::Rounding::mode:
      break;
  }
  return fmt::format("D = {} converted from {} to {}{}", computes.elements > 1 ? "several values" : "S0",
                     isa::name_of(computes.from), isa::name_of(computes.type), how);
}

/// Where a memory instruction's address leads.
std::string_view place_of(const InstructionRow& row) {
  switch (row.encoding) {
    case Encoding::flat:
      return "memory, LDS or scratch, as the address says";
    case Encoding::scratch:
      return "scratch memory";
    case Encoding::mubuf:
      return "a buffer";
    case Encoding::mtbuf:
      return "a buffer, with the format in the instruction";
    case Encoding::ds:
      return "LDS";
    case Encoding::smem:
      return row.has(flag::reads_flat_scratch)             ? "scratch memory"
             : row.operands[1].type == isa::DataType::b128 ? "a buffer"
                                                           : "memory";
    default:
      return "memory";
  }
}

std::string_view size_of(const InstructionRow& row) {
  const bool loads = row.has(flag::load);
  switch (row.computes.type) {
    using enum Element;
    case u8:
      return loads ? "a byte, zero-extended" : "a byte";
    case i8:
      return "a byte, sign-extended";
    case u16:
      return loads ? "16 bits, zero-extended" : "16 bits";
    case i16:
      return "16 bits, sign-extended";
    case b8:
      return "a byte";
    case b16:
      return "16 bits";
    case b32:
      return "a dword";
    case b64:
      return "two dwords";
    case b96:
      return "three dwords";
    case b128:
      return "four dwords";
    case b256:
      return "eight dwords";
    case b512:
      return "sixteen dwords";
    case components:
      return "components, converted by the buffer's format";
    default:
      return {};
  }
}

std::string describe_image_access(const InstructionRow& row) {
  const Computation& computes = row.computes;
  constexpr std::pair<ImageForm, std::string_view> forms[] = {
      {ImageForm::mip, ", of the level of detail in the address"},
      {ImageForm::packed, ", without conversion"},
      {ImageForm::sign_extended, ", sign-extended"},
      {ImageForm::compared, ", compared with a reference"},
      {ImageForm::derivatives, ", the level of detail by derivatives"},
      {ImageForm::coarse_derivatives, ", the level of detail by coarse derivatives"},
      {ImageForm::lod, ", of the level of detail in the address"},
      {ImageForm::biased, ", the level of detail with a bias"},
      {ImageForm::lod_zero, ", of level 0"},
      {ImageForm::lod_clamped, ", the level of detail limited"},
      {ImageForm::offsets, ", with offsets"},
      {ImageForm::g16, " of 16 bits"},
  };
  std::string text = computes.operation == Operation::image_load       ? "Loads components of a texel"
                     : computes.operation == Operation::image_store    ? "Stores components of a texel"
                     : computes.operation == Operation::image_sample   ? "Samples an image"
                     : computes.operation == Operation::image_gather4h ? "Loads a component of four texels in a row"
                                                                       : "Loads a component of the four texels that a "
                                                                         "sample would mix";
  for (const auto& [form, words] : forms) {
    if (computes.has(form)) text += words;
  }
  return text;
}

/// An atomic: the operation on M, the value in memory, and the data.
std::string describe_atomic(const InstructionRow& row) {
  const Computation& computes = row.computes;
  const bool is_image = row.encoding == Encoding::mimg || row.encoding == Encoding::vsample;
  const bool compares_first = computes.operation == Operation::compare_store;
  std::array<std::string, 3> names{"M", compares_first ? "the first data" : "data", "the second data"};
  if (computes.order == isa::Order::reversed) std::swap(names[0], names[1]);
  std::string text = with_names(phrase_of(computes.operation), "M", names);
  if (isa::bits_of(computes.type) == 16) text += ", in each half";
  if (computes.places == Places::data_in_lds) text += "; the data are in LDS, too";
  if (computes.places == Places::two) text += "; at two addresses";
  if (computes.places == Places::two_st64) text += "; at two addresses, whose offsets count 64 elements";
  const bool always_returns = row.operands[0].field == Field::ds_dst || computes.operation == Operation::ordered_add;
  if (always_returns) {
    text += "; D = the old value";
  } else if (row.encoding != Encoding::ds) {
    text += "; with glc (sc0, th:TH_ATOMIC_RETURN), D = the old value";
  }
  const std::string_view element = isa::name_of(computes.type);
  if (is_image) return fmt::format("Atomic on a texel, M of {}: {}", element, text);
  const bool is_scalar = row.encoding == Encoding::smem;
  return fmt::format("Atomic on {}{}, M of {}: {}", place_of(row), is_scalar ? "" : ", for each lane", element, text);
}

std::string describe_transfer(const InstructionRow& row) {
  const Computation& computes = row.computes;
  const bool loads = row.has(flag::load);
  const bool is_block = computes.operation == Operation::load_block || computes.operation == Operation::store_block;
  std::string text = fmt::format(
      "{} {} {} {}{}", loads ? "Loads" : "Stores", is_block ? "up to 32 dwords, those in the mask in M0" : size_of(row),
      loads ? "from" : "to", place_of(row), row.encoding == Encoding::smem ? "" : ", for each lane");
  if (computes.places == Places::two) text += "; two of them, each with an offset";
  if (computes.places == Places::two_st64) {
    text += "; two of them, each with an offset in units of 64 elements";
  }
  if (computes.places == Places::by_lane) text += "; the lane's number times 4 is added to the address";
  if (computes.type == Element::components && computes.elements > 0) {
    constexpr std::string_view components = "xyzw";
    text += fmt::format("; {}", components.substr(0, computes.elements));
  }
  if (computes.part == Part::high_half) {
    text += "; the upper half of the register";
  } else if (computes.d16) {
    text += "; 16 bits for each component";
  } else if (computes.part == Part::low_half) {
    text += "; the lower half of the register";
  }
  const bool is_async = computes.operation == Operation::load_async || computes.operation == Operation::store_async;
  if (is_async) text += "; without waiting for it";
  if (row.has(flag::to_lds)) text += fmt::format("; into LDS{} instead of registers", is_async ? "" : " at M0");
  if (row.has(flag::from_lds)) text += fmt::format("; from LDS{}", is_async ? "" : " at M0");
  if (computes.operation == Operation::load_monitor) text += "; and watches it for changes";
  if (computes.operation == Operation::load_transposed) {
    text += "; transposed between lanes, as matrix instructions take it";
  }
  return text;
}

std::string describe_operation(const InstructionRow& row) {
  const Computation& computes = row.computes;
  switch (computes.operation) {
    case Operation::branch:
      return describe_branch(row);
    case Operation::wait_counter:
      return fmt::format("Waits until {} as low as the immediate says", counters_of(computes.counter));
    case Operation::invalidate:
    case Operation::write_back:
    case Operation::write_back_invalidate:
      return std::string(phrase_of(computes.operation)) + std::string(cache_of(computes.cache));
    case Operation::bit_test:
      return fmt::format("{}{}", phrase_of(computes.operation), computes.predicate == Predicate::eq ? 0 : 1);
    case Operation::select:
      return row.has(flag::scc_in) ? "D = SCC ? S0 : S1" : "D = the lane's bit of the mask ? S1 : S0";
    case Operation::extend: {
      const bool is_signed = isa::is_signed(isa::element_type(row));
      return fmt::format("D = the lower {} bits of S0, {}-extended", computes.type == Element::i8 ? 8 : 16,
                         is_signed ? "sign" : "zero");
    }
    case Operation::shl_add:
      if (computes.number != 0) return fmt::format("D = (S0 << {}) + S1", computes.number);
      break;
    default:
      break;
  }
  std::string text(phrase_of(computes.operation));
  if (text.empty()) return text;
  if (computes.exec != isa::ExecUse::no_exec) {
    const bool saves = computes.exec == isa::ExecUse::save_exec;
    return (saves ? "D = EXEC; " : "D = ") + with_names(text, "EXEC", sources_of(row));
  }
  text = with_names(text, "D", sources_of(row)) + notes_of(row);
  if (row.has(flag::mix) && computes.part != Part::whole) {
    text = fmt::format("The {} half of {}", computes.part == Part::low_half ? "lower" : "upper", text);
  }
  const bool is_packed = isa::is_packed(row.operands[0].type);
  return is_packed && computes.operation != Operation::pack_low_low ? "In each element: " + text : text;
}

}  // namespace

std::string describe_instruction(const InstructionRow& row) {
  switch (row.computes.operation) {
    case Operation::compare:
    case Operation::compare_signalling:
    case Operation::classify:
      return describe_comparison(row);
    case Operation::matrix_fma:
    case Operation::sparse_matrix_fma:
      return describe_matrix(row);
    case Operation::convert:
    case Operation::convert_scaled:
    case Operation::convert_normalized:
    case Operation::convert_offset:
    case Operation::convert_to_byte:
    case Operation::convert_to_byte_of_dst:
      return describe_conversion(row);
    case Operation::image_load:
    case Operation::image_store:
    case Operation::image_sample:
    case Operation::image_gather4:
    case Operation::image_gather4h:
      return describe_image_access(row);
    case Operation::load:
    case Operation::store:
    case Operation::load_block:
    case Operation::store_block:
    case Operation::load_monitor:
    case Operation::load_transposed:
    case Operation::load_async:
    case Operation::store_async:
      return describe_transfer(row);
    case Operation::append:
    case Operation::consume:
    case Operation::ordered_count:
      return describe_operation(row);
    default: {
      const bool is_src2 = row.computes.places == Places::data_in_lds;
      const bool is_on_type = row.computes.type != Element::none && row.has(flag::memory);
      return is_src2 || is_on_type ? describe_atomic(row) : describe_operation(row);
    }
  }
}

}  // namespace Atoll::tools
