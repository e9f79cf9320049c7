// Writes the LLVM IR, has it compiled, and reads the assembly text. See compiled_operations.h.
#include "memory_model/compiled_operations.h"

#include <algorithm>
#include <array>
#include <regex>
#include <sstream>

#include <fmt/format.h>

#include "support/command.h"
#include "target/processor.h"

namespace Atoll::test {

namespace {

using memory_model::Access;
using memory_model::Counter;
using memory_model::CounterFact;
using memory_model::Counters;
using memory_model::Generation;
using memory_model::Operation;
using memory_model::Space;
using memory_model::Step;

/// Many in one function, because a function takes the compiler as long as a dozen operations.
constexpr size_t operations_in_a_function = 50;

const Generation& generation_of(const CompiledTarget& target) {
  return memory_model::generation_of(*target::find_processor(target.processor));
}

bool is_there(const Generation& generation, const Operation& operation, const CompiledTarget& target) {
  return memory_model::sequence(generation, operation, target.placement).has_value();
}

unsigned address_space(Space space) {
  switch (space) {
    case Space::global:
      return 1;
    case Space::local:
      return 3;
    case Space::private_:
      return 5;
    default:
      return 0;
  }
}

/// "syncscope(\"agent\") ": system is what LLVM means without.
std::string scope_text(const Operation& operation) {
  if (operation.scope == memory_model::Scope::system)
    return operation.one_address_space ? "syncscope(\"one-as\") " : "";
  return fmt::format("syncscope(\"{}{}\") ", name(operation.scope), operation.one_address_space ? "-one-as" : "");
}

/// The instruction of LLVM IR; its result, if any, is %rN.
std::string ir_of(const Operation& operation, size_t number) {
  const std::string pointer = fmt::format("ptr addrspace({0}) %p{0}", address_space(operation.space));
  const std::string order = fmt::format("{}{}", scope_text(operation), name(operation.order));
  const char* marks = operation.last_use ? ", !amdgpu.last.use !0" : operation.nontemporal ? ", !nontemporal !1" : "";
  const char* is_volatile = operation.is_volatile ? "volatile " : "";
  switch (operation.access) {
    case Access::load:
      if (operation.atomic()) return fmt::format("%r{} = load atomic i32, {} {}, align 4", number, pointer, order);
      return fmt::format("%r{} = load {}i32, {}, align 4{}", number, is_volatile, pointer, marks);
    case Access::store:
      if (operation.atomic()) return fmt::format("store atomic i32 %w, {} {}, align 4", pointer, order);
      return fmt::format("store {}i32 %w, {}, align 4{}", is_volatile, pointer, marks);
    case Access::rmw:
      return fmt::format("%r{} = atomicrmw add {}, i32 %w {}, align 4", number, pointer, order);
    case Access::rmw_no_return:
      return fmt::format("%unused{} = atomicrmw add {}, i32 %w {}, align 4", number, pointer, order);
    case Access::fence:
      break;
  }
  const char* only = operation.space == Space::global  ? ", !mmra !2"
                     : operation.space == Space::local ? ", !mmra !3"
                                                       : "";
  return fmt::format("fence {}{}", order, only);
}

/// Accesses of every kind that are under way at the operation, because the compiler leaves out waits for what is not.
/// They are volatile nowhere, so that nothing but the operation waits for them.
std::string accesses_before(const Generation& generation, size_t number) {
  std::string text = fmt::format(R"(
  %a{0} = load i32, ptr addrspace(1) %from, align 4
  %b{0} = load i32, ptr addrspace(3) %from_local, align 4
)",
                                 number);
  if (generation.find(Counter::sample) != nullptr)
    text += fmt::format(R"(
  %sample{0} = call float @llvm.amdgcn.image.sample.1d.f32.f32(i32 1, float %s, <8 x i32> %image, <4 x i32> %sampler, i1 false, i32 0, i32 0)
  %ray{0} = call <4 x i32> @llvm.amdgcn.image.bvh.intersect.ray.i64.v3f32(i64 %node, float %s, <3 x float> %v3, <3 x float> %v3, <3 x float> %v3, <4 x i32> %sampler)
  %scalar_address{0} = getelementptr i32, ptr addrspace(4) %constant, i32 {0}
  %k{0} = load i32, ptr addrspace(4) %scalar_address{0}, align 4, !invariant.load !0
)",
                        number);
  text += R"(
  store i32 %w, ptr addrspace(3) %to_local, align 4
  store i32 %w, ptr addrspace(1) %to, align 4
)";
  return text;
}

std::string uses_after(const Generation& generation, const std::string& operation, size_t number) {
  std::string text = fmt::format("  %sum{0} = add i32 %a{0}, %b{0}\n", number);
  std::string sum = fmt::format("%sum{}", number);
  const auto add = [&](const std::string& value, const char* name) {
    text += fmt::format("  %{0}{1} = add i32 {2}, {3}\n", name, number, sum, value);
    sum = fmt::format("%{}{}", name, number);
  };
  if (operation.starts_with("%r")) add(fmt::format("%r{}", number), "with_result");
  if (generation.find(Counter::sample) != nullptr) {
    text += fmt::format("  %sample_bits{0} = bitcast float %sample{0} to i32\n", number);
    add(fmt::format("%sample_bits{}", number), "with_sample");
    // All of the result: registers that nobody reads could be used by the operation, which would wait for them.
    for (const int part : {0, 1, 2, 3}) {
      text += fmt::format("  %hit{1}_{0} = extractelement <4 x i32> %ray{0}, i32 {1}\n", number, part);
      add(fmt::format("%hit{1}_{0}", number, part), fmt::format("with_ray{}_", part).c_str());
    }
    add(fmt::format("%k{}", number), "with_scalar");
  }
  return text + fmt::format("  store i32 {}, ptr addrspace(1) %to, align 4\n", sum) +
         "  call void asm sideeffect \"; DONE\", \"\"()\n";
}

std::string ir_of(const CompiledTarget& target, const std::vector<Operation>& operations) {
  const Generation& generation = generation_of(target);
  std::string text = "target triple = \"amdgcn-amd-amdhsa\"\n";
  size_t number = 0;
  for (const Operation& each : operations) {
    if (!is_there(generation, each, target)) continue;
    if (number % operations_in_a_function == 0) {
      if (number != 0) text += "  ret void\n}\n";
      text += fmt::format(
          "define void @operations{}(ptr addrspace(1) %from, ptr addrspace(1) %to, ptr addrspace(3) %from_local, "
          "ptr addrspace(3) %to_local, ptr %p0, ptr addrspace(1) %p1, ptr addrspace(3) %p3, ptr addrspace(5) %p5, "
          "i32 %w, float %s, i64 %node, <3 x float> %v3, <8 x i32> inreg %image, <4 x i32> inreg %sampler, "
          "ptr addrspace(4) inreg %constant) {{\n",
          number);
    }
    const std::string operation = ir_of(each, number);
    text += accesses_before(generation, number);
    text += fmt::format("  call void asm sideeffect \"; BEGIN {}\", \"\"()\n  {}\n", to_string(each), operation);
    text += "  call void asm sideeffect \"; END\", \"\"()\n";
    text += uses_after(generation, operation, number);
    ++number;
  }
  return text + R"(  ret void
}
!0 = !{}
!1 = !{i32 1}
!2 = !{!"amdgpu-synchronize-as", !"global"}
!3 = !{!"amdgpu-synchronize-as", !"local"}
)";
}

/// The counters that a wait has become zero: "s_waitcnt vmcnt(0) lgkmcnt(0)", "s_wait_loadcnt_dscnt 0x0". Waits for
/// other numbers are about registers, not about memory.
Counters waits_of(const Generation& generation, const std::string& line) {
  Counters counters = 0;
  if (!line.starts_with("s_wait")) return counters;
  for (const CounterFact& each : generation.counters) {
    const bool waits = line.starts_with("s_waitcnt ") ? line.find(fmt::format("{}(0)", each.name)) != std::string::npos
                       : line.starts_with("s_waitcnt_")
                           ? line == generation.wait_text(each)
                           : line.ends_with(" 0x0") && line.find(fmt::format("_{}", each.name)) != std::string::npos;
    if (waits) counters |= mask(each.counter);
  }
  return counters;
}

/// The mnemonic and the cache policy of an instruction that accesses memory or caches; empty for any other.
std::string instruction_of(const std::string& line) {
  static constexpr std::array memory = {"buffer_", "global_", "flat_", "scratch_", "ds_"};
  static const std::regex policy("glc|slc|dlc|sc0|sc1|nt|scope:.*|th:.*");
  std::istringstream words(line);
  std::string mnemonic, word, text;
  words >> mnemonic;
  if (std::ranges::none_of(memory, [&](const char* prefix) { return mnemonic.starts_with(prefix); })) return {};
  text = mnemonic;
  while (words >> word)
    if (std::regex_match(word, policy)) text += " " + word;
  return text;
}

void add_wait(Slots& slots, Counters waits) {
  if (slots.empty() || !slots.back().instruction.empty()) slots.emplace_back();
  slots.back().waits |= waits;
}

void add_instruction(Slots& slots, const std::string& instruction) {
  if (slots.empty() || !slots.back().instruction.empty()) slots.emplace_back();
  slots.back().instruction = instruction;
}

std::string counter_names(const Generation& generation, Counters counters) {
  std::string text;
  for (const CounterFact& each : generation.counters)
    if (has(counters, each.counter)) text += fmt::format("{}{}", text.empty() ? "" : ", ", each.name);
  return text;
}

}  // namespace

std::string CompiledTarget::name() const {
  std::string text = processor + options;
  std::erase(text, ' ');
  return std::regex_replace(text, std::regex("-m"), "_");
}

Slots slots_of(const std::vector<Step>& steps) {
  Slots slots;
  for (const Step& step : steps) {
    if (step.waits != 0) {
      add_wait(slots, step.waits);
    } else {
      add_instruction(slots, step.instruction);
    }
  }
  return slots;
}

std::map<std::string, Slots> compile_operations(const CompiledTarget& target,
                                                const std::vector<Operation>& operations) {
  const TemporaryDirectory directory;
  write_file(directory / "operations.ll", ir_of(target, operations));
  const CommandResult run = run_command(
      fmt::format("clang-22 -x ir -target amdgcn-amd-amdhsa -mcpu={} {} -nogpulib -O1 -Xclang -disable-llvm-passes -S "
                  "-o - {} 2>&1",
                  target.processor, target.options, directory / "operations.ll"));
  if (run.exit_code != 0) {
    fmt::print(stderr, "{}\n", run.output);
    return {};
  }
  std::map<std::string, Slots> compiled;
  std::istringstream lines(run.output);
  std::string line;
  Slots* current = nullptr;
  while (std::getline(lines, line)) {
    line.erase(0, line.find_first_not_of(" \t"));
    if (line.starts_with("; BEGIN ")) current = &compiled[line.substr(8)];
    if (line.starts_with("; END")) current = nullptr;
    if (current == nullptr) continue;
    if (const size_t comment = line.find(';'); comment != std::string::npos) line.erase(comment);
    line.erase(line.find_last_not_of(" \t") + 1);
    if (const Counters waits = waits_of(generation_of(target), line); waits != 0) {
      add_wait(*current, waits);
    } else if (const std::string instruction = instruction_of(line); !instruction.empty()) {
      add_instruction(*current, instruction);
    }
  }
  return compiled;
}

std::vector<std::string> differences(const Generation& generation, const Slots& table, const Slots& compiled) {
  std::vector<std::string> texts;
  size_t at = 0;
  for (size_t i = 0; i < table.size() || at < compiled.size(); ++i) {
    const Slot mine = i < table.size() ? table[i] : Slot{};
    const Slot its = at < compiled.size() ? compiled[at] : Slot{};
    ++at;
    if (mine.instruction != its.instruction)
      texts.push_back(fmt::format("has '{}' for '{}'", its.instruction, mine.instruction));
    const std::string place = mine.instruction.empty() ? "at the end" : fmt::format("before {}", mine.instruction);
    if (const Counters more = its.waits & ~mine.waits; more != 0)
      texts.push_back(fmt::format("waits for {} {}", counter_names(generation, more), place));
    if (const Counters less = mine.waits & ~its.waits; less != 0)
      texts.push_back(fmt::format("does not wait for {} {}", counter_names(generation, less), place));
  }
  return texts;
}

}  // namespace Atoll::test
