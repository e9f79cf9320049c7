// object: offload bundles, in which clang packs the code objects of several GPUs, plain or compressed, and where
// they hide inside executables and shared libraries (.hip_fatbin).
// Source: user guide / clang's "Clang Offload Bundler" page.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "support/error.h"
#include "target/product.h"
#include "target/target_id.h"

namespace Atoll::object {

struct BundleEntry {
  std::string id;                  ///< "hipv4-amdgcn-amd-amdhsa--gfx90a:xnack-" or "host-..."
  std::span<const uint8_t> bytes;  ///< points into the file, or into Bundle::storage when it was compressed
};

struct Bundle {
  std::vector<BundleEntry> entries;
  std::unique_ptr<uint8_t[]> storage;
};

/// Returns the target of an entry by its ID, with its triple: "amdgcn-amd-amdhsa--gfx90a" for
/// "hipv4-amdgcn-amd-amdhsa--gfx90a". Returns an empty text for the host's entry.
std::string_view target_of_entry(std::string_view id);

/// Reads one bundle ("__CLANG_OFFLOAD_BUNDLE__" or compressed "CCOB"). `consumed`, if given, gets its size. What it
/// unpacks to is bounded by the size of `bytes` (unpack_budget.h), as it is for a whole file in the functions below.
support::Result<Bundle> read_bundle(std::span<const uint8_t> bytes, uint64_t* consumed = nullptr);

/// One code object found in a file, with where it was: "app.hip_fatbin bundle 0 entry gfx90a".
struct FoundCodeObject {
  std::string where;
  std::string id;  ///< the bundle entry's target id text, or the code object's own
  std::span<const uint8_t> bytes;
  size_t bundle = 0;  ///< which bundle of the file it is in
};
struct FoundCodeObjects {
  std::vector<FoundCodeObject> code_objects;
  std::vector<Bundle> bundles;  ///< keeps decompressed bytes alive
};

/// Every code object in a file: a bare code object, a bundle, a host ELF with bundles in its .hip_fatbin, or an archive
/// of such.
support::Result<FoundCodeObjects> find_code_objects(std::span<const uint8_t> file);

/// As above, for callers that only list targets: code objects in compressed bundles have no bytes, and their
/// targets are those that the bundle's table states. Unpacking all of a program's bundles can take seconds and
/// gigabytes.
support::Result<FoundCodeObjects> find_targets(std::span<const uint8_t> file);

/// Returns the code that a program with these bundles would load on `gpu`: of each bundle the code object that
/// suits it best (exact feature settings before "any", specific before generic). Bundles without one are left
/// out. If no bundle has one, the error lists the targets of the file.
support::Result<std::vector<FoundCodeObject>> choose_code_objects(const FoundCodeObjects& found,
                                                                  const target::TargetId& gpu);

/// The targets of what a program or library has, when nothing of it runs on `gpu`; nothing also when it has no GPU
/// code. Reads no more than the first of its bundles, as a rule.
std::optional<FoundCodeObjects> code_that_does_not_run(std::span<const uint8_t> file, const target::TargetId& gpu);

/// Which GPU does run it, or that none does: the end of a message to the user.
std::string who_runs(const FoundCodeObjects& found);

/// A GPU for which choose_code_objects finds something in every file of `files`, and in every bundle if that can be:
/// the usual one if it fits (or if there is no file), or else the first of the catalogue that does. The error says
/// which targets the code is for and which GPUs there are.
support::Result<target::GpuModel> choose_gpu(std::span<const FoundCodeObjects> files, bool usual_xnack = false);

/// The targets of its code objects, each once, in the order found: "gfx900, gfx90a:xnack-".
std::string targets_of(const FoundCodeObjects& found);

}  // namespace Atoll::object
