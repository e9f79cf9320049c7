// assembler: assembly text to an object, as llvm-mc accepts it for AMDGPU.
//
// The way through the room: a Source holds the texts (files, and what macros expand to) and prints complaints about
// them (this file); a Lexer cuts a text into tokens (lexer.h); the Parser (parser.h) reads statements, keeps macros
// and conditions, and hands what it finds to the Unit (unit.h): sections of bytes, symbols, and places to fill in once
// the addresses are known (expression.h). object.h turns the finished Unit into an ELF file.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace Atoll::assembler {

struct Buffer;

/// A place in a text. Without a buffer: nowhere in particular.
struct Place {
  const Buffer* buffer = nullptr;
  uint32_t offset = 0;
};

/// A text that is being assembled: a file, or what a macro or a repetition expands to.
struct Buffer {
  std::string name;  ///< as messages show it: a path, "<stdin>", "<instantiation>"
  std::string text;
  Place from;               ///< of the statement that brought it in
  bool is_file = true;      ///< otherwise an expansion
  unsigned conditions = 0;  ///< that were open where it began
};

struct Message {
  enum class Kind : uint8_t { error, warning, note };
  Kind kind = Kind::error;
  Place place;
  std::string text;
};

/// The texts of one assembly, and what there is to say about them.
class Source {
 public:
  const Buffer& add(Buffer buffer) { return buffers_.emplace_back(std::move(buffer)); }

  void error(Place place, std::string text) { report({Message::Kind::error, place, std::move(text)}); }
  void warning(Place place, std::string text) { report({Message::Kind::warning, place, std::move(text)}); }

  bool failed() const { return errors_ != 0; }
  bool is_full() const;  ///< further messages are left out
  size_t errors() const { return errors_; }
  const std::vector<Message>& messages() const { return messages_; }

  /// Every message as "file:line:column: error: text", with the line and a caret under the place, followed by how the
  /// text came to be where it is an expansion.
  std::string render() const;

 private:
  void report(Message message);

  std::deque<Buffer> buffers_;
  std::vector<Message> messages_;
  size_t errors_ = 0;
};

}  // namespace Atoll::assembler
