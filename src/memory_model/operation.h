// memory_model: the memory model of the AMDGPU targets as data: what code a memory operation needs so that other waves
// see it in order, and what the caches and counters behind it do. It knows nothing of engines.
//
// This file: the operations that the model speaks of, as LLVM IR has them: an access or a fence with its memory order,
// its synchronization scope and its address space; and their names, read and written.
// Source: user guide, "Memory Scopes" and "Memory Model".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "support/error.h"

namespace Atoll::memory_model {

enum class Access : uint8_t {
  load,
  store,
  rmw,            ///< atomicrmw or cmpxchg that returns the old value
  rmw_no_return,  ///< one whose result nobody uses: counted as a store on targets that count stores apart
  fence
};

enum class Order : uint8_t { not_atomic, unordered, monotonic, acquire, release, acq_rel, seq_cst };

/// Who has to see the operation in order. In the order of inclusion: a wider scope is a greater value.
enum class Scope : uint8_t { singlethread, wavefront, workgroup, cluster, agent, system };

enum class Space : uint8_t {
  all,  ///< of a fence that is not restricted to one (amdgpu-synchronize-as)
  global,
  generic,  ///< a flat address: global, local or private memory
  local,    ///< LDS
  private_  ///< scratch
};

struct Operation {
  Access access = Access::load;
  Order order = Order::not_atomic;
  Scope scope = Scope::system;     ///< of an atomic operation or a fence
  bool one_address_space = false;  ///< LLVM's scopes "agent-one-as" etc.: orders its own address space only
  Space space = Space::global;
  bool is_volatile = false, nontemporal = false, last_use = false;  ///< of a load or store that is not atomic

  bool operator==(const Operation&) const = default;
  constexpr bool atomic() const { return order != Order::not_atomic; }
  constexpr bool acquires() const {
    return order == Order::acquire || order == Order::acq_rel || order == Order::seq_cst;
  }
  constexpr bool releases() const {
    return order == Order::release || order == Order::acq_rel || order == Order::seq_cst;
  }
};

std::string_view name(Order order);
std::string_view name(Scope scope);
std::string_view name(Space space);

/// "atomic load acquire agent global", "store volatile generic", "fence release workgroup": the form that
/// parse_operation() reads.
std::string to_string(const Operation& operation);

/// Reads an operation from words in any order. An error names the word that is wrong or missing and lists those that
/// could be there.
support::Result<Operation> parse_operation(std::string_view text);

/// Every operation there is, each once: what a table of the model has a row for.
std::vector<Operation> every_operation();

}  // namespace Atoll::memory_model
