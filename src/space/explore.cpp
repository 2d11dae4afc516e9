#include "space/explore.h"

#include <algorithm>
#include <numeric>

namespace ktune::space {
namespace {

/// Changes one axis of a variant and sets right what hangs on it.
class Step {
 public:
  Step(Rules& rules, Choice from) : rules_(rules), from_(std::move(from)), choice_(from_) {
    for (std::size_t d = 0; d < from_.size(); ++d) applied_.push_back(rules_.applies(d, from_));
  }

  bool applies(std::size_t axis) const { return applied_[axis]; }

  std::optional<model::Variant> to(std::size_t axis, std::size_t value) {
    choice_ = from_;
    choice_[axis] = value;
    if (!complete(axis + 1)) return std::nullopt;
    return variant_of(rules_.axes(), choice_);
  }

 private:
  bool complete(std::size_t depth) {
    if (rules_.broken(depth, choice_) != Rules::kNone) return false;
    if (depth == choice_.size()) return true;
    const Axis& axis = rules_.axes()[depth];
    const bool applies = rules_.applies(depth, choice_);
    if (!applies || applied_[depth]) {
      choice_[depth] = applies ? from_[depth] : axis.otherwise;
      return complete(depth + 1);
    }
    for (std::size_t i = 0; i < axis.count; ++i) {
      choice_[depth] = i;
      if (complete(depth + 1)) return true;
    }
    return false;
  }

  Rules& rules_;
  Choice from_, choice_;
  std::vector<bool> applied_;
};

class Descent {
 public:
  enum class End { kFound, kNothing, kTired };

  Descent(Rules& rules, std::mt19937_64& random, std::int64_t nodes, const std::function<bool()>& stop)
      : rules_(rules), random_(random), nodes_(nodes), stop_(stop), choice_(rules.axes().size(), 0) {}

  End run(std::size_t depth = 0) {
    constexpr std::int64_t kNodesBetweenStops = 1024;
    if (nodes_-- == 0 || (nodes_ % kNodesBetweenStops == 0 && stop_ && stop_())) return End::kTired;
    if (rules_.broken(depth, choice_) != Rules::kNone) return End::kNothing;
    if (depth == choice_.size()) return End::kFound;
    const Axis& axis = rules_.axes()[depth];
    if (!rules_.applies(depth, choice_)) {
      choice_[depth] = axis.otherwise;
      return run(depth + 1);
    }
    std::vector<std::size_t> left(axis.count);
    std::iota(left.begin(), left.end(), std::size_t{0});
    for (; !left.empty(); left.pop_back()) {
      std::swap(left[random_() % left.size()], left.back());
      choice_[depth] = left.back();
      if (const End end = run(depth + 1); end != End::kNothing) return end;
    }
    return End::kNothing;
  }

  const Choice& choice() const { return choice_; }

 private:
  Rules& rules_;
  std::mt19937_64& random_;
  std::int64_t nodes_;
  const std::function<bool()>& stop_;
  Choice choice_;
};

}  // namespace

std::vector<model::Variant> neighbours(Rules& rules, const model::Variant& variant, std::string_view parameter) {
  const std::vector<Axis>& axes = rules.axes();
  const auto named = std::find_if(axes.begin(), axes.end(), [&](const Axis& axis) { return axis.name == parameter; });
  const auto from = choice_of(axes, variant);
  if (named == axes.end() || !from || !rules.valid(*from)) return {};
  const auto axis = static_cast<std::size_t>(named - axes.begin());
  Step step(rules, *from);
  if (!step.applies(axis)) return {};

  std::vector<model::Variant> found;
  const auto number = [&](std::size_t i) { return named->values[i].number; };
  const std::size_t here = (*from)[axis];
  std::vector<std::size_t> others;
  for (std::size_t i = 0; i < named->count; ++i)
    if (i != here) others.push_back(i);
  if (std::any_of(others.begin(), others.end(), [&](std::size_t i) { return !named->values[i].name.empty(); })) {
    for (const std::size_t i : others)
      if (auto neighbour = step.to(axis, i)) found.push_back(std::move(*neighbour));
    return found;
  }
  std::sort(others.begin(), others.end(), [&](std::size_t a, std::size_t b) { return number(a) < number(b); });
  const auto above =
      std::find_if(others.begin(), others.end(), [&](std::size_t i) { return number(i) > number(here); });
  const auto take_first = [&](auto begin, auto end) {
    for (auto at = begin; at != end; ++at) {
      auto neighbour = step.to(axis, *at);
      if (!neighbour) continue;
      found.push_back(std::move(*neighbour));
      return;
    }
  };
  take_first(std::make_reverse_iterator(above), others.rend());
  take_first(above, others.end());
  return found;
}

std::optional<model::Variant> random_variant(Rules& rules, std::mt19937_64& random, const std::function<bool()>& stop) {
  // A bad first value may have a large subtree without a variant: begin again, with more patience each time.
  constexpr std::int64_t kPatience = 1024;
  for (std::int64_t nodes = kPatience;; nodes *= 2) {
    if (stop && stop()) return std::nullopt;
    Descent descent(rules, random, nodes, stop);
    const Descent::End end = descent.run();
    if (end == Descent::End::kFound) return variant_of(rules.axes(), descent.choice());
    if (end == Descent::End::kNothing) return std::nullopt;
  }
}

}  // namespace ktune::space
