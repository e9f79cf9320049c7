// tools: finds a processor by what an option says. See named_processor.h.
#include "tools/named_processor.h"

#include <fmt/format.h>

#include "target/named_target.h"
#include "tools/command.h"

namespace Atoll::tools {

support::Result<const target::Processor*> find_named_processor(const std::string& name, const char* option) {
  const auto target = target::find_target(name);
  if (!target) return wrong_usage(fmt::format("{}: {}", option, target.error().message));
  return target->processor;
}

}  // namespace Atoll::tools
