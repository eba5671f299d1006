# METIS has neither a .pc file nor a CMake module. Gives METIS::METIS; its idx_t must hold 32 bits.
find_path(METIS_INCLUDE_DIR metis.h)
find_library(METIS_LIBRARY metis)
mark_as_advanced(METIS_INCLUDE_DIR METIS_LIBRARY)
if(METIS_INCLUDE_DIR AND METIS_LIBRARY AND NOT DEFINED METIS_WORKS)
    set(CMAKE_REQUIRED_QUIET TRUE)
    file(WRITE "${CMAKE_BINARY_DIR}/CMakeFiles/try_metis.c"
        "#include <metis.h>
        _Static_assert(sizeof(idx_t) == 4, \"idx_t\");
        int main(void) { idx_t o[METIS_NOPTIONS]; return METIS_SetDefaultOptions(o) != METIS_OK; }
        ")
    try_compile(METIS_WORKS "${CMAKE_BINARY_DIR}/CMakeFiles/try_metis"
        SOURCES "${CMAKE_BINARY_DIR}/CMakeFiles/try_metis.c"
        CMAKE_FLAGS "-DINCLUDE_DIRECTORIES=${METIS_INCLUDE_DIR}"
        LINK_LIBRARIES "${METIS_LIBRARY}")
endif()
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(METIS REQUIRED_VARS METIS_LIBRARY METIS_INCLUDE_DIR METIS_WORKS
    REASON_FAILURE_MESSAGE "install libmetis-dev (idx_t of 32 bits)")
if(METIS_FOUND AND NOT TARGET METIS::METIS)
    add_library(METIS::METIS UNKNOWN IMPORTED)
    set_target_properties(METIS::METIS PROPERTIES IMPORTED_LOCATION "${METIS_LIBRARY}"
        INTERFACE_INCLUDE_DIRECTORIES "${METIS_INCLUDE_DIR}")
endif()
