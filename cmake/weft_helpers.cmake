# What every folder's target needs.

# weft_embed(target folder pattern table header): embed the files below `folder` whose names match
# `pattern`. The names are in the command, so that a file added or removed rebuilds too.
function(weft_embed target folder pattern table header)
    set(root "${PROJECT_SOURCE_DIR}/${folder}")
    file(GLOB_RECURSE names RELATIVE "${root}" CONFIGURE_DEPENDS "${root}/${pattern}")
    list(SORT names)
    set(paths ${names})
    list(TRANSFORM paths PREPEND "${root}/")
    string(REPLACE ";" "|" joined "${names}")
    set(output "${PROJECT_BINARY_DIR}/embedded/${table}.c")
    add_custom_command(OUTPUT "${output}"
        COMMAND "${CMAKE_COMMAND}" "-DROOT=${root}" "-DNAMES=${joined}" -DTABLE=${table}
                -DHEADER=${header} "-DOUTPUT=${output}" -P "${PROJECT_SOURCE_DIR}/cmake/embed.cmake"
        DEPENDS ${paths} "${PROJECT_SOURCE_DIR}/cmake/embed.cmake"
        COMMENT "Embedding ${folder}" VERBATIM)
    target_sources(${target} PRIVATE "${output}")
endfunction()

# weft_interface(target map header...): write the version script of libweft.so, which exports what the headers declare, and
# add the sizes of their structs to the target.
function(weft_interface target map)
    set(paths ${ARGN})
    list(TRANSFORM paths PREPEND "${PROJECT_SOURCE_DIR}/")
    string(REPLACE ";" "|" joined "${ARGN}")
    set(sizes "${PROJECT_BINARY_DIR}/embedded/weft_interface.c")
    add_custom_command(OUTPUT "${map}" "${sizes}"
        COMMAND "${CMAKE_COMMAND}" "-DCOMPILER=${CMAKE_C_COMPILER}" "-DROOT=${PROJECT_SOURCE_DIR}"
                "-DHEADERS=${joined}" -DVERSION=${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
                "-DMAP=${map}" "-DSIZES=${sizes}" -P "${PROJECT_SOURCE_DIR}/cmake/interface.cmake"
        DEPENDS ${paths} "${PROJECT_SOURCE_DIR}/cmake/interface.cmake"
        COMMENT "Reading the interface from the installed headers" VERBATIM)
    target_sources(${target} PRIVATE "${sizes}" "${map}")
endfunction()

# weft_library(target glob...): a static library of the sources that match, which may be none yet.
function(weft_library target)
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${ARGN})
    if(NOT sources)
        set(sources "${PROJECT_BINARY_DIR}/embedded/${target}_empty.c")
        file(WRITE "${sources}" "typedef int ${target}_has_no_sources;\n")
    endif()
    add_library(${target} STATIC ${sources})
    target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:weft_options>)
endfunction()

# weft_program(target library... GLOB glob...): a program, where it has sources.
function(weft_program target)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "GLOB;LIBRARIES")
    file(GLOB sources CONFIGURE_DEPENDS ${arg_GLOB})
    if(NOT sources)
        return()
    endif()
    add_executable(${target} ${sources})
    target_link_libraries(${target} PRIVATE weft_options ${arg_LIBRARIES})
    set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}")
    weft_emulated(${target} "${PROJECT_BINARY_DIR}")
endfunction()

# weft_emulated(target folder): where programs run under an emulator, the file that has a program's
# name is a script that starts it so, for programs and tests start each other and themselves.
function(weft_emulated target folder)
    if(NOT CMAKE_CROSSCOMPILING_EMULATOR)
        return()
    endif()
    set(script "${folder}/${target}")
    set(emulator ${CMAKE_CROSSCOMPILING_EMULATOR} -0 "${script}")
    list(TRANSFORM emulator REPLACE "(.+)" "'\\1'" OUTPUT_VARIABLE words)
    list(JOIN words " " words)
    set_target_properties(${target} PROPERTIES SUFFIX ".elf" CROSSCOMPILING_EMULATOR "${emulator}")
    file(WRITE "${script}" "#!/bin/sh\nexec ${words} '${script}.elf' \"$@\"\n")
    file(CHMOD "${script}" PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE
        GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
endfunction()
