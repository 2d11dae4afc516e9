#include <algorithm>

#include "spec/fixture_test.h"
#include "spec/sections.h"

namespace ktune::spec {
namespace {

using Load = SpecFolder;
using LoadError = SpecFolder;

TEST_F(Load, ReadsEverySectionOfASpec) {
  const model::OpSpec spec = load(kSmallSpec);
  EXPECT_EQ(spec.name, "rowop");
  EXPECT_EQ(spec.summary, "y = x * w");
  EXPECT_EQ(spec.spec_path, (folder_ / "op.toml").string());
  EXPECT_EQ(spec.source_path, (folder_ / "rowop.cu").string());
  EXPECT_EQ(spec.dims, (std::vector<std::string>{"M", "N"}));
  EXPECT_EQ(spec.key, std::vector<std::string>{"N"});
  EXPECT_EQ(spec.static_dims, std::vector<std::string>{"N"});
  EXPECT_EQ(spec.include_dirs, std::vector<std::string>{(folder_ / "inc").string()});
  EXPECT_EQ(spec.options, std::vector<std::string>{"-DX=1"});
  EXPECT_EQ(spec.hash.size(), 32U);
  ASSERT_EQ(spec.tensors.size(), 3U);
  EXPECT_EQ(spec.tensors[0].role, model::Role::kIn);
  EXPECT_EQ(spec.tensors[0].init.kind, model::InitKind::kUniform);
  EXPECT_EQ(spec.tensors[0].init.a, -1.0);
  EXPECT_EQ(spec.tensors[0].init.b, 2.0);
  EXPECT_EQ(spec.tensors[2].role, model::Role::kScratch);
  ASSERT_EQ(spec.scalars.size(), 1U);
  EXPECT_EQ(spec.scalars[0].value, 1e-6);
  ASSERT_EQ(spec.constraints.size(), 1U);
  EXPECT_EQ(spec.constraints[0].why, "more rows than there are");
  ASSERT_EQ(spec.verify.tolerances.size(), 1U);
  EXPECT_EQ(spec.verify.tolerances[0].second.rtol, 1e-3);
  EXPECT_EQ(spec.verify.tolerances[0].second.atol, 1e-4);
  EXPECT_EQ(spec.cost.scratch.text, "0");
  EXPECT_EQ(spec.cost.flops.text, "0");
}

TEST_F(Load, TypesKeepTheOrderOfTheFile) {
  const model::OpSpec spec = load(kSmallSpec);
  ASSERT_EQ(spec.types.size(), 2U);
  EXPECT_EQ(spec.types[0].name, "weight_t");
  EXPECT_EQ(spec.types[1].name, "acc_t");
}

TEST_F(Load, StridesDefaultToContiguousOnes) {
  const model::OpSpec spec = load(kSmallSpec);
  ASSERT_EQ(spec.tensors[0].strides.size(), 3U);
  EXPECT_EQ(spec.tensors[0].strides[0].text, "(N) * (2)");
  EXPECT_EQ(spec.tensors[0].strides[1].text, "(2)");
  EXPECT_EQ(spec.tensors[0].strides[2].text, "1");
  EXPECT_EQ(spec.tensors[1].strides[0].text, "4");
}

TEST_F(Load, EnumeratedNamesAreNumberedFromOneAcrossTheSpec) {
  const model::OpSpec spec = load(kSmallSpec);
  EXPECT_EQ(spec.attrs[0].values, (std::vector<model::Value>{{1, "llama"}, {2, "gemma"}}));
  EXPECT_EQ(spec.attrs[0].default_value, (model::Value{2, "gemma"}));
  EXPECT_EQ(spec.params[0].values, (std::vector<model::Value>{{3, "ldg"}, {4, "bulk"}}));
  EXPECT_EQ(spec.params[1].values, (std::vector<model::Value>{{1, ""}, {2, ""}, {4, ""}}));
  EXPECT_EQ(spec.params[1].otherwise, (model::Value{1, ""}));
  EXPECT_EQ(spec.defaults[0].second.text, "ldg");
  EXPECT_EQ(spec.defaults[1].second.text, "1");
}

TEST_F(Load, AReferenceTakesTheArgumentsOfTheFirstLaunchAnd256Threads) {
  const model::OpSpec spec = load(kSmallSpec);
  ASSERT_EQ(spec.reference.size(), 1U);
  ASSERT_EQ(spec.reference[0].args.size(), 4U);
  EXPECT_EQ(spec.reference[0].args[2].text, "M * 2");
  EXPECT_EQ(spec.reference[0].block[0].text, "256");
  EXPECT_EQ(spec.reference[0].smem.text, "0");
}

TEST_F(Load, AProblemIsEvaluatedToNumbers) {
  const model::OpSpec spec = load(kSmallSpec);
  ASSERT_EQ(spec.problems.size(), 2U);
  EXPECT_FALSE(spec.problems[0].has_types);
  EXPECT_EQ(spec.problems[0].use, (std::vector<std::string>{"sweep", "verify"}));
  const model::Problem& problem = spec.problems[1].problem;
  EXPECT_TRUE(spec.problems[1].has_types);
  EXPECT_EQ(problem.strides[0].second, (std::vector<std::int64_t>{16, 2, 1}));
  EXPECT_EQ(problem.offsets[0].second, 4);
  EXPECT_EQ(problem.inits[0].second.kind, model::InitKind::kZeroRow);
  EXPECT_EQ(problem.scalars[0].second, 0.5);
  EXPECT_EQ(problem.weight, 2.5);
  EXPECT_EQ(spec.problems[1].at.line, 86);
}

TEST_F(Load, ATypeListMakesAProblemOfEach) {
  const model::OpSpec spec = load(
      replaced("dims = { M = 64, N = 128 }", "dims = { M = 64, N = 128 }\ntypes = { weight_t = [\"bf16\", \"f32\"] }"));
  ASSERT_EQ(spec.problems.size(), 3U);
  EXPECT_EQ(spec.problems[0].problem.types[0].second, "bf16");
  EXPECT_EQ(spec.problems[1].problem.types[0].second, "f32");
}

TEST_F(Load, TheHashIsThatOfTheBytes) {
  const std::string hash = load(kSmallSpec).hash;
  EXPECT_EQ(load(kSmallSpec).hash, hash);
  EXPECT_NE(load(std::string(kSmallSpec) + "# a comment\n").hash, hash);
}

TEST_F(Load, InitsTakeTheirNumbers) {
  const auto init = [](const char* text) { return parse_init({text, {}}); };
  EXPECT_EQ(init("normal").b, 1.0);
  EXPECT_EQ(init("normal(3, 0.5)").a, 3.0);
  EXPECT_EQ(init("normal(3, 0.5)").b, 0.5);
  EXPECT_EQ(init("constant(-2.5)").a, -2.5);
  EXPECT_EQ(init("randint( 0 , 7 )").b, 7.0);
  EXPECT_EQ(init("special").kind, model::InitKind::kSpecial);
  EXPECT_EQ(error_of([&] { init("randint"); }), "init randint takes 2 numbers, not 0");
  EXPECT_EQ(error_of([&] { init("randint(5, 5)"); }), "init 'randint(5, 5)' is an empty range");
  EXPECT_EQ(error_of([&] { init("normal(1)"); }), "init normal takes 2 numbers or none, not 1");
  EXPECT_EQ(error_of([&] { init("constant(x)"); }), "'x' in init 'constant(x)' is not a number");
  EXPECT_EQ(error_of([&] { init("constant(1"); }), "init 'constant(1' lacks its ')'");
  EXPECT_EQ(error_of([&] { init("norml"); }), "unknown init 'norml'; did you mean 'normal'?");
}

// --- errors: line, column and message. Line 1 is [op].

TEST_F(LoadError, AFileThatIsNotThereOrNotToml) {
  EXPECT_NE(error_of([&] { load_op((folder_ / "none.toml").string()); }).find("none.toml"), std::string::npos);
  EXPECT_EQ(error_of([&] { load("[op\nname = 1\n"); }).substr(0, 24), "1:4 not valid TOML: Erro");
  EXPECT_EQ(error_of([&] { load("[op]\nname = \"a\"\nname = \"b\"\n"); }).substr(0, 19), "3:8 not valid TOML:");
}

TEST_F(LoadError, AnErrorCarriesTheLineAndACaret) {
  try {
    load(replaced("ROWS <= M", "ROW <= M"));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.message(), "unknown name 'ROW'; did you mean 'ROWS'?");
    EXPECT_EQ(error.where(), (folder_ / "op.toml").string() +
                                 ":55:9\n"
                                 " 55 | expr = \"ROW <= M\"\n"
                                 "    |         ^~~");
  }
}

TEST_F(LoadError, UnknownAndMissingKeys) {
  EXPECT_EQ(load_error("summary = ", "sumary = "), "[sumary] [op] has no key 'sumary'; did you mean 'summary'?");
  EXPECT_EQ(load_error("name = \"rowop\"", "nam = \"rowop\""), "[nam] [op] has no key 'nam'; did you mean 'name'?");
  EXPECT_EQ(load_error("source = \"rowop.cu\"\n", ""), "[[] [op] needs 'source'");
  EXPECT_EQ(load_error("values = [1, 2, 4]", "vales = [1, 2, 4]"),
            "[vales] [[param]] has no key 'vales'; did you mean 'values'?");
  EXPECT_EQ(load_error("[[launch]]", "[[lanch]]"), "[lanch] the file has no key 'lanch'; did you mean 'launch'?");
  EXPECT_EQ(load_error("[cost]", "[extra]\n[cost]"), "[extra] the file has no key 'extra'");
  EXPECT_EQ(load_error("atol = 1e-4", "atoll = 1e-4"),
            "[atoll] [[verify.tolerance]] has no key 'atoll'; did you mean 'atol'?");
  EXPECT_EQ(load_error("weight = 2.5", "wait = 2.5"), "[wait] [[problem]] has no key 'wait'");
}

TEST_F(LoadError, MistypedFields) {
  EXPECT_EQ(load_error("name = \"rowop\"", "name = 7"), "[7] [op]: 'name' must be a string, not an integer");
  EXPECT_EQ(load_error("dims = [\"M\", \"N\"]", "dims = [\"M\", 3]"),
            "[3] [op]: 'dims' must be a string, not an integer");
  EXPECT_EQ(load_error("values = [1, 2, 4]", "values = [1, 2.5]"),
            "[2] [[param]]: 'values' must be an integer or a name, not a number with a point");
  EXPECT_EQ(load_error("value = 1e-6", "value = \"1\""), "[1] [[scalar]]: 'value' must be a number, not a string");
  EXPECT_EQ(load_error("expr = \"ROWS <= M\"", "expr = true"),
            "[t] [[constraint]]: 'expr' must be an expression (a string or an integer), not a boolean");
  EXPECT_EQ(load_error("[cost]", "[[cost]]"), "[[] the file: 'cost' must be a table, not an array");
  EXPECT_EQ(load_error("[[launch]]", "[launch]"),
            "[[] the file: 'launch' must be an array of tables, [[launch]], not a table");
}

TEST_F(LoadError, PathsThatAreNotThere) {
  EXPECT_EQ(load_error("source = \"rowop.cu\"", "source = \"other.cu\""), "[other.cu] there is no file 'other.cu'");
  EXPECT_EQ(load_error("include = [\"inc\"]", "include = [\"nope\"]"), "[nope] there is no folder 'nope'");
}

TEST_F(LoadError, NamesUsedTwiceOrTaken) {
  EXPECT_EQ(load_error("name = \"ROWS\"", "name = \"LOADER\""),
            "[LOADER] 'LOADER' is used twice: for a parameter in line 46 and for a parameter here");
  EXPECT_EQ(load_error("name = \"eps\"", "name = \"M\""),
            "[M] 'M' is used twice: for a dim in line 5 and for a scalar here");
  EXPECT_EQ(load_error("values = [\"ldg\", \"bulk\"]", "values = [\"ldg\", \"x\"]"),
            "[x] 'x' is used twice: for a tensor in line 23 and for a value here");
  EXPECT_EQ(load_error("name = \"eps\"", "name = \"sm\""), "[sm] 'sm' cannot name a scalar: it is a built-in constant");
  EXPECT_EQ(load_error("name = \"eps\"", "name = \"min\""),
            "[min] 'min' cannot name a scalar: it is a built-in function");
  EXPECT_EQ(load_error("name = \"eps\"", "name = \"bf16\""), "[bf16] 'bf16' cannot name a scalar: it is a dtype");
  EXPECT_EQ(load_error("name = \"eps\"", "name = \"align_z\""),
            "[align_z] 'align_z' cannot name a scalar: it begins with 'align_', which is kept for built-in constants");
  EXPECT_EQ(load_error("values = [\"ldg\", \"bulk\"]", "values = [\"ldg\", \"cp.async\"]"),
            "[cp.async] 'cp.async' cannot name a value");
  EXPECT_EQ(load_error("acc_t = [\"weight_t\", \"f64\"]", "T = [\"f64\"]"), "[T] a type macro must not be named T");
}

TEST_F(LoadError, ValuesOfParametersAndAttributes) {
  EXPECT_EQ(load_error("values = [1, 2, 4]", "values = []"), "[[] [[param]]: 'values' is empty");
  EXPECT_EQ(load_error("values = [1, 2, 4]", "values = [1, 2, 1]"), "[1] the value 1 is listed twice");
  EXPECT_EQ(load_error("values = [1, 2, 4]", "values = [1, \"two\"]"),
            "[1] [[param]]: values are all integers or all names");
  EXPECT_EQ(load_error("default = \"gemma\"", "default = \"gema\""),
            "[gema] 'gema' is not a value of 'mode'; did you mean 'gemma'?");
  EXPECT_EQ(load_error("otherwise = 1\n", ""), "[ROWS] parameter 'ROWS' has 'when' without 'otherwise'");
  EXPECT_EQ(load_error("when = \"LOADER == bulk\"\n", ""), "[ROWS] parameter 'ROWS' has 'otherwise' without 'when'");
}

TEST_F(LoadError, TypesTensorsAndScalars) {
  EXPECT_EQ(load_error("weight_t = [\"f32\", \"bf16\"]", "weight_t = [\"f32\", \"bf61\"]"),
            "[bf61] unknown type 'bf61'; did you mean 'bf16'?");
  EXPECT_EQ(load_error("role = \"in\"", "role = \"input\""), "[input] unknown role 'input'");
  EXPECT_EQ(load_error("strides = [\"4\"]", "strides = [\"4\", \"1\"]"),
            "[4] tensor 'y' has 1 dimensions and 2 strides");
  EXPECT_EQ(load_error("type = \"acc_t\"", "type = \"accu_t\""),
            "[accu_t] unknown type 'accu_t'; did you mean 'acc_t'?");
  EXPECT_EQ(load_error("type = \"acc_t\"", "type = \"acc_t\"\ninit = \"ones\""),
            "[ones] tensor 'y' is out: it has no initial values");
  EXPECT_EQ(load_error("init = \"uniform(-1, 2)\"", "init = \"uniform(2, -1)\""),
            "[uniform(2, -1)] init 'uniform(2, -1)' is an empty range");
  EXPECT_EQ(load_error("role = \"out\"", "role = \"in\""), "[y] tensor 'y' is not an output");
}

TEST_F(LoadError, Expressions) {
  EXPECT_EQ(load_error("expr = \"ROWS <= M\"", "expr = \"ROWS = M\""), "[=] '=' would assign");
  EXPECT_EQ(load_error("expr = \"ROWS <= M\"", "expr = \"ROWS <= (M\""), "[\"] a ')' is missing");
  EXPECT_EQ(load_error("expr = \"ROWS <= M\"", "expr = \"\"\"ROWS <=\n  MM\"\"\""), "[\"] unknown name 'MM'");
  EXPECT_EQ(load_error("reads = \"M*N*2*sizeof_weight_t\"", "reads = \"M*ROWS\""),
            "[ROWS] 'ROWS' has no value yet here");
  EXPECT_EQ(load_error("reads = \"M*N*2*sizeof_weight_t\"", "reads = \"M*eps\""), "[eps] unknown name 'eps'");
  EXPECT_EQ(load_error("when = \"LOADER == bulk\"", "when = \"ROWS > 1\""), "[ROWS] 'ROWS' has no value yet here");
  EXPECT_EQ(load_error("shape = [\"M\"]", "shape = [\"align_x\"]"), "[align_x] 'align_x' has no value yet here");
  EXPECT_EQ(load_error("reduction = \"N\"", "reduction = \"K\""), "[K] unknown name 'K'");
  EXPECT_EQ(load_error("args = [\"x\", \"y\", \"M * 2\", \"eps\"]", "args = [\"x\", \"yy\", \"M\"]"),
            "[yy] unknown argument 'yy'");
  EXPECT_EQ(load_error("grid = [\"cdiv(M, ROWS)\"]", "grid = [\"cdiv(M, ROW)\"]"),
            "[ROW] unknown name 'ROW'; did you mean 'ROWS'?");
  EXPECT_EQ(load_error("args = [\"x\", \"y\", \"M * 2\", \"eps\"]", "args = [\"x\", \"y\", \"partial\"]"),
            "[partial] the reference takes scratch 'partial', whose size depends on parameter 'ROWS'");
  EXPECT_EQ(load_error("grid = [\"M\"]", "grid = [\"M\", \"1\", \"1\", \"1\"]"),
            "[1] [[reference.launch]]: 'grid' has at most 3 sizes");
}

TEST_F(LoadError, Defaults) {
  EXPECT_EQ(load_error("ROWS = 1", "ROWZ = 1"), "[ROWZ] [default]: there is no parameter 'ROWZ'; did you mean 'ROWS'?");
  EXPECT_EQ(load_error("ROWS = 1\n", ""), "[ROWS] [default] gives parameter 'ROWS' no value");
  EXPECT_EQ(load_error("LOADER = \"ldg\"", "LOADER = \"lgd\""), "[lgd] unknown name 'lgd'; did you mean 'ldg'?");
}

TEST_F(LoadError, Problems) {
  EXPECT_EQ(load_error("use = [\"cpu\"]", "use = [\"gpu\"]"), "[gpu] unknown use 'gpu'; did you mean 'cpu'?");
  EXPECT_EQ(load_error("dims = { M = 8, N = 4 }", "dims = { M = 8 }"), "[{] the problem gives dim 'N' no size");
  EXPECT_EQ(load_error("dims = { M = 8, N = 4 }", "dims = { M = 8, N = 4, K = 1 }"), "[K] rowop has no dim 'K'");
  EXPECT_EQ(load_error("dims = { M = 8, N = 4 }", "dims = { M = 0, N = 4 }"), "[M] M = 0: a size is at least 1");
  EXPECT_EQ(load_error("dims = { M = 8, N = 4 }", "dims = { M = 8, N = 2147483648 }"),
            "[N] N = 2147483648: a size is at most 2^31 - 1");
  EXPECT_EQ(load_error("weight_t = \"bf16\"", "weight_t = \"f16\""),
            "[f16] rowop does not offer 'f16' for weight_t; did you mean 'bf16'?");
  EXPECT_EQ(load_error("weight_t = \"bf16\"", "waight_t = \"bf16\""),
            "[waight_t] rowop has no type 'waight_t'; did you mean 'weight_t'?");
  EXPECT_EQ(load_error("attrs = { mode = \"llama\" }", "attrs = { mode = \"lama\" }"),
            "[lama] 'lama' is not a value of attribute 'mode'; did you mean 'llama'?");
  EXPECT_EQ(load_error("[\"2 * N + 8\", 2, 1]", "[\"2 * N + 8\", 1]"),
            "[x] tensor 'x' has 3 dimensions, not 2 strides");
  EXPECT_EQ(load_error("offsets = { x = \"N\" }", "offsets = { xx = \"N\" }"), "[xx] rowop has no tensor 'xx'");
  EXPECT_EQ(load_error("offsets = { x = \"N\" }", "offsets = { x = \"N - 9\" }"),
            "[x] tensor 'x': an offset of -5 is negative");
  EXPECT_EQ(load_error("init = { x = \"zero_row\" }", "init = { y = \"zero_row\" }"),
            "[y] tensor 'y' is an output: it has no initial values");
  EXPECT_EQ(load_error("scalars = { eps = 0.5 }", "scalars = { ep = 0.5 }"),
            "[ep] rowop has no scalar 'ep'; did you mean 'eps'?");
  EXPECT_EQ(load_error("weight = 2.5", "weight = 0"), "[[] a problem's weight is above 0");
}

}  // namespace
}  // namespace ktune::spec
