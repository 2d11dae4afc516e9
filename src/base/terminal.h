#pragma once

#include <cstdio>
#include <string>
#include <string_view>

namespace ktune {

/// stdout / stderr: is it a terminal, may it have colour (NO_COLOR, CLICOLOR_FORCE, TERM=dumb), how wide is it
/// ($COLUMNS, ioctl, else 80 for a terminal and 0, no limit, for a pipe).
struct Stream {
  bool is_terminal = false;
  bool colour = false;
  int width = 0;
};
Stream stdout_stream();
Stream stderr_stream();

enum class Style { kPlain, kBold, kDim, kRed, kGreen, kYellow, kCyan };
std::string styled(std::string_view text, Style style, bool colour);

/// One line on stderr that is rewritten in place on a terminal (at most every 100 ms) and is a plain line at most
/// every 10 s elsewhere.
class ProgressLine {
 public:
  ProgressLine();
  /// On another stream than stderr; `out` is not owned.
  ProgressLine(std::FILE* out, Stream stream);
  ~ProgressLine();  ///< clears the line
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  /// Text is cut to the terminal's width.
  void update(const std::string& text);
  /// Prints a line above the progress line, which stays.
  void print(const std::string& text);
  void clear();

 private:
  void draw();

  std::FILE* out_;
  Stream stream_;
  std::string text_;
  double last_s_ = -1e9;
  bool shown_ = false;
};

}  // namespace ktune
