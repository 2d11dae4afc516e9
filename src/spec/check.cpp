#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/text.h"
#include "expr/excerpt.h"
#include "expr/expr.h"
#include "model/dtype.h"
#include "spec/sections.h"

// Every expression of a spec, parsed and its names looked up, before any problem binds them: a misspelt name in the
// `smem` of a launch that only one variant in a hundred takes is found when the file is read.

namespace ktune::spec {
namespace {

using NameSet = std::set<std::string>;

/// Where a name first stands as a whole word.
int offset_of(const std::string& text, const std::string& name) {
  const auto word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    if ((at == 0 || !word(text[at - 1])) && (end == text.size() || !word(text[end]))) return static_cast<int>(at);
  }
  return 0;
}

class Checker {
 public:
  explicit Checker(const model::OpSpec& spec) : spec_(spec), lets_(spec.lets) {
    for (const std::string& name : device_constants()) shape_names_.insert(name);
    for (const model::DType dtype : model::all_dtypes()) shape_names_.insert("sizeof_" + std::string(name_of(dtype)));
    for (const model::TypeParam& type : spec.types) shape_names_.insert("sizeof_" + type.name);
    shape_names_.insert(spec.dims.begin(), spec.dims.end());
    for (const model::Attribute& attribute : spec.attrs) {
      shape_names_.insert(attribute.name);
      add_values(attribute.values);
    }
    for (const model::Parameter& parameter : spec.params) {
      add_values(parameter.values);
      add_values({parameter.otherwise});
    }
    problem_names_ = shape_names_;
    for (const model::TensorSpec& tensor : spec.tensors) {
      if (tensor.role == model::Role::kScratch) continue;
      problem_names_.insert({"offset_" + tensor.name, "align_" + tensor.name});
      for (std::size_t i = 0; i < tensor.shape.size(); ++i) {
        problem_names_.insert("stride_" + tensor.name + "_" + std::to_string(i));
      }
    }
    variant_names_ = problem_names_;
    for (const model::Parameter& parameter : spec.params) variant_names_.insert(parameter.name);
  }

  void run() {
    for (const model::Let& let : spec_.lets) check_let(let);
    for (const model::TensorSpec& tensor : spec_.tensors) {
      const NameSet& names = tensor.role == model::Role::kScratch ? variant_names_ : shape_names_;
      for (const model::Expression& size : tensor.shape) check(size, names);
      for (const model::Expression& stride : tensor.strides) check(stride, names);
    }
    NameSet earlier = problem_names_;
    for (const model::Parameter& parameter : spec_.params) {
      if (parameter.when) check(*parameter.when, earlier);
      earlier.insert(parameter.name);
    }
    for (const model::Constraint& constraint : spec_.constraints) check(constraint.expr, variant_names_);
    for (const auto& [name, rule] : spec_.defaults) check(rule, variant_names_);
    for (const model::LaunchSpec& launch : spec_.launches) check(launch, variant_names_);
    for (const model::LaunchSpec& launch : spec_.reference) check(launch, problem_names_);
    check_reference_scratch();
    check(spec_.verify.reduction, problem_names_);
    for (const auto* cost : {&spec_.cost.reads, &spec_.cost.writes, &spec_.cost.scratch, &spec_.cost.flops}) {
      check(*cost, problem_names_);
    }
    check_lets_are_used();
  }

 private:
  void add_values(const std::vector<model::Value>& values) {
    for (const model::Value& value : values) {
      if (!value.name.empty()) shape_names_.insert(value.name);
    }
  }

  void check(const model::Expression& expression, const NameSet& names) {
    const expr::Program program(expression, lets_);
    for (const std::string& name : program.own_names()) {
      if (const model::Let* let = lets_.find(name)) {
        check_use(expression, *let, names);
      } else if (!names.contains(name)) {
        refuse(expression, name, names);
      }
    }
    for (const model::Let& let : program.lets()) used_.insert(let.name);
  }

  /// A let's own names may be bound by any variant; where it is used decides whether they are bound there.
  void check_let(const model::Let& let) const {
    const expr::Program named({let.name, let.expr.at}, lets_);  // a cycle is told as a chain from here to here
    const expr::Program program(let.expr, lets_);
    for (const std::string& name : program.own_names()) {
      if (lets_.find(name) == nullptr && !variant_names_.contains(name)) refuse(let.expr, name, variant_names_);
    }
  }

  void check_use(const model::Expression& expression, const model::Let& let, const NameSet& names) const {
    const expr::Program program(let.expr, lets_);
    for (const std::string& name : program.names()) {
      if (names.contains(name)) continue;
      expr::fail_at(expression, offset_of(expression.text, let.name), static_cast<int>(let.name.size()),
                    fmt::format("'{}' has no value yet here, and let '{}' uses it", name, let.name),
                    hint_for_early(name));
    }
  }

  [[noreturn]] void refuse(const model::Expression& expression, const std::string& name, const NameSet& names) const {
    const int offset = offset_of(expression.text, name);
    const int width = static_cast<int>(name.size());
    if (variant_names_.contains(name)) {
      expr::fail_at(expression, offset, width, fmt::format("'{}' has no value yet here", name), hint_for_early(name));
    }
    std::vector<std::string> known(names.begin(), names.end());
    for (const model::Let& let : spec_.lets) known.push_back(let.name);
    expr::fail_at(expression, offset, width, fmt::format("unknown name '{}'{}", name, did_you_mean(name, known)),
                  hint_for(name));
  }

  void check_lets_are_used() const {
    for (const model::Let& let : spec_.lets) {
      if (used_.contains(let.name)) continue;
      fail(let.expr, fmt::format("let '{}' is never used", let.name), "remove it, or use it in an expression");
    }
  }

  std::string hint_for_early(const std::string& name) const {
    return find_named(spec_.params, name) != nullptr
               ? "a `when` uses earlier parameters only; tensors, reference and cost use none"
               : "shapes and strides use dims, attributes and device constants only";
  }

  std::string hint_for(const std::string& name) const {
    if (find_named(spec_.tensors, name) != nullptr || find_named(spec_.scalars, name) != nullptr) {
      return "a tensor or scalar is an argument by itself, not part of an expression";
    }
    return "an expression uses dims, parameters, attributes, their values, lets and built-in constants";
  }

  void check(const model::LaunchSpec& launch, const NameSet& names) {
    for (const model::Expression& arg : launch.args) {
      const bool operand =
          find_named(spec_.tensors, arg.text) != nullptr || find_named(spec_.scalars, arg.text) != nullptr;
      if (!operand) check_argument(arg, names);
    }
    for (const auto* extent : {&launch.grid, &launch.block, &launch.cluster}) {
      for (const model::Expression& size : *extent) check(size, names);
    }
    check(launch.smem, names);
    if (launch.when) check(*launch.when, names);
  }

  /// A lone unknown word is more likely a misspelt tensor than a misspelt constant.
  void check_argument(const model::Expression& arg, const NameSet& names) {
    const expr::Program program(arg, lets_);
    const std::vector<std::string>& own = program.own_names();
    const bool lone = own.size() == 1 && own[0] == trim(arg.text);
    if (lone && !variant_names_.contains(own[0]) && lets_.find(own[0]) == nullptr) {
      std::vector<std::string> known = names_of(spec_.tensors);
      for (const std::string& name : names_of(spec_.scalars)) known.push_back(name);
      known.insert(known.end(), spec_.dims.begin(), spec_.dims.end());
      fail(arg, fmt::format("unknown argument '{}'{}", arg.text, did_you_mean(arg.text, known)),
           "an argument is a tensor, a scalar or an expression");
    }
    check(arg, names);
  }

  /// The reference runs once a problem, before any variant: its scratch cannot depend on parameters.
  void check_reference_scratch() {
    for (const model::LaunchSpec& launch : spec_.reference) {
      for (const model::Expression& arg : launch.args) {
        const model::TensorSpec* tensor = find_named(spec_.tensors, arg.text);
        if (tensor == nullptr || tensor->role != model::Role::kScratch) continue;
        for (const model::Expression& size : tensor->shape) {
          const expr::Program program(size, lets_);
          for (const std::string& name : program.names()) {
            if (problem_names_.contains(name)) continue;
            fail(arg,
                 fmt::format("the reference takes scratch '{}', whose size depends on parameter '{}'", arg.text, name),
                 "give [[reference.launch]] its own args");
          }
        }
      }
    }
  }

  const model::OpSpec& spec_;
  expr::Lets lets_;
  NameSet used_;           ///< lets that some expression needs
  NameSet shape_names_;    ///< bound before any tensor is laid out
  NameSet problem_names_;  ///< bound for a problem
  NameSet variant_names_;  ///< bound for a variant
};

}  // namespace

void check_expressions(const model::OpSpec& spec) { Checker(spec).run(); }

}  // namespace ktune::spec
