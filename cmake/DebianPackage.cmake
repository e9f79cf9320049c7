# Run by CPack on the files of a package before it is put together: gives those of the Debian package the places and the
# form that Debian's policy wants (sections 12.1 and 12.7: manual pages and changelogs are compressed).
if(NOT CPACK_GENERATOR STREQUAL DEB)
  return()
endif()
set(share ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/usr/share)

file(REMOVE ${share}/doc/atoll/LICENSE)  # is in copyright
file(RENAME ${share}/doc/atoll/CHANGELOG.md ${share}/doc/atoll/changelog)
file(GLOB manual_pages ${share}/man/man1/*.1)
execute_process(COMMAND gzip --best --no-name ${share}/doc/atoll/changelog ${manual_pages} COMMAND_ERROR_IS_FATAL ANY)

# zsh looks for what packages bring in a directory of Debian's own.
if(EXISTS ${share}/zsh/site-functions)
  file(RENAME ${share}/zsh/site-functions ${share}/zsh/vendor-completions)
endif()
