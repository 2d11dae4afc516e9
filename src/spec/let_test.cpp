// [let]: named expressions of a spec, and what is refused.

#include <algorithm>

#include "expr/resolve.h"
#include "spec/fixture_test.h"

namespace ktune::spec {
namespace {

class LetSection : public SpecFolder {
 protected:
  static std::string with(const std::string& lets, const std::string& from = "ROWS <= M",
                          const std::string& to = "groups >= 1") {
    std::string text = replaced("[default]", "[let]\n" + lets + "\n[default]");
    return text.replace(text.find(from), from.size(), to);
  }
  std::string error(const std::string& lets, const std::string& from = "ROWS <= M",
                    const std::string& to = "groups >= 1") const {
    return error_of([&] { load(with(lets, from, to)); });
  }
  /// The line of a text in the small spec with some lets, from 1.
  static int line_of(const std::string& spec, const std::string& text) {
    const std::size_t at = spec.find(text);
    return 1 + static_cast<int>(std::count(spec.begin(), spec.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
  }
};

constexpr const char* kGroups = "groups = \"cdiv(M, ROWS)\"";

TEST_F(LetSection, IsReadWithItsPlaces) {
  const std::string text =
      with(std::string(kGroups) + "\nhalf = \"groups / 2\"\nseven = 7", "ROWS <= M", "half <= seven");
  const model::OpSpec spec = load(text);
  ASSERT_EQ(spec.lets.size(), 3U);
  EXPECT_EQ(spec.lets[0].name, "groups");
  EXPECT_EQ(spec.lets[0].expr.text, "cdiv(M, ROWS)");
  EXPECT_EQ(spec.lets[0].expr.at.line, line_of(text, "groups = "));
  EXPECT_EQ(spec.lets[0].expr.at.column, 11);
  EXPECT_EQ(spec.lets[2].expr.text, "7");
}

TEST_F(LetSection, MayStandAnywhereInTheFileAndInAnyOrder) {
  const std::string text =
      "[let]\nhalf = \"groups / 2\"\n" + std::string(kGroups) + "\n" + replaced("ROWS <= M", "half <= 32");
  EXPECT_EQ(load(text).lets[0].name, "half");
}

TEST_F(LetSection, AnExpressionOfSeveralLinesIsOneLineInMessages) {
  const std::string text = with("groups = \"\"\"\ncdiv(M,\n     ROWS)\"\"\"");
  EXPECT_EQ(load(text).lets[0].expr.text, "cdiv(M, ROWS)");
}

TEST_F(LetSection, ServesAllExpressionsOfASpec) {
  const std::string lets = "wide = \"N * 2\"\nrow = \"M * 2\"\nis_bulk = \"LOADER == bulk\"\n" + std::string(kGroups);
  std::string text = with(lets);
  const auto put = [&](const std::string& from, const std::string& to) {
    text.replace(text.find(from), from.size(), to);
  };
  put("shape = [\"M\", \"N\", \"2\"]", "shape = [\"M\", \"wide / 2\", \"2\"]");
  put("shape = [\"cdiv(M, ROWS)\"]", "shape = [\"groups\"]");
  put("when = \"LOADER == bulk\"", "when = \"is_bulk\"");
  put("\"M * 2\", \"eps\"", "\"row\", \"eps\"");
  put("grid = [\"cdiv(M, ROWS)\"]", "grid = [\"groups\"]");
  put("reads = \"M*N*2*sizeof_weight_t\"", "reads = \"M*wide*sizeof_weight_t\"");
  put("reduction = \"N\"", "reduction = \"wide\"");
  const model::OpSpec spec = load(text);
  EXPECT_EQ(spec.lets.size(), 4U);
  const model::Problem problem = select_problems(spec, {}).front();
  const expr::Scope scope = expr::problem_scope(spec, problem, {});
  EXPECT_EQ(expr::resolve_cost(spec, scope).bytes_read, 64 * 256 * 4);
  EXPECT_EQ(expr::default_variant(spec, scope).text(), "LOADER=ldg,ROWS=1");
}

TEST_F(LetSection, AMistakeInALetIsMarkedAtItsOwnLine) {
  const std::string text = with("groups = \"cdiv(M, ROWZ)\"");
  EXPECT_EQ(error_of([&] { load(text); }),
            std::to_string(line_of(text, "groups = ")) + ":19 unknown name 'ROWZ'; did you mean 'ROWS'?");
  const std::string syntax = with("groups = \"cdiv(M, ROWS\"");
  EXPECT_EQ(error_of([&] { load(syntax); }), std::to_string(line_of(syntax, "groups = ")) + ":23 a ')' is missing");
}

TEST_F(LetSection, ALetThatUsesItselfIsRefusedWithTheChain) {
  const std::string text = with("groups = \"1 + second\"\nsecond = \"third * 2\"\nthird = \"M + groups\"");
  EXPECT_EQ(error_of([&] { load(text); }), std::to_string(line_of(text, "third = ")) +
                                               ":14 let 'groups' uses itself: groups → second → third → groups");
  const std::string self = with("groups = \"groups + 1\"");
  EXPECT_EQ(error_of([&] { load(self); }),
            std::to_string(line_of(self, "groups = ")) + ":11 let 'groups' uses itself: groups → groups");
}

TEST_F(LetSection, ALetTakesNoNameThatIsTaken) {
  const auto message = [&](const std::string& let) {
    const std::string text = error(let + " = 1\n" + kGroups);
    return text.substr(text.find(' ') + 1);
  };
  EXPECT_EQ(message("M"), "'M' is used twice: for a dim in line 5 and for a let here");
  EXPECT_EQ(message("ROWS").substr(0, 38), "'ROWS' is used twice: for a parameter ");
  EXPECT_EQ(message("mode").substr(0, 38), "'mode' is used twice: for a attribute ");
  EXPECT_EQ(message("bulk").substr(0, 34), "'bulk' is used twice: for a value ");
  EXPECT_EQ(message("x").substr(0, 32), "'x' is used twice: for a tensor ");
  EXPECT_EQ(message("eps").substr(0, 34), "'eps' is used twice: for a scalar ");
  EXPECT_EQ(message("sm_count"), "'sm_count' cannot name a let: it is a built-in constant");
  EXPECT_EQ(message("cdiv"), "'cdiv' cannot name a let: it is a built-in function");
  EXPECT_EQ(message("and"), "'and' cannot name a let: it is an operator");
  EXPECT_EQ(message("f32"), "'f32' cannot name a let: it is a dtype");
  EXPECT_EQ(message("sizeof_x"),
            "'sizeof_x' cannot name a let: it begins with 'sizeof_', which is kept for built-in constants");
}

TEST_F(LetSection, ALetThatNothingUsesIsRefused) {
  const std::string text = with(std::string(kGroups) + "\nspare = \"other + 1\"\nother = 2");
  EXPECT_EQ(error_of([&] { load(text); }), std::to_string(line_of(text, "spare = ")) + ":10 let 'spare' is never used");
}

TEST_F(LetSection, ALetIsAsLateAsWhatItUses) {
  const auto message = [&](const std::string& from, const std::string& to) {
    const std::string text = error(kGroups, from, to);
    return text.substr(text.find(' ') + 1);
  };
  EXPECT_EQ(message("M*N*2*sizeof_weight_t", "groups"), "'ROWS' has no value yet here, and let 'groups' uses it");
  EXPECT_EQ(message("LOADER == bulk", "groups > 1"), "'ROWS' has no value yet here, and let 'groups' uses it");
  EXPECT_EQ(message("strides = [\"4\"]", "strides = [\"groups\"]"),
            "'ROWS' has no value yet here, and let 'groups' uses it");
}

TEST_F(LetSection, AMisspeltLetIsSuggested) {
  const std::string text = error(std::string(kGroups) + "\ntwice = \"groups * 2\"", "ROWS <= M", "twise > groups");
  EXPECT_EQ(text.substr(text.find(' ') + 1), "unknown name 'twise'; did you mean 'twice'?");
}

TEST_F(LetSection, MustHoldExpressions) {
  const std::string text = error("groups = [1]");
  EXPECT_EQ(text.substr(text.find(' ') + 1),
            "[let]: 'groups' must be an expression (a string or an integer), not an array");
  const std::string array = error_of([&] { load(replaced("[default]", "[[let]]\na = 1\n[default]")); });
  EXPECT_EQ(array.substr(array.find(' ') + 1), "the file: 'let' must be a table, not an array");
}

TEST_F(LetSection, IsPartOfTheSpecsHash) {
  EXPECT_NE(load(with(kGroups)).hash, load(with("groups = \"cdiv(M, ROWS) + 0\"")).hash);
}

}  // namespace
}  // namespace ktune::spec
