// assembler: messages about a text (source.h).
#include "assembler/syntax/source.h"

#include <algorithm>

#include <fmt/format.h>

namespace Atoll::assembler {

namespace {

/// A text full of mistakes is not explained to its end.
constexpr size_t max_messages = 1000;

std::string_view word(Message::Kind kind) {
  switch (kind) {
    case Message::Kind::error:
      return "error";
    case Message::Kind::warning:
      return "warning";
    case Message::Kind::note:
      return "note";
  }
  return "error";
}

void render_one(std::string& out, const Message& message) {
  if (message.place.buffer == nullptr) {
    out += fmt::format("{}: {}\n", word(message.kind), message.text);
    return;
  }
  const std::string_view text = message.place.buffer->text;
  const size_t offset = std::min<size_t>(message.place.offset, text.size());
  size_t begin = offset == 0 ? std::string_view::npos : text.rfind('\n', offset - 1);
  begin = begin == std::string_view::npos ? 0 : begin + 1;
  const size_t end = std::min(text.find('\n', offset), text.size());
  const auto line = static_cast<size_t>(std::ranges::count(text.substr(0, begin), '\n')) + 1;
  std::string_view shown = text.substr(begin, end - begin);
  if (shown.ends_with('\r')) shown.remove_suffix(1);
  out += fmt::format("{}:{}:{}: {}: {}\n{}\n", message.place.buffer->name, line, offset - begin + 1, word(message.kind),
                     message.text, shown);
  for (const char c : shown.substr(0, std::min(offset - begin, shown.size()))) out += c == '\t' ? '\t' : ' ';
  out += "^\n";
}

}  // namespace

bool Source::is_full() const { return messages_.size() >= max_messages; }

void Source::report(Message message) {
  errors_ += message.kind == Message::Kind::error;
  if (is_full()) return;
  messages_.push_back(std::move(message));
}

std::string Source::render() const {
  std::string out;
  for (const Message& message : messages_) {
    render_one(out, message);
    for (const Buffer* buffer = message.place.buffer; buffer != nullptr && buffer->from.buffer != nullptr;
         buffer = buffer->from.buffer) {
      render_one(out, {Message::Kind::note, buffer->from,
                       buffer->is_file ? "included from here" : "while in macro instantiation"});
    }
  }
  if (is_full()) out += fmt::format("more than {} messages: the rest is left out\n", max_messages);
  return out;
}

}  // namespace Atoll::assembler
