#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/op_spec.h"
#include "model/outcome.h"
#include "model/timer.h"

// What a gate compares: one kernel (an op's problem) in two versions, as processes timed it.

namespace ktune::model {

/// One version of a kernel.
struct ComparedSide {
  std::string label;   ///< as the command line named it: a revision, a spec file, a variant, "winner"
  std::string commit;  ///< of a git revision, else ""
  std::string source;  ///< the kernel's file, relative to its tree where it has one: what an annotation points at
  Variant variant;
  std::string code_hash;  ///< of the machine code, ""  where it is not known
  std::map<std::string, KernelResources> resources;
  bool missing = false;            ///< this version has no such op, problem or variant
  std::optional<Failure> failure;  ///< why it could not be timed: it did not compile, was wrong, crashed, …
};

/// NaN, infinity, zero and less are no time.
inline bool is_time(double time_us) { return std::isfinite(time_us) && time_us > 0.0; }

/// What one process said of one version: the 20 % trimmed mean of its samples, in µs; NaN: it gave no time.
struct ProcessFigure {
  double time_us = std::numeric_limits<double>::quiet_NaN();
  int samples = 0;
  bool throttled = false;  ///< the device held its clock down
};

/// Two processes, one right after the other.
struct FigurePair {
  ProcessFigure base;
  ProcessFigure candidate;
};

/// One kernel of a paired gate.
struct Comparison {
  std::string op;
  std::string problem;  ///< Problem::text()
  ComparedSide base;
  ComparedSide candidate;
  std::optional<Timer> timer;           ///< the one base would use, of both; nothing: none served both
  std::string cache_state;              ///< "cold", …
  bool identical = false;               ///< same machine code, launches, inputs and toolchain: nothing had to be timed
  std::vector<FigurePair> pairs;        ///< first round
  std::vector<FigurePair> fresh_pairs;  ///< second round: of suspects, and of what the first could not decide
};

/// What processes of one build differ by on a device: sd(t) = constant_us + relative · t, of one process' figure.
struct ProcessNoise {
  std::string device;  ///< DeviceFacts::name
  std::string driver;
  double power_limit_w = 0.0;
  std::string cache_state;
  double constant_us = 0.0;
  double relative = 0.0;
  int kernels = 0;  ///< that it was fitted to
  int pairs = 0;    ///< of each
  std::string date;
  std::string commit;

  double sd_us(double time_us) const { return constant_us + relative * time_us; }
  static void fields(auto& self, auto&& field) {
    field("device", self.device);
    field("driver", self.driver);
    field("power_limit_w", self.power_limit_w);
    field("cache_state", self.cache_state);
    field("constant_us", self.constant_us);
    field("relative", self.relative);
    field("kernels", self.kernels);
    field("pairs", self.pairs);
    field("date", self.date);
    field("commit_hash", self.commit);
  }
};

}  // namespace ktune::model
