# cmake -DPROGRAMS=a|b -DFOLDER=out -DSOURCE=top -P gather.cmake: copy programs with their libraries.
cmake_minimum_required(VERSION 3.25)
string(REPLACE "|" ";" programs "${PROGRAMS}")
file(REMOVE_RECURSE "${FOLDER}")
file(MAKE_DIRECTORY "${FOLDER}")
set(CMAKE_GET_RUNTIME_DEPENDENCIES_PLATFORM linux+elf) # a script does not know it by itself
file(GET_RUNTIME_DEPENDENCIES EXECUTABLES ${programs}
    RESOLVED_DEPENDENCIES_VAR libraries UNRESOLVED_DEPENDENCIES_VAR unresolved)
# glibc's own libraries belong to the machine: they fit its kernel and its loader.
list(FILTER libraries EXCLUDE REGEX
    "/(ld-linux[^/]*|lib(c|m|dl|rt|pthread|resolv|util|mvec|nsl|anl)\\.so[^/]*)$")
if(unresolved)
    message(FATAL_ERROR "not found: ${unresolved}")
endif()
foreach(library IN LISTS libraries)
    # the file itself, under the name by which it is asked for
    file(REAL_PATH "${library}" file)
    get_filename_component(name "${library}" NAME)
    configure_file("${file}" "${FOLDER}/${name}" COPYONLY)
endforeach()
file(COPY ${programs} "${SOURCE}/LICENSE" "${SOURCE}/meshes" DESTINATION "${FOLDER}")
file(TOUCH "${FOLDER}/.complete")
