// object: what does not fit together in a PAL code object: metadata against itself, against the processor, and against
// the code. A launch refuses such an object; `atoll inspect` lists what is wrong.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "object/elf_file.h"
#include "object/pal/metadata.h"
#include "target/processor.h"

namespace Atoll::object {

/// Returns a message for each contradiction. `symbols` are those of the file.
std::vector<std::string> pal_contradictions(const ElfFile& file, std::span<const ElfSymbol> symbols,
                                            const PalMetadata& metadata, const target::Processor& processor);

/// Registers that code names: one more than the highest number, without VCC and others that have names.
struct UsedRegisters {
  uint32_t vgprs = 0, sgprs = 0;
};
UsedRegisters used_registers(std::span<const uint8_t> code, const target::Processor& processor, unsigned wave_size);

/// Returns the bytes of the function that a symbol names; empty if they are not in the file.
std::span<const uint8_t> code_of(const ElfFile& file, const ElfSymbol& symbol);

/// Returns the symbol where a stage's code begins, or nullptr: .entry_point_symbol, else .entry_point, else
/// _amdgpu_<stage>_main, else the only function of the file.
const ElfSymbol* entry_symbol(std::span<const ElfSymbol> symbols, const PalStage& stage);

/// Names of the registers of a stage: SPI_SHADER_PGM_RSRC1_PS, COMPUTE_PGM_RSRC1.
std::string resource_register(HardwareStage stage, unsigned number);

/// Wave size of a stage: .wavefront_size, else the enable bit of its register, else the processor's larger one.
unsigned wave_size_of(const PalPipeline& pipeline, HardwareStage stage, const target::Processor& processor);

}  // namespace Atoll::object
