include(CMakePackageConfigHelpers)

get_property(folders GLOBAL PROPERTY TRESSE_FOLDERS)
install(TARGETS ${folders} tresse_options tresse_umbrella EXPORT tresseTargets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/src/tresse DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development
        FILES_MATCHING PATTERN "*.hpp")
install(TARGETS tresse_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/scenes DESTINATION ${CMAKE_INSTALL_DATADIR}/tresse)
install(EXPORT tresseTargets NAMESPACE tresse:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/tresse COMPONENT development)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/tresseConfig.cmake.in
  ${PROJECT_BINARY_DIR}/tresseConfig.cmake INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/tresse)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/tresseConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/tresseConfig.cmake ${PROJECT_BINARY_DIR}/tresseConfigVersion.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/tresse COMPONENT development)

# The manual page, completions and schema come from the program itself, made whenever it is linked (app/CMakeLists.txt).
set(from_program ${PROJECT_BINARY_DIR}/share)
install(FILES ${from_program}/tresse.1.gz DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${from_program}/scene.schema.json DESTINATION ${CMAKE_INSTALL_DATADIR}/tresse)
install(FILES ${from_program}/completion.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
        RENAME tresse)
install(FILES ${from_program}/completion.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d
        RENAME tresse.fish)
# Debian's zsh looks elsewhere in /usr than in /usr/local.
install(CODE "
  set(folder site-functions)
  if(CMAKE_INSTALL_PREFIX STREQUAL \"/usr\")
    set(folder vendor-completions)
  endif()
  file(INSTALL DESTINATION \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATADIR}/zsh/\${folder}\" TYPE FILE
       RENAME _tresse FILES \"${from_program}/completion.zsh\")")
install(FILES ${PROJECT_SOURCE_DIR}/cmake/copyright DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES ${from_program}/changelog.gz DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES ${PROJECT_SOURCE_DIR}/cmake/copyright DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/libtresse-dev
        COMPONENT development)
