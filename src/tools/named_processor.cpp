// tools: finds a processor by what an option says. See named_processor.h.
#include "tools/named_processor.h"

#include <string_view>

#include <fmt/format.h>

#include "target/product.h"
#include "tools/command.h"

namespace Atoll::tools {

support::Result<const target::Processor*> find_named_processor(const std::string& name, const char* option) {
  if (const auto* processor = target::find_processor(std::string_view(name).substr(0, name.find(':'))))
    return processor;
  const auto gpu = target::find_gpu(name);
  if (!gpu) return wrong_usage(fmt::format("{}: {}", option, gpu.error().message));
  return gpu->target.processor;
}

}  // namespace Atoll::tools
