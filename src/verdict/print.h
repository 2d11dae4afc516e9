#pragma once

#include <string>

#include "base/document.h"
#include "verdict/result.h"

// One function a format; see formats.cpp for what each is for.

namespace ktune::verdict {

std::string print_term(const Result& result, int width, bool colour);
/// Begins with the line marker_of(result), by which a bot finds the comment it wrote before.
std::string print_markdown(const Result& result, int width, bool colour);
/// Schema ktune.gate/1: every field of Result by its name; a NaN is null.
std::string print_json(const Result& result, int width, bool colour);
std::string print_junit(const Result& result, int width, bool colour);
/// GitHub shows ten errors and ten warnings of a step: the worst come first.
std::string print_annotations(const Result& result, int width, bool colour);
/// Google Benchmark's JSON of the candidate's figures, and of base's.
std::string print_google_benchmark(const Result& result, int width, bool colour);
std::string print_google_benchmark_base(const Result& result, int width, bool colour);

/// For the formats that every document has: the kernels, the worst first, why, and how it was measured.
Document document_of(const Result& result);

/// "<!-- ktune gate: paired -->": hidden in what Markdown shows; one a mode, so that two gates may comment one request.
std::string marker_of(const Result& result);

}  // namespace ktune::verdict
