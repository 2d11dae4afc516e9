#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <set>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "compile/compile.h"
#include "compile/scratch_op_test.h"

// The tests' own binary is the compile worker: `test_compile compile-worker`.

int main(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "compile-worker") == 0) return ktune::compile::compile_worker_main();
  setenv("KTUNE_BINARY", ktune::executable_path().c_str(), 1);
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}

namespace ktune::compile {
namespace {

/// KTUNE_BINARY is another program while this lives.
class OtherWorker {
 public:
  OtherWorker(const ScratchOp& op, const std::string& script) {
    const std::string path = op.write("worker.sh", "#!/bin/sh\n" + script);
    chmod(path.c_str(), 0755);
    setenv("KTUNE_BINARY", path.c_str(), 1);
  }
  ~OtherWorker() { setenv("KTUNE_BINARY", executable_path().c_str(), 1); }
  OtherWorker(const OtherWorker&) = delete;
  OtherWorker& operator=(const OtherWorker&) = delete;
};

CompileJob with_factor(const ScratchOp& op, int factor) {
  CompileJob job = op.job();
  job.macros = {{"FACTOR", std::to_string(factor)}};
  return job;
}

TEST(CompilePool, CompilesOnceAndThenAnswersFromTheCache) {
  const ScratchOp op;
  const auto first = compile_one(op.job(), op.path("cache"));
  ASSERT_TRUE(first) << first.error().reason << first.error().detail;
  EXPECT_FALSE(first->cached);
  EXPECT_GT(first->compile_ms, 0.0);
  EXPECT_EQ(first->target, "sm_90");
  EXPECT_EQ(first->key, cache_key(op.job()));
  EXPECT_EQ(read_file(first->path).substr(1, 3), "ELF");
  EXPECT_EQ(first->resources.at("scale").shared_bytes, 256);

  const OtherWorker none(op, "exit 7\n");  // a cached binary needs no process
  const auto second = compile_one(op.job(), op.path("cache"));
  ASSERT_TRUE(second) << second.error().reason;
  EXPECT_TRUE(second->cached);
  EXPECT_EQ(second->compile_ms, 0.0);
  EXPECT_EQ(second->path, first->path);
  EXPECT_EQ(second->resources.at("scale").registers, first->resources.at("scale").registers);
  EXPECT_EQ(second->log, first->log);
}

TEST(CompilePool, SharesItsCacheWithOtherProcesses) {
  const ScratchOp op;
  std::vector<pid_t> children;
  for (int i = 0; i < 4; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      const auto result = compile_one(op.job(), op.path("cache"));
      _exit(result && read_file(result->path).substr(1, 3) == "ELF" ? 0 : 1);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  EXPECT_TRUE(compile_one(op.job(), op.path("cache"))->cached);
  int files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(op.path("cache"))) {
    if (entry.is_regular_file()) ++files;
  }
  EXPECT_EQ(files, 2);  // the binary and its note, no temporaries
}

TEST(CompilePool, CompilesForTheHostToo) {
  const ScratchOp op;
  const auto first = compile_one(op.job("cpu"), op.path("cache"));
  ASSERT_TRUE(first) << first.error().reason << first.error().detail;
  EXPECT_EQ(first->path.substr(first->path.size() - 3), ".so");
  EXPECT_EQ(first->key, cache_key(op.job("cpu")));
  EXPECT_NE(first->key, cache_key(op.job()));
  EXPECT_EQ(read_file(first->path).substr(1, 3), "ELF");
  EXPECT_TRUE(compile_one(op.job("cpu"), op.path("cache"))->cached);
}

TEST(CompilePool, CompilesAgainWhatIsDamagedInTheCache) {
  const ScratchOp op;
  const auto first = compile_one(op.job(), op.path("cache"));
  ASSERT_TRUE(first);
  const std::string code = read_file(first->path);
  std::string flipped = code;
  flipped[code.size() / 2] = static_cast<char>(flipped[code.size() / 2] ^ 1);
  write_file(first->path, flipped);
  const auto second = compile_one(op.job(), op.path("cache"));
  ASSERT_TRUE(second);
  EXPECT_FALSE(second->cached);
  EXPECT_EQ(read_file(second->path), code);
  const std::string note = first->path.substr(0, first->path.size() - 6) + ".json";
  write_file(note, read_file(note).substr(0, 20));
  EXPECT_FALSE(compile_one(op.job(), op.path("cache"))->cached);
  std::filesystem::remove(first->path);
  EXPECT_FALSE(compile_one(op.job(), op.path("cache"))->cached);
  EXPECT_TRUE(compile_one(op.job(), op.path("cache"))->cached);
}

TEST(CompilePool, GivesEveryJobItsOwnResult) {
  const ScratchOp op;
  CompilePool pool(op.path("cache"), 2);
  EXPECT_EQ(pool.jobs(), 2);
  std::set<std::int64_t> tickets;
  for (int factor = 1; factor <= 5; ++factor) tickets.insert(pool.submit(with_factor(op, factor)));
  CompileJob broken = op.job();
  broken.macros = {{"FACTOR", "missing"}};
  const std::int64_t failing = pool.submit(broken);
  const std::int64_t same = pool.submit(with_factor(op, 1));
  tickets.insert(same);
  EXPECT_EQ(tickets.size(), 6U);
  EXPECT_EQ(pool.pending(), 7);
  std::set<std::string> keys;
  while (const auto result = pool.wait(60.0)) {
    if (result->ticket == failing) {
      ASSERT_FALSE(result->binary);
      EXPECT_EQ(result->binary.error().outcome, model::Outcome::kCompileFailed);
      EXPECT_NE(result->binary.error().reason.find("\"missing\" is undefined"), std::string::npos);
    } else {
      EXPECT_EQ(tickets.erase(result->ticket), 1U);
      ASSERT_TRUE(result->binary) << result->binary.error().reason;
      keys.insert(result->binary->key);
    }
  }
  EXPECT_TRUE(tickets.empty());
  EXPECT_EQ(keys.size(), 5U);
  EXPECT_EQ(pool.pending(), 0);
  EXPECT_FALSE(pool.wait(1.0));
}

TEST(CompilePool, EndsACompileAtItsDeadlineAndGoesOn) {
  const ScratchOp op;
  const OtherWorker slow(op, "while read line; do case \"$line\" in *op.cu*) sleep 60;; esac; done\n");
  CompileJob job = op.job();
  job.deadline_s = 0.3;
  const double start_s = now_s();
  CompilePool pool(op.path("cache"), 1);
  pool.submit(job);
  EXPECT_FALSE(pool.wait(0.05));  // not yet
  const auto result = pool.wait(10.0);
  EXPECT_LT(now_s() - start_s, 5.0);
  ASSERT_TRUE(result);
  ASSERT_FALSE(result->binary);
  EXPECT_EQ(result->binary.error().outcome, model::Outcome::kTimedOut);
  EXPECT_EQ(result->binary.error().reason, "compiling took longer than 0.3 s");
}

TEST(CompilePool, LosesOnlyTheJobThatCrashesTheCompiler) {
  const ScratchOp op;
  const std::string real = executable_path().string();
  const OtherWorker fragile(op,
                            "while read line; do case \"$line\" in *'\"13\"'*) echo no room >&2; kill -SEGV $$;; *) "
                            "printf '%s\\n' \"$line\" | " +
                                real + " compile-worker;; esac; done\n");
  CompilePool pool(op.path("cache"), 1);
  const std::int64_t good = pool.submit(with_factor(op, 1));
  const std::int64_t bad = pool.submit(with_factor(op, 13));
  const std::int64_t after = pool.submit(with_factor(op, 2));
  int seen = 0;
  while (const auto result = pool.wait(60.0)) {
    ++seen;
    if (result->ticket == bad) {
      ASSERT_FALSE(result->binary);
      EXPECT_EQ(result->binary.error().outcome, model::Outcome::kCompileFailed);
      EXPECT_NE(result->binary.error().reason.find("the compiler crashed: killed by SIGSEGV"), std::string::npos)
          << result->binary.error().reason;
      EXPECT_NE(result->binary.error().detail.find("no room"), std::string::npos);
    } else {
      EXPECT_TRUE(result->ticket == good || result->ticket == after);
      EXPECT_TRUE(result->binary) << result->binary.error().reason;
    }
  }
  EXPECT_EQ(seen, 3);
}

TEST(CompilePool, SaysSoWhenTheCompilerGivesNoAnswerThatCanBeRead) {
  const ScratchOp op;
  const OtherWorker odd(op, "read line; echo hello; sleep 60\n");
  const auto result = compile_one(op.job(), op.path("cache"));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().outcome, model::Outcome::kCompileFailed);
  EXPECT_NE(result.error().detail.find("hello"), std::string::npos);
}

TEST(CompilePool, NeedsNoCompilerForTheFakeDevice) {
  const ScratchOp op;
  const OtherWorker none(op, "exit 7\n");
  const CompileJob job = op.job("fake");
  const auto result = compile_one(job, op.path("cache"));
  ASSERT_TRUE(result);
  EXPECT_EQ(result->target, "fake");
  EXPECT_EQ(result->path, "");
  EXPECT_EQ(result->key, cache_key(job));
  op.write("op.cu", "// another source\n");
  EXPECT_NE(result->key, cache_key(job));
}

TEST(Ptx, IsMadeForTheTargetsVirtualArchitecture) {
  const ScratchOp op;
  const std::string ptx = ptx_of(op.job());
  EXPECT_NE(ptx.find(".target sm_90"), std::string::npos);
  EXPECT_NE(ptx.find(".visible .entry scale("), std::string::npos);
}

TEST(Sass, IsWhatTheDisassemblerPrintsOrAHintToInstallIt) {
  const ScratchOp op;
  const auto binary = compile_one(op.job(), op.path("cache"));
  ASSERT_TRUE(binary);
  const std::string home = std::getenv("CUDA_HOME") == nullptr ? "" : std::getenv("CUDA_HOME");
  const std::string script = op.write("cuda/bin/nvdisasm", "#!/bin/sh\necho \"$1 $2\"\n");
  chmod(script.c_str(), 0755);
  setenv("CUDA_HOME", op.path("cuda").c_str(), 1);
  EXPECT_EQ(sass_of(*binary), "-c " + binary->path + "\n");
  op.write("cuda/bin/nvdisasm", "#!/bin/sh\nyes | head -c 20000000\n");
  EXPECT_EQ(sass_of(*binary).size(), 20000000U);
  op.write("cuda/bin/nvdisasm", "#!/bin/sh\nyes | head -c 70000000\n");
  try {
    sass_of(*binary);
    ADD_FAILURE() << "took half of it for all";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kEnvironment);
    EXPECT_EQ(error.message(), script + " printed more than 64 MiB of " + binary->path);
  }
  const std::string path = std::getenv("PATH");
  setenv("CUDA_HOME", op.path("empty").c_str(), 1);
  setenv("PATH", op.path("empty").c_str(), 1);
  try {
    EXPECT_FALSE(sass_of(*binary).empty());  // the toolkit that ktune was built against has one
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kEnvironment);
    EXPECT_EQ(error.message(), "neither nvdisasm nor cuobjdump was found");
    EXPECT_NE(error.hint().find("nvidia-cuda-nvdisasm"), std::string::npos);
  }
  setenv("PATH", path.c_str(), 1);
  if (home.empty()) {
    unsetenv("CUDA_HOME");
  } else {
    setenv("CUDA_HOME", home.c_str(), 1);
  }
}

}  // namespace
}  // namespace ktune::compile
