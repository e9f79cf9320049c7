// tools: choosing code objects (code_selection.h).
#include "tools/code_selection.h"

#include "library/code_selection.h"
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
  // A name that is no GPU's is no matter of the file.
  if (!gpu.empty() && !target::parse_target_id(gpu))
    if (const auto model = target::find_gpu(gpu); !model) return std::unexpected(model.error());
  if (auto selected = library::select_code(*found, gpu); !selected) return support::within(path, selected.error());
  return SelectedCode{std::move(file), std::move(*found)};
}

}  // namespace Atoll::tools
