// target: reading and writing target IDs, in text and in ELF flags, and the rule of what runs where.
#include "target/target_id.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "support/spelling.h"
#include "target/target_triple.h"

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

/// Returns the processor that a subarchitecture names: "gfx90a" for "9.0a", "gfx9-4-generic" for "9.4". nullptr for a
/// family without a generic processor ("6") and for unknown ones.
const Processor* processor_of_subarch(std::string_view subarch) {
  std::string digits("gfx"), family("gfx");
  for (const char c : subarch) {
    if (c != '.') digits += c;
    family += c == '.' ? '-' : c;
  }
  const Processor* const processor = find_processor(digits);
  return processor != nullptr ? processor : find_processor(family + "-generic");
}

/// Whether code for a processor may have a triple with this subarchitecture: its own or that of its family.
bool is_subarch_of(std::string_view subarch, const Processor& processor) {
  if (subarch.empty()) return true;
  const Processor* const named = processor_of_subarch(subarch);
  if (named != nullptr) return named == &processor || named->name == processor.generic_processor;
  const std::string_view version = processor.name.substr(std::string_view("gfx").size());
  // GFX6 to GFX8 have no generic processors; gfx810 is a family of its own.
  return subarch.size() == 1 && version.size() == 3 && version.starts_with(subarch) && version[1] == '0';
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

std::optional<TargetTriple> read_triple(std::string_view text) {
  TargetTriple triple;
  for (const std::string_view architecture : {"amdgcn", "amdgpu"})
    if (text.starts_with(architecture)) triple.architecture = architecture;
  if (triple.architecture.empty()) return std::nullopt;
  std::string_view rest = text.substr(triple.architecture.size());
  const auto next = [&] {
    const std::string_view component = rest.substr(0, rest.find('-'));
    rest.remove_prefix(std::min(rest.size(), component.size() + 1));
    return component;
  };
  triple.subarch = next();
  if (!std::ranges::all_of(triple.subarch,
                           [](char c) { return c == '.' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); }))
    return std::nullopt;
  next();  // the vendor
  triple.os = next();
  if (triple.os.empty()) return std::nullopt;
  if (!rest.starts_with("gfx") && rest.contains('-'))
    next();  // the environment, "" or "unknown"; older triples have none
  if (!rest.contains(':') && rest.ends_with('-'))
    rest.remove_suffix(1);  // bundlers end IDs without settings with a dash
  triple.target = rest;
  return triple;
}

Result<TargetId> parse_target_id(std::string_view text) {
  const auto triple = read_triple(text);
  if (triple && triple->os != "amdhsa")
    return fail(ErrorKind::incompatible, "'{}' is for the operating system {}; Atoll runs code for amdhsa", text,
                triple->os);
  const std::string_view id = triple ? triple->target : text;
  const std::string_view name = id.substr(0, id.find_first_of(":+"));
  TargetId result;
  result.processor = triple && name.empty() ? processor_of_subarch(triple->subarch) : find_processor(name);
  if (result.processor == nullptr) {
    support::SpellingOf spelling(name);
    for (const Processor& each : processors()) spelling.consider(each.name);
    return fail(ErrorKind::not_found, "unknown processor '{}'{}", name.empty() ? text : name,
                name.empty() || spelling.found().empty() ? "; one is 'gfx90a'" : spelling.question());
  }
  if (triple && !is_subarch_of(triple->subarch, *result.processor))
    return fail(ErrorKind::invalid_argument, "'{}': {}{} is not the architecture of {}", text, triple->architecture,
                triple->subarch, result.processor->name);
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
