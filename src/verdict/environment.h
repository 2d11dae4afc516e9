#pragma once

#include <span>
#include <string>
#include <vector>

#include "verdict/history.h"
#include "verdict/result.h"

namespace ktune::verdict {

/// Looks at all rows together: where more than 70 % of the timed kernels (at least four, of at least two ops where the
/// baseline has two) moved by about the same factor, and by as much as most of their limits, the machine moved, or the
/// control did. Nothing is compared then: rows become ENVIRONMENT, except those that are slower than the common move
/// explains by their limit or more. Where the absolute times moved and the ratios stood still, the verdicts stand and a
/// note says so.
void find_environment(std::span<const KernelHistory> kernels, std::vector<Row>& rows, std::vector<std::string>& notes);

}  // namespace ktune::verdict
