// engine/compiled: requests and answers as bytes (translation.h).
#include "engine/compiled/translation.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <iterator>

#include "engine/compiled/serial.h"
#include "engine/compiled/translation_cache.h"
#include "engine/target_code.h"

namespace Atoll::engine {

namespace {

using support::ErrorKind;
using support::fail;

struct CodeRange {
  uint64_t pc, bytes;
};

void put_target(SerialWriter& writer, const target::Target& target) {
  writer.put_text(target.processor->name);
  writer.put(uint8_t{target.d16_loads_clear});
  writer.put(target.wave_size);
}

target::Target get_target(SerialReader& reader) {
  target::Target target;
  target.processor = target::find_processor(reader.get_text());
  target.d16_loads_clear = reader.get<uint8_t>() != 0;
  target.wave_size = reader.get<uint8_t>();
  return target;
}

}  // namespace

uint64_t TranslationRequest::group_of(std::span<const uint8_t> code, const target::Target& target, const CodeMode& mode,
                                      const Instrumentation& instrumentation) {
  constexpr size_t most = 64;
  const auto mode_bytes = std::bit_cast<std::array<uint8_t, sizeof mode>>(mode);
  SerialWriter writer;
  put_target(writer, target);
  writer.put(instrumentation.bits());
  return hash(code.first(std::min(most, code.size())), hash(writer.take(), hash(mode_bytes)));
}

std::vector<uint8_t> TranslationRequest::serialise(const target::Target& target, const ControlFlow& flow, uint64_t base,
                                                   uint64_t group) {
  SerialWriter writer;
  writer.put(group);
  put_target(writer, target);
  writer.put(flow.instrumentation.bits());
  writer.put(flow.aids.relative_to(base));
  writer.put(flow.mode);
  writer.put(flow.registers);
  writer.put(semantics::host_vectors());
  writer.put(flow.root - base);
  std::vector<uint64_t> entries;
  entries.reserve(flow.entries.size());
  for (const uint64_t pc : flow.entries) entries.push_back(pc - base);
  writer.put_all(std::span<const uint64_t>(entries));
  std::vector<CodeRange> blocks;
  blocks.reserve(flow.blocks.size());
  for (const auto& [pc, block] : flow.blocks) blocks.push_back({pc - base, block.end - pc});
  writer.put_all(std::span<const CodeRange>(blocks));
  for (const auto& [pc, bytes] : blocks) {
    writer.put(flow.mode_before(base + pc));
    writer.put_all(std::span(reinterpret_cast<const uint8_t*>(base + pc), bytes));
  }
  return writer.take();
}

support::Result<TranslationRequest> TranslationRequest::parse(std::span<const uint8_t> bytes) {
  const auto damaged = [] { return fail(ErrorKind::invalid_file, "a damaged request for a translation"); };
  SerialReader reader(bytes);
  TranslationRequest request;
  request.group = reader.get<uint64_t>();
  request.target = get_target(reader);
  request.flow.wave_size = request.target.wave_size;
  request.flow.instrumentation = Instrumentation::from_bits(reader.get<uint8_t>());
  request.flow.aids = reader.get<TranslationAids>();
  request.flow.mode = reader.get<CodeMode>();
  request.flow.registers = reader.get<RegisterCounts>();
  request.level = reader.get<semantics::HostVectors>();
  if (request.level > semantics::HostVectors::avx512) return damaged();
  request.flow.root = reader.get<uint64_t>();
  const auto entries = reader.get_all<uint64_t>();
  request.flow.entries.insert(entries.begin(), entries.end());
  const target::Processor* processor = request.target.processor;
  if (processor == nullptr || !processor->has_wave_size(request.target.wave_size)) return damaged();
  for (const auto& [pc, size] : reader.get_all<CodeRange>()) {
    auto mode = reader.get<CodeMode>();
    const auto code = reader.get_all<uint8_t>();
    if (code.size() != size || code.empty()) return damaged();
    Block& block = request.flow.blocks[pc];
    for (uint64_t at = 0; at < size;) {
      auto instruction = decode(std::span(code).subspan(at), request.target, request.flow.registers, mode.banks);
      if (!instruction || instruction->size > size - at) return damaged();
      if (pc + at == request.flow.aids.swapped && instruction->sources() >= 2) {
        isa::Operand* sources = &instruction->operands[instruction->destinations];
        std::swap(sources[0], sources[1]);
      }
      block.instructions.push_back({pc + at, *instruction, mode});
      mode = request.flow.mode_after(block.instructions.back());
      at += instruction->size;
    }
    block.end = pc + size;
    request.flow.instructions += block.instructions.size();
  }
  if (!reader.complete() || !request.flow.blocks.contains(request.flow.root)) return damaged();
  return request;
}

uint64_t TranslatedCode::fallbacks() const {
  uint64_t sum = 0;
  for (const auto& [name, count] : untranslated) sum += count;
  return sum;
}

std::vector<uint8_t> TranslatedCode::serialise() const {
  SerialWriter writer;
  writer.put_all(std::span(entries));
  writer.put_all(std::span(helper_pcs));
  writer.put_all(std::span(imports));
  writer.put_all(std::span(start_rows));
  writer.put(start_scalars);
  writer.put_all(std::span(code));
  writer.put(instructions);
  writer.put(seconds);
  writer.put(uint64_t{untranslated.size()});
  for (const auto& [name, count] : untranslated) {
    writer.put_text(name);
    writer.put(count);
  }
  return writer.take();
}

support::Result<TranslatedCode> TranslatedCode::parse(std::span<const uint8_t> bytes) {
  SerialReader reader(bytes);
  TranslatedCode result;
  result.entries = reader.get_all<EntryPoint>();
  result.helper_pcs = reader.get_all<uint64_t>();
  result.imports = reader.get_all<Import>();
  result.start_rows = reader.get_all<uint16_t>();
  result.start_scalars = reader.get<uint16_t>();
  result.code = reader.get_all<uint8_t>();
  result.instructions = reader.get<uint64_t>();
  result.seconds = reader.get<double>();
  const auto names = reader.get<uint64_t>();
  for (uint64_t i = 0; i < names && i < bytes.size(); ++i) {
    const std::string name = reader.get_text();
    result.untranslated[name] = reader.get<uint64_t>();
  }
  bool sound = reader.complete();
  for (const EntryPoint& entry : result.entries) sound &= entry.function < result.code.size();
  for (const Import& import : result.imports) {
    sound &= import.function < std::size(import_names) && uint64_t{import.slot} + 8 <= result.code.size();
  }
  if (!sound) return fail(ErrorKind::invalid_file, "damaged host code");
  return result;
}

}  // namespace Atoll::engine
