# Write what the installed headers say about libweft.so: the linker's version script, which exports the functions and
# variables that they declare, and nothing else; and the functions of forms/weft_interface.h, with the sizes of the structs
# that they lay open.
#   cmake -DCOMPILER=cc -DROOT=folder -DHEADERS=core/weft_base.h|... -DVERSION=0.1 -DMAP=file.map -DSIZES=file.c
#         -P interface.cmake
# After preprocessing, blocks in braces are replaced by '#', which also ends statements, and parentheses with what they
# enclose by '@': a function is then a name before a '@'.
string(REPLACE "|" ";" headers "${HEADERS}")
set(source "")
foreach(header IN LISTS headers)
    string(APPEND source "#include \"${header}\"\n")
endforeach()
file(WRITE "${SIZES}" "${source}")
execute_process(COMMAND "${COMPILER}" -E -P "-I${ROOT}" "${SIZES}" OUTPUT_VARIABLE text
    COMMAND_ERROR_IS_FATAL ANY)
string(REGEX REPLACE "[][\n]" " " text "${text}")
string(REPLACE ";" "#" text "${text}")
string(REGEX MATCHALL "struct weft_[A-Za-z0-9_]+ {" structs "${text}")
set(before "")
while(NOT text STREQUAL before)
    set(before "${text}")
    string(REGEX REPLACE "{[^{}]*}" "#" text "${text}")
    string(REGEX REPLACE "\\([^()]*\\)" "@" text "${text}")
endwhile()
string(REPLACE "#" ";" statements "${text}")
set(names "")
foreach(statement IN LISTS statements)
    if(statement MATCHES "^ *(typedef|static) ")
        continue()
    elseif(statement MATCHES "(weft_[A-Za-z0-9_]+) *@")
        list(APPEND names "${CMAKE_MATCH_1}")
    elseif(statement MATCHES "^ *extern .*(weft_[A-Za-z0-9_]+) *$")
        list(APPEND names "${CMAKE_MATCH_1}")
    endif()
endforeach()
if(NOT names)
    message(FATAL_ERROR "no declarations were found in ${HEADERS}")
endif()

list(SORT names)
list(REMOVE_DUPLICATES names)
list(JOIN names ";\n        " lines)
file(WRITE "${MAP}" "WEFT_${VERSION} {\n    global:\n        ${lines};\n    local: *;\n};\n")

list(TRANSFORM structs REPLACE "struct (weft_[A-Za-z0-9_]+) {" "    {\"\\1\", sizeof(struct \\1)}")
list(SORT structs)
list(JOIN structs ",\n" rows)
file(WRITE "${SIZES}" "/* Written by cmake/interface.cmake. */
${source}
int weft_interface_version(void) {
    return WEFT_INTERFACE_VERSION;
}

static const weft_interface_size sizes[] = {
${rows}};

const weft_interface_size *weft_interface_sizes(size_t *n) {
    *n = sizeof sizes / sizeof sizes[0];
    return sizes;
}
")
