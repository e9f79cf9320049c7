// object: reading offload bundles and finding code objects in any file that may hold some.
//
// A bundle is a table of (offset, size, id) with the files after it. A compressed one is a header before a
// zlib stream or zstd frame that unpacks to such a bundle. A HIP program has its bundles one after the other in
// the section .hip_fatbin, each at a page's start.
#include "object/bundle.h"

#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <memory>
#include <new>
#include <optional>

#include "object/archive.h"
#include "object/catalyst_code.h"
#include "object/code_object.h"
#include "object/elf_file.h"
#include "object/loadable_code.h"
#include "object/md5.h"
#include "object/unpack_budget.h"
#include "support/bytes.h"
#include "target/executed.h"
#include "target/target_triple.h"

namespace Atoll::object {

using support::ErrorKind;
using support::fail;
using support::read;
using support::Result;
using support::slice;
using support::starts_with;

namespace {

using Bytes = std::span<const uint8_t>;

constexpr std::string_view bundle_magic = "__CLANG_OFFLOAD_BUNDLE__";
constexpr std::string_view compressed_magic = "CCOB";
constexpr size_t page = 4096;

std::unexpected<support::Error> cut_short(std::string_view what) {
  return fail(ErrorKind::invalid_file, "the offload bundle is damaged or cut short: {}", what);
}

/// How much of a bundle is read. Large programs have gigabytes of code, compressed.
enum class Depth : uint8_t {
  whole,
  table,  ///< of a compressed one no more than the table: its entries have no bytes
};

Result<Bundle> read_plain(Bytes bytes, uint64_t* consumed, Depth depth = Depth::whole) {
  const auto count = read<uint64_t>(bytes, bundle_magic.size());
  if (!count) return cut_short("it has no table");
  Bundle bundle;
  uint64_t position = bundle_magic.size() + sizeof(uint64_t);
  uint64_t end = position, described = 0;
  for (uint64_t i = 0; i < *count; i++) {
    const auto head = read<std::array<uint64_t, 3>>(bytes, position);  // offset, size, length of the id
    if (!head) return cut_short(fmt::format("it says that it has {} entries, its table ends after {}", *count, i));
    const auto [offset, size, id_length] = *head;
    const auto id = slice(bytes, position + sizeof *head, id_length);
    if (!id) return cut_short(fmt::format("the name of entry {} is not all there", i));
    const auto entry = depth == Depth::whole ? slice(bytes, offset, size) : Bytes();
    BundleEntry result{.id = {id->begin(), id->end()}, .bytes = {}};
    if (!entry) return cut_short(fmt::format("entry {} ({}) points outside of it", i, result.id));
    described += entry->size();
    if (described > bytes.size()) return cut_short(fmt::format("entry {} ({}) overlaps others", i, result.id));
    result.bytes = *entry;
    bundle.entries.push_back(std::move(result));
    position += sizeof *head + id_length;
    end = std::max({end, position, offset + size});
  }
  if (consumed != nullptr) *consumed = end;
  return bundle;
}

struct CompressedHeader {
  uint64_t header_bytes, file_bytes, unpacked_bytes;  ///< file_bytes: of header and data; 0: not said
  uint64_t hash;                                      ///< the first 8 bytes of the unpacked bundle's MD5 digest
  bool zstd;
};

/// "CCOB", version and method in 16 bits each; from version 2 on the whole size; the unpacked size; a hash of that.
/// Sizes have 64 bits from version 3 on.
Result<CompressedHeader> read_compressed_header(Bytes bytes) {
  const auto version = read<uint16_t>(bytes, 4), method = read<uint16_t>(bytes, 6);
  if (!version || !method) return cut_short("its header is truncated");
  if (*method > 1) return fail(ErrorKind::unsupported, "compression method {} of an offload bundle", *method);
  CompressedHeader header{.header_bytes = 0, .file_bytes = 0, .unpacked_bytes = 0, .hash = 0, .zstd = *method == 1};
  switch (*version) {
    case 1:
      header.header_bytes = 20;
      header.unpacked_bytes = read<uint32_t>(bytes, 8).value_or(0);
      break;
    case 2:
      header.header_bytes = 24;
      header.file_bytes = read<uint32_t>(bytes, 8).value_or(0);
      header.unpacked_bytes = read<uint32_t>(bytes, 12).value_or(0);
      break;
    case 3:
      header.header_bytes = 32;
      header.file_bytes = read<uint64_t>(bytes, 8).value_or(0);
      header.unpacked_bytes = read<uint64_t>(bytes, 16).value_or(0);
      break;
    default:
      return fail(ErrorKind::unsupported, "version {} of the compressed offload bundle (1 to 3 are known)", *version);
  }
  const auto hash = read<uint64_t>(bytes, header.header_bytes - sizeof(uint64_t));
  if (!hash) return cut_short("its header is truncated");
  header.hash = *hash;
  if (*version > 1 && (header.file_bytes < header.header_bytes || header.file_bytes > bytes.size()))
    return cut_short(
        fmt::format("its header has a size of {} bytes, but the file has {}", header.file_bytes, bytes.size()));
  return header;
}

/// Unpacks to `out`, whose size is what must come out; returns the bytes taken, 0 for garbled data.
uint64_t unpack_zstd(Bytes packed, std::span<uint8_t> out) {
  if (ZSTD_getFrameContentSize(packed.data(), packed.size()) != out.size()) return 0;
  const size_t frame = ZSTD_findFrameCompressedSize(packed.data(), packed.size());
  if (ZSTD_isError(frame) != 0) return 0;
  return ZSTD_decompress(out.data(), out.size(), packed.data(), frame) == out.size() ? frame : 0;
}

uint64_t unpack_zlib(Bytes packed, std::span<uint8_t> out) {
  uLongf size = out.size();
  uLong taken = packed.size();
  return uncompress2(out.data(), &size, packed.data(), &taken) == Z_OK && size == out.size() ? taken : 0;
}

Result<Bundle> read_compressed(Bytes bytes, uint64_t* consumed, UnpackBudget& budget) {
  const auto header = read_compressed_header(bytes);
  if (!header) return std::unexpected(header.error());
  const uint64_t end = header->file_bytes != 0 ? header->file_bytes : bytes.size();
  const Bytes packed = bytes.subspan(header->header_bytes, end - header->header_bytes);
  if (auto ok = budget.spend(header->unpacked_bytes); !ok) return std::unexpected(ok.error());
  // Not cleared: the host gives memory only as the data arrive, whatever the header says.
  std::unique_ptr<uint8_t[]> storage(new (std::nothrow) uint8_t[header->unpacked_bytes]);
  if (storage == nullptr)
    return fail(ErrorKind::out_of_resources, "there is not enough memory for the {} bytes that its header says",
                header->unpacked_bytes);
  const std::span<uint8_t> unpacked(storage.get(), header->unpacked_bytes);
  const uint64_t taken = header->zstd ? unpack_zstd(packed, unpacked) : unpack_zlib(packed, unpacked);
  if (taken == 0) return cut_short(fmt::format("its {} data do not unpack", header->zstd ? "zstd" : "zlib"));
  if (read<uint64_t>(md5(unpacked), 0) != header->hash)
    return cut_short("what its data unpack to is not what was packed (its hash is another)");
  if (!starts_with(unpacked, bundle_magic)) return cut_short("its uncompressed data is not a bundle");
  auto bundle = read_plain(unpacked, nullptr);
  if (!bundle) return bundle;
  bundle->storage = std::move(storage);  // moving keeps the bytes where the entries point
  if (consumed != nullptr) *consumed = header->file_bytes != 0 ? header->file_bytes : header->header_bytes + taken;
  return bundle;
}

Result<Bundle> read_any(Bytes bytes, uint64_t* consumed, UnpackBudget& budget) {
  if (starts_with(bytes, bundle_magic)) return read_plain(bytes, consumed);
  if (starts_with(bytes, compressed_magic)) return read_compressed(bytes, consumed, budget);
  return fail(ErrorKind::invalid_file, "not an offload bundle");
}

/// Returns the entries of a compressed bundle without their bytes. Returns nothing if the first unpacked bytes do
/// not contain them, or if the header lacks the size (old bundles, compressed by zlib).
std::optional<Bundle> read_compressed_table(Bytes bytes, uint64_t* consumed, UnpackBudget& budget) {
  constexpr size_t enough = size_t{64} << 10;
  const auto header = read_compressed_header(bytes);
  if (!header || header->file_bytes == 0 || !header->zstd) return std::nullopt;
  const uint64_t length = std::min<uint64_t>(header->unpacked_bytes, enough);
  if (!budget.spend(length)) return std::nullopt;
  std::vector<uint8_t> first(length);
  const std::unique_ptr<ZSTD_DStream, decltype(&ZSTD_freeDStream)> stream(ZSTD_createDStream(), ZSTD_freeDStream);
  ZSTD_inBuffer in{bytes.data() + header->header_bytes, header->file_bytes - header->header_bytes, 0};
  ZSTD_outBuffer out{first.data(), first.size(), 0};
  while (stream != nullptr && out.pos < out.size && in.pos < in.size)
    if (ZSTD_isError(ZSTD_decompressStream(stream.get(), &out, &in)) != 0) return std::nullopt;
  first.resize(out.pos);
  if (!starts_with(first, bundle_magic)) return std::nullopt;
  auto bundle = read_plain(first, nullptr, Depth::table);
  if (!bundle) return std::nullopt;
  *consumed = header->file_bytes;
  return std::move(*bundle);
}

/// The text for an entry with an unknown target.
std::string name_in(std::string_view id) {
  const std::string_view target = target_of_entry(id);
  const auto triple = target::read_triple(target);
  return std::string(target.empty() ? id : triple && !triple->target.empty() ? triple->target : target);
}

Result<target::TargetId> target_of(const FoundCodeObject& each) {
  // What the ELF header says is what counts: it is what the loader will go by.
  return each.bytes.empty() ? target::parse_target_id(target_of_entry(each.id)) : read_loadable_target(each.bytes);
}

/// Returns whether the code is for an Abi.
bool is_executable(const FoundCodeObject& each) {
  if (each.bytes.empty()) {
    const auto triple = target::read_triple(target_of_entry(each.id));
    return triple && triple->os == "amdhsa";
  }
  return each.bytes.size() > EI_OSABI &&
         (each.bytes[EI_OSABI] == elf::osabi_amdgpu_hsa || each.bytes[EI_OSABI] == elf::osabi_amdgpu_pal ||
          each.bytes[EI_OSABI] == elf::osabi_amdgpu_mesa3d);
}

bool is_code_object(Bytes bytes) {
  const auto header = read<Elf64_Ehdr>(bytes, 0);
  return header && starts_with(bytes, ELFMAG) && header->e_machine == elf::em_amdgpu;
}

/// Looks for code objects in one file, or in an archive's members.
class Search {
 public:
  Search(Depth depth, uint64_t file_bytes) : depth_(depth), budget_(file_bytes) {}

  /// The bundles in a stretch of bytes, the first `most` of them, with whatever padding lies between them.
  Result<void> add_bundles(Bytes bytes, const std::string& where, unsigned most = UINT32_MAX);
  /// The code objects in a file that is no archive; `where` is what the file is called, with what separates it from
  /// more.
  Result<void> add_file(Bytes file, const std::string& where);

  FoundCodeObjects found;

 private:
  Result<uint64_t> add_bundle(Bytes bytes, const std::string& place);
  Result<void> add_catalyst(Bytes container, const std::string& where);
  Result<void> add_bundles_at_pages(Bytes file, const std::string& where);

  Depth depth_;
  UnpackBudget budget_;
};

/// The bundle that `bytes` begin with; returns its size.
Result<uint64_t> Search::add_bundle(Bytes bytes, const std::string& place) {
  uint64_t consumed = 0;
  std::optional<Bundle> table;
  if (depth_ == Depth::table && starts_with(bytes, compressed_magic))
    table = read_compressed_table(bytes, &consumed, budget_);
  auto bundle = table ? Result<Bundle>(std::move(*table)) : read_any(bytes, &consumed, budget_);
  if (!bundle) return support::within(place, bundle.error());
  found.bundles.push_back(std::move(*bundle));
  for (const BundleEntry& entry : found.bundles.back().entries)
    if (table ? !target_of_entry(entry.id).empty() : is_code_object(entry.bytes))
      found.code_objects.push_back(
          {fmt::format("{}, entry {}", place, entry.id), entry.id, entry.bytes, found.bundles.size() - 1});
  return consumed;
}

Result<void> Search::add_bundles(Bytes bytes, const std::string& where, unsigned most) {
  unsigned number = 0;
  for (size_t position = 0; position < bytes.size() && number < most;) {
    if (bytes[position] == 0) {
      position++;
      continue;
    }
    const auto consumed = add_bundle(bytes.subspan(position), fmt::format("{}bundle {}", where, number++));
    if (!consumed) return std::unexpected(consumed.error());
    position += *consumed;
  }
  return {};
}

bool has_sections(Bytes file) {
  const auto header = read<Elf64_Ehdr>(file, 0);
  return header && header->e_shnum != 0 && header->e_shoff < file.size();
}

/// The contents of .hip_fatbin, or nothing when the host's ELF file has no section of that name.
Result<std::optional<Bytes>> find_fatbin(Bytes file) {
  const auto header = read<Elf64_Ehdr>(file, 0);
  if (!header || header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB)
    return std::nullopt;
  const auto section = [&](uint64_t index) {
    return read<Elf64_Shdr>(file, header->e_shoff + index * sizeof(Elf64_Shdr));
  };
  if (header->e_shnum == 0 || header->e_shoff > file.size()) return std::nullopt;
  const auto names_header = section(header->e_shstrndx);
  const auto names =
      names_header ? slice(file, names_header->sh_offset, names_header->sh_size) : std::optional<Bytes>();
  if (!names) return std::nullopt;
  for (unsigned i = 0; i < header->e_shnum; i++) {
    const auto each = section(i);
    if (!each || each->sh_type == SHT_NOBITS || support::read_text(*names, each->sh_name) != ".hip_fatbin") continue;
    const auto contents = slice(file, each->sh_offset, each->sh_size);
    if (!contents) return fail(ErrorKind::invalid_file, "section .hip_fatbin points outside of the file");
    return *contents;
  }
  return std::nullopt;
}

/// For a program whose section table was stripped: bundles start at pages. What looks like one may be other data.
Result<void> Search::add_bundles_at_pages(Bytes file, const std::string& where) {
  for (size_t position = 0; position < file.size();) {
    const Bytes rest = file.subspan(position);
    uint64_t size = 1;
    if (starts_with(rest, bundle_magic) || starts_with(rest, compressed_magic)) {
      const auto consumed = add_bundle(rest, fmt::format("{}at byte {}, bundle 0", where, position));
      if (!consumed) {
        if (auto ok = budget_.spend(rest.size()); !ok)
          return support::within(fmt::format("{}at byte {}", where, position), ok.error());
      }
      size = consumed.value_or(size);
    }
    position += support::align_up(std::max<uint64_t>(size, 1), page);
  }
  return {};
}

bool may_hold_code(Bytes file) {
  return starts_with(file, bundle_magic) || starts_with(file, compressed_magic) || starts_with(file, ELFMAG);
}

/// Adds the kernels of a Catalyst container, converted to one code object.
Result<void> Search::add_catalyst(Bytes container, const std::string& where) {
  const auto made = catalyst::make_code_object(container);
  if (!made) return std::unexpected(made.error());
  Bundle& bundle = found.bundles.emplace_back();
  bundle.storage = std::make_unique<uint8_t[]>(made->size());
  std::ranges::copy(*made, bundle.storage.get());
  const Bytes bytes(bundle.storage.get(), made->size());
  const auto target = read_target(bytes);
  if (!target) return std::unexpected(target.error());
  found.code_objects.push_back(
      {where + "the kernels of the Catalyst container", target->to_string(), bytes, found.bundles.size() - 1});
  return {};
}

Result<void> Search::add_file(Bytes file, const std::string& where) {
  if (!may_hold_code(file))
    return fail(ErrorKind::invalid_file,
                "neither a code object nor an offload bundle nor an ELF program or library that may hold some");
  if (!starts_with(file, ELFMAG)) return add_bundles(file, where);
  if (catalyst::is_catalyst(file)) return add_catalyst(file, where);
  if (is_code_object(file)) {
    const auto target = read_target(file);
    found.bundles.emplace_back();
    found.code_objects.push_back(
        {where + "the object itself", target ? target->to_string() : "unknown target", file, found.bundles.size() - 1});
    return {};
  }
  const auto fatbin = find_fatbin(file);
  if (!fatbin) return std::unexpected(fatbin.error());
  if (*fatbin) return add_bundles(**fatbin, where + "section .hip_fatbin, ");
  return has_sections(file) ? Result<void>{} : add_bundles_at_pages(file, where);
}

Result<FoundCodeObjects> find(Bytes file, Depth depth) {
  Search search(depth, file.size());
  if (!is_archive(file)) {
    if (auto ok = search.add_file(file, ""); !ok) return std::unexpected(ok.error());
    return std::move(search.found);
  }
  const auto members = read_archive(file);
  if (!members) return std::unexpected(members.error());
  for (const ArchiveMember& member : *members) {
    if (!may_hold_code(member.bytes)) continue;
    const std::string where = fmt::format("member {}, ", member.name);
    if (auto ok = search.add_file(member.bytes, where); !ok) return support::within(member.name, ok.error());
  }
  return std::move(search.found);
}

}  // namespace

std::string_view target_of_entry(std::string_view id) {
  // "hip", "hipv4", "openmp" or another kind of offloading comes first; "host" has a triple of another architecture.
  const std::string_view target = id.substr(std::min(id.size(), id.find('-') + 1));
  return target::read_triple(target) ? target : std::string_view();
}

Result<Bundle> read_bundle(Bytes bytes, uint64_t* consumed) {
  UnpackBudget budget(bytes.size());
  return read_any(bytes, consumed, budget);
}

Result<FoundCodeObjects> find_code_objects(Bytes file) { return find(file, Depth::whole); }

Result<FoundCodeObjects> find_targets(Bytes file) { return find(file, Depth::table); }

std::string targets_of(const FoundCodeObjects& found) {
  std::vector<std::string> targets;
  for (const FoundCodeObject& each : found.code_objects) {
    const auto target = target_of(each);
    auto text = target ? target->to_string() : name_in(each.id);
    if (std::ranges::find(targets, text) == targets.end()) targets.push_back(std::move(text));
  }
  return fmt::format("{}", fmt::join(targets, ", "));
}

Result<std::vector<FoundCodeObject>> choose_code_objects(const FoundCodeObjects& found, const target::TargetId& gpu) {
  std::vector<FoundCodeObject> chosen;
  int best_rank = -1;  // in the bundle of the last one chosen
  for (const FoundCodeObject& each : found.code_objects) {
    const auto target = target_of(each);
    if (!target || !check_runs_on(*target, gpu)) continue;
    const auto says = [](target::Setting setting) { return setting >= target::Setting::off ? 1 : 0; };
    const int rank = (target->processor->generic ? 0 : 4) + says(target->xnack) + says(target->sramecc);
    if (chosen.empty() || chosen.back().bundle != each.bundle) {
      chosen.push_back(each);
      best_rank = rank;
    } else if (rank > best_rank) {
      chosen.back() = each;
      best_rank = rank;
    }
  }
  if (!chosen.empty()) return chosen;
  if (found.code_objects.empty())
    return fail(ErrorKind::not_found, "no GPU code for {}: the file contains none", gpu.to_string());
  if (std::ranges::none_of(found.code_objects, is_executable))
    return std::unexpected(target_of(found.code_objects.front()).error());
  return fail(ErrorKind::incompatible, "no GPU code for {}; the file has code for {}", gpu.to_string(),
              targets_of(found));
}

std::optional<FoundCodeObjects> code_that_does_not_run(Bytes file, const target::TargetId& gpu) {
  if (const auto fatbin = find_fatbin(file); fatbin && *fatbin) {
    Search first(Depth::table, file.size());
    if (first.add_bundles(**fatbin, "", 1) && choose_code_objects(first.found, gpu)) return std::nullopt;
  }
  auto found = find_targets(file);
  if (!found || found->code_objects.empty() || choose_code_objects(*found, gpu)) return std::nullopt;
  return std::move(*found);
}

std::string who_runs(const FoundCodeObjects& found) {
  const auto fitting = choose_gpu({&found, 1});
  return fitting ? fmt::format("--gpu {} runs it", fitting->target.to_string())
                 : fmt::format("Atoll executes {} so far", target::executed_generations);
}

Result<target::GpuModel> choose_gpu(std::span<const FoundCodeObjects> files, bool usual_xnack) {
  constexpr std::string_view usual = "gfx90a";
  const auto bundles_with_code = [](const FoundCodeObjects& file) {
    size_t count = 0;
    for (size_t i = 0; i < file.code_objects.size(); i++)
      if (i == 0 || file.code_objects[i].bundle != file.code_objects[i - 1].bundle) count++;
    return count;
  };
  // Everything before something; the usual settings before others; the usual GPU before the catalogue's order.
  for (const bool every_bundle : {true, false}) {
    for (const std::string_view settings :
         {"", ":xnack+", ":sramecc+", ":sramecc-", ":sramecc+:xnack+", ":sramecc-:xnack+"}) {
      std::vector<std::string> names{fmt::format("{}{}", usual, settings)};
      for (const target::Product& product : target::products())
        names.push_back(fmt::format("{}{}", product.name, settings));
      for (const std::string& name : names) {
        auto model = target::find_gpu(name, usual_xnack);
        if (!model) continue;
        const auto fits = [&](const FoundCodeObjects& file) {
          const auto chosen = choose_code_objects(file, model->target);
          return chosen && (!every_bundle || chosen->size() == bundles_with_code(file));
        };
        if (std::ranges::all_of(files, fits)) return model;
      }
    }
  }
  std::vector<std::string> targets;
  for (const FoundCodeObjects& file : files) {
    // Code for another operating system runs on no GPU: name the system instead of GPUs.
    if (!file.code_objects.empty() && std::ranges::none_of(file.code_objects, is_executable))
      return std::unexpected(target_of(file.code_objects.front()).error());
    if (!file.code_objects.empty()) targets.push_back(targets_of(file));
  }
  if (targets.empty()) return fail(ErrorKind::not_found, "the file contains no GPU code");
  std::vector<std::string_view> processors;
  for (const target::Product& product : target::products())
    if (std::ranges::find(processors, product.processor) == processors.end()) processors.push_back(product.processor);
  return fail(ErrorKind::incompatible, "the GPU code is for {}; Atoll executes {} so far: build for one of {}",
              fmt::join(targets, " and for "), target::executed_generations, fmt::join(processors, ", "));
}

}  // namespace Atoll::object
