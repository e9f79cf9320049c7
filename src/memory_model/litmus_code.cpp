#include "memory_model/litmus_code.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "memory_model/sequence.h"

namespace Atoll::memory_model {

namespace {

using support::ErrorKind;
using support::fail;
using support::Result;

constexpr unsigned max_waves = 16, max_registers = 16, max_locations = 12;
// Where the kernel has its values: addresses of locations, a thread's registers, and values to be stored.
constexpr unsigned first_location = 1, first_register = 16, first_value = 40, vgprs = 128, first_delay = 16;

class Writer {
 public:
  Writer(const LitmusTest& test, const target::Processor& processor)
      : test_(test), generation_(generation_of(processor)) {
    is_new_ = processor.generation >= target::Generation::gfx11;
    is_gfx12_ = processor.generation >= target::Generation::gfx12;
    wave_size_ = processor.generation >= target::Generation::gfx10 ? 32 : 64;
  }

  Result<LitmusKernel> write() {
    if (generation_.accesses.global.load != isa::Opcode::global_load_dword)
      return fail(ErrorKind::unsupported, "litmus tests run on GPUs with global instructions: GFX9 and later");
    kernel_.locations = static_cast<uint32_t>(test_.locations.size());
    kernel_.threads = static_cast<uint32_t>(test_.threads.size());
    if (kernel_.locations > max_locations) return fail(ErrorKind::unsupported, "more than {} locations", max_locations);
    if (auto placed = place(); !placed) return std::unexpected(placed.error());
    begin();
    for (size_t thread = 0; thread < test_.threads.size(); ++thread) {
      if (auto written = write_thread(thread); !written) return std::unexpected(written.error());
    }
    end();
    return std::move(kernel_);
  }

 private:
  template <typename... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    kernel_.text += "  " + fmt::format(format, std::forward<Args>(args)...) + '\n';
  }
  void label(const std::string& name) { kernel_.text += name + ":\n"; }

  /// Threads of a work-group are its waves.
  Result<void> place() {
    std::vector<unsigned> groups;
    std::vector<uint32_t> waves;
    for (const LitmusThread& thread : test_.threads) {
      const unsigned instance = thread.instance[static_cast<size_t>(Scope::workgroup)];
      const auto at = std::ranges::find(groups, instance);
      const auto group = static_cast<size_t>(at - groups.begin());
      if (at == groups.end()) {
        groups.push_back(instance);
        waves.push_back(0);
      }
      if (waves[group] >= max_waves)
        return fail(ErrorKind::unsupported, "more than {} threads of a work-group", max_waves);
      places_.push_back(static_cast<uint32_t>(group) * max_waves + waves[group]++);
      if (thread.registers.size() > max_registers)
        return fail(ErrorKind::unsupported, "more than {} registers of a thread", max_registers);
    }
    kernel_.work_groups = static_cast<uint32_t>(groups.size());
    kernel_.work_group_size = std::ranges::max(waves) * wave_size_;
    return {};
  }

  void wait_for_scalars() {
    const CounterFact* fact = generation_.find(Counter::scalar);
    if (fact == nullptr) fact = generation_.find(Counter::lds);
    line("{}", generation_.wait_text(*fact));
  }

  void begin() {
    kernel_.text += ".text\n.globl litmus\n.p2align 8\n.type litmus,@function\nlitmus:\n";
    line("v_and_b32 v0, 0x3ff, v0");
    line("v_lshrrev_b32 v0, {}, v0", wave_size_ == 32 ? 5 : 6);
    line("v_readfirstlane_b32 s6, v0");
    line("s_lshl_b32 s7, {}, 4", is_gfx12_ ? "ttmp9" : "s2");
    line("s_or_b32 s6, s6, s7");
    line("{} s[4:5], s[0:1], 0x0", is_new_ ? "s_load_b64" : "s_load_dwordx2");
    wait_for_scalars();
    line("{}", wave_size_ == 32 ? "s_mov_b32 exec_lo, 1" : "s_mov_b64 exec, 1");
    for (unsigned i = 0; i < test_.locations.size(); ++i)
      line("v_mov_b32 v{}, {:#x}", first_location + i, kernel_.location(i));
    for (unsigned i = 0; i < max_registers; ++i) line("v_mov_b32 v{}, 0", first_register + i);
    for (size_t thread = 0; thread < places_.size(); ++thread) {
      line("s_cmp_eq_u32 s6, {}", places_[thread]);
      line("s_cbranch_scc1 .Lthread{}", thread);
    }
    line("s_endpgm");
  }

  /// Where the wave may give way to others.
  void point(size_t thread, unsigned& points) {
    if (points >= LitmusKernel::delay_count) return;
    const unsigned scalar = first_delay + points;
    const std::string name = fmt::format("{}_{}", thread, points++);
    label(".Lwait" + name);
    line("s_cmp_eq_u32 s{}, 0", scalar);
    line("s_cbranch_scc1 .Lgo{}", name);
    line("s_lshr_b32 s{0}, s{0}, 1", scalar);
    line("s_sleep 1");
    line("s_branch .Lwait{}", name);
    label(".Lgo" + name);
  }

  Result<void> write_thread(size_t number) {
    const LitmusThread& thread = test_.threads[number];
    label(fmt::format(".Lthread{}", number));
    for (unsigned half = 0; half < 2; ++half) {
      line("{} s[{}:{}], s[4:5], {:#x}", is_new_ ? "s_load_b512" : "s_load_dwordx16", first_delay + half * 16,
           first_delay + half * 16 + 15, kernel_.delays_of(number) + half * 64);
    }
    wait_for_scalars();
    unsigned points = 0, values = first_value;
    std::vector<unsigned> coming;  // registers that a load is to fill
    for (const LitmusStatement& statement : thread.statements) {
      point(number, points);
      if (auto written = write_statement(number, statement, points, values, coming); !written) return written;
    }
    point(number, points);
    wait_for_all();
    for (unsigned i = 0; i < thread.registers.size(); ++i) {
      line("v_mov_b32 v0, {:#x}", kernel_.register_of(number, i));
      line("{} v0, v{}, s[4:5]", generation_.text(generation_.accesses.global.store), first_register + i);
    }
    line("s_endpgm");
    return {};
  }

  void wait_for_all() {
    for (const Counter counter : {Counter::load, Counter::store})
      if (const CounterFact* fact = generation_.find(counter)) line("{}", generation_.wait_text(*fact));
  }

  /// Puts a value into a VGPR of its own.
  void value(const LitmusValue& value, unsigned vgpr, std::vector<unsigned>& coming) {
    if (!value.is_register) {
      line("v_mov_b32 v{}, {:#x}", vgpr, static_cast<uint32_t>(value.number));
      return;
    }
    if (std::ranges::find(coming, value.register_number) != coming.end()) {
      line("{}", generation_.wait_text(*generation_.find(Counter::load)));
      coming.clear();
    }
    line("v_mov_b32 v{}, v{}", vgpr, first_register + value.register_number);
  }

  Result<void> write_statement(size_t thread, const LitmusStatement& statement, unsigned& points, unsigned& values,
                               std::vector<unsigned>& coming) {
    if (statement.action == LitmusAction::barrier) {
      if (is_gfx12_) {
        line("s_barrier_signal -1");
        line("s_barrier_wait -1");
      } else {
        line("s_barrier");
      }
      return {};
    }
    Operation operation{.order = statement.order, .scope = statement.scope, .space = Space::global};
    unsigned data = values;
    switch (statement.action) {
      case LitmusAction::load:
        operation.access = Access::load;
        break;
      case LitmusAction::store:
        operation.access = Access::store;
        value(statement.value, data, coming);
        break;
      case LitmusAction::fence:
        operation.access = Access::fence;
        operation.space = Space::all;
        break;
      default:
        operation.access = statement.result ? Access::rmw : Access::rmw_no_return;
        value(statement.value, data, coming);
        if (statement.action == LitmusAction::compare_exchange) value(statement.expected, data + 1, coming);
        break;
    }
    values += 2;
    if (values >= vgprs - 2) return fail(ErrorKind::unsupported, "more statements of a thread than fit");
    const auto steps = sequence(generation_, operation);
    if (!steps) return std::unexpected(steps.error());
    bool is_first = true;
    for (const Step& step : *steps) {
      if (!std::exchange(is_first, false)) point(thread, points);
      if (step.kind == StepKind::access) {
        access(step, statement, data);
        if (statement.result) coming.push_back(*statement.result);
      } else {
        line("{}", step.instruction);
        if (has(step.waits, Counter::load)) coming.clear();
      }
    }
    return {};
  }

  /// Writes the access with its operands, which stand between the name and the cache policy.
  void access(const Step& step, const LitmusStatement& statement, unsigned data) {
    isa::Opcode opcode = step.opcode;
    std::string values = fmt::format("v{}", data);
    if (statement.action == LitmusAction::exchange) {
      opcode = isa::Opcode::global_atomic_swap;
    } else if (statement.action == LitmusAction::compare_exchange) {
      opcode = isa::Opcode::global_atomic_cmpswap;
      values = fmt::format("v[{}:{}]", data, data + 1);
    }
    const std::string text = generation_.text(opcode, step.policy);
    const std::string mnemonic = text.substr(0, text.find(' ')), policy = text.substr(mnemonic.size());
    const unsigned address = first_location + statement.location;
    std::string operands = fmt::format("v{}", address);
    if (statement.action != LitmusAction::load) operands += ", " + values;
    if (statement.result) operands = fmt::format("v{}, {}", first_register + *statement.result, operands);
    line("{} {}, s[4:5]{}", mnemonic, operands, policy);
  }

  void end() {
    std::string& text = kernel_.text;
    text += ".size litmus, .-litmus\n.rodata\n.p2align 6\n.amdhsa_kernel litmus\n";
    line(".amdhsa_user_sgpr_kernarg_segment_ptr 1");
    line(".amdhsa_kernarg_size 8");
    line(".amdhsa_next_free_vgpr {}", vgprs);
    line(".amdhsa_next_free_sgpr 64");
    if (generation_.splits_work_groups) line(".amdhsa_accum_offset {}", vgprs);
    if (wave_size_ == 32) line(".amdhsa_wavefront_size32 1");
    text += fmt::format(
        ".end_amdhsa_kernel\n.amdgpu_metadata\n---\namdhsa.version: [1, 1]\namdhsa.kernels:\n"
        "  - .name: litmus\n    .symbol: litmus.kd\n    .kernarg_segment_size: 8\n    .group_segment_fixed_size: 0\n"
        "    .private_segment_fixed_size: 0\n    .kernarg_segment_align: 8\n    .wavefront_size: {}\n"
        "    .sgpr_count: 64\n    .vgpr_count: {}\n    .max_flat_workgroup_size: 1024\n    .args:\n"
        "      - {{.name: data, .size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global}}\n"
        "...\n.end_amdgpu_metadata\n",
        wave_size_, vgprs);
  }

  const LitmusTest& test_;
  const Generation& generation_;
  bool is_new_ = false, is_gfx12_ = false;
  unsigned wave_size_ = 64;
  std::vector<uint32_t> places_;  ///< of threads: work-group and wave
  LitmusKernel kernel_;
};

}  // namespace

Result<LitmusKernel> litmus_kernel(const LitmusTest& test, const target::Processor& processor) {
  return Writer(test, processor).write();
}

}  // namespace Atoll::memory_model
