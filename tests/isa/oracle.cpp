#include "isa/oracle.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <regex>
#include <sstream>
#include <stdexcept>

#include "isa/newer_processors.h"
#include "support/command.h"

namespace Atoll::isa::test {
namespace {

/// The functions of LLVM's C interface (llvm-c/Disassembler.h) that are needed.
struct Library {
  void* (*create)(const char* triple, const char* cpu, const char* features, void* info, int tag, void*,
                  void*) = nullptr;
  size_t (*disassemble)(void* disassembler, uint8_t* bytes, uint64_t size, uint64_t pc, char* text,
                        size_t room) = nullptr;

  Library() {
    void* library = dlopen("libLLVM.so.22.1", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) throw std::runtime_error(fmt::format("LLVM 22 is missing: {}", dlerror()));
    for (const char* name :
         {"LLVMInitializeAMDGPUTargetInfo", "LLVMInitializeAMDGPUTargetMC", "LLVMInitializeAMDGPUDisassembler"}) {
      reinterpret_cast<void (*)()>(find(library, name))();
    }
    create = reinterpret_cast<decltype(create)>(find(library, "LLVMCreateDisasmCPUFeatures"));
    disassemble = reinterpret_cast<decltype(disassemble)>(find(library, "LLVMDisasmInstruction"));
  }

 private:
  static void* find(void* library, const char* name) {
    void* symbol = dlsym(library, name);
    if (symbol == nullptr) throw std::runtime_error(fmt::format("LLVM 22 has no {}", name));
    return symbol;
  }
};

const Library& library() {
  static const Library loaded;
  return loaded;
}

/// Blanks and tabs become one blank, those at the ends and comments go.
std::string without_layout(std::string_view text) {
  std::string plain;
  for (const char c : text.substr(0, text.find(';'))) {
    const bool blank = c == ' ' || c == '\t';
    if (blank && (plain.empty() || plain.back() == ' ')) continue;
    plain += blank ? ' ' : c;
  }
  while (!plain.empty() && plain.back() == ' ') plain.pop_back();
  return plain;
}

/// The child process: a line for each sequence, size and text.
[[noreturn]] void answer(int to, const std::string& processor, std::span<const Bytes> sequences,
                         const std::string& features) {
  FILE* out = fdopen(to, "w");
  if (out == nullptr) _exit(2);
  void* disassembler =
      library().create("amdgcn-amd-amdhsa", processor.c_str(), features.c_str(), nullptr, 0, nullptr, nullptr);
  if (disassembler == nullptr) _exit(2);
  for (Bytes bytes : sequences) {
    char text[512] = "";
    const size_t size = library().disassemble(disassembler, bytes.data(), bytes.size(), 0, text, sizeof text);
    std::fprintf(out, "%zu %s\n", size, size == 0 ? "" : text);
    std::fflush(out);
  }
  std::fclose(out);
  _exit(0);
}

/// The answers of one child, up to where it ended.
std::vector<Disassembled> answers(const std::string& processor, std::span<const Bytes> sequences,
                                  const std::string& features) {
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("no pipe");
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("no process");
  if (child == 0) {
    close(ends[0]);
    if (std::freopen("/dev/null", "w", stderr) == nullptr) _exit(2);
    answer(ends[1], processor, sequences, features);
  }
  close(ends[1]);
  std::string all;
  char buffer[65536];
  for (ssize_t count = 0; (count = read(ends[0], buffer, sizeof buffer)) > 0;) {
    all.append(buffer, static_cast<size_t>(count));
  }
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 2) {
    throw std::runtime_error(fmt::format("LLVM 22 has no disassembler for {}", processor));
  }
  std::vector<Disassembled> made;
  for (size_t from = 0, to = 0; (to = all.find('\n', from)) != std::string::npos; from = to + 1) {
    const std::string_view line = std::string_view(all).substr(from, to - from);
    const size_t blank = line.find(' ');
    made.push_back({without_layout(line.substr(blank)), std::stoul(std::string(line.substr(0, blank))), false});
  }
  return made;
}

}  // namespace

std::string spelled(const Bytes& bytes) {
  std::string text;
  for (const uint8_t byte : bytes)
    fmt::format_to(std::back_inserter(text), "{}0x{:02x}", text.empty() ? "" : " ", byte);
  return text;
}

std::vector<Assembled> assembled_by_llvm(std::string_view processor, std::span<const std::string> lines,
                                         std::string_view features) {
  const Atoll::test::TemporaryDirectory directory;
  std::string text;
  for (size_t i = 0; i < lines.size(); ++i) text += fmt::format("line_{}:\n{}\n", i, lines[i]);
  Atoll::test::write_file(directory / "lines.s", text);
  const auto command = fmt::format(
      "cd {} && timeout 600 llvm-mc-22 -triple=amdgcn-amd-amdhsa -mcpu={} -mattr={} -show-encoding lines.s 2>&1 "
      ">lines.txt",
      directory.path().string(), processor, features);
  const auto run = Atoll::test::run_command(command);
  if (run.exit_code != 0 && run.exit_code != 1) {
    throw std::runtime_error(fmt::format("llvm-mc-22 is missing or failed: {}", run.output));
  }

  // It goes on after a line that it refuses: "lines.s:8:1: error: what is wrong", and lines that show where.
  std::vector<Assembled> all(lines.size());
  std::istringstream messages(run.output);
  const std::regex error(R"(^lines\.s:(\d+):\d+: error: (.*)$)");
  std::smatch match;
  for (std::string line; std::getline(messages, line);) {
    if (line.starts_with("lines.s:") && std::regex_match(line, match, error)) {
      all.at(std::stoul(match[1]) / 2 - 1).error = match[2];
    }
  }
  // The labels say which lines were assembled: "\tv_nop    ; encoding: [0x00,0x00,0x00,0x7e]".
  std::ifstream listing(directory / "lines.txt");
  size_t current = 0;
  for (std::string line; std::getline(listing, line);) {
    if (line.starts_with("line_")) current = std::stoul(line.substr(5));
    constexpr std::string_view mark = "; encoding: [";
    const size_t encoding = line.find(mark);
    if (encoding == std::string::npos) continue;
    all.at(current).text = without_layout(line);
    for (size_t at = encoding + mark.size() - 1; line[at] != ']'; at = line.find_first_of(",]", at + 1)) {
      all[current].bytes.push_back(static_cast<uint8_t>(std::strtoul(&line[at + 1], nullptr, 16)));
    }
  }
  return all;
}

std::vector<Bytes> assemble(std::string_view processor, std::span<const std::string> lines, std::string_view features) {
  std::vector<Bytes> all;
  // Some that it refuses it assembles nevertheless.
  for (Assembled& line : assemble_and_print(processor, lines, features)) {
    all.push_back(line.error.empty() ? std::move(line.bytes) : Bytes());
  }
  return all;
}

std::vector<std::string> oracle_mnemonics() {
  Dl_info where{};
  if (dladdr(reinterpret_cast<void*>(library().create), &where) == 0) throw std::runtime_error("where is LLVM 22?");
  const std::vector<uint8_t> file = Atoll::test::read_bytes(where.dli_fname);
  // The table is a row of names, each after a byte that is its length.
  const auto is_name = [&](size_t at) {
    if (at >= file.size() || file[at] == 0 || at + file[at] >= file.size()) return false;
    return std::all_of(
        file.begin() + static_cast<ptrdiff_t>(at) + 1, file.begin() + static_cast<ptrdiff_t>(at + file[at]) + 1,
        [](uint8_t c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.'; });
  };
  constexpr std::string_view known = "\x09s_add_i32";
  const auto found = std::search(file.begin(), file.end(), known.begin(), known.end());
  if (found == file.end()) throw std::runtime_error("LLVM 22 has no table of mnemonics");
  const auto middle = static_cast<size_t>(found - file.begin());
  std::vector<std::string> names;
  const auto add = [&](size_t at) {
    names.emplace_back(reinterpret_cast<const char*>(file.data() + at + 1), static_cast<size_t>(file[at]));
  };
  for (size_t at = middle; is_name(at); at += file[at] + 1u) add(at);
  for (size_t at = middle, length = 1; length < 64 && length < at;) {
    if (file[at - 1 - length] != length || !is_name(at - 1 - length)) {
      ++length;
      continue;
    }
    at -= length + 1;
    add(at);
    length = 1;
  }
  return names;
}

std::vector<Disassembled> disassembled_by_llvm(std::string_view processor, std::span<const Bytes> sequences,
                                               std::string_view features) {
  library();  // before the children, which inherit it
  std::vector<Disassembled> all;
  while (all.size() < sequences.size()) {
    std::vector<Disassembled> some =
        answers(std::string(processor), sequences.subspan(all.size()), std::string(features));
    all.insert(all.end(), std::make_move_iterator(some.begin()), std::make_move_iterator(some.end()));
    if (all.size() < sequences.size()) all.push_back({{}, 0, true});
  }
  return all;
}

}  // namespace Atoll::isa::test
