// library: choosing code objects (code_selection.h).
#include "library/code_selection.h"

#include "object/code_object.h"
#include "target/named_target.h"

namespace Atoll::library {

using support::ErrorKind;
using support::fail;
using support::Result;

Result<void> select_code(object::FoundCodeObjects& found, const std::string& gpu) {
  if (found.code_objects.empty()) return fail(ErrorKind::not_found, "the file contains no GPU code");
  if (gpu.empty()) return {};

  const auto wanted = target::find_target(gpu);
  if (!wanted) return std::unexpected(wanted.error());
  std::vector<object::FoundCodeObject> chosen;
  if (target::find_product(gpu) == nullptr) {
    // Code that leaves a setting open runs with it on and off.
    const auto fits = [](target::Setting asked, target::Setting has) {
      return asked < target::Setting::off || has < target::Setting::off || asked == has;
    };
    for (const object::FoundCodeObject& each : found.code_objects) {
      const auto target = object::read_target(each.bytes);
      if (target && target->processor == wanted->processor && fits(wanted->xnack, target->xnack) &&
          fits(wanted->sramecc, target->sramecc))
        chosen.push_back(each);
    }
  } else {
    const auto model = target::find_gpu(gpu);
    if (!model) return std::unexpected(model.error());
    auto runnable = object::choose_code_objects(found, model->target);
    if (!runnable) return std::unexpected(runnable.error());
    chosen = std::move(*runnable);
  }
  if (chosen.empty())
    return fail(ErrorKind::not_found, "no code for {}; there is code for {}", gpu, object::targets_of(found));
  found.code_objects = std::move(chosen);
  return {};
}

}  // namespace Atoll::library
