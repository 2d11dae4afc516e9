#include "sweep/variant_choice.h"

#include <gtest/gtest.h>

#include <memory>

#include "spec/fixture_test.h"
#include "store/fixture.h"

namespace ktune::sweep {
namespace {

using Kind = VariantChoice::Kind;
using Origin = ChosenVariant::Origin;

/// What the constraint says of four rows, cut before the values that it was given.
constexpr const char* kRejected =
    "LOADER=bulk,ROWS=4 is not in the space of rowop M=2 N=4 f32 mode=gemma: more rows than there are";

class Choice : public spec::SpecFolder {
 protected:
  void SetUp() override {
    SpecFolder::SetUp();
    const auto spec = std::make_shared<const model::OpSpec>(load(spec::kSmallSpec));
    model::DeviceFacts facts;
    facts.sm = 90;
    spec::ProblemRequest request;
    request.shapes = {"2x4"};
    problem_ = spec::select_problems(*spec, request).front();
    prepared_ = *prepare_unswept({spec, spec, {}}, problem_, facts, 1);
  }

  model::ProblemRecord winner(const std::string& values) const {
    model::ProblemRecord record;
    record.op = "rowop";
    record.problem = problem_;
    record.winner = spec::parse_variant(*prepared_.full, values, prepared_.default_variant);
    return record;
  }

  model::Problem problem_;
  PreparedProblem prepared_;
};

TEST_F(Choice, ReadsTheFourWaysToNameAVariant) {
  EXPECT_EQ(parse_variant_choice("default"), VariantChoice{});
  EXPECT_THROW(parse_variant_choice(""), Error) << "a variable that a script did not set";
  EXPECT_EQ(parse_variant_choice("winner"), (VariantChoice{Kind::kWinner}));
  EXPECT_EQ(parse_variant_choice(" winner "), (VariantChoice{Kind::kWinner}));
  EXPECT_EQ(parse_variant_choice("winner:12"), (VariantChoice{Kind::kWinner, 12}));
  EXPECT_EQ(parse_variant_choice("ROWS=2,LOADER=bulk"), (VariantChoice{Kind::kNamed, 0, "ROWS=2,LOADER=bulk"}));
  EXPECT_EQ(parse_variant_choice("num_warps=2"), (VariantChoice{Kind::kNamed, 0, "num_warps=2"}));
}

TEST_F(Choice, ReadsNothingElse) {
  for (const char* text : {"main", "HEAD~1", "a/b=c", "=2", "winners"}) EXPECT_FALSE(read_variant_choice(text)) << text;
  EXPECT_EQ(error_of([] { parse_variant_choice("winer"); }), "'winer' names no variant; did you mean 'winner'?");
  EXPECT_EQ(error_of([] { parse_variant_choice("winner:x"); }), "the session of winner:x: 'x' is not a whole number");
  for (const std::string text : {"winner:0", "winner:-5"})
    EXPECT_EQ(error_of([&] { parse_variant_choice(text); }), text + ": sessions are numbered from 1");
}

TEST_F(Choice, ByNameTakesTheRestFromTheDefault) {
  const ChosenVariant chosen = choose_variant(parse_variant_choice("LOADER=bulk"), prepared_, {});
  EXPECT_EQ(chosen.variant.text(), "LOADER=bulk,ROWS=1");
  EXPECT_EQ(chosen.origin, Origin::kAsked);
  EXPECT_EQ(choose_variant({}, prepared_, {}).variant, prepared_.default_variant);
}

TEST_F(Choice, ByNameSaysWhyTheSpaceDoesNotHaveIt) {
  const std::string why = error_of([&] { named_variant(prepared_, "LOADER=bulk,ROWS=4"); });
  EXPECT_TRUE(why.starts_with(kRejected)) << why;
  EXPECT_EQ(error_of([&] { named_variant(prepared_, "ROWZ=1"); }),
            "rowop has no parameter 'ROWZ'; did you mean 'ROWS'?");
}

TEST_F(Choice, OfAWinnerIsTheStoredOne) {
  const std::vector<model::ProblemRecord> winners{winner("LOADER=bulk,ROWS=2")};
  const ChosenVariant chosen = choose_variant({Kind::kWinner}, prepared_, winners);
  EXPECT_EQ(chosen.variant.text(), "LOADER=bulk,ROWS=2");
  EXPECT_EQ(chosen.origin, Origin::kAsked);
  StandIns stand_ins;
  stand_ins.add(prepared_, chosen);
  EXPECT_TRUE(stand_ins.notes().empty());
}

TEST_F(Choice, TheDefaultStandsInWhereNoWinnerIsStored) {
  std::vector<model::ProblemRecord> winners(2, winner("LOADER=bulk,ROWS=2"));
  winners[0].op = "other";
  winners[1].problem.dims[0].second = 99;
  const ChosenVariant chosen = choose_variant({Kind::kWinner}, prepared_, winners);
  EXPECT_EQ(chosen.variant, prepared_.default_variant);
  EXPECT_EQ(chosen.origin, Origin::kNoWinner);
  StandIns stand_ins;
  stand_ins.add(prepared_, chosen);
  stand_ins.add(prepared_, chosen);  // both sides of a gate: one problem
  EXPECT_EQ(stand_ins.notes(),
            std::vector<std::string>{"no winner is stored for rowop M=2 N=4 f32 mode=gemma: the default stands in"});
}

TEST_F(Choice, TheDefaultStandsInForAWinnerThatIsGone) {
  const std::vector<model::ProblemRecord> winners{winner("LOADER=bulk,ROWS=4")};
  const ChosenVariant chosen = choose_variant({Kind::kWinner}, prepared_, winners);
  EXPECT_EQ(chosen.variant, prepared_.default_variant);
  EXPECT_EQ(chosen.origin, Origin::kWinnerGone);
  StandIns stand_ins;
  stand_ins.add(prepared_, chosen);
  ASSERT_EQ(stand_ins.notes().size(), 1U);
  const std::string start = "the winner of rowop M=2 N=4 f32 mode=gemma is gone, the default stands in: ";
  EXPECT_TRUE(stand_ins.notes()[0].starts_with(start + kRejected)) << stand_ins.notes()[0];
}

TEST_F(Choice, CountsTheProblemsThatWouldMakeALineTooLong) {
  StandIns stand_ins;
  for (int i = 1; i <= 10; ++i) {
    prepared_.problem.dims[0].second = i;
    stand_ins.add(prepared_, {prepared_.default_variant, Origin::kNoWinner});
  }
  EXPECT_TRUE(stand_ins.notes().at(0).ends_with("rowop M=8 N=4 f32 mode=gemma and 2 more: the default stands in"))
      << stand_ins.notes()[0];
}

TEST_F(Choice, SaysFirstWhereNoWinnerIsStoredThenWhoseIsGone) {
  StandIns stand_ins;
  stand_ins.add(prepared_, {prepared_.default_variant, Origin::kWinnerGone, "no such value"});
  stand_ins.add(prepared_, {prepared_.default_variant, Origin::kNoWinner});
  ASSERT_EQ(stand_ins.notes().size(), 2U);
  EXPECT_TRUE(stand_ins.notes()[0].starts_with("no winner is stored for ")) << stand_ins.notes()[0];
  EXPECT_TRUE(stand_ins.notes()[1].ends_with(" is gone, the default stands in: no such value")) << stand_ins.notes()[1];
}

TEST_F(Choice, OfAWinnerComesFromTheDatabase) {
  const std::string path = (folder_ / "a.db").string();
  std::vector<std::int64_t> sessions;
  {
    store::Store store(path, store::Store::Mode::kWrite);
    for (const char* values : {"ROWS=1", "ROWS=2"}) {
      model::ProblemRecord record = winner(values);
      record.session = store.add_session(store::session_of("2026-11-2" + std::to_string(sessions.size()), "Fake H200"));
      record.id = store.add_problem(record);
      store.update_problem(record);
      sessions.push_back(record.session);
    }
  }
  const auto winners = [&](const VariantChoice& choice, const char* device) {
    std::vector<std::string> texts;
    for (const model::ProblemRecord& record : winners_of(choice, path, device)) texts.push_back(record.winner.text());
    return texts;
  };
  EXPECT_EQ(winners({Kind::kWinner}, "Fake H200"), std::vector<std::string>{winner("ROWS=2").winner.text()});
  EXPECT_EQ(winners({Kind::kWinner, sessions[0]}, "Fake H200"),
            std::vector<std::string>{winner("ROWS=1").winner.text()});
  EXPECT_TRUE(winners({Kind::kWinner}, "another device").empty());
  EXPECT_TRUE(winners({}, "Fake H200").empty()) << "the default asks for no winner";
}

TEST_F(Choice, OfADatabaseThatCannotBeReadIsAnError) {
  const std::string path = (folder_ / "bad.db").string();
  write_file(path, std::string(4096, 'x'));
  try {
    winners_of({Kind::kWinner}, path, "Fake H200");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kEnvironment);
  }
}

TEST_F(Choice, OfASessionThatNamedNoWinnerIsAnError) {
  const std::string none = (folder_ / "none.db").string();
  EXPECT_TRUE(winners_of({Kind::kWinner}, none, "Fake H200").empty());
  EXPECT_TRUE(winners_of({}, none, "Fake H200").empty());
  try {
    winners_of({Kind::kWinner, 7}, none, "Fake H200");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kNoData);
    EXPECT_EQ(error.message(), "no session 7 of " + none + " named a winner on Fake H200");
  }
}

}  // namespace
}  // namespace ktune::sweep
