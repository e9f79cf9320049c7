// observe: writes findings as JSON, JUnit XML and SARIF. Sources: SARIF 2.1.0 (OASIS), sections 3.4, 3.13, 3.14, 3.27;
// RFC 3986; the JUnit schema as Jenkins and GitLab read it.
#include "observe/report/report_file.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>

#include <nlohmann/json.hpp>

#include "machine/report/process_path.h"
#include "observe/report/options.h"

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

/// Percent-encodes a path as part of a URI (RFC 3986), including colons, which would end a scheme.
std::string uri_path(std::string_view path) {
  std::string uri;
  for (const char c : path) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       std::string_view("-._~/").contains(c);
    if (plain)
      uri += c;
    else
      uri += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return uri;
}

/// The name of the base that relative URIs refer to, as GitHub's code scanning and other readers expect it.
constexpr const char* source_root = "%SRCROOT%";

Json artifact(const std::string& file, const SourcePaths& paths) {
  const std::string path = paths.shown(file);
  if (path.starts_with('/')) return {{"uri", "file://" + uri_path(path)}};
  Json location{{"uri", uri_path(path)}};
  if (!paths.base.empty()) location["uriBaseId"] = source_root;
  return location;
}

std::string as_sarif(std::span<const Finding> findings, std::string_view program, const SourcePaths& paths) {
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
          {{{"physicalLocation", {{"artifactLocation", artifact(finding.source.file, paths)}, {"region", region}}}}});
    }
    result["properties"] = json_of(finding);
    results.push_back(std::move(result));
  }
  Json run{{"tool", {{"driver", {{"name", "atoll"}, {"rules", rules}}}}},
           {"invocations", Json::array({{{"executionSuccessful", true}, {"commandLine", program}}})}};
  if (!paths.base.empty())
    run["originalUriBaseIds"] = {{source_root, {{"uri", "file://" + uri_path(paths.base) + "/"}}}};
  run["results"] = results;
  const Json log{
      {"$schema", "https://json.schemastore.org/sarif-2.1.0.json"}, {"version", "2.1.0"}, {"runs", Json::array({run})}};
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
        // XML allows no other control characters.
        result += static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t' ? '?' : c;
    }
  }
  return result;
}

/// Writes a failed test case per finding, or a passed one if there are no findings.
std::string as_junit(std::span<const Finding> findings, std::string_view program, const SourcePaths& paths) {
  const auto errors = std::ranges::count(findings, false, &Finding::is_note);
  std::string text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  text += fmt::format("<testsuites>\n<testsuite name=\"atoll check {}\" tests=\"{}\" failures=\"{}\">\n",
                      escaped(program), std::max<size_t>(findings.size(), 1), errors);
  if (findings.empty()) text += "<testcase classname=\"atoll.check\" name=\"no findings\"/>\n";
  for (const Finding& finding : findings) {
    text += fmt::format("<testcase classname=\"atoll.{}\" name=\"{}\"", escaped(finding.checker),
                        escaped(finding.kind + (finding.source.file.empty() ? "" : " " + finding.source.to_string())));
    if (!finding.source.file.empty()) {
      text += fmt::format(" file=\"{}\" line=\"{}\"", escaped(paths.shown(finding.source.file)), finding.source.line);
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

std::string SourcePaths::shown(const std::string& file) const {
  namespace fs = std::filesystem;
  std::string path = fs::path(file).lexically_normal().string();
  for (const auto& [from, to] : map) {
    if (!path.starts_with(from)) continue;
    path = (fs::path(to + path.substr(from.size()))).lexically_normal().string();
    break;
  }
  if (base.empty()) return path;
  std::error_code error;
  if (path.starts_with(base + "/")) return path.substr(base.size() + 1);
  if (!path.starts_with('/') || fs::exists(path, error)) return path;
  // The file was compiled elsewhere, e.g. in a container: searches for the longest suffix of the path below the base.
  for (size_t at = path.find('/', 1); at != std::string::npos; at = path.find('/', at + 1))
    if (fs::is_regular_file(base + path.substr(at), error)) return path.substr(at + 1);
  return path;
}

SourcePaths source_paths_of(std::string_view directory) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path start = fs::path(directory).lexically_normal();
  SourcePaths paths{.base = start.string(), .map = {}};
  for (fs::path at = start; at.has_relative_path(); at = at.parent_path()) {
    if (!fs::exists(at / ".git", error)) continue;
    paths.base = at.string();
    break;
  }
  while (paths.base.ends_with('/')) paths.base.pop_back();
  return paths;
}

support::Result<ReportName> parse_report_name(std::string_view text) {
  const auto wrong = [&](std::string_view what) {
    return support::fail(support::ErrorKind::invalid_argument, "{}: {}", text, what);
  };
  ReportName name{.path = std::string(text.substr(0, text.find(','))), .format = ReportFormat::json, .paths = {}};
  if (name.path.ends_with(".json"))
    name.format = ReportFormat::json;
  else if (name.path.ends_with(".xml"))
    name.format = ReportFormat::junit;
  else if (name.path.ends_with(".sarif"))
    name.format = ReportFormat::sarif;
  else
    return wrong("a report's name ends in .json, .xml (JUnit) or .sarif");
  const char* const started_in = std::getenv("PWD");  // the program may change its directory
  std::error_code error;
  name.paths =
      source_paths_of(started_in != nullptr && *started_in == '/' ? std::string(started_in)
                                                                  : std::filesystem::current_path(error).string());
  for (std::string_view rest = text.substr(name.path.size()); !rest.empty();) {
    rest.remove_prefix(1);
    const std::string_view part = rest.substr(0, rest.find(','));
    rest.remove_prefix(part.size());
    const size_t equals = part.find('=', std::string_view("map=").size());
    if (part.starts_with("base=/")) {
      name.paths.base = part.substr(std::string_view("base=").size());
      while (name.paths.base.ends_with('/')) name.paths.base.pop_back();
    } else if (part.starts_with("map=") && equals != std::string_view::npos && equals > 4) {
      name.paths.map.emplace_back(part.substr(4, equals - 4), part.substr(equals + 1));
    } else {
      return wrong("after the file's name stand base=/DIRECTORY and map=FROM=TO, separated by commas");
    }
  }
  return name;
}

support::Result<ReportFormat> report_format(std::string_view text) {
  const auto name = parse_report_name(text);
  if (!name) return std::unexpected(name.error());
  return name->format;
}

std::string report(ReportFormat format, std::span<const Finding> findings, std::string_view program,
                   const SourcePaths& paths) {
  switch (format) {
    case ReportFormat::json:
      break;
    case ReportFormat::junit:
      return as_junit(findings, program, paths);
    case ReportFormat::sarif:
      return as_sarif(findings, program, paths);
  }
  return as_json(findings, program);
}

support::Result<void> write_report(const std::string& path, std::span<const Finding> findings,
                                   std::string_view program) {
  const auto report_name = parse_report_name(path);
  if (!report_name) return std::unexpected(report_name.error());
  const std::string name = machine::with_process(report_name->path);
  std::ofstream file(name, std::ios::binary);
  if (file) file << report(report_name->format, findings, program, report_name->paths) << std::flush;
  if (!file) return support::fail(support::ErrorKind::system, "cannot write {}: {}", name, std::strerror(errno));
  return {};
}

}  // namespace Atoll::observe
