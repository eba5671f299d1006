# cpack -G DEB in the build folder: a Debian package of what `cmake --install` installs.
set(CPACK_PACKAGE_NAME weft)
set(CPACK_PACKAGE_VENDOR "Weft")
set(CPACK_PACKAGE_CONTACT "Weft <weft@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION math)
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
"Weft assembles and solves finite-element problems on triangles and tetrahedra
from short scripts, for which it generates fused kernels. This package has the
programs, and the static libraries and headers for programs of your own.")
# Libraries are found by dpkg-shlibdeps. Kernels are compiled where Weft runs.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "gcc | clang | c-compiler, libc6-dev")
# For its own plots and graphs; and for programs that are linked to its libraries.
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "gnuplot, graphviz, paraview, bash-completion, pkg-config, libhdf5-dev, \
libmetis-dev, libglpk-dev, libjansson-dev, libxxhash-dev, libsqlite3-dev")
include(CPack)
