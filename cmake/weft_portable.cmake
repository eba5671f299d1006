# BUILD/weft: the programs and the shared libraries that they need beside glibc's own. RPATH rather
# than RUNPATH, so that it holds for the libraries' libraries too.
set(programs)
foreach(program IN LISTS weft_programs)
    if(TARGET ${program})
        target_link_options(${program} PRIVATE -static-libgcc -Wl,--gc-sections
            -Wl,--disable-new-dtags)
        set_target_properties(${program} PROPERTIES BUILD_WITH_INSTALL_RPATH ON
            INSTALL_RPATH "$ORIGIN" RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/programs")
        list(APPEND programs "$<TARGET_FILE:${program}>")
    endif()
endforeach()
string(REPLACE ";" "|" joined "${programs}")
set(folder "${PROJECT_BINARY_DIR}/weft")
file(GLOB meshes CONFIGURE_DEPENDS meshes/*.geo)
add_custom_command(OUTPUT "${folder}/.complete"
    COMMAND "${CMAKE_COMMAND}" "-DPROGRAMS=${joined}" "-DFOLDER=${folder}"
            "-DSOURCE=${PROJECT_SOURCE_DIR}" -P "${PROJECT_SOURCE_DIR}/cmake/gather.cmake"
    DEPENDS ${programs} ${meshes} "${PROJECT_SOURCE_DIR}/cmake/gather.cmake"
    COMMENT "Gathering ${folder}" VERBATIM)
add_custom_target(portable ALL DEPENDS "${folder}/.complete")
if(NOT CMAKE_CROSSCOMPILING)
    weft_kernels("${folder}" "${folder}/.complete")
endif()
