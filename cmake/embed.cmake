# Write text files as one C file of byte arrays.
#   cmake -DROOT=folder -DNAMES=a.weft|sub/b.weft -DTABLE=weft_embedded_scripts
#         -DHEADER=embedded_scripts.h -DOUTPUT=file.c -P embed.cmake
# Byte arrays, for string literals are limited to 4095 characters by the standard.
string(REPLACE "|" ";" names "${NAMES}")
set(arrays "")
set(entries "")
set(count 0)
foreach(name IN LISTS names)
    file(READ "${ROOT}/${name}" bytes HEX)
    string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
    set(byte "0x..,")
    string(REPEAT "${byte}" 16 line)
    string(REGEX REPLACE "(${line})" "\\1\n    " bytes "${bytes}")
    string(APPEND arrays
        "static const unsigned char text_${count}[] = { /* ${name} */\n    ${bytes}0x00};\n\n")
    string(APPEND entries "    {\"${name}\", (const char *)text_${count}},\n")
    math(EXPR count "${count} + 1")
endforeach()
file(WRITE "${OUTPUT}" "/* Written by cmake/embed.cmake. */
#include \"${HEADER}\"

${arrays}const weft_embedded_file ${TABLE}[] = {
${entries}    {NULL, NULL}};
const size_t ${TABLE}_count = ${count};
")
