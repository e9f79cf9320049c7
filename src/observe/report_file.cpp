// observe: see report_file.h.
// Sources: SARIF 2.1.0 (OASIS), sections 3.13, 3.14, 3.27; the JUnit schema as Jenkins and GitLab read it.
#include "observe/report_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>

#include <nlohmann/json.hpp>

#include "machine/process_path.h"
#include "observe/options.h"

namespace Atoll::observe {

namespace {

using Json = nlohmann::ordered_json;

std::string rule_of(const Finding& finding) { return finding.checker + "/" + finding.kind; }

Json json_of(const Finding& finding) {
  Json json{{"checker", finding.checker},
            {"kind", finding.kind},
            {"severity", finding.is_note ? "note" : "error"},
            {"message", finding.message},
            {"count", finding.count}};
  if (!finding.kernel.empty()) json["kernel"] = finding.kernel;
  if (!finding.function.empty()) json["function"] = finding.function;
  if (!finding.source.file.empty()) {
    json["file"] = finding.source.file;
    json["line"] = finding.source.line;
    if (finding.source.column != 0) json["column"] = finding.source.column;
  }
  if (finding.pc != 0) {
    json["instruction"] = finding.instruction;
    json["program_counter"] = finding.pc;
  }
  if (finding.has_work_item) {
    json["work_group"] = finding.work_group;
    json["work_item"] = finding.work_item;
    json["wave"] = finding.wave;
    json["lane"] = finding.lane;
  }
  if (!finding.address.empty()) json["address"] = finding.address;
  for (const NamedStack& stack : finding.stacks) json["stacks"][stack.title] = stack.frames;
  if (!finding.advice.empty()) json["advice"] = finding.advice;
  return json;
}

std::string as_json(std::span<const Finding> findings, std::string_view program) {
  Json list = Json::array();
  for (const Finding& finding : findings) list.push_back(json_of(finding));
  return Json{{"program", program}, {"findings", list}}.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string as_sarif(std::span<const Finding> findings, std::string_view program) {
  Json rules = Json::array(), results = Json::array();
  std::map<std::string, size_t> numbers;
  for (const Finding& finding : findings) {
    const auto [rule, is_new] = numbers.try_emplace(rule_of(finding), numbers.size());
    if (is_new) {
      Json row{{"id", rule->first}};
      if (!finding.advice.empty()) row["help"] = {{"text", finding.advice}};
      rules.push_back(std::move(row));
    }
    Json result{{"ruleId", rule->first},
                {"ruleIndex", rule->second},
                {"level", finding.is_note ? "note" : "error"},
                {"message", {{"text", finding.message}}},
                {"occurrenceCount", finding.count}};
    if (finding.source.line != 0) {
      Json region{{"startLine", finding.source.line}};
      if (finding.source.column != 0) region["startColumn"] = finding.source.column;
      result["locations"] = Json::array(
          {{{"physicalLocation", {{"artifactLocation", {{"uri", finding.source.file}}}, {"region", region}}}}});
    }
    result["properties"] = json_of(finding);
    results.push_back(std::move(result));
  }
  const Json log{
      {"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
      {"version", "2.1.0"},
      {"runs", Json::array({{{"tool", {{"driver", {{"name", "atoll"}, {"rules", rules}}}}},
                             {"invocations", Json::array({{{"executionSuccessful", true}, {"commandLine", program}}})},
                             {"results", results}}})}};
  return log.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '&':
        result += "&amp;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        // XML has no other control characters.
        result += static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t' ? '?' : c;
    }
  }
  return result;
}

/// A test case for each finding, which has failed; with none, one that has passed.
std::string as_junit(std::span<const Finding> findings, std::string_view program) {
  const auto errors = std::ranges::count(findings, false, &Finding::is_note);
  std::string text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  text += fmt::format("<testsuites>\n<testsuite name=\"atoll check {}\" tests=\"{}\" failures=\"{}\">\n",
                      escaped(program), std::max<size_t>(findings.size(), 1), errors);
  if (findings.empty()) text += "<testcase classname=\"atoll.check\" name=\"no findings\"/>\n";
  for (const Finding& finding : findings) {
    text += fmt::format("<testcase classname=\"atoll.{}\" name=\"{}\"", escaped(finding.checker),
                        escaped(finding.kind + (finding.source.file.empty() ? "" : " " + finding.source.to_string())));
    if (!finding.source.file.empty()) {
      text += fmt::format(" file=\"{}\" line=\"{}\"", escaped(finding.source.file), finding.source.line);
    }
    text += ">\n";
    if (finding.is_note) {
      text += fmt::format("<system-out>{}</system-out>\n", escaped(to_text(finding)));
    } else {
      text += fmt::format("<failure type=\"{}\" message=\"{}\">{}</failure>\n", escaped(rule_of(finding)),
                          escaped(finding.message), escaped(to_text(finding)));
    }
    text += "</testcase>\n";
  }
  return text + "</testsuite>\n</testsuites>\n";
}

}  // namespace

support::Result<ReportFormat> report_format(std::string_view path) {
  if (path.ends_with(".json")) return ReportFormat::json;
  if (path.ends_with(".xml")) return ReportFormat::junit;
  if (path.ends_with(".sarif")) return ReportFormat::sarif;
  return support::fail(support::ErrorKind::invalid_argument,
                       "{}: a report's name ends in .json, .xml (JUnit) or .sarif", path);
}

std::string report(ReportFormat format, std::span<const Finding> findings, std::string_view program) {
  switch (format) {
    case ReportFormat::json:
      break;
    case ReportFormat::junit:
      return as_junit(findings, program);
    case ReportFormat::sarif:
      return as_sarif(findings, program);
  }
  return as_json(findings, program);
}

support::Result<void> write_report(const std::string& path, std::span<const Finding> findings,
                                   std::string_view program) {
  const auto format = report_format(path);
  if (!format) return std::unexpected(format.error());
  const std::string name = machine::with_process(path);
  std::ofstream file(name, std::ios::binary);
  if (file) file << report(*format, findings, program) << std::flush;
  if (!file) return support::fail(support::ErrorKind::system, "cannot write {}: {}", name, std::strerror(errno));
  return {};
}

}  // namespace Atoll::observe
