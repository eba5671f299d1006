# What the Python package needs beside `cmake --install` (packaging/wheel.sh). Its prefix is site-packages/weft/prefix, and
# bin and lib there look for the libraries of other packages: NVRTC of CUDA 12 and of 13, and Gmsh, which pip puts into the
# lib of the environment.
set(site "$ORIGIN/../../..")
foreach(target IN LISTS weft_programs ITEMS weft_shared)
    if(TARGET ${target})
        set_target_properties(${target} PROPERTIES
            INSTALL_RPATH "${site}/nvidia/cuda_nvrtc/lib;${site}/nvidia/cu13/lib")
    endif()
endforeach()

# A wheel has no links.
set_target_properties(weft_shared PROPERTIES VERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})

# Gmsh's library needs those of a display, which weft-gmsh never opens: packaging/wheel.sh has made empty ones.
if(TARGET weft-gmsh)
    file(GLOB libraries CONFIGURE_DEPENDS "${PROJECT_BINARY_DIR}/gmsh/*.so.*")
    target_link_options(weft-gmsh PRIVATE LINKER:--no-as-needed)
    target_link_libraries(weft-gmsh PRIVATE ${libraries})
    set_target_properties(weft-gmsh PROPERTIES
        INSTALL_RPATH "$ORIGIN/../lib/weft/gmsh;${site}/../..;${site}/lib")
    install(FILES ${libraries} DESTINATION ${CMAKE_INSTALL_LIBDIR}/weft/gmsh)
endif()
