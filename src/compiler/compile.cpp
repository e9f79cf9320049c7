// compiler: the way from a request to its answer (compile.h).
#include "compiler/compile.h"

#include <ctime>

#include "compiler/flat_code.h"
#include "compiler/translate.h"
#include "isa/table.h"

namespace Atoll::compiler {

namespace {

/// Seconds that this thread has computed.
double thread_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

}  // namespace

support::Result<engine::TranslatedCode> compile(const engine::TranslationRequest& request, HostCompiler& host) {
  const double start = thread_seconds();
  const std::string name = "kernel";
  Translation translation = translate(request.flow, request.mode, request.level, name);
  const auto object = host.compile(*translation.module, request.level);
  if (!object) return std::unexpected(object.error());
  auto flat = flatten(*object, name);
  if (!flat) return std::unexpected(flat.error());

  engine::TranslatedCode result;
  result.code = std::move(flat->bytes);
  result.imports = std::move(flat->imports);
  uint32_t number = 0;
  for (const uint64_t pc : translation.entries) {
    result.entries.push_back({pc, static_cast<uint32_t>(flat->entry), number++});
  }
  result.steps = std::move(translation.steps);
  result.instructions = request.flow.instructions;
  for (const uint64_t pc : result.steps) {
    const engine::Block& block = std::prev(request.flow.blocks.upper_bound(pc))->second;
    for (const engine::Located& at : block.instructions) {
      if (at.pc == pc) ++result.untranslated[std::string(isa::row(at.instruction.opcode).name)];
    }
  }
  result.seconds = thread_seconds() - start;
  return result;
}

}  // namespace Atoll::compiler
