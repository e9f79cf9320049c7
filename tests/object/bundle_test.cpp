// Offload bundles as clang-offload-bundler and hipcc make them: reading, finding them in programs, choosing from them.
#include "object/bundle.h"

#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <fstream>
#include <string>

#include "object/bundle_writer.h"
#include "object/code_object.h"
#include "object/compiled.h"
#include "object/md5.h"
#include "support/bytes.h"
#include "support/command.h"
#include "support/mapped_file.h"
#include "target/product.h"

namespace Atoll::object {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

target::TargetId gpu(std::string_view name) { return target::find_gpu(name).value().target; }

/// Three code objects and the bundle of them.
class Bundles : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    directory = new test::TemporaryDirectory;
    std::string targets = "host-x86_64-unknown-linux", inputs = "-input=/dev/null";
    for (const char* target : {"gfx900", "gfx90a:xnack+", "gfx90a:xnack-"}) {
      const std::string path = *directory / (std::string(target) + ".co");
      test::compile_code_object("clang-15", 4, target, path);
      code_objects.push_back(test::read_bytes(path));
      targets += fmt::format(",hipv4-amdgcn-amd-amdhsa--{}", target);
      inputs += " -input=" + path;
    }
    bundler = "clang-offload-bundler-19 -type=o -bundle-align=4096 -targets=" + targets + " " + inputs;
    plain = bundle("");
    compressed = bundle("-compress");
  }
  static void TearDownTestSuite() {
    delete directory;
    code_objects.clear();
  }

  static std::vector<uint8_t> bundle(const std::string& options) {
    const std::string path = *directory / "bundle";
    const auto run = test::run_command(fmt::format("{} {} -output={} 2>&1", bundler, options, path));
    EXPECT_EQ(run.exit_code, 0) << run.output;
    return test::read_bytes(path);
  }

  static void expect_the_three(const Bundle& read) {
    ASSERT_EQ(read.entries.size(), 4u);
    EXPECT_EQ(read.entries[0].id, "host-x86_64-unknown-linux--");
    EXPECT_EQ(read.entries[3].id, "hipv4-amdgcn-amd-amdhsa--gfx90a:xnack-");
    for (size_t i = 0; i < 3; i++) EXPECT_TRUE(std::ranges::equal(read.entries[i + 1].bytes, code_objects[i]));
  }

  static inline test::TemporaryDirectory* directory = nullptr;
  static inline std::vector<std::vector<uint8_t>> code_objects;
  static inline std::vector<uint8_t> plain, compressed;
  static inline std::string bundler;
};

TEST_F(Bundles, ReadsPlainOnes) {
  uint64_t consumed = 0;
  const auto read = read_bundle(plain, &consumed);
  ASSERT_TRUE(read) << read.error().message;
  expect_the_three(*read);
  EXPECT_EQ(consumed, plain.size());
}

TEST_F(Bundles, ReadsCompressedOnes) {
  ASSERT_EQ(std::string(compressed.begin(), compressed.begin() + 4), "CCOB");
  uint64_t consumed = 0;
  const auto read = read_bundle(compressed, &consumed);
  ASSERT_TRUE(read) << read.error().message;
  expect_the_three(*read);
  EXPECT_EQ(consumed, compressed.size());
}

// The layouts of the other versions are documented; the bundler at hand writes version 2 only. Their headers are made
// by hand before its compressed data.
TEST_F(Bundles, ReadsEveryVersionOfTheCompressedHeader) {
  ASSERT_EQ(compressed[4], 2);
  const std::vector<uint8_t> data(compressed.begin() + 24, compressed.end());
  const auto put = [](std::vector<uint8_t>& bytes, uint64_t value, int size) {
    for (int i = 0; i < size; i++) bytes.push_back(static_cast<uint8_t>(value >> 8 * i));
  };
  for (const int version : {1, 3}) {
    SCOPED_TRACE(version);
    std::vector<uint8_t> bytes{'C', 'C', 'O', 'B', static_cast<uint8_t>(version), 0, compressed[6], compressed[7]};
    if (version == 3) put(bytes, 32 + data.size(), 8);
    put(bytes, plain.size(), version == 3 ? 8 : 4);
    bytes.insert(bytes.end(), compressed.begin() + 16, compressed.begin() + 24);  // the hash
    bytes.insert(bytes.end(), data.begin(), data.end());
    const size_t size = bytes.size();
    bytes.resize(size + 100);
    uint64_t consumed = 0;
    const auto read = read_bundle(bytes, &consumed);
    ASSERT_TRUE(read) << read.error().message;
    expect_the_three(*read);
    EXPECT_EQ(consumed, size);
  }
}

TEST_F(Bundles, FindsSeveralWithPaddingBetween) {
  std::vector<uint8_t> file = plain;
  file.resize(file.size() + 4096 - file.size() % 4096);
  file.insert(file.end(), compressed.begin(), compressed.end());
  file.resize(file.size() + 77);
  const auto found = find_code_objects(file);
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_EQ(found->code_objects.size(), 6u);
  EXPECT_EQ(found->code_objects[1].where, "bundle 0, entry hipv4-amdgcn-amd-amdhsa--gfx90a:xnack+");
  EXPECT_EQ(found->code_objects[3].where, "bundle 1, entry hipv4-amdgcn-amd-amdhsa--gfx900");
  for (size_t i = 0; i < 6; i++)
    EXPECT_TRUE(std::ranges::equal(found->code_objects[i].bytes, code_objects[i % 3])) << i;
}

// Who wants to know which targets there are need not unpack anything.
TEST_F(Bundles, TellTheirTargetsUnpackedOrNot) {
  std::vector<uint8_t> both = compressed;
  both.insert(both.end(), plain.begin(), plain.end());
  const auto found = find_targets(both);
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_EQ(found->code_objects.size(), 6u);
  for (size_t i = 0; i < 6; i++) {
    EXPECT_EQ(found->code_objects[i].bundle, i / 3);
    EXPECT_EQ(found->code_objects[i].bytes.empty(), i < 3);
    EXPECT_EQ(found->code_objects[i].id, found->code_objects[i % 3].id);
  }
  EXPECT_EQ(targets_of(*found), "gfx900, gfx90a:xnack+, gfx90a:xnack-");
  const auto chosen = choose_code_objects(*found, gpu("gfx90a:xnack+"));
  ASSERT_TRUE(chosen) << chosen.error().message;
  ASSERT_EQ(chosen->size(), 2u);
  EXPECT_EQ((*chosen)[0].id, "hipv4-amdgcn-amd-amdhsa--gfx90a:xnack+");
  EXPECT_EQ((*chosen)[1].id, "hipv4-amdgcn-amd-amdhsa--gfx90a:xnack+");
  const FoundCodeObjects whole = find_code_objects(both).value();
  EXPECT_EQ(choose_gpu({&*found, 1})->target.to_string(), choose_gpu({&whole, 1})->target.to_string());
  EXPECT_FALSE(code_that_does_not_run(both, gpu("gfx900")));
  const auto unfit = code_that_does_not_run(both, gpu("gfx906"));
  ASSERT_TRUE(unfit);
  EXPECT_EQ(targets_of(*unfit), "gfx900, gfx90a:xnack+, gfx90a:xnack-");
  EXPECT_EQ(who_runs(*unfit), "--gpu gfx90a:sramecc+:xnack- runs it");
}

TEST_F(Bundles, ABareCodeObjectIsFoundAsItself) {
  const auto found = find_code_objects(code_objects[2]);
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_EQ(found->code_objects.size(), 1u);
  EXPECT_EQ(found->code_objects[0].id, "gfx90a:xnack-");
}

TEST_F(Bundles, ChoosesTheMostSpecific) {
  const auto found = find_code_objects(plain);
  ASSERT_TRUE(found);
  const auto chosen = [&](std::string_view name) {
    const auto best = choose_code_objects(*found, gpu(name));
    if (!best) return best.error().message;
    EXPECT_EQ(best->size(), 1u);
    return best->front().id;
  };
  EXPECT_EQ(chosen("gfx900"), "hipv4-amdgcn-amd-amdhsa--gfx900");
  EXPECT_EQ(chosen("mi250x"), "hipv4-amdgcn-amd-amdhsa--gfx90a:xnack-");
  EXPECT_EQ(chosen("mi250x:xnack+"), "hipv4-amdgcn-amd-amdhsa--gfx90a:xnack+");
  EXPECT_EQ(chosen("mi100"),
            "no GPU code for gfx908:sramecc+:xnack-; the file has code for gfx900, gfx90a:xnack+, gfx90a:xnack-");
}

TEST_F(Bundles, ChoosesFromEachBundle) {
  std::vector<uint8_t> file = plain;
  file.resize(file.size() + 4096 - file.size() % 4096);
  file.insert(file.end(), compressed.begin(), compressed.end());
  const auto found = find_code_objects(file);
  ASSERT_TRUE(found);
  const auto chosen = choose_code_objects(*found, gpu("mi250x"));
  ASSERT_TRUE(chosen) << chosen.error().message;
  ASSERT_EQ(chosen->size(), 2u);
  EXPECT_EQ((*chosen)[0].where, "bundle 0, entry hipv4-amdgcn-amd-amdhsa--gfx90a:xnack-");
  EXPECT_EQ((*chosen)[1].where, "bundle 1, entry hipv4-amdgcn-amd-amdhsa--gfx90a:xnack-");

  // A GPU that every bundle has code for is chosen before one that only some have.
  FoundCodeObjects mixed;
  mixed.code_objects = {{"", "", code_objects[2], 0}, {"", "", code_objects[0], 0}, {"", "", code_objects[0], 1}};
  EXPECT_EQ(choose_gpu(std::span(&mixed, 1))->target.to_string(), "gfx900:xnack-");
  mixed.code_objects = {{"", "", code_objects[2], 0}, {"", "", code_objects[0], 1}};
  EXPECT_EQ(choose_gpu(std::span(&mixed, 1))->target.to_string(), "gfx90a:sramecc+:xnack-");
}

TEST_F(Bundles, PrefersTheProcessorsOwnCodeToAGenericOne) {
  const std::string generic = *directory / "generic.co", own = *directory / "own.co";
  test::compile_code_object("clang-22", 6, "gfx9-generic", generic);
  test::compile_code_object("clang-22", 6, "gfx906", own);
  const auto generic_bytes = test::read_bytes(generic), own_bytes = test::read_bytes(own);
  FoundCodeObjects found;
  found.code_objects.push_back({"first", "generic", generic_bytes, 0});
  EXPECT_EQ(choose_code_objects(found, gpu("gfx906"))->front().id, "generic");
  found.code_objects.push_back({"second", "own", own_bytes, 0});
  EXPECT_EQ(choose_code_objects(found, gpu("gfx906"))->front().id, "own");
  EXPECT_EQ(choose_code_objects(found, gpu("gfx902"))->front().id, "generic");
}

TEST_F(Bundles, FindsThemInHipPrograms) {
  test::write_file(*directory / "program.hip", R"(
#include <hip/hip_runtime.h>
__global__ void add(float* a, const float* b) { a[threadIdx.x] += b[threadIdx.x]; }
int main() { add<<<1, 64>>>(nullptr, nullptr); }
)");
  const std::string program = *directory / "program";
  const auto run = test::run_command(fmt::format(
      "hipcc --offload-arch=gfx906 --offload-arch=gfx90a:xnack- {}.hip -o {} >/dev/null 2>&1", program, program));
  ASSERT_EQ(run.exit_code, 0);
  const auto file = test::read_bytes(program);
  const auto found = find_code_objects(file);
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_EQ(found->code_objects.size(), 2u);
  EXPECT_EQ(found->code_objects[0].where, "section .hip_fatbin, bundle 0, entry hipv4-amdgcn-amd-amdhsa--gfx906");
  EXPECT_EQ(found->code_objects[1].id, "hipv4-amdgcn-amd-amdhsa--gfx90a:xnack-");

  // Without a section table they are still found, by where they lie.
  ASSERT_EQ(test::run_command(fmt::format("llvm-objcopy-22 --strip-sections {0} {0}.stripped", program)).exit_code, 0);
  const auto stripped = test::read_bytes(program + ".stripped");
  const auto still = find_code_objects(stripped);
  ASSERT_TRUE(still) << still.error().message;
  ASSERT_EQ(still->code_objects.size(), 2u);
  EXPECT_TRUE(std::ranges::equal(still->code_objects[1].bytes, found->code_objects[1].bytes));
}

TEST_F(Bundles, ChoosesAGpuThatRunsTheCode) {
  const auto gpu_for = [&](std::initializer_list<std::string> targets) {
    std::vector<std::vector<uint8_t>> files;
    FoundCodeObjects found;
    for (const std::string& target : targets) {
      const std::string path = *directory / "one.co";
      if (target == "gfx1310") {
        test::compile_code_object_of_gfx1310(path);
      } else {
        test::compile_code_object("clang-22", 6, target, path);
      }
      files.push_back(test::read_bytes(path));
      found.code_objects.push_back({"somewhere", target, files.back(), 0});
    }
    const auto model = choose_gpu(std::span(&found, 1));
    return model ? model->target.to_string() : model.error().message;
  };
  EXPECT_EQ(gpu_for({"gfx900", "gfx90a"}), "gfx90a:sramecc+:xnack-");
  EXPECT_EQ(gpu_for({"gfx906"}), "gfx906:sramecc+:xnack-");
  EXPECT_EQ(gpu_for({"gfx90a:xnack+"}), "gfx90a:sramecc+:xnack+");
  EXPECT_EQ(gpu_for({"gfx908:sramecc-"}), "gfx908:sramecc-:xnack-");
  EXPECT_EQ(gpu_for({"gfx9-4-generic"}), "gfx942:sramecc+:xnack-");
  EXPECT_EQ(gpu_for({"gfx1100", "gfx803"}), "gfx1100");
  EXPECT_EQ(gpu_for({"gfx1250"}), "gfx1250:sramecc+:xnack-");
  EXPECT_THAT(gpu_for({"gfx1310"}), testing::AllOf(HasSubstr("the GPU code is for gfx1310;"), HasSubstr("gfx90a")));
  EXPECT_EQ(gpu_for({}), "the file contains no GPU code");
  const auto shown = [](const std::string& id) {
    FoundCodeObjects found;
    found.code_objects.push_back({"somewhere", id, {}, 0});
    return targets_of(found);
  };
  EXPECT_EQ(shown("hipv4-amdgcn-amd-amdhsa--gfx1310-"), "gfx1310");
  EXPECT_EQ(shown("hipv4-amdgcn-amd-amdhsa--gfx1310:xnack-"), "gfx1310:xnack-");

  // Code in several files: a GPU that all of them have something for, whatever the first would rather have.
  FoundCodeObjects first, second;
  first.code_objects = {{"first", "", code_objects[0], 0}, {"first", "", code_objects[2], 0}};
  second.code_objects = {{"second", "", code_objects[0], 0}};
  const FoundCodeObjects both[] = {std::move(first), std::move(second)};
  EXPECT_EQ(choose_gpu(std::span(both, 1))->target.to_string(), "gfx90a:sramecc+:xnack-");
  EXPECT_EQ(choose_gpu(both)->target.to_string(), "gfx900:xnack-");
  EXPECT_EQ(choose_gpu({})->target.to_string(), "gfx90a:sramecc+:xnack-");
}

TEST(Md5, IsTheOneThatMd5sumComputes) {
  const test::TemporaryDirectory directory;
  for (const size_t size : {0, 1, 55, 56, 63, 64, 65, 119, 120, 128, 1000}) {
    std::vector<uint8_t> bytes(size);
    for (size_t i = 0; i < size; i++) bytes[i] = static_cast<uint8_t>(i * 37 + size);
    test::write_file(directory / "bytes", {bytes.begin(), bytes.end()});
    std::string digest;
    for (const uint8_t byte : md5(bytes)) digest += fmt::format("{:02x}", byte);
    EXPECT_EQ(test::run_command("md5sum " + (directory / "bytes")).output.substr(0, 32), digest) << size;
  }
}

// Debian's own, as built for real GPUs. rocSPARSE has 777 code objects in 111 bundles.
TEST(RealLibraries, EveryCodeObjectAndKernelDescriptorIsRead) {
  int libraries = 0;
  for (const char* path :
       {"/usr/lib/x86_64-linux-gnu/librocrand.so.1", "/usr/lib/x86_64-linux-gnu/librocsparse.so.0"}) {
    const auto file = support::MappedFile::open(path);
    if (!file) continue;
    libraries++;
    SCOPED_TRACE(path);
    const auto found = find_code_objects(file->bytes());
    ASSERT_TRUE(found) << found.error().message;
    ASSERT_GE(found->code_objects.size(), 7u);
    for (const FoundCodeObject& each : found->code_objects) {
      const auto object = read_code_object(each.bytes);
      ASSERT_TRUE(object) << each.where << ": " << object.error().message;
      for (const KernelMetadata& kernel : object->metadata.kernels) {
        const Symbol* descriptor = object->find_symbol(kernel.symbol);
        ASSERT_NE(descriptor, nullptr) << kernel.symbol;
        for (const Segment& segment : object->segments) {
          const auto raw = support::read<RawKernelDescriptor>(segment.bytes, descriptor->value - segment.address);
          if (!raw) continue;
          const auto decoded = decode_kernel_descriptor(*raw, *object->target.processor);
          ASSERT_TRUE(decoded) << each.where << ", " << kernel.name << ": " << decoded.error().message;
          ASSERT_EQ(decoded->private_segment_fixed_size, kernel.private_segment_fixed_size);
        }
      }
    }
  }
  if (libraries == 0) GTEST_SKIP() << "neither librocrand1 nor librocsparse0 is installed";
}

TEST_F(Bundles, ProgramsWithoutGpuCodeHaveNone) {
  const auto found = find_code_objects(test::read_bytes("/bin/true"));
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_TRUE(found->code_objects.empty());
  EXPECT_THAT(choose_code_objects(*found, gpu("gfx900")).error().message, HasSubstr("the file contains none"));
}

TEST_F(Bundles, SayWhatIsDamaged) {
  const auto message = [](std::vector<uint8_t> bytes, size_t size) {
    bytes.resize(std::min(size, bytes.size()));
    const auto read = find_code_objects(bytes);
    return read ? std::string("(read)") : read.error().message;
  };
  EXPECT_THAT(message(plain, 27), HasSubstr("it has no table"));
  EXPECT_THAT(message(plain, 40), HasSubstr("it says that it has 4 entries, its table ends after 0"));
  EXPECT_THAT(message(plain, plain.size() - 1), HasSubstr("entry 3 (hipv4-amdgcn-amd-amdhsa--gfx90a:xnack-)"));
  EXPECT_THAT(message(compressed, 12), HasSubstr("its header is truncated"));
  EXPECT_THAT(message(compressed, compressed.size() - 1), HasSubstr("its header has a size of"));
  auto garbled = compressed;
  garbled[4] = 9;
  EXPECT_THAT(message(garbled, garbled.size()), HasSubstr("version 9 of the compressed offload bundle"));
  garbled = compressed;
  garbled[25] ^= 0x55;  // in the header of the compressed data
  EXPECT_THAT(message(garbled, garbled.size()), HasSubstr("do not unpack"));
  garbled = compressed;
  garbled[20] ^= 1;  // in the hash
  EXPECT_THAT(message(garbled, garbled.size()), HasSubstr("not what was packed"));
  EXPECT_THAT(message({'h', 'i', '!'}, 3), HasSubstr("neither a code object nor an offload bundle"));
}

TEST_F(Bundles, AreWrittenAsTheBundlerWritesThem) {
  std::vector<BundleEntry> entries{{host_entry_id, {}}};
  for (size_t i = 0; i < 3; ++i) entries.push_back({read_bundle(plain)->entries[i + 1].id, code_objects[i]});
  const auto written = write_bundle(entries, 4096, Compression::none);
  ASSERT_TRUE(written);
  EXPECT_EQ(*written, plain);
}

TEST_F(Bundles, TheBundlerUnpacksWhatIsWritten) {
  std::vector<BundleEntry> entries{{host_entry_id, {}}};
  for (size_t i = 0; i < 3; ++i) entries.push_back({read_bundle(plain)->entries[i + 1].id, code_objects[i]});
  for (const Compression compression : {Compression::none, Compression::zlib, Compression::zstd}) {
    const auto written = write_bundle(entries, 4096, compression);
    ASSERT_TRUE(written);
    const std::string path = *directory / "written", out = *directory / "unpacked";
    {
      std::ofstream file(path, std::ios::binary);
      file.write(reinterpret_cast<const char*>(written->data()), static_cast<std::streamsize>(written->size()));
    }
    const auto run = test::run_command(fmt::format(
        "clang-offload-bundler-19 -type=o -unbundle -targets={} -input={} -output={} 2>&1", entries[3].id, path, out));
    ASSERT_EQ(run.exit_code, 0) << run.output;
    EXPECT_EQ(test::read_bytes(out), code_objects[2]);
    EXPECT_EQ(read_bundle(*written)->entries.size(), 4u);
  }
}

/// A stretch of memory under a limit for its lifetime.
class AddressSpaceLimit {
 public:
  explicit AddressSpaceLimit(uint64_t more) {
    EXPECT_EQ(getrlimit(RLIMIT_AS, &before_), 0);
    uint64_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    const rlimit limit{.rlim_cur = pages * 4096 + more, .rlim_max = before_.rlim_max};
    EXPECT_EQ(setrlimit(RLIMIT_AS, &limit), 0);
  }
  AddressSpaceLimit(const AddressSpaceLimit&) = delete;
  AddressSpaceLimit& operator=(const AddressSpaceLimit&) = delete;
  ~AddressSpaceLimit() { EXPECT_EQ(setrlimit(RLIMIT_AS, &before_), 0); }

 private:
  rlimit before_;
};

/// A bundle of one entry of zeros, which pack to less than a ten-thousandth.
std::vector<uint8_t> packed_zeros(uint64_t size) {
  const std::vector<uint8_t> zeros(size);
  const std::vector<BundleEntry> entries{{.id = "hipv4-amdgcn-amd-amdhsa--gfx900", .bytes = zeros}};
  return write_bundle(entries, 4096, Compression::zstd).value();
}

uint64_t resident_bytes() {
  uint64_t all = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> all >> resident;
  return resident * 4096;
}

TEST_F(Bundles, WhatAFileUnpacksToIsBoundedByItsSize) {
  // A file may unpack to 64 MiB and 1024 times its size.
  const auto small = packed_zeros(uint64_t{34} << 20);
  ASSERT_LT(small.size(), 12000u);
  EXPECT_TRUE(find_code_objects(small));
  auto large = small;
  large[15] = 6;  // 98 MiB, as its header says
  const auto alone = find_code_objects(large);
  ASSERT_FALSE(alone);
  EXPECT_EQ(alone.error().kind, support::ErrorKind::out_of_resources);
  EXPECT_THAT(alone.error().message, HasSubstr("bundle 0: it unpacks to more than"));
  EXPECT_FALSE(read_bundle(large));

  // It is one bound for all bundles of a file, in an archive's members as well.
  std::vector<uint8_t> many;
  for (int i = 0; i < 2; i++) many.insert(many.end(), small.begin(), small.end());
  EXPECT_THAT(find_code_objects(many).error().message, HasSubstr("bundle 1: it unpacks to more than"));
  std::string archive = "!<arch>\n";
  for (int i = 0; i < 2; i++) {
    archive += fmt::format("{:<48}{:<10}`\n", fmt::format("{}.o/", i), small.size());
    archive.append(small.begin(), small.end());
    archive.resize(support::align_up(archive.size(), 2));
  }
  EXPECT_THAT(find_code_objects(std::vector<uint8_t>(archive.begin(), archive.end())).error().message,
              HasSubstr("member 1.o, bundle 0: it unpacks to more than"));
  // Their targets can be told for less.
  EXPECT_EQ(targets_of(find_targets(many).value()), "gfx900");
}

TEST_F(Bundles, AHeaderThatPromisesMuchTakesNoMemory) {
  auto bytes = compressed;
  bytes.resize(64 << 20);  // allows 64 GiB
  bytes[12] = bytes[13] = bytes[14] = bytes[15] = 0xFF;
  const uint64_t before = resident_bytes();
  EXPECT_THAT(find_code_objects(bytes).error().message, HasSubstr("do not unpack"));
  EXPECT_LT(resident_bytes(), before + (32 << 20));
#if !__has_feature(address_sanitizer)
  const AddressSpaceLimit limit(256 << 20);
  EXPECT_THAT(find_code_objects(bytes).error().message,
              HasSubstr("there is not enough memory for the 4294967295 bytes"));
#endif
}

// Every page begins with what looks like a bundle and is none: reading each to the end of the file would take hours.
TEST_F(Bundles, LookingForThemAtPagesIsBoundedToo) {
  std::vector<uint8_t> file(16 << 20);
  std::copy_n(test::read_bytes("/bin/true").begin(), sizeof(Elf64_Ehdr), file.begin());
  auto& header = *reinterpret_cast<Elf64_Ehdr*>(file.data());
  header.e_shnum = 0;
  header.e_shoff = 0;
  constexpr std::string_view magic = "__CLANG_OFFLOAD_BUNDLE__";
  for (size_t page = 4096; page < file.size(); page += 4096) {
    std::copy(magic.begin(), magic.end(), file.begin() + static_cast<ptrdiff_t>(page));
    std::fill_n(file.begin() + static_cast<ptrdiff_t>(page + magic.size()), 7, uint8_t{0xFF});  // very many entries
  }
  EXPECT_THAT(find_code_objects(file).error().message, HasSubstr("it unpacks to more than"));
}

}  // namespace
}  // namespace Atoll::object
