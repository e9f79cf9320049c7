// tools: choosing code objects (code_selection.h).
#include "tools/code_selection.h"

#include "object/code_object.h"
#include "tools/files.h"

namespace Atoll::tools {

using support::ErrorKind;
using support::fail;
using support::Result;

Result<SelectedCode> select_code(const std::string& path, const std::string& gpu) {
  auto file = open_input(path);
  if (!file) return std::unexpected(file.error());
  auto found = object::find_code_objects(file->bytes());
  if (!found) return support::within(path, found.error());
  if (found->code_objects.empty()) return fail(ErrorKind::not_found, "{}: there is no GPU code in it", path);
  if (gpu.empty()) return SelectedCode{std::move(*file), std::move(*found)};

  const auto wanted = target::parse_target_id(gpu);
  std::vector<object::FoundCodeObject> chosen;
  if (wanted) {
    const auto fits = [](target::Setting asked, target::Setting has) {
      return asked < target::Setting::off || asked == has;
    };
    for (const object::FoundCodeObject& each : found->code_objects) {
      const auto target = object::read_target(each.bytes);
      if (target && target->processor == wanted->processor && fits(wanted->xnack, target->xnack) &&
          fits(wanted->sramecc, target->sramecc))
        chosen.push_back(each);
    }
  } else if (const auto model = target::find_gpu(gpu)) {
    auto runnable = object::choose_code_objects(*found, model->target);
    if (!runnable) return support::within(path, runnable.error());
    chosen = std::move(*runnable);
  } else {
    return std::unexpected(model.error());
  }
  if (chosen.empty())
    return fail(ErrorKind::not_found, "{}: no code for {}; there is code for {}", path, gpu,
                object::targets_of(*found));
  found->code_objects = std::move(chosen);
  return SelectedCode{std::move(*file), std::move(*found)};
}

}  // namespace Atoll::tools
