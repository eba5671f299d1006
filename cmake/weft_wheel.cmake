# What the Python package needs beside `cmake --install` (packaging/wheel.sh). Its prefix is site-packages/weft/prefix.

# A wheel has no links.
set_target_properties(weft_shared PROPERTIES VERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})

# pip puts Gmsh's library into the lib of the environment. It needs those of a display, which weft-gmsh never opens: packaging/wheel.sh has made empty ones.
if(TARGET weft-gmsh)
    file(GLOB libraries CONFIGURE_DEPENDS "${PROJECT_BINARY_DIR}/gmsh/*.so.*")
    target_link_options(weft-gmsh PRIVATE LINKER:--no-as-needed)
    target_link_libraries(weft-gmsh PRIVATE ${libraries})
    set_target_properties(weft-gmsh PROPERTIES
        INSTALL_RPATH "$ORIGIN/../lib/weft/gmsh;$ORIGIN/../../../../..;$ORIGIN/../../../lib")
    install(FILES ${libraries} DESTINATION ${CMAKE_INSTALL_LIBDIR}/weft/gmsh)
endif()
