// tools: which of the code objects in a file a subcommand is to look at.
#pragma once

#include <string>

#include "object/bundle.h"
#include "support/mapped_file.h"

namespace Atoll::tools {

/// The selected code objects, with the file that contains them.
struct SelectedCode {
  support::MappedFile file;
  object::FoundCodeObjects found;  ///< its code_objects are the selected ones
};

/// Selects the code objects of a file, or those for a GPU. A processor or target ID selects code objects that
/// were built for it; settings that it does not name may be any. A product's name selects the code that it would
/// run. Returns an error if none is left.
support::Result<SelectedCode> select_code(const std::string& path, const std::string& gpu);
/// As above for an open file, because a pipe can be read only once.
support::Result<SelectedCode> select_code(const std::string& path, support::MappedFile file, const std::string& gpu);

}  // namespace Atoll::tools
