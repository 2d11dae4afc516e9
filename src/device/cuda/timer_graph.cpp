#include "device/cuda/timers.h"

// Steady state: one call on each of many sets in one graph; a sample is a replay's time over its calls. A quarter of
// the sets run before it, outside the timed part, so that L2 holds what the calls before left. Operands are renewed
// before each replay and L2 is evicted; outputs are compared after it.

namespace ktune::device::cuda {
namespace {

using model::Status;

constexpr std::size_t kPreludeShare = 4;  // one set in so many

class GraphTimer final : public GpuTimer {
 public:
  explicit GraphTimer(TimedStream& stream) : stream_(stream) {}

  model::Result<Timed> time(Rotation& rotation, int samples, model::CacheState /*state*/) override {
    Context& context = stream_.context();
    const Driver& api = context.api();
    const std::size_t prelude = rotation.size() / kPreludeShare;
    CUresult result = api.stream_begin_capture(context.stream(), CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
    if (Status status = context.status(result, "capturing a graph"); !status) return tl::unexpected(status.error());
    Status queued;
    for (std::size_t i = prelude; i < rotation.size() && queued; ++i)
      queued = stream_.modules().enqueue(rotation[i].launches);
    CUgraph graph = nullptr;
    result = api.stream_end_capture(context.stream(), &graph);
    CUgraphExec executable = nullptr;
    if (queued) queued = context.status(result, "capturing a graph");
    if (queued) queued = context.status(api.graph_instantiate(&executable, graph, 0), "making a graph");
    if (queued) queued = launch(executable);  // the first launch uploads it
    if (queued) queued = context.synchronize("running the graph");
    Timed timed;
    for (int i = 0; i < samples && queued && !timed.wrong; ++i) queued = replay(executable, rotation, prelude, timed);
    if (executable != nullptr) api.graph_exec_destroy(executable);
    if (graph != nullptr) api.graph_destroy(graph);
    if (!queued) return tl::unexpected(queued.error());
    for (double& time_us : timed.time_us) time_us /= static_cast<double>(rotation.size() - prelude);
    return timed;
  }

 private:
  Status replay(CUgraphExec graph, Rotation& rotation, std::size_t prelude, Timed& timed) {
    const int sets = static_cast<int>(rotation.size());
    Status queued = stream_.checks().begin(rotation, sets);
    for (std::size_t i = 0; i < rotation.size() && queued; ++i) queued = stream_.renew(*rotation[i].call);
    if (queued) queued = stream_.evict();
    for (std::size_t i = 0; i < prelude && queued; ++i) queued = stream_.modules().enqueue(rotation[i].launches);
    if (!queued) return queued;
    Hold hold(stream_, stream_.can_hold());
    queued = hold.queued();
    if (queued) queued = stream_.record(stream_.events(0).start);
    if (queued) queued = launch(graph);
    if (queued) queued = stream_.record(stream_.events(0).stop);
    hold.release();
    for (int i = 0; i < sets && queued; ++i) queued = stream_.checks().queue(rotation, i);
    if (queued) queued = stream_.context().synchronize("running the graph");
    if (queued) queued = stream_.read(stream_.events(0), timed.time_us);
    if (!queued) return queued;
    auto wrong = stream_.checks().read();
    if (!wrong) return tl::unexpected(wrong.error());
    timed.wrong = *wrong;
    return {};
  }

  Status launch(CUgraphExec graph) {
    Context& context = stream_.context();
    return context.status(context.api().graph_launch(graph, context.stream()), "launching the graph");
  }

  TimedStream& stream_;
};

}  // namespace

std::unique_ptr<GpuTimer> make_graph_timer(TimedStream& stream) { return std::make_unique<GraphTimer>(stream); }

}  // namespace ktune::device::cuda
