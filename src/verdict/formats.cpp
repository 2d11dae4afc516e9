#include "verdict/formats.h"

#include "verdict/print.h"

namespace ktune::verdict {

const std::vector<Format<Result>>& formats() {
  static const std::vector<Format<Result>> kFormats = formats_of<Result>(
      {
          {"term", "a table as wide as the terminal, reasons, the verdict last", print_term},
          {"md", "Markdown for a pull request's comment", print_markdown},
          {"json", "schema ktune.gate/1, every figure of every process", print_json},
          {"junit", "JUnit XML for GitLab, Jenkins and their like", print_junit},
          {"github", "annotations of a GitHub workflow", print_annotations},
          {"gbench", "Google Benchmark's JSON of the candidate: compare.py, github-action-benchmark, Bencher",
           print_google_benchmark},
          {"gbench-base", "the same of base", print_google_benchmark_base},
      },
      document_of);
  return kFormats;
}

}  // namespace ktune::verdict
