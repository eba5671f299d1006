# weft_kernels(folder file...): `ninja kernels` makes kernels of common problems in folder/weft-kernels, for each instruction
# set that this processor has, by the programs in the folder, when the files have changed. They are installed with the
# programs. `ninja own_kernels` makes those of the processor's best set alone: what ./run needs.
function(weft_kernels folder)
    set(sets neon)
    set(own neon)
    if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
        set(sets sse2 avx2 avx512)
        set(own sse2)
        set(flags)
        if(EXISTS /proc/cpuinfo)
            file(STRINGS /proc/cpuinfo flags REGEX "^flags" LIMIT_COUNT 1)
        endif()
        if(flags MATCHES " avx512vl ")
            set(own avx512)
        elseif(flags MATCHES " avx2 ")
            set(own avx2)
        endif()
    endif()
    add_custom_target(kernels)
    foreach(set IN LISTS sets)
        set(stamp "${PROJECT_BINARY_DIR}/kernels_${set}.complete")
        add_custom_command(OUTPUT "${stamp}"
            COMMAND bash "${PROJECT_SOURCE_DIR}/cmake/ship_kernels.sh" "${folder}" "${CMAKE_C_COMPILER}" ${set}
            COMMAND "${CMAKE_COMMAND}" -E touch "${stamp}"
            DEPENDS ${ARGN} "${PROJECT_SOURCE_DIR}/cmake/ship_kernels.sh"
            COMMENT "Building kernels of common problems, ${set}" VERBATIM)
        add_custom_target(kernels_${set} DEPENDS "${stamp}")
        add_dependencies(kernels kernels_${set})
    endforeach()
    add_custom_target(own_kernels)
    add_dependencies(own_kernels kernels_${own})
endfunction()
