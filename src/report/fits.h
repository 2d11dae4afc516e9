#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/table.h"
#include "model/record.h"
#include "report/ceiling.h"
#include "report/report.h"

// The roofline as `ktune roofline` measures it: t = t0 + bytes/B for each mix of reads and writes, cache state, timer
// and number of launches, of one device with one driver and power limit.

namespace ktune::report {

/// "1:0", "0:1", "1:1", "2:1", "1:2", "1:4" (reads:writes), or "37 % reads" where it is none of those.
std::string mix_name(double read_fraction);

/// Fills t0_us, gbps, ceiling_gbps and worst_residual_pct of a record from its points. False, and the record as it was:
/// fewer than three sizes, or a time that does not grow with the size.
bool fit_points(model::FitRecord& fit);

/// The records in the order of the roofline's table, of each (device, driver, power limit, state, timer, launches, mix)
/// the newest.
std::vector<model::FitRecord> newest_fits(std::vector<model::FitRecord> fits);

/// What a device gives at best to one row.
struct Limits {
  double us_per_byte = 0.0;
  std::optional<AffineFit> floor;
};

/// Fits as ceilings of rows.
class FittedCeilings {
 public:
  explicit FittedCeilings(const std::vector<model::FitRecord>& fits);

  /// Nothing when no fit of the row's device, driver, power limit, timer and cache state holds this mix. Of as many
  /// launches as the row's op needs, else of the next fewer: what those take is a bound all the same. Fits of more
  /// launches give a rate but no floor.
  std::optional<Limits> limits(const Row& row, double read_fraction) const;

 private:
  struct Group {
    double power_limit_w = 0.0;
    std::map<int, Ceiling> by_launches;
  };
  std::map<std::string, std::vector<Group>> groups_;  ///< by device, driver, timer and cache state
};

/// The table of `ktune roofline`. `spec_gbps`: what "% of spec" is of, 0: no such column.
Table roofline_table(const std::vector<model::FitRecord>& fits, double spec_gbps);
/// Schema ktune.roofline/1: {"schema", "spec_gbps", "fits": [...], "notes"}.
std::string roofline_json(const std::vector<model::FitRecord>& fits, double spec_gbps,
                          const std::vector<std::string>& notes);

}  // namespace ktune::report
