#pragma once

#include "measure/measure.h"
#include "model/json.h"
#include "verify/verify.h"

// The worker protocol: one JSON object a line each way. A request has a "verb" and an "id"; its answer has the same
// "id" and either "ok": true and the verb's result, or "failure" (what became of the variant), or "error" (what ends
// the command: the device cannot be opened, a request that makes no sense). An answer with "bye": true is the worker's
// last: the device is no longer fit for use, and the next worker starts afresh.
//
//   {"verb": "facts"}                                   → {"facts": {…}}
//   {"verb": "state"}                                   → {"state": {…}}
//   {"verb": "problem", "plan": {…}, "binary": {…}}     → {}
//   {"verb": "load", "variant": 7, "plan": {…}, "binary": {…}} → {}
//   {"verb": "verify", "variant": 7}                    → {"report": {"ok": …, "margin": …, "reason": …}}
//   {"verb": "measure", "variant": 7, "request": {…}}   → {"report": {"samples": […], …}}
//   {"verb": "unload", "variant": 7}                    → {}

namespace ktune::trial {

/// Raise when a request or an answer changes its meaning.
inline constexpr int kWorkerProtocol = 1;

using model::Json;

/// Throws std::exception for a field that is missing or of the wrong kind, and for too many samples.
measure::Request measure_request_of(const Json& json);

}  // namespace ktune::trial
