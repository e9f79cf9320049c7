// tools: executing a kernel in both engines and locating the first difference (compare_engines.h).
#include "tools/compare_engines.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>

#include <fmt/format.h>

#include "engine/compiled/serial.h"
#include "library/element_type.h"
#include "machine/gpu.h"
#include "machine/loader.h"
#include "machine/report/code_address.h"
#include "machine/wave/dispatch.h"
#include "machine/wave/wave.h"
#include "support/mapped_file.h"
#include "support/settings.h"

namespace Atoll::tools {

using support::ErrorKind;
using support::fail;
using support::Result;

namespace {

/// "v_add_f32_e32 v0, s1, v2 at scale+0x48 (0x1848)".
std::string describe(const machine::Dispatch& dispatch, uint64_t pc) {
  const machine::LoadedCode& code = *dispatch.launch.code;
  if (!code.contains(pc)) return fmt::format("{:#x}", pc);
  const std::string instruction = machine::code_address(*dispatch.gpu, pc, dispatch.launch.wave_size).instruction();
  const std::string_view function = code.function_at(pc);
  const bool is_kernel = function == code.function_at(dispatch.kernel->entry);
  std::string place(function);
  if (!place.empty()) place += is_kernel ? fmt::format("+{:#x} ", pc - dispatch.kernel->entry) : " ";
  return fmt::format("{} at {}({:#x})", instruction.empty() ? "data" : instruction, place, pc - code.base());
}

std::vector<uint8_t> serialise(const Result<void>& executed, const EngineOutcome& outcome) {
  engine::SerialWriter writer;
  writer.put(executed.has_value());
  writer.put(executed ? ErrorKind{} : executed.error().kind);
  writer.put_text(executed ? "" : executed.error().message);
  writer.put_text(outcome.failure);
  writer.put(outcome.translated);
  writer.put(outcome.fallbacks);
  writer.put(outcome.code_bytes);
  writer.put_text(outcome.instruction);
  writer.put_text(outcome.last_writer);
  writer.put(uint64_t{outcome.buffers.size()});
  for (const ComparedBuffer& buffer : outcome.buffers) {
    writer.put_text(buffer.name);
    writer.put_text(buffer.element_type);
    writer.put(buffer.address);
    writer.put_all(std::span(buffer.bytes));
  }
  return writer.take();
}

Result<EngineOutcome> parse(std::span<const uint8_t> bytes) {
  engine::SerialReader reader(bytes);
  const bool executed = reader.get<bool>();
  const auto kind = reader.get<ErrorKind>();
  std::string message = reader.get_text();
  EngineOutcome outcome;
  outcome.failure = reader.get_text();
  outcome.translated = reader.get<uint64_t>();
  outcome.fallbacks = reader.get<uint64_t>();
  outcome.code_bytes = reader.get<uint64_t>();
  outcome.instruction = reader.get_text();
  outcome.last_writer = reader.get_text();
  const auto buffers = reader.get<uint64_t>();
  for (uint64_t i = 0; i < buffers && i < bytes.size(); ++i) {
    ComparedBuffer& buffer = outcome.buffers.emplace_back();
    buffer.name = reader.get_text();
    buffer.element_type = reader.get_text();
    buffer.address = reader.get<uint64_t>();
    buffer.bytes = reader.get_all<uint8_t>();
  }
  if (!reader.complete()) return fail(ErrorKind::system, "the kernel's process ended without a result");
  if (!executed) return std::unexpected(support::Error{kind, std::move(message)});
  return outcome;
}

void set(support::Setting setting, const std::string& value) {
  setenv(support::row_of(setting).name, value.c_str(), 1);
}

/// The child's part: executes the kernel and writes the outcome to `file`.
[[noreturn]] void execute_in_child(const EngineRun& run, const ExecuteInEngine& execute, int file) {
  set(support::Setting::compile, "wait");
  set(support::Setting::cache, "off");  // bisection makes code that no other run needs
  if (run.limit) set(support::Setting::compile_limit, fmt::format("{:#x}", *run.limit));
  EngineOutcome outcome;
  EngineProbe probe(run, outcome);
  const auto executed = execute(run, outcome, run.engine == "interpreter" ? &probe : nullptr);
  const std::vector<uint8_t> bytes = serialise(executed, outcome);
  for (size_t written = 0; written < bytes.size();) {
    const ssize_t more = write(file, bytes.data() + written, bytes.size() - written);
    if (more <= 0) _exit(1);
    written += static_cast<size_t>(more);
  }
  _exit(0);
}

/// Executes the kernel in a process of its own.
Result<EngineOutcome> execute_apart(const EngineRun& run, const ExecuteInEngine& execute) {
  const auto refused = [](const char* what) { return fail(ErrorKind::system, "{}: {}", what, std::strerror(errno)); };
  const int file = memfd_create("atoll-compare-engines", MFD_CLOEXEC);
  if (file < 0) return refused("memfd_create");
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) execute_in_child(run, execute, file);
  if (child < 0) {
    close(file);
    return refused("fork");
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status)) {
    close(file);
    EngineOutcome outcome;
    outcome.failure = fmt::format("the process ended with signal {}", WTERMSIG(status));
    return outcome;
  }
  const off_t size = lseek(file, 0, SEEK_END);
  std::vector<uint8_t> bytes(size > 0 ? static_cast<size_t>(size) : 0);
  size_t got = 0;
  while (got < bytes.size()) {
    const ssize_t more = pread(file, bytes.data() + got, bytes.size() - got, static_cast<off_t>(got));
    if (more <= 0) break;
    got += static_cast<size_t>(more);
  }
  close(file);
  return parse(std::span(bytes).first(got));
}

bool is_same(const EngineOutcome& a, const EngineOutcome& b) {
  return a.failure == b.failure &&
         std::ranges::equal(a.buffers, b.buffers, {}, &ComparedBuffer::bytes, &ComparedBuffer::bytes);
}

struct Difference {
  const ComparedBuffer *expected = nullptr, *actual = nullptr;
  size_t byte = 0;  ///< the first that differs
};

std::optional<Difference> first_difference(const EngineOutcome& expected, const EngineOutcome& actual) {
  for (size_t i = 0; i < std::min(expected.buffers.size(), actual.buffers.size()); ++i) {
    const ComparedBuffer &a = expected.buffers[i], &b = actual.buffers[i];
    const auto [at, other] = std::ranges::mismatch(a.bytes, b.bytes);
    if (at != a.bytes.end()) return Difference{&a, &b, static_cast<size_t>(at - a.bytes.begin())};
  }
  return std::nullopt;
}

void print(const Difference& difference) {
  const library::ElementType& type = *library::find_element_type(difference.expected->element_type);
  const size_t element = difference.byte / type.size, count = difference.expected->bytes.size() / type.size;
  const auto bytes_at = [&](const ComparedBuffer& buffer, size_t number) {
    return reinterpret_cast<const std::byte*>(buffer.bytes.data() + number * type.size);
  };
  size_t different = 0;
  for (size_t i = element; i < count; ++i)
    different += std::memcmp(bytes_at(*difference.expected, i), bytes_at(*difference.actual, i), type.size) != 0;
  if (element >= count) {  // bytes behind the last whole element
    fmt::print("  {}, byte {}: interpreter {:#04x}, compiled {:#04x}\n", difference.expected->name, difference.byte,
               difference.expected->bytes[difference.byte], difference.actual->bytes[difference.byte]);
    return;
  }
  const auto hexadecimal = [&](const ComparedBuffer& buffer) {
    uint64_t bits = 0;
    std::memcpy(&bits, bytes_at(buffer, element), type.size);
    return fmt::format("{:#0{}x}", bits, 2 + 2 * type.size);
  };
  fmt::print("  {}, element {} of {} x {} (byte {}): interpreter {} ({}), compiled {} ({})\n",
             difference.expected->name, element, count, type.name, difference.byte,
             library::print_number(type, bytes_at(*difference.expected, element)), hexadecimal(*difference.expected),
             library::print_number(type, bytes_at(*difference.actual, element)), hexadecimal(*difference.actual));
  fmt::print("  {} of {} elements differ\n", different, count);
}

void print_failures(const EngineOutcome& expected, const EngineOutcome& actual) {
  if (expected.failure == actual.failure) return;
  const auto text = [](const std::string& failure) { return failure.empty() ? "the kernel ended" : failure; };
  fmt::print("  interpreter: {}\n  compiled: {}\n", text(expected.failure), text(actual.failure));
}

/// Finds the first instruction whose translation changes the result, and prints it.
Result<void> bisect(const EngineOutcome& expected, const ExecuteInEngine& execute) {
  const auto agrees = [&](uint64_t limit) -> Result<bool> {
    const auto outcome = execute_apart({.engine = "compiled", .limit = limit}, execute);
    if (!outcome) return std::unexpected(outcome.error());
    return is_same(expected, *outcome);
  };
  constexpr uint64_t grain = 4;  // instructions are whole words
  uint64_t good = 0, bad = (expected.code_bytes + grain - 1) / grain;
  const auto starts_equal = agrees(0);
  if (!starts_equal) return std::unexpected(starts_equal.error());
  if (!*starts_equal) {
    fmt::print("  the results differ even if only control flow is translated\n");
    return {};
  }
  while (bad - good > 1) {
    const uint64_t middle = good + (bad - good) / 2;
    const auto equal = agrees(middle * grain);
    if (!equal) return std::unexpected(equal.error());
    (*equal ? good : bad) = middle;
  }
  const auto described = execute_apart({.engine = "interpreter", .described = good * grain}, execute);
  if (!described) return std::unexpected(described.error());
  fmt::print("  first wrong translation: {}\n", described->instruction);
  fmt::print("  {}={:#x} gives the interpreter's result, {:#x} does not\n",
             support::row_of(support::Setting::compile_limit).name, good * grain, bad * grain);
  return {};
}

}  // namespace

void EngineProbe::dispatch_begins(const machine::Dispatch& dispatch) {
  outcome_.code_bytes = dispatch.launch.code->size();
  if (run_.described) outcome_.instruction = describe(dispatch, dispatch.launch.code->base() + *run_.described);
}

void EngineProbe::access(const machine::Wave& wave, const machine::AccessEvent& access) {
  if (!access.writes || access.space != machine::Space::global) return;
  for (unsigned lane = 0; lane < wave.wave_size; ++lane) {
    if ((access.lanes >> lane & 1) == 0 || run_.watched_byte - access.addresses[lane] >= access.bytes) continue;
    const machine::WorkGroup& group = *wave.work_group;
    outcome_.last_writer =
        fmt::format("{}, work-group {},{},{}, wave {}, lane {}", describe(*group.dispatch, access.pc), group.id[0],
                    group.id[1], group.id[2], wave.index, lane);
  }
}

Result<int> compare_engines(const std::string& kernel, const ExecuteInEngine& execute) {
  const auto expected = execute_apart({.engine = "interpreter"}, execute);
  if (!expected) return std::unexpected(expected.error());
  const auto actual = execute_apart({.engine = "compiled"}, execute);
  if (!actual) return std::unexpected(actual.error());
  if (is_same(*expected, *actual)) {
    uint64_t bytes = 0;
    for (const ComparedBuffer& buffer : expected->buffers) bytes += buffer.bytes.size();
    fmt::print(
        "{}: the engines' results are equal: {} buffers, {} bytes; {} instructions compiled, {} of them left to "
        "the interpreter\n",
        kernel, expected->buffers.size(), bytes, actual->translated, actual->fallbacks);
    if (!expected->failure.empty()) fmt::print("  both: {}\n", expected->failure);
    return 0;
  }
  fmt::print("{}: the engines' results differ\n", kernel);
  print_failures(*expected, *actual);
  const auto difference = first_difference(*expected, *actual);
  if (difference) print(*difference);
  const uint64_t watched = difference ? difference->expected->address + difference->byte : 0;
  const auto again = execute_apart({.engine = "interpreter", .watched_byte = watched}, execute);
  if (!again) return std::unexpected(again.error());
  if (!is_same(*expected, *again)) {
    fmt::print("  the interpreter's results differ from run to run: they depend on time or on addresses\n");
    return engines_differ;
  }
  if (difference)
    fmt::print("  last written by {}\n", again->last_writer.empty() ? "no instruction" : again->last_writer);
  if (const auto done = bisect(*expected, execute); !done) return std::unexpected(done.error());
  return engines_differ;
}

}  // namespace Atoll::tools
