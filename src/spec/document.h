#pragma once

#include <toml++/toml.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/op_spec.h"

// A TOML file read strictly: every field is asked for by name and type, what nobody asked for is an error, and every
// error marks its place in the file.

namespace ktune::spec {

/// A string with its place; what an Expression is, and what any text field is read as.
using Text = model::Expression;

/// Throws Error(kUsage) marking a text.
[[noreturn]] void fail(const Text& at, const std::string& message, const std::string& hint = {});

/// A parsed file.
class Document {
 public:
  /// Throws Error(kUsage): the file cannot be read, or is not TOML.
  explicit Document(const std::string& path);

  const toml::table& root() const { return root_; }
  const std::string& path() const { return path_; }
  const std::string& bytes() const { return bytes_; }
  /// Where a node stands. For a one-line string: its first character, after the quote.
  model::SourcePos position(const toml::node& node) const;
  model::SourcePos position(const toml::key& key) const;

 private:
  std::string path_;
  std::string bytes_;
  std::vector<std::string> lines_;
  toml::table root_;
};

/// An integer or a name: a parameter's value.
struct Item {
  bool is_integer = false;
  std::int64_t integer = 0;
  Text text;  ///< the name, or the integer's digits, with its place
};

/// A table being read. `title` is how messages call it: "[op]", "[[param]]".
class Fields {
 public:
  Fields(const Document& document, const toml::table& table, std::string title);

  const std::string& title() const { return title_; }
  /// The table's own place.
  Text at() const;

  bool has(const std::string& key) const { return table_->contains(key); }
  /// A string; throws when it is missing. The `_if` forms give nothing instead.
  Text text(const std::string& key);
  std::optional<Text> text_if(const std::string& key);
  /// A string or an integer, as the text of an expression.
  Text expression(const std::string& key);
  std::optional<Text> expression_if(const std::string& key);
  /// An array of strings; a lone string counts as an array of one.
  std::vector<Text> texts(const std::string& key);
  /// An array of strings or integers, as expressions; a lone one counts as an array of one.
  std::vector<Text> expressions(const std::string& key);
  std::vector<Item> items(const std::string& key);
  std::optional<Item> item_if(const std::string& key);
  std::optional<double> number_if(const std::string& key);
  std::optional<bool> flag_if(const std::string& key);
  std::optional<Fields> table_if(const std::string& key);
  /// The tables of an array of tables; none when it is absent.
  std::vector<Fields> tables(const std::string& key);
  /// The keys of a table whose keys are data ([types], [default], dims), in the order of the file; all count as asked
  /// for.
  std::vector<Text> keys();

  /// Throws for a missing key: "[op] needs 'name'"; when a key that is there looks like a misspelling of it, that one
  /// is blamed.
  [[noreturn]] void missing(const std::string& key, const std::string& hint = {}) const;
  /// Throws for a key that nobody asked for.
  void finish() const;

 private:
  const toml::node* node(const std::string& key);
  const toml::node& required(const std::string& key);
  [[noreturn]] void mistyped(const std::string& key, const toml::node& found, const std::string& wanted) const;
  Text text_of(const std::string& key, const toml::node& found) const;
  Text expression_of(const std::string& key, const toml::node& found) const;
  Item item_of(const std::string& key, const toml::node& found) const;
  template <typename One>
  auto list_of(const std::string& key, One one);

  const Document* document_;
  const toml::table* table_;
  std::string title_;
  std::vector<std::string> asked_;
};

}  // namespace ktune::spec
