// assembler: Catalyst's containers as text (catalyst_text.h).
#include "assembler/catalyst/catalyst_text.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "object/catalyst_container.h"
#include "object/catalyst_devices.h"
#include "object/catalyst_metadata.h"
#include "object/catalyst_writer.h"
#include "object/kernel_code.h"
#include "object/relocation_type.h"
#include "target/processor.h"

namespace Atoll::assembler {

namespace catalyst = object::catalyst;
using object::RawKernelCode;
using support::ErrorKind;
using support::fail;
using support::Result;

namespace {

constexpr std::string_view target_directive = ".catalyst_target";

struct ScalarName {
  std::string_view name;
  catalyst::ArgumentType type;
};
constexpr ScalarName scalar_names[] = {
    {"int8", catalyst::ArgumentType::int8},       {"int16", catalyst::ArgumentType::int16},
    {"int32", catalyst::ArgumentType::int32},     {"int64", catalyst::ArgumentType::int64},
    {"float32", catalyst::ArgumentType::float32}, {"float64", catalyst::ArgumentType::float64},
    {"queue", catalyst::ArgumentType::queue},     {"sampler", catalyst::ArgumentType::sampler},
    {"image", catalyst::ArgumentType::image},     {"structure", catalyst::ArgumentType::structure},
    {"pointer", catalyst::ArgumentType::pointer}, {"pipe", catalyst::ArgumentType::pipe}};

std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") + 1 - first);
}

/// Splits at commas outside of quotes.
std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> parts;
  bool quoted = false;
  size_t begin = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (quoted && text[i] == '\\')
      ++i;
    else if (text[i] == '"')
      quoted = !quoted;
    else if (text[i] == ',' && !quoted) {
      parts.push_back(trimmed(text.substr(begin, i - begin)));
      begin = i + 1;
    }
  }
  if (const std::string_view last = trimmed(text.substr(std::min(begin, text.size()))); !last.empty() || !parts.empty())
    parts.push_back(last);
  return parts;
}

std::optional<int64_t> number_of(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  const bool hexadecimal = text.starts_with("0x");
  if (hexadecimal) text.remove_prefix(2);
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, hexadecimal ? 16 : 10);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return static_cast<int64_t>(negative ? 0 - value : value);
}

/// Returns the contents of a quoted text with escape sequences resolved: \" \\ \n \t and octal numbers.
std::optional<std::string> unquoted(std::string_view text) {
  if (text.size() < 2 || !text.starts_with('"') || !text.ends_with('"')) return std::nullopt;
  text = text.substr(1, text.size() - 2);
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') return std::nullopt;
    if (text[i] != '\\') {
      out += text[i];
      continue;
    }
    if (++i == text.size()) return std::nullopt;
    if (text[i] >= '0' && text[i] <= '7') {
      unsigned value = 0, digits = 0;
      for (; i < text.size() && digits < 3 && text[i] >= '0' && text[i] <= '7'; ++i, ++digits)
        value = value * 8 + static_cast<unsigned>(text[i] - '0');
      --i;
      out += static_cast<char>(value);
    } else {
      out += text[i] == 'n' ? '\n' : text[i] == 't' ? '\t' : text[i];
    }
  }
  return out;
}

/// Assembly text between two directives, and what it is for.
enum class Piece : uint8_t {
  none,
  global_data,     ///< OpenCL 1.x: a constant buffer; 2.0: writable data
  read_only_data,  ///< 2.0
  sampler_data,    ///< 2.0
  header,
  metadata,
  note,
  data,
  text,
};

class ContainerParser {
 public:
  ContainerParser(const std::string& name, std::string_view text, const Options& options)
      : name_(name), text_(text), options_(options) {}

  AssembledContainer run() {
    while (!text_.empty() && messages_.empty()) {
      const std::string_view line = text_.substr(0, text_.find('\n'));
      text_.remove_prefix(std::min(text_.size(), line.size() + 1));
      ++line_number_;
      const std::string_view words = trimmed(line);
      if (!words.starts_with(".catalyst_")) {
        if (piece_ != Piece::none)
          (piece_text_ += line) += '\n';
        else if (!words.empty() && !words.starts_with(';') && !words.starts_with("//"))
          error("expected a directive: .catalyst_text begins code");
        continue;
      }
      end_piece();
      if (messages_.empty()) directive(words);
    }
    if (messages_.empty()) end_piece();
    if (messages_.empty()) end_kernel();
    if (!messages_.empty()) return {.bytes = std::nullopt, .messages = std::move(messages_)};
    auto bytes = device_ != nullptr ? catalyst::write_container(cl1_) : catalyst::write_cl2_container(cl2_);
    if (!bytes) {
      error(bytes.error().message);
      return {.bytes = std::nullopt, .messages = std::move(messages_)};
    }
    return {.bytes = std::move(*bytes), .messages = {}};
  }

 private:
  using Fields = std::vector<std::string_view>;

  void error(std::string_view message, size_t line = 0) {
    messages_ += fmt::format("{}:{}:1: error: {}\n", name_, line == 0 ? line_number_ : line, message);
  }

  bool is_cl2() const { return device_ == nullptr; }
  bool has_kernel() const { return is_cl2() ? !cl2_.kernels.empty() : !cl1_.kernels.empty(); }

  /// States the parts of the file in which a directive is allowed.
  enum class Where : uint8_t {
    anywhere,
    target,
    container,
    cl1_container,
    cl2_container,
    kernel,
    cl1_kernel,
    cl2_kernel
  };
  struct Directive {
    std::string_view name;
    Where where;
    size_t min_fields, max_fields;
    void (ContainerParser::*run)(const Fields&);
  };
  static std::span<const Directive> directives();

  void directive(std::string_view line) {
    const size_t space = line.find_first_of(" \t");
    const std::string_view name = line.substr(0, space);
    const Fields fields = split(space == std::string_view::npos ? std::string_view() : line.substr(space));
    const auto all = directives();
    const auto found = std::ranges::find(all, name, &Directive::name);
    if (found == all.end()) return error(fmt::format("unknown directive {}", name));
    if ((found->where == Where::target) == has_target_)
      return error(has_target_ ? "a second .catalyst_target" : "the first directive is .catalyst_target");
    using enum Where;
    const bool needs_cl1 = found->where == cl1_container || found->where == cl1_kernel;
    const bool needs_cl2 = found->where == cl2_container || found->where == cl2_kernel;
    if (needs_cl1 && is_cl2()) return error(fmt::format("{} is a directive of OpenCL 1.x", name));
    if (needs_cl2 && !is_cl2()) return error(fmt::format("{} is a directive of OpenCL 2.0", name));
    const bool needs_kernel = found->where == kernel || found->where == cl1_kernel || found->where == cl2_kernel;
    if (needs_kernel && !has_kernel()) return error(fmt::format("{} stands before the first .catalyst_kernel", name));
    const bool is_container =
        found->where == container || found->where == cl1_container || found->where == cl2_container;
    if (is_container && has_kernel()) return error(fmt::format("{} stands after a .catalyst_kernel", name));
    if (fields.size() < found->min_fields || fields.size() > found->max_fields)
      return error(found->min_fields == found->max_fields
                       ? fmt::format("{} takes {} fields, {} are given", name, found->min_fields, fields.size())
                       : fmt::format("{} takes {} to {} fields, {} are given", name, found->min_fields,
                                     found->max_fields, fields.size()));
    (this->*found->run)(fields);
  }

  // --- Fields

  std::string quoted(std::string_view field) {
    auto text = unquoted(field);
    if (!text) error(fmt::format("'{}' is not a text in quotes", field));
    return std::move(text).value_or("");
  }
  uint64_t number(std::string_view field, uint64_t largest = UINT32_MAX) {
    const auto value = number_of(field);
    if (!value || *value < 0 || static_cast<uint64_t>(*value) > largest) {
      error(fmt::format("'{}' is not a number from 0 to {}", field, largest));
      return 0;
    }
    return static_cast<uint64_t>(*value);
  }
  uint32_t word(std::string_view field) { return static_cast<uint32_t>(number(field)); }

  // --- Directives of the container

  /// DEVICE, 32 or 64[, "OpenCL 2.0"]: a device's name stands for OpenCL 1.x, a processor's with the third field
  /// for 2.0.
  void set_target(const Fields& fields) {
    has_target_ = true;
    const std::string name = quoted(fields[0]);
    const uint64_t bits = number(fields[1], 64);
    if (bits != 32 && bits != 64) return error("the width is 32 or 64");
    const bool is_version_2 = fields.size() == 3;
    if (is_version_2 && quoted(fields[2]) != "OpenCL 2.0")
      return error(fmt::format("{} is no version; use \"OpenCL 2.0\", or none for OpenCL 1.x", fields[2]));
    if (is_version_2) {
      processor_ = target::find_processor(name);
      if (processor_ == nullptr) return error(fmt::format("there is no processor {}", name));
      if (!catalyst::has_opencl_2(*processor_))
        return error(fmt::format("Catalyst's OpenCL 2.0 is for GFX7 to GFX9, {} is another", name));
      cl2_.processor = processor_;
      cl2_.is_64_bit = bits == 64;
      return;
    }
    device_ = catalyst::find_device(name);
    if (device_ == nullptr) return error(fmt::format("there is no device {}", name));
    if (device_->family != catalyst::Family::gcn)
      return error(fmt::format("{} is {}, whose code is not assembled", name, catalyst::name_of(device_->family)));
    processor_ = target::find_processor(device_->processor);
    cl1_.device = device_;
    cl1_.is_64_bit = bits == 64;
  }
  void set_options(const Fields& fields) {
    (is_cl2() ? cl2_.compile_options : cl1_.compile_options) = quoted(fields[0]);
  }
  void set_driver(const Fields& fields) { (is_cl2() ? cl2_.acl_version : cl1_.driver) = quoted(fields[0]); }
  void begin_global(const Fields& fields) {
    if (is_cl2() != fields.empty())
      return error(is_cl2() ? "data of OpenCL 2.0 has no number" : "constant data has a number");
    if (!is_cl2()) cl1_.global_data.push_back({.id = word(fields[0]), .bytes = {}});
    begin(Piece::global_data);
  }
  void begin_read_only(const Fields&) { begin(Piece::read_only_data); }
  void begin_samplers(const Fields&) { begin(Piece::sampler_data); }
  void set_bss(const Fields& fields) { cl2_.bss_bytes = number(fields[0]); }

  // --- Directives of a kernel

  void begin_kernel(const Fields& fields) {
    end_kernel();
    const std::string name(fields[0]);
    const auto is_taken = [&](const auto& kernels) {
      return std::ranges::any_of(kernels, [&](const auto& each) { return each.name == name; });
    };
    if (name.empty() || is_taken(cl1_.kernels) || is_taken(cl2_.kernels))
      return error(fmt::format("'{}' is not a new kernel's name", name));
    info_ = {};
    has_info_ = has_text_ = false;
    features_.reset();
    if (is_cl2())
      cl2_.kernels.emplace_back().name = name;
    else
      cl1_.kernels.emplace_back().name = name;
  }
  void begin_header(const Fields&) { begin(Piece::header); }
  void begin_metadata(const Fields&) { begin(Piece::metadata); }
  void begin_data(const Fields&) { begin(Piece::data); }
  void begin_text(const Fields&) {
    has_text_ = true;
    begin(Piece::text);
  }
  void begin_note(const Fields& fields) {
    std::optional<uint32_t> type;
    for (uint32_t i = 1; catalyst::cal_note_name(i); ++i)
      if (*catalyst::cal_note_name(i) == fields[0]) type = i;
    if (!type) {
      if (const auto value = number_of(fields[0]); value && *value >= 0 && *value <= UINT32_MAX)
        type = static_cast<uint32_t>(*value);
      else
        return error(fmt::format("there is no note {}", fields[0]));
    }
    cl1_.kernels.back().notes.push_back({.type = *type, .description = {}});
    begin(Piece::note);
  }
  /// CLASS, SLOT, FIRST SGPR, SGPRS
  void add_user_data(const Fields& fields) {
    const auto data_class = catalyst::find_user_data_class(fields[0]);
    if (!data_class) return error(fmt::format("there is no user data class {}", fields[0]));
    if (info_.user_data.size() == catalyst::program_info::max_user_data)
      return error("there are 16 elements of user data at most");
    info_.user_data.push_back({.data_class = *data_class,
                               .api_slot = word(fields[1]),
                               .first_sgpr = word(fields[2]),
                               .num_sgprs = word(fields[3])});
    has_info_ = true;
  }
  /// Sets a number of ATI_PROGINFO, or the same of a setup record.
  void set_vgprs(const Fields& fields) { set(info_.vgprs, fields[0]); }
  void set_sgprs(const Fields& fields) { set(info_.sgprs, fields[0]); }
  void set_lds(const Fields& fields) { set(info_.lds_bytes, fields[0]); }
  void set_float_mode(const Fields& fields) { set(info_.float_mode, fields[0]); }
  void set_scratch(const Fields& fields) {
    const uint32_t bytes = word(fields[0]);
    if (bytes % 4 != 0) return error("scratch is a multiple of 4 bytes");
    info_.scratch_dwords = bytes / 4;
    has_info_ = true;
  }
  /// How many dimensions of work-group and work-item ids a kernel starts with.
  void set_dimensions(const Fields& fields) {
    dimensions_ = static_cast<unsigned>(number(fields[0], 3));
    has_info_ = true;
  }
  void set(uint32_t& value, std::string_view field) {
    value = word(field);
    has_info_ = true;
  }
  void set_features(const Fields& fields) {
    catalyst::Features features;
    for (const std::string_view field : fields) {
      if (field == "usesetup")
        features.use_setup = true;
      else if (field == "useargs")
        features.use_args = true;
      else if (field == "useenqueue")
        features.use_enqueue = true;
      else if (field == "usegeneric")
        features.use_generic = true;
      else
        return error(fmt::format("there is no feature {}; use usesetup, useargs, useenqueue or usegeneric", field));
    }
    features_ = features;
  }
  void set_required_size(const Fields& fields) {
    for (size_t i = 0; i < 3; ++i) cl2_.kernels.back().required_work_group_size[i] = word(fields[i]);
  }
  /// OFFSET, lo or hi, SECTION, ADDEND
  void add_relocation(const Fields& fields) {
    if (fields[1] != "lo" && fields[1] != "hi") return error("a relocation is of the half lo or hi");
    const auto addend = number_of(fields[3]);
    if (!addend) return error(fmt::format("'{}' is not a number", fields[3]));
    constexpr std::string_view sections[] = {".hsadata_readonly_agent", ".hsaimage_samplerinit",
                                             ".hsadata_global_agent", ".hsabss_global_agent"};
    const auto* const section = std::ranges::find(sections, fields[2]);
    if (section == std::end(sections)) return error(fmt::format("there is no section {}", fields[2]));
    cl2_.kernels.back().relocations.push_back(
        {.offset = number(fields[0]) + sizeof(RawKernelCode),
         .type = fields[1] == "lo" ? object::R_AMDGPU_ABS32_LO : object::R_AMDGPU_ABS32_HI,
         .section = *section,
         .addend = *addend});
  }
  /// NAME, "TYPE NAME", TYPE[, WORD ...]
  void add_argument(const Fields& fields) {
    catalyst::Cl2ArgumentSource argument;
    argument.name = std::string(fields[0]);
    argument.type_name = quoted(fields[1]);
    std::string_view type = fields[2];
    if (const size_t x = type.find('x'); x != std::string_view::npos) {
      argument.shape.elements = static_cast<uint8_t>(number(type.substr(x + 1), 16));
      type = type.substr(0, x);
      constexpr uint8_t counts[] = {2, 3, 4, 8, 16};
      if (std::ranges::find(counts, argument.shape.elements) == std::end(counts))
        return error(fmt::format("{} is a vector of {} elements; 2, 3, 4, 8 and 16 are allowed", fields[2],
                                 argument.shape.elements));
    }
    const auto* const found = std::ranges::find(scalar_names, type, &ScalarName::name);
    if (found == std::end(scalar_names)) return error(fmt::format("there is no argument type {}", fields[2]));
    argument.shape.type = found->type;
    if (argument.shape.elements != 1 && found->type > catalyst::ArgumentType::float64)
      return error(fmt::format("{} is a vector of elements that are not numbers", fields[2]));
    for (size_t i = 3; i < fields.size(); ++i) {
      const std::string_view each = fields[i];
      if (each == "const")
        argument.is_const = true;
      else if (each == "volatile")
        argument.is_volatile = true;
      else if (each == "restrict")
        argument.is_restrict = true;
      else if (each == "local" || each == "global" || each == "constant")
        argument.space = std::string(each);
      else if (each == "read_only" || each == "write_only" || each == "read_write")
        argument.access = std::string(each);
      else if (number_of(each))
        argument.number = word(each);
      else
        return error(fmt::format("'{}' is not a property of an argument", each));
    }
    using enum catalyst::ArgumentType;
    if (found->type == pointer && argument.space.empty()) return error("a pointer is local, global or constant");
    if (found->type == pipe) argument.space = "global";
    if (found->type == image && argument.access.empty())
      return error("an image is read_only, write_only or read_write");
    cl2_.kernels.back().arguments.push_back(std::move(argument));
  }

  // --- Pieces

  void begin(Piece piece) {
    piece_ = piece;
    piece_line_ = line_number_;
    piece_text_.clear();
  }

  /// Assembles a piece as a text of its own, with its lines at their numbers.
  std::optional<std::vector<uint8_t>> assembled(const std::string& text, size_t line) {
    Options options = options_;
    options.target = {};
    options.target.processor = processor_;
    options.wave32 = false;
    auto made = assemble(name_, std::string(line, '\n') + text, options);
    messages_ += made.messages;
    if (!made.object) {
      if (messages_.empty()) error("the piece cannot be assembled", line);
      return std::nullopt;
    }
    std::vector<uint8_t> bytes;
    for (object::RelocatableSection& section : made.object->sections) {
      if (section.size == 0) continue;
      if (section.name != ".text") {
        error(fmt::format("the piece has a section {}", section.name), line);
        return std::nullopt;
      }
      if (!section.relocations.empty()) {
        error("the piece refers to symbols outside of it", line);
        return std::nullopt;
      }
      bytes = std::move(section.bytes);
    }
    return bytes;
  }

  /// The usual record with the kernel's features and numbers.
  RawKernelCode record_of_features() const {
    const auto layout = catalyst::user_data_layout(*features_, processor_->generation);
    RawKernelCode record = usual_kernel_code(*processor_, false);
    const auto set = [&](std::string_view field, uint64_t value) {
      object::kernel_code_field(field).set(record, value);
    };
    const auto has = [&](catalyst::UserSgprs what) { return layout.first(what) ? 1u : 0u; };
    using enum catalyst::UserSgprs;
    set("enable_sgpr_private_segment_buffer", has(scratch_descriptor));
    set("enable_sgpr_dispatch_ptr", has(setup_pointer));
    set("enable_sgpr_queue_ptr", has(flat_bases));
    set("enable_sgpr_kernarg_segment_ptr", has(argument_pointer));
    set("enable_sgpr_flat_scratch_init", has(scratch_offset_and_size));
    set("user_sgpr_count", layout.count);
    set("is_ptr64", cl2_.is_64_bit ? 1 : 0);
    const auto blocks = [](uint32_t registers, uint32_t granule) { return (std::max(registers, 1u) - 1) / granule; };
    const uint32_t sgprs = std::max<uint32_t>(info_.sgprs, layout.count + 4u) + 6;  // VCC, FLAT_SCRATCH, XNACK_MASK
    set("granulated_workitem_vgpr_count", blocks(std::max(info_.vgprs, 3u), processor_->vgpr_granule));
    set("granulated_wavefront_sgpr_count",
        processor_->generation >= target::Generation::gfx9 ? blocks(sgprs, 16) * 2 + 1 : blocks(sgprs, 8));
    set("float_mode", info_.float_mode);
    set("enable_ieee_mode", 1);
    set("enable_dx10_clamp", 1);
    for (unsigned d = 0; d < 3; ++d) set(fmt::format("enable_sgpr_workgroup_id_{}", "xyz"[d]), d < dimensions_ ? 1 : 0);
    set("enable_vgpr_workitem_id", std::max(dimensions_, 1u) - 1);
    set("workgroup_group_segment_byte_size", info_.lds_bytes);
    set("workitem_private_segment_byte_size", uint64_t{info_.scratch_dwords} * 4);
    set("enable_sgpr_private_segment_wave_byte_offset", info_.scratch_dwords != 0 ? 1 : 0);
    return record;
  }

  void end_piece() {
    const Piece piece = std::exchange(piece_, Piece::none);
    if (piece == Piece::none) return;
    auto bytes = assembled(piece_text_, piece_line_);
    if (!bytes) return;
    switch (piece) {
      case Piece::none:
        break;
      case Piece::global_data:
        (is_cl2() ? cl2_.global_data : cl1_.global_data.back().bytes) = std::move(*bytes);
        break;
      case Piece::read_only_data:
        cl2_.read_only_data = std::move(*bytes);
        break;
      case Piece::sampler_data:
        cl2_.sampler_data = std::move(*bytes);
        break;
      case Piece::header:
        cl1_.kernels.back().header = std::move(*bytes);
        break;
      case Piece::metadata: {
        std::string text(bytes->begin(), bytes->end());
        const auto read = catalyst::read_metadata_text(text);
        if (!read) return error(read.error().message, piece_line_);
        cl1_.kernels.back().metadata = std::move(text);
        break;
      }
      case Piece::note:
        cl1_.kernels.back().notes.back().description = std::move(*bytes);
        break;
      case Piece::data:
        cl1_.kernels.back().data = std::move(*bytes);
        break;
      case Piece::text:
        end_text(std::move(*bytes));
        break;
    }
  }

  void end_text(std::vector<uint8_t> bytes) {
    if (!is_cl2()) {
      cl1_.kernels.back().text = std::move(bytes);
      return;
    }
    if (features_) {
      const RawKernelCode record = record_of_features();
      bytes.insert(bytes.begin(), record.begin(), record.end());
    }
    if (bytes.size() < sizeof(RawKernelCode))
      return error("the code has no .amd_kernel_code_t, and the kernel no .catalyst_features", piece_line_);
    cl2_.kernels.back().code = std::move(bytes);
  }

  void end_kernel() {
    if (!has_kernel()) return;
    if (!has_text_) return error("the kernel before has no .catalyst_text");
    if (is_cl2()) return;
    catalyst::KernelSource& kernel = cl1_.kernels.back();
    const auto program_info = static_cast<uint32_t>(catalyst::CalNoteType::program_info);
    if (std::ranges::any_of(kernel.notes, [&](const auto& note) { return note.type == program_info; })) {
      if (has_info_) error("the kernel before has a note ATI_PROGINFO and directives that stand for it");
      return;
    }
    constexpr uint32_t max_vgprs = 256, max_sgprs = 102;
    uint32_t user_sgprs = 0;
    for (const catalyst::UserData& data : info_.user_data)
      user_sgprs = std::max(user_sgprs, data.first_sgpr + data.num_sgprs);
    info_.max_vgprs = max_vgprs;
    info_.max_sgprs = max_sgprs;
    info_.vgprs = std::max(info_.vgprs, 1u);
    info_.compute_pgm_rsrc2 = (info_.scratch_dwords != 0 ? 1u : 0u) | user_sgprs << 1 | ((1u << dimensions_) - 1) << 7 |
                              (std::max(dimensions_, 1u) - 1) << 11;
    kernel.notes.push_back({.type = program_info, .description = catalyst::write_program_info(info_)});
  }

  const std::string& name_;
  std::string_view text_;
  const Options& options_;
  std::string messages_;
  size_t line_number_ = 0;
  bool has_target_ = false;
  const catalyst::Device* device_ = nullptr;  ///< null: OpenCL 2.0
  const target::Processor* processor_ = nullptr;
  catalyst::ContainerSource cl1_;
  catalyst::Cl2ContainerSource cl2_;
  Piece piece_ = Piece::none;
  size_t piece_line_ = 0;
  std::string piece_text_;
  // The following members describe the current kernel.
  catalyst::ProgramInfo info_;
  bool has_info_ = false, has_text_ = false;
  unsigned dimensions_ = 1;
  std::optional<catalyst::Features> features_;
};

std::span<const ContainerParser::Directive> ContainerParser::directives() {
  using enum Where;
  using Parser = ContainerParser;
  static constexpr Directive all[] = {{target_directive, target, 2, 3, &Parser::set_target},
                                      {".catalyst_options", container, 1, 1, &Parser::set_options},
                                      {".catalyst_driver", container, 1, 1, &Parser::set_driver},
                                      {".catalyst_global", container, 0, 1, &Parser::begin_global},
                                      {".catalyst_read_only_data", cl2_container, 0, 0, &Parser::begin_read_only},
                                      {".catalyst_samplers", cl2_container, 0, 0, &Parser::begin_samplers},
                                      {".catalyst_bss", cl2_container, 1, 1, &Parser::set_bss},
                                      {".catalyst_kernel", anywhere, 1, 1, &Parser::begin_kernel},
                                      {".catalyst_header", cl1_kernel, 0, 0, &Parser::begin_header},
                                      {".catalyst_metadata", cl1_kernel, 0, 0, &Parser::begin_metadata},
                                      {".catalyst_note", cl1_kernel, 1, 1, &Parser::begin_note},
                                      {".catalyst_data", cl1_kernel, 0, 0, &Parser::begin_data},
                                      {".catalyst_user_data", cl1_kernel, 4, 4, &Parser::add_user_data},
                                      {".catalyst_vgprs", kernel, 1, 1, &Parser::set_vgprs},
                                      {".catalyst_sgprs", kernel, 1, 1, &Parser::set_sgprs},
                                      {".catalyst_lds", kernel, 1, 1, &Parser::set_lds},
                                      {".catalyst_scratch", kernel, 1, 1, &Parser::set_scratch},
                                      {".catalyst_float_mode", kernel, 1, 1, &Parser::set_float_mode},
                                      {".catalyst_dimensions", kernel, 1, 1, &Parser::set_dimensions},
                                      {".catalyst_features", cl2_kernel, 0, 4, &Parser::set_features},
                                      {".catalyst_work_group_size", cl2_kernel, 3, 3, &Parser::set_required_size},
                                      {".catalyst_argument", cl2_kernel, 3, 8, &Parser::add_argument},
                                      {".catalyst_relocation", cl2_kernel, 4, 4, &Parser::add_relocation},
                                      {".catalyst_text", kernel, 0, 0, &Parser::begin_text}};
  return all;
}

}  // namespace

bool is_catalyst_text(std::string_view text) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const std::string_view words = trimmed(line);
    if (!words.empty() && !words.starts_with(';') && !words.starts_with("//"))
      return words.starts_with(target_directive);
  }
  return false;
}

AssembledContainer assemble_catalyst(const std::string& name, std::string_view text, const Options& options) {
  return ContainerParser(name, text, options).run();
}

void append_kernel_code(std::string& out, const RawKernelCode& record, const target::Processor& processor) {
  const RawKernelCode usual = usual_kernel_code(processor, false);
  out += "\t.amd_kernel_code_t\n";
  for (const object::KernelCodeField& field : object::kernel_code_fields())
    if (field.key == object::KernelCodeKey::sets && field.of(record) != field.of(usual))
      out += fmt::format("\t\t{} = {}\n", field.name, field.of(record));
  out += "\t.end_amd_kernel_code_t\n";
}

std::string argument_text(const catalyst::Cl2Argument& argument) {
  const auto* const found = std::ranges::find(scalar_names, argument.shape.type, &ScalarName::type);
  std::string text = fmt::format("{}, \"{}\", {}", argument.name, argument.type_name,
                                 found == std::end(scalar_names) ? "unknown" : found->name);
  if (argument.shape.elements != 1) text += fmt::format("x{}", argument.shape.elements);
  using enum catalyst::ArgumentType;
  if (!argument.space.empty() && argument.shape.type == pointer) text += fmt::format(", {}", argument.space);
  if (!argument.access.empty()) text += fmt::format(", {}", argument.access);
  if (argument.is_const) text += ", const";
  if (argument.is_restrict) text += ", restrict";
  if (argument.is_volatile) text += ", volatile";
  if (argument.shape.type == structure) text += fmt::format(", {}", argument.size);
  if ((argument.shape.type == image || argument.shape.type == sampler) && argument.offset != 0)
    text += fmt::format(", {}", argument.offset);
  return text;
}

}  // namespace Atoll::assembler
