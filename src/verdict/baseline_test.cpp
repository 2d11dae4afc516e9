#include "verdict/baseline.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "base/environment_for_test.h"
#include "base/error.h"
#include "base/files.h"
#include "base/hash.h"
#include "model/json.h"
#include "verdict/baselines_for_test.h"

namespace ktune::verdict {
namespace {

/// "usage: message", or "" when nothing was thrown.
std::string refusal(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    return (error.kind() == ErrorKind::kUsage ? "usage: " : "other: ") + error.message();
  }
  return {};
}

std::string refusal_of(const std::string& text) {
  return refusal([&] { parse_baseline(text, "b.json"); });
}

/// The text of a baseline with a JSON field changed, and a checksum that fits it: what a tool would write.
std::string forged(const std::function<void(model::Json&)>& change) {
  model::Json json = model::Json::parse(baseline_text(baseline_for_test()));
  json.erase("checksum");
  change(json);
  json["checksum"] = "xxh3-128:" + hash_hex([&] {
                       model::Json content = json;
                       content.erase("checksum");
                       return content.dump();
                     }());
  return json.dump();
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(Baseline, ReadsBackWhatItWrote) {
  Baseline written = baseline_for_test();
  written.kernels[0].root = SpecRoot::kRepository;
  written.kernels[0].spec = "configs/ops/scale.toml";
  written.kernels[1].root = SpecRoot::kFolder;
  const std::string text = baseline_text(written);
  const Baseline read = parse_baseline(text, "b.json");
  EXPECT_EQ(differs(written.key, read.key), std::nullopt);
  ASSERT_EQ(read.kernels.size(), 2U);
  EXPECT_EQ(read.kernels[0].name(), "scale N=1000 f32 [num_warps=4]");
  EXPECT_EQ(read.kernels[0].source, "kernels/scale.cu");
  EXPECT_EQ(read.kernels[0].root, SpecRoot::kRepository);
  EXPECT_EQ(read.kernels[0].spec, "configs/ops/scale.toml");
  EXPECT_EQ(read.kernels[1].root, SpecRoot::kFolder);
  EXPECT_EQ(read.kernels[0].timer, "events");
  EXPECT_EQ(read.kernels[0].control.problem.text(), "N=262144 f32");
  EXPECT_EQ(read.kernels[0].control.variant, "num_warps=8");
  EXPECT_EQ(read.kernels[0].control.code_hash, "c0");
  ASSERT_EQ(read.kernels[1].history.size(), 2U);
  EXPECT_DOUBLE_EQ(read.kernels[1].history[1].ratio, 1.01);
  EXPECT_DOUBLE_EQ(read.kernels[0].history[0].control_us, 16.0);
  EXPECT_EQ(read.kernels[0].history[0].processes, 9);
  EXPECT_EQ(baseline_text(read), text);
}

TEST(Baseline, IsKnownByTheChecksumOfItsFile) {
  Baseline baseline = baseline_for_test();
  const std::string checksum = checksum_of(baseline);
  EXPECT_TRUE(contains(baseline_text(baseline), "\"checksum\": \"" + checksum + "\""));
  EXPECT_EQ(checksum_of(parse_baseline(baseline_text(baseline), "b.json")), checksum);
  baseline.kernels[0].history[0].ratio = 1.26;
  EXPECT_NE(checksum_of(baseline), checksum);
}

TEST(Baseline, IsTextWithAnEntryALine) {
  const std::string text = baseline_text(baseline_for_test());
  EXPECT_TRUE(contains(text, "{\n \"schema\": \"ktune.baseline/1\",\n \"checksum\": \"xxh3-128:"));
  EXPECT_TRUE(contains(text, "\n  \"driver\": \"580.159.04\",\n"));
  EXPECT_TRUE(
      contains(text, "\n   \"history\": [\n    {\"date\":\"2026-11-29T14:03:05Z\",\"commit\":\"abc\",\"ratio\":1.0,"));
}

TEST(Baseline, TheCommittedOneIsReadAndWrittenAsItStands) {
  const std::string text = read_file(resource_root() / "results" / "h200" / "baseline.json");
  EXPECT_EQ(baseline_text(parse_baseline(text, "baseline.json")), text);
}

TEST(Baseline, RoundsFiguresToSevenDigits) {
  Baseline baseline = baseline_for_test();
  baseline.kernels[0].history[0].ratio = 1.23456789;
  const Baseline read = parse_baseline(baseline_text(baseline), "b.json");
  EXPECT_DOUBLE_EQ(read.kernels[0].history[0].ratio, 1.234568);
}

TEST(Baseline, NamesTheFieldOfTheKeyThatDiffers) {
  const BaselineKey stored = key_for_test();
  EXPECT_EQ(differs(stored, stored), std::nullopt);
  const auto with = [&](const std::function<void(BaselineKey&)>& change) {
    BaselineKey here = stored;
    change(here);
    return differs(stored, here).value_or("nothing");
  };
  EXPECT_EQ(with([](auto& key) { key.device = "B"; }), "device: Fake H200 in the baseline, B here");
  EXPECT_EQ(with([](auto& key) { key.sm_count = 114; }), "SM count: 132 in the baseline, 114 here");
  EXPECT_EQ(with([](auto& key) { key.l2_bytes = 1; }), "L2 bytes: 62914560 in the baseline, 1 here");
  EXPECT_EQ(with([](auto& key) { key.bus_bits = 5120; }), "memory bus: 6016 bit in the baseline, 5120 bit here");
  EXPECT_EQ(with([](auto& key) { key.ecc = 0; }), "ECC: on in the baseline, off here");
  EXPECT_EQ(with([](auto& key) { key.mig = -1; }), "MIG: off in the baseline, unknown here");
  EXPECT_EQ(with([](auto& key) { key.power_limit_w = 500; }), "power limit: 700 W in the baseline, 500 W here");
  EXPECT_EQ(with([](auto& key) { key.driver = "590.1"; }), "driver: 580.159.04 in the baseline, 590.1 here");
  EXPECT_EQ(with([](auto& key) { key.toolkit = ""; }), "toolkit: NVRTC 13.0 in the baseline, (none) here");
  EXPECT_EQ(with([](auto& key) { key.cache_state = "warm"; }), "cache state: cold in the baseline, warm here");
  EXPECT_EQ(with([](auto& key) { key.protocol = 3; }), "measurement protocol: 2 in the baseline, 3 here");
}

TEST(Baseline, TakesItsKeyFromADevice) {
  model::DeviceFacts facts;
  facts.name = "Fake H200";
  facts.sm_count = 132;
  facts.l2_bytes = 62914560;
  facts.bus_bits = 6016;
  facts.ecc = 1;
  facts.mig = 0;
  facts.power_limit_w = 700.2;
  facts.driver = "580.159.04";
  facts.toolkit = "NVRTC 13.0";
  EXPECT_EQ(differs(key_for_test(), key_of(facts, "cold", 2)), std::nullopt);
  EXPECT_EQ(differs(key_for_test(), key_of(facts, "dirty", 2)), "cache state: cold in the baseline, dirty here");
}

TEST(Baseline, IsRefusedWhenItWasCutAnywhere) {
  const std::string text = baseline_text(baseline_for_test());
  for (std::size_t size = 0; size + 2 < text.size(); size += 7)
    EXPECT_TRUE(contains(refusal_of(text.substr(0, size)), "usage: b.json: it is not a whole JSON file")) << size;
}

TEST(Baseline, IsRefusedWhenAFigureWasEdited) {
  std::string text = baseline_text(baseline_for_test());
  text.replace(text.find("\"ratio\":1.25"), 12, "\"ratio\":1.35");
  EXPECT_EQ(refusal_of(text), "usage: b.json: its checksum does not match its content: it was edited");
}

TEST(Baseline, DoesNotMindOtherWhiteSpace) {
  const std::string text = model::Json::parse(baseline_text(baseline_for_test())).dump(4);
  EXPECT_EQ(refusal_of(text), "");
}

TEST(Baseline, IsRefusedWithoutAChecksumAndOfAnotherSchema) {
  model::Json json = model::Json::parse(baseline_text(baseline_for_test()));
  json.erase("checksum");
  EXPECT_TRUE(contains(refusal_of(json.dump()), "its checksum does not match"));
  EXPECT_TRUE(contains(refusal_of(R"({"schema": "ktune.baseline/2"})"), "its schema is ktune.baseline/2"));
  EXPECT_TRUE(contains(refusal_of(R"({"schema": "ktune.report/1"})"), "it is not a baseline"));
  EXPECT_TRUE(contains(refusal_of("[1]"), "it is not a baseline"));
  EXPECT_TRUE(contains(refusal_of(R"({"schema": 7})"), "usage: b.json: a field is missing or of the wrong kind"));
}

TEST(Baseline, RefusesFiguresThatAreNone) {
  const auto with = [](const char* field, const model::Json& value) {
    return refusal_of(forged([&](model::Json& json) { json["kernels"][0]["history"][0][field] = value; }));
  };
  EXPECT_EQ(
      with("ratio", nullptr),
      "usage: b.json: scale N=1000 f32 [num_warps=4]: ratio of 2026-11-29T14:03:05Z is nan, not a positive number");
  EXPECT_TRUE(contains(with("ratio", -1.0), "ratio of 2026-11-29T14:03:05Z is -1"));
  EXPECT_TRUE(contains(with("kernel_us", 0.0), "kernel_us of 2026-11-29T14:03:05Z is 0"));
  EXPECT_TRUE(contains(with("control_us", "inf"), "control_us of 2026-11-29T14:03:05Z is inf"));
  EXPECT_TRUE(contains(with("process_sd_pct", nullptr), "process_sd_pct of 2026-11-29T14:03:05Z is nan"));
  EXPECT_TRUE(contains(with("processes", 0), "0 processes on 2026-11-29T14:03:05Z"));
  EXPECT_TRUE(contains(with("ratio", "fast"), "a field is missing or of the wrong kind"));
  EXPECT_EQ(with("ratio", 1.5), "");  // the forgery itself is no error
}

TEST(Baseline, RefusesContentThatComparesNothing) {
  const auto with = [](const std::function<void(model::Json&)>& change) { return refusal_of(forged(change)); };
  EXPECT_EQ(with([](auto& json) { json["kernels"] = model::Json::array(); }), "usage: b.json: it has no kernels");
  EXPECT_EQ(with([](auto& json) { json["kernels"][1] = json["kernels"][0]; }),
            "usage: b.json: scale N=1000 f32 [num_warps=4] is in it twice");
  EXPECT_EQ(with([](auto& json) { json["kernels"][0]["history"] = model::Json::array(); }),
            "usage: b.json: scale N=1000 f32 [num_warps=4] has no history");
  EXPECT_TRUE(contains(with([](auto& json) { json["kernels"][0]["timer"] = ""; }), "op, timer or control is missing"));
  EXPECT_TRUE(contains(with([](auto& json) { json["kernels"][0].erase("control"); }), "a field is missing"));
  EXPECT_TRUE(contains(with([](auto& json) { json.erase("key"); }), "a field is missing"));
  EXPECT_EQ(with([](auto& json) { json["kernels"][0]["root"] = "tree"; }),
            "usage: b.json: unknown root 'tree' of a spec");
}

}  // namespace
}  // namespace ktune::verdict
