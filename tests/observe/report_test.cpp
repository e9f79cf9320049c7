// Reports in files: what other programs read of them.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "observe/finding.h"
#include "observe/report_file.h"

namespace Atoll::test {
namespace {

using namespace observe;

Finding example() {
  Finding finding{.checker = "memory", .kind = "out-of-bounds", .message = "kernel 'f<int>(int*)' reads 4 bytes"};
  finding.kernel = "f<int>(int*)";
  finding.source = {"a.hip", 12, 5};
  finding.pc = 0x1000;
  finding.instruction = "global_load_dword v0, v1, s[0:1]";
  finding.count = 3;
  finding.advice = "check the index";
  return finding;
}

TEST(Report, SourcePlaces) {
  const auto place = SourcePlace::parse("C:/a:b/x.hip:12:5");
  EXPECT_EQ(place.file, "C:/a:b/x.hip");
  EXPECT_EQ(place.line, 12U);
  EXPECT_EQ(place.column, 5U);
  EXPECT_EQ(SourcePlace::parse("x.hip:7").line, 7U);
  EXPECT_EQ(SourcePlace::parse("x.hip").to_string(), "x.hip");
}

TEST(Report, Json) {
  const Finding finding = example();
  const auto json = nlohmann::json::parse(report(ReportFormat::json, {&finding, 1}, "./p"));
  EXPECT_EQ(json["program"], "./p");
  ASSERT_EQ(json["findings"].size(), 1U);
  const auto& one = json["findings"][0];
  EXPECT_EQ(one["checker"], "memory");
  EXPECT_EQ(one["kind"], "out-of-bounds");
  EXPECT_EQ(one["severity"], "error");
  EXPECT_EQ(one["file"], "a.hip");
  EXPECT_EQ(one["line"], 12);
  EXPECT_EQ(one["count"], 3);
  EXPECT_EQ(nlohmann::json::parse(report(ReportFormat::json, {}, "p"))["findings"].size(), 0U);
}

TEST(Report, Sarif) {
  const Finding findings[] = {example(), example()};
  const auto json = nlohmann::json::parse(report(ReportFormat::sarif, findings, "p"));
  EXPECT_EQ(json["version"], "2.1.0");
  const auto& run = json["runs"][0];
  EXPECT_EQ(run["tool"]["driver"]["rules"].size(), 1U);
  ASSERT_EQ(run["results"].size(), 2U);
  const auto& result = run["results"][1];
  EXPECT_EQ(result["ruleId"], "memory/out-of-bounds");
  EXPECT_EQ(result["ruleIndex"], 0);
  EXPECT_EQ(result["level"], "error");
  const auto& place = result["locations"][0]["physicalLocation"];
  EXPECT_EQ(place["artifactLocation"]["uri"], "a.hip");
  EXPECT_EQ(place["region"]["startLine"], 12);
}

TEST(Report, Junit) {
  const Finding finding = example();
  const std::string text = report(ReportFormat::junit, {&finding, 1}, "a \"b\"");
  EXPECT_NE(text.find("tests=\"1\" failures=\"1\""), std::string::npos) << text;
  EXPECT_NE(text.find("a &quot;b&quot;"), std::string::npos);
  EXPECT_NE(text.find("f&lt;int&gt;(int*)"), std::string::npos);
  EXPECT_EQ(text.find("f<int>"), std::string::npos);
  EXPECT_NE(report(ReportFormat::junit, {}, "p").find("failures=\"0\""), std::string::npos);
}

TEST(Report, TextHasAllThatIsKnown) {
  Finding finding = example();
  finding.stacks.push_back({"allocated", {"by hipMalloc in main  a.hip:30", "start  a.hip:3"}});
  const std::string text = to_text(finding);
  for (const char* part : {"atoll: memory: out-of-bounds: kernel 'f<int>(int*)' reads 4 bytes\n", "a.hip:12:5",
                           "global_load_dword", "by hipMalloc in main  a.hip:30", "check the index"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " in\n" << text;
  }
}

}  // namespace
}  // namespace Atoll::test
