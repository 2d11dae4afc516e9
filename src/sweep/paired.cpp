#include "sweep/paired.h"

#include "base/hash.h"

namespace ktune::sweep {

namespace {

using Figures = std::vector<model::Result<model::ProcessFigure>>;

class PairedRun {
 public:
  PairedRun(std::span<const KernelPair> kernels, KernelProcesses& processes, const PairedOptions& options)
      : processes_(processes), options_(options), left_(kernels.begin(), kernels.end()) {}

  void run() {
    const bool candidate_starts = hash_64("first", options_.seed) % 2 == 1;
    for (int pair = 0; pair < options_.pairs && !left_.empty(); ++pair) {
      // ABBA BAAB: over two pairs a linear drift cancels, over four a quadratic one.
      const bool swapped = (pair % 4 == 1 || pair % 4 == 2) != candidate_starts;
      Figures base, candidate;
      for (const bool is_candidate : {swapped, !swapped}) {
        (is_candidate ? candidate : base) = time_side(is_candidate, pair);
        if (options_.progress) options_.progress(++done_, 2 * options_.pairs);
      }
      keep(base, candidate);
    }
  }

 private:
  Figures time_side(bool is_candidate, int pair) const {
    std::vector<ReadyKernel> kernels;
    for (const KernelPair& kernel : left_) {
      kernels.push_back(is_candidate ? *kernel.candidate : *kernel.base);
      kernels.back().timer = kernel.comparison->timer;
    }
    const std::string name = std::to_string(pair) + (is_candidate ? "candidate" : "base") + (options_.fresh ? "2" : "");
    return processes_.time_in_one_process(kernels, hash_64(name, options_.seed));
  }

  void keep(const Figures& base, const Figures& candidate) {
    std::vector<KernelPair> alive;
    for (std::size_t i = 0; i < left_.size(); ++i) {
      model::Comparison& comparison = *left_[i].comparison;
      if (!base[i]) comparison.base.failure = base[i].error();
      if (!candidate[i]) comparison.candidate.failure = candidate[i].error();
      if (!base[i] || !candidate[i]) continue;
      (options_.fresh ? comparison.fresh_pairs : comparison.pairs).push_back({*base[i], *candidate[i]});
      alive.push_back(left_[i]);
    }
    left_ = std::move(alive);
  }

  KernelProcesses& processes_;
  const PairedOptions& options_;
  std::vector<KernelPair> left_;
  int done_ = 0;
};

}  // namespace

void time_pairs(std::span<const KernelPair> kernels, KernelProcesses& processes, const PairedOptions& options) {
  PairedRun(kernels, processes, options).run();
}

}  // namespace ktune::sweep
