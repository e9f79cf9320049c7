// memory_model: reads litmus tests. See litmus.h for the format.
#include "memory_model/litmus.h"

#include <algorithm>
#include <charconv>
#include <map>

#include <fmt/format.h>

namespace Atoll::memory_model {

namespace {

using support::ErrorKind;
using support::fail;
using support::Result;

std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

/// Words and signs: "P1:r0=1" is P1 : r0 = 1; /\ and \/ are signs.
std::vector<std::string_view> tokens_of(std::string_view text) {
  std::vector<std::string_view> tokens;
  constexpr std::string_view blanks = " \t\r,;", signs = "()=:", ends = " \t\r,;()=:";
  for (size_t at = 0; (at = text.find_first_not_of(blanks, at)) != std::string_view::npos;) {
    size_t end = at + 1;
    if (signs.find(text[at]) == std::string_view::npos) end = std::min(text.find_first_of(ends, at), text.size());
    tokens.push_back(text.substr(at, end - at));
    at = end;
  }
  return tokens;
}

std::optional<int64_t> number_of(std::string_view word) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return number;
}

bool is_name(std::string_view word) {
  return !word.empty() && (std::isalpha(static_cast<unsigned char>(word[0])) != 0 || word[0] == '_');
}

constexpr Order every_order[] = {Order::unordered, Order::monotonic, Order::acquire,
                                 Order::release,   Order::acq_rel,   Order::seq_cst};
constexpr Scope every_scope[] = {Scope::singlethread, Scope::wavefront, Scope::workgroup,
                                 Scope::cluster,      Scope::agent,     Scope::system};
constexpr size_t max_nested = 64;
/// Of threads, statements and initial values: more than anybody can enumerate, and few enough to look through.
constexpr size_t max_items = 4096;

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Result<LitmusTest> parse() {
    while (!text_.empty()) {
      const size_t end = text_.find('\n');
      std::string_view line = text_.substr(0, end);
      text_ = end == std::string_view::npos ? std::string_view() : text_.substr(end + 1);
      ++line_;
      line = trimmed(line.substr(0, line.find('#')));
      if (line.empty()) continue;
      if (auto read = read_line(line); !read)
        return support::within(fmt::format("line {}", line_), std::move(read.error()));
    }
    if (test_.threads.empty())
      return fail(ErrorKind::invalid_file, "there are no threads: a line 'P0 | P1' begins them");
    if (!ended_) return fail(ErrorKind::invalid_file, "the last line is missing: exists, ~exists or race");
    place_threads();
    return std::move(test_);
  }

 private:
  template <typename... Args>
  static std::unexpected<support::Error> wrong(fmt::format_string<Args...> format, Args&&... args) {
    return fail(ErrorKind::invalid_file, format, std::forward<Args>(args)...);
  }

  Result<void> read_line(std::string_view line) {
    if (ended_) return wrong("something is after the condition, which ends a test");
    const auto tokens = tokens_of(line);
    if (line.front() == '"') return test_.description = line.substr(1, line.rfind('"') - 1), Result<void>();
    if (tokens.empty()) return {};
    if (tokens[0] == "litmus") return test_.name = trimmed(line.substr(6)), Result<void>();
    if (tokens[0] == "scopes") return read_scopes(tokens);
    if (tokens[0] == "init") return read_initial_values(tokens);
    if (tokens[0] == "exists" || tokens[0] == "~exists" || tokens[0] == "race") return read_condition(line, tokens);
    return read_columns(line);
  }

  // The tree of scopes.

  struct Group {
    Scope scope;
    unsigned number;
  };

  Result<void> read_scopes(const std::vector<std::string_view>& tokens) {
    std::vector<Group> groups;
    for (size_t i = 1; i < tokens.size(); ++i) {
      if (tokens[i] == "(") {
        const auto* scope = i + 1 < tokens.size()
                                ? std::ranges::find(every_scope, tokens[i + 1], [](Scope each) { return name(each); })
                                : std::end(every_scope);
        if (scope == std::end(every_scope) || *scope == Scope::singlethread || *scope == Scope::system)
          return wrong("after '(' there should be a scope: agent, cluster, workgroup or wavefront");
        if (!groups.empty() && *scope >= groups.back().scope)
          return wrong("a {} is not inside a {}", name(*scope), name(groups.back().scope));
        groups.push_back({*scope, ++groups_made_});
        ++i;
      } else if (tokens[i] == ")") {
        if (groups.empty()) return wrong("')' without '('");
        groups.pop_back();
      } else if (!groups_.try_emplace(std::string(tokens[i]), groups).second) {
        return wrong("'{}' is there twice", tokens[i]);
      }
    }
    return groups.empty() ? Result<void>() : wrong("')' is missing");
  }

  /// A thread shares what it is placed in. Else it has a work-group and a wave of its own, and the agent is
  /// everybody's.
  void place_threads() {
    for (LitmusThread& thread : test_.threads) {
      const unsigned own = ++groups_made_;
      thread.instance.fill(own);
      thread.instance[static_cast<size_t>(Scope::system)] = 0;
      thread.instance[static_cast<size_t>(Scope::agent)] = 0;
      std::optional<unsigned> cluster;
      for (const Group& group : groups_[thread.name]) {
        thread.instance[static_cast<size_t>(group.scope)] = group.number;
        if (group.scope == Scope::cluster) cluster = group.number;
      }
      // Without clusters that scope is the agent's.
      thread.instance[static_cast<size_t>(Scope::cluster)] =
          cluster.value_or(thread.instance[static_cast<size_t>(Scope::agent)]);
    }
  }

  Result<void> read_initial_values(const std::vector<std::string_view>& tokens) {
    if (tokens.size() > 3 * max_items) return wrong("there are more than {} initial values", max_items);
    for (size_t i = 1; i < tokens.size(); i += 3) {
      const auto number = i + 2 < tokens.size() ? number_of(tokens[i + 2]) : std::nullopt;
      if (!number || tokens[i + 1] != "=" || !is_name(tokens[i])) return wrong("should be init LOCATION=NUMBER ...");
      test_.initial[location(tokens[i])] = *number;
    }
    return {};
  }

  unsigned location(std::string_view name) {
    const auto found = std::ranges::find(test_.locations, name);
    if (found != test_.locations.end()) return static_cast<unsigned>(found - test_.locations.begin());
    test_.locations.emplace_back(name);
    test_.initial.push_back(0);
    return static_cast<unsigned>(test_.locations.size() - 1);
  }

  // Threads.

  Result<void> read_columns(std::string_view line) {
    std::vector<std::string_view> columns;
    for (size_t at = 0; at <= line.size();) {
      const size_t end = std::min(line.find('|', at), line.size());
      std::string_view column = trimmed(line.substr(at, end - at));
      if (column.ends_with(';')) column = trimmed(column.substr(0, column.size() - 1));
      columns.push_back(column);
      at = end + 1;
    }
    statements_ += columns.size();
    if (columns.size() > max_items || statements_ > max_items)
      return wrong("there are more than {} threads or statements", max_items);
    if (test_.threads.empty()) {
      for (const std::string_view name : columns) {
        if (!is_name(name) || tokens_of(name).size() != 1)
          return wrong("'{}' is not a thread's name: a line 'P0 | P1' has to precede the statements", name);
        if (std::ranges::find(test_.threads, name, &LitmusThread::name) != test_.threads.end())
          return wrong("'{}' is there twice", name);
        test_.threads.push_back({.name = std::string(name), .registers = {}, .statements = {}});
      }
      return {};
    }
    if (columns.size() > test_.threads.size())
      return wrong("there are {} columns and {} threads", columns.size(), test_.threads.size());
    for (size_t i = 0; i < columns.size(); ++i) {
      if (columns[i].empty()) continue;
      if (auto read = read_statement(test_.threads[i], columns[i]); !read)
        return support::within(test_.threads[i].name, std::move(read.error()));
    }
    return {};
  }

  static unsigned register_of(LitmusThread& thread, std::string_view name) {
    const auto found = std::ranges::find(thread.registers, name);
    if (found != thread.registers.end()) return static_cast<unsigned>(found - thread.registers.begin());
    thread.registers.emplace_back(name);
    return static_cast<unsigned>(thread.registers.size() - 1);
  }

  Result<LitmusValue> value_of(LitmusThread& thread, std::string_view word) {
    if (const auto number = number_of(word)) return LitmusValue{.number = *number};
    const auto found = std::ranges::find(thread.registers, word);
    if (found == thread.registers.end()) return wrong("'{}' is neither a number nor a register that has a value", word);
    return LitmusValue{.is_register = true, .register_number = register_of(thread, word)};
  }

  Result<void> read_statement(LitmusThread& thread, std::string_view text) {
    struct Form {
      std::string_view word;
      LitmusAction action;
      bool location, expected, value, result;
    };
    static constexpr Form forms[] = {{"load", LitmusAction::load, true, false, false, true},
                                     {"store", LitmusAction::store, true, false, true, false},
                                     {"add", LitmusAction::add, true, false, true, true},
                                     {"exchange", LitmusAction::exchange, true, false, true, true},
                                     {"cas", LitmusAction::compare_exchange, true, true, true, true},
                                     {"fence", LitmusAction::fence, false, false, false, false},
                                     {"barrier", LitmusAction::barrier, false, false, false, false}};
    auto words = tokens_of(text);
    std::string_view result;
    if (words.size() > 2 && words[1] == "=") {
      result = words[0];
      words.erase(words.begin(), words.begin() + 2);
    }
    const auto* form = std::ranges::find(forms, words.empty() ? "" : words[0], &Form::word);
    if (form == std::end(forms))
      return wrong("'{}' is not a statement; use store, load, add, exchange, cas, fence or barrier", text);
    LitmusStatement statement{
        .action = form->action, .result = {}, .expected = {}, .value = {}, .text = std::string(text)};
    const size_t operands = size_t{form->location} + size_t{form->expected} + size_t{form->value};
    if (words.size() < 1 + operands) return wrong("'{}' lacks operands", text);
    size_t at = 1;
    if (form->location) {
      if (!is_name(words[at])) return wrong("'{}' is not a location's name", words[at]);
      statement.location = location(words[at++]);
    }
    for (LitmusValue* into :
         {form->expected ? &statement.expected : nullptr, form->value ? &statement.value : nullptr}) {
      if (into == nullptr) continue;
      auto value = value_of(thread, words[at++]);
      if (!value) return std::unexpected(value.error());
      *into = *value;
    }
    if (auto read = read_order(statement, {words.begin() + static_cast<ptrdiff_t>(at), words.end()}); !read)
      return read;
    if (!result.empty() && (!form->result || !is_name(result))) return wrong("'{}' has no result", words[0]);
    if (result.empty() && form->action == LitmusAction::load) return wrong("a load needs a register: r0 = {}", text);
    if (!result.empty()) statement.result = register_of(thread, result);
    thread.statements.push_back(std::move(statement));
    return {};
  }

  static Result<void> read_order(LitmusStatement& statement, const std::vector<std::string_view>& words) {
    bool has_scope = false;
    for (const std::string_view word : words) {
      const auto* order =
          std::ranges::find(every_order, word == "relaxed" ? "monotonic" : word, [](Order each) { return name(each); });
      const auto* scope = std::ranges::find(every_scope, word, [](Scope each) { return name(each); });
      if (order != std::end(every_order)) {
        statement.order = *order;
      } else if (scope != std::end(every_scope)) {
        statement.scope = *scope;
        has_scope = true;
      } else {
        return wrong("'{}' is neither an order nor a scope", word);
      }
    }
    const bool atomic = statement.order != Order::not_atomic;
    if (statement.action == LitmusAction::barrier)
      return words.empty() ? Result<void>()
                           : wrong("a barrier has no order and no scope: fences before and after it have");
    if (atomic != has_scope) return wrong("an atomic operation needs both an order and a scope");
    const auto is = [&](Order one, Order other) { return statement.order == one || statement.order == other; };
    switch (statement.action) {
      case LitmusAction::load:
        if (is(Order::release, Order::acq_rel)) return wrong("a load cannot be {}", name(statement.order));
        break;
      case LitmusAction::store:
        if (is(Order::acquire, Order::acq_rel)) return wrong("a store cannot be {}", name(statement.order));
        break;
      case LitmusAction::fence:
        if (is(Order::monotonic, Order::unordered) || !atomic)
          return wrong("a fence is acquire, release, acq_rel or seq_cst");
        break;
      default:
        if (!atomic || statement.order == Order::unordered)
          return wrong("it is atomic, and needs an order and a scope");
        break;
    }
    return {};
  }

  // The condition: "a=1 /\ (b=2 \/ c=3)".

  Result<void> read_condition(std::string_view line, const std::vector<std::string_view>& tokens) {
    ended_ = true;
    test_.condition_text = line;
    if (tokens[0] == "race") {
      test_.expectation = LitmusExpectation::race;
      return tokens.size() == 1 ? Result<void>() : wrong("after race there is nothing");
    }
    test_.expectation = tokens[0] == "exists" ? LitmusExpectation::allowed : LitmusExpectation::forbidden;
    size_t at = 1;
    auto condition = read_either(tokens, at, 0);
    if (!condition) return std::unexpected(condition.error());
    if (at != tokens.size()) return wrong("'{}' is not expected there", tokens[at]);
    test_.condition = std::move(*condition);
    return {};
  }

  using Tokens = std::vector<std::string_view>;
  using Condition = Result<LitmusCondition>;

  Condition read_list(const Tokens& tokens, size_t& at, size_t depth, std::string_view sign, LitmusCondition::Kind kind,
                      Condition (Parser::*part)(const Tokens&, size_t&, size_t)) {
    auto first = (this->*part)(tokens, at, depth);
    if (!first || at == tokens.size() || tokens[at] != sign) return first;
    LitmusCondition list{.kind = kind, .parts = {}};
    list.parts.push_back(std::move(*first));
    while (at < tokens.size() && tokens[at] == sign) {
      auto next = (this->*part)(tokens, ++at, depth);
      if (!next) return next;
      list.parts.push_back(std::move(*next));
    }
    return list;
  }
  Condition read_either(const Tokens& tokens, size_t& at, size_t depth) {
    if (depth > max_nested) return wrong("the condition is nested too deep");
    return read_list(tokens, at, depth, "\\/", LitmusCondition::Kind::either, &Parser::read_both);
  }
  Condition read_both(const Tokens& tokens, size_t& at, size_t depth) {
    return read_list(tokens, at, depth, "/\\", LitmusCondition::Kind::both, &Parser::read_equal);
  }
  Condition read_equal(const Tokens& tokens, size_t& at, size_t depth) {
    if (at < tokens.size() && tokens[at] == "(") {
      auto inner = read_either(tokens, ++at, depth + 1);
      if (inner && (at == tokens.size() || tokens[at++] != ")")) return wrong("')' is missing");
      return inner;
    }
    std::string name;
    while (at < tokens.size() && tokens[at] != "=" && name.size() < 100) name += tokens[at++];
    const auto number = at + 1 < tokens.size() && tokens[at] == "=" ? number_of(tokens[at + 1]) : std::nullopt;
    if (!number) return wrong("a condition is like P1:r0=1 or x=2, joined by /\\ and \\/");
    at += 2;
    const auto names = test_.outcome_names();
    const auto found = std::ranges::find(names, name);
    if (found == names.end()) return wrong("there is no '{}': there are {}", name, fmt::join(names, ", "));
    return LitmusCondition{.index = static_cast<unsigned>(found - names.begin()), .number = *number, .parts = {}};
  }

  std::string_view text_;
  size_t line_ = 0, statements_ = 0;
  bool ended_ = false;
  unsigned groups_made_ = 0;
  std::map<std::string, std::vector<Group>> groups_;
  LitmusTest test_;
};

}  // namespace

bool LitmusCondition::holds(const LitmusOutcome& outcome) const {
  const auto part_holds = [&](const LitmusCondition& part) { return part.holds(outcome); };
  switch (kind) {
    case Kind::equal:
      return outcome[index] == number;
    case Kind::both:
      return std::ranges::all_of(parts, part_holds);
    case Kind::either:
      return std::ranges::any_of(parts, part_holds);
  }
  return false;
}

std::vector<std::string> LitmusTest::outcome_names() const {
  std::vector<std::string> names;
  for (const LitmusThread& thread : threads)
    for (const std::string& each : thread.registers) names.push_back(fmt::format("{}:{}", thread.name, each));
  names.insert(names.end(), locations.begin(), locations.end());
  return names;
}

bool LitmusTest::inclusive(unsigned thread, Scope scope, unsigned other_thread, Scope other_scope) const {
  const auto shares = [&](Scope each) {
    const auto index = static_cast<size_t>(each);
    return thread == other_thread || threads[thread].instance[index] == threads[other_thread].instance[index];
  };
  return shares(scope) && shares(other_scope);
}

Result<LitmusTest> parse_litmus(std::string_view text) { return Parser(text).parse(); }

}  // namespace Atoll::memory_model
