#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/format.h"

namespace CLI {
class App;
}

// Where what a command prints goes: --format names the format of standard output, and --out FORMAT=FILE, repeatable,
// also writes a file.

namespace ktune::cli {

struct Output {
  std::string format = "term";
  std::vector<std::string> files;  ///< FORMAT=FILE

  /// Every format that is asked for.
  std::vector<std::string> formats() const;
};

/// Binds both options. `names` ends the help of --format.
void add_output(CLI::App& app, Output& output, const std::string& names);

/// Binds both options; their help lists the formats' names.
template <typename Subject>
void add_output(CLI::App& app, Output& output, const std::vector<Format<Subject>>& formats) {
  std::vector<std::string> names;
  for (const Format<Subject>& format : formats) names.emplace_back(format.name);
  add_output(app, output, ": " + join(names, ", "));
}

/// One file of --out.
struct OutputFile {
  std::string format, path;
};
/// Throws Error(kUsage) unless the text is FORMAT=FILE.
OutputFile parse_output(const std::string& text);
/// Throws Error(kUsage) when the file that an option writes is one of the inputs.
void check_no_input(const std::vector<std::string>& inputs, const std::string& option, const std::string& file);
/// Throws Error for a file that cannot be written (kEnvironment), that is named twice or that is one of `inputs`
/// (kUsage): a result must not take the place of what it was made from.
void check_output_files(const Output& output, const std::vector<std::string>& inputs);

/// What can be told before a device is opened: unknown formats, and what check_output_files tells.
template <typename Subject>
void check_output(const Output& output, const std::vector<Format<Subject>>& formats,
                  const std::vector<std::string>& inputs) {
  for (const std::string& format : output.formats()) find_format(formats, format);
  check_output_files(output, inputs);
}

/// Writes one file; keeps the first error in `failure`.
void write_output(const std::string& path, const std::string& text, std::optional<Error>& failure);
/// To stdout, at once.
void print_output(const std::string& text);

/// Writes the files, then prints. Throws `failure`, or why a file could not be written, when everything is out.
template <typename Subject>
void deliver(const Output& output, const std::vector<Format<Subject>>& formats, const Subject& subject,
             std::optional<Error> failure = {}) {
  for (const std::string& text : output.files) {  // first: a reader of stdout that left ends this process
    const OutputFile file = parse_output(text);
    write_output(file.path, find_format(formats, file.format).print(subject, 0, false), failure);
  }
  const Stream out = stdout_stream();
  print_output(find_format(formats, output.format).print(subject, out.width, out.colour));
  if (failure) throw *failure;
}

}  // namespace ktune::cli
