#include "expr/excerpt.h"

#include <algorithm>
#include <fstream>
#include <vector>

#include "base/error.h"

namespace ktune::expr {
namespace {

constexpr int kWindow = 120;  // columns shown of a very long line

/// The characters of a line, one UTF-8 sequence each; control characters become spaces so that carets line up.
std::vector<std::string> characters(const std::string& line) {
  std::vector<std::string> result;
  for (const char c : line) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte & 0xC0U) == 0x80U && !result.empty()) {
      result.back() += c;
    } else {
      result.emplace_back(1, byte < 0x20 ? ' ' : c);
    }
  }
  return result;
}

std::vector<std::string> source_line(const model::SourcePos& at) {
  std::ifstream file(at.file, std::ios::binary);
  std::string line;
  for (int i = 0; i < at.line; ++i) {
    if (!std::getline(file, line)) return {};
  }
  if (!line.empty() && line.back() == '\r') line.pop_back();
  return characters(line);
}

bool holds(const std::vector<std::string>& line, std::size_t from, std::string_view text) {
  const std::vector<std::string> wanted = characters(std::string(text));
  return from + wanted.size() <= line.size() &&
         std::equal(wanted.begin(), wanted.end(), line.begin() + static_cast<std::ptrdiff_t>(from));
}

}  // namespace

std::string excerpt(const model::SourcePos& at, std::string_view text, int offset, int width) {
  if (at.line <= 0) return at.file;
  const std::vector<std::string> line = source_line(at);
  int column = std::max(at.column, 1);
  if (!text.empty()) {
    if (holds(line, static_cast<std::size_t>(column - 1), text)) {
      column += offset;
    } else {
      width = 1;
    }
  }
  std::string result = at.file + ":" + std::to_string(at.line) + ":" + std::to_string(column);
  if (line.empty()) return result;

  const int total = static_cast<int>(line.size());
  const int first = column > kWindow ? column - kWindow / 2 : 1;
  const int last = std::min(total, first + kWindow - 1);
  const std::string number = std::to_string(at.line);
  result += "\n " + number + " | ";
  for (int i = first; i <= last; ++i) result += line[static_cast<std::size_t>(i - 1)];
  result +=
      "\n " + std::string(number.size(), ' ') + " | " + std::string(static_cast<std::size_t>(column - first), ' ');
  const int room = std::max(1, last - column + 1);
  result += '^' + std::string(static_cast<std::size_t>(std::clamp(width, 1, room) - 1), '~');
  return result;
}

void fail_at(const model::Expression& expression, int offset, int width, const std::string& message,
             const std::string& hint) {
  throw Error(ErrorKind::kUsage, message, hint, excerpt(expression.at, expression.text, offset, width));
}

}  // namespace ktune::expr
