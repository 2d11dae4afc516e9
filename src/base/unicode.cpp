// How many columns a UTF-8 text takes. wcwidth() would answer by the process's locale, which a tool that never calls
// setlocale leaves at "C"; the handful of ranges below is what ktune's own output and file names can hold.

#include <cstdint>

#include "base/text.h"

namespace ktune {
namespace {

struct Range {
  std::uint32_t first;
  std::uint32_t last;
};

/// Combining marks, joiners, variation selectors.
constexpr Range kZeroWidth[] = {{0x0300, 0x036F}, {0x0483, 0x0489}, {0x0591, 0x05BD}, {0x200B, 0x200F},
                                {0x20D0, 0x20FF}, {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F}, {0xFEFF, 0xFEFF}};
/// East Asian wide and fullwidth, emoji.
constexpr Range kDoubleWidth[] = {{0x1100, 0x115F},   {0x2E80, 0x303E},   {0x3041, 0xA4CF},   {0xAC00, 0xD7A3},
                                  {0xF900, 0xFAFF},   {0xFE30, 0xFE6F},   {0xFF00, 0xFF60},   {0xFFE0, 0xFFE6},
                                  {0x1F300, 0x1F64F}, {0x1F680, 0x1F6FF}, {0x1F900, 0x1F9FF}, {0x20000, 0x3FFFD}};

template <std::size_t n>
bool contains(const Range (&ranges)[n], std::uint32_t point) {
  for (const Range& range : ranges) {
    if (point >= range.first && point <= range.last) return true;
  }
  return false;
}

/// One piece of a text: a code point or a colour sequence.
struct Piece {
  std::size_t bytes = 1;
  int columns = 1;
};

/// Length of the "ESC [ … letter" sequence the text starts with, 0 if it does not.
std::size_t escape_length(std::string_view text) {
  if (text.size() < 2 || text[0] != '\033' || text[1] != '[') return 0;
  for (std::size_t i = 2; i < text.size(); ++i) {
    if (text[i] >= '@' && text[i] <= '~') return i + 1;
  }
  return text.size();
}

/// A byte that is no UTF-8 counts as one column, as terminals show a replacement character for it.
Piece first_piece(std::string_view text) {
  if (std::size_t escape = escape_length(text); escape > 0) return {escape, 0};
  auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80) return {1, lead < 0x20 || lead == 0x7F ? 0 : 1};
  std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 1;
  if (length == 1 || length > text.size()) return {1, 1};
  std::uint32_t point = lead & (0xFFu >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    auto byte = static_cast<unsigned char>(text[i]);
    if ((byte & 0xC0) != 0x80) return {1, 1};
    point = (point << 6) | (byte & 0x3Fu);
  }
  if (contains(kZeroWidth, point)) return {length, 0};
  return {length, contains(kDoubleWidth, point) ? 2 : 1};
}

}  // namespace

int display_width(std::string_view text) {
  int columns = 0;
  while (!text.empty()) {
    Piece piece = first_piece(text);
    columns += piece.columns;
    text.remove_prefix(piece.bytes);
  }
  return columns;
}

std::string cut_to_width(std::string_view text, int columns) {
  if (display_width(text) <= columns) return std::string(text);
  if (columns <= 0) return {};
  std::string result;
  int used = 0;
  bool styled_text = false;
  while (!text.empty()) {
    Piece piece = first_piece(text);
    if (used + piece.columns > columns - 1) break;
    styled_text = styled_text || text[0] == '\033';
    result += text.substr(0, piece.bytes);
    used += piece.columns;
    text.remove_prefix(piece.bytes);
  }
  result += "…";
  if (styled_text) result += "\033[0m";
  return result;
}

}  // namespace ktune
