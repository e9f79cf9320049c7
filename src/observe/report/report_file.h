// observe: findings as a file for other programs: JSON, JUnit's XML for continuous integration, SARIF 2.1.0 for code
// scanning.
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

/// How a report names source files: relative to a base, so that its reader finds them in another checkout.
struct SourcePaths {
  std::string base;                                      ///< a directory without a slash at the end; empty: none
  std::vector<std::pair<std::string, std::string>> map;  ///< beginnings of paths, and what stands for them

  /// Returns the path of a file relative to the base, or its absolute path if it is not below the base. A file that
  /// does not exist here is looked for below the base by the end of its path.
  std::string shown(const std::string& file) const;
};

/// Returns the base for a directory: itself, or the root of the Git checkout that it is in.
SourcePaths source_paths_of(std::string_view directory);

/// Where a report goes: "report.sarif", "report.sarif,base=/src,map=/build=/src".
struct ReportName {
  std::string path;
  ReportFormat format = ReportFormat::json;  ///< by the ending of the path: .json, .xml, .sarif
  SourcePaths paths;
};
support::Result<ReportName> parse_report_name(std::string_view text);

/// Returns the format of such a report. The error says what its name may be.
support::Result<ReportFormat> report_format(std::string_view text);

/// `program`: what was run, for the report's reader.
std::string report(ReportFormat format, std::span<const Finding> findings, std::string_view program,
                   const SourcePaths& paths = {});

/// Writes the report to where parse_report_name() says; %p in the path is the process.
support::Result<void> write_report(const std::string& path, std::span<const Finding> findings,
                                   std::string_view program);

}  // namespace Atoll::observe
