#include "gate/stored_gate.h"

#include <gtest/gtest.h>

#include "gate/baseline_file.h"
#include "gate/controlled_kernels.h"
#include "gate/scripted_for_test.h"
#include "measure/measure.h"
#include "sweep/variant_choice.h"
#include "verdict/baselines_for_test.h"

namespace ktune::gate {
namespace {

using verdict::Verdict;

constexpr int kProcesses = 9;  // a round
constexpr const char* kControl = "copy:262144";
constexpr const char* kAll = "time scale:1000 copy:262144 scale:2000";

/// A baseline of two kernels of one op, which share their control.
class StoredGateRun : public ScriptedGate {
 protected:
  StoredGateRun() {
    write_spec("scale");
    baseline_.key = verdict::key_of(facts_, "cold", measure::kMeasurementProtocol);
    for (const char* shape : {"1000", "2000"}) {
      verdict::BaselineKernel kernel = verdict::kernel_for_test("scale", 1, {2.0, 2.0});
      kernel.problem = problem_of(spec::load_op("scale.toml"), shape);
      kernel.root = verdict::SpecRoot::kFolder;
      kernel.spec = "scale.toml";
      kernel.control.problem = problem_of(spec::load_shipped_op("copy"), "262144");
      kernel.control.variant = default_of(spec::load_shipped_op("copy"), kernel.control.problem);
      kernel.control.code_hash.clear();
      baseline_.kernels.push_back(kernel);
    }
    save_baseline(baseline_, "base.json");
    options_.baseline = "base.json";
    options_.processes = kProcesses;
    options_.open_processes = open_script();
  }

  static model::Problem problem_of(const model::OpSpec& spec, const std::string& shape) {
    spec::ProblemRequest request;
    request.shapes = {shape};
    if (spec.name == "copy") request.dtypes = {"f32"};
    return spec::select_problems(spec, request).front();
  }

  std::string default_of(const model::OpSpec& spec, const model::Problem& problem) const {
    const auto shared = std::make_shared<const model::OpSpec>(spec);
    return sweep::prepare_unswept({shared, shared, {}}, problem, facts_, 1)->default_variant.text();
  }

  /// Of scale N=1000, in percent of its level: one shift a round. The control takes 10 µs.
  void shift(double first_pct, double second_pct) {
    script_.time_us = [=](const std::string& kernel, int process) {
      if (kernel == kControl) return 10.0;
      const double pct = process < kProcesses ? first_pct : second_pct;
      return 20.0 * wobble(process, 0.1) * (kernel == "scale:1000" ? 1.0 + pct / 100.0 : 1.0);
    };
  }

  verdict::Result run() {
    std::optional<Error> unkept;
    verdict::Result result = run_stored_gate(options_, facts_, unkept);
    EXPECT_FALSE(unkept.has_value());
    return result;
  }

  /// How long the histories in the file are.
  static std::vector<std::size_t> histories() {
    std::vector<std::size_t> sizes;
    for (const verdict::BaselineKernel& kernel : load_baseline("base.json").kernels)
      sizes.push_back(kernel.history.size());
    return sizes;
  }

  verdict::Baseline baseline_;
  StoredGateOptions options_;
};

using Sizes = std::vector<std::size_t>;

TEST_F(StoredGateRun, TimesEveryKernelBesideTheControlThatTheyShare) {
  shift(0.0, 0.0);
  const verdict::Result result = run();
  EXPECT_EQ(result.verdict, Verdict::kPass);
  EXPECT_EQ(script_.asked[0], "timer events");
  EXPECT_EQ(script_.asked[1], "compile scale:1000 scale:2000 copy:262144");
  EXPECT_EQ(script_.count(kAll), kProcesses);
  EXPECT_EQ(script_.processes, kProcesses) << "nothing is open: no second round";
  EXPECT_EQ(script_.cache_state, "cold");
  EXPECT_EQ(script_.opened, 1);
  EXPECT_EQ(histories(), (Sizes{2, 2})) << "without --update the file stays as it is";
}

TEST_F(StoredGateRun, AppendsAPassingRunWhereItIsAsked) {
  shift(0.0, 0.0);
  options_.update = true;
  run();
  EXPECT_EQ(histories(), (Sizes{3, 3}));
}

TEST_F(StoredGateRun, CallsWhatIsBeyondItsLimitInBothRounds) {
  shift(10.0, 10.0);
  options_.update = true;
  const verdict::Result result = run();
  EXPECT_EQ(result.verdict, Verdict::kRegressed);
  EXPECT_EQ(result.rows[0].verdict, Verdict::kRegressed);
  EXPECT_EQ(result.rows[1].verdict, Verdict::kPass);
  EXPECT_EQ(script_.count("time scale:1000 copy:262144"), kProcesses) << "only the suspect is timed once more";
  EXPECT_EQ(histories(), (Sizes{2, 2})) << "a failing run does not enter the history";
}

TEST_F(StoredGateRun, DoesNotCallWhatFreshProcessesDoNotConfirm) {
  shift(10.0, 0.0);
  EXPECT_EQ(run().rows[0].verdict, Verdict::kInconclusive);
  EXPECT_EQ(script_.processes, 2 * kProcesses);
}

TEST_F(StoredGateRun, StartsANewHistoryForWhatImproved) {
  shift(-10.0, -10.0);
  options_.update = true;
  EXPECT_EQ(run().rows[0].verdict, Verdict::kImproved);
  EXPECT_EQ(histories(), (Sizes{1, 3}));
}

TEST_F(StoredGateRun, HasNoDataWhereTheControlDoesNotCompile) {
  script_.compile_fails[kControl] = {model::Outcome::kCompileFailed, "no cuda.h", ""};
  const verdict::Result result = run();
  EXPECT_EQ(result.verdict, Verdict::kNoData);
  EXPECT_EQ(result.rows[0].verdict, Verdict::kNoData);
  EXPECT_EQ(result.rows[0].reason, "Rejected: its control copy N=262144 f32: CompileFailed: no cuda.h");
  EXPECT_EQ(script_.processes, 0);
}

TEST_F(StoredGateRun, HasNoDataWhereTheControlDies) {
  script_.dies_in[kControl] = 2;
  const verdict::Result result = run();
  EXPECT_EQ(result.rows[1].verdict, Verdict::kNoData);
  EXPECT_EQ(result.rows[1].reason, "Rejected: its control copy N=262144 f32: Crashed: illegal address");
  EXPECT_EQ(script_.processes, 3) << "nothing is left to time";
}

TEST_F(StoredGateRun, FindsAKernelWrongThatDiesAndGoesOnWithTheOthers) {
  shift(0.0, 0.0);
  script_.dies_in["scale:1000"] = 2;
  const verdict::Result result = run();
  EXPECT_EQ(result.rows[0].verdict, Verdict::kWrong);
  EXPECT_EQ(result.rows[1].verdict, Verdict::kPass);
  EXPECT_EQ(script_.count("time scale:2000 copy:262144"), kProcesses - 3);
}

TEST_F(StoredGateRun, DecidesNothingByThrottledFigures) {
  shift(0.0, 0.0);
  script_.throttled = {"scale:1000"};
  EXPECT_EQ(run().rows[0].verdict, Verdict::kInconclusive);
}

TEST_F(StoredGateRun, TimesNothingOnAnotherMachine) {
  facts_.driver = "999";
  const verdict::Result result = run();
  EXPECT_EQ(result.verdict, Verdict::kNoData);
  EXPECT_TRUE(result.rows.empty());
  EXPECT_EQ(script_.opened, 0);
}

TEST_F(StoredGateRun, TimesOnlyWhatIsSelected) {
  shift(0.0, 0.0);
  options_.selection.shapes = {"2000"};
  EXPECT_EQ(run().rows.size(), 1U);
  EXPECT_EQ(script_.count("time scale:2000 copy:262144"), kProcesses);
}

TEST_F(StoredGateRun, DecidesTimersWhereNoneIsGiven) {
  const auto shared = std::make_shared<const model::OpSpec>(spec::load_op("scale.toml"));
  const auto prepared = sweep::prepare_unswept({shared, shared, {}}, problem_of(*shared, "1000"), facts_, 1);
  ControlledItem decided, given;
  decided.kernel = decided.control = {prepared, prepared->default_variant};
  given = decided;
  given.timer = model::Timer::kCupti;
  ScriptedProcesses processes(script_);
  const ControlledKernels timed({decided, given}, processes, {});
  EXPECT_EQ(script_.count("decide scale:1000"), 1);
  EXPECT_EQ(timed.timer(0), model::Timer::kEvents);
  EXPECT_EQ(timed.timer(1), model::Timer::kCupti);
}

}  // namespace
}  // namespace ktune::gate
