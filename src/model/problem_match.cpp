#include "model/problem_match.h"

#include <algorithm>
#include <vector>

#include "base/text.h"

namespace ktune::model {

bool matches(const Problem& problem, const std::string& asked) {
  const std::string text = problem.text();
  if (asked.empty() || asked == text) return true;
  const std::vector<std::string> words = split(text, ' ');
  std::vector<std::string> sizes;
  for (const auto& [name, size] : problem.dims) sizes.push_back(std::to_string(size));
  const std::string shape = join(sizes, "x");
  std::string spaced = asked;
  std::replace(spaced.begin(), spaced.end(), ',', ' ');
  for (const std::string& word : split(spaced, ' '))
    if (!word.empty() && word != shape && std::find(words.begin(), words.end(), word) == words.end()) return false;
  return true;
}

}  // namespace ktune::model
