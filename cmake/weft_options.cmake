# Flags of every target of ours: an interface target, so that nothing else gets them.
add_library(weft_options INTERFACE)
target_compile_definitions(weft_options INTERFACE _GNU_SOURCE)
# Integer constants are enumerators here, and clang would warn wherever one meets a double.
target_compile_options(weft_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion
    $<$<C_COMPILER_ID:Clang>:-Wno-enum-float-conversion> $<$<BOOL:${WEFT_WERROR}>:-Werror>)
target_link_options(weft_options INTERFACE LINKER:--build-id) # by which kept plans tell builds apart
if(WEFT_SANITIZE)
    target_compile_options(weft_options INTERFACE -fsanitize=${WEFT_SANITIZE} -fno-omit-frame-pointer)
    target_link_options(weft_options INTERFACE -fsanitize=${WEFT_SANITIZE})
    if(WEFT_SANITIZE STREQUAL "undefined")
        target_compile_options(weft_options INTERFACE -fno-sanitize-recover=undefined)
    endif()
endif()
if(WEFT_FUZZ)
    target_compile_options(weft_options INTERFACE -fsanitize=fuzzer-no-link,address)
    target_link_options(weft_options INTERFACE -fsanitize=address)
endif()
