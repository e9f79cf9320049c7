#include "tools/instruction_description.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace Atoll::tools {

namespace {

using isa::Encoding;
using isa::InstructionRow;
namespace flag = isa::flag;

struct Phrase {
  std::string_view part, text;
};

/// Vector and scalar operations, without the prefix v_ or s_ and without the types at the end.
constexpr Phrase operations[] = {
    {"nop", "Does nothing"},
    {"mov", "D = S0"},
    {"movk", "D = the immediate, sign-extended"},
    {"cmov", "D = S0 if SCC is set"},
    {"cmovk", "D = the immediate, sign-extended, if SCC is set"},
    {"swap", "Exchanges D and S0"},
    {"swaprel", "Exchanges two VGPRs whose numbers M0 is added to"},
    {"add", "D = S0 + S1"},
    {"add_nc", "D = S0 + S1, without a carry-out"},
    {"add_co", "D = S0 + S1, with a carry-out for each lane"},
    {"addc_co", "D = S0 + S1 + carry-in, with a carry-out for each lane"},
    {"addc", "D = S0 + S1 + SCC; SCC is the carry-out"},
    {"addk", "D = D + the immediate, sign-extended"},
    {"add3", "D = S0 + S1 + S2"},
    {"add_lshl", "D = (S0 + S1) << S2"},
    {"add_max", "D = max(S0 + S1, S2)"},
    {"add_min", "D = min(S0 + S1, S2)"},
    {"sub", "D = S0 - S1"},
    {"sub_nc", "D = S0 - S1, without a borrow"},
    {"sub_co", "D = S0 - S1, with a borrow for each lane"},
    {"subb", "D = S0 - S1 - SCC; SCC is the borrow"},
    {"subb_co", "D = S0 - S1 - borrow-in, with a borrow for each lane"},
    {"subrev", "D = S1 - S0"},
    {"subrev_co", "D = S1 - S0, with a borrow for each lane"},
    {"subbrev_co", "D = S1 - S0 - borrow-in, with a borrow for each lane"},
    {"absdiff", "D = |S0 - S1|"},
    {"abs", "D = |S0|"},
    {"mul", "D = S0 * S1"},
    {"mulk", "D = D * the immediate, sign-extended"},
    {"mul_lo", "D = the lower half of S0 * S1"},
    {"mul_hi", "D = the upper half of S0 * S1"},
    {"mul_legacy", "D = S0 * S1, 0 if either is 0, whatever the other is"},
    {"mullit", "D = S0 * S1 as lighting has it: the least number if S1 or S2 is not positive or is NaN"},
    {"mac", "D = S0 * S1 + D, rounded twice"},
    {"mac_legacy", "D = S0 * S1 + D, rounded twice; 0 times anything is 0"},
    {"mad", "D = S0 * S1 + S2"},
    {"mad_legacy", "D = S0 * S1 + S2, as before GFX9"},
    {"mad_nc", "D = S0 * S1 + S2, without a carry-out"},
    {"madmk", "D = S0 * K + S1, rounded twice; K is the literal"},
    {"madak", "D = S0 * S1 + K, rounded twice; K is the literal"},
    {"fma", "D = S0 * S1 + S2, rounded once"},
    {"fma_legacy", "D = S0 * S1 + S2, rounded once, as older generations have it (of f32: 0 times anything is 0)"},
    {"fmac", "D = S0 * S1 + D, rounded once"},
    {"fmac_legacy", "D = S0 * S1 + D, rounded once; 0 times anything is 0"},
    {"fmamk", "D = S0 * K + S1, rounded once; K is the literal"},
    {"fmaak", "D = S0 * S1 + K, rounded once; K is the literal"},
    {"fma_mix", "D = S0 * S1 + S2, rounded once; each source is f32 or a half, as op_sel_hi says"},
    {"mad_mix", "D = S0 * S1 + S2, rounded twice; each source is f32 or a half, as op_sel_hi says"},
    {"fma_mixlo", "The lower half of D = S0 * S1 + S2, rounded once; each source is f32 or a half"},
    {"mad_mixlo", "The lower half of D = S0 * S1 + S2, rounded twice; each source is f32 or a half"},
    {"fma_mixhi", "The upper half of D = S0 * S1 + S2, rounded once; each source is f32 or a half"},
    {"mad_mixhi", "The upper half of D = S0 * S1 + S2, rounded twice; each source is f32 or a half"},
    {"min", "D = the smaller of S0 and S1"},
    {"max", "D = the larger of S0 and S1"},
    {"min_num", "D = the smaller of S0 and S1; a number rather than NaN"},
    {"max_num", "D = the larger of S0 and S1; a number rather than NaN"},
    {"min_legacy", "D = S0 < S1 ? S0 : S1"},
    {"max_legacy", "D = S0 >= S1 ? S0 : S1"},
    {"minimum", "D = the smaller of S0 and S1; NaN if either is"},
    {"maximum", "D = the larger of S0 and S1; NaN if either is"},
    {"min3", "D = the smallest of S0, S1 and S2"},
    {"max3", "D = the largest of S0, S1 and S2"},
    {"min3_num", "D = the smallest of S0, S1 and S2; a number rather than NaN"},
    {"max3_num", "D = the largest of S0, S1 and S2; a number rather than NaN"},
    {"minimum3", "D = the smallest of S0, S1 and S2; NaN if any is"},
    {"maximum3", "D = the largest of S0, S1 and S2; NaN if any is"},
    {"med3", "D = the middle one of S0, S1 and S2"},
    {"maxmin", "D = min(max(S0, S1), S2)"},
    {"minmax", "D = max(min(S0, S1), S2)"},
    {"minimummaximum", "D = max(min(S0, S1), S2); NaN if any is"},
    {"maximumminimum", "D = min(max(S0, S1), S2); NaN if any is"},
    {"and", "D = S0 & S1"},
    {"or", "D = S0 | S1"},
    {"xor", "D = S0 ^ S1"},
    {"not", "D = ~S0"},
    {"andn2", "D = S0 & ~S1"},
    {"orn2", "D = S0 | ~S1"},
    {"nand", "D = ~(S0 & S1)"},
    {"nor", "D = ~(S0 | S1)"},
    {"xnor", "D = ~(S0 ^ S1)"},
    {"or3", "D = S0 | S1 | S2"},
    {"xor3", "D = S0 ^ S1 ^ S2"},
    {"and_or", "D = (S0 & S1) | S2"},
    {"xad", "D = (S0 ^ S1) + S2"},
    {"bitop3", "Each bit of D is a bit of the truth table, chosen by those of S0, S1 and S2"},
    {"lshl", "D = S0 << S1"},
    {"lshr", "D = S0 >> S1, filled with zeros"},
    {"ashr", "D = S0 >> S1, filled with the sign"},
    {"lshlrev", "D = S1 << S0"},
    {"lshrrev", "D = S1 >> S0, filled with zeros"},
    {"ashrrev", "D = S1 >> S0, filled with the sign"},
    {"lshl1_add", "D = (S0 << 1) + S1"},
    {"lshl2_add", "D = (S0 << 2) + S1"},
    {"lshl3_add", "D = (S0 << 3) + S1"},
    {"lshl4_add", "D = (S0 << 4) + S1"},
    {"lshl_add", "D = (S0 << S1) + S2"},
    {"lshl_or", "D = (S0 << S1) | S2"},
    {"alignbit", "D = the 32 bits of S0:S1 from bit S2 on"},
    {"alignbyte", "D = the 32 bits of S0:S1 from byte S2 on"},
    {"perm", "Each byte of D is one of the eight of S0:S1, or a constant or sign, as the byte of S2 says"},
    {"perm_pk16_b4_u4", "16 elements chosen from a table by indices of four bits"},
    {"perm_pk16_b6_u4", "16 elements chosen from a table by indices of four bits"},
    {"perm_pk16_b8_u4", "16 elements chosen from a table by indices of four bits"},
    {"bfe", "D = a field of S0: where it begins and how wide it is, the other source says"},
    {"bfi", "D = (S0 & S1) | (~S0 & S2)"},
    {"bfm", "D = a mask of S0 ones from bit S1 on"},
    {"brev", "D = S0 with its bits in reverse order"},
    {"bfrev", "D = S0 with its bits in reverse order"},
    {"bcnt0", "D = how many bits of S0 are 0"},
    {"bcnt1", "D = how many bits of S0 are 1"},
    {"bcnt", "D = how many bits of S0 are 1, plus S1"},
    {"mbcnt_lo", "D = how many of S0's bits for the lanes before this one, of the first 32, are 1, plus S1"},
    {"mbcnt_hi", "D = how many of S0's bits for the lanes before this one, of the last 32, are 1, plus S1"},
    {"ff0", "D = the number of the lowest bit of S0 that is 0, or -1"},
    {"ff1", "D = the number of the lowest bit of S0 that is 1, or -1"},
    {"ffbl", "D = the number of the lowest bit of S0 that is 1, or -1"},
    {"ffbh", "D = how many bits are above the highest one of S0 that is 1 (signed: unlike the sign), or -1"},
    {"flbit", "D = how many bits are above the highest one of S0 that is 1 (signed: unlike the sign), or -1"},
    {"sext", "D = S0, sign-extended"},
    {"bitset0", "Bit S0 of D becomes 0"},
    {"bitset1", "Bit S0 of D becomes 1"},
    {"bitcmp0", "SCC = whether bit S1 of S0 is 0"},
    {"bitcmp1", "SCC = whether bit S1 of S0 is 1"},
    {"bitreplicate", "D = S0 with each bit twice"},
    {"quadmask", "D = for each four bits of S0, whether one is 1"},
    {"wqm", "D = S0 with all of each four bits set of which one is"},
    {"cselect", "D = SCC ? S0 : S1"},
    {"cndmask", "D = the lane's bit of the mask ? S1 : S0"},
    {"pack", "D = two halves, S0's and S1's"},
    {"pack_ll", "D = the lower halves of S0 and S1"},
    {"pack_lh", "D = the lower half of S0 and the upper half of S1"},
    {"pack_hl", "D = the upper half of S0 and the lower half of S1"},
    {"pack_hh", "D = the upper halves of S0 and S1"},
    {"lerp", "The mean of each byte of S0 and S1, rounded as the byte of S2 says"},
    {"sad", "D = S2 + the sum of |S0 - S1| over their elements"},
    {"sad_hi", "D = S2 + (the sum of |S0 - S1| over their bytes << 16)"},
    {"msad", "D = S2 + the sum of |S0 - S1| over the bytes of S1 that are not 0"},
    {"qsad", "Four sums of absolute differences, each of four bytes of S0 and those of S1"},
    {"mqsad", "Four sums of absolute differences, as of v_qsad, over the bytes of S1 that are not 0"},
    {"cubeid", "D = the face of a cube that the direction S0, S1, S2 meets"},
    {"cubesc", "D = the S coordinate on the face that the direction S0, S1, S2 meets"},
    {"cubetc", "D = the T coordinate on the face that the direction S0, S1, S2 meets"},
    {"cubema", "D = twice the largest of the components of S0, S1, S2"},
    {"trunc", "D = S0 without its fraction"},
    {"ceil", "D = the next integer from S0 upwards"},
    {"floor", "D = the next integer from S0 downwards"},
    {"rndne", "D = the integer nearest to S0, ties to even"},
    {"fract", "D = S0 - floor(S0)"},
    {"exp", "D = 2 to the power of S0, approximately"},
    {"exp_legacy", "D = 2 to the power of S0, approximately, less exactly than v_exp"},
    {"log", "D = the logarithm of S0 to base 2, approximately"},
    {"log_legacy", "D = the logarithm of S0 to base 2, approximately, less exactly than v_log"},
    {"log_clamp", "D = the logarithm of S0 to base 2, the least number instead of -infinity"},
    {"rcp", "D = 1 / S0, approximately"},
    {"rcp_iflag", "D = 1 / S0, approximately, raising the integers' division by zero"},
    {"rcp_clamp", "D = 1 / S0, approximately, the largest number instead of infinity"},
    {"rcp_legacy", "D = 1 / S0, approximately, 0 instead of infinity"},
    {"rsq", "D = 1 / sqrt(S0), approximately"},
    {"rsq_clamp", "D = 1 / sqrt(S0), approximately, the largest number instead of infinity"},
    {"rsq_legacy", "D = 1 / sqrt(S0), approximately, 0 instead of infinity"},
    {"sqrt", "D = the square root of S0, approximately"},
    {"sin", "D = the sine of S0 turns, approximately"},
    {"cos", "D = the cosine of S0 turns, approximately"},
    {"tanh", "D = the hyperbolic tangent of S0, approximately"},
    {"prng", "D = the next state of a random number generator, a shift register, whose state is S0"},
    {"frexp_exp", "D = the exponent of S0 as frexp() has it"},
    {"frexp_mant", "D = the mantissa of S0 as frexp() has it, from 0.5 to 1"},
    {"ldexp", "D = S0 * 2 to the power of S1"},
    {"div_scale", "D = S0, scaled for a division that would leave the range; VCC says whether the quotient is to be"},
    {"div_fmas", "D = S0 * S1 + S2, scaled back where VCC says so"},
    {"div_fixup", "D = the quotient S0, put right for special cases of the denominator S1 and numerator S2"},
    {"div_fixup_legacy", "D = the quotient S0, put right for special cases, as before GFX9"},
    {"trig_preop", "D = a part of 2 / pi, chosen by S1 and the size of S0, to reduce large arguments with"},
    {"clrexcp", "Clears the exceptions that are noted"},
    {"screen_partition_4se", "D = to which of four shader engines a tile of the screen belongs"},
    {"pipeflush", "Waits until earlier vector instructions are done"},
    {"illegal", "Never an instruction: an exception"},
    {"sat_pk", "Saturates two elements and packs them"},
    {"sat_pk4", "Saturates four elements and packs them"},
    {"ashr_pk", "Two shifts to the right, saturated and packed"},
    {"readlane", "The scalar D = S0 of lane S1, whatever EXEC is"},
    {"readfirstlane", "The scalar D = S0 of the first active lane"},
    {"writelane", "Lane S1 of D = S0, whatever EXEC is"},
    {"permlane16", "Lanes of each row of 16 read S0 of the lane that S1 and S2 name, four bits for each"},
    {"permlanex16", "Lanes of each row of 16 read S0 of the neighbouring row's lane that S1 and S2 name"},
    {"permlane16_var", "Lanes of each row of 16 read S0 of the lane that their S1 names"},
    {"permlanex16_var", "Lanes of each row of 16 read S0 of the neighbouring row's lane that their S1 names"},
    {"permlane64", "Exchanges the halves of a wave of 64 lanes"},
    {"permlane16_swap", "Exchanges odd rows of 16 lanes of D with even ones of S0"},
    {"permlane32_swap", "Exchanges the upper 32 lanes of D with the lower ones of S0"},
    {"permlane_bcast", "Lanes of each group read S0 of one of its lanes"},
    {"permlane_down", "Lanes read S0 of a later lane of their group"},
    {"permlane_up", "Lanes read S0 of an earlier lane of their group"},
    {"permlane_xor", "Lanes read S0 of the lane whose number differs in some bits"},
    {"permlane_idx_gen", "D = the lane numbers that other permutations take"},
    {"movreld", "The register whose number is D's + M0 = S0"},
    {"movrels", "D = the register whose number is S0's + M0"},
    {"movrelsd", "The register whose number is D's + M0 = the one whose number is S0's + M0"},
    {"movrelsd_2", "Moves between registers, each with an index of its own in M0"},
    {"accvgpr_read", "D = the AGPR S0"},
    {"accvgpr_write", "The AGPR D = S0"},
    {"accvgpr_mov", "The AGPR D = the AGPR S0"},
    {"dot2", "D = S2 + the products of the two elements of S0 and S1, added up"},
    {"dot4", "D = S2 + the products of the four elements of S0 and S1, added up"},
    {"dot8", "D = S2 + the products of the eight elements of S0 and S1, added up"},
    {"dot2c", "D = D + the products of the two elements of S0 and S1, added up"},
    {"dot4c", "D = D + the products of the four elements of S0 and S1, added up"},
    {"dot8c", "D = D + the products of the eight elements of S0 and S1, added up"},
    {"mfma_ld_scale", "Loads the scales of the matrix instruction after it"},
    {"wmma_ld_scale_paired", "Loads the scales of the matrix instruction after it"},
    {"wmma_ld_scale16_paired", "Loads the scales of the matrix instruction after it"},
    {"interp_p1", "Interpolates an attribute, first step: P10 * I + P0"},
    {"interp_p2", "Interpolates an attribute, second step: P20 * J + D"},
    {"interp_mov", "D = one of the attribute's values P0, P10, P20"},
    {"interp_p1ll", "Interpolates an attribute of 16 bits, first step"},
    {"interp_p1lv", "Interpolates an attribute of 16 bits, first step, of two attributes"},
    {"interp_p2_legacy", "Interpolates an attribute of 16 bits, second step, as before GFX9"},
    // Scalar control.
    {"getpc", "D = the address of the next instruction"},
    {"setpc", "Jumps to the address S0"},
    {"swappc", "D = the address of the next instruction; jumps to the address S0"},
    {"call", "D = the address of the next instruction; jumps by the immediate, in dwords"},
    {"add_pc", "Jumps by S0 bytes, counted from the next instruction"},
    {"rfe", "Returns from the trap handler to the address S0"},
    {"rfe_restore", "Returns from the trap handler to the address S0 and restores STATUS from S1"},
    {"branch", "Jumps by the immediate, in dwords"},
    {"cbranch_scc0", "Jumps by the immediate if SCC is 0"},
    {"cbranch_scc1", "Jumps by the immediate if SCC is 1"},
    {"cbranch_vccz", "Jumps by the immediate if VCC is 0"},
    {"cbranch_vccnz", "Jumps by the immediate if VCC is not 0"},
    {"cbranch_execz", "Jumps by the immediate if EXEC is 0"},
    {"cbranch_execnz", "Jumps by the immediate if EXEC is not 0"},
    {"cbranch_cdbgsys", "Jumps by the immediate if the system debugger's flag is set"},
    {"cbranch_cdbguser", "Jumps by the immediate if the user debugger's flag is set"},
    {"cbranch_cdbgsys_or_user", "Jumps by the immediate if one of the debuggers' flags is set"},
    {"cbranch_cdbgsys_and_user", "Jumps by the immediate if both of the debuggers' flags are set"},
    {"cbranch_g_fork", "Takes both ways of a branch one after the other, the one for fewer lanes first: to an address"},
    {"cbranch_i_fork",
     "Takes both ways of a branch one after the other, the one for fewer lanes first: by the immediate"},
    {"cbranch_join", "Ends a fork: goes on with the other way, or after it when both are done"},
    {"subvector_loop_begin", "Begins a loop that runs for each half of a wave of 64 lanes"},
    {"subvector_loop_end", "Ends a loop that runs for each half of a wave of 64 lanes"},
    {"endpgm", "Ends the wave"},
    {"endpgm_saved", "Ends the wave after its state has been saved"},
    {"endpgm_ordered_ps_done", "Ends the wave of a pixel shader and its part that is in order"},
    {"code_end", "Marks the end of code; never executed"},
    {"barrier", "Waits until all waves of the work-group are here"},
    {"barrier_signal", "Arrives at a barrier without waiting"},
    {"barrier_signal_isfirst", "Arrives at a barrier without waiting; SCC = whether it is the first"},
    {"barrier_wait", "Waits until a barrier is complete"},
    {"barrier_init", "Says how many waves belong to a named barrier"},
    {"barrier_join", "Joins a named barrier"},
    {"barrier_leave", "Leaves a named barrier"},
    {"wakeup_barrier", "Wakes the waves at a barrier"},
    {"get_barrier_state", "D = how many waves a barrier has and how many are there"},
    {"sleep", "Pauses the wave for about 64 cycles times the immediate"},
    {"sleep_var", "Pauses the wave for about 64 cycles times S0"},
    {"monitor_sleep", "Pauses the wave until what it monitors changes, or for a while"},
    {"wakeup", "Wakes the other waves of the work-group that sleep"},
    {"setprio", "Sets the wave's priority"},
    {"setprio_inc_wg", "Raises the work-group's priority"},
    {"sethalt", "Halts the wave, or lets it go on"},
    {"setkill", "Ends the wave if the immediate's lowest bit is set"},
    {"trap", "Enters the trap handler with a number"},
    {"sendmsg", "Sends a message"},
    {"sendmsghalt", "Sends a message and halts"},
    {"sendmsg_rtn", "Sends a message and gets an answer"},
    {"waitcnt", "Waits until counters of outstanding memory operations are as low as the immediate says"},
    {"waitcnt_depctr", "Waits until counters between instructions are as low as the immediate says"},
    {"waitcnt_expcnt", "Waits until the exports' counter is as low as the immediate"},
    {"waitcnt_lgkmcnt", "Waits until the counter of LDS, scalar memory and messages is as low as the immediate"},
    {"waitcnt_vmcnt", "Waits until the counter of vector loads is as low as the immediate"},
    {"waitcnt_vscnt", "Waits until the counter of vector stores is as low as the immediate"},
    {"wait_loadcnt", "Waits until the counter of loads is as low as the immediate"},
    {"wait_storecnt", "Waits until the counter of stores is as low as the immediate"},
    {"wait_samplecnt", "Waits until the counter of image samples is as low as the immediate"},
    {"wait_bvhcnt", "Waits until the counter of ray traversal is as low as the immediate"},
    {"wait_expcnt", "Waits until the exports' counter is as low as the immediate"},
    {"wait_dscnt", "Waits until the counter of LDS operations is as low as the immediate"},
    {"wait_kmcnt", "Waits until the counter of scalar memory and messages is as low as the immediate"},
    {"wait_loadcnt_dscnt", "Waits until the counters of loads and of LDS are as low as the immediate says"},
    {"wait_storecnt_dscnt", "Waits until the counters of stores and of LDS are as low as the immediate says"},
    {"wait_asynccnt", "Waits until the counter of asynchronous copies is as low as the immediate"},
    {"wait_tensorcnt", "Waits until the counter of tensor copies is as low as the immediate"},
    {"wait_xcnt", "Waits until the counter of address translations is as low as the immediate"},
    {"wait_idle", "Waits until the wave has nothing outstanding"},
    {"wait_event", "Waits for an event"},
    {"delay_alu", "Tells the hardware how far away the results are that the next instructions need"},
    {"clause", "Keeps the next instructions together"},
    {"inst_prefetch", "Sets how far code is fetched ahead"},
    {"set_inst_prefetch_distance", "Sets how far code is fetched ahead"},
    {"icache_inv", "Invalidates the cache of code"},
    {"incperflevel", "Increments a performance counter"},
    {"decperflevel", "Decrements a performance counter"},
    {"ttracedata", "Sends M0 to the thread trace"},
    {"ttracedata_imm", "Sends the immediate to the thread trace"},
    {"version", "Says what the code is made for; does nothing"},
    {"denorm_mode", "Sets how denormals are treated (MODE)"},
    {"round_mode", "Sets how results are rounded (MODE)"},
    {"getreg", "D = bits of a hardware register"},
    {"setreg", "Bits of a hardware register = S0"},
    {"setreg_imm32", "Bits of a hardware register = the literal"},
    {"setvskip", "Whether vector instructions are skipped = bit S1 of S0"},
    {"set_gpr_idx_on", "Begins indexing of VGPRs with S0, for the operands that the immediate says"},
    {"set_gpr_idx_off", "Ends indexing of VGPRs"},
    {"set_gpr_idx_mode", "Says which operands' VGPRs are indexed"},
    {"set_gpr_idx_idx", "The index of VGPRs = S0"},
    {"set_vgpr_msb", "Says in which bank of VGPRs the operands of the next instructions are"},
    {"alloc_vgpr", "Changes how many VGPRs the wave has"},
    {"get_shader_cycles", "D = the cycle counter"},
    {"memtime", "D = the cycle counter"},
    {"memrealtime", "D = the counter of the constant clock"},
    {"get_waveid_in_workgroup", "D = the wave's number in its work-group"},
    {"dcache_inv", "Invalidates the scalar cache of data"},
    {"dcache_inv_vol", "Invalidates volatile lines of the scalar cache of data"},
    {"dcache_wb", "Writes the scalar cache of data back"},
    {"dcache_wb_vol", "Writes volatile lines of the scalar cache of data back"},
    {"dcache_discard", "Drops a dirty line of the scalar cache of data"},
    {"dcache_discard_x2", "Drops two dirty lines of the scalar cache of data"},
    {"gl1_inv", "Invalidates the cache of first level that a shader array shares"},
    {"atc_probe", "Has an address translated ahead"},
    {"atc_probe_buffer", "Has an address of a buffer translated ahead"},
    {"prefetch_inst", "Fetches code into the cache"},
    {"prefetch_inst_pc_rel", "Fetches code into the cache, at an address that counts from the PC"},
    {"prefetch_data", "Fetches data into the scalar cache"},
    {"prefetch_data_pc_rel", "Fetches data into the scalar cache, at an address that counts from the PC"},
    {"buffer_prefetch_data", "Fetches a buffer's data into the scalar cache"},
};

/// Whole names that are not put together in one of the ways below.
constexpr Phrase whole_names[] = {
    {"exp", "Exports up to four values to a render target, a parameter or a position"},
    {"lds_direct_load", "D = the dword of LDS at M0, in all lanes"},
    {"lds_param_load", "D = an attribute's values P0, P10, P20, out of LDS"},
    {"buffer_wbl2", "Writes the cache of second level back"},
    {"buffer_inv", "Invalidates caches of data, as far as the scope says"},
    {"buffer_invl2", "Invalidates the cache of second level"},
    {"buffer_wbinvl1", "Writes the cache of first level back and invalidates it"},
    {"buffer_wbinvl1_vol", "Writes volatile lines of the cache of first level back and invalidates them"},
    {"buffer_wbinvl1_sc", "Writes lines that are coherent with the system back and invalidates them"},
    {"buffer_gl0_inv", "Invalidates the cache of data of a compute unit or work-group processor"},
    {"buffer_gl1_inv", "Invalidates the cache of first level that a shader array shares"},
    {"global_inv", "Invalidates caches of data, as far as the scope says"},
    {"global_wb", "Writes caches of data back, as far as the scope says"},
    {"global_wbinv", "Writes caches of data back and invalidates them, as far as the scope says"},
    {"tensor_save", "Saves the state of tensor copies"},
    {"tensor_stop", "Stops tensor copies"},
    {"tensor_load_to_lds", "Copies a part of a tensor from memory to LDS"},
    {"tensor_store_from_lds", "Copies a part of a tensor from LDS to memory"},
    {"ds_nop", "Does nothing"},
    {"ds_swizzle_b32", "Lanes read S0 of the lane that a pattern in the offset says"},
    {"ds_permute_b32", "Lanes send their data to the lane whose number times 4 their address is"},
    {"ds_bpermute_b32", "Lanes read the data of the lane whose number times 4 their address is"},
    {"ds_bpermute_fi_b32", "Lanes read the data of the lane whose number times 4 their address is, active or not"},
    {"ds_consume", "Subtracts the number of active lanes from a dword of LDS; D = what it was"},
    {"ds_append", "Adds the number of active lanes to a dword of LDS; D = what it was"},
    {"ds_ordered_count", "Adds to a counter of GDS in the order of the waves"},
    {"ds_add_gs_reg_rtn", "Adds to a register of the geometry engine; D = what it was"},
    {"ds_sub_gs_reg_rtn", "Subtracts from a register of the geometry engine; D = what it was"},
    {"ds_gws_sema_release_all", "Global wave sync: releases all waves at a semaphore"},
    {"ds_gws_init", "Global wave sync: sets a barrier's number of waves, or a semaphore"},
    {"ds_gws_sema_v", "Global wave sync: releases one wave at a semaphore"},
    {"ds_gws_sema_br", "Global wave sync: releases some waves at a semaphore"},
    {"ds_gws_sema_p", "Global wave sync: waits at a semaphore"},
    {"ds_gws_barrier", "Global wave sync: waits at a barrier of all waves"},
    {"ds_bvh_stack_rtn_b32", "Pushes nodes of a bounding volume hierarchy to a stack in LDS and pops the next"},
    {"ds_bvh_stack_push8_pop1_rtn_b32", "Pushes up to eight nodes of a hierarchy to a stack in LDS and pops one"},
    {"ds_bvh_stack_push8_pop2_rtn_b64", "Pushes up to eight nodes of a hierarchy to a stack in LDS and pops two"},
    {"ds_atomic_async_barrier_arrive_b64", "Arrives at a barrier in LDS when asynchronous copies are done"},
    {"ds_atomic_barrier_arrive_rtn_b64", "Arrives at a barrier in LDS; D = its state before"},
    {"image_get_resinfo", "D = an image's size and number of levels"},
    {"image_get_lod", "D = the level of detail that a sample would have"},
    {"image_msaa_load", "Loads a component of all samples of an image"},
    {"image_bvh_intersect_ray", "Intersects a ray with a node of a bounding volume hierarchy"},
    {"image_bvh64_intersect_ray", "Intersects a ray with a node of a hierarchy with addresses of 64 bits"},
    {"image_bvh_dual_intersect_ray", "Intersects a ray with two nodes of a hierarchy"},
    {"image_bvh8_intersect_ray", "Intersects a ray with a node of a hierarchy that has eight children"},
    {"flat_prefetch_b8", "Fetches data into the cache"},
    {"global_prefetch_b8", "Fetches data into the cache"},
};

/// What comparisons are named after.
constexpr Phrase conditions[] = {
    {"f", "false"},
    {"lt", "S0 < S1"},
    {"eq", "S0 == S1"},
    {"le", "S0 <= S1"},
    {"gt", "S0 > S1"},
    {"lg", "S0 < S1 or S0 > S1"},
    {"ne", "S0 != S1"},
    {"ge", "S0 >= S1"},
    {"o", "neither S0 nor S1 is NaN"},
    {"u", "S0 or S1 is NaN"},
    {"nge", "not S0 >= S1"},
    {"nlg", "not (S0 < S1 or S0 > S1)"},
    {"ngt", "not S0 > S1"},
    {"nle", "not S0 <= S1"},
    {"neq", "not S0 == S1"},
    {"nlt", "not S0 < S1"},
    {"tru", "true"},
    {"t", "true"},
    {"class", "S0 is of one of the classes (NaN, infinity, normal, denormal, zero) in the mask S1"},
};

/// What atomics do with the value in memory, M, and their data.
constexpr Phrase atomics[] = {
    {"swap", "M = data"},
    {"wrxchg", "M = data"},
    {"cmpswap", "M = data if M equals the second part of the data"},
    {"cmpst", "M = the second data if M equals the first"},
    {"cmpstore", "M = the first data if M equals the second"},
    {"fcmpswap", "M = data if M equals the second part of the data, as floats"},
    {"add", "M = M + data"},
    {"add_flt", "M = M + data, as floats"},
    {"pk_add", "M = M + data, in each half"},
    {"sub", "M = M - data"},
    {"csub", "M = M - data, at least 0"},
    {"sub_clamp", "M = M - data, at least 0"},
    {"cond_sub", "M = M - data if that is not negative"},
    {"rsub", "M = data - M"},
    {"smin", "M = the smaller of M and data, signed"},
    {"umin", "M = the smaller of M and data, unsigned"},
    {"smax", "M = the larger of M and data, signed"},
    {"umax", "M = the larger of M and data, unsigned"},
    {"min", "M = the smaller of M and data"},
    {"max", "M = the larger of M and data"},
    {"fmin", "M = the smaller of M and data, as floats"},
    {"fmax", "M = the larger of M and data, as floats"},
    {"and", "M = M & data"},
    {"or", "M = M | data"},
    {"xor", "M = M ^ data"},
    {"mskor", "M = (M & ~data) | the second data"},
    {"inc", "M = M >= data ? 0 : M + 1"},
    {"dec", "M = M == 0 or M > data ? data : M - 1"},
    {"wrap", "M = M >= data ? M - data : M + the second data"},
    {"condxchg32", "Each half of M = the half of data if its highest bit is set"},
    {"ordered_add", "M = M + data, in the order of the waves"},
    {"write", "M = data"},
};

/// How wide data of memory instructions is, as names say it.
constexpr Phrase data_sizes[] = {
    {"ubyte", "a byte, zero-extended"},
    {"sbyte", "a byte, sign-extended"},
    {"ushort", "16 bits, zero-extended"},
    {"sshort", "16 bits, sign-extended"},
    {"byte", "a byte"},
    {"short", "16 bits"},
    {"dword", "a dword"},
    {"dwordx2", "two dwords"},
    {"dwordx3", "three dwords"},
    {"dwordx4", "four dwords"},
    {"dwordx8", "eight dwords"},
    {"dwordx16", "sixteen dwords"},
    {"i8", "a byte, sign-extended"},
    {"u8", "a byte, zero-extended"},
    {"i16", "16 bits, sign-extended"},
    {"u16", "16 bits, zero-extended"},
    {"b8", "a byte"},
    {"b16", "16 bits"},
    {"b32", "a dword"},
    {"b64", "two dwords"},
    {"b96", "three dwords"},
    {"b128", "four dwords"},
    {"block", "up to 32 dwords, those in the mask in M0"},
    {"format", "components, converted by the buffer's format"},
};

constexpr Phrase places[] = {
    {"flat", "memory, LDS or scratch, as the address says"},
    {"global", "memory"},
    {"scratch", "scratch memory"},
    {"buffer", "a buffer"},
    {"tbuffer", "a buffer, with the format in the instruction"},
    {"ds", "LDS"},
    {"cluster", "memory, for all work-groups of the cluster that a mask says"},
};

template <size_t count>
std::optional<std::string_view> find(const Phrase (&phrases)[count], std::string_view part) {
  const auto* found = std::ranges::find(phrases, part, &Phrase::part);
  return found == std::end(phrases) ? std::nullopt : std::optional(found->text);
}

std::vector<std::string_view> parts_of(std::string_view name) {
  std::vector<std::string_view> parts;
  for (;;) {
    const size_t underscore = name.find('_');
    parts.push_back(name.substr(0, underscore));
    if (underscore == std::string_view::npos) return parts;
    name.remove_prefix(underscore + 1);
  }
}

bool is_type(std::string_view part) {
  constexpr std::array<std::string_view, 38> types{
      "f16", "f32", "f64", "bf16", "i8",  "u8",  "i16",  "u16", "i24",   "u24", "i32", "u32", "i64",
      "u64", "b8",  "b16", "b32",  "b64", "b96", "b128", "i4",  "u4",    "iu4", "iu8", "fp8", "bf8",
      "fp4", "fp6", "bf6", "xf32", "e32", "b4",  "b6",   "pk",  "inreg", "x2",  "rtn", "f4"};
  return std::ranges::find(types, part) != types.end();
}

/// The name without the types at its end.
std::string_view without_types(std::string_view name) {
  for (;;) {
    const size_t underscore = name.rfind('_');
    if (underscore == std::string_view::npos || !is_type(name.substr(underscore + 1))) return name;
    name = name.substr(0, underscore);
  }
}

bool contains(const std::vector<std::string_view>& parts, std::string_view part) {
  return std::ranges::find(parts, part) != parts.end();
}

std::string describe_comparison(std::string_view name) {
  const auto parts = parts_of(name);  // v, cmp, lt, f32
  const auto condition = find(conditions, parts.at(2));
  if (!condition) return {};
  const std::string_view what = parts[1];
  if (name.starts_with("s_")) {
    return fmt::format("SCC = whether {}{}", *condition, what == "cmpk" ? "; S1 is the immediate" : "");
  }
  std::string text = fmt::format("Lane mask D = where {}", *condition);
  if (what == "cmpx" || what == "cmpsx") text += "; EXEC becomes the same (from GFX10 on, nothing else is written)";
  if (what == "cmps" || what == "cmpsx") text += "; signals quiet NaNs, too";
  return text;
}

std::string describe_matrix(std::string_view name) {
  const auto parts = parts_of(name);
  const bool sparse = parts[1] == "smfmac" || parts[1] == "swmmac";
  const auto shape = std::ranges::find_if(
      parts, [](std::string_view part) { return std::ranges::count(part, 'x') == 2 && part.front() <= '9'; });
  if (shape == parts.end()) return {};
  std::string size(*shape);
  std::string sources;
  if (const size_t letter = size.find_first_not_of("0123456789x"); letter != std::string::npos) {
    sources = size.substr(letter);  // 32x32x8i8
    size.resize(letter);
  }
  std::string blocks;
  for (auto part = shape + 1; part != parts.end(); ++part) {
    if (part->ends_with('b') && part->front() <= '9') {
      blocks = fmt::format(" of {} blocks", part->substr(0, part->size() - 1));
    } else {
      sources += fmt::format("{}{}", sources.empty() ? "" : " and ", *part);
    }
  }
  const auto x = parts_of(size);
  std::string text = fmt::format("Product of matrices{}, {} (M x N x K), of {}, added to a matrix of {}", blocks, size,
                                 sources.empty() ? "f32" : sources,
                                 parts[2] == "scale" || parts[2] == "scale16" ? parts[3] : parts[2]);
  if (sparse) text += "; the first is sparse: two of each four elements are there, an index says which";
  if (contains(parts, "scale") || contains(parts, "scale16")) text += "; with scales";
  return text;
}

std::string describe_conversion(std::string_view name) {
  auto parts = parts_of(name);  // v, cvt, [modifiers], to, [from]
  parts.erase(parts.begin(), parts.begin() + 2);
  std::string how;
  std::string_view count = "S0";
  const auto note = [&](std::string_view text) { how += fmt::format(", {}", text); };
  while (!parts.empty() && !is_type(parts.front())) {
    const std::string_view part = parts.front();
    if (part == "pkrtz" || part == "rtz") {
      note("rounded towards 0");
    } else if (part == "pknorm" || part == "norm") {
      note("normalized: 1 becomes the largest integer");
    } else if (part == "pkaccum") {
      note("put into the byte of D that S1 names");
    } else if (part == "sr") {
      note("rounded stochastically");
    } else if (part == "rpi" || part == "nearest") {
      note("rounded to the nearest integer, ties upwards");
    } else if (part == "flr" || part == "floor") {
      note("rounded downwards");
    } else if (part == "off") {
      note("in sixteenths");
    } else if (part == "hi") {
      note("from the upper half");
    } else if (part == "scalef32" || part == "scale") {
      note("with a scale");
    } else if (!part.starts_with("pk") && part != "2xpk16") {
      return {};
    }
    if (part.find("pk") != std::string_view::npos) count = "several values";
    parts.erase(parts.begin());
  }
  while (!parts.empty() && parts.front() == "pk") {
    count = "several values";
    parts.erase(parts.begin());
    if (!parts.empty() && parts.front() == "rtz") {
      note("rounded towards 0");
      parts.erase(parts.begin());
    }
  }
  if (!parts.empty() && (parts.front().starts_with("pk") || parts.front() == "sr")) {
    if (parts.front() == "sr") note("rounded stochastically");
    count = "several values";
    parts.erase(parts.begin());
  }
  if (parts.size() != 2) return {};
  if (parts[1].starts_with("ubyte")) return fmt::format("D = byte {} of S0, converted to f32", parts[1].substr(5));
  return fmt::format("D = {} converted from {} to {}{}", count, parts[1], parts[0], how);
}

std::string describe_image(std::string_view name) {
  auto parts = parts_of(name);
  const std::string_view what = parts.at(1);
  if (what == "load" || what == "store") {
    std::string text = what == "load" ? "Loads components of a texel" : "Stores components of a texel";
    if (contains(parts, "mip")) text += ", of the level of detail in the address";
    if (contains(parts, "pck")) text += ", without conversion";
    if (contains(parts, "sgn")) text += ", sign-extended";
    return text;
  }
  if (what == "atomic") {
    const auto operation = find(atomics, without_types(name.substr(std::string_view("image_atomic_").size())));
    return operation ? fmt::format("Atomic on a texel, M: {}; with glc, D = what it was", *operation) : std::string();
  }
  if (!what.starts_with("sample") && !what.starts_with("gather4")) return {};
  std::string text = what.starts_with("sample") ? "Samples an image"
                     : what == "gather4h"       ? "Loads a component of four texels in a row"
                                                : "Loads a component of the four texels that a sample would mix";
  for (size_t i = 2; i < parts.size(); ++i) {
    const std::string_view part = parts[i];
    const std::string_view more = part == "c"     ? ", compared with a reference"
                                  : part == "cl"  ? ", the level of detail limited"
                                  : part == "d"   ? ", the level of detail by derivatives"
                                  : part == "cd"  ? ", the level of detail by coarse derivatives"
                                  : part == "l"   ? ", of the level of detail in the address"
                                  : part == "b"   ? ", the level of detail with a bias"
                                  : part == "lz"  ? ", of level 0"
                                  : part == "o"   ? ", with offsets"
                                  : part == "g16" ? " of 16 bits"
                                                  : "";
    if (more.empty()) return {};
    text += more;
  }
  return text;
}

/// Loads, stores and atomics of all kinds of memory but images.
std::string describe_memory(const InstructionRow& row) {
  const std::string_view name = row.name;
  auto parts = parts_of(name);
  std::string_view rest = name.substr(parts[0].size() + 1);
  std::string place;
  if (row.encoding == Encoding::smem) {
    place = parts.at(1) == "buffer" ? "a buffer" : (parts.at(1) == "scratch" ? "scratch memory" : "memory");
    if (place != "memory") rest = rest.substr(parts[1].size() + 1);
    if (rest == "prefetch_data" || rest.starts_with("prefetch")) return {};
  } else {
    const auto found = find(places, parts[0]);
    if (!found) return {};
    place = *found;
  }
  const bool scalar = row.encoding == Encoding::smem;
  const std::string lanes = scalar ? "" : ", for each lane";
  if (row.has(flag::atomic) || rest.starts_with("atomic_") || row.name.find("_src2_") != std::string_view::npos) {
    std::string_view operation = rest.starts_with("atomic_") ? rest.substr(7) : rest;
    operation = without_types(operation);
    std::string more;
    if (const size_t at = operation.find("_rtn"); at != std::string_view::npos) operation = operation.substr(0, at);
    if (const size_t at = operation.find("_src2"); at != std::string_view::npos) {
      operation = operation.substr(0, at);
      more = "; the data are in LDS, too";
    }
    for (const std::string_view two : {"2st64", "2"}) {
      if (!operation.ends_with(two) || operation.ends_with("32")) continue;
      operation.remove_suffix(two.size());
      more = two == "2" ? "; at two addresses" : "; at two addresses, whose offsets count 64 elements";
      break;
    }
    const auto found = find(atomics, operation);
    if (!found) return {};
    const bool returns = name.find("_rtn") != std::string_view::npos;
    return fmt::format("Atomic on {}{}, M: {}{}{}", place, lanes, *found, more,
                       returns                        ? "; D = what it was"
                       : row.encoding == Encoding::ds ? ""
                       : name == "global_atomic_ordered_add_b64"
                           ? "; D = what it was"
                           : "; with glc (sc0, th:TH_ATOMIC_RETURN), D = what it was");
  }
  std::string text;
  std::string_view size;
  const bool loads = rest.starts_with("load") || rest.starts_with("read");
  const bool stores = rest.starts_with("store") || rest.starts_with("write");
  if (!loads && !stores) return {};
  std::string more;
  for (size_t i = 1; i < parts.size(); ++i) {
    const std::string_view part = parts[i];
    if (part == "load" || part == "store" || part == "read" || part == "write" || part == "buffer" ||
        part == "scratch") {
      continue;
    }
    if (part == "read2" || part == "write2") {
      more += "; two of them, each with an offset";
    } else if (part == "read2st64" || part == "write2st64") {
      more += "; two of them, each with an offset in units of 64 elements";
    } else if (part == "d16") {
      more += contains(parts, "hi") ? "; the upper half of the register" : "; 16 bits for each component";
    } else if (part == "hi" || (part.front() == 'x' && contains(parts, "format"))) {
      if (part != "hi") more += fmt::format("; {}", part);
    } else if (part == "addtid") {
      more += "; the lane's number times 4 is added to the address";
    } else if (part == "lds") {
      more += stores ? "; from LDS at M0" : "; into LDS at M0 instead of registers";
    } else if (part == "async") {
      more += "; without waiting for it";
    } else if (part == "to" || part == "from") {
      continue;
    } else if (part == "monitor") {
      more += "; and watches it for changes";
    } else if (part.starts_with("tr")) {
      more += "; transposed between lanes, as matrix instructions take it";
    } else if (const auto found = find(data_sizes, part); found && size.empty()) {
      size = *found;
    } else if (!contains(parts, "tr")) {  // the elements that are transposed
      return {};
    }
  }
  if (size.empty()) return {};
  text = loads ? fmt::format("Loads {} from {}{}", size, place, lanes)
               : fmt::format("Stores {} to {}{}", size, place, lanes);
  return text + more;
}

std::string describe_operation(std::string_view name) {
  const size_t prefix = name.starts_with("v_s_") ? 4 : 2;
  std::string_view rest = name.substr(std::min(prefix, name.size()));
  if (const auto whole = find(operations, rest)) return std::string(*whole);
  std::string where;
  if (rest.starts_with("pk_")) {
    where = "In each element: ";
    rest.remove_prefix(3);
  }
  for (const auto& [part, text] : {Phrase{"_saveexec", "D = EXEC; EXEC = "}, Phrase{"_wrexec", "D = EXEC = "}}) {
    const size_t at = rest.find(part);
    if (at == std::string_view::npos) continue;
    const std::string_view operation = rest.substr(0, at);
    const std::string_view what = operation == "and"     ? "S0 & EXEC"
                                  : operation == "or"    ? "S0 | EXEC"
                                  : operation == "xor"   ? "S0 ^ EXEC"
                                  : operation == "andn1" ? "~S0 & EXEC"
                                  : operation == "andn2" ? "S0 & ~EXEC"
                                  : operation == "orn1"  ? "~S0 | EXEC"
                                  : operation == "orn2"  ? "S0 | ~EXEC"
                                  : operation == "nand"  ? "~(S0 & EXEC)"
                                  : operation == "nor"   ? "~(S0 | EXEC)"
                                  : operation == "xnor"  ? "~(S0 ^ EXEC)"
                                                         : "";
    return what.empty() ? std::string() : fmt::format("{}{}", text, what);
  }
  if (rest.starts_with("interp_p10") || (rest.starts_with("interp_p2") && rest.ends_with("inreg"))) {
    return fmt::format("Interpolates an attribute in registers, {} step{}",
                       rest.starts_with("interp_p10") ? "first" : "second",
                       rest.find("rtz") != std::string_view::npos ? ", rounded towards 0" : "");
  }
  while (true) {
    if (const auto found = find(operations, rest)) return where + std::string(*found);
    const std::string_view shorter = rest.substr(0, rest.rfind('_') == std::string_view::npos ? 0 : rest.rfind('_'));
    if (shorter.empty() || !is_type(rest.substr(shorter.size() + 1))) return {};
    rest = shorter;
  }
}

}  // namespace

std::string describe_instruction(const InstructionRow& row) {
  const std::string_view name = row.name;
  if (const auto whole = find(whole_names, name)) return std::string(*whole);
  if (name.starts_with("v_cmp") || name.starts_with("s_cmp_") || name.starts_with("s_cmpk_")) {
    return describe_comparison(name);
  }
  for (const std::string_view prefix : {"v_mfma_", "v_smfmac_", "v_wmma_", "v_swmmac_"}) {
    if (name.starts_with(prefix) && name.find("_ld_scale") == std::string_view::npos) return describe_matrix(name);
  }
  if (name.starts_with("v_cvt_") || name.starts_with("s_cvt_")) return describe_conversion(name);
  switch (row.encoding) {
    case Encoding::mimg:
    case Encoding::vsample:
      return describe_image(name);
    case Encoding::flat:
    case Encoding::global:
    case Encoding::scratch:
    case Encoding::mubuf:
    case Encoding::mtbuf:
    case Encoding::ds:
      return describe_memory(row);
    case Encoding::smem: {
      const std::string text = describe_memory(row);
      return text.empty() ? describe_operation(name) : text;
    }
    default:
      return describe_operation(name);
  }
}

}  // namespace Atoll::tools
