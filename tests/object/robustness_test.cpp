// Every reader against damaged input: real files with bytes changed, cut and spliced, thousands of times. All that a
// reader may do is return a value or an error; what it returns must lie inside the bytes that it was given. The
// changes come from a seeded generator, so that a failure can be repeated.
#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <random>

#include "object/bundle.h"
#include "object/code_object.h"
#include "object/compiled.h"
#include "object/elf_file.h"
#include "object/relocation_type.h"
#include "support/bytes.h"
#include "support/command.h"

namespace Atoll::object {
namespace {

/// Follows everything that a code object points to, as a loader would: the address sanitizer sees what is outside.
uint64_t visit(const CodeObject& object) {
  uint64_t sum = 0;
  for (const Segment& segment : object.segments) {
    for (const uint8_t byte : segment.bytes) sum += byte;
    EXPECT_LE(segment.bytes.size(), segment.memory_size);
    EXPECT_LE(segment.address + segment.memory_size, object.memory_size);
  }
  for (const Symbol& symbol : object.symbols) sum += symbol.name.size() + std::hash<std::string_view>{}(symbol.name);
  for (const Symbol& symbol : object.functions) sum += std::hash<std::string_view>{}(symbol.name);
  for (const Relocation& relocation : object.relocations) {
    EXPECT_LE(relocation.offset + relocated_bytes(relocation.type), object.memory_size);
    EXPECT_TRUE(relocation.symbol == 0 || relocation.symbol < object.symbols.size());
  }
  for (const KernelMetadata& kernel : object.metadata.kernels) {
    for (const KernelArgument& argument : kernel.arguments)
      EXPECT_LE(argument.offset + argument.size, kernel.kernarg_segment_size);
    const Symbol* descriptor = object.find_symbol(kernel.symbol);
    if (descriptor == nullptr || !descriptor->defined) continue;
    for (const Segment& segment : object.segments) {
      const auto raw = support::read<RawKernelDescriptor>(segment.bytes, descriptor->value - segment.address);
      if (raw) sum += decode_kernel_descriptor(*raw, *object.target.processor).has_value() ? 1 : 0;
    }
  }
  return sum;
}

void damage(std::vector<uint8_t>& bytes, std::mt19937& random) {
  const auto below = [&](size_t limit) { return std::uniform_int_distribution<size_t>(0, limit - 1)(random); };
  // Headers and tables lie at the start and the end: most changes go there.
  const auto place = [&] {
    const size_t reach = std::min<size_t>(bytes.size(), below(2) != 0 ? 1024 : bytes.size());
    return below(4) == 0 ? bytes.size() - 1 - below(reach) : below(reach);
  };
  switch (below(5)) {
    case 0:
      bytes.resize(1 + below(bytes.size()));
      break;
    case 1: {  // a wild number where a number may be
      const size_t at = place() & ~size_t{3};
      const uint32_t wild[] = {0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x1000, static_cast<uint32_t>(bytes.size())};
      for (size_t i = 0; i < 4 && at + i < bytes.size(); i++)
        bytes[at + i] = static_cast<uint8_t>(wild[below(std::size(wild))] >> 8 * i);
      break;
    }
    case 2: {  // a piece from elsewhere
      const size_t to = place(), from = place(), size = 1 + below(64);
      for (size_t i = 0; i < size && to + i < bytes.size() && from + i < bytes.size(); i++)
        bytes[to + i] = bytes[from + i];
      break;
    }
    default:
      for (size_t count = 1 + below(8); count > 0; count--) bytes[place()] = static_cast<uint8_t>(below(256));
  }
}

/// `least_accepted`: what must be readable still, or the changes are too wild to test more than the first check.
void survive(const std::vector<uint8_t>& original, int rounds, int least_accepted, auto&& read) {
  std::mt19937 random(20261120);
  int refused = 0, accepted = 0;
  for (int round = 0; round < rounds; round++) {
    // A fresh allocation of just this size each time, so that the sanitizer knows its end.
    std::vector<uint8_t> bytes(original);
    for (int changes = 1 + round % 3; changes > 0; changes--) damage(bytes, random);
    bytes.shrink_to_fit();
    (read(bytes) ? accepted : refused)++;
    if (testing::Test::HasFailure()) FAIL() << "in round " << round;
  }
  EXPECT_GT(refused, rounds / 100);
  EXPECT_GE(accepted, least_accepted);
}

TEST(Robustness, DamagedCodeObjects) {
  const test::TemporaryDirectory directory;
  for (const auto& [compiler, version, target] :
       {std::tuple{"clang-15", 3, "gfx900"}, {"clang-19", 4, "gfx908"}, {"clang-22", 6, "gfx9-4-generic"}}) {
    SCOPED_TRACE(compiler);
    test::compile_code_object(compiler, version, target, directory / "kernels.co");
    const auto original = test::read_bytes(directory / "kernels.co");
    ASSERT_TRUE(read_code_object(original));
    survive(original, 3000, 30, [](const std::vector<uint8_t>& bytes) {
      const auto object = read_code_object(bytes);
      if (object) visit(*object);
      // Its own headers say how large an image is: more than there is must not be read to find out.
      (void)elf_image_size(bytes);
      return object.has_value();
    });
  }
}

TEST(Robustness, EveryTruncationOfACodeObjectIsRefused) {
  const test::TemporaryDirectory directory;
  test::compile_code_object("clang-22", 5, "gfx90a", directory / "kernels.co");
  const auto original = test::read_bytes(directory / "kernels.co");
  for (size_t size = 0; size < original.size(); size += size < 2048 ? 1 : 13) {
    const std::vector<uint8_t> bytes(original.begin(), original.begin() + static_cast<ptrdiff_t>(size));
    EXPECT_FALSE(read_code_object(bytes)) << size << " bytes of " << original.size();
  }
}

TEST(Robustness, AnyBytesAsAKernelDescriptor) {
  std::mt19937 random(20261120);
  int accepted = 0;
  for (const target::Processor& processor : target::processors()) {
    for (int round = 0; round < 2000; round++) {
      // Few bits set, where they mean something: else every descriptor is refused for a reserved bit.
      std::array<uint8_t, sizeof(RawKernelDescriptor)> bytes{};
      for (int bits = round % 12; bits > 0; bits--) {
        const auto bit = std::uniform_int_distribution<size_t>(0, 8 * bytes.size() - 1)(random);
        bytes[bit / 8] |= static_cast<uint8_t>(1 << bit % 8);
      }
      const auto decoded = decode_kernel_descriptor(std::bit_cast<RawKernelDescriptor>(bytes), processor);
      if (!decoded) continue;
      accepted++;
      EXPECT_GT(decoded->vgprs, 0);
      EXPECT_LE(decoded->vgprs + (processor.unified_vgprs ? decoded->agprs : 0), processor.addressable_vgprs);
      EXPECT_LE(decoded->group_segment_fixed_size, processor.lds_bytes);
      EXPECT_LE(decoded->user_sgprs, processor.user_sgprs);
      EXPECT_LE(decoded->work_item_ids, 2);
      EXPECT_TRUE(processor.has_agprs || decoded->agprs == 0);
    }
  }
  EXPECT_GT(accepted, 1000);
}

TEST(Robustness, DamagedBundles) {
  const test::TemporaryDirectory directory;
  test::compile_code_object("clang-15", 4, "gfx900", directory / "a.co");
  test::compile_code_object("clang-15", 4, "gfx90a", directory / "b.co");
  for (const char* option : {"", "-compress"}) {
    SCOPED_TRACE(option);
    const auto run = test::run_command(fmt::format(
        "cd {} && clang-offload-bundler-19 -type=o -targets=host-x86_64-unknown-linux,hipv4-amdgcn-amd-amdhsa--gfx900,"
        "hipv4-amdgcn-amd-amdhsa--gfx90a -input=/dev/null -input=a.co -input=b.co -output=bundle {} 2>&1",
        directory.path().string(), option));
    ASSERT_EQ(run.exit_code, 0) << run.output;
    const auto original = test::read_bytes(directory / "bundle");
    ASSERT_TRUE(find_code_objects(original));
    // Hardly any change to a compressed bundle gets past its hash.
    survive(original, 2000, *option == '\0' ? 20 : 0, [](const std::vector<uint8_t>& bytes) {
      const auto found = find_code_objects(bytes);
      if (!found) return false;
      for (const FoundCodeObject& each : found->code_objects)
        if (const auto object = read_code_object(each.bytes)) visit(*object);
      (void)choose_code_objects(*found, *target::parse_target_id("gfx900:xnack-"));
      return true;
    });
  }
}

TEST(Robustness, DamagedHipPrograms) {
  const test::TemporaryDirectory directory;
  test::write_file(
      directory / "program.hip",
      "#include <hip/hip_runtime.h>\n__global__ void k(int* p) { *p = 1; }\nint main() { k<<<1, 1>>>(0); }\n");
  const auto run = test::run_command(fmt::format(
      "cd {} && hipcc --offload-arch=gfx906 program.hip -o program >/dev/null 2>&1", directory.path().string()));
  ASSERT_EQ(run.exit_code, 0);
  const auto original = test::read_bytes(directory / "program");
  survive(original, 500, 5, [](const std::vector<uint8_t>& bytes) { return find_code_objects(bytes).has_value(); });
}

// Each byte of the ELF header and of the program and section headers with other values: what is read, and what
// `atoll inspect` so prints, lies in the file.
TEST(Robustness, HeadersThatPointOutsideOfTheFileAreErrors) {
  const test::TemporaryDirectory directory;
  const std::string path = directory / "k.co";
  test::compile_code_object("clang-22", 5, "gfx900", path);
  const auto original = test::read_bytes(path);
  Elf64_Ehdr header;
  std::memcpy(&header, original.data(), sizeof header);
  std::vector<size_t> places;
  for (size_t i = 0; i < header.e_phoff + header.e_phnum * sizeof(Elf64_Phdr); i++) places.push_back(i);
  for (size_t i = header.e_shoff; i < original.size(); i++) places.push_back(i);
  unsigned refused = 0;
  for (const size_t place : places) {
    for (const int change : {0x01, 0x10, 0x80, 0xFF}) {
      auto bytes = original;
      bytes[place] ^= static_cast<uint8_t>(change);
      const auto file = read_elf_file(bytes);
      refused += !file;
      if (!file) continue;
      for (const Elf64_Phdr& segment : file->segments)
        EXPECT_TRUE(segment.p_type == PT_NULL ||
                    (segment.p_offset <= bytes.size() && segment.p_filesz <= bytes.size() - segment.p_offset))
            << "byte " << place << " ^ " << change;
    }
  }
  EXPECT_GT(refused, 500u);
  auto bytes = original;
  Elf64_Phdr segment;
  std::memcpy(&segment, bytes.data() + header.e_phoff, sizeof segment);
  segment.p_filesz = segment.p_memsz = 0x1000000;
  std::memcpy(bytes.data() + header.e_phoff, &segment, sizeof segment);
  const auto file = read_elf_file(bytes);
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().message,
            fmt::format("program header 0 is for 16777216 bytes from byte {} on, the file has {} bytes in all",
                        segment.p_offset, bytes.size()));
}

}  // namespace
}  // namespace Atoll::object
