// Kernels in Catalyst's containers for tests: LLVM's assembler makes the code, the test the container around it.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "object/catalyst_cl2_files.h"
#include "semantics/image/image_resource.h"
#include "support/command.h"
#include "target/processor.h"

namespace Atoll::test {

/// Assembles text for a processor with llvm-mc and returns the section's bytes.
inline Bytes assembled(std::string_view processor, std::string_view text) {
  static const TemporaryDirectory directory;
  const std::string at = directory.path().string();
  write_file(directory / "k.s", std::string(text));
  const auto run =
      run_command(fmt::format("cd {0} && llvm-mc-22 -triple=amdgcn -mcpu={1} -filetype=obj k.s -o k.o 2>&1 && "
                              "llvm-objcopy-22 -O binary -j .text k.o k.bin 2>&1",
                              at, processor));
  EXPECT_EQ(run.exit_code, 0) << run.output << text;
  if (run.exit_code != 0) return words({0xBF810000});
  return read_bytes(directory / "k.bin");
}

/// An image argument: 8 dwords of resource, channel type and channel order.
struct ImageBlock {
  std::array<uint32_t, 8> resource{};
  uint32_t type = 0, order = 0;
  uint32_t unused[6]{};
};

/// Returns the block of an image in memory. `components` and `bits` describe an element; rows have `row_pitch`
/// elements.
inline ImageBlock image_block(std::string_view processor, const void* memory, semantics::ImageType type,
                              const std::array<uint32_t, 3>& size, uint32_t row_pitch, uint8_t components, uint8_t bits,
                              semantics::NumberFormat number, uint32_t channel_type, uint32_t channel_order) {
  using Select = semantics::ComponentSelect;
  semantics::ImageResource resource;
  resource.base = reinterpret_cast<uint64_t>(memory);
  resource.type = type;
  resource.format.components = components;
  resource.format.bytes = static_cast<uint8_t>(components * bits / 8);
  for (unsigned i = 0; i < components; ++i) resource.format.width[i] = bits;
  resource.format.number = number;
  resource.selects = {Select::x, Select::y, Select::z, Select::w};
  resource.width = size[0];
  resource.height = size[1];
  resource.depth = size[2];
  resource.row_pitch = row_pitch;
  const auto words = semantics::write_image_resource(resource, *target::find_processor(processor));
  EXPECT_TRUE(words);
  return {.resource = words.value_or(std::array<uint32_t, 8>{}), .type = channel_type, .order = channel_order};
}

/// Offsets of scalar loads are dwords on GFX6 and GFX7, and bytes later.
struct Dialect {
  std::string processor;
  bool has_dword_offsets = false;
  std::string add = "v_add_u32", add_carry = "v_addc_u32";  ///< with carry to VCC

  uint32_t offset(uint32_t bytes) const { return has_dword_offsets ? bytes / 4 : bytes; }
};

/// Writes words of a kernel's initial state to memory, in order. Uses s20 to s22 and v20 to v22.
class Probe {
 public:
  Probe(Dialect dialect, uint64_t address) : dialect_(std::move(dialect)) {
    text_ = fmt::format("s_mov_b32 s20, {:#x}\ns_mov_b32 s21, {:#x}\n", static_cast<uint32_t>(address),
                        static_cast<uint32_t>(address >> 32));
  }

  void put(std::string_view scalar) {
    text_ += fmt::format(
        "v_mov_b32 v22, {}\nv_mov_b32 v20, s20\nv_mov_b32 v21, s21\nflat_store_dword v[20:21], v22\n"
        "s_add_u32 s20, s20, 4\ns_addc_u32 s21, s21, 0\n",
        scalar);
  }
  void put_scalars(unsigned first, unsigned count) {
    for (unsigned i = 0; i < count; ++i) put(fmt::format("s{}", first + i));
  }
  /// Writes `count` dwords of the memory that a pair of SGPRs points to.
  void put_memory(unsigned pair, uint32_t first_byte, unsigned count) {
    for (unsigned i = 0; i < count; ++i) {
      text_ += fmt::format("s_load_dword s22, s[{}:{}], {}\ns_waitcnt lgkmcnt(0)\n", pair, pair + 1,
                           dialect_.offset(first_byte + 4 * i));
      put("s22");
    }
  }
  Bytes code() const { return assembled(dialect_.processor, text_ + "s_endpgm\n"); }

 private:
  Dialect dialect_;
  std::string text_;
};

}  // namespace Atoll::test
