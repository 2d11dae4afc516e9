#include "trial/verb_server.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

#include <filesystem>
#include <random>

#include "base/files.h"
#include "device/fake/fake_device.h"
#include "trial/test_plans.h"

namespace ktune::trial {
namespace {

class VerbServerTest : public testing::Test {
 protected:
  void open(const std::string& script) {
    const auto path = std::filesystem::path(testing::TempDir()) / ("server_test." + std::to_string(getpid()) + ".json");
    write_file(path, script);
    server_ = std::make_unique<VerbServer>(device::open_fake_device(path.string()));
    std::filesystem::remove(path);
  }
  Json ask(const Json& request) { return Json::parse(server_->handle(request.dump())); }
  Json problem() {
    return ask({{"id", 1}, {"verb", "problem"}, {"plan", vector_problem("op", 1024)}, {"binary", binary_}});
  }
  Json load(int id, const std::string& variant) {
    return ask({{"verb", "load"}, {"variant", id}, {"plan", vector_variant("op", variant, 1024)}, {"binary", binary_}});
  }
  Json verify(int id) { return ask({{"verb", "verify"}, {"variant", id}}); }
  Json measure(int id, int samples = 3) {
    measure::Request request;
    request.samples = samples;
    return ask({{"verb", "measure"}, {"variant", id}, {"request", request}});
  }

  model::KernelBinary binary_;
  std::unique_ptr<VerbServer> server_;
};

TEST_F(VerbServerTest, RunsATrialVerbByVerb) {
  open(R"({"default": {"times_us": [3, 4, 5]}})");
  EXPECT_EQ(ask({{"id", 9}, {"verb", "facts"}}).at("facts").at("kind"), "fake");
  const Json set = problem();
  EXPECT_EQ(set.at("id"), 1);
  EXPECT_EQ(set.at("ok"), true) << set;
  EXPECT_EQ(load(7, "A=1").at("ok"), true);
  const Json verified = verify(7);
  EXPECT_EQ(verified.at("report").at("ok"), true);
  EXPECT_EQ(verified.at("report").at("margin"), 0.25);
  const Json measured = measure(7);
  EXPECT_EQ(measured.at("report").at("time_us"), (std::vector<double>{3, 4, 5}));
  EXPECT_EQ(measured.at("report").at("timer"), "script");
  EXPECT_EQ(ask({{"verb", "unload"}, {"variant", 7}}).at("ok"), true);
  EXPECT_TRUE(verify(7).contains("error"));
  EXPECT_FALSE(server_->ended());
}

TEST_F(VerbServerTest, SaysWhetherATimerIsThereBeforeAnythingIsLoaded) {
  open("{}");
  EXPECT_EQ(ask({{"verb", "timer"}, {"timer", "script"}}).at("ok"), true);
  EXPECT_EQ(ask({{"verb", "timer"}, {"timer", "auto"}}).at("ok"), true);
  EXPECT_EQ(ask({{"verb", "timer"}, {"timer", "events"}}).at("failure").at("reason"),
            "this device has no timer 'events'");
}

TEST_F(VerbServerTest, RefusesToMeasureWhatWasNotVerified) {
  open(R"({"trials": [{"match": {"variant": "A=2"}, "outcome": "WrongResult", "fault": "unwritten"}]})");
  problem();
  load(1, "A=1");
  EXPECT_EQ(measure(1).at("error").at("message"), "the worker: a variant must be verified before it is measured");
  load(2, "A=2");
  EXPECT_EQ(verify(2).at("report").at("reason"), "out: 512 of 1024 elements never written, first at [0]");
  EXPECT_TRUE(measure(2).contains("error"));
  verify(1);
  load(1, "A=1");
  EXPECT_TRUE(measure(1).contains("error")) << "loading again asks for verifying again";
}

TEST_F(VerbServerTest, FindsAVariantThatIsWrongOnlyWhileTimed) {
  open(R"({"trials": [{"outcome": "WrongResult", "at": "time", "fault": "overrun"}]})");
  problem();
  load(1, "A=1");
  EXPECT_EQ(verify(1).at("report").at("ok"), true);
  const Json reply = measure(1);
  EXPECT_EQ(reply.at("failure").at("outcome"), "WrongResult");
  EXPECT_TRUE(reply.at("failure").at("reason").get<std::string>().starts_with("after timing: wrote outside ")) << reply;
  EXPECT_TRUE(measure(1).contains("error")) << "no longer verified";
}

TEST_F(VerbServerTest, SaysByeWhenTheDeviceIsNoLongerFit) {
  open(R"({"trials": [{"match": {"variant": "A=1"}, "outcome": "Sticky"}]})");
  problem();
  load(1, "A=1");
  const Json reply = verify(1);
  EXPECT_EQ(reply.at("failure").at("outcome"), "Crashed");
  EXPECT_EQ(reply.at("bye"), true);
  EXPECT_TRUE(server_->ended());
}

TEST_F(VerbServerTest, ForgetsVariantsWithTheirProblem) {
  open("{}");
  problem();
  load(1, "A=1");
  problem();
  EXPECT_TRUE(verify(1).contains("error"));
}

TEST_F(VerbServerTest, AnswersNonsenseWithAnErrorAndGoesOn) {
  open("{}");
  for (const std::string line :
       {"", "{", "null", "[]", "7", "{}", R"({"verb": 3})", R"({"verb": "dance"})", R"({"verb": "load", "variant": 1})",
        R"({"verb": "problem", "plan": [], "binary": {}})", R"({"verb": "verify"})", "\xff\xfe",
        R"({"verb": "measure", "variant": "x", "request": null})"}) {
    const Json reply = Json::parse(server_->handle(line));
    EXPECT_TRUE(reply.contains("error")) << line;
    EXPECT_FALSE(reply.contains("bye")) << line;
  }
  EXPECT_EQ(problem().at("ok"), true);
}

TEST_F(VerbServerTest, SurvivesMutatedRequests) {
  open("{}");
  const std::vector<std::string> seeds{
      Json{{"id", 1}, {"verb", "problem"}, {"plan", vector_problem("op", 64)}, {"binary", binary_}}.dump(),
      Json{{"verb", "load"}, {"variant", 1}, {"plan", vector_variant("op", "A=1", 64)}, {"binary", binary_}}.dump(),
      Json{{"verb", "verify"}, {"variant", 1}}.dump(),
      Json{{"verb", "measure"}, {"variant", 1}, {"request", measure::Request{}}}.dump(),
      Json{{"verb", "unload"}, {"variant", 1}}.dump(),
  };
  std::mt19937 random(1);
  const std::string alphabet = "{}[]\",:0123456789-e.truefalsn\\x";
  int understood = 0;
  for (int round = 0; round < 4000; ++round) {
    std::string line = seeds[random() % seeds.size()];
    const auto edits = random() % 3;
    for (unsigned i = 0; i < edits; ++i) line[random() % line.size()] = alphabet[random() % alphabet.size()];
    const Json reply = Json::parse(server_->handle(line));
    EXPECT_TRUE(reply.contains("error") || reply.contains("failure") || reply.value("ok", false)) << line;
    understood += reply.value("ok", false) ? 1 : 0;
  }
  EXPECT_GT(understood, 500) << "most of the mutants must reach the verbs";
}

}  // namespace
}  // namespace ktune::trial
