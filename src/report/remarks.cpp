#include "report/remarks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>
#include <optional>

#include "base/text.h"

namespace ktune::report {

namespace {

constexpr std::size_t kMostNamed = 3;

using Words = std::vector<std::string>;

std::string kind_of(const std::string& text) {
  const std::string head = text.substr(0, text.find(": "));
  const bool is_word =
      head.size() < text.size() &&
      std::all_of(
          head.begin(), head.end(), [](unsigned char c) { return std::isalnum(c) != 0 || c == '-' || c == '_'; });
  return is_word ? head : text;
}

std::optional<double> number_of(const std::string& word) {
  double value = 0.0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return value;
}

/// One word for several: itself where they agree, a range where they are numbers, "…" else.
std::string merged_word(const Words& words) {
  if (std::all_of(words.begin(), words.end(), [&](const std::string& word) { return word == words.front(); }))
    return words.front();
  const std::string *low = nullptr, *high = nullptr;
  for (const std::string& word : words) {
    const auto value = number_of(word);
    if (!value) return "…";
    if (low == nullptr || *value < *number_of(*low)) low = &word;
    if (high == nullptr || *value > *number_of(*high)) high = &word;
  }
  return *low + " to " + *high;
}

/// Texts of as many words are merged word by word; others keep what they begin and end with alike.
std::string merged(const std::vector<std::string>& texts) {
  std::vector<Words> lists;
  for (const std::string& text : texts) lists.push_back(split(text, ' '));
  const auto shortest = std::min_element(lists.begin(), lists.end(), [](const Words& a, const Words& b) {
                          return a.size() < b.size();
                        })->size();
  const bool even = std::all_of(lists.begin(), lists.end(), [&](const Words& list) { return list.size() == shortest; });
  Words out;
  if (even) {
    for (std::size_t at = 0; at < shortest; ++at) {
      Words column;
      for (const Words& list : lists) column.push_back(list[at]);
      std::string word = merged_word(column);
      if (word != "…" || out.empty() || out.back() != "…") out.push_back(std::move(word));
    }
    return join(out, " ");
  }
  const auto agree = [&](auto at) {
    return std::all_of(lists.begin(), lists.end(), [&](const Words& list) { return at(list) == at(lists.front()); });
  };
  std::size_t head = 0, tail = 0;
  while (head < shortest && agree([&](const Words& list) { return list[head]; })) ++head;
  while (head + tail < shortest && agree([&](const Words& list) { return list[list.size() - 1 - tail]; })) ++tail;
  const Words& first = lists.front();
  out.assign(first.begin(), first.begin() + static_cast<std::ptrdiff_t>(head));
  out.emplace_back("…");
  out.insert(out.end(), first.end() - static_cast<std::ptrdiff_t>(tail), first.end());
  return join(out, " ");
}

void add_once(const std::string& text, std::vector<std::string>& texts) {
  if (std::find(texts.begin(), texts.end(), text) == texts.end()) texts.push_back(text);
}

}  // namespace

std::vector<std::string> grouped(const std::vector<Remark>& remarks, std::size_t count) {
  struct Group {
    std::vector<std::string> texts, subjects;
  };
  std::vector<std::string> order;
  std::map<std::string, Group> groups;
  for (const Remark& remark : remarks) {
    const std::string kind = kind_of(remark.text);
    add_once(kind, order);
    add_once(remark.text, groups[kind].texts);
    add_once(remark.subject, groups[kind].subjects);
  }
  std::vector<std::string> lines;
  for (const std::string& kind : order) {
    const Group& group = groups[kind];
    std::string line = group.texts.size() == 1 ? group.texts.front() : merged(group.texts);
    const std::size_t about = group.subjects.size();
    if (about < count) {
      const Words named(group.subjects.begin(),
                        group.subjects.begin() + static_cast<std::ptrdiff_t>(std::min(kMostNamed, about)));
      line += fmt::format(" ({}{})", join(named, "; "),
                          about > kMostNamed ? fmt::format("; {} more", about - kMostNamed) : "");
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace ktune::report
