// isa: names of what immediates stand for: hardware registers, messages, export targets, counters. Each row says from
// which generation to which it holds.
// Sources: the user guide's and the ISA guides' tables ("Hardware registers", "Message types", "Export targets",
// "S_WAITCNT"); the numbers of GFX11 and later as LLVM 22 knows them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "isa/format.h"
#include "target/processor.h"

namespace Atoll::isa {

struct NamedValue {
  uint8_t value;
  std::string_view name;
  target::Generation first, last;
};

/// Without "HW_REG_".
std::span<const NamedValue> hardware_registers();
/// Names that are read besides those, but never written.
std::span<const NamedValue> other_hardware_register_names();
/// Which register (namespace hardware) the number in an instruction means on that generation; `unknown` for those that
/// Atoll has no use for.
uint16_t hardware_register(unsigned number, target::Generation generation);
/// Without "MSG_".
std::span<const NamedValue> messages();
/// "mrt0": the target of an export, which has 6 bits.
std::string export_target_name(unsigned target, target::Generation generation);
/// Whether exports have that target on that generation; others have the name "invalid_target_...".
bool is_export_target(unsigned target, target::Generation generation);
/// The target of that name, if there is one on that generation.
std::optional<uint8_t> export_target_named(std::string_view name, target::Generation generation);

/// The row of that value on that generation, or nullptr.
const NamedValue* find_value(std::span<const NamedValue> values, unsigned value, target::Generation generation);

/// A counter in an immediate: a name, where its bits are, and its value if nothing is waited for (all ones).
struct CounterField {
  std::string_view name;
  BitRange low, high;
  target::Generation first, last;
};

/// Of s_waitcnt.
std::span<const CounterField> wait_counters();
/// Of s_waitcnt_depctr, s_wait_alu.
std::span<const CounterField> dependency_counters();

}  // namespace Atoll::isa
