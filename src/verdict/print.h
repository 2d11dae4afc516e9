#pragma once

#include <string>

#include "base/document.h"
#include "verdict/result.h"

// One function a format, declared from the rows of formats.def.

namespace ktune::verdict {

#define KTUNE_FORMAT(print, name, summary) std::string print_##print(const Result& result, int width, bool colour);
#include "verdict/formats.def"

/// For the formats that every document has: the kernels, the worst first, why, and how it was measured.
Document document_of(const Result& result);

/// "<!-- ktune gate: paired -->": hidden in what Markdown shows; one a mode, so that two gates may comment one request.
std::string marker_of(const Result& result);

}  // namespace ktune::verdict
