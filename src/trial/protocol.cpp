#include "trial/protocol.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace ktune::trial {

measure::Request measure_request_of(const Json& json) {
  constexpr int kMostSamples = 1'000'000;
  auto request = json.get<measure::Request>();
  if (std::max({request.samples, request.min_samples, request.max_samples}) > kMostSamples) {
    throw std::invalid_argument("too many samples");
  }
  if (!std::isfinite(request.budget_ms)) throw std::invalid_argument("a budget that is no number");
  return request;
}

}  // namespace ktune::trial
