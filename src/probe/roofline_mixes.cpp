#include "probe/roofline_mixes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "spec/spec.h"

// Two launches: `read` adds up its blocks' sums in a second one, `fan_out` does half of its work in each. A read in one
// launch has to leave its sums somewhere: weighted_sum leaves one a row of 4096 elements, 0.02 % of its bytes. Writes
// and 2:1 are not measured with two launches: no op of those comes with ktune, and a made-up one would be no bound.

namespace ktune::probe {

namespace {

constexpr std::int64_t kMiB = 1 << 20;
constexpr std::int64_t kF32 = 4;

// What won each of these ops on an H200 is among them.
constexpr const char* kFlat =
    "BLOCK_SIZE=4096,8192,16384 num_warps=8,16 VEC_BYTES=16 SM_WARPS=64 LOAD_HINT=cached,no_alloc "
    "STORE_HINT=write_back";
constexpr const char* kRead =
    "BLOCK_SIZE=4096,8192,16384 num_warps=8,16 VEC_BYTES=16 SM_WARPS=64 LOAD_HINT=cached,no_alloc";
constexpr const char* kWrite =
    "BLOCK_SIZE=4096,8192,16384 num_warps=8,16 VEC_BYTES=16 SM_WARPS=64 STORE_HINT=write_back,stream";
constexpr const char* kTriad =
    "BLOCK_SIZE=2048,4096,8192 num_warps=8,16 VEC_BYTES=16 SM_WARPS=64 LOAD_HINT=cached,no_alloc "
    "STORE_HINT=write_back";
constexpr const char* kRows =
    "BLOCK_SIZE=2048,4096 num_warps=4,8 VEC_BYTES=16 ROWS=1,2 ROWS_EACH=1 GRID=one_shot "
    "LOAD_HINT=cached,no_alloc,evict_first";

constexpr std::array kMixes{
    MixRow{"1:0", 1, "weighted_sum", "", 4096, kF32, kRows},
    MixRow{"1:0", 2, "read", "", 0, kF32, kRead},
    MixRow{"2:1", 1, "triad", "", 0, 3 * kF32, kTriad},
    MixRow{"1:1", 1, "copy", "", 0, 2 * kF32, kFlat},
    MixRow{"1:1", 2, "fan_out", "OUT=1 LAUNCHES=2", 0, 2 * kF32, kFlat},
    MixRow{"1:2", 1, "fan_out", "OUT=2 LAUNCHES=1", 0, 3 * kF32, kFlat},
    MixRow{"1:2", 2, "fan_out", "OUT=2 LAUNCHES=2", 0, 3 * kF32, kFlat},
    MixRow{"1:4", 1, "fan_out", "OUT=4 LAUNCHES=1", 0, 5 * kF32, kFlat},
    MixRow{"1:4", 2, "fan_out", "OUT=4 LAUNCHES=2", 0, 5 * kF32, kFlat},
    MixRow{"0:1", 1, "write", "", 0, kF32, kWrite},
};

/// Sizes are rounded down to whole tiles of 16 KiB elements, so that no rung pays for a rest.
std::string shape_of(const MixRow& mix, std::int64_t bytes) {
  const std::int64_t elements = bytes / mix.element_bytes;
  if (mix.row_elements > 0)
    return fmt::format("{}x{}", std::max<std::int64_t>(1, elements / mix.row_elements), mix.row_elements);
  constexpr std::int64_t kTile = 16384;
  return std::to_string(std::max(kTile, elements / kTile * kTile));
}

}  // namespace

std::span<const MixRow> roofline_mixes() { return kMixes; }

std::vector<std::int64_t> roofline_ladder(const model::DeviceFacts& facts, bool quick) {
  if (facts.kind != "cuda")
    return quick ? std::vector<std::int64_t>{kMiB, 2 * kMiB, 4 * kMiB}
                 : std::vector<std::int64_t>{kMiB, 4 * kMiB, 16 * kMiB, 64 * kMiB};
  std::vector<std::int64_t> ladder =
      quick ? std::vector<std::int64_t>{kMiB, 16 * kMiB, 256 * kMiB}
            : std::vector<std::int64_t>{kMiB, 4 * kMiB, 16 * kMiB, 64 * kMiB, 256 * kMiB, 1024 * kMiB};
  if (const std::int64_t least = 8 * facts.l2_bytes; ladder.back() < least) ladder.push_back(least);
  return ladder;
}

std::vector<sweep::Work> roofline_work(const std::vector<std::int64_t>& ladder) {
  std::vector<sweep::Work> work;
  for (const MixRow& mix : kMixes) {
    sweep::Work item;
    item.full = std::make_shared<const model::OpSpec>(spec::load_shipped_op(std::string(mix.op)));
    item.spec = std::make_shared<const model::OpSpec>(spec::narrow(*item.full, split(std::string(mix.params), ' ')));
    spec::ProblemRequest request;
    request.dtypes = {"f32"};
    for (const std::string& text : split(std::string(mix.attrs), ' '))
      if (const auto at = text.find('='); at != std::string::npos)
        request.attrs.emplace_back(text.substr(0, at), text.substr(at + 1));
    for (const std::int64_t bytes : ladder) request.shapes.push_back(shape_of(mix, bytes));
    item.problems = spec::select_problems(*item.full, request);
    work.push_back(std::move(item));
  }
  return work;
}

}  // namespace ktune::probe
