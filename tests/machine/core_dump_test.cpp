// Core files that a fault leaves: the ELF file as llvm-readelf prints it, and what is in it at the places where the
// published structures have it, which are written out here.
#include "machine/report/core_dump.h"

#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>

#include "fixture.h"

namespace Atoll::machine {
namespace {

using testing::HasSubstr;

/// A file's memory and its note.
class ReadCore {
 public:
  explicit ReadCore(const std::string& path) : file_(test::read_bytes(path)) {
    const auto header = at<Elf64_Ehdr>(0);
    for (unsigned i = 0; i < header.e_phnum; ++i)
      segments_.push_back(at<Elf64_Phdr>(header.e_phoff + i * sizeof(Elf64_Phdr)));
  }
  template <typename T>
  T at(uint64_t offset) const {
    T value{};
    EXPECT_LE(offset + sizeof value, file_.size());
    if (offset + sizeof value <= file_.size()) std::memcpy(&value, file_.data() + offset, sizeof value);
    return value;
  }
  template <typename T>
  T memory(uint64_t address) const {
    for (const Elf64_Phdr& segment : segments_)
      if (segment.p_type == PT_LOAD && address - segment.p_vaddr < segment.p_filesz)
        return at<T>(segment.p_offset + address - segment.p_vaddr);
    ADD_FAILURE() << fmt::format("{:#x} is not in the file", address);
    return {};
  }
  /// Of the note's description, after its header of 12 bytes and "AMDGPU\0\0".
  template <typename T>
  T note(uint64_t offset) const {
    return at<T>(segments_.at(0).p_offset + 20 + offset);
  }
  size_t size() const { return file_.size(); }

 private:
  std::vector<uint8_t> file_;
  std::vector<Elf64_Phdr> segments_;
};

// Where parts of the note begin: its header, the runtime, the one agent, the one queue.
constexpr uint64_t runtime = 40, agent = 56, queue = 176;

class CoreFiles : public testing::Test {
 protected:
  /// Runs `k` in work-groups of two waves; the second wave of work-group (1, 0, 0) stores to a null pointer.
  support::Result<KernelStatistics> run(const std::string& gpu_name, const std::vector<std::string>& directives,
                                        const std::string& core, unsigned lanes = 64) {
    code_.reset();  // before its GPU
    gpu_ = test::make_gpu(gpu_name,
                          [this](Wave& wave, uint64_t) {
                            wave.scalar[5] = 500 + wave.index;
                            wave.set_scalar64(isa::scalar::vcc_lo, 0xABCD);
                            for (unsigned lane = 0; lane < wave.wave_size; ++lane)
                              wave.vgpr[3][lane] = wave.index * 1000 + lane;
                            if (wave.work_group->lds != nullptr) wave.work_group->lds[17] = 0x5A;
                            if (wave.work_group->id[0] == 1 && wave.index == 1) {
                              *reinterpret_cast<volatile uint32_t*>(buffer_ + 0x100) = 0xFEEDF00D;
                              *reinterpret_cast<volatile uint32_t*>(uint64_t{0x10}) = 1;
                            }
                            // The other wave of that work-group waits.
                            return wave.work_group->id[0] == 1 ? WaveState::at_barrier : WaveState::ended;
                          },
                          {.threads = 1, .core_file = core});
    buffer_ = gpu_->memory().allocate(1 << 20, 0, "test buffer").value();
    code_ =
        test::load(*gpu_, test::assemble_kernel(gpu_name, directives, "global_store_dword v[0:1], v2, off\ns_endpgm"));
    const auto size = static_cast<uint16_t>(2 * lanes);
    return gpu_->run(test::packet_for(*code_, {4u * size, 1, 1}, {size, 1, 1}));
  }

  test::TemporaryDirectory directory_;
  std::unique_ptr<Gpu> gpu_;
  std::shared_ptr<LoadedCode> code_;
  uint64_t buffer_ = 0;
};

TEST_F(CoreFiles, HaveAgentQueueWavesAndMemory) {
  const auto result =
      run("gfx906", {"next_free_vgpr 8", "next_free_sgpr 16", "group_segment_fixed_size 1024"}, directory_ / "core.%p");
  ASSERT_FALSE(result);
  const std::string path = fmt::format("{}.{}", directory_ / "core", getpid());
  EXPECT_THAT(result.error().message, HasSubstr("\n  core file    " + path));

  const auto readelf = test::run_command("llvm-readelf-22 -h -l -n " + path + " 2>&1");
  EXPECT_EQ(readelf.exit_code, 0);
  for (const char* line :
       {"Type:                              CORE", "OS/ABI:                            AMDGPU - HSA",
        "AMDGPU               0x000000", "Unknown note type: (0x00000021)"})  // 33: it knows none of core files

    EXPECT_THAT(readelf.output, HasSubstr(line));
  EXPECT_EQ(readelf.output.find("warning"), std::string::npos) << readelf.output;

  const ReadCore core(path);
  EXPECT_EQ(core.note<uint64_t>(0), 1u);
  EXPECT_EQ(core.note<uint32_t>(24), 1u);  // agents
  EXPECT_EQ(core.note<uint32_t>(32), 1u);  // queues
  EXPECT_EQ(core.note<uint32_t>(agent + 56 + 32), 90006u);
  EXPECT_EQ(core.note<uint64_t>(agent + 8) >> 48, 1u);                          // the LDS aperture
  EXPECT_EQ(core.note<uint64_t>(queue) >> 4 & 1, 1u);                           // EC_QUEUE_WAVE_MEMORY_VIOLATION is 5
  EXPECT_EQ(core.note<uint32_t>(queue + 52), 2u);                               // an AQL queue
  EXPECT_EQ(core.note<uint32_t>(queue + 44), core.note<uint32_t>(agent + 56));  // of that agent

  EXPECT_EQ(core.memory<uint32_t>(buffer_ + 0x100), 0xFEEDF00Du);
  EXPECT_EQ(core.memory<uint32_t>(buffer_ + 0x104), 0u);
  const uint64_t descriptor = code_->find("k.kd")->address;
  EXPECT_EQ(core.memory<uint64_t>(descriptor + 16), *reinterpret_cast<const uint64_t*>(descriptor + 16));

  // The packet is in the ring, between the read and the write index.
  const auto ring = core.note<uint64_t>(queue + 8);
  EXPECT_EQ(core.memory<uint64_t>(ring + 32), code_->find("k.kd")->address);
  EXPECT_EQ(core.memory<uint64_t>(core.note<uint64_t>(queue + 24)), 0u);
  EXPECT_EQ(core.memory<uint64_t>(core.note<uint64_t>(queue + 16)), 1u);

  // Both waves of the work-group, the first's registers last, below its LDS.
  const auto area = core.note<uint64_t>(queue + 32);
  const uint64_t end = area + core.memory<uint32_t>(area + 8);
  EXPECT_EQ(end, area + core.note<uint32_t>(queue + 56));
  const uint64_t lds = end - 64 - 1024;
  EXPECT_EQ(core.memory<uint8_t>(lds + 17), 0x5A);
  const uint64_t first_ttmps = lds - 64;
  EXPECT_EQ(core.memory<uint32_t>(first_ttmps + 8 * 4), 1u);        // the work-group's x
  EXPECT_EQ(core.memory<uint32_t>(first_ttmps + 11 * 4) & 63, 0u);  // the wave in it
  const uint64_t sgprs_of_a_wave = 32;                              // 16 and VCC, FLAT_SCRATCH and XNACK_MASK, by 16
  const uint64_t first_sgprs = first_ttmps - 64 - sgprs_of_a_wave * 4;
  EXPECT_EQ(core.memory<uint32_t>(first_sgprs + 5 * 4), 500u);
  EXPECT_EQ(core.memory<uint64_t>(first_sgprs + 30 * 4), 0xABCDu);  // VCC: the last two
  const uint64_t first_vgprs = first_sgprs - 8 * 256;
  EXPECT_EQ(core.memory<uint32_t>(first_vgprs + 3 * 256 + 40 * 4), 40u);

  const uint64_t second_ttmps = first_vgprs - 64 - 64, second_hardware = second_ttmps - 64;
  EXPECT_EQ(core.memory<uint32_t>(second_ttmps + 11 * 4) & 63, 1u);
  EXPECT_EQ(core.memory<uint32_t>(second_ttmps + 6 * 4) >> 30 & 1, 1u);  // stopped
  EXPECT_EQ(core.memory<uint32_t>(first_ttmps + 6 * 4) >> 30 & 1, 0u);
  EXPECT_EQ(core.memory<uint64_t>(second_hardware + 4), code_->base() + code_->code_object().functions.at(0).value);
  EXPECT_EQ(core.memory<uint32_t>(second_hardware + 24) >> 8 & 1, 1u);  // TRAPSTS.MEM_VIOL

  // The code object can be found through the runtime's list.
  const auto list = core.note<uint64_t>(runtime);
  const auto entry = core.memory<uint64_t>(list + 8);
  EXPECT_EQ(core.memory<uint64_t>(entry), code_->base());
  EXPECT_EQ(core.memory<uint32_t>(reinterpret_cast<uint64_t>(code_->file().data())), 0x464C457Fu);  // "\x7FELF"
}

TEST_F(CoreFiles, WavesOf32LanesHaveHalfAsMuch) {
  ASSERT_FALSE(run("gfx1030", {"next_free_vgpr 8", "next_free_sgpr 16"}, directory_ / "core", 32));
  const ReadCore core(directory_ / "core");
  const auto area = core.note<uint64_t>(queue + 32);
  const uint64_t end = area + core.memory<uint32_t>(area + 8);
  const uint64_t first_vgprs = end - 64 - 64 - 128 * 4 - 8 * 128;
  EXPECT_EQ(core.memory<uint32_t>(first_vgprs + 3 * 128 + 31 * 4), 31u);
  EXPECT_EQ(core.memory<uint32_t>(first_vgprs - 64 - 64 - 128 * 4 - 8 * 128 + 3 * 128), 1000u);
}

/// Memory that was never touched takes no room, and does not have to be there.
TEST_F(CoreFiles, AreSparse) {
  gpu_ = test::make_gpu("gfx906",
                        [](Wave&, uint64_t) {
                          *reinterpret_cast<volatile uint32_t*>(uint64_t{0x10}) = 1;
                          return WaveState::ended;
                        },
                        {.threads = 1, .core_file = directory_ / "core"});
  const uint64_t large = uint64_t{64} << 30;
  const uint64_t memory = gpu_->memory().allocate(large, 0, "large").value();
  *reinterpret_cast<uint32_t*>(memory + large - 8) = 0x1234;
  code_ = test::load(*gpu_, test::assemble_kernel("gfx906", {"next_free_vgpr 8", "next_free_sgpr 16"}));
  ASSERT_FALSE(gpu_->run(test::packet_for(*code_, {64, 1, 1}, {64, 1, 1})));
  const auto blocks = test::run_command("stat -c %b,%s " + (directory_ / "core"));
  EXPECT_LT(std::stoull(blocks.output), 4096u);  // of 512 bytes
  EXPECT_GT(std::stoull(blocks.output.substr(blocks.output.find(',') + 1)), large);
  const auto last =
      test::run_command(fmt::format("llvm-readelf-22 -l {} | grep -c {:#018x}", directory_ / "core", memory));
  EXPECT_EQ(last.output, "1\n");
}

TEST_F(CoreFiles, ThatCannotBeWrittenAreSaidSo) {
  const std::vector<std::string> plain = {"next_free_vgpr 8", "next_free_sgpr 16"};
  EXPECT_THAT(run("gfx906", plain, directory_ / "nowhere/core").error().message,
              HasSubstr("core file    not written: " + (directory_ / "nowhere/core")));
  EXPECT_THAT(run("gfx906", plain, directory_.path().string()).error().message, HasSubstr("not a regular file"));
  EXPECT_TRUE(std::filesystem::is_empty(directory_.path()));
  EXPECT_EQ(run("gfx906", plain, "").error().message.find("core file"), std::string::npos);
}

}  // namespace
}  // namespace Atoll::machine
