#include "device/cuda/launch_checks.h"

#include <algorithm>

namespace ktune::device::cuda {
namespace {

using model::Status;

/// Bytes of an output that are compared after one launch: 2 µs of an H200's memory beside the eviction's 90.
constexpr std::int64_t kCheckedBytes = std::int64_t{4} << 20;

}  // namespace

LaunchChecks::~LaunchChecks() {
  if (answers_ != 0) context_.api().mem_free(answers_);
}

Status LaunchChecks::begin(const Rotation& rotation, int launches) {
  queued_.clear();
  std::size_t most = 0;
  for (const BoundCall& call : rotation) most = std::max(most, call.call->checks.size());
  const std::size_t room = most * static_cast<std::size_t>(launches);
  if (room == 0) return {};
  const Driver& api = context_.api();
  CUresult result = CUDA_SUCCESS;
  if (room > room_) {
    if (answers_ != 0) api.mem_free(answers_);
    answers_ = 0;
    room_ = 0;
    result = api.mem_alloc(&answers_, room * sizeof(Comparison));
    if (result == CUDA_SUCCESS) room_ = room;
  }
  if (result == CUDA_SUCCESS)
    result = api.memset_d32_async(answers_, 0, room * sizeof(Comparison) / 4, context_.stream());
  return context_.status(result, "making room for comparisons");
}

Status LaunchChecks::queue(const Rotation& rotation, int sample) {
  const std::size_t set = static_cast<std::size_t>(sample) % rotation.size();
  const std::vector<OutputCheck>& checks = rotation[set].call->checks;
  for (std::size_t i = 0; i < checks.size(); ++i) {
    const CUdeviceptr answer = answers_ + queued_.size() * sizeof(Comparison);
    const Share share = share_of(checks[i].plan, kCheckedBytes, sample);
    if (Status status = builtin_.queue_compare(checks[i], share, answer); !status) return status;
    queued_.push_back({&checks[i], {sample, set, i, {}}});
  }
  return {};
}

model::Result<std::optional<WrongLaunch>> LaunchChecks::read() {
  if (queued_.empty()) return std::optional<WrongLaunch>();
  std::vector<Comparison> answers(queued_.size());
  const std::size_t bytes = answers.size() * sizeof(Comparison);
  const CUresult result = context_.api().memcpy_dtoh_async(answers.data(), answers_, bytes, context_.stream());
  Status done = context_.status(result, "reading comparisons");
  if (done) done = context_.synchronize("reading comparisons");
  if (!done) return tl::unexpected(done.error());
  for (std::size_t i = 0; i < answers.size(); ++i) {
    WrongLaunch wrong = queued_[i].place;
    const auto decoded = builtin_.decode(answers[i], *queued_[i].check);
    if (!decoded) return tl::unexpected(decoded.error());
    if (is_right(*decoded, queued_[i].check->plan.tolerance)) continue;
    wrong.result = *decoded;
    return wrong;
  }
  return std::optional<WrongLaunch>();
}

}  // namespace ktune::device::cuda
