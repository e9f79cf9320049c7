// library: prints the records of OpenCL's printf() after the kernel.
//
// The compiler stores the formats in the metadata, "ID:N:SIZE1:...:SIZEN:FORMAT". Kernels write records of an ID and
// arguments of those sizes into a buffer, whose address is a hidden argument. The buffer begins with two words: used
// and total size. Records that do not fit are dropped, which the kernel can detect. Source: user guide, "Code Object V3
// Metadata" (amdhsa.printf, hidden_printf_buffer); LLVM's pass AMDGPUPrintfRuntimeBinding; the device library's
// __printf_alloc.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "machine/memory/memory.h"
#include "support/error.h"

namespace Atoll::library {

/// One of the metadata's formats.
struct PrintfFormat {
  uint32_t id = 0;
  std::vector<uint32_t> sizes;  ///< argument sizes
  std::string text;
};

/// Skips texts that are not formats.
std::vector<PrintfFormat> parse_printf_formats(std::span<const std::string> metadata);

/// Returns the text of all records. Stops at an unknown format, because the next record's position is then unknown.
std::string print_records(std::span<const PrintfFormat> formats, std::span<const std::byte> records);

/// The buffer of one launch.
class PrintfBuffer {
 public:
  static support::Result<PrintfBuffer> create(machine::Memory& memory);
  PrintfBuffer(PrintfBuffer&& other) noexcept : memory_(other.memory_), address_(std::exchange(other.address_, 0)) {}
  PrintfBuffer& operator=(PrintfBuffer&&) = delete;
  ~PrintfBuffer();

  uint64_t address() const { return address_; }
  std::span<const std::byte> records() const;

 private:
  PrintfBuffer(machine::Memory& memory, uint64_t address) : memory_(&memory), address_(address) {}
  machine::Memory* memory_;
  uint64_t address_;
};

}  // namespace Atoll::library
