#include "compile/job.h"

#include <gtest/gtest.h>

namespace ktune::compile {
namespace {

TEST(Job, ARequestIsOneLineWithEveryFieldOfTheJob) {
  const CompileJob job{"/k/a.cu", {{"N", "4"}, {"T", "float"}}, {"/k/include"}, {"-O3"}, "sm_90", {"a", "b"}, 12.5};
  EXPECT_EQ(request_line(job, "/cache"),
            R"({"job":{"source_path":"/k/a.cu","macros":[["N","4"],["T","float"]],"include_dirs":["/k/include"],)"
            R"("options":["-O3"],"target":"sm_90","kernels":["a","b"],"deadline_s":12.5},"cache_dir":"/cache"})");
}

TEST(Job, ARequestWithoutAFieldOfTheJobIsRefused) {
  const model::Json request = model::Json::parse(request_line(CompileJob{}, "/cache"));
  for (const auto& [name, value] : request.at("job").items()) {
    model::Json cut = request;
    cut["job"].erase(name);
    const auto answer = read_answer(answer_line(cut.dump()));
    ASSERT_FALSE(answer) << name;
    EXPECT_EQ(answer.error().reason, "bad compile request") << name;
  }
}

}  // namespace
}  // namespace ktune::compile
