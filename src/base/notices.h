#pragma once

#include <functional>
#include <string>

namespace ktune {

/// How a use case speaks to the user while it runs; the command decides where that goes. Either function may be empty.
struct Notices {
  std::function<void(const std::string&)> line = {};      ///< stays: "note      …", "warning   …"
  std::function<void(const std::string&)> progress = {};  ///< takes the place of the progress before it; "" clears it

  void say(const std::string& text) const {
    if (line) line(text);
  }
  void show_progress(const std::string& text) const {
    if (progress) progress(text);
  }
};

}  // namespace ktune
