# Writes OUT (a header with the commit of the tree SRC) when it changed, so that only version.cpp is rebuilt.
execute_process(COMMAND git -C ${SRC} rev-parse --short=12 HEAD OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE
                ERROR_QUIET RESULT_VARIABLE failed)
if(failed)
  set(commit "unknown")
else()
  execute_process(COMMAND git -C ${SRC} status --porcelain --untracked-files=no -- src kernels configs CMakeLists.txt
                  OUTPUT_VARIABLE dirty ERROR_QUIET)
  if(dirty)
    string(APPEND commit "-dirty")
  endif()
endif()
file(CONFIGURE OUTPUT ${OUT} CONTENT "#define KTUNE_COMMIT \"${commit}\"\n#define KTUNE_VERSION \"${VERSION}\"\n")
