// codegen: the memory model: what stands before and behind an access or a fence so that other waves see it in order.
//
// The room memory_model has the code sequence of each operation on each generation. Waits are no part of what is made
// here: emission waits after each access. Cache operations are, and the cache policy of the access itself. Source: user
// guide, "Memory Model".
#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "codegen/selector.h"
#include "isa/table.h"

namespace Atoll::codegen {

namespace model = memory_model;

namespace {

model::Order order_of(llvm::AtomicOrdering ordering) {
  switch (ordering) {
    case llvm::AtomicOrdering::NotAtomic:
      return model::Order::not_atomic;
    case llvm::AtomicOrdering::Unordered:
      return model::Order::unordered;
    case llvm::AtomicOrdering::Monotonic:
      return model::Order::monotonic;
    case llvm::AtomicOrdering::Acquire:
      return model::Order::acquire;
    case llvm::AtomicOrdering::Release:
      return model::Order::release;
    case llvm::AtomicOrdering::AcquireRelease:
      return model::Order::acq_rel;
    default:
      return model::Order::seq_cst;
  }
}

model::Space space_of(unsigned address_space) {
  switch (address_space) {
    case 0:
      return model::Space::generic;
    case 3:
      return model::Space::local;
    case 5:
      return model::Space::private_;
    default:
      return model::Space::global;
  }
}

}  // namespace

model::Operation Selector::memory_operation(const llvm::Instruction& at, model::Access access,
                                            llvm::AtomicOrdering ordering, llvm::SyncScope::ID scope,
                                            unsigned address_space) {
  model::Operation operation{.access = access, .order = order_of(ordering), .space = space_of(address_space)};
  if (const auto name = at.getContext().getSyncScopeName(scope); operation.atomic() && name) {
    llvm::StringRef text = *name;
    operation.one_address_space = text.consume_back("one-as");
    text.consume_back("-");
    constexpr std::pair<std::string_view, model::Scope> scopes[] = {{"", model::Scope::system},
                                                                    {"agent", model::Scope::agent},
                                                                    {"cluster", model::Scope::cluster},
                                                                    {"workgroup", model::Scope::workgroup},
                                                                    {"wavefront", model::Scope::wavefront},
                                                                    {"singlethread", model::Scope::singlethread}};
    const auto known = std::ranges::find(scopes, std::string_view(text.data(), text.size()),
                                         &std::pair<std::string_view, model::Scope>::first);
    if (known == std::end(scopes))
      refuse(at, fmt::format("synchronization scope {}", name->str()));
    else
      operation.scope = known->second;
  }
  if (!operation.atomic()) {
    operation.is_volatile = at.isVolatile();
    operation.nontemporal = at.hasMetadata(llvm::LLVMContext::MD_nontemporal);
  }
  return operation;
}

void Selector::cache_operation(const std::string& text) {
  to_.texts.push_back(text);
  pseudo(Pseudo::cache, 0, {MachineOperand::constant_of(to_.texts.size() - 1)});
}

void Selector::in_order(const llvm::Instruction& at, const model::Operation& operation,
                        const std::function<void()>& access) {
  if (!operation.atomic() && !operation.is_volatile && !operation.nontemporal) return access();
  const auto steps = model::sequence(model::generation_of(*to_.target.processor), operation);
  if (!steps) return refuse(at, fmt::format("{}: {}", model::to_string(operation), steps.error().message));
  if (operation.access == model::Access::fence) access();
  for (const model::Step& step : *steps) {
    switch (step.kind) {
      case model::StepKind::access: {
        const size_t first = to_.blocks[block_].instructions.size();
        access();
        for (size_t i = first; i < to_.blocks[block_].instructions.size(); ++i)
          set_cache_policy(to_.blocks[block_].instructions[i], step.instruction);
        break;
      }
      case model::StepKind::write_back:
      case model::StepKind::invalidate:
        cache_operation(step.instruction);
        break;
      default:
        break;
    }
  }
}

void Selector::set_cache_policy(MachineInstruction& to, const std::string& example) {
  if (to.pseudo != Pseudo::none || !isa::row(to.opcode).has(isa::flag::memory) ||
      choice_.place(to.opcode) == Place::lds)
    return;
  std::istringstream words(example);
  for (std::string word; words >> word;) {
    if (word == "glc" || word == "sc0")
      to.glc = true;
    else if (word == "slc" || word == "nt")
      to.slc = true;
    else if (word == "dlc")
      to.dlc = true;
    else if (word == "scc" || word == "sc1")
      to.scc = true;
    else if (word == "scope:SCOPE_SE")
      to.scope = 1;
    else if (word == "scope:SCOPE_DEV")
      to.scope = 2;
    else if (word == "scope:SCOPE_SYS")
      to.scope = 3;
    else if (word == "th:TH_LOAD_NT" || word == "th:TH_STORE_NT")
      to.temporal_hint = 1;
  }
}

}  // namespace Atoll::codegen
