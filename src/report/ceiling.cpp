#include "report/ceiling.h"

#include <algorithm>
#include <cmath>
#include <set>

// What a device can reach depends on how many of the bytes are reads: on an H200 a sum reads 4.42 TB/s, a copy moves
// 4.27, a fill writes 4.68. A rate is a harmonic thing, a time per byte is not: a run that is half one mix and half
// another takes the mean of their times, so between two measured mixes it is the time per byte that is interpolated.
//
// The floor adds what the smallest run costs. Timer noise is nearly proportional to the time, so the fit weighs
// relative errors: with absolute ones the two largest sizes alone would decide t0, by their own noise.

namespace ktune::report {

namespace {

/// Mixes this near are the same: rmsnorm's weights and rstd move it by less than this from a copy.
constexpr double kSameMix = 0.01;

bool is_ceiling_op(const std::string& op) {
  return std::find(kCeilingOps.begin(), kCeilingOps.end(), op) != kCeilingOps.end();
}

void sort_mixes(std::vector<Mix>& mixes) {
  std::sort(mixes.begin(), mixes.end(), [](const Mix& a, const Mix& b) { return a.read_fraction < b.read_fraction; });
}

double fraction_of(const Row& row) { return static_cast<double>(*row.bytes_read) / static_cast<double>(*row.bytes); }

}  // namespace

std::optional<AffineFit> fit_affine(const std::vector<std::pair<double, double>>& points) {
  std::set<double> sizes;
  for (const auto& [bytes, time_us] : points) sizes.insert(bytes);
  if (sizes.size() < 3) return std::nullopt;
  // Minimises Σ (1 − t0/t − b·x/t)²: least squares in u = 1/t and v = x/t.
  double uu = 0.0, uv = 0.0, vv = 0.0, u_sum = 0.0, v_sum = 0.0;
  for (const auto& [bytes, time_us] : points) {
    const double u = 1.0 / time_us, v = bytes / time_us;
    uu += u * u;
    uv += u * v;
    vv += v * v;
    u_sum += u;
    v_sum += v;
  }
  const double determinant = uu * vv - uv * uv;
  AffineFit fit{(u_sum * vv - v_sum * uv) / determinant, (v_sum * uu - u_sum * uv) / determinant};
  if (fit.t0_us < 0.0) fit = {0.0, v_sum / vv};
  if (!std::isfinite(fit.t0_us) || !std::isfinite(fit.us_per_byte) || fit.us_per_byte <= 0.0) return std::nullopt;
  return fit;
}

Ceiling::Ceiling(const std::vector<const Row*>& rows) {
  std::map<std::string, std::vector<const Row*>> by_op;
  for (const Row* row : rows) by_op[row->op].push_back(row);
  for (const auto& [op, members] : by_op) {
    Mix mix;
    mix.op = op;
    std::vector<std::pair<double, double>> points;
    for (const Row* row : members) {
      const auto bytes = static_cast<double>(*row->bytes);
      mix.read_fraction += fraction_of(*row) / static_cast<double>(members.size());
      points.emplace_back(bytes, *row->time_us);
      const double us_per_byte = *row->time_us / bytes;
      if (mix.us_per_byte == 0.0 || us_per_byte < mix.us_per_byte) mix.us_per_byte = us_per_byte;
    }
    mix.fit = fit_affine(points);
    mixes_.push_back(std::move(mix));
  }
  sort_mixes(mixes_);
}

Ceiling::Ceiling(std::vector<Mix> mixes) : mixes_(std::move(mixes)) { sort_mixes(mixes_); }

std::optional<Ceiling::Neighbours> Ceiling::neighbours(double read_fraction) const {
  const auto distance = [&](const Mix& mix) { return std::abs(mix.read_fraction - read_fraction); };
  const auto nearest = std::min_element(mixes_.begin(), mixes_.end(),
                                        [&](const Mix& a, const Mix& b) { return distance(a) < distance(b); });
  if (nearest == mixes_.end()) return std::nullopt;
  if (distance(*nearest) <= kSameMix) return Neighbours{&*nearest, &*nearest, 0.0};
  const auto above =
      std::find_if(mixes_.begin(), mixes_.end(), [&](const Mix& mix) { return mix.read_fraction > read_fraction; });
  if (above == mixes_.begin() || above == mixes_.end()) return std::nullopt;
  const auto below = above - 1;
  const double weight = (read_fraction - below->read_fraction) / (above->read_fraction - below->read_fraction);
  return Neighbours{&*below, &*above, weight};
}

std::optional<double> Ceiling::us_per_byte(double read_fraction) const {
  const auto at = neighbours(read_fraction);
  if (!at) return std::nullopt;
  return (1.0 - at->weight) * at->below->us_per_byte + at->weight * at->above->us_per_byte;
}

std::optional<AffineFit> Ceiling::floor(double read_fraction) const {
  const auto at = neighbours(read_fraction);
  if (!at || !at->below->fit || !at->above->fit) return std::nullopt;
  const AffineFit &below = *at->below->fit, &above = *at->above->fit;
  return AffineFit{(1.0 - at->weight) * below.t0_us + at->weight * above.t0_us,
                   (1.0 - at->weight) * below.us_per_byte + at->weight * above.us_per_byte};
}

std::string ceiling_key(const Row& row) {
  return row.device + '\n' + row.driver + '\n' + row.timer + '\n' + row.cache_state;
}

Ceilings ceilings_of(const std::vector<Row>& rows) {
  std::map<std::string, std::vector<const Row*>> groups;
  for (const Row& row : rows)
    if (is_ceiling_op(row.op) && row.time_us && *row.time_us > 0.0 && row.bytes && *row.bytes > 0)
      groups[ceiling_key(row)].push_back(&row);
  Ceilings ceilings;
  for (const auto& [key, members] : groups) ceilings.emplace(key, Ceiling(members));
  return ceilings;
}

}  // namespace ktune::report
