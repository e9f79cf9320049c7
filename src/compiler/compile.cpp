// compiler: the way from a request to its answer (compile.h).
#include "compiler/compile.h"

#include <ctime>
#include <span>
#include <string>
#include <vector>

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

/// Parts are compiled together as long as LLVM's memory stays moderate: what they share is made once.
constexpr uint64_t module_instructions = 4000;

/// From here on compiling takes so long that what it takes matters more than the last of the code's speed.
constexpr uint64_t large_instructions = 400;

/// Adds the translation of parts.
support::Result<void> add(engine::TranslatedCode& result, std::span<const engine::ControlFlow> parts,
                          const engine::TranslationRequest& request, HostCompiler& host) {
  const bool be_brief = request.flow.instructions > large_instructions;
  Translation translation(request.mode, request.level);
  std::vector<std::string> names;
  std::vector<Translated> translated;
  for (const engine::ControlFlow& part : parts) {
    names.push_back("code" + std::to_string(names.size()));
    const Translated& made =
        translated.emplace_back(translation.add(part, names.back(), result.steps.size(), be_brief));
    result.steps.insert(result.steps.end(), made.steps.begin(), made.steps.end());
    for (const uint64_t pc : made.steps) {
      const engine::Block& block = std::prev(part.blocks.upper_bound(pc))->second;
      for (const engine::Located& at : block.instructions) {
        if (at.pc == pc) ++result.untranslated[std::string(isa::row(at.instruction.opcode).name)];
      }
    }
  }
  const auto object = host.compile(translation.finish(), request.level);
  if (!object) return std::unexpected(object.error());
  const auto flat = flatten(*object, names);
  if (!flat) return std::unexpected(flat.error());

  const auto place = static_cast<uint32_t>(support::align_up(result.code.size(), 64));
  result.code.resize(place);
  result.code.insert(result.code.end(), flat->bytes.begin(), flat->bytes.end());
  for (const auto& [slot, function] : flat->imports) result.imports.push_back({place + slot, function});
  for (size_t i = 0; i < translated.size(); ++i) {
    uint32_t number = 0;
    for (const uint64_t pc : translated[i].entries) {
      result.entries.push_back({pc, place + static_cast<uint32_t>(flat->entries[i]), number++});
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
  const std::vector<engine::ControlFlow> parts = cut(request.flow, part_instructions);
  for (auto first = parts.begin(); first != parts.end();) {
    auto end = first;
    for (uint64_t size = 0; end != parts.end() && (end == first || size + end->instructions <= module_instructions);) {
      size += end++->instructions;
    }
    if (!is_wanted()) return support::fail(support::ErrorKind::system, "the code is not wanted any more");
    if (auto added = add(result, {first, end}, request, host); !added) return std::unexpected(added.error());
    first = end;
  }
  result.seconds = thread_seconds() - start;
  return result;
}

}  // namespace Atoll::compiler
