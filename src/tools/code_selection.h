// tools: which of the code objects in a file a subcommand is to look at.
#pragma once

#include <string>

#include "object/bundle.h"
#include "support/mapped_file.h"

namespace Atoll::tools {

/// The code objects that were asked for, with the file that they are in.
struct SelectedCode {
  support::MappedFile file;
  object::FoundCodeObjects found;  ///< its code_objects are the selected ones
};

/// Those of a file, or those for a GPU: a processor or target ID stands for the code objects that were built for it,
/// settings that it does not name being any; a product's name for what it would run. An error when there are none.
support::Result<SelectedCode> select_code(const std::string& path, const std::string& gpu);
/// The same of a file that is open, as a pipe can be read only once.
support::Result<SelectedCode> select_code(const std::string& path, support::MappedFile file, const std::string& gpu);

}  // namespace Atoll::tools
