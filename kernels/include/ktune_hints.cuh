#pragma once

#include "ktune_memory.cuh"

// The parameters LOAD_HINT and STORE_HINT, where an op has them, as values.

namespace ktune_kernel {

#ifdef LOAD_HINT
constexpr LoadHint kLoad = LOAD_HINT == LOAD_HINT_evict_first ? kLoadEvictFirst
#ifdef LOAD_HINT_no_alloc
                           : LOAD_HINT == LOAD_HINT_no_alloc ? kLoadNoAlloc
#endif
                                                             : kLoadCached;
#endif

#ifdef STORE_HINT
constexpr StoreHint kStore = STORE_HINT == STORE_HINT_stream ? kStoreEvictFirst : kStoreCached;
#endif

}  // namespace ktune_kernel
