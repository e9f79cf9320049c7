// compiler: the way from a request to its answer (compile.h).
#include "compiler/compile.h"

#include <ctime>

#include "compiler/flat_code.h"
#include "compiler/liveness.h"
#include "compiler/parts.h"
#include "compiler/translate.h"
#include "isa/table.h"
#include "support/bytes.h"

namespace Atoll::compiler {

namespace {

/// Seconds that this thread has computed.
double thread_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

/// Larger code is cut: LLVM's time for a function grows faster than the function from about here on.
constexpr uint64_t part_instructions = 500;

/// From here on compiling takes so long that what it takes matters more than the last of the code's speed.
constexpr uint64_t large_instructions = 400;

/// Adds the translation of a part.
support::Result<void> add(engine::TranslatedCode& result, const engine::ControlFlow& part,
                          const engine::TranslationRequest& request, HostCompiler& host) {
  const std::string name = "code";
  const Translation translation = translate(part, request.mode, request.level, name, result.steps.size(),
                                            request.flow.instructions > large_instructions);
  const auto object = host.compile(*translation.module, request.level);
  if (!object) return std::unexpected(object.error());
  const auto flat = flatten(*object, name);
  if (!flat) return std::unexpected(flat.error());

  const auto place = static_cast<uint32_t>(support::align_up(result.code.size(), 64));
  result.code.resize(place);
  result.code.insert(result.code.end(), flat->bytes.begin(), flat->bytes.end());
  for (const auto& [slot, function] : flat->imports) result.imports.push_back({place + slot, function});
  uint32_t number = 0;
  for (const uint64_t pc : translation.entries) {
    result.entries.push_back({pc, place + static_cast<uint32_t>(flat->entry), number++});
  }
  result.steps.insert(result.steps.end(), translation.steps.begin(), translation.steps.end());
  for (const uint64_t pc : translation.steps) {
    const engine::Block& block = std::prev(part.blocks.upper_bound(pc))->second;
    for (const engine::Located& at : block.instructions) {
      if (at.pc == pc) ++result.untranslated[std::string(isa::row(at.instruction.opcode).name)];
    }
  }
  return {};
}

void note_start(engine::TranslatedCode& result, const engine::ControlFlow& flow) {
  const Liveness liveness(flow);
  const Live& live = liveness.before(flow.root);
  const RowSet rows = live.active | live.inactive;
  for (size_t key = 0; key < rows.size(); ++key) {
    if (rows[key]) result.start_rows.push_back(static_cast<uint16_t>(key));
  }
  for (unsigned reg = 0; reg < isa::scalar::count; ++reg) {
    const bool is_exec = (reg & ~1u) == isa::scalar::exec_lo;  // every wave has its own
    if (live.scalars[reg] && !is_exec) result.start_scalars = static_cast<uint16_t>(reg + 1);
  }
}

}  // namespace

support::Result<engine::TranslatedCode> compile(const engine::TranslationRequest& request, HostCompiler& host,
                                                const std::function<bool()>& is_wanted) {
  const double start = thread_seconds();
  engine::TranslatedCode result;
  result.instructions = request.flow.instructions;
  note_start(result, request.flow);
  for (const engine::ControlFlow& part : cut(request.flow, part_instructions)) {
    if (!is_wanted()) return support::fail(support::ErrorKind::system, "the code is not wanted any more");
    if (auto added = add(result, part, request, host); !added) return std::unexpected(added.error());
  }
  result.seconds = thread_seconds() - start;
  return result;
}

}  // namespace Atoll::compiler
