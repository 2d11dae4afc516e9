#include "report/fits.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <set>
#include <tuple>

#include "base/text.h"
#include "model/json.h"

namespace ktune::report {

namespace {

using model::FitRecord;
using model::Json;

struct NamedMix {
  const char* name;
  double read_fraction;
};
constexpr std::array kNamedMixes{NamedMix{"1:0", 1.0},     NamedMix{"2:1", 2.0 / 3}, NamedMix{"1:1", 0.5},
                                 NamedMix{"1:2", 1.0 / 3}, NamedMix{"1:4", 0.2},     NamedMix{"0:1", 0.0}};
/// weighted_sum, which stands for a read in one launch, also reads its weights and writes its sums.
constexpr double kSameMix = 0.005;
/// NVML rounds a power limit; two limits this near are one.
constexpr double kSamePowerW = 1.0;

long long mix_rank(double read_fraction) { return -std::llround(1000.0 * read_fraction); }

/// What of two records makes the newer one replace the older.
auto identity(const FitRecord& fit) {
  return std::make_tuple(fit.device, fit.driver, std::llround(fit.power_limit_w), name_of(fit.cache_state),
                         name_of(fit.timer), fit.launches, mix_rank(fit.read_fraction));
}

std::string key_of(const std::string& device, const std::string& driver, std::string_view timer,
                   std::string_view state) {
  return fmt::format("{}\n{}\n{}\n{}", device, driver, timer, state);
}

bool same_power(double a, double b) { return a <= 0.0 || b <= 0.0 || std::abs(a - b) <= kSamePowerW; }

Mix mix_of(const FitRecord& fit) {
  // A GB/s is 1e-3 µs a byte, the other way round.
  Mix mix{mix_name(fit.read_fraction), fit.read_fraction, 1e-3 / fit.ceiling_gbps, std::nullopt};
  if (fit.gbps > 0.0) mix.fit = AffineFit{fit.t0_us, 1e-3 / fit.gbps};
  return mix;
}

/// Three digits at least, as in reports.
std::string rate_text(double gbps) { return fmt::format("{:.{}f}", gbps, gbps >= 100.0 ? 0 : gbps >= 10.0 ? 1 : 2); }

std::string sizes_text(const FitRecord& fit) {
  std::set<std::int64_t> sizes;
  for (const auto& [bytes, time_us] : fit.points) sizes.insert(bytes);
  return std::to_string(sizes.size());
}

}  // namespace

std::string mix_name(double read_fraction) {
  for (const NamedMix& mix : kNamedMixes)
    if (std::abs(mix.read_fraction - read_fraction) <= kSameMix) return mix.name;
  return fmt::format("{:.0f} % reads", 100.0 * read_fraction);
}

bool fit_points(FitRecord& fit) {
  std::vector<std::pair<double, double>> points;
  for (const auto& [bytes, time_us] : fit.points) points.emplace_back(static_cast<double>(bytes), time_us);
  const auto law = fit_affine(points);
  if (!law) return false;
  fit.t0_us = law->t0_us;
  fit.gbps = 1e-3 / law->us_per_byte;
  fit.ceiling_gbps = fit.worst_residual_pct = 0.0;
  for (const auto& [bytes, time_us] : points) {
    fit.ceiling_gbps = std::max(fit.ceiling_gbps, 1e-3 * bytes / time_us);
    fit.worst_residual_pct = std::max(fit.worst_residual_pct, 100.0 * std::abs(law->at(bytes) - time_us) / time_us);
  }
  return true;
}

std::vector<FitRecord> newest_fits(std::vector<FitRecord> fits) {
  std::stable_sort(fits.begin(), fits.end(), [](const FitRecord& a, const FitRecord& b) {
    const auto key_a = identity(a), key_b = identity(b);
    return key_a != key_b ? key_a < key_b : a.date > b.date;
  });
  fits.erase(std::unique(fits.begin(), fits.end(),
                         [](const FitRecord& a, const FitRecord& b) { return identity(a) == identity(b); }),
             fits.end());
  return fits;
}

FittedCeilings::FittedCeilings(const std::vector<FitRecord>& fits) {
  std::map<std::tuple<std::string, double, int>, std::vector<Mix>> mixes;
  for (const FitRecord& fit : newest_fits(fits))
    if (fit.ceiling_gbps > 0.0)
      mixes[{key_of(fit.device, fit.driver, name_of(fit.timer), name_of(fit.cache_state)), fit.power_limit_w,
             fit.launches}]
          .push_back(mix_of(fit));
  for (auto& [at, members] : mixes) {
    const auto& [key, power_limit_w, launches] = at;
    std::vector<Group>& groups = groups_[key];
    if (groups.empty() || groups.back().power_limit_w != power_limit_w) groups.push_back({power_limit_w, {}});
    groups.back().by_launches.emplace(launches, Ceiling(std::move(members)));
  }
}

std::optional<Limits> FittedCeilings::limits(const Row& row, double read_fraction) const {
  const auto at = groups_.find(key_of(row.device, row.driver, row.timer, row.cache_state));
  if (at == groups_.end()) return std::nullopt;
  const int launches = std::max(1, row.launches.value_or(1));
  for (const Group& group : at->second) {
    if (!same_power(group.power_limit_w, row.power_limit_w)) continue;
    const auto above = group.by_launches.upper_bound(launches);
    for (auto it = std::make_reverse_iterator(above); it != group.by_launches.rend(); ++it)
      if (const auto rate = it->second.us_per_byte(read_fraction))
        return Limits{*rate, it->second.floor(read_fraction)};
    for (auto it = above; it != group.by_launches.end(); ++it)
      if (const auto rate = it->second.us_per_byte(read_fraction)) return Limits{*rate, std::nullopt};
  }
  return std::nullopt;
}

Table roofline_table(const std::vector<FitRecord>& fits, double spec_gbps) {
  Table table{{{"mix", false, 0},
               {"cache", false, 0},
               {"timer", false, 0},
               {"launches", true, 1},
               {"t0 µs", true, 0},
               {"B GB/s", true, 0},
               {"% of spec", true, 3},
               {"best GB/s", true, 2},
               {"worst residual %", true, 4},
               {"sizes", true, 5}},
              {}};
  if (spec_gbps <= 0.0) table.columns.erase(table.columns.begin() + 6);
  for (const FitRecord& fit : fits) {
    std::vector<Cell> cells{mix_name(fit.read_fraction),      std::string(name_of(fit.cache_state)),
                            std::string(name_of(fit.timer)),  std::to_string(fit.launches),
                            fmt::format("{:.2f}", fit.t0_us), rate_text(fit.gbps)};
    if (spec_gbps > 0.0) cells.push_back(Cell::number(fmt::format("{:.1f}", 100.0 * fit.gbps / spec_gbps)));
    cells.push_back(Cell::number(rate_text(fit.ceiling_gbps)));
    cells.push_back(Cell::number(fmt::format("{:.1f}", fit.worst_residual_pct)));
    cells.push_back(sizes_text(fit));
    table.rows.push_back(std::move(cells));
  }
  return table;
}

std::string roofline_json(const std::vector<FitRecord>& fits, double spec_gbps, const std::vector<std::string>& notes) {
  std::string out = "{\n  \"schema\": \"ktune.roofline/1\",\n";
  out += fmt::format("  \"spec_gbps\": {},\n  \"fits\": [", spec_gbps > 0.0 ? Json(spec_gbps).dump() : "null");
  for (std::size_t i = 0; i < fits.size(); ++i) {
    const FitRecord& fit = fits[i];
    Json points = Json::array();
    for (const auto& [bytes, time_us] : fit.points) points.push_back({bytes, time_us});
    const Json json{{"device", fit.device},
                    {"driver", fit.driver},
                    {"power_limit_w", fit.power_limit_w},
                    {"mix", mix_name(fit.read_fraction)},
                    {"read_fraction", fit.read_fraction},
                    {"cache_state", name_of(fit.cache_state)},
                    {"timer", name_of(fit.timer)},
                    {"launches", fit.launches},
                    {"t0_us", fit.t0_us},
                    {"gbps", fit.gbps},
                    {"best_gbps", fit.ceiling_gbps},
                    {"worst_residual_pct", fit.worst_residual_pct},
                    {"points", points},
                    {"date", fit.date},
                    {"commit", fit.commit}};
    out += fmt::format("{}\n    {}", i == 0 ? "" : ",", json.dump(-1, ' ', false, Json::error_handler_t::replace));
  }
  out += fits.empty() ? "],\n" : "\n  ],\n";
  return out + "  \"notes\": " + Json(notes).dump(-1, ' ', false, Json::error_handler_t::replace) + "\n}\n";
}

}  // namespace ktune::report
