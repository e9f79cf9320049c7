// tools: choosing code objects (code_selection.h).
#include "tools/code_selection.h"

#include "library/code_selection.h"
#include "target/named_target.h"
#include "tools/files.h"

namespace Atoll::tools {

using support::Result;

Result<SelectedCode> select_code(const std::string& path, const std::string& gpu) {
  auto file = open_input(path);
  if (!file) return std::unexpected(file.error());
  return select_code(path, *std::move(file), gpu);
}

Result<SelectedCode> select_code(const std::string& path, support::MappedFile file, const std::string& gpu) {
  auto found = object::find_code_objects(file.bytes());
  if (!found) return support::within(path, found.error());
  // The message for an unknown GPU does not name the file.
  if (const auto target = target::find_target(gpu); !gpu.empty() && !target) return std::unexpected(target.error());
  if (auto selected = library::select_code(*found, gpu); !selected) return support::within(path, selected.error());
  return SelectedCode{std::move(file), std::move(*found)};
}

}  // namespace Atoll::tools
