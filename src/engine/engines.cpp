// engine: the engines by name (engines.h).
#include "engine/engines.h"

#include "engine/compiled/compiled_engine.h"
#include "engine/compiled/compiler_process.h"
#include "engine/compiled/translation_cache.h"
#include "engine/interpreter/interpreter.h"

namespace Atoll::engine {

support::Result<machine::Gpu::MakeEngine> find_engine(std::string_view name) {
  if (name == "interpreter") return make_interpreter;
  if (name.empty() || name == "compiled") {
    if (const auto cache = TranslationCache::from_environment(); !cache) return std::unexpected(cache.error());
    if (name.empty()) return make_compiled_engine;  // without a compiler, it interprets
    if (const auto compiler = find_compiler(); !compiler) return std::unexpected(compiler.error());
    return make_compiled_engine;
  }
  return support::fail(support::ErrorKind::not_found, "no engine is named '{}'; there are: {}", name,
                       fmt::join(engine_names, ", "));
}

machine::Gpu::MakeEngine observed_engine(machine::Observer& observer, std::string_view name) {
  if (name != "interpreter" && machine::Watched::by(&observer).can_be_compiled()) {
    return [&observer](const target::Target& target) { return make_observed_compiled_engine(target, observer); };
  }
  return [&observer](const target::Target& target) { return make_observed_interpreter(target, observer); };
}

machine::Gpu::MakeEngine stepping_engine(machine::Observer* observer) {
  return [observer](const target::Target& target) { return make_stepping_interpreter(target, observer); };
}

}  // namespace Atoll::engine
