// tools: clang's command line, and the files of AMD's device library.
#include "tools/front_end.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "tools/child_program.h"
#include "tools/command.h"

namespace Atoll::tools {

using support::ErrorKind;
using support::fail;
using support::Result;

namespace fs = std::filesystem;

namespace {

/// Where distributions put the device library, by its file ocml.bc.
constexpr const char* library_paths[] = {
    "/opt/rocm/amdgcn/bitcode",         "/usr/lib/x86_64-linux-gnu/amdgcn/bitcode",
    "/usr/lib/amdgcn/bitcode",          "/usr/lib/llvm-22/lib/clang/22/amdgcn/bitcode",
    "/usr/lib/clang/22/amdgcn/bitcode",
};

Result<fs::path> find_library(const std::string& given) {
  if (!given.empty()) {
    if (fs::exists(fs::path(given) / "ocml.bc")) return fs::path(given);
    return fail(ErrorKind::not_found, "--rocm-device-lib-path {}: there is no ocml.bc", given);
  }
  for (const fs::path each : library_paths)
    if (fs::exists(each / "ocml.bc")) return each;
  return fail(ErrorKind::not_found,
              "AMD's device library is not installed (Debian's package rocm-device-libs has it). Name its folder with "
              "--rocm-device-lib-path, or compile without it: -nogpulib");
}

/// Returns the number in "oclc_isa_version_90a.bc" as a hexadecimal one; the last two digits are minor and stepping.
Result<unsigned> version_of(std::string_view digits) {
  unsigned version = 0;
  const auto end = std::from_chars(digits.data(), digits.data() + digits.size(), version, 16);
  if (end.ec != std::errc() || end.ptr != digits.data() + digits.size())
    return fail(ErrorKind::invalid_file, "{} is not a version", digits);
  return version;
}

/// The file of the GPU's version, or else of the greatest version below it.
Result<fs::path> isa_version_file(const fs::path& library, const target::Processor& processor) {
  constexpr std::string_view prefix = "oclc_isa_version_";
  const target::IsaVersion version_of_gpu = target::isa_version(processor);
  const auto wanted =
      version_of(fmt::format("{}{:x}{:x}", version_of_gpu.major, version_of_gpu.minor, version_of_gpu.stepping));
  if (!wanted) return std::unexpected(wanted.error());
  fs::path best;
  unsigned best_version = 0;
  std::error_code error;
  for (const auto& each : fs::directory_iterator(library, error)) {
    const std::string name = each.path().stem().string();
    if (!name.starts_with(prefix) || each.path().extension() != ".bc") continue;
    const auto version = version_of(std::string_view(name).substr(prefix.size()));
    if (!version || *version > *wanted || *version < best_version) continue;
    best = each.path();
    best_version = *version;
  }
  if (best.empty()) return fail(ErrorKind::not_found, "{}: there is no oclc_isa_version file", library.string());
  return best;
}

bool is_wave64(const FrontEndOptions& options) {
  return options.wave_size == 64 || !options.target.processor->has_wave_size(32);
}

Result<std::vector<fs::path>> library_files(SourceLanguage language, const FrontEndOptions& options) {
  const auto library = find_library(options.library_path);
  if (!library) return std::unexpected(library.error());
  const auto version = isa_version_file(*library, *options.target.processor);
  if (!version) return std::unexpected(version.error());
  std::vector<std::string> names;
  if (language == SourceLanguage::opencl) names.emplace_back("opencl.bc");
  if (language == SourceLanguage::hip) names.emplace_back("hip.bc");
  for (const char* each : {"ocml.bc", "ockl.bc", "oclc_unsafe_math_off.bc", "oclc_finite_only_off.bc",
                           "oclc_correctly_rounded_sqrt_on.bc", "oclc_daz_opt_off.bc"})
    names.emplace_back(each);
  names.emplace_back(is_wave64(options) ? "oclc_wavefrontsize64_on.bc" : "oclc_wavefrontsize64_off.bc");
  names.push_back(fmt::format("oclc_abi_version_{}00.bc", options.code_object_version));
  std::vector<fs::path> files;
  for (const std::string& name : names) {
    if (const fs::path path = *library / name; fs::exists(path)) files.push_back(path);
  }
  files.push_back(*version);
  // A library that is older than code object version 6 has version 5, whose hidden arguments are the same.
  if (options.code_object_version == 6 && !fs::exists(*library / "oclc_abi_version_600.bc"))
    files.push_back(*library / "oclc_abi_version_500.bc");
  return files;
}

}  // namespace

Result<SourceLanguage> language_of(const std::string& path) {
  constexpr std::pair<std::string_view, SourceLanguage> extensions[] = {
      {".ll", SourceLanguage::ir},   {".bc", SourceLanguage::ir},   {".cl", SourceLanguage::opencl},
      {".hip", SourceLanguage::hip}, {".c", SourceLanguage::c},     {".cpp", SourceLanguage::cpp},
      {".cc", SourceLanguage::cpp},  {".cxx", SourceLanguage::cpp},
  };
  const std::string extension = fs::path(path).extension().string();
  for (const auto& [name, language] : extensions)
    if (name == extension) return language;
  return wrong_usage(fmt::format("{}: the language is unknown: name it with -x (ir, cl, hip, c or c++)", path));
}

Result<std::string> find_clang(const FrontEndOptions& options) {
  if (!options.clang.empty()) return find_program(options.clang);
  auto clang = find_program("clang-22");
  if (clang) return clang;
  return fail(ErrorKind::not_found,
              "clang-22 is not in PATH, and compiles sources: install it (Debian's package clang-22), or name another "
              "clang 22 with --clang");
}

Result<int> compile_to_ir(const std::string& path, SourceLanguage language, const std::string& output,
                          const FrontEndOptions& options) {
  const auto clang = find_clang(options);
  if (!clang) return std::unexpected(clang.error());
  std::vector<std::string> arguments;
  const auto add = [&](std::initializer_list<std::string> words) {
    arguments.insert(arguments.end(), words.begin(), words.end());
  };
  switch (language) {
    case SourceLanguage::opencl:
      add({"-x", "cl", options.standard.empty() ? "-cl-std=CL2.0" : "-cl-std=" + options.standard});
      break;
    case SourceLanguage::hip:
      add({"-x", "hip", "--cuda-device-only", "--offload-arch=" + options.target.to_string(),
           "--no-offload-new-driver"});
      // Headers of HIP until 6 use the macro, which clang 22 has no more.
      add({fmt::format("-D__AMDGCN_WAVEFRONT_SIZE={}", is_wave64(options) ? 64 : 32)});
      break;
    default:
      add({"-x", language == SourceLanguage::c ? "c" : "c++", "-ffreestanding"});
  }
  if (language != SourceLanguage::hip) add({"-target", "amdgcn-amd-amdhsa", "-mcpu=" + options.target.to_string()});
  if (language != SourceLanguage::opencl && !options.standard.empty()) add({"-std=" + options.standard});
  if (options.wave_size == 64 && options.target.processor->has_wave_size(32)) add({"-mwavefrontsize64"});
  // The optimizations are Atoll's to choose: of clang's level only what it changes in the IR's meaning.
  add({fmt::format("-O{}", options.level), "-Xclang", "-disable-llvm-passes", "-emit-llvm", "-c", "-nogpulib",
       fmt::format("-mcode-object-version={}", options.code_object_version)});
  if (options.device_library && (language == SourceLanguage::opencl || language == SourceLanguage::hip)) {
    const auto files = library_files(language, options);
    if (!files) return std::unexpected(files.error());
    for (const fs::path& each : *files) add({"-Xclang", "-mlink-builtin-bitcode", "-Xclang", each.string()});
  }
  for (const std::string& each : options.include_directories) add({"-I", each});
  for (const std::string& each : options.definitions) add({"-D" + each});
  arguments.insert(arguments.end(), options.others.begin(), options.others.end());
  add({path, "-o", output});
  return run_program(*clang, arguments);
}

}  // namespace Atoll::tools
