#include "verdict/formats.h"

#include "base/named.h"
#include "verdict/print.h"

namespace ktune::verdict {

const std::vector<Format>& formats() {
  static const std::vector<Format> kFormats{
      {"term", "a table as wide as the terminal, reasons, the verdict last", print_term},
      {"md", "Markdown for a pull request's comment", print_markdown},
      {"json", "schema ktune.gate/1, every figure of every process", print_json},
      {"junit", "JUnit XML for GitLab, Jenkins and their like", print_junit},
      {"github", "annotations of a GitHub workflow", print_annotations},
      {"gbench", "Google Benchmark's JSON of the candidate: compare.py, github-action-benchmark, Bencher",
       print_google_benchmark},
      {"gbench-base", "the same of base", print_google_benchmark_base},
  };
  return kFormats;
}

const Format& find_format(std::string_view name) { return find_named(formats(), name, "format"); }

}  // namespace ktune::verdict
