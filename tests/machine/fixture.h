// What the tests of the machine share: kernels made by LLVM's assembler, a GPU whose engine is a function of the
// test, and packets.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "machine/gpu.h"
#include "support/command.h"
#include "target/product.h"

namespace Atoll::test {

/// A code object with the kernel `k`: `directives` are its .amdhsa_ directives without the prefix, `body` its
/// instructions, `rest` what else the file has.
inline std::vector<uint8_t> assemble_kernel(const std::string& processor, const std::vector<std::string>& directives,
                                            const std::string& body = "s_endpgm", const std::string& rest = "") {
  const TemporaryDirectory directory;
  std::string text = ".amdhsa_code_object_version 5\n.text\n.globl k\n.p2align 8\n.type k,@function\nk:\n" + body +
                     "\n.fill 80, 4, 0xbf800000\n.Lend:\n.size k, .Lend-k\n.rodata\n.p2align 6\n.amdhsa_kernel k\n";
  bool accum_offset = false;
  for (const std::string& directive : directives) {
    text += ".amdhsa_" + directive + "\n";
    accum_offset |= directive.starts_with("accum_offset");
  }
  // The assembler insists on it where the processor has one register file for both kinds of vector registers.
  if (target::find_processor(processor)->unified_vgprs && !accum_offset) text += ".amdhsa_accum_offset 4\n";
  text += ".end_amdhsa_kernel\n" + rest + "\n";
  write_file(directory / "k.s", text);
  const auto run = run_command("cd " + directory.path().string() +
                               " && clang-22 -target amdgcn-amd-amdhsa -mcpu=" + processor + " k.s -o k.co 2>&1");
  EXPECT_EQ(run.exit_code, 0) << run.output;
  return read_bytes(directory / "k.co");
}

/// An engine that does with a wave what the test says. Sets Wave::state to what the function returns.
class FunctionEngine : public machine::Engine {
 public:
  using Body = std::function<machine::WaveState(machine::Wave&, uint64_t)>;
  explicit FunctionEngine(Body body, const machine::LiveInRegisters* needed = nullptr)
      : body_(std::move(body)), needed_(needed) {}
  machine::WaveState run(machine::Wave& wave, uint64_t budget) override {
    wave.state = body_(wave, budget);
    return wave.state;
  }
  const machine::LiveInRegisters* needed_at_start(uint64_t, unsigned, const semantics::FloatMode&) override {
    return needed_;
  }
  void code_changed(uint64_t, uint64_t) override {}

 private:
  Body body_;
  const machine::LiveInRegisters* needed_;
};

inline std::unique_ptr<machine::Gpu> make_gpu(const std::string& name, FunctionEngine::Body body,
                                              machine::GpuOptions options = {},
                                              const machine::LiveInRegisters* needed = nullptr) {
  const auto model = target::find_gpu(name);
  EXPECT_TRUE(model) << model.error().message;
  if (!model) return nullptr;
  auto gpu = machine::Gpu::create(
      *model, [&](const target::Target&) { return std::make_unique<FunctionEngine>(std::move(body), needed); },
      std::move(options));
  EXPECT_TRUE(gpu) << gpu.error().message;
  return gpu ? std::move(*gpu) : nullptr;
}

inline std::shared_ptr<machine::LoadedCode> load(machine::Gpu& gpu, const std::vector<uint8_t>& file) {
  auto code = gpu.load(file, {}, "memory://test", object::AcceptedAbis::all);
  EXPECT_TRUE(code) << code.error().message;
  return code ? *code : nullptr;
}

/// A dispatch of the kernel `k`.
inline machine::aql::KernelDispatchPacket packet_for(const machine::LoadedCode& code, std::array<uint32_t, 3> grid,
                                                     std::array<uint16_t, 3> group) {
  machine::aql::KernelDispatchPacket packet{};
  packet.header = static_cast<uint16_t>(machine::aql::PacketType::kernel_dispatch);
  packet.setup = 3;
  packet.workgroup_size_x = group[0];
  packet.workgroup_size_y = group[1];
  packet.workgroup_size_z = group[2];
  packet.grid_size_x = grid[0];
  packet.grid_size_y = grid[1];
  packet.grid_size_z = grid[2];
  const machine::LoadedSymbol* kernel = code.find("k.kd");
  EXPECT_NE(kernel, nullptr);
  if (kernel != nullptr) packet.kernel_object = kernel->address;
  return packet;
}

}  // namespace Atoll::test
