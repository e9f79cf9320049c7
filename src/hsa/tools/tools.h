// hsa: tools, which are libraries that watch or change a program's calls of the HSA API, as profilers do. Those that
// HSA_TOOLS_LIB names, and those that are in the process already and say so, get the API tables before hsa_init
// returns.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace Atoll::hsa {

/// The file names in HSA_TOOLS_LIB: between spaces; double quotes keep spaces, a backslash keeps the next character.
std::vector<std::string> parse_tool_names(std::string_view text);

class Tools {
 public:
  /// Loads the libraries and calls their OnLoad, with the runtime ready for their calls. One that cannot be loaded, or
  /// whose OnLoad says no, is reported, and named to those after it.
  void load();
  /// Calls their OnUnload, the last one's first, and takes their functions out of the tables.
  void unload();

 private:
  std::vector<void*> libraries_;  ///< from dlopen
};

}  // namespace Atoll::hsa
