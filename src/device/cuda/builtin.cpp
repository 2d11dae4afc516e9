#include "device/cuda/builtin.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/error.h"
#include "device/host_memory.h"

#include "../../../kernels/include/ktune_random.cuh"

namespace ktune::device::cuda {
namespace {

using model::Outcome;
using model::Status;

constexpr int kMaxRank = 8;
constexpr unsigned kThreads = 256;
constexpr std::uint64_t kBlocksPerSm = 16;
constexpr std::size_t kResultBytes = 256;
constexpr std::uint64_t kNone = ~std::uint64_t{0};
constexpr std::uint64_t kHoldLimitNs = 1'000'000'000;

// The same as in device_kernels.cu.
struct Layout {
  long long shape[kMaxRank];
  long long stride[kMaxRank];
  long long offset;
  long long count;
  int rank;
  int dtype;
};
static_assert(sizeof(Layout) == 152);

constexpr const char* kNames[] = {"ktune_fill",     "ktune_poison",      "ktune_first_changed", "ktune_compare",
                                  "ktune_checksum", "ktune_evict_write", "ktune_evict_discard", "ktune_read_sweep",
                                  "ktune_hold",     "ktune_spin",        "ktune_nothing",       "ktune_copy"};

Layout layout_of(const model::TensorPlan& plan) {
  Layout layout{};
  layout.offset = plan.offset;
  layout.count = 1;
  layout.rank = static_cast<int>(plan.shape.size());
  layout.dtype = static_cast<int>(plan.dtype);
  for (std::size_t d = 0; d < plan.shape.size(); ++d) {
    layout.shape[d] = plan.shape[d];
    layout.stride[d] = plan.strides[d];
    if (plan.strides[d] != 0 || plan.shape[d] == 0) layout.count *= plan.shape[d];
  }
  return layout;
}

}  // namespace

Builtin::Builtin(Context& context, const std::function<std::string(const std::string& target)>& code)
    : context_(context) {
  const Driver& api = context_.api();
  const std::string binary = code(context_.facts().target);
  CUresult result = api.module_load_data(&module_, binary.data());
  for (int i = 0; i < kKernels && result == CUDA_SUCCESS; ++i) {
    result = api.module_get_function(&functions_[i], module_, kNames[i]);
  }
  if (result == CUDA_SUCCESS) result = api.mem_alloc(&result_, kResultBytes);
  if (result != CUDA_SUCCESS) {
    throw Error(ErrorKind::kEnvironment, fmt::format("ktune's own kernels do not load: {}", api.text(result)),
                "the driver may be older than the toolkit that compiled them; see ktune doctor");
  }
}

Builtin::~Builtin() {
  if (result_ != 0) context_.api().mem_free(result_);
  if (module_ != nullptr) context_.api().module_unload(module_);
}

CUlaunchConfig Builtin::shape(std::uint64_t items) const {
  const std::uint64_t most = kBlocksPerSm * static_cast<std::uint64_t>(std::max(1, context_.facts().sm_count));
  CUlaunchConfig config{};
  config.gridDimX = static_cast<unsigned>(std::clamp<std::uint64_t>((items + kThreads - 1) / kThreads, 1, most));
  config.gridDimY = 1;
  config.gridDimZ = 1;
  config.blockDimX = items == 0 ? 1 : kThreads;
  config.blockDimY = 1;
  config.blockDimZ = 1;
  config.hStream = context_.stream();
  return config;
}

Status Builtin::run(Kernel kernel, std::uint64_t items, void** arguments) {
  const CUlaunchConfig config = shape(items);
  const CUresult result = context_.api().launch_kernel_ex(&config, functions_[kernel], arguments, nullptr);
  return result == CUDA_SUCCESS ? Status() : context_.status(result, kNames[kernel]);
}

Status Builtin::fetch(void* to, std::size_t bytes) {
  const CUresult result = context_.api().memcpy_dtoh_async(to, result_, bytes, context_.stream());
  if (Status status = context_.status(result, "reading a result"); !status) return status;
  return context_.synchronize("reading a result");
}

Status Builtin::preset(const void* from, std::size_t bytes) {
  const CUresult result = context_.api().memcpy_htod_async(result_, from, bytes, context_.stream());
  if (Status status = context_.status(result, "presetting a result"); !status) return status;
  return context_.synchronize("presetting a result");
}

Status Builtin::initialise(DevicePtr base, const model::TensorPlan& plan, std::uint64_t seed) {
  if (plan.shape.size() > kMaxRank) {
    return model::fail(Outcome::kLaunchFailed, fmt::format("{} has more than {} dimensions", plan.name, kMaxRank));
  }
  if (Status status = poison(base, plan.storage_bytes(), kGapPattern); !status) return status;
  Layout layout = layout_of(plan);
  int kind = static_cast<int>(plan.init.kind);
  double a = plan.init.a;
  double b = plan.init.b;
  CUdeviceptr at = base;
  unsigned long long seed_word = seed;
  if (layout.count == 0) return {};
  void* arguments[] = {&at, &layout, &kind, &a, &b, &seed_word};
  return run(kFill, static_cast<std::uint64_t>(layout.count), arguments);
}

Status Builtin::poison(DevicePtr pointer, std::int64_t bytes, std::uint32_t pattern) {
  if (Status status = context_.usable(); !status || bytes <= 0) return status;
  CUdeviceptr at = pointer;
  auto count = static_cast<std::uint64_t>(bytes);
  if (const std::uint64_t words = count / 4; pointer % 4 == 0 && words > 0) {
    const CUresult result = context_.api().memset_d32_async(pointer, pattern, words, context_.stream());
    if (Status status = context_.status(result, "poisoning memory"); !status) return status;
    at += 4 * words;
    count -= 4 * words;
    if (count == 0) return {};
  }
  void* arguments[] = {&at, &count, &pattern};
  return run(kPoison, count, arguments);
}

model::Result<std::int64_t> Builtin::first_changed(DevicePtr pointer, std::int64_t bytes, std::uint32_t pattern) {
  if (Status status = context_.usable(); !status) return tl::unexpected(status.error());
  if (bytes <= 0) return -1;
  std::uint64_t first = kNone;
  if (Status status = preset(&first, sizeof first); !status) return tl::unexpected(status.error());
  CUdeviceptr at = pointer;
  CUdeviceptr result = result_;
  auto count = static_cast<std::uint64_t>(bytes);
  void* arguments[] = {&at, &count, &pattern, &result};
  if (Status status = run(kFirstChanged, count, arguments); !status) return tl::unexpected(status.error());
  if (Status status = fetch(&first, sizeof first); !status) return tl::unexpected(status.error());
  return first == kNone ? -1 : static_cast<std::int64_t>(first);
}

Status Builtin::queue_compare(const OutputCheck& check, Share share, DevicePtr result) {
  const model::TensorPlan& plan = check.plan;
  CUdeviceptr out_at = check.out;
  CUdeviceptr reference_at = check.reference;
  auto count = static_cast<std::uint64_t>(std::max<std::int64_t>(plan.storage, 0));
  int dtype = static_cast<int>(plan.dtype);
  double rtol = plan.tolerance.rtol;
  double atol = plan.tolerance.atol;
  Poison poison = check.poison;
  int may_stay = poison.may_stay ? 1 : 0;
  auto run_length = static_cast<std::uint64_t>(kShareRun);
  auto period = static_cast<std::uint64_t>(share.period);
  auto phase = static_cast<std::uint64_t>(share.phase);
  double huge = kHugeMargin;
  CUdeviceptr result_at = result;
  void* arguments[] = {&out_at,           &reference_at, &count,      &dtype,  &rtol,  &atol, &poison.out,
                       &poison.reference, &may_stay,     &run_length, &period, &phase, &huge, &result_at};
  return run(kCompare, count / period + run_length, arguments);
}

model::Result<CompareResult> Builtin::compare(const OutputCheck& check, Share share) {
  if (Status status = context_.usable(); !status) return tl::unexpected(status.error());
  Comparison answer;
  Status done = preset(&answer, sizeof answer);
  if (done) done = queue_compare(check, share, result_);
  if (done) done = fetch(&answer, sizeof answer);
  if (!done) return tl::unexpected(done.error());
  return decode(answer, check);
}

model::Result<CompareResult> Builtin::decode(const Comparison& answer, const OutputCheck& check) {
  CompareResult result;
  result.elements = static_cast<std::int64_t>(answer.elements);
  result.mismatches = static_cast<std::int64_t>(answer.mismatches);
  result.unwritten = static_cast<std::int64_t>(answer.unwritten);
  std::memcpy(&result.worst_margin, &answer.worst_margin, sizeof result.worst_margin);
  const double elements = static_cast<double>(std::max<std::uint64_t>(answer.elements, 1));
  result.rms_margin = std::sqrt(answer.margins / elements);
  result.mean_size = answer.size / elements;
  result.rms_size = std::sqrt(answer.sizes / elements);
  if (answer.first == 0) return result;
  const std::uint64_t first = ~answer.first;
  result.first = static_cast<std::int64_t>(first);
  const auto size = static_cast<std::uint64_t>(model::size_of(check.plan.dtype));
  std::uint64_t words[2] = {0, 0};
  const Driver& api = context_.api();
  CUresult copied = api.memcpy_dtoh_async(&words[0], check.out + first * size, size, context_.stream());
  if (copied == CUDA_SUCCESS) {
    copied = api.memcpy_dtoh_async(&words[1], check.reference + first * size, size, context_.stream());
  }
  Status read = context_.status(copied, "reading the first difference");
  if (read) read = context_.synchronize("reading the first difference");
  if (!read) return tl::unexpected(read.error());
  result.first_out = load_element(check.plan.dtype, &words[0]);
  result.first_ref = load_element(check.plan.dtype, &words[1]);
  return result;
}

model::Result<std::uint64_t> Builtin::checksum(DevicePtr pointer, std::int64_t bytes) {
  if (Status status = context_.usable(); !status) return tl::unexpected(status.error());
  std::uint64_t sum = ktune_random::mix(static_cast<std::uint64_t>(bytes));
  if (bytes <= 0) return sum;
  if (Status status = preset(&sum, sizeof sum); !status) return tl::unexpected(status.error());
  CUdeviceptr at = pointer;
  CUdeviceptr result = result_;
  auto count = static_cast<std::uint64_t>(bytes);
  void* arguments[] = {&at, &count, &result};
  if (Status status = run(kChecksum, (count + 3) / 4, arguments); !status) return tl::unexpected(status.error());
  if (Status status = fetch(&sum, sizeof sum); !status) return tl::unexpected(status.error());
  return sum;
}

Status Builtin::evict(DevicePtr scratch, std::int64_t bytes, std::uint32_t seed) {
  CUdeviceptr at = scratch;
  auto words = static_cast<std::uint64_t>(bytes) / 16;
  auto lines = static_cast<std::uint64_t>(bytes) / 128;
  void* write_arguments[] = {&at, &words, &seed};
  if (Status status = run(kEvictWrite, words, write_arguments); !status) return status;
  void* discard_arguments[] = {&at, &lines};
  return run(kEvictDiscard, lines, discard_arguments);
}

Status Builtin::read_sweep(DevicePtr memory, std::int64_t bytes) {
  CUdeviceptr at = memory;
  CUdeviceptr sink = result_ + 128;
  auto words = static_cast<std::uint64_t>(bytes) / 16;
  void* arguments[] = {&at, &words, &sink};
  return run(kReadSweep, words, arguments);
}

Status Builtin::hold(DevicePtr flag, DevicePtr gave_up, std::uint32_t goal) {
  CUdeviceptr flag_at = flag;
  CUdeviceptr gave_up_at = gave_up;
  std::uint64_t limit_ns = kHoldLimitNs;
  void* arguments[] = {&flag_at, &goal, &gave_up_at, &limit_ns};
  return run(kHold, 0, arguments);
}

Status Builtin::spin_us(double us) {
  auto ns = static_cast<std::uint64_t>(us * 1e3);
  void* arguments[] = {&ns};
  return run(kSpin, 0, arguments);
}

BoundSequence Builtin::bind_probe(const Probe& probe, std::array<std::uint64_t, 3>& words) const {
  static const std::string name = "ktune's own kernel";
  BoundLaunch launch;
  launch.kernel = &name;
  launch.config = shape(0);
  switch (probe.kind) {
    case Probe::Kind::kNothing:
      return {};
    case Probe::Kind::kEmpty:
      launch.function = functions_[kNothing];
      break;
    case Probe::Kind::kSpin:
      launch.function = functions_[kSpin];
      words[0] = static_cast<std::uint64_t>(probe.us * 1e3);
      launch.arguments = {&words[0]};
      break;
    case Probe::Kind::kCopy:
      launch.function = functions_[kCopy];
      words[2] = static_cast<std::uint64_t>(probe.bytes) / 16;
      launch.config = shape(words[2]);
      launch.arguments = {&words[0], &words[1], &words[2]};
      break;
  }
  return {launch};
}

}  // namespace ktune::device::cuda
