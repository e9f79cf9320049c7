// Real libraries: every code object of Debian's rocRAND and rocSPARSE, which were compiled by clang 15 for seven
// targets.
//
// A sample of each target by default; ATOLL_SWEEP_REAL=1 reads all, several hundred million instructions.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <string>

#include "isa/listing.h"
#include "isa/oracle_faults.h"
#include "object/bundle.h"
#include "object/code_object.h"
#include "support/command.h"
#include "support/mapped_file.h"

namespace Atoll::isa::test {
namespace {

struct OfTarget {
  const target::Processor* processor = nullptr;
  unsigned code_objects = 0;
  ListingComparison listing;
};

class RealLibraries : public testing::TestWithParam<std::string> {};

TEST_P(RealLibraries, AreDisassembledAndAssembledAgain) {
  const auto file = support::MappedFile::open(fmt::format("/usr/lib/x86_64-linux-gnu/{}", GetParam()));
  ASSERT_TRUE(file) << file.error().message;
  const auto found = object::find_code_objects(file->bytes());
  ASSERT_TRUE(found) << found.error().message;
  constexpr uint64_t sample = 30'000;
  const uint64_t most = from_environment("ATOLL_SWEEP_REAL", 0) != 0 ? UINT64_MAX : sample;
  const Atoll::test::TemporaryDirectory directory;
  const std::string path = directory / "code_object";
  std::map<std::string, OfTarget> targets;
  for (const object::FoundCodeObject& each : found->code_objects) {
    OfTarget& of_target = targets[each.id];
    if (of_target.listing.instructions >= most) continue;
    SCOPED_TRACE(each.where);
    const auto object = object::read_code_object(each.bytes);
    ASSERT_TRUE(object) << object.error().message;
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(each.bytes.data()), static_cast<std::streamsize>(each.bytes.size()));
    of_target.processor = object->target.processor;
    ++of_target.code_objects;
    of_target.listing.read(path, *of_target.processor, most);
  }
  EXPECT_EQ(targets.size(), 7u);
  for (auto& [id, of_target] : targets) {
    ListingComparison& listing = of_target.listing;
    listing.ask_assembler(*of_target.processor);
    std::printf(
        "%s, %s: %u code objects, %lu instructions, %lu texts different, %lu assembled as by LLVM 22 but not as "
        "compiled, %lu otherwise\n",
        GetParam().c_str(), id.c_str(), of_target.code_objects, listing.instructions, listing.other_texts,
        listing.not_as_compiled, listing.other_bytes);
    EXPECT_GT(listing.instructions, 10'000u);
    EXPECT_EQ(listing.other_texts, 0u);
    EXPECT_EQ(listing.other_bytes, 0u);
  }
}

INSTANTIATE_TEST_SUITE_P(All, RealLibraries, testing::Values("librocrand.so.1", "librocsparse.so.0"),
                         [](const auto& info) { return info.index == 0 ? "rocrand" : "rocsparse"; });

}  // namespace
}  // namespace Atoll::isa::test
