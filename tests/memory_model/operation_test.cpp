// Names of memory operations.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "memory_model/operation.h"

namespace Atoll {
namespace {

using memory_model::Access;
using memory_model::Operation;
using memory_model::Order;
using memory_model::parse_operation;
using memory_model::Scope;
using memory_model::Space;
using testing::AllOf;
using testing::HasSubstr;

TEST(MemoryOperation, EveryOneIsReadAsItIsWritten) {
  std::set<std::string> names;
  for (const Operation& operation : memory_model::every_operation()) {
    const std::string text = to_string(operation);
    EXPECT_TRUE(names.insert(text).second) << text << " is there twice";
    const auto parsed = parse_operation(text);
    ASSERT_TRUE(parsed) << text << ": " << parsed.error().message;
    EXPECT_EQ(*parsed, operation) << text;
  }
}

TEST(MemoryOperation, TakesWordsInAnyOrderAndTheNamesOfOtherLanguages) {
  const Operation load{.access = Access::load, .order = Order::acquire, .scope = Scope::agent, .space = Space::global};
  EXPECT_EQ(*parse_operation("atomic load acquire agent global"), load);
  EXPECT_EQ(*parse_operation("  global agent  acquire load"), load);
  const Operation add{
      .access = Access::rmw, .order = Order::monotonic, .scope = Scope::workgroup, .space = Space::local};
  EXPECT_EQ(*parse_operation("rmw relaxed workgroup lds"), add);
  const Operation fence{.access = Access::fence,
                        .order = Order::release,
                        .scope = Scope::system,
                        .one_address_space = true,
                        .space = Space::all};
  EXPECT_EQ(*parse_operation("fence release one-as"), fence);
}

TEST(MemoryOperation, ErrorsSayWhatCouldBeThere) {
  const auto error = [](const char* text) {
    const auto parsed = parse_operation(text);
    return parsed ? std::string("none") : parsed.error().message;
  };
  EXPECT_THAT(error("atomic load acquire device global"),
              AllOf(HasSubstr("'device'"), HasSubstr("agent"), HasSubstr("private")));
  EXPECT_THAT(error("load acquire global"), AllOf(HasSubstr("lacks its scope"), HasSubstr("workgroup")));
  EXPECT_THAT(error("atomic load agent global"), AllOf(HasSubstr("lacks its order"), HasSubstr("seq_cst")));
  EXPECT_THAT(error("store acquire agent global"), AllOf(HasSubstr("cannot be acquire"), HasSubstr("release")));
  EXPECT_THAT(error("store release agent"), AllOf(HasSubstr("lacks its address space"), HasSubstr("local")));
  EXPECT_THAT(error("atomicrmw global"), HasSubstr("lacks its order"));
  EXPECT_THAT(error("fence acquire agent private"), HasSubstr("only to global or local"));
  EXPECT_THAT(error("load store global"), HasSubstr("'store' is a second operation"));
  EXPECT_THAT(error("acquire agent"), HasSubstr("names no operation"));
  EXPECT_THAT(error(""), HasSubstr("names no operation"));
  EXPECT_THAT(error("load volatile acquire agent global"), HasSubstr("not atomic"));
  EXPECT_THAT(error("store last-use global"), HasSubstr("last-use"));
  EXPECT_THAT(error("load no-return global"), HasSubstr("atomicrmw"));
  EXPECT_THAT(error("fence acquire system-one-as"), HasSubstr("'system-one-as'"));
}

}  // namespace
}  // namespace Atoll
