// memory_model: makes the code sequence of an operation from the table of generations.
//
// What an order means is the same on every generation: a release makes earlier accesses complete before its own, an
// acquire completes before later ones and makes them read anew, and a sequentially consistent load waits for such
// stores before it. Which counters and caches that takes is the table's.
#include "memory_model/sequence.h"

#include <fmt/format.h>

namespace Atoll::memory_model {

namespace {

using support::ErrorKind;
using support::fail;
using support::Result;

bool reaches_vector_memory(Space space) { return space != Space::local; }
bool reaches_lds(Space space) { return space == Space::local || space == Space::generic || space == Space::all; }

class Builder {
 public:
  Builder(const Generation& generation, const Operation& operation, const Placement& placement)
      : generation_(generation), operation_(operation), placement_(placement) {
    // LDS belongs to a work-group, so that a wider scope means nothing more there.
    if (operation_.space == Space::local && operation_.access != Access::fence)
      operation_.scope = std::min(operation_.scope, Scope::workgroup);
    if (operation_.space == Space::private_ && operation_.atomic() && generation.private_atomics)
      operation_.space = Space::generic;
    rule_ = generation.rule(operation_.scope, placement);
  }

  std::vector<Step> build() {
    if (operation_.access == Access::fence) {
      fence();
    } else if (!operation_.atomic() || operation_.order == Order::unordered || operation_.space == Space::private_) {
      plain_access();
    } else {
      atomic_access();
    }
    return std::move(steps_);
  }

 private:
  // What an ordering operation has to do with each kind of memory. One that orders its own address space only has
  // nothing to do for LDS, whose accesses are done in one order that all waves see.
  bool orders_vector_memory() const { return !operation_.one_address_space || reaches_vector_memory(operation_.space); }
  bool orders_lds() const { return !operation_.one_address_space && !placement_.split_work_groups; }
  bool fence_orders(Space space) const { return operation_.space == Space::all || operation_.space == space; }

  Counters load_counter() const { return mask(Counter::load); }
  Counters store_counter() const {
    return generation_.find(Counter::store) != nullptr ? mask(Counter::store) : mask(Counter::load);
  }
  /// Everything of vector memory that can be under way.
  Counters all_vector_counters() const {
    Counters counters = load_counter() | store_counter();
    for (const Counter each : {Counter::sample, Counter::bvh})
      if (generation_.find(each) != nullptr) counters |= mask(each);
    return counters;
  }

  void add(StepKind kind, isa::Opcode opcode, const CachePolicy& policy, std::string reason) {
    steps_.push_back({kind, opcode, policy, generation_.text(opcode, policy), 0, std::move(reason)});
  }

  void wait(Counters counters, const std::string& reason) { wait(counters, reason, reason); }

  /// One s_waitcnt for the counters that it has in common, an instruction each for the others.
  void wait(Counters counters, const std::string& reason, const std::string& lds_reason) {
    size_t joint = steps_.size();  // where the s_waitcnt is, once there is one
    bool is_joint = false;
    for (const CounterFact& each : generation_.counters) {
      if (!has(counters, each.counter)) continue;
      const std::string& why = each.counter == Counter::lds ? lds_reason : reason;
      const bool joins = each.wait == isa::Opcode::s_waitcnt;
      if (joins && is_joint) {
        Step& step = steps_[joint];
        step.instruction += fmt::format(" {}(0)", each.name);
        step.waits |= mask(each.counter);
        if (step.reason != why) step.reason += fmt::format("; {}", why);
        continue;
      }
      steps_.push_back({StepKind::wait, each.wait, {}, generation_.wait_text(each), mask(each.counter), why});
      if (joins) joint = steps_.size() - 1, is_joint = true;
    }
  }

  void cache_operations(StepKind kind, std::span<const CacheOperation> list, std::string_view what,
                        std::string_view why) {
    for (const CacheOperation& each : list) {
      add(kind, each.opcode, each.policy, fmt::format("{} ({}): {}", what, each.does, why));
    }
  }

  std::string_view noun() const {
    switch (operation_.access) {
      case Access::load:
        return "the load";
      case Access::store:
        return "the store";
      case Access::rmw:
      case Access::rmw_no_return:
        return "the atomic";
      case Access::fence:
        break;
    }
    return "what follows the fence";
  }

  const AccessOpcodes& opcodes() const {
    switch (operation_.space) {
      case Space::generic:
        return generation_.accesses.generic;
      case Space::private_:
        return generation_.accesses.private_;
      case Space::local:
        return generation_.accesses.local;
      default:
        return generation_.accesses.global;
    }
  }

  void access(CachePolicy policy, std::string reason) {
    const AccessOpcodes& all = opcodes();
    switch (operation_.access) {
      case Access::load:
        return add(StepKind::access, all.load, policy, std::move(reason));
      case Access::store:
        return add(StepKind::access, all.store, policy, std::move(reason));
      case Access::rmw:
        if (operation_.space != Space::local) policy = policy | generation_.accesses.returns;
        return add(StepKind::access, all.add_return, policy, std::move(reason));
      case Access::rmw_no_return:
      case Access::fence:
        break;
    }
    add(StepKind::access, all.add, policy, std::move(reason));
  }

  void wait_for_translation() {
    if (generation_.waits_for_translation && reaches_vector_memory(operation_.space))
      wait(mask(Counter::xnack),
           "the addresses of earlier accesses are translated: what has to be done once must not be "
           "repeated with them after a page fault (xnack)");
  }

  void plain_access() {
    const MarkedPolicy& marked = generation_.marked;
    const bool store = operation_.access == Access::store, vector = reaches_vector_memory(operation_.space);
    if (operation_.atomic()) {
      private_or_unordered();
      return;
    }
    CachePolicy policy;
    std::string why;
    if (!vector) {
      access({}, operation_.is_volatile || operation_.nontemporal || operation_.last_use
                     ? "LDS has no caches, and its accesses are done in order"
                     : "");
      return;
    }
    const auto apply = [&](const CachePolicy& bits, std::string_view reason) {
      policy = policy | bits;
      if (bits.empty() && store) reason = "stores are written through the inner caches";
      why += fmt::format("{}{}", why.empty() ? "" : "; ", reason);
    };
    if (operation_.last_use) apply(marked.last_use, marked.why_last_use);
    if (operation_.nontemporal && (marked.combined || !operation_.is_volatile))
      apply(store ? marked.nontemporal_store : marked.nontemporal_load, marked.why_nontemporal);
    if (operation_.is_volatile) {
      apply(store ? marked.volatile_store : marked.volatile_load, marked.why_volatile);
      wait_for_translation();
      if (store && generation_.waits_before_system_store)
        wait(all_vector_counters() | mask(Counter::scalar),
             "earlier accesses have completed: a store that goes through to the system must not come before them");
    }
    access(policy, why);
    if (operation_.is_volatile)
      wait(store ? store_counter() : load_counter(),
           "volatile accesses are seen outside the program in their order: each completes before the next");
  }

  /// Atomic, but nothing has to be ordered.
  void private_or_unordered() {
    if (operation_.space == Space::private_) {
      const std::string_view reason =
          "nobody else has this memory, so that no access to it needs to be atomic or ordered";
      if (operation_.access == Access::load || operation_.access == Access::store) {
        access({}, std::string(reason));
        return;
      }
      operation_.access = Access::load;
      access({}, fmt::format("{}: the old value is read", reason));
      operation_.access = Access::store;
      access({}, "the new value is written");
      return;
    }
    if (operation_.access == Access::store) wait_for_translation();
    access({}, "an unordered access is non-atomic");
  }

  void atomic_access() {
    const bool load = operation_.access == Access::load;
    if (operation_.releases() && !load) release();
    if (operation_.order == Order::seq_cst && load) wait_for_sequential_consistency();
    if (!load) wait_for_translation();
    CachePolicy policy;
    if (rule_ != nullptr && reaches_vector_memory(operation_.space))
      policy = load ? rule_->load : operation_.access == Access::store ? rule_->store : rule_->rmw;
    access(policy, access_reason(policy));
    if (operation_.acquires() && operation_.access != Access::store) acquire();
  }

  std::string access_reason(const CachePolicy& policy) const {
    if (!reaches_vector_memory(operation_.space)) return "LDS has no caches";
    if (!policy.empty()) return std::string(rule_->why_policy);
    if (rule_ == nullptr) return "lanes of a wave use the same caches, and its accesses to an address are in order";
    if (operation_.access == Access::load) return std::string(rule_->why_wait);
    return operation_.access == Access::store ? "stores are written through the inner caches"
                                              : "atomics are done in L2, past the inner caches";
  }

  std::string vector_wait_reason(std::string_view what) const { return fmt::format("{}: {}", what, rule_->why_wait); }

  void release() {
    if (rule_ == nullptr) return;
    const bool vector = orders_vector_memory();
    if (vector && !rule_->write_back.empty() && reaches_vector_memory(operation_.space)) write_back();
    Counters counters = vector && rule_->release_waits ? all_vector_counters() : Counters(0);
    // An access to LDS does not overtake the wave's earlier ones.
    if (orders_lds() && reaches_vector_memory(operation_.space)) counters |= mask(Counter::lds);
    wait_before(counters);
  }

  void write_back() {
    if (rule_->waits_around)
      wait(load_counter() | store_counter(),
           "earlier stores and atomics have reached L2, so that the write-back takes them along");
    cache_operations(StepKind::write_back, rule_->write_back, "writes back", rule_->why_write_back);
  }

  void wait_before(Counters counters) {
    wait(counters,
         fmt::format("the wave's earlier accesses to vector memory{} have completed before {}: {}",
                     rule_->write_back.empty() ? "" : ", and the write-back,", noun(), rule_->why_wait),
         fmt::format("the wave's earlier accesses to LDS have completed before {}: they are in another queue than "
                     "vector memory's",
                     noun()));
  }

  void wait_for_sequential_consistency() {
    if (rule_ == nullptr) return;
    Counters counters = orders_vector_memory() && rule_->release_waits ? all_vector_counters() : Counters(0);
    if (orders_lds() && reaches_vector_memory(operation_.space)) counters |= mask(Counter::lds);
    wait(counters,
         "earlier seq_cst accesses have completed: acquire alone would let the load overtake a seq_cst store");
  }

  void acquire() {
    if (rule_ == nullptr) return;
    Counters counters = 0;
    if (reaches_vector_memory(operation_.space) && rule_->acquire_waits)
      counters |= operation_.access == Access::rmw_no_return ? store_counter() : load_counter();
    if (reaches_lds(operation_.space) && orders_lds()) counters |= mask(Counter::lds);
    wait(counters, fmt::format("{} has completed before what follows, which then reads nothing older", noun()));
    if (orders_vector_memory()) invalidate();
  }

  void invalidate() {
    cache_operations(StepKind::invalidate, rule_->invalidate, "invalidates", rule_->why_invalidate);
    if (rule_->waits_around)
      wait(load_counter(), "the invalidation has completed: later loads could be done before it");
  }

  void fence() {
    if (rule_ == nullptr) return;
    const bool vector = fence_orders(Space::global);
    const bool lds = fence_orders(Space::local) && orders_lds();
    if (operation_.releases()) {
      if (vector && !rule_->write_back.empty()) write_back();
      wait_before((vector && rule_->release_waits ? all_vector_counters() : Counters(0)) |
                  (lds ? mask(Counter::lds) : Counters(0)));
    } else {
      Counters counters = lds ? mask(Counter::lds) : Counters(0);
      if (vector && rule_->acquire_waits) counters |= load_counter() | store_counter();
      wait(counters, "the atomic access before the fence, with which it acquires, has completed before what follows");
    }
    if (operation_.acquires() && vector) invalidate();
  }

  const Generation& generation_;
  Operation operation_;
  Placement placement_;
  const ScopeRule* rule_ = nullptr;
  std::vector<Step> steps_;
};

}  // namespace

Result<std::vector<Step>> sequence(const Generation& generation, const Operation& operation,
                                   const Placement& placement) {
  if (operation.space == Space::generic && generation.accesses.generic.load == isa::Opcode::invalid)
    return fail(ErrorKind::unsupported, "{} has no flat instructions, so no accesses to generic addresses",
                generation.name);
  if (operation.space == Space::local && operation.access != Access::fence && placement.split_work_groups)
    return fail(ErrorKind::unsupported, "with split work-groups (tgsplit) there is no local memory");
  return Builder(generation, operation, placement).build();
}

}  // namespace Atoll::memory_model
