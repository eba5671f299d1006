# Libraries from the system. Those with a .pc file become interface targets weft_NAME, which the
# installed package finds again in the same way (weft-config.cmake.in).
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)

function(weft_pkg_config name module package)
    pkg_check_modules(${name} QUIET IMPORTED_TARGET ${module})
    if(NOT ${name}_FOUND)
        message(FATAL_ERROR "${module} is missing: install ${package} (./run does it)")
    endif()
    add_library(weft_${name} INTERFACE)
    target_link_libraries(weft_${name} INTERFACE PkgConfig::${name})
endfunction()

# hdf5-serial, not hdf5: the latter may be the MPI build.
weft_pkg_config(hdf5 hdf5-serial libhdf5-dev)
weft_pkg_config(xxhash libxxhash libxxhash-dev)
weft_pkg_config(jansson jansson libjansson-dev)
find_package(METIS REQUIRED)
find_package(Gmsh QUIET)
