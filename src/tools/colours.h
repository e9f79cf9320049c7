// tools: colours of messages on a terminal, as compilers have them.
#pragma once

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace Atoll::tools {

/// Escape sequences; empty where the output is not a terminal.
struct Colours {
  std::string_view error, warning, note, bold, mark, plain;
};

/// Returns no colours for files and pipes, with NO_COLOR set (no-color.org), and on a terminal that has none.
inline Colours colours_of(std::FILE* stream) {
  const char* const none = std::getenv("NO_COLOR");
  const char* const terminal = std::getenv("TERM");
  if ((none != nullptr && *none != '\0') || terminal == nullptr || std::string_view(terminal) == "dumb" ||
      isatty(fileno(stream)) == 0)
    return {};
  return {.error = "\x1b[1;31m",
          .warning = "\x1b[1;35m",
          .note = "\x1b[1;36m",
          .bold = "\x1b[1m",
          .mark = "\x1b[1;32m",
          .plain = "\x1b[0m"};
}

}  // namespace Atoll::tools
