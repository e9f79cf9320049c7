// observe: suppresses findings by checker, kind, kernel and source file.
//
// A file has one suppression per line; # begins a comment. In patterns, * matches anything and ? a character:
//
//     memory out-of-bounds kernel=scan*  file=*/rocprim/*   # reads a whole vector at the end
//     memory *             file=third_party/*
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "observe/report/finding.h"
#include "support/error.h"

namespace Atoll::observe {

struct Suppression {
  std::string checker = "*", kind = "*", kernel = "*", file = "*";
};

class Suppressions {
 public:
  Suppressions() = default;

  /// Errors include the line: "suppressions.txt:7: ...".
  static support::Result<Suppressions> parse(std::string_view text, const std::string& name);
  static support::Result<Suppressions> read(const std::string& path);

  bool match(const Finding& finding) const;
  size_t size() const { return list_.size(); }

 private:
  std::vector<Suppression> list_;
};

/// Whether a pattern with * and ? matches all of a text.
bool matches(std::string_view pattern, std::string_view text);

}  // namespace Atoll::observe
