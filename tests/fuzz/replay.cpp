// Runs a fuzzer without libFuzzer: over every file of a corpus, and over changed copies of them, the same each time.
#include <algorithm>
#include <filesystem>
#include <random>
#include <vector>

#include "fuzz/fuzzer.h"
#include "support/command.h"

namespace {

using Bytes = std::vector<uint8_t>;

void run(const Bytes& bytes) {
  // A separate copy, so that the sanitizers detect reads beyond its end.
  const Bytes copy(bytes.begin(), bytes.end());
  LLVMFuzzerTestOneInput(copy.data(), copy.size());
}

Bytes changed(const std::vector<Bytes>& corpus, std::mt19937& random) {
  const auto below = [&](size_t limit) { return std::uniform_int_distribution<size_t>(0, limit - 1)(random); };
  Bytes bytes = corpus[below(corpus.size())];
  for (size_t changes = 1 + below(4); changes > 0 && !bytes.empty(); --changes) {
    const size_t at = below(bytes.size());
    switch (below(5)) {
      case 0:
        bytes[at] ^= static_cast<uint8_t>(1u << below(8));
        break;
      case 1:
        bytes[at] = static_cast<uint8_t>(random());
        break;
      case 2:
        for (size_t i = at; i < std::min(at + 4, bytes.size()); ++i) bytes[i] = below(2) == 0 ? 0xFF : 0;
        break;
      case 3:
        bytes.resize(at);
        break;
      default: {  // a piece of another one
        const Bytes& other = corpus[below(corpus.size())];
        if (other.empty()) break;
        const size_t from = below(other.size()), count = std::min(below(64) + 1, other.size() - from);
        bytes.insert(bytes.begin() + static_cast<ptrdiff_t>(at), other.begin() + static_cast<ptrdiff_t>(from),
                     other.begin() + static_cast<ptrdiff_t>(from + count));
        break;
      }
    }
  }
  return bytes;
}

}  // namespace

/// replay DIRECTORY CHANGED-COPIES
int main(int argc, char** argv) {
  if (argc != 3) return 2;
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(argv[1])) paths.push_back(entry.path());
  std::ranges::sort(paths);
  std::vector<Bytes> corpus;
  for (const auto& path : paths) corpus.push_back(Atoll::test::read_bytes(path));
  if (corpus.empty()) return 2;
  for (const Bytes& bytes : corpus) run(bytes);
  std::mt19937 random(1);
  for (int i = std::atoi(argv[2]); i > 0; --i) run(changed(corpus, random));
  std::printf("%zu files, %s changed copies\n", corpus.size(), argv[2]);
  return 0;
}
