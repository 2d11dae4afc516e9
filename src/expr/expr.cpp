#include "expr/expr.h"

#include <muParserBase.h>

#include <cmath>
#include <unordered_map>

#include "base/error.h"
#include "base/text.h"
#include "expr/arithmetic.h"
#include "expr/excerpt.h"
#include "expr/formula.h"

namespace ktune::expr {
namespace {

/// Reads a decimal integer at the start of the text; muParser's own reader would take "1e3" and the locale's commas.
int read_integer(const mu::char_type* text, int* position, mu::value_type* value) {
  std::int64_t number = 0;
  int length = 0;
  for (; text[length] >= '0' && text[length] <= '9'; ++length) number = number * 10 + (text[length] - '0');
  *value = static_cast<double>(number);
  *position += length;
  return length > 0 ? 1 : 0;
}

/// muParser with nothing built in but brackets and ?:; every operator and function is ours (arithmetic.h). Nothing is
/// folded while parsing: a division by zero in a branch that is not taken is no error.
class IntegerParser : public mu::ParserBase {
 public:
  IntegerParser() {
    EnableBuiltInOprt(false);
    EnableOptimizer(false);
    InitCharSets();
    InitFun();
    InitOprt();
    AddValIdent(read_integer);
  }

 protected:
  void InitCharSets() override {
    DefineNameChars("0123456789_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
    DefineOprtChars("+-*/%<>#~@$");
    DefineInfixOprtChars("!");
  }

  void InitFun() override {
    DefineFun(kNegate, negate, false);
    DefineFun(kNot, logical_not, false);
    DefineFun("cdiv", cdiv, false);
    DefineFun("min", minimum, false);
    DefineFun("max", maximum, false);
    DefineFun("clamp", clamp, false);
    DefineFun("next_pow2", next_pow2, false);
    DefineFun("is_pow2", is_pow2, false);
    DefineFun("gcd", gcd, false);
  }

  void InitConst() override {}

  void InitOprt() override {
    DefineOprt("*", multiply, 4);
    DefineOprt("/", divide, 4);
    DefineOprt("%", modulo, 4);
    DefineOprt("+", add, 3);
    DefineOprt("-", subtract, 3);
    DefineOprt("<", less, 2);
    DefineOprt(">", greater, 2);
    DefineOprt({kLessEqual}, less_equal, 2);
    DefineOprt({kGreaterEqual}, greater_equal, 2);
    DefineOprt({kEqual}, equal, 2);
    DefineOprt({kNotEqual}, not_equal, 2);
  }
};

}  // namespace

const std::int64_t* Scope::find(std::string_view name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? nullptr : &found->second;
}

struct Program::Impl {
  model::Expression source;
  std::vector<std::string> names;
  std::vector<int> offsets;    ///< where each name first stands
  std::vector<double> values;  ///< muParser reads the names' values here
  IntegerParser parser;

  std::int64_t run() const {
    try {
      return static_cast<std::int64_t>(parser.Eval());
    } catch (const EvaluationFailure& failure) {
      std::string bound;
      for (std::size_t i = 0; i < names.size(); ++i) {
        bound += (i == 0 ? " where " : ", ") + names[i] + " = " + std::to_string(static_cast<std::int64_t>(values[i]));
      }
      fail_at(source, 0, static_cast<int>(source.text.size()), failure.reason + " in '" + source.text + "'" + bound);
    } catch (const mu::ParserError& error) {
      fail_at(source, 0, 1, "'" + source.text + "': " + error.GetMsg());
    }
  }

  void bind(std::size_t i, std::int64_t value) {
    if (value > kLargest || value < -kLargest) {
      fail_at(source, offsets[i], static_cast<int>(names[i].size()),
              "'" + names[i] + "' is " + std::to_string(value) + ", beyond 2^53");
    }
    values[i] = static_cast<double>(value);
  }
};

Program::Program(model::Expression source) : impl_(std::make_unique<Impl>()) {
  impl_->source = std::move(source);
  const Formula parsed = formula(impl_->source);
  impl_->values.resize(parsed.names.size());
  try {
    for (std::size_t i = 0; i < parsed.names.size(); ++i) {
      impl_->names.push_back(parsed.names[i].first);
      impl_->offsets.push_back(parsed.names[i].second);
      impl_->parser.DefineVar(parsed.names[i].first, &impl_->values[i]);
    }
    impl_->parser.SetExpr(parsed.text);
  } catch (const mu::ParserError& error) {
    fail_at(impl_->source, 0, 1, "'" + impl_->source.text + "': " + error.GetMsg());
  }
}

Program::~Program() = default;
Program::Program(Program&&) noexcept = default;
Program& Program::operator=(Program&&) noexcept = default;

const std::vector<std::string>& Program::names() const { return impl_->names; }
const model::Expression& Program::source() const { return impl_->source; }

std::int64_t Program::evaluate(const Scope& scope) const {
  for (std::size_t i = 0; i < impl_->names.size(); ++i) {
    const std::string& name = impl_->names[i];
    const std::int64_t* value = scope.find(name);
    if (value == nullptr) {
      std::vector<std::string> known;
      for (const auto& [bound, unused] : scope.values()) known.push_back(bound);
      fail_at(impl_->source, impl_->offsets[i], static_cast<int>(name.size()),
              "unknown name '" + name + "'" + did_you_mean(name, known));
    }
    impl_->bind(i, *value);
  }
  return impl_->run();
}

std::int64_t Program::evaluate(const std::vector<std::int64_t>& values) const {
  KTUNE_CHECK(values.size() == impl_->values.size());
  for (std::size_t i = 0; i < values.size(); ++i) impl_->bind(i, values[i]);
  return impl_->run();
}

std::int64_t evaluate(const model::Expression& expression, const Scope& scope) {
  // One cache a thread: a muParser instance is not safe to share. The position is part of the key, so that an error
  // points at the expression that was asked for and not at its first twin.
  thread_local std::unordered_map<std::string, Program> programs;
  const std::string key = expression.text + '\n' + expression.at.file + ':' + std::to_string(expression.at.line) + ':' +
                          std::to_string(expression.at.column);
  auto found = programs.find(key);
  if (found == programs.end()) found = programs.emplace(key, Program(expression)).first;
  return found->second.evaluate(scope);
}

}  // namespace ktune::expr
