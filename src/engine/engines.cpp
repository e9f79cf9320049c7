// engine: the engines by name (engines.h).
#include "engine/engines.h"

#ifdef ATOLL_COMPILED_ENGINE
#include "engine/compiled/compiled_engine.h"
#endif
#include "engine/interpreter.h"

namespace Atoll::engine {

support::Result<machine::Gpu::MakeEngine> find_engine(std::string_view name) {
  if (name.empty() || name == "interpreter") return make_interpreter;
#ifdef ATOLL_COMPILED_ENGINE
  if (name == "compiled") return make_compiled_engine;
  constexpr std::string_view names = "interpreter, compiled";
#else
  constexpr std::string_view names = "interpreter";
#endif
  return support::fail(support::ErrorKind::not_found, "no engine is named '{}'; there is: {}", name, names);
}

}  // namespace Atoll::engine
