// memory_model: litmus tests: small programs of several threads, and the outcomes that the memory model allows.
//
// A test is text, in columns as in the literature:
//
//     litmus MP
//     "Message passing: a thread that sees the flag also sees the data"
//     scopes (agent (workgroup P0) (workgroup P1))
//     init x=0 y=0
//     P0                      | P1
//     store x 1               | r0 = load y acquire agent
//     store y 1 release agent | r1 = load x
//     ~exists P1:r0=1 /\ P1:r1=0
//
// Statements are `store LOCATION VALUE`, `REGISTER = load LOCATION`, `REGISTER = add LOCATION VALUE`, `= exchange`,
// `= cas LOCATION EXPECTED VALUE`, each with an order and a scope if it is atomic; `fence ORDER SCOPE`; and `barrier`,
// the work-group's. A VALUE is a number or a register of the thread. Without `scopes` each thread is in a work-group of
// its own, on one agent. The last line is a condition on registers and on the locations' last values: `exists` where
// the model allows it, `~exists` where it forbids it, or the word `race` where the program has a data race and so no
// meaning.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "memory_model/operation.h"
#include "support/error.h"

namespace Atoll::memory_model {

enum class LitmusAction : uint8_t { load, store, add, exchange, compare_exchange, fence, barrier };

struct LitmusValue {
  bool is_register = false;
  unsigned register_number = 0;  ///< of the thread
  int64_t number = 0;
};

struct LitmusStatement {
  LitmusAction action = LitmusAction::load;
  Order order = Order::not_atomic;
  Scope scope = Scope::system;
  unsigned location = 0;
  std::optional<unsigned> result;  ///< the register
  LitmusValue expected, value;     ///< expected: of a compare_exchange
  std::string text;
};

struct LitmusThread {
  std::string name;
  std::array<unsigned, 6> instance{};  ///< of each Scope: threads with the same number share it
  std::vector<std::string> registers;
  std::vector<LitmusStatement> statements;
};

/// What an execution leaves: values of all threads' registers, one after the other, then of all locations.
using LitmusOutcome = std::vector<int64_t>;

struct LitmusCondition {
  enum class Kind : uint8_t { equal, both, either } kind = Kind::equal;
  unsigned index = 0;  ///< in an outcome
  int64_t number = 0;
  std::vector<LitmusCondition> parts;

  bool holds(const LitmusOutcome& outcome) const;
};

enum class LitmusExpectation : uint8_t { allowed, forbidden, race };

struct LitmusTest {
  std::string name, description;
  std::vector<std::string> locations;
  std::vector<int64_t> initial;
  std::vector<LitmusThread> threads;
  LitmusExpectation expectation = LitmusExpectation::allowed;
  std::optional<LitmusCondition> condition;  ///< none for a race
  std::string condition_text;

  /// "P1:r0" and "x": the names of an outcome's values.
  std::vector<std::string> outcome_names() const;
  /// Whether each of two threads is in the other operation's scope.
  bool inclusive(unsigned thread, Scope scope, unsigned other_thread, Scope other_scope) const;
};

/// Errors say in which line, and what could be there.
support::Result<LitmusTest> parse_litmus(std::string_view text);

struct LitmusResult {
  std::vector<LitmusOutcome> outcomes;  ///< that the model allows, in order, each once
  std::optional<std::string> race;      ///< two accesses that race: then it allows everything
  uint64_t candidates = 0;              ///< executions that were looked at

  /// Whether the test's expectation is met.
  bool as_expected(const LitmusTest& test) const;
};

/// Looks at every execution. An error if there are too many of them, or too many statements.
support::Result<LitmusResult> enumerate_outcomes(const LitmusTest& test);

}  // namespace Atoll::memory_model
