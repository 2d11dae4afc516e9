#include "expr/expr.h"

#include <algorithm>
#include <unordered_map>

#include "base/error.h"
#include "base/hash.h"
#include "base/text.h"
#include "expr/excerpt.h"
#include "expr/parser.h"

namespace ktune::expr {
namespace {

std::string key_of(const model::Expression& expression) {
  return expression.text + '\n' + expression.at.file + ':' + std::to_string(expression.at.line) + ':' +
         std::to_string(expression.at.column);
}

std::size_t index_of(const std::vector<std::string>& sorted, const std::string& wanted) {
  return static_cast<std::size_t>(std::lower_bound(sorted.begin(), sorted.end(), wanted) - sorted.begin());
}

}  // namespace

Lets::Lets(std::vector<model::Let> lets) : lets_(std::move(lets)) {
  FieldHasher hasher;
  for (std::size_t i = 0; i < lets_.size(); ++i) {
    hasher.add(lets_[i].name, key_of(lets_[i].expr));
    places_.emplace(lets_[i].name, i);
  }
  if (!lets_.empty()) key_ = hasher.hex();
}

const model::Let* Lets::find(std::string_view name) const {
  const auto found = places_.find(name);
  return found == places_.end() ? nullptr : &lets_[found->second];
}

const std::int64_t* Scope::find(std::string_view name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? nullptr : &found->second;
}

const Lets& Scope::lets() const {
  static const Lets kNone;
  return lets_ ? *lets_ : kNone;
}

model::Failure Rejection::failure() const {
  std::string detail;
  if (expression.at.line > 0) detail = expression.at.file + ":" + std::to_string(expression.at.line);
  if (!values.empty()) detail += (detail.empty() ? "" : ": ") + values;
  return {model::Outcome::kRejected, reason, detail};
}

void Rejection::raise() const {
  fail_at(expression, 0, static_cast<int>(expression.text.size()), reason + (values.empty() ? "" : " where ") + values);
}

/// Links the texts: the expression is text 0, let i is text 1 + i.
struct Program::Impl {
  struct Place {
    std::size_t text;
    int offset;
  };

  model::Expression source;
  std::vector<model::Let> lets;
  std::vector<std::vector<std::pair<std::string, int>>> texts;  ///< the names of each text, with their offsets
  std::unordered_map<std::string, std::size_t> let_indices;     ///< by name: a chain of 1,000 is walked in each program
  std::vector<std::string> names;                               ///< sorted once all are there
  std::vector<std::string> own_names;
  std::vector<Place> places;  ///< where each of `names` first stands
  Code code;

  const model::Expression& expression_of(std::size_t text) const { return text == 0 ? source : lets[text - 1].expr; }

  std::size_t let_index(const std::string& name) const {
    const auto found = let_indices.find(name);
    return found == let_indices.end() ? lets.size() : found->second;
  }

  /// Parses the expression and every let that is reached from it; a kName keeps its index into the text's names.
  void load(const Lets& all) {
    for (std::size_t text = 0; text <= lets.size(); ++text) {
      Fragment fragment = parse(expression_of(text));
      code.depth += fragment.depth;
      if (text > 0) code.entries.push_back(code.instructions.size());
      for (Instruction& step : fragment.instructions) step.source = static_cast<std::uint32_t>(text);
      code.instructions.insert(code.instructions.end(), fragment.instructions.begin(), fragment.instructions.end());
      code.instructions.push_back({Op::kReturn, static_cast<std::uint32_t>(text), static_cast<std::int64_t>(text) - 1});
      for (const auto& [name, offset] : fragment.names) {
        const model::Let* let = all.find(name);
        if (let == nullptr) {
          if (std::find(names.begin(), names.end(), name) == names.end()) {
            names.push_back(name);
            places.push_back({text, offset});
          }
        } else if (let_indices.emplace(name, lets.size()).second) {
          lets.push_back(*let);
        }
      }
      texts.push_back(std::move(fragment.names));
    }
  }

  void sort_names() {
    std::vector<std::size_t> order(names.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return names[a] < names[b]; });
    std::vector<std::string> sorted;
    std::vector<Place> sorted_places;
    for (const std::size_t i : order) {
      sorted.push_back(names[i]);
      sorted_places.push_back(places[i]);
    }
    names = std::move(sorted);
    places = std::move(sorted_places);
    for (const auto& [name, offset] : texts[0]) own_names.push_back(name);
    std::sort(own_names.begin(), own_names.end());
  }

  void link() {
    for (Instruction& step : code.instructions) {
      if (step.op != Op::kName) continue;
      const std::string& name = texts[step.source][static_cast<std::size_t>(step.operand)].first;
      const std::size_t let = let_index(name);
      if (let < lets.size()) step.op = Op::kLet;
      step.operand = static_cast<std::int64_t>(let < lets.size() ? let : index_of(names, name));
    }
  }

  /// Fails when a let is reached from itself; `chain` holds the lets on the way here.
  void refuse_cycles(std::size_t text, std::vector<std::size_t>& chain, std::vector<bool>& done) const {
    for (const auto& [name, offset] : texts[text]) {
      const std::size_t let = let_index(name);
      if (let == lets.size() || done[let]) continue;
      const auto first = std::find(chain.begin(), chain.end(), let);
      if (first != chain.end()) {
        std::string path;
        for (auto at = first; at != chain.end(); ++at) path += lets[*at].name + " → ";
        fail_at(expression_of(text), offset, static_cast<int>(name.size()),
                "let '" + name + "' uses itself: " + path + name);
      }
      chain.push_back(let);
      refuse_cycles(let + 1, chain, done);
      chain.pop_back();
      done[let] = true;
    }
  }

  /// "N = 8, V = 0": the values of the names in a text.
  std::string values_of(std::size_t text, const std::vector<std::int64_t>& values) const {
    std::vector<std::string> own;
    for (const auto& [name, offset] : texts[text]) own.push_back(name);
    std::sort(own.begin(), own.end());
    std::string result;
    for (const std::string& name : own) {
      Evaluation known;
      const std::size_t let = let_index(name);
      if (let < lets.size()) {
        known = expr::run(code, code.entries[let], values.data());
      } else {
        known.value = values[index_of(names, name)];
      }
      if (known.ok()) result += (result.empty() ? "" : ", ") + name + " = " + std::to_string(known.value);
    }
    return result;
  }
};

Program::Program(model::Expression source, const Lets& lets) : impl_(std::make_unique<Impl>()) {
  impl_->source = std::move(source);
  impl_->load(lets);
  impl_->sort_names();
  std::vector<std::size_t> chain;
  std::vector<bool> done(impl_->lets.size(), false);
  impl_->refuse_cycles(0, chain, done);
  impl_->link();
}

Program::~Program() = default;
Program::Program(Program&&) noexcept = default;
Program& Program::operator=(Program&&) noexcept = default;

const std::vector<std::string>& Program::names() const { return impl_->names; }
const std::vector<std::string>& Program::own_names() const { return impl_->own_names; }
const std::vector<model::Let>& Program::lets() const { return impl_->lets; }
const model::Expression& Program::source() const { return impl_->source; }

std::vector<std::int64_t> Program::bind(const Scope& scope) const {
  std::vector<std::int64_t> values(impl_->names.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::string& name = impl_->names[i];
    const std::int64_t* value = scope.find(name);
    if (value == nullptr) {
      std::vector<std::string> known;
      for (const auto& [bound, unused] : scope.values()) known.push_back(bound);
      for (const model::Let& let : scope.lets().all()) known.push_back(let.name);
      const Impl::Place& place = impl_->places[i];
      fail_at(impl_->expression_of(place.text), place.offset, static_cast<int>(name.size()),
              "unknown name '" + name + "'" + did_you_mean(name, known));
    }
    values[i] = *value;
  }
  return values;
}

Evaluation Program::run(const std::vector<std::int64_t>& values) const {
  KTUNE_CHECK(values.size() == impl_->names.size());
  return expr::run(impl_->code, 0, values.data());
}

Rejection Program::rejection(const Evaluation& failed, const std::vector<std::int64_t>& values) const {
  const model::Expression& expression = impl_->expression_of(failed.source);
  std::string reason = std::string(text_of(failed.fault)) + " in '" + expression.text + "'";
  if (failed.source > 0) reason += " (let " + impl_->lets[failed.source - 1].name + ")";
  return {reason, impl_->values_of(failed.source, values), expression};
}

std::string Program::values_text(const std::vector<std::int64_t>& values) const { return impl_->values_of(0, values); }

tl::expected<std::int64_t, Rejection> Program::try_evaluate(const Scope& scope) const {
  const std::vector<std::int64_t> values = bind(scope);
  const Evaluation result = run(values);
  if (!result.ok()) return tl::unexpected(rejection(result, values));
  return result.value;
}

std::int64_t Program::evaluate(const Scope& scope) const {
  const auto value = try_evaluate(scope);
  if (!value) value.error().raise();
  return *value;
}

namespace {

const Program& cached(const model::Expression& expression, const Scope& scope) {
  // One cache a thread, so that nobody waits. The position is part of the key, so that an error points at the
  // expression that was asked for and not at its first twin.
  thread_local std::unordered_map<std::string, Program> programs;
  const std::string key = key_of(expression) + '\n' + scope.lets().key();
  auto found = programs.find(key);
  if (found == programs.end()) found = programs.emplace(key, Program(expression, scope.lets())).first;
  return found->second;
}

}  // namespace

std::int64_t evaluate(const model::Expression& expression, const Scope& scope) {
  return cached(expression, scope).evaluate(scope);
}

tl::expected<std::int64_t, Rejection> try_evaluate(const model::Expression& expression, const Scope& scope) {
  return cached(expression, scope).try_evaluate(scope);
}

std::string values_in(const model::Expression& expression, const Scope& scope) {
  const Program& program = cached(expression, scope);
  return program.values_text(program.bind(scope));
}

}  // namespace ktune::expr
