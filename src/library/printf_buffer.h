// library: what OpenCL's printf() leaves in memory, printed after the kernel.
//
// The compiler puts the formats into the metadata, "ID:N:SIZE1:...:SIZEN:FORMAT", and has kernels write records of an
// ID and the arguments, of those sizes, into a buffer, the address of which is a hidden argument. The buffer begins
// with two words: how much of it is taken, and how large it is. Records that do not fit are lost, and the kernel knows
// it. Source: user guide, "Code Object V3 Metadata" (amdhsa.printf, hidden_printf_buffer); LLVM's pass
// AMDGPUPrintfRuntimeBinding; the device library's __printf_alloc.
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
  std::vector<uint32_t> sizes;  ///< of the arguments
  std::string text;
};

/// Nothing for a text that is no format.
std::vector<PrintfFormat> parse_printf_formats(std::span<const std::string> metadata);

/// The text of all records. What does not belong to a format ends it, as where the next begins is not known then.
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
