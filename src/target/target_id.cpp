// target: reading and writing target IDs, in text and in ELF flags, and the rule of what runs where.
#include "target/target_id.h"

#include <algorithm>
#include <iterator>

namespace Atoll::target {

using support::ErrorKind;
using support::fail;
using support::Result;

namespace {

constexpr uint8_t abi_v2 = 0, abi_v3 = 1, abi_v6 = 4;  // EI_ABIVERSION

// e_flags (llvm/BinaryFormat/ELF.h)
constexpr uint32_t machine_mask = 0xFF;

/// Processors of which LLVM's main branch publishes the number, but no document the instructions.
struct Unpublished {
  uint32_t elf_machine;
  std::string_view name;
};
constexpr Unpublished unpublished[] = {{0x050, "gfx1310"}, {0x063, "gfx13-generic"}};
constexpr uint32_t xnack_v3 = 0x100, sramecc_v3 = 0x200;
constexpr unsigned xnack_v4_shift = 8, sramecc_v4_shift = 10;  // two bits each, a Setting
constexpr unsigned generic_version_shift = 24;

/// "amdgcn-amd-amdhsa--gfx900" and the older "amdgcn-amd-amdhsa-gfx900": what is after the triple.
std::string_view without_triple(std::string_view text) {
  constexpr std::string_view triple = "amdgcn-amd-amdhsa-";
  if (!text.starts_with(triple)) return text;
  text.remove_prefix(triple.size());
  if (text.starts_with('-')) text.remove_prefix(1);
  return text;
}

std::string_view sign(Setting setting) { return setting == Setting::on ? "+" : "-"; }

std::string feature_text(std::string_view name, Setting setting) {
  if (setting != Setting::on && setting != Setting::off) return {};
  return fmt::format(":{}{}", name, sign(setting));
}

Result<void> check_setting(std::string_view feature, Setting code, Setting gpu, const TargetId& gpu_id) {
  if (code != Setting::on && code != Setting::off) return {};
  if (code == gpu) return {};
  return fail(ErrorKind::incompatible, "the code is for {}{}, the GPU is {}", feature, sign(code), gpu_id.to_string());
}

/// "+xnack+sram-ecc", by which code object V2 and V3 name the features that may be on; those not named are off.
Result<TargetId> parse_features_v3(TargetId result, std::string_view features, std::string_view text) {
  for (Setting* setting : {&result.xnack, &result.sramecc})
    if (*setting != Setting::unsupported) *setting = Setting::off;
  while (!features.empty()) {
    features.remove_prefix(1);  // '+'
    const std::string_view name = features.substr(0, features.find('+'));
    features.remove_prefix(name.size());
    const bool is_sramecc = name == "sram-ecc" || name == "sramecc";
    if (!is_sramecc && name != "xnack")
      return fail(ErrorKind::invalid_argument, "'{}' in target ID '{}': features are +xnack, +sram-ecc", name, text);
    Setting& setting = is_sramecc ? result.sramecc : result.xnack;
    if (setting == Setting::unsupported)
      return fail(ErrorKind::invalid_argument, "'{}' in target ID '{}': {} has no such setting", name, text,
                  result.processor->name);
    setting = Setting::any;
  }
  return result;
}

/// The processors of GFX9 with an even stepping up to here have the next one for code with xnack on.
constexpr unsigned last_stepping_with_xnack = 6;

}  // namespace

std::string TargetId::to_string() const {
  if (processor == nullptr) return "(no processor)";
  return std::string(processor->name) + feature_text("sramecc", sramecc) + feature_text("xnack", xnack);
}

Result<TargetId> parse_target_id(std::string_view text) {
  const std::string_view id = without_triple(text);
  const std::string_view name = id.substr(0, id.find_first_of(":+"));
  TargetId result;
  result.processor = find_processor(name);
  if (result.processor == nullptr)
    return fail(ErrorKind::not_found, "'{}' is no AMD GPU processor that Atoll knows (one is 'gfx90a')", name);
  if (result.processor->supports_xnack) result.xnack = Setting::any;
  if (result.processor->supports_sramecc) result.sramecc = Setting::any;
  if (result.processor->generic) result.generic_version = 1;

  std::string_view rest = id.substr(name.size());
  if (rest.starts_with('+')) return parse_features_v3(result, rest, text);
  while (!rest.empty()) {
    rest.remove_prefix(1);  // ':'
    const std::string_view item = rest.substr(0, rest.find(':'));
    rest.remove_prefix(item.size());
    const char last = item.empty() ? '\0' : item.back();
    const std::string_view feature = item.substr(0, item.empty() ? 0 : item.size() - 1);
    if ((last != '+' && last != '-') || (feature != "xnack" && feature != "sramecc"))
      return fail(ErrorKind::invalid_argument,
                  "'{}' in target ID '{}': features are xnack+, xnack-, sramecc+, sramecc-", item, text);
    Setting& setting = feature == "xnack" ? result.xnack : result.sramecc;
    if (setting == Setting::unsupported)
      return fail(ErrorKind::invalid_argument, "'{}' in target ID '{}': {} has no {} setting", item, text, name,
                  feature);
    if (setting != Setting::any)
      return fail(ErrorKind::invalid_argument, "target ID '{}' names {} twice", text, feature);
    setting = last == '+' ? Setting::on : Setting::off;
  }
  return result;
}

Result<TargetId> target_id_of_flags(uint32_t e_flags, uint8_t abi_version) {
  const uint32_t machine = e_flags & machine_mask;
  TargetId result;
  if (abi_version == abi_v2)
    return fail(ErrorKind::unsupported, "code object V2 keeps its target in a note, not in the ELF flags");
  if (abi_version > abi_v6)
    return fail(ErrorKind::unsupported, "ELF ABI version {} is newer than code object V6, the last that Atoll reads",
                abi_version);
  result.processor = find_processor(machine);
  if (const auto* later = std::ranges::find(unpublished, machine, &Unpublished::elf_machine);
      later != std::end(unpublished))
    return fail(ErrorKind::unsupported,
                "the code is for {}, whose instructions are not published: Atoll does not read it", later->name);
  if (result.processor == nullptr)
    return fail(ErrorKind::unsupported, "ELF flags 0x{:x} name processor number 0x{:x}, which Atoll does not know",
                e_flags, machine);
  const Processor& processor = *result.processor;

  if (abi_version == abi_v3) {
    // V3 has one bit for each: set, the code is fit for a process that has the feature on, and by the user guide
    // runs (slower) without; clear, it relies on the feature being off.
    if (processor.supports_xnack) result.xnack = (e_flags & xnack_v3) != 0 ? Setting::any : Setting::off;
    if (processor.supports_sramecc) result.sramecc = (e_flags & sramecc_v3) != 0 ? Setting::any : Setting::off;
  } else {
    result.xnack = static_cast<Setting>(e_flags >> xnack_v4_shift & 3);
    result.sramecc = static_cast<Setting>(e_flags >> sramecc_v4_shift & 3);
    if (result.xnack != Setting::unsupported && !processor.supports_xnack)
      return fail(ErrorKind::invalid_file, "ELF flags 0x{:x} set xnack, which {} has not", e_flags, processor.name);
    if (result.sramecc != Setting::unsupported && !processor.supports_sramecc)
      return fail(ErrorKind::invalid_file, "ELF flags 0x{:x} set sramecc, which {} has not", e_flags, processor.name);
  }

  const auto version = static_cast<uint8_t>(e_flags >> generic_version_shift);
  if (processor.generic && abi_version < abi_v6)
    return fail(ErrorKind::invalid_file, "{} needs code object V6, the file is an older one", processor.name);
  if (processor.generic && version == 0)
    return fail(ErrorKind::invalid_file, "the ELF flags 0x{:x} lack the version of {}", e_flags, processor.name);
  if (processor.generic) result.generic_version = version;
  return result;
}

uint32_t flags_of_target_id(const TargetId& id, uint8_t abi_version) {
  uint32_t flags = id.processor->elf_machine;
  if (abi_version <= abi_v3) {
    const auto may_be_on = [](Setting setting) { return setting == Setting::any || setting == Setting::on; };
    if (may_be_on(id.xnack)) flags |= xnack_v3;
    if (may_be_on(id.sramecc)) flags |= sramecc_v3;
    return flags;
  }
  flags |= static_cast<uint32_t>(id.xnack) << xnack_v4_shift | static_cast<uint32_t>(id.sramecc) << sramecc_v4_shift;
  if (abi_version >= abi_v6) flags |= uint32_t{id.generic_version} << generic_version_shift;
  return flags;
}

IsaVersion isa_version_in_v2(IsaVersion version, Setting xnack) {
  const bool on = xnack == Setting::any || xnack == Setting::on;
  const bool has_another = version.major == 9 && version.minor == 0 && version.stepping % 2 == 0 &&
                           version.stepping <= last_stepping_with_xnack;
  if (on && has_another) ++version.stepping;
  return version;
}

Result<TargetId> target_id_of_v2(const IsaVersion& version) {
  // User guide, "AMDGPU Code Object V2 Supported Processors and Fixed Target Feature Settings": a few are known by
  // numbers of which later there were none, and settings are fixed.
  auto [major, minor, stepping] = version;
  bool xnack = false;
  if (major == 8) {
    if (minor == 0 && stepping == 0) stepping = 2;
    if (minor == 0 && stepping == 4) stepping = 3;
    xnack = true;  // of those that have it
  } else if (major == 9 && minor == 0 && stepping <= last_stepping_with_xnack + 1) {
    xnack = stepping % 2 != 0;
    stepping &= ~1u;
  }
  TargetId result;
  result.processor = find_processor(fmt::format("gfx{}{}{:x}", major, minor, stepping));
  if (result.processor == nullptr)
    return fail(ErrorKind::unsupported, "Atoll knows no processor of ISA version {}:{}:{}", version.major,
                version.minor, version.stepping);
  if (result.processor->supports_xnack) result.xnack = xnack ? Setting::on : Setting::off;
  if (result.processor->supports_sramecc) result.sramecc = Setting::off;
  return result;
}

Result<void> check_runs_on(const TargetId& code, const TargetId& gpu) {
  const Processor& built_for = *code.processor;
  const Processor& runs_on = *gpu.processor;
  if (built_for.generic && built_for.name == runs_on.generic_processor) {
    if (code.generic_version < runs_on.generic_since)
      return fail(ErrorKind::incompatible, "the code is for version {} of {}, which covers {} from version {} on",
                  code.generic_version, built_for.name, runs_on.name, runs_on.generic_since);
  } else if (built_for.name != runs_on.name) {
    return fail(ErrorKind::incompatible, "the code is for {}, the GPU is {}", code.to_string(), gpu.to_string());
  }
  if (auto ok = check_setting("xnack", code.xnack, gpu.xnack, gpu); !ok) return ok;
  return check_setting("sramecc", code.sramecc, gpu.sramecc, gpu);
}

}  // namespace Atoll::target
