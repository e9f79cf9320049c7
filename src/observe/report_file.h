// observe: findings as a file for other programs: JSON, JUnit's XML for continuous integration, SARIF 2.1.0 for code
// scanning.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "observe/finding.h"
#include "support/error.h"

namespace Atoll::observe {

enum class ReportFormat : uint8_t { json, junit, sarif };

/// By the ending of a file's name: .json, .xml, .sarif. The error says which there are.
support::Result<ReportFormat> report_format(std::string_view path);

/// `program`: what was run, for the report's reader.
std::string report(ReportFormat format, std::span<const Finding> findings, std::string_view program);

/// Writes the report; %p in the path is the process.
support::Result<void> write_report(const std::string& path, std::span<const Finding> findings,
                                   std::string_view program);

}  // namespace Atoll::observe
