# Libraries from the system, as imported targets: the installed package finds them again under the
# same names (weft-config.cmake.in). In the portable build, static ones where there are any.
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)

function(weft_pkg_config name module package)
    pkg_check_modules(${name} QUIET IMPORTED_TARGET GLOBAL ${module})
    if(NOT ${name}_FOUND)
        message(FATAL_ERROR "${module} is missing: install ${package} (./run does it)")
    endif()
endfunction()

# weft_static(name libNAME.a...): PkgConfig::NAME from static libraries, for the portable build.
# HDF5's optional S3 driver would bring 30 libraries; with the static one the linker leaves it out.
function(weft_static name)
    add_library(PkgConfig::${name} INTERFACE IMPORTED GLOBAL)
    target_include_directories(PkgConfig::${name} INTERFACE ${${name}_INCLUDE_DIRS})
    foreach(file IN LISTS ARGN)
        find_library(WEFT_STATIC_${file} ${file} HINTS ${${name}_LIBRARY_DIRS} ${${name}_LIBDIR})
        mark_as_advanced(WEFT_STATIC_${file})
        if(NOT WEFT_STATIC_${file})
            message(FATAL_ERROR "${file} is missing: the portable build needs the static library")
        endif()
        target_link_libraries(PkgConfig::${name} INTERFACE "${WEFT_STATIC_${file}}")
    endforeach()
    target_link_libraries(PkgConfig::${name} INTERFACE ${CMAKE_DL_LIBS} m)
endfunction()

# hdf5-serial, not hdf5: the latter may be the MPI build.
if(WEFT_PORTABLE)
    pkg_check_modules(weft_hdf5 REQUIRED QUIET hdf5-serial)
    pkg_check_modules(weft_xxhash REQUIRED QUIET libxxhash)
    pkg_check_modules(weft_jansson REQUIRED QUIET jansson)
    weft_static(weft_hdf5 libhdf5.a libsz.a libaec.a libz.a)
    weft_static(weft_xxhash libxxhash.a)
    weft_static(weft_jansson libjansson.a)
else()
    weft_pkg_config(weft_hdf5 hdf5-serial libhdf5-dev)
    weft_pkg_config(weft_xxhash libxxhash libxxhash-dev)
    weft_pkg_config(weft_jansson jansson libjansson-dev)
endif()
find_package(METIS REQUIRED)
find_package(GLPK REQUIRED)
find_package(Gmsh QUIET)
