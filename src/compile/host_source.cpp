#include "compile/host_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>

#include "base/text.h"

namespace ktune::compile {
namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_space(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

/// Past the comment, literal or blank that starts at `at`; `at` itself when none does.
std::size_t skip_dead(std::string_view text, std::size_t at) {
  const std::string_view rest = text.substr(at);
  const auto past = [&](std::string_view end, std::size_t from) {
    const std::size_t found = text.find(end, from);
    return found == std::string_view::npos ? text.size() : found + end.size();
  };
  if (rest.starts_with("//")) return std::min(text.find('\n', at), text.size());
  if (rest.starts_with("/*")) return past("*/", at + 2);
  if (rest.starts_with("R\"")) {
    const std::size_t open = text.find('(', at);
    if (open == std::string_view::npos) return text.size();
    return past(")" + std::string(text.substr(at + 2, open - at - 2)) + "\"", open);
  }
  if (rest[0] == '"' || rest[0] == '\'') {
    std::size_t end = at + 1;
    while (end < text.size() && text[end] != rest[0] && text[end] != '\n') end += text[end] == '\\' ? 2 : 1;
    return std::min(end + 1, text.size());
  }
  return at;
}

/// Past blanks and comments.
std::size_t skip_blank(std::string_view text, std::size_t at) {
  while (at < text.size()) {
    if (is_space(text[at])) {
      ++at;
    } else if (text.substr(at).starts_with("//") || text.substr(at).starts_with("/*")) {
      at = skip_dead(text, at);
    } else {
      break;
    }
  }
  return at;
}

std::string_view word_at(std::string_view text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size() && is_word(text[end])) ++end;
  return text.substr(at, end - at);
}

/// Past the parenthesis that opens at `at`.
std::size_t skip_parentheses(std::string_view text, std::size_t at) {
  int depth = 0;
  for (; at < text.size(); ++at) {
    if (text[at] == '(') ++depth;
    if (text[at] == ')' && --depth == 0) return at + 1;
  }
  return at;
}

std::string newlines_of(std::string_view text) {
  return std::string(static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')), '\n');
}

/// The parts of `float name[]` or `T name[][32]`.
struct SharedArray {
  std::string type;
  std::string name;
  std::string inner;  ///< dimensions after the first
};

/// Reads what stands between `extern` and `;`. Nothing when it is not a shared array.
std::optional<SharedArray> parse_shared_array(std::string_view declaration) {
  std::string plain;
  bool shared = false;
  for (std::size_t at = 0; at < declaration.size();) {
    if (const std::size_t past = skip_blank(declaration, at); past != at) {
      plain += ' ';
      at = past;
      continue;
    }
    const std::string_view word = word_at(declaration, at);
    if (word == "__shared__") {
      shared = true;
      at += word.size();
    } else if (word == "alignas" || word == "__align__" || word == "__attribute__") {
      at = skip_parentheses(declaration, at + word.size());
    } else {
      plain += word.empty() ? declaration.substr(at, 1) : word;
      at += std::max<std::size_t>(word.size(), 1);
    }
  }
  const std::size_t open = plain.find('[');
  if (!shared || open == std::string::npos) return std::nullopt;
  SharedArray array;
  std::string_view head = trim(std::string_view(plain).substr(0, open));
  std::size_t start = head.size();
  while (start > 0 && is_word(head[start - 1])) --start;
  array.name = head.substr(start);
  array.type = trim(head.substr(0, start));
  const std::size_t close = plain.find(']', open);
  if (array.name.empty() || array.type.empty() || close == std::string::npos) return std::nullopt;
  array.inner = trim(std::string_view(plain).substr(close + 1));
  return array;
}

/// Walks the text once, copying it but for the places that the header names.
class Rewriter {
 public:
  explicit Rewriter(std::string_view text) : text_(text) {}

  std::string run() {
    while (at_ < text_.size()) step();
    return std::move(out_);
  }

 private:
  void copy_to(std::size_t end) {
    out_ += text_.substr(at_, end - at_);
    at_ = end;
  }

  /// Leaves out text, but not its line ends.
  void drop_to(std::size_t end) {
    out_ += newlines_of(text_.substr(at_, end - at_));
    at_ = end;
  }

  void step() {
    if (const std::size_t past = skip_dead(text_, at_); past != at_) return copy_to(past);
    const std::string_view word = word_at(text_, at_);
    if (word.empty()) return punctuation();
    line_is_blank_ = false;
    if (std::isdigit(static_cast<unsigned char>(word[0])) != 0) return number();
    if (word == "extern" && rewrite_extern()) return;
    if (word == "static" && word_at(text_, skip_blank(text_, at_ + 6)) == "__shared__") {
      return drop_to(skip_blank(text_, at_ + 6));
    }
    if (word == "__shared__" && rewrite_alignment()) return;
    if (word == "namespace" && !directive_) names_space_ = true;
    copy_to(at_ + word.size());
  }

  /// Digits with their separators: 1'000 is no character literal.
  void number() {
    std::size_t end = at_;
    while (end < text_.size() && (is_word(text_[end]) || (text_[end] == '\'' && is_word(text_[end - 1])))) ++end;
    copy_to(end);
  }

  void punctuation() {
    const char c = text_[at_];
    if (c == '\n') {
      if (at_ == 0 || text_[at_ - 1] != '\\') directive_ = false;
      line_is_blank_ = true;
    } else if (c == '#' && line_is_blank_) {
      directive_ = true;  // its braces need not match
    } else if (!directive_) {
      brace(c);
    }
    if (!is_space(c)) line_is_blank_ = false;
    copy_to(at_ + 1);
  }

  void brace(char c) {
    if (c == '{') {
      scopes_.push_back(names_space_);
    } else if (c == '}' && !scopes_.empty()) {
      scopes_.pop_back();
    }
    if (c == '{' || c == '}' || c == ';') names_space_ = false;
  }

  bool in_function() const { return directive_ || std::find(scopes_.begin(), scopes_.end(), false) != scopes_.end(); }

  bool rewrite_extern() {
    const std::size_t next = skip_blank(text_, at_ + 6);
    if (text_.substr(next).starts_with("\"C\"")) return rewrite_linkage(next + 3);
    const std::size_t end = text_.find(';', next);
    if (end == std::string_view::npos) return false;
    const std::string_view declaration = text_.substr(next, end - next);
    if (declaration.find_first_of("{}=\"") != std::string_view::npos) return false;
    const std::optional<SharedArray> array = parse_shared_array(declaration);
    if (!array) return false;
    const std::string pointer = array->inner.empty() ? array->type + "* " : array->type + " (* ";
    const std::string tail = array->inner.empty() ? "" : ")" + array->inner;
    if (in_function()) {
      out_ += fmt::format("{}const {}{} = ktune_cpu::DynamicShared{{}}", pointer, array->name, tail);
    } else {
      // Outside of a function the pointer is the runtime's own variable under another name and type.
      out_ += fmt::format("extern __thread {}{}{} __asm__(\"ktune_cpu_dynamic_shared\")", pointer, array->name, tail);
    }
    drop_to(end);
    return true;
  }

  /// `extern "C"` before a kernel, or around a block of text.
  bool rewrite_linkage(std::size_t after) {
    const std::size_t next = skip_blank(text_, after);
    if (next < text_.size() && text_[next] == '{') {
      out_ += "namespace ";
      names_space_ = true;
      drop_to(next);
      return true;
    }
    const std::string_view head = text_.substr(next, text_.find_first_of(";{", next) - next);
    if (head.find("__global__") == std::string_view::npos) return false;
    drop_to(next);
    return true;
  }

  bool rewrite_alignment() {
    const std::size_t next = skip_blank(text_, at_ + 10);
    if (word_at(text_, next) != "alignas") return false;
    const std::size_t end = skip_parentheses(text_, next + 7);
    out_ += text_.substr(next, end - next);
    out_ += " __shared__";
    drop_to(end);
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string out_;
  std::vector<bool> scopes_;  ///< the braces that are open: does it open a namespace?
  bool names_space_ = false;  ///< `namespace` stood since the last ; { or }
  bool directive_ = false;
  bool line_is_blank_ = true;
};

}  // namespace

std::string rewrite_for_host(std::string_view text) { return Rewriter(text).run(); }

std::string wrap_for_host(std::string_view source_name, std::string_view rewritten, const model::Macros& macros,
                          const std::vector<std::string>& kernels) {
  std::string unit;
  for (const auto& [name, value] : macros) unit += fmt::format("#define {} {}\n", name, value);
  unit += fmt::format("namespace ktune_program {{\nnamespace {{\n#line 1 \"{}\"\n{}\n", source_name, rewritten);
  unit += "#line 1 \"table of kernels\"\n}\n}\n";
  unit += "extern \"C\" {\n";
  unit += "extern const int ktune_cpu_abi_version __attribute__((visibility(\"default\")));\n";
  unit += "const int ktune_cpu_abi_version = ktune_cpu::kAbiVersion;\n";
  unit += "extern const ktune_cpu::Entry ktune_cpu_entries[] __attribute__((visibility(\"default\")));\n";
  unit += "const ktune_cpu::Entry ktune_cpu_entries[] = {\n";
  for (const std::string& kernel : kernels) {
    unit += fmt::format("  ktune_cpu::Exported<&ktune_program::{0}>::entry(\"{0}\"),\n", kernel);
  }
  unit += "  {nullptr, nullptr, nullptr, 0}};\n}\n";
  return unit;
}

}  // namespace ktune::compile
