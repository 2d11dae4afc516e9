#pragma once

#include <cstdint>
#include <string>

namespace ktune::device::cuda {

/// libcupti, opened once and never closed; null with the reason in `problem`. A file of another major version than
/// those named is not looked at.
void* open_cupti(std::string& problem);

/// The toolkit a CUPTI belongs to, from what cuptiGetVersion says: 130001 is of CUDA 13, numbers below 100000 are of 12
/// and older.
int cupti_major(std::uint32_t version);

}  // namespace ktune::device::cuda
