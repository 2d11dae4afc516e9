// toml++ is a header; this file alone holds its definitions (TOML_HEADER_ONLY=0 everywhere).
#define TOML_IMPLEMENTATION
#include <toml++/toml.h>
