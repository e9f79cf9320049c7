// Reports in files: what other programs read of them.
#include <gtest/gtest.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cctype>
#include <filesystem>

#include "observe/report/finding.h"
#include "observe/report/report_file.h"
#include "support/command.h"

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

/// The location of a finding in a file with this name.
nlohmann::json sarif_of(const std::string& file, const SourcePaths& paths) {
  Finding finding = example();
  finding.source.file = file;
  return nlohmann::json::parse(report(ReportFormat::sarif, {&finding, 1}, "p", paths))["runs"][0];
}
nlohmann::json location_of(const std::string& file, const SourcePaths& paths) {
  return sarif_of(file, paths)["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"];
}

// SARIF 2.1.0, 3.4.3: a URI by RFC 3986; 3.4.4 and 3.14.14: relative to a base whose own URI ends in a slash.
TEST(Report, SarifUris) {
  const TemporaryDirectory directory;
  std::filesystem::create_directories(directory / "src");
  write_file(directory / "src/a b.hip", "");
  const SourcePaths paths{.base = directory.path().string(), .map = {{"/build/box/", directory / ""}}};
  const nlohmann::json relative{{"uri", "src/a%20b.hip"}, {"uriBaseId", "%SRCROOT%"}};
  EXPECT_EQ(location_of(directory / "src/a b.hip", paths), relative);
  EXPECT_EQ(location_of(directory / "build/../src/./a b.hip", paths), relative);
  EXPECT_EQ(location_of("src/a b.hip", paths), relative);
  EXPECT_EQ(location_of("/build/box/src/a b.hip", paths), relative);        // by the map
  EXPECT_EQ(location_of("/home/ci/project/src/a b.hip", paths), relative);  // by the end of its path
  EXPECT_EQ(location_of("/usr/include/x.h", paths), (nlohmann::json{{"uri", "file:///usr/include/x.h"}}));
  EXPECT_EQ(location_of("x:y/100%/\xC3\xA9#1?.hip", {}), (nlohmann::json{{"uri", "x%3Ay/100%25/%C3%A9%231%3F.hip"}}));
  EXPECT_EQ(sarif_of("a.hip", paths)["originalUriBaseIds"]["%SRCROOT%"]["uri"],
            "file://" + directory.path().string() + "/");
  EXPECT_FALSE(sarif_of("a.hip", {}).contains("originalUriBaseIds"));
  // Every byte: what is not unreserved is encoded, and decodes to what it was.
  for (int byte = 1; byte < 256; byte++) {
    if (byte == '/' || byte == '.') continue;
    const std::string name = std::string("f") + static_cast<char>(byte);
    const std::string uri = location_of(name, {})["uri"];
    const bool unreserved =
        std::isalnum(byte) != 0 ? byte < 128 : std::string_view("-_~").contains(static_cast<char>(byte));
    EXPECT_EQ(uri, unreserved ? name : fmt::format("f%{:02X}", byte));
  }
}

TEST(Report, BaseOfPaths) {
  const TemporaryDirectory directory;
  std::filesystem::create_directories(directory / "project/build/deep");
  EXPECT_EQ(source_paths_of(directory / "project/build/").base, directory / "project/build");
  std::filesystem::create_directories(directory / "project/.git");
  EXPECT_EQ(source_paths_of(directory / "project/build/deep").base, directory / "project");
  const auto name = parse_report_name("out/r.sarif,base=/src/,map=/a=/b,map=/c/=");
  ASSERT_TRUE(name) << name.error().message;
  EXPECT_EQ(name->path, "out/r.sarif");
  EXPECT_EQ(name->format, ReportFormat::sarif);
  EXPECT_EQ(name->paths.base, "/src");
  EXPECT_EQ(name->paths.map, (std::vector<std::pair<std::string, std::string>>{{"/a", "/b"}, {"/c/", ""}}));
  for (const char* wrong : {"r.txt", "r.sarif,base=src", "r.sarif,map=/a", "r.sarif,", "r.sarif,foo=/a", ".sarif/x"})
    EXPECT_FALSE(parse_report_name(wrong)) << wrong;
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
