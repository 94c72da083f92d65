include(CMakePackageConfigHelpers)

get_property(folders GLOBAL PROPERTY TRESSE_FOLDERS)
install(TARGETS ${folders} tresse_options tresse_umbrella EXPORT tresseTargets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/src/tresse DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.hpp")
install(TARGETS tresse_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/scenes DESTINATION ${CMAKE_INSTALL_DATADIR}/tresse)
install(EXPORT tresseTargets NAMESPACE tresse:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/tresse)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/tresseConfig.cmake.in
  ${PROJECT_BINARY_DIR}/tresseConfig.cmake INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/tresse)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/tresseConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/tresseConfig.cmake ${PROJECT_BINARY_DIR}/tresseConfigVersion.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/tresse)
