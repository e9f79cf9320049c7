// object: AMD IL metadata, the text by which Catalyst's OpenCL 1.x compiler describes each kernel to its runtime.
//
// The text consists of lines that begin with ';'. A kernel's lines stand between ";ARGSTART:name" and ";ARGEND:name",
// constant data between ";#DATASTART" and ";#DATAEND". One table has a row for each token, with its fields; reading,
// writing and describing derive from it. Tokens keep their order, so that writing reproduces the text.
// Source: "AMD GPU Compiler and Runtime Metadata and ABI Specification". Tokens that only drivers write
// (64bitABI, constarg, cbid, printfid, privateid, reflection, WavesPerSimdHint) and the last three fields of
// pointers: CLRX's documentation and public binaries of drivers 923 to 1702.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "support/error.h"

namespace Atoll::object::catalyst {

enum class FieldType : uint8_t {
  text,    ///< up to the next colon
  rest,    ///< up to the end of the line, colons included
  number,  ///< decimal, 32 bits
  choice,  ///< one of TokenField::choices
  list,    ///< a count and that many numbers
};

struct TokenField {
  std::string_view name;  ///< as JSON key
  FieldType type;
  std::span<const std::string_view> choices = {};
};

struct TokenKind {
  std::string_view name;  ///< "pointer"
  std::string_view word;  ///< a fixed first field, "datareqd" of ";memory:datareqd"; empty without one
  std::span<const TokenField> fields;
  size_t required;   ///< fields that must be present; the others are present all together or not at all
  bool once;         ///< at most one per kernel
  bool by_document;  ///< false: only drivers write it
};

/// Returns the table of all tokens.
std::span<const TokenKind> token_kinds();

/// One line of a kernel's block. Its values are valid for the fields of its kind. A list is one value per number,
/// without the count.
struct MetadataToken {
  const TokenKind* kind;
  std::vector<std::string> values;

  bool is(std::string_view name, std::string_view word = {}) const { return kind->name == name && kind->word == word; }
  std::string_view text(std::string_view field) const;  ///< empty when the optional field is missing
  uint32_t number(std::string_view field) const;        ///< 0 when the optional field is missing
  std::vector<uint32_t> numbers() const;                ///< all values, of ";function" and ";intrinsic"
};

struct PrintfFormat {
  uint32_t id = 0;
  std::vector<uint32_t> argument_sizes;  ///< in bytes
  std::string escaped;                   ///< as in the text: a line break is "\n", two characters

  std::string format() const;  ///< with escape sequences resolved
};

/// A vector of constant data: ";#i32:0:4:0:1:2:3".
struct DataVector {
  std::string type;
  uint32_t offset = 0;
  std::vector<std::string> values;  ///< integers in decimal, floating-point values as bits in hexadecimal
};

struct DataSegment {
  std::optional<uint32_t> constant_buffer;  ///< nothing: the emulated segment in the global buffer
  uint32_t size = 0;
  std::vector<DataVector> vectors;

  std::vector<uint8_t> bytes() const;  ///< the segment's contents
};

/// The token that declares an argument.
enum class ArgumentToken : uint8_t { value, pointer, image, sampler, counter };

/// A kernel argument, where its data goes.
struct MetadataArgument {
  ArgumentToken token = ArgumentToken::value;
  std::string name;
  std::string type;    ///< "i32"; of images the dimension, "2D"
  uint32_t count = 1;  ///< elements; bytes of structures and unions; bits of counters
  uint32_t constant_buffer = 0, offset = 0;
  std::string memory;  ///< of pointers: "uav", "hl"
  std::string access;  ///< "RO", "WO", "RW"; empty when the text does not say
  uint32_t id = 0;     ///< number of the buffer, image or counter of its kind
  uint32_t alignment = 0;
};

/// The block of one kernel or function.
struct KernelText {
  std::string name;  ///< "__OpenCL_DCT_kernel"
  std::vector<MetadataToken> tokens;
  std::vector<PrintfFormat> printf_formats;
  /// Position in `tokens` before which each format stands, for writing.
  std::vector<size_t> printf_places;

  const MetadataToken* find(std::string_view name, std::string_view word = {}) const;
  std::optional<uint32_t> number(std::string_view name) const;  ///< the value of ";uavid:11" and its like
  /// Returns the sum of all ";memory:space:size" of that space.
  uint64_t memory(std::string_view space) const;
  /// Returns the arguments in their order in the constant buffer.
  std::vector<MetadataArgument> arguments() const;
  std::vector<uint32_t> functions(std::string_view token) const;  ///< of all "function" or "intrinsic" lines
  bool is_64_bit() const { return find("memory", "64bitABI") != nullptr; }
};

struct MetadataText {
  std::vector<KernelText> kernels;
  std::vector<DataSegment> data;
  /// The line ";$$$$$$$$$$" occurs, which the runtime replaces by a call of the kernel.
  bool has_entry_placeholder = false;

  const KernelText* find_kernel(std::string_view name) const;
};

/// Reads metadata, alone or within AMD IL text. IL instructions and comments outside blocks, and all lines between
/// DEBUGSTART and DEBUGEND, are skipped.
support::Result<MetadataText> read_metadata_text(std::string_view text);

/// Writes a kernel's block, one line per token.
std::string write_kernel_text(const KernelText& kernel);
std::string write_data_segment(const DataSegment& segment);

/// True for the memory types of pointers to LDS: hardware or emulated local memory.
inline bool is_local_memory(std::string_view memory) { return memory == "hl" || memory == "l"; }

/// Returns the bytes of a value argument as a host passes it: a structure's or union's size is its count.
std::optional<uint32_t> metadata_value_bytes(std::string_view type, uint32_t count);

/// Returns the size in bytes of a scalar type: "i1" and "i32" have 4.
std::optional<uint32_t> metadata_type_size(std::string_view type);

}  // namespace Atoll::object::catalyst
