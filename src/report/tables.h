#pragma once

#include "base/document.h"
#include "report/report.h"

namespace ktune::report {

/// For people a section for each op, device, timer and cache state: "rmsnorm on NVIDIA H200, timer events, cold L2",
/// its sessions, what the variant column holds and what every row shares. For programs every column of every row.
Document document_of(const Report& report);

}  // namespace ktune::report
