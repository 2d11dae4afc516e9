#pragma once

#include <string>
#include <vector>

#include "base/table.h"
#include "verdict/result.h"

// What several formats say of a result, in the same words.

namespace ktune::verdict {

/// How the row stands for whoever has to let the change by.
enum class Standing { kFails, kErrs, kLetBy, kNews, kPasses };
/// kFails: REGRESSED, WRONG, INCONCLUSIVE. kErrs: nothing was judged (NO DATA that blocks, ENVIRONMENT). kLetBy:
/// INCONCLUSIVE under `pass_inconclusive`. kNews: IMPROVED, and NO DATA that does not block. kPasses: PASS.
Standing standing_of(const Row& row, bool pass_inconclusive);

/// The worst first; among equals the larger shift, then the order of the result.
std::vector<const Row*> worst_first(const Result& result);

/// "REGRESSED: 1 of 12 kernels (11 pass), 8 pairs of processes and 8 more for 2 kernels, 41 s": the pairs are those
/// that ran, "not timed" where none did.
std::string summary_of(const Result& result);
/// "rmsnorm M=4096 N=4096 bf16", in static mode "… for sm_90"
std::string kernel_of(const Row& row);
/// The variant's text, or "OLD → NEW" where they differ.
std::string variant_of(const Row& row);
/// "2.14 % slower (18.91 → 19.31 µs; +1.90 to +2.38 %, delta 1 %)", as far as there are figures; then the reason. In
/// stored mode the shift is that of the ratio to the control, and the text says so.
std::string explanation_of(const Row& row, Mode mode);
/// Device, driver, toolkit, commits, limits, what all rows were timed by, and command: {what, value}, without those
/// that are not known.
std::vector<std::pair<std::string, std::string>> provenance_of(const Result& result);

/// Red: it fails. Yellow: nothing was judged. Cyan: faster. Green: PASS.
Style style_of(Verdict verdict);

/// The rows as a table. People see the columns that any row of the result fills, without a timer that all share;
/// programs see every column.
Table table_of(const Result& result, const std::vector<const Row*>& rows);
/// The second table; without columns where the mode has none.
Table details_of(const Result& result);

}  // namespace ktune::verdict
