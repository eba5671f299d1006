# Gmsh's C API has neither a .pc file nor a CMake module. Gives Gmsh::Gmsh, for weft-gmsh alone.
find_path(Gmsh_INCLUDE_DIR gmshc.h)
find_library(Gmsh_LIBRARY gmsh)
mark_as_advanced(Gmsh_INCLUDE_DIR Gmsh_LIBRARY)
if(Gmsh_INCLUDE_DIR AND Gmsh_LIBRARY AND NOT DEFINED Gmsh_WORKS)
    file(WRITE "${CMAKE_BINARY_DIR}/CMakeFiles/try_gmsh.c"
        "#include <gmshc.h>
        int main(void) { int e; gmshFinalize(&e); return e; }
        ")
    try_compile(Gmsh_WORKS "${CMAKE_BINARY_DIR}/CMakeFiles/try_gmsh"
        SOURCES "${CMAKE_BINARY_DIR}/CMakeFiles/try_gmsh.c"
        CMAKE_FLAGS "-DINCLUDE_DIRECTORIES=${Gmsh_INCLUDE_DIR}"
        LINK_LIBRARIES "${Gmsh_LIBRARY}")
endif()
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Gmsh REQUIRED_VARS Gmsh_LIBRARY Gmsh_INCLUDE_DIR Gmsh_WORKS
    REASON_FAILURE_MESSAGE "install libgmsh-dev")
if(Gmsh_FOUND AND NOT TARGET Gmsh::Gmsh)
    add_library(Gmsh::Gmsh UNKNOWN IMPORTED)
    set_target_properties(Gmsh::Gmsh PROPERTIES IMPORTED_LOCATION "${Gmsh_LIBRARY}"
        INTERFACE_INCLUDE_DIRECTORIES "${Gmsh_INCLUDE_DIR}")
endif()
