# cmake --install: libraries, headers, the CMake package `weft`, weft.pc, programs, meshes, docs. For a wheel,
# libweft.so is the only library, and there are neither man pages nor docs.
include(CMakePackageConfigHelpers)

foreach(header IN LISTS weft_headers)
    cmake_path(GET header PARENT_PATH folder)
    install(FILES ${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/weft/${folder})
endforeach()
set(package "${CMAKE_INSTALL_LIBDIR}/cmake/weft")
if(WEFT_WHEEL)
    set(templates packaging)
    install(TARGETS weft_shared LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} NAMELINK_SKIP)
    configure_file(packaging/weft-config.cmake.in "${PROJECT_BINARY_DIR}/weft-config.cmake" @ONLY)
else()
    set(templates cmake)
    foreach(name core gemm fusion fem forms)
        set_target_properties(weft_${name} PROPERTIES EXPORT_NAME ${name})
        install(TARGETS weft_${name} EXPORT weft-targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
    endforeach()
    if(TARGET weft_shared)
        install(TARGETS weft_shared LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
    endif()
    install(EXPORT weft-targets NAMESPACE weft:: DESTINATION ${package})
    configure_package_config_file(cmake/weft-config.cmake.in "${PROJECT_BINARY_DIR}/weft-config.cmake"
        INSTALL_DESTINATION ${package})
    install(FILES cmake/FindMETIS.cmake cmake/FindGLPK.cmake DESTINATION ${package})
endif()
write_basic_package_version_file("${PROJECT_BINARY_DIR}/weft-config-version.cmake"
    COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/weft-config.cmake"
    "${PROJECT_BINARY_DIR}/weft-config-version.cmake" DESTINATION ${package})

# Relative to the .pc file, so that the tree can be moved.
file(RELATIVE_PATH to_prefix "/prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/prefix")
configure_file(${templates}/weft.pc.in "${PROJECT_BINARY_DIR}/weft.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/weft.pc" DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

foreach(program IN LISTS weft_programs)
    if(TARGET ${program})
        install(TARGETS ${program} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
        install(FILES cmake/completion.bash RENAME ${program}
            DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
    endif()
endforeach()
# Man pages are made from --help, straight into their place: several installations may run at once.
if(NOT CMAKE_CROSSCOMPILING AND NOT WEFT_WHEEL)
    install(CODE "set(man \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_MANDIR}/man1\")
        execute_process(COMMAND_ERROR_IS_FATAL ANY COMMAND bash
            [[${PROJECT_SOURCE_DIR}/cmake/man_pages.sh]] [[${PROJECT_BINARY_DIR}]] \"\$ENV{DESTDIR}\${man}\")
        file(GLOB pages RELATIVE \"\$ENV{DESTDIR}\${man}\" \"\$ENV{DESTDIR}\${man}/*.1\")
        list(FILTER pages INCLUDE REGEX \"^(poisson|solve|scaling|advection_diffusion|weft)\")
        list(TRANSFORM pages PREPEND \"\${man}/\")
        list(APPEND CMAKE_INSTALL_MANIFEST_FILES \${pages})")
endif()
install(DIRECTORY meshes/ DESTINATION ${CMAKE_INSTALL_DATADIR}/weft/meshes)
install(DIRECTORY fem/scripts/ DESTINATION ${CMAKE_INSTALL_DATADIR}/weft/scripts
    FILES_MATCHING PATTERN "*.weft")
# `ninja kernels` has made them, or they are not installed.
install(DIRECTORY "${PROJECT_BINARY_DIR}/weft-kernels/" DESTINATION ${CMAKE_INSTALL_LIBDIR}/weft/kernels OPTIONAL)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
if(WEFT_WHEEL)
    install(DIRECTORY docs/examples DESTINATION ${CMAKE_INSTALL_DATADIR}/weft)
else()
    install(DIRECTORY docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR})
    if(EXISTS "${PROJECT_SOURCE_DIR}/README.md")
        install(FILES README.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
    endif()
endif()
