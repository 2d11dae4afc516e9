// toml++ is a header; this file alone holds its definitions (TOML_HEADER_ONLY=0 everywhere). Its parser asserts what a
// damaged file breaks, and with NDEBUG tells the compiler that it never happens; then it looks once more and says what
// is wrong. Only that last look is wanted.
#undef NDEBUG
#define TOML_ASSERT(condition) static_assert(true)
#define TOML_IMPLEMENTATION
#include <toml++/toml.h>
