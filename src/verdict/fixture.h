#pragma once

#include <string>
#include <utility>

#include "verdict/result.h"

// A paired gate of six kernels, one of each verdict that a paired gate has, for the tests of the formats.

namespace ktune::verdict {

inline Row row_of(const std::string& op, const std::string& problem, Verdict verdict, double base_us,
                  double candidate_us, double shift_pct, double margin_pct, double delta_pct) {
  Row row;
  row.op = op;
  row.problem = problem;
  row.verdict = verdict;
  row.base_variant = row.candidate_variant = "BLOCK_SIZE=4096,num_warps=8";
  row.source = "kernels/" + op + ".cu";
  row.timer = "events";
  row.cache_state = "cold";
  row.base_us = base_us;
  row.candidate_us = candidate_us;
  row.shift_pct = shift_pct;
  row.low_pct = shift_pct - margin_pct;
  row.high_pct = shift_pct + margin_pct;
  row.delta_pct = row.visible_pct = delta_pct;
  row.p_slower = shift_pct > 0 ? 0.00390625 : 1.0;
  row.pairs = 8;
  return row;
}

inline Row untimed_row(const std::string& op, const std::string& problem, Verdict verdict, const std::string& reason) {
  Row row;
  row.op = op;
  row.problem = problem;
  row.verdict = verdict;
  row.reason = reason;
  row.base_variant = "num_warps=4";
  row.candidate_variant = "num_warps=8";
  row.source = "kernels/" + op + ".cu";
  return row;
}

inline Result sample_result() {
  Result result;
  result.mode = Mode::kPaired;
  result.base = "main";
  result.candidate = "HEAD";
  result.base_commit = "1f776d0aa00000000000000000000000000000aa";
  result.candidate_commit = "5e3b430bb00000000000000000000000000000bb";
  result.device.kind = "cuda";
  result.device.name = "NVIDIA H200";
  result.device.driver = "580.159.04";
  result.device.toolkit = "NVRTC 13.0";
  result.device.sm_count = 132;
  result.device.l2_bytes = 62914560;
  result.date = "2026-11-29T14:03:05Z";
  result.command = "ktune gate --base main --new HEAD";
  result.version = "0.1.0";
  result.commit = "2b0c0dd";
  result.delta_pct = 1.0;
  result.delta_us = 0.15;
  result.pairs = 8;
  result.seed = 18446744073709551615u;
  result.seconds = 41.3;
  result.verdict = Verdict::kWrong;
  result.rows = {row_of("copy", "N=1048576 f32", Verdict::kPass, 4.07, 4.072, 0.05, 0.4, 3.69),
                 row_of("rmsnorm", "M=4096 N=4096 bf16", Verdict::kRegressed, 18.91, 19.314, 2.14, 0.24, 1.0),
                 row_of("softmax", "M=128 N=1024 f16", Verdict::kInconclusive, 5.4, 5.52, 2.2, 1.9, 2.78),
                 row_of("silu", "M=4096 N=14336 bf16", Verdict::kImproved, 124.5, 118.1, -5.14, 0.1, 1.0),
                 untimed_row("rope", "M=4096 N=128 bf16", Verdict::kWrong, "y: 3 of 524288 differ, worst at [7, 12]"),
                 untimed_row("geglu", "M=1 N=8 f32", Verdict::kNoData, "base has no such op")};
  result.rows[1].base_figures_us = {18.9, 18.92, 18.91};
  result.rows[1].candidate_figures_us = {19.31, 19.3, kNone};
  result.rows[1].pairs = 16;
  result.rows[1].confirmed = true;
  result.rows[2].reason = "the interval reaches delta";
  result.rows[2].visible_pct = 4.5;
  result.rows[5].blocks = false;
  result.notes = {"clocks were not locked"};
  return result;
}

}  // namespace ktune::verdict
