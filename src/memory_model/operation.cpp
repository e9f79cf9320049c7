// memory_model: names of memory operations, and the list of all of them. See operation.h.
#include "memory_model/operation.h"

#include <algorithm>
#include <array>
#include <optional>
#include <ranges>
#include <span>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace Atoll::memory_model {

namespace {

using support::ErrorKind;
using support::fail;
using support::Result;

template <typename T>
struct Word {
  std::string_view text;
  T value;
};

constexpr Word<Order> orders[] = {{"unordered", Order::unordered}, {"monotonic", Order::monotonic},
                                  {"acquire", Order::acquire},     {"release", Order::release},
                                  {"acq_rel", Order::acq_rel},     {"seq_cst", Order::seq_cst}};
constexpr Word<Order> other_orders[] = {{"relaxed", Order::monotonic}};  // the C and C++ name

constexpr Word<Scope> scopes[] = {
    {"singlethread", Scope::singlethread}, {"wavefront", Scope::wavefront}, {"workgroup", Scope::workgroup},
    {"cluster", Scope::cluster},           {"agent", Scope::agent},         {"system", Scope::system}};

constexpr Word<Space> spaces[] = {
    {"global", Space::global}, {"generic", Space::generic}, {"local", Space::local}, {"private", Space::private_}};
constexpr Word<Space> other_spaces[] = {{"flat", Space::generic}, {"lds", Space::local}, {"scratch", Space::private_}};

constexpr Word<Access> accesses[] = {
    {"load", Access::load}, {"store", Access::store}, {"atomicrmw", Access::rmw}, {"fence", Access::fence}};
constexpr Word<Access> other_accesses[] = {{"rmw", Access::rmw}, {"cmpxchg", Access::rmw}};

constexpr std::string_view one_address_space_suffix = "-one-as";
/// LLVM's name of the system scope of one address space has no scope in it.
constexpr std::string_view system_one_address_space = "one-as";

template <typename T>
std::optional<T> find(std::span<const Word<T>> words, std::span<const Word<T>> others, std::string_view text) {
  for (const std::span<const Word<T>> list : {words, others}) {
    const auto found = std::ranges::find(list, text, &Word<T>::text);
    if (found != list.end()) return found->value;
  }
  return std::nullopt;
}

template <typename T>
std::string list(std::span<const Word<T>> words) {
  return fmt::format("{}", fmt::join(words | std::views::transform(&Word<T>::text), ", "));
}

std::string accepted_words() {
  return fmt::format(
      "an operation ({}, with no-return for an atomicrmw whose result is not used), an order ({}), a scope ({}, each "
      "but "
      "system also with {}, or {}) and an address space ({}); loads and stores without an order may be volatile, "
      "nontemporal or last-use",
      list<Access>(accesses), list<Order>(orders), list<Scope>(scopes), one_address_space_suffix,
      system_one_address_space, list<Space>(spaces));
}

/// What has been read so far.
struct Words {
  std::optional<Access> access;
  std::optional<Order> order;
  std::optional<Scope> scope;
  std::optional<Space> space;
  bool one_address_space = false, atomic = false, no_return = false;
  bool is_volatile = false, nontemporal = false, last_use = false;
};

template <typename T>
Result<void> take(std::optional<T>& into, T value, std::string_view word, const char* what) {
  if (into) return fail(ErrorKind::invalid_argument, "'{}' is a second {}: an operation has one", word, what);
  into = value;
  return {};
}

Result<void> read_word(Words& words, std::string_view word) {
  if (word == "atomic") return words.atomic = true, Result<void>();
  if (word == "no-return") return words.no_return = true, Result<void>();
  if (word == "volatile") return words.is_volatile = true, Result<void>();
  if (word == "nontemporal") return words.nontemporal = true, Result<void>();
  if (word == "last-use") return words.last_use = true, Result<void>();
  if (const auto access = find<Access>(accesses, other_accesses, word))
    return take(words.access, *access, word, "operation");
  if (const auto order = find<Order>(orders, other_orders, word)) return take(words.order, *order, word, "order");
  if (const auto space = find<Space>(spaces, other_spaces, word))
    return take(words.space, *space, word, "address space");
  std::string_view scope = word;
  if (scope == system_one_address_space) {
    words.one_address_space = true;
    return take(words.scope, Scope::system, word, "scope");
  }
  if (scope.ends_with(one_address_space_suffix)) {
    scope.remove_suffix(one_address_space_suffix.size());
    words.one_address_space = true;
  }
  if (const auto found = find<Scope>(scopes, {}, scope); found && (*found != Scope::system || !words.one_address_space))
    return take(words.scope, *found, word, "scope");
  return fail(ErrorKind::invalid_argument, "'{}' is not part of a memory operation, which consists of {}", word,
              accepted_words());
}

/// The orders that an access can have.
std::span<const Order> orders_of(Access access) {
  static constexpr std::array load = {Order::unordered, Order::monotonic, Order::acquire, Order::seq_cst};
  static constexpr std::array store = {Order::unordered, Order::monotonic, Order::release, Order::seq_cst};
  static constexpr std::array rmw = {Order::monotonic, Order::acquire, Order::release, Order::acq_rel, Order::seq_cst};
  static constexpr std::array fence = {Order::acquire, Order::release, Order::acq_rel, Order::seq_cst};
  switch (access) {
    case Access::load:
      return load;
    case Access::store:
      return store;
    case Access::fence:
      return fence;
    case Access::rmw:
    case Access::rmw_no_return:
      break;
  }
  return rmw;
}

std::string_view word_of(Access access) {
  return std::ranges::find(accesses, access == Access::rmw_no_return ? Access::rmw : access, &Word<Access>::value)
      ->text;
}

Result<void> check_order(const Words& words, const Operation& operation) {
  const bool may_be_plain = operation.access == Access::load || operation.access == Access::store;
  if (!operation.atomic() && may_be_plain && !words.atomic && !words.scope) return {};
  const std::span<const Order> possible = orders_of(operation.access);
  if (std::ranges::find(possible, operation.order) != possible.end()) return {};
  const std::string names =
      fmt::format("{}", fmt::join(possible | std::views::transform([](Order each) { return name(each); }), ", "));
  if (!operation.atomic())
    return fail(ErrorKind::invalid_argument, "the {} lacks its order: {}", word_of(operation.access), names);
  return fail(ErrorKind::invalid_argument, "a {} cannot be {}: {}", word_of(operation.access), name(operation.order),
              names);
}

Result<void> check_rest(const Words& words, const Operation& operation) {
  const std::string_view access = word_of(operation.access);
  if (operation.atomic() && !words.scope)
    return fail(ErrorKind::invalid_argument, "the {} {} lacks its scope: {}", name(operation.order), access,
                list<Scope>(scopes));
  const bool fence = operation.access == Access::fence;
  if (!fence && !words.space)
    return fail(ErrorKind::invalid_argument, "the {} lacks its address space: {}", access, list<Space>(spaces));
  if (fence && words.space && *words.space != Space::global && *words.space != Space::local)
    return fail(ErrorKind::invalid_argument,
                "a fence cannot be restricted to {} memory: only to global or local, or it orders all",
                name(*words.space));
  if (words.no_return && operation.access != Access::rmw_no_return)
    return fail(ErrorKind::invalid_argument, "no-return is said of an atomicrmw, not of a {}", access);
  if ((words.is_volatile || words.nontemporal || words.last_use) && (operation.atomic() || fence))
    return fail(ErrorKind::invalid_argument,
                "volatile, nontemporal and last-use are said of loads and stores that are not atomic");
  if (words.last_use && operation.access != Access::load)
    return fail(ErrorKind::invalid_argument, "last-use requires a load");
  if (words.last_use && (words.is_volatile || words.nontemporal))
    return fail(ErrorKind::invalid_argument, "a load is either last-use or volatile or nontemporal");
  return {};
}

}  // namespace

std::string_view name(Order order) {
  const auto found = std::ranges::find(orders, order, &Word<Order>::value);
  return found == std::end(orders) ? "" : found->text;
}

std::string_view name(Scope scope) { return std::ranges::find(scopes, scope, &Word<Scope>::value)->text; }

std::string_view name(Space space) {
  const auto found = std::ranges::find(spaces, space, &Word<Space>::value);
  return found == std::end(spaces) ? "all" : found->text;
}

std::string to_string(const Operation& operation) {
  std::string text;
  if (operation.atomic() && operation.access <= Access::store) text += "atomic ";
  text += word_of(operation.access);
  if (operation.access == Access::rmw_no_return) text += " no-return";
  if (operation.is_volatile) text += " volatile";
  if (operation.nontemporal) text += " nontemporal";
  if (operation.last_use) text += " last-use";
  if (operation.atomic()) {
    text += fmt::format(" {} ", name(operation.order));
    if (operation.one_address_space && operation.scope == Scope::system) {
      text += system_one_address_space;
    } else {
      text += name(operation.scope);
      if (operation.one_address_space) text += one_address_space_suffix;
    }
  }
  if (operation.space != Space::all) text += fmt::format(" {}", name(operation.space));
  return text;
}

Result<Operation> parse_operation(std::string_view text) {
  Words words;
  size_t at = 0;
  while ((at = text.find_first_not_of(" \t", at)) != std::string_view::npos) {
    const size_t end = std::min(text.find_first_of(" \t", at), text.size());
    if (auto read = read_word(words, text.substr(at, end - at)); !read) return std::unexpected(read.error());
    at = end;
  }
  if (!words.access)
    return fail(ErrorKind::invalid_argument, "'{}' names no operation: a memory operation consists of {}", text,
                accepted_words());
  Operation operation{.access = *words.access,
                      .order = words.order.value_or(Order::not_atomic),
                      .scope = words.scope.value_or(Scope::system),
                      .one_address_space = words.one_address_space,
                      .space = words.space.value_or(Space::all),
                      .is_volatile = words.is_volatile,
                      .nontemporal = words.nontemporal,
                      .last_use = words.last_use};
  if (operation.access == Access::rmw && words.no_return) operation.access = Access::rmw_no_return;
  if (auto checked = check_order(words, operation); !checked) return std::unexpected(checked.error());
  if (auto checked = check_rest(words, operation); !checked) return std::unexpected(checked.error());
  return operation;
}

std::vector<Operation> every_operation() {
  std::vector<Operation> all;
  const auto add_scopes = [&](Operation operation) {
    for (const bool one_address_space : {false, true}) {
      for (const Word<Scope>& scope : scopes) {
        operation.scope = scope.value;
        operation.one_address_space = one_address_space;
        all.push_back(operation);
      }
    }
  };
  for (const Access access : {Access::load, Access::store}) {
    for (const Word<Space>& space : spaces) {
      const Operation plain{.access = access, .space = space.value};
      all.push_back(plain);
      for (const bool is_volatile : {false, true}) {
        for (const bool nontemporal : {false, true}) {
          Operation marked = plain;
          marked.is_volatile = is_volatile;
          marked.nontemporal = nontemporal;
          if (marked != plain) all.push_back(marked);
        }
      }
      if (access == Access::store) continue;
      all.push_back(plain);
      all.back().last_use = true;
    }
  }
  for (const Access access : {Access::load, Access::store, Access::rmw, Access::rmw_no_return}) {
    for (const Order order : orders_of(access))
      for (const Word<Space>& space : spaces) add_scopes({.access = access, .order = order, .space = space.value});
  }
  for (const Order order : orders_of(Access::fence))
    for (const Space space : {Space::all, Space::global, Space::local})
      add_scopes({.access = Access::fence, .order = order, .space = space});
  return all;
}

}  // namespace Atoll::memory_model
