#include "base/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>

#include "base/text.h"

namespace ktune {
namespace {

constexpr double kTerminalPeriod_s = 0.1;
constexpr double kPlainPeriod_s = 10.0;
constexpr int kDefaultWidth = 80;

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

int width_of(int fd, bool is_terminal) {
  std::string_view columns = environment("COLUMNS");
  int width = 0;
  auto [end, failure] = std::from_chars(columns.data(), columns.data() + columns.size(), width);
  if (failure == std::errc() && end == columns.data() + columns.size() && width > 0) return width;
  if (!is_terminal) return 0;
  winsize size{};
  if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return kDefaultWidth;
}

bool colour_wanted(bool is_terminal) {
  if (!environment("NO_COLOR").empty()) return false;  // https://no-color.org: set and not empty
  std::string_view force = environment("CLICOLOR_FORCE");
  if (!force.empty() && force != "0") return true;
  return is_terminal && environment("TERM") != "dumb";
}

Stream stream_of(int fd) {
  Stream stream;
  stream.is_terminal = isatty(fd) == 1;
  stream.colour = colour_wanted(stream.is_terminal);
  stream.width = width_of(fd, stream.is_terminal);
  return stream;
}

std::string_view sequence_of(Style style) {
  switch (style) {
    case Style::kPlain:
      return "";
    case Style::kBold:
      return "\033[1m";
    case Style::kDim:
      return "\033[2m";
    case Style::kRed:
      return "\033[31m";
    case Style::kGreen:
      return "\033[32m";
    case Style::kYellow:
      return "\033[33m";
    case Style::kCyan:
      return "\033[36m";
  }
  return "";
}

void put(std::FILE* out, std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), out);
  std::fflush(out);
}

}  // namespace

Stream stdout_stream() { return stream_of(STDOUT_FILENO); }
Stream stderr_stream() { return stream_of(STDERR_FILENO); }

std::string styled(std::string_view text, Style style, bool colour) {
  if (!colour || style == Style::kPlain || text.empty()) return std::string(text);
  return std::string(sequence_of(style)) + std::string(text) + "\033[0m";
}

ProgressLine::ProgressLine() : ProgressLine(stderr, stderr_stream()) {}
ProgressLine::ProgressLine(std::FILE* out, Stream stream) : out_(out), stream_(stream) {}
ProgressLine::~ProgressLine() { clear(); }

void ProgressLine::update(const std::string& text) {
  double now = now_s();
  if (now - last_s_ < (stream_.is_terminal ? kTerminalPeriod_s : kPlainPeriod_s)) return;
  last_s_ = now;
  if (!stream_.is_terminal) {
    put(out_, text + '\n');
    return;
  }
  text_ = text;
  draw();
}

void ProgressLine::draw() {
  // One column is left free: a line that fills the last one makes some terminals wrap.
  int width = stream_.width > 0 ? stream_.width : kDefaultWidth;
  put(out_, "\r\033[K" + cut_to_width(text_, width - 1));
  shown_ = true;
}

void ProgressLine::print(const std::string& text) {
  bool redraw = shown_;
  clear();
  put(out_, text + '\n');
  if (redraw) draw();
}

void ProgressLine::clear() {
  if (shown_) put(out_, "\r\033[K");
  shown_ = false;
}

}  // namespace ktune
