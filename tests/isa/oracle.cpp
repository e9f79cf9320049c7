#include "isa/oracle.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <stdexcept>

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
[[noreturn]] void answer(int to, const std::string& processor, std::span<const Bytes> sequences) {
  FILE* out = fdopen(to, "w");
  void* disassembler = library().create("amdgcn-amd-amdhsa", processor.c_str(), "", nullptr, 0, nullptr, nullptr);
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
std::vector<Disassembled> answers(const std::string& processor, std::span<const Bytes> sequences) {
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("no pipe");
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("no process");
  if (child == 0) {
    close(ends[0]);
    if (std::freopen("/dev/null", "w", stderr) == nullptr) _exit(2);
    answer(ends[1], processor, sequences);
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

std::vector<Disassembled> disassemble(std::string_view processor, std::span<const Bytes> sequences) {
  library();  // before the children, which inherit it
  std::vector<Disassembled> all;
  while (all.size() < sequences.size()) {
    std::vector<Disassembled> some = answers(std::string(processor), sequences.subspan(all.size()));
    all.insert(all.end(), std::make_move_iterator(some.begin()), std::make_move_iterator(some.end()));
    if (all.size() < sequences.size()) all.push_back({{}, 0, true});
  }
  return all;
}

std::vector<Bytes> assemble(std::string_view processor, std::span<const std::string> lines) {
  const Atoll::test::TemporaryDirectory directory;
  const std::string source = directory / "lines.s", listing = directory / "lines.txt";
  {
    std::ofstream file(source);
    for (size_t i = 0; i < lines.size(); ++i) file << "line_" << i << ":\n" << lines[i] << '\n';
  }
  // It goes on behind a line that it refuses; the labels say which lines were assembled.
  const std::string command =
      fmt::format("timeout 600 llvm-mc-22 -triple=amdgcn-amd-amdhsa -mcpu={} -show-encoding {} > {} 2> /dev/null",
                  processor, source, listing);
  const int status = std::system(command.c_str());
  if (!WIFEXITED(status) || WEXITSTATUS(status) > 1) {
    throw std::runtime_error(fmt::format("llvm-mc-22 is missing or failed: {}", command));
  }
  std::vector<Bytes> made(lines.size());
  std::ifstream file(listing);
  size_t current = lines.size();
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("line_")) current = std::stoul(line.substr(5));
    constexpr std::string_view mark = "encoding: [";
    size_t at = line.find(mark);
    if (at == std::string::npos || current >= made.size()) continue;
    for (at += mark.size(); at < line.size() && line[at] != ']'; at = line.find_first_of(",]", at) + 1) {
      made[current].push_back(static_cast<uint8_t>(std::strtoul(&line[at], nullptr, 16)));
      if (line.find_first_of(",]", at) == line.find(']', at)) break;
    }
  }
  return made;
}

}  // namespace Atoll::isa::test
