// observe: reports the findings of wave paths, and checks copies between memory and LDS.
#include "observe/wait/wait_checker.h"

#include <bit>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "hazards/wait_builder.h"
#include "isa/effects.h"
#include "isa/print.h"
#include "machine/gpu.h"
#include "machine/wave/dispatch.h"
#include "observe/race/active_work_groups.h"
#include "observe/report/place.h"
#include "observe/shadow/lds_copies.h"
#include "observe/wait/wait_paths.h"

namespace Atoll::observe {

namespace {

using memory_model::Counter;
using memory_model::Counters;

constexpr const char* checker = "wait";

/// A wave's outstanding copies between memory and LDS by their numbers, the oldest first.
struct WaveState {
  std::vector<uint64_t> copies;
};

struct GroupState {
  std::vector<WaveState> waves;
  LdsCopies copies;
};

class WaitChecker final : public Checker, public machine::InstrumentationClient {
 public:
  explicit WaitChecker(Findings& findings) : findings_(findings) {}

  machine::EventMask watched() const override { return {.code = true, .work_groups = true}; }
  machine::InstrumentationClient* instrumentation() override { return this; }
  machine::InstrumentationRequest requested() const override { return {.paths = true}; }

  void code_unloading(const machine::LoadedCode& code) override {
    paths_.forget(code.base(), code.base() + code.size());
  }
  void work_group_begins(const machine::WorkGroup& group) override {
    auto state = std::make_unique<GroupState>();
    state->waves.resize(group.waves.size());
    groups_.add(group, std::move(state));
  }
  void work_group_ends(const machine::WorkGroup& group) override { groups_.erase(group); }
  uint32_t on_basic_block(const machine::Wave& wave, uint32_t before, const machine::InstructionRange& code) override;
  void access(const machine::Wave& wave, const machine::AccessEvent& access) override;
  // Accesses of translated code are not needed.
  machine::AccessFilter access_filter(const machine::Wave&) override { return {.scratch_bytes = UINT32_MAX}; }
  bool passes_filter(const machine::Wave&, const machine::AccessEvent&, machine::OrdinaryMemory& around) override {
    around = {.begin = 0, .end = UINT64_MAX};
    return true;
  }

 private:
  struct Place {
    GroupState* group = nullptr;
    WaveState* wave = nullptr;
  };
  Place place_of(const machine::Wave& wave) const {
    GroupState* group = groups_.find(wave.work_group);
    if (group == nullptr || wave.index >= group->waves.size()) return {};
    return {group, &group->waves[wave.index]};
  }
  void follow_copies(const machine::Wave& wave, const hazards::CopySteps& steps);
  void report(const machine::Wave& wave, uint64_t pc, const hazards::RegisterConflict& conflict);
  void report(const machine::Wave& wave, const machine::AccessEvent& access, const LdsCopies::Conflict& conflict);
  void report(const machine::Wave& wave, uint64_t pc, const hazards::HazardRecognizer::Violation& violation);
  void report(const machine::Wave& wave, uint64_t pc, const hazards::MatrixHazards::Missing& missing);
  struct MissingNop {
    uint64_t earlier = 0;  ///< PC of the previous instruction
    std::string message;   ///< {} stands for the number of wait states and the previous instruction
    uint32_t states = 0, left = 0;
    bool by_vectors = false;  ///< counts vector instructions instead of wait states
  };
  void report(const machine::Wave& wave, uint64_t pc, const MissingNop& missing);
  void report_registers(const machine::Wave& wave, const machine::InstructionRange& code,
                        const RegisterFiles& allocated);

  Findings& findings_;
  ActiveWorkGroups<GroupState> groups_;
  WaitPaths paths_;
};

std::string vector_name(unsigned number, target::Generation generation) {
  const bool has_agprs = generation < target::Generation::gfx12_5;
  return !has_agprs || number < isa::first_agpr ? fmt::format("v{}", number)
                                                : fmt::format("a{}", number - isa::first_agpr);
}

std::string scalar_name(unsigned number) {
  if (number < isa::scalar::vcc_lo) return fmt::format("s{}", number);
  if (number <= isa::scalar::vcc_hi) return number == isa::scalar::vcc_lo ? "vcc_lo" : "vcc_hi";
  if (number == isa::scalar::m0) return "m0";
  if (number == isa::scalar::exec_lo) return "exec_lo";
  if (number == isa::scalar::exec_hi) return "exec_hi";
  return fmt::format("scalar register {}", number);
}

/// Returns the number of registers of each file that a wave has allocated, or may allocate.
RegisterFiles allocated_registers(const machine::Wave& wave) {
  const machine::LaunchState& launch = wave.work_group->dispatch->launch;
  return {.vgprs = launch.has_dynamic_vgprs ? launch.max_vgprs : wave.vgprs, .agprs = wave.agprs, .sgprs = wave.sgprs};
}

uint32_t WaitChecker::on_basic_block(const machine::Wave& wave, uint32_t before,
                                     const machine::InstructionRange& code) {
  const WaitPaths::Step step = paths_.step(before, code, wave.work_group->dispatch->gpu->processor(), wave.wave_size);
  if (const RegisterFiles allocated = allocated_registers(wave); step.named.exceed(allocated)) {
    report_registers(wave, code, allocated);
  }
  if (step.events != nullptr) {
    for (const auto& [pc, violation] : step.events->missing) report(wave, pc, violation);
    for (const auto& [pc, missing] : step.events->missing_of_matrices) report(wave, pc, missing);
    for (const auto& [pc, conflict] : step.events->conflicts) report(wave, pc, conflict);
    if (!step.events->copies.empty()) follow_copies(wave, step.events->copies);
  }
  return step.next;
}

void WaitChecker::report_registers(const machine::Wave& wave, const machine::InstructionRange& code,
                                   const RegisterFiles& allocated) {
  constexpr const char* kind = "register-out-of-bounds";
  const machine::Dispatch& dispatch = *wave.work_group->dispatch;
  const auto [pc, named] = WaitPaths::first_beyond(allocated, code, dispatch.gpu->processor(), wave.wave_size);
  if (pc == 0) return;
  const auto report = [&](unsigned file, char letter, const char* name, unsigned used, unsigned has,
                          const char* directive) {
    // The mistake is in the descriptor: it is reported once for each kernel and file, however often code uses the
    // registers. Descriptors are aligned to 64 bytes.
    const uint64_t place = dispatch.kernel->object + file;
    if (used <= has || findings_.known(checker, kind, place, 0)) return;
    Finding finding;
    finding.checker = checker;
    finding.kind = kind;
    set_place(finding, wave, pc, 0);
    finding.message =
        fmt::format("kernel '{}' uses {}{}, and its waves have {} {}", finding.kernel, letter, used - 1, has, name);
    finding.advice = fmt::format("let the kernel ask for as many as its code uses ({})", directive);
    findings_.add(place, std::move(finding));
  };
  report(0, 'v', "VGPRs", named.vgprs, allocated.vgprs, ".amdhsa_next_free_vgpr");
  report(1, 'a', "AGPRs", named.agprs, allocated.agprs, ".amdhsa_next_free_vgpr");
  report(2, 's', "SGPRs", named.sgprs, allocated.sgprs, ".amdhsa_next_free_sgpr");
}

void WaitChecker::follow_copies(const machine::Wave& wave, const hazards::CopySteps& steps) {
  const auto [group, state] = place_of(wave);
  if (state == nullptr) return;
  std::vector<uint64_t>& copies = state->copies;
  for (const hazards::CopyStep& step : steps) {
    if (step.begun != nullptr) {
      copies.push_back(
          group->copies.issue(step.pc, wave.index, step.begun->counted, step.begun->copy == isa::LdsCopy::to_lds));
    } else if (step.done < copies.size()) {
      group->copies.done(copies[step.done]);
      copies.erase(copies.begin() + step.done);
    }
  }
}

void WaitChecker::access(const machine::Wave& wave, const machine::AccessEvent& access) {
  if (access.is_translated || access.space != machine::Space::lds || !paths_.any_copies()) return;
  const auto [group, state] = place_of(wave);
  if (state == nullptr || group->copies.empty()) return;
  if (access.instruction.opcode == isa::Opcode::ds_atomic_async_barrier_arrive_b64) {
    group->copies.arrive(wave.index, access.addresses[std::countr_zero(access.lanes)]);
    return;
  }
  const bool is_copy = isa::lds_copy(access.instruction) != isa::LdsCopy::none;
  const uint64_t own = is_copy && !state->copies.empty() ? state->copies.back() : 0;
  // A tensor copy may arrive at a barrier by itself.
  if (own != 0 && access.is_atomic)
    return group->copies.arrive_alone(own, access.addresses[std::countr_zero(access.lanes)]);
  if (access.reads) group->copies.read(access);
  if (const auto conflict = group->copies.conflict(access, own)) report(wave, access, *conflict);
  if (own != 0) group->copies.add(own, access);
}

/// Returns the wait instruction for an operation.
std::string wait_for(target::Generation generation, Counters counters) {
  const bool gfx12 = generation >= target::Generation::gfx12;
  const bool gfx10 = generation >= target::Generation::gfx10;
  if (has(counters, Counter::load)) return gfx12 ? "s_wait_loadcnt" : "s_waitcnt vmcnt";
  if (has(counters, Counter::store)) return gfx12 ? "s_wait_storecnt" : gfx10 ? "s_waitcnt_vscnt" : "s_waitcnt vmcnt";
  if (has(counters, Counter::sample)) return gfx12 ? "s_wait_samplecnt" : "s_waitcnt vmcnt";
  if (has(counters, Counter::bvh)) return gfx12 ? "s_wait_bvhcnt" : "s_waitcnt vmcnt";
  if (has(counters, Counter::lds)) return gfx12 ? "s_wait_dscnt" : "s_waitcnt lgkmcnt";
  if (has(counters, Counter::async)) return "s_wait_asynccnt";
  if (has(counters, Counter::tensor)) return "s_wait_tensorcnt";
  return gfx12 ? "s_wait_kmcnt" : "s_waitcnt lgkmcnt";
}

const char* kind_of(hazards::RegisterConflict::Kind kind) {
  switch (kind) {
    case hazards::RegisterConflict::Kind::reads:
      return "missing-wait";
    case hazards::RegisterConflict::Kind::writes:
      return "overwritten";
    case hazards::RegisterConflict::Kind::overwrites:
      break;
  }
  return "still-read";
}

/// Describes the instruction that started an outstanding operation.
NamedStack in_flight(debug_info::CodeAddress there) {
  return {.title = "what is under way", .code = std::move(there), .describe = instruction_and_source};
}

/// Describes the first instruction of a hazard.
NamedStack earlier_one(debug_info::CodeAddress there) {
  return {.title = "the earlier one", .code = std::move(there), .describe = instruction_and_source};
}

void WaitChecker::report(const machine::Wave& wave, uint64_t pc, const hazards::RegisterConflict& conflict) {
  const char* kind = kind_of(conflict.kind);
  if (findings_.known(checker, kind, pc, 1)) return;
  Finding finding;
  finding.checker = checker;
  finding.kind = kind;
  set_place(finding, wave, pc, 0);
  debug_info::CodeAddress there = machine::code_address(wave, conflict.operation.pc);
  const std::string other = there.instruction();
  const auto generation = wave.work_group->dispatch->gpu->processor().generation;
  const std::string name = conflict.is_vector ? vector_name(conflict.reg, generation) : scalar_name(conflict.reg);
  const std::string wait = wait_for(generation, conflict.operation.counters);
  switch (conflict.kind) {
    case hazards::RegisterConflict::Kind::reads:
    case hazards::RegisterConflict::Kind::writes: {
      const bool is_read = conflict.kind == hazards::RegisterConflict::Kind::reads;
      finding.message = fmt::format("kernel '{}' {} {}, and nothing has waited for '{}', which fills it",
                                    finding.kernel, is_read ? "reads" : "writes", name, other);
      finding.advice = fmt::format("wait before it ({}): a GPU would find {} there", wait,
                                   is_read ? "what the register held before" : "what arrives later");
      break;
    }
    case hazards::RegisterConflict::Kind::overwrites:
      finding.message = fmt::format(
          "kernel '{}' writes {}, and nothing has waited for the addresses of '{}' to be translated, which "
          "reads it",
          finding.kernel, name, other);
      finding.advice =
          "wait before it (s_wait_xcnt): after a page fault a GPU would execute the access again with what is written "
          "here";
      break;
  }
  finding.stacks.push_back(in_flight(std::move(there)));
  findings_.add(pc, std::move(finding));
}

void WaitChecker::report(const machine::Wave& wave, const machine::AccessEvent& access,
                         const LdsCopies::Conflict& conflict) {
  const LdsCopy& copy = *conflict.copy;
  const char* kind = !copy.fills ? "still-read" : access.reads ? "missing-wait" : "overwritten";
  if (findings_.known(checker, kind, access.pc, 1)) return;
  Finding finding;
  finding.checker = checker;
  finding.kind = kind;
  set_place(finding, wave, access.pc, conflict.lane);
  debug_info::CodeAddress there = machine::code_address(wave, copy.pc);
  const std::string whose = copy.wave == wave.index ? std::string("nothing") : fmt::format("wave {}", copy.wave);
  finding.message =
      fmt::format("kernel '{}' {} LDS, and {} has {}waited for '{}', which {} it", finding.kernel,
                  access.reads && copy.fills ? "reads" : "writes", whose, copy.wave == wave.index ? "" : "not ",
                  there.instruction(), copy.fills ? "fills" : "reads");
  finding.address = fmt::format("{:#x} in LDS", conflict.address);
  finding.stacks.push_back(in_flight(std::move(there)));
  const std::string wait = wait_for(wave.work_group->dispatch->gpu->processor().generation, copy.counters);
  finding.advice = fmt::format("wait before it{} ({}): a GPU would find {} there",
                               copy.wave == wave.index ? "" : ", in that wave, and come to a barrier then", wait,
                               !copy.fills    ? "what is written here, and copy that"
                               : access.reads ? "what LDS held before"
                                              : "what arrives later");
  findings_.add(access.pc, std::move(finding));
}

void WaitChecker::report(const machine::Wave& wave, uint64_t pc, const MissingNop& missing) {
  constexpr const char* kind = "missing-nop";
  if (findings_.known(checker, kind, pc, 1)) return;
  Finding finding;
  finding.checker = checker;
  finding.kind = kind;
  set_place(finding, wave, pc, 0);
  debug_info::CodeAddress there = machine::code_address(wave, missing.earlier);
  const std::string left = fmt::format(
      "{} {}{}", missing.left, missing.by_vectors ? "vector instruction" : "wait state", missing.left == 1 ? "" : "s");
  finding.message = fmt::format("kernel '{}' {}: there have to be {}", finding.kernel,
                                fmt::format(fmt::runtime(missing.message), left, there.instruction()), missing.states);
  finding.stacks.push_back(earlier_one(std::move(there)));
  const uint32_t lacking = missing.states - missing.left;
  finding.advice = missing.by_vectors ? fmt::format("put {} 'v_nop' before it, or other vector instructions", lacking)
                                      : fmt::format("put 's_nop {}' before it, or other instructions", lacking - 1);
  findings_.add(pc, std::move(finding));
}

/// Returns what to insert before an instruction that violates a hazard.
std::string advice_for(const hazards::HazardRecognizer::Violation& violation, const target::Processor& processor) {
  const hazards::Remedy& remedy = violation.hazard->remedy;
  switch (remedy.kind) {
    case hazards::Remedy::Kind::s_nop:
    case hazards::Remedy::Kind::v_nop:
    case hazards::Remedy::Kind::operand:
    case hazards::Remedy::Kind::registers:
      break;
    case hazards::Remedy::Kind::valu:
      return "put a vector ALU instruction before it, such as a 'v_mov_b32' of a register to itself; 'v_nop' is not "
             "enough";
    case hazards::Remedy::Kind::scalar_alu:
      return "put a scalar ALU instruction before it, such as 's_mov_b32 null, 0'";
    case hazards::Remedy::Kind::dependency:
      return fmt::format("put '{}' before it",
                         isa::print(hazards::dependency_wait_for(remedy.fields, processor), processor));
    case hazards::Remedy::Kind::stores:
      return "put 's_waitcnt_vscnt null, 0x0' before it";
  }
  if (remedy.kind == hazards::Remedy::Kind::operand) return "lower its field wait_vdst";
  return "use other registers";
}

void WaitChecker::report(const machine::Wave& wave, uint64_t pc,
                         const hazards::HazardRecognizer::Violation& violation) {
  using Fix = hazards::Remedy::Kind;
  const hazards::Hazard& hazard = *violation.hazard;
  const auto& processor = wave.work_group->dispatch->gpu->processor();
  // This hazard depends on the end of the wave's allocation, which the code does not contain.
  const unsigned reg = hazards::register_of(hazard.consumer.role, violation.reg);
  const bool is_last_vgpr = hazard.consumer.role == hazards::Role::last_of_granule;
  if (is_last_vgpr && reg + 1 != wave.vgprs) return;
  const std::string name =
      hazards::is_vector_role(hazard.consumer.role) ? vector_name(reg, processor.generation) : scalar_name(reg);
  const std::string problem = fmt::format(fmt::runtime(hazard.problem), name);
  const Fix fix = hazard.remedy.kind;
  if (fix == Fix::s_nop || fix == Fix::v_nop) {
    report(wave, pc,
           MissingNop{.earlier = violation.earlier,
                      .message = fmt::format("{} {{}} after '{{}}' {}", problem, hazard.earlier),
                      .states = violation.required,
                      .left = violation.distance,
                      .by_vectors = fix == Fix::v_nop});
    return;
  }
  constexpr const char* kind = "hazard";
  if (findings_.known(checker, kind, pc, 1)) return;
  Finding finding;
  finding.checker = checker;
  finding.kind = kind;
  set_place(finding, wave, pc, 0);
  if (violation.earlier == 0) {
    finding.message = fmt::format("kernel '{}' {}", finding.kernel, problem);
  } else {
    debug_info::CodeAddress there = machine::code_address(wave, violation.earlier);
    finding.message =
        fmt::format("kernel '{}' {} too early: '{}' {}", finding.kernel, problem, there.instruction(), hazard.earlier);
    finding.stacks.push_back(earlier_one(std::move(there)));
  }
  finding.advice =
      fmt::format("{}: a GPU does not hold the instruction back ({})", advice_for(violation, processor), hazard.source);
  findings_.add(pc, std::move(finding));
}

void WaitChecker::report(const machine::Wave& wave, uint64_t pc, const hazards::MatrixHazards::Missing& missing) {
  const auto generation = wave.work_group->dispatch->gpu->processor().generation;
  std::string message;
  switch (missing.relation) {
    using enum hazards::MatrixHazards::Relation;
    case reads:
      message = fmt::format("uses {} {{}} after '{{}}', which writes it", vector_name(missing.reg, generation));
      break;
    case overwrites:
      message = fmt::format("writes {} {{}} after '{{}}', which writes it, too", vector_name(missing.reg, generation));
      break;
    case overwrites_addend:
    case overwrites_factor:
      message = fmt::format("writes {} {{}} after '{{}}', which still reads it", vector_name(missing.reg, generation));
      break;
    case uses_exec:
      message = "uses exec {} after '{}' has written it";
      break;
    case shares_unit:
      message = "multiplies doubles {} after '{}', whose units it shares";
      break;
  }
  report(wave, pc,
         MissingNop{.earlier = missing.earlier,
                    .message = std::move(message),
                    .states = missing.states,
                    .left = missing.left,
                    .by_vectors = generation >= target::Generation::gfx12_5});
}

}  // namespace

std::unique_ptr<Checker> make_wait_checker(Findings& findings) { return std::make_unique<WaitChecker>(findings); }

}  // namespace Atoll::observe
