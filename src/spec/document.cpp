#include "spec/document.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "expr/excerpt.h"

namespace ktune::spec {
namespace {

const char* type_name(toml::node_type type) {
  switch (type) {
    case toml::node_type::table:
      return "a table";
    case toml::node_type::array:
      return "an array";
    case toml::node_type::string:
      return "a string";
    case toml::node_type::integer:
      return "an integer";
    case toml::node_type::floating_point:
      return "a number with a point";
    case toml::node_type::boolean:
      return "a boolean";
    default:
      return "a date or time";
  }
}

/// Byte index of a column (characters, from 1) in a line.
std::size_t byte_of(const std::string& line, std::size_t column) {
  std::size_t byte = 0;
  for (std::size_t i = 1; i < column && byte < line.size(); ++i) {
    ++byte;
    while (byte < line.size() && (static_cast<unsigned char>(line[byte]) & 0xC0U) == 0x80U) ++byte;
  }
  return byte;
}

/// An expression of several lines as messages show it.
std::string in_one_line(const std::string& text) {
  std::istringstream words(text);
  std::string line;
  for (std::string word; words >> word;) line += (line.empty() ? "" : " ") + word;
  return line;
}

model::SourcePos position_of(const std::string& path, const toml::source_position& at) {
  return {path, static_cast<int>(at.line), static_cast<int>(at.column)};
}

}  // namespace

void fail(const Text& at, const std::string& message, const std::string& hint) {
  expr::fail_at(at, 0, static_cast<int>(at.text.size()), message, hint);
}

Document::Document(const std::string& path) : path_(path), bytes_(read_file(path)) {
  std::istringstream stream(bytes_);
  for (std::string line; std::getline(stream, line);) lines_.push_back(line);
  try {
    root_ = toml::parse(bytes_, path_);
  } catch (const toml::parse_error& error) {
    throw Error(ErrorKind::kUsage, fmt::format("not valid TOML: {}", error.description()), {},
                expr::excerpt(position_of(path_, error.source().begin)));
  }
}

model::SourcePos Document::position(const toml::node& node) const {
  model::SourcePos at = position_of(path_, node.source().begin);
  if (!node.is_string() || at.line < 1 || static_cast<std::size_t>(at.line) > lines_.size()) return at;
  const std::string& line = lines_[static_cast<std::size_t>(at.line - 1)];
  const std::size_t quote = byte_of(line, static_cast<std::size_t>(at.column));
  const std::string_view rest = std::string_view(line).substr(std::min(quote, line.size()));
  if (!rest.starts_with("\"\"\"") && !rest.starts_with("'''") && (rest.starts_with('"') || rest.starts_with('\''))) {
    ++at.column;
  }
  return at;
}

model::SourcePos Document::position(const toml::key& key) const { return position_of(path_, key.source().begin); }

Fields::Fields(const Document& document, const toml::table& table, std::string title)
    : document_(&document), table_(&table), title_(std::move(title)) {}

Text Fields::at() const {
  model::SourcePos at = document_->position(*table_);
  if (at.line < 1) at.line = at.column = 1;  // the implicit parent of a dotted header
  return {{}, at};
}

const toml::node* Fields::node(const std::string& key) {
  asked_.push_back(key);
  return table_->get(key);
}

const toml::node& Fields::required(const std::string& key) {
  const toml::node* found = node(key);
  if (found == nullptr) missing(key);
  return *found;
}

void Fields::missing(const std::string& key, const std::string& hint) const {
  const std::string where = title_.empty() ? "the file" : title_;
  for (const auto& [present, value] : *table_) {
    const std::string name(present.str());
    if (std::find(asked_.begin(), asked_.end(), name) != asked_.end()) continue;
    if (const std::string meant = did_you_mean(name, std::vector{key}); !meant.empty()) {
      fail({name, document_->position(present)}, fmt::format("{} has no key '{}'{}", where, name, meant));
    }
  }
  fail(at(), fmt::format("{} needs '{}'", where, key), hint);
}

void Fields::mistyped(const std::string& key, const toml::node& found, const std::string& wanted) const {
  fail({{}, document_->position(found)},
       fmt::format("{}: '{}' must be {}, not {}", title_.empty() ? "the file" : title_, key, wanted,
                   type_name(found.type())));
}

Text Fields::text_of(const std::string& key, const toml::node& found) const {
  const auto value = found.value_exact<std::string>();
  if (!value) mistyped(key, found, "a string");
  return {*value, document_->position(found)};
}

Text Fields::expression_of(const std::string& key, const toml::node& found) const {
  if (const auto integer = found.value_exact<std::int64_t>()) {
    return {std::to_string(*integer), document_->position(found)};
  }
  if (!found.is_string()) mistyped(key, found, "an expression (a string or an integer)");
  Text text = text_of(key, found);
  if (text.text.find('\n') != std::string::npos) text.text = in_one_line(text.text);
  return text;
}

Item Fields::item_of(const std::string& key, const toml::node& found) const {
  if (const auto integer = found.value_exact<std::int64_t>()) {
    return {true, *integer, {std::to_string(*integer), document_->position(found)}};
  }
  if (!found.is_string()) mistyped(key, found, "an integer or a name");
  return {false, 0, text_of(key, found)};
}

template <typename One>
auto Fields::list_of(const std::string& key, One one) {
  std::vector<decltype(one(std::declval<const toml::node&>()))> result;
  const toml::node* found = node(key);
  if (found == nullptr) return result;
  if (const toml::array* array = found->as_array()) {
    for (const toml::node& element : *array) result.push_back(one(element));
  } else {
    result.push_back(one(*found));
  }
  return result;
}

Text Fields::text(const std::string& key) { return text_of(key, required(key)); }
Text Fields::expression(const std::string& key) { return expression_of(key, required(key)); }

std::optional<Text> Fields::text_if(const std::string& key) {
  const toml::node* found = node(key);
  return found == nullptr ? std::nullopt : std::optional(text_of(key, *found));
}

std::optional<Text> Fields::expression_if(const std::string& key) {
  const toml::node* found = node(key);
  return found == nullptr ? std::nullopt : std::optional(expression_of(key, *found));
}

std::vector<Text> Fields::texts(const std::string& key) {
  return list_of(key, [&](const toml::node& element) { return text_of(key, element); });
}

std::vector<Text> Fields::expressions(const std::string& key) {
  return list_of(key, [&](const toml::node& element) { return expression_of(key, element); });
}

std::vector<Item> Fields::items(const std::string& key) {
  return list_of(key, [&](const toml::node& element) { return item_of(key, element); });
}

std::optional<Item> Fields::item_if(const std::string& key) {
  const toml::node* found = node(key);
  return found == nullptr ? std::nullopt : std::optional(item_of(key, *found));
}

std::optional<double> Fields::number_if(const std::string& key) {
  const toml::node* found = node(key);
  if (found == nullptr) return std::nullopt;
  if (!found->is_number()) mistyped(key, *found, "a number");
  return found->value<double>();
}

std::optional<bool> Fields::flag_if(const std::string& key) {
  const toml::node* found = node(key);
  if (found == nullptr) return std::nullopt;
  if (!found->is_boolean()) mistyped(key, *found, "true or false");
  return found->value<bool>();
}

std::optional<Fields> Fields::table_if(const std::string& key) {
  const toml::node* found = node(key);
  if (found == nullptr) return std::nullopt;
  if (!found->is_table()) mistyped(key, *found, "a table");
  const std::string title = title_.empty() ? fmt::format("[{}]", key) : fmt::format("{}: {}", title_, key);
  return Fields(*document_, *found->as_table(), title);
}

std::vector<Fields> Fields::tables(const std::string& key) {
  std::vector<Fields> result;
  const toml::node* found = node(key);
  if (found == nullptr) return result;
  std::string title = fmt::format("[[{}]]", key);
  if (!title_.empty()) title = fmt::format("[{}.{}]", title_.substr(0, title_.size() - 1), key) + "]";
  const toml::array* array = found->as_array();
  if (array == nullptr) mistyped(key, *found, fmt::format("an array of tables, {}", title));
  for (const toml::node& element : *array) {
    if (!element.is_table()) mistyped(key, element, fmt::format("an array of tables, {}", title));
    result.emplace_back(*document_, *element.as_table(), title);
  }
  return result;
}

std::vector<Text> Fields::keys() {
  std::vector<Text> result;
  for (const auto& [key, value] : *table_) {
    result.push_back({std::string(key.str()), document_->position(key)});
    asked_.emplace_back(key.str());
  }
  // toml++ iterates alphabetically.
  std::sort(result.begin(), result.end(), [](const Text& a, const Text& b) {
    return std::pair(a.at.line, a.at.column) < std::pair(b.at.line, b.at.column);
  });
  return result;
}

void Fields::finish() const {
  for (const auto& [key, value] : *table_) {
    if (std::find(asked_.begin(), asked_.end(), key.str()) != asked_.end()) continue;
    const std::string name(key.str());
    const std::string where = title_.empty() ? "the file" : title_;
    fail({name, document_->position(key)}, fmt::format("{} has no key '{}'{}", where, name, did_you_mean(name, asked_)),
         fmt::format("keys: {}", join(asked_, ", ")));
  }
}

}  // namespace ktune::spec
