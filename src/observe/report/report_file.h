// observe: writes findings as a file for other programs: JSON, JUnit XML for continuous integration, or SARIF 2.1.0 for
// code scanning.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "observe/report/finding.h"
#include "support/error.h"

namespace Atoll::observe {

enum class ReportFormat : uint8_t { json, junit, sarif };

/// How a report names source files: relative to a base, so that they are found in another checkout.
struct SourcePaths {
  std::string base;                                      ///< a directory without a slash at the end; empty: none
  std::vector<std::pair<std::string, std::string>> map;  ///< prefixes of paths and their replacements

  /// Returns a file's path relative to the base, or its absolute path if it is outside. A file that does not exist is
  /// searched below the base by the end of its path.
  std::string shown(const std::string& file) const;
};

/// Returns the base for a directory: itself, or the root of the Git checkout that it is in.
SourcePaths source_paths_of(std::string_view directory);

/// The name of a report: "report.sarif", "report.sarif,base=/src,map=/build=/src".
struct ReportName {
  std::string path;
  ReportFormat format = ReportFormat::json;  ///< by the ending of the path: .json, .xml, .sarif
  SourcePaths paths;
};
support::Result<ReportName> parse_report_name(std::string_view text);

/// Returns the format of a report by its name. The error lists the valid forms.
support::Result<ReportFormat> report_format(std::string_view text);

/// `program`: the command that was run.
std::string report(ReportFormat format, std::span<const Finding> findings, std::string_view program,
                   const SourcePaths& paths = {});

/// Writes the report to the path of parse_report_name(); %p in it is the process ID.
support::Result<void> write_report(const std::string& path, std::span<const Finding> findings,
                                   std::string_view program);

}  // namespace Atoll::observe
