#include <algorithm>

#include "device/cuda/timers.h"

// Steady state: many calls on rotating sets in one graph; a sample is a replay's time over its calls. What L2 holds is
// what the calls before left.

namespace ktune::device::cuda {
namespace {

using model::Status;

constexpr int kGraphLaunches = 20;

class GraphTimer final : public GpuTimer {
 public:
  explicit GraphTimer(TimedStream& stream) : stream_(stream) {}

  model::Result<std::vector<double>> time(std::vector<BoundSequence>& rotation, int samples,
                                          model::CacheState /*state*/) override {
    Context& context = stream_.context();
    const Driver& api = context.api();
    const int sets = static_cast<int>(rotation.size());
    const int calls = (std::max(kGraphLaunches, sets) + sets - 1) / sets * sets;
    CUresult result = api.stream_begin_capture(context.stream(), CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
    if (Status status = context.status(result, "capturing a graph"); !status) return tl::unexpected(status.error());
    Status queued;
    for (int i = 0; i < calls && queued; ++i)
      queued = stream_.modules().enqueue(rotation[static_cast<std::size_t>(i % sets)]);
    CUgraph graph = nullptr;
    result = api.stream_end_capture(context.stream(), &graph);
    CUgraphExec executable = nullptr;
    if (queued) queued = context.status(result, "capturing a graph");
    if (queued) queued = context.status(api.graph_instantiate(&executable, graph, 0), "making a graph");
    std::vector<double> times;
    if (queued) queued = replay(executable, samples, times);
    if (executable != nullptr) api.graph_exec_destroy(executable);
    if (graph != nullptr) api.graph_destroy(graph);
    if (!queued) return tl::unexpected(queued.error());
    for (double& time_us : times) time_us /= calls;
    return times;
  }

 private:
  Status replay(CUgraphExec graph, int count, std::vector<double>& times) {
    Context& context = stream_.context();
    if (Status status = launch(graph); !status) return status;  // the first launch uploads it
    if (Status status = context.synchronize("running the graph"); !status) return status;
    for (int i = 0; i < count; ++i) {
      Hold hold(stream_, stream_.can_hold());
      if (!hold.queued()) return hold.queued();
      Status queued = stream_.record(stream_.events(0).start);
      if (queued) queued = launch(graph);
      if (queued) queued = stream_.record(stream_.events(0).stop);
      hold.release();
      if (queued) queued = context.synchronize("running the graph");
      if (queued) queued = stream_.read(stream_.events(0), times);
      if (!queued) return queued;
    }
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
