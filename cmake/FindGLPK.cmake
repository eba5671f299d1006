# GLPK has neither a .pc file nor a CMake module. Gives GLPK::GLPK.
find_path(GLPK_INCLUDE_DIR glpk.h)
find_library(GLPK_LIBRARY glpk)
mark_as_advanced(GLPK_INCLUDE_DIR GLPK_LIBRARY)
if(GLPK_INCLUDE_DIR AND GLPK_LIBRARY AND NOT DEFINED GLPK_WORKS)
    set(CMAKE_REQUIRED_QUIET TRUE)
    file(WRITE "${CMAKE_BINARY_DIR}/CMakeFiles/try_glpk.c"
        "#include <glpk.h>
        int main(void) { glp_iocp p; glp_init_iocp(&p); glp_error_hook(0, 0); return glp_free_env(); }
        ")
    try_compile(GLPK_WORKS "${CMAKE_BINARY_DIR}/CMakeFiles/try_glpk"
        SOURCES "${CMAKE_BINARY_DIR}/CMakeFiles/try_glpk.c"
        CMAKE_FLAGS "-DINCLUDE_DIRECTORIES=${GLPK_INCLUDE_DIR}"
        LINK_LIBRARIES "${GLPK_LIBRARY}")
endif()
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(GLPK REQUIRED_VARS GLPK_LIBRARY GLPK_INCLUDE_DIR GLPK_WORKS
    REASON_FAILURE_MESSAGE "install libglpk-dev")
if(GLPK_FOUND AND NOT TARGET GLPK::GLPK)
    add_library(GLPK::GLPK UNKNOWN IMPORTED)
    set_target_properties(GLPK::GLPK PROPERTIES IMPORTED_LOCATION "${GLPK_LIBRARY}"
        INTERFACE_INCLUDE_DIRECTORIES "${GLPK_INCLUDE_DIR}")
endif()
