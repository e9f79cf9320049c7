# What is installed besides the programs and libraries, whose rules stand with their targets, and the packages that CPack
# makes of all of it (make package):
#
#   atoll-VERSION-linux-x86_64.tar.gz   a folder that runs from wherever it is unpacked
#   atoll_VERSION_amd64.deb             the same in Debian's places (DebianPackage.cmake)
#
# Nothing that is installed knows its prefix: each file finds the others from where it lies itself.

set(documents ${CMAKE_INSTALL_DOCDIR})
install(FILES README.md CHANGELOG.md LICENSE DESTINATION ${documents} COMPONENT documents)
install(DIRECTORY docs examples DESTINATION ${documents} COMPONENT documents PATTERN demo EXCLUDE)

# The licenses of the libraries that are linked into what is installed, as their Debian packages state them. Several of
# them want their notice to go with binaries.
set(linked_packages llvm-22-dev libstdc++-12-dev libfmt-dev libcli11-dev nlohmann-json3-dev libmsgpack-cxx-dev
  libyaml-cpp-dev libzstd-dev zlib1g-dev libhsa-runtime-dev)
file(READ LICENSE copyright)
string(PREPEND copyright "Atoll\n=====\n\n")
string(APPEND copyright "\nAtoll's programs and libraries contain parts of the following.\n")
foreach(package IN LISTS linked_packages)
  set(file /usr/share/doc/${package}/copyright)
  if(EXISTS ${file})
    file(READ ${file} text)
    string(LENGTH ${package} length)
    string(REPEAT "=" ${length} line)
    string(APPEND copyright "\n${package}\n${line}\n\n${text}")
  else()
    message(WARNING "${file} is missing: packages that are made here lack the license of what is linked into them")
  endif()
endforeach()
file(CONFIGURE OUTPUT copyright CONTENT "@copyright@" @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/copyright DESTINATION ${documents} COMPONENT documents)

set(CPACK_PACKAGE_NAME atoll)
set(CPACK_PACKAGE_VENDOR "The Atoll developers")
set(CPACK_PACKAGE_CONTACT "The Atoll developers <maintainers@atoll.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "AMD GPU in software: runs ROCm and HIP programs without a GPU")
set(CPACK_PACKAGE_DESCRIPTION
"Atoll executes the code that hipcc compiled for AMD GPUs, from GFX9 to GFX12, on a machine that has none. It takes
the place of the HSA runtime under an unmodified program, for the GPU that is named, and reports faults of kernels with
their instruction, source line and lane. The package has the atoll command, the runtime, a C++ library and its headers.")
set(CPACK_PACKAGE_DIRECTORY ${CMAKE_BINARY_DIR}/packages)
set(CPACK_PACKAGE_FILE_NAME ${CPACK_PACKAGE_NAME}-${PROJECT_VERSION}-linux-x86_64)
set(CPACK_GENERATOR TGZ DEB)
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_MONOLITHIC_INSTALL ON)

# What the C library must have follows from the symbols that are used; dpkg-shlibdeps looks them up. Programs bring
# their HIP, so that none is needed to install Atoll.
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "hipcc, libamdhip64-dev")
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_SOURCE_DIR}/cmake/DebianPackage.cmake)
include(CPack)
