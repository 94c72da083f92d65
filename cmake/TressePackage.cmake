# Debian packages by CPack: `cpack --config build/package/CPackConfig.cmake`. tresse is the program, its scenes and Python
# parts; libtresse-dev the library for find_package(tresse). Build them from the preset "package", which any x86-64 runs.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME tresse)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_VENDOR "The authors of tresse")
set(CPACK_PACKAGE_CONTACT "The authors of tresse <authors@tresse.invalid>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_THREADS 0)

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL tresse development)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

set(level "")
if(tresse_march)
  set(level "\nBuilt for processors of the level ${tresse_march}.")
endif()
set(CPACK_COMPONENT_TRESSE_DESCRIPTION "Hair, wires, threads and flagella, and the forces between them: rods made
of smooth arcs, contact found on the smooth curves with a proof, friction
solved to a stated residual. With scenes, plots and pictures.${level}")
set(CPACK_DEBIAN_TRESSE_PACKAGE_NAME tresse)
set(CPACK_DEBIAN_TRESSE_PACKAGE_SHLIBDEPS ON)
# tresse plot, and reading results.
set(CPACK_DEBIAN_TRESSE_PACKAGE_RECOMMENDS "python3, python3-numpy, python3-matplotlib, python3-h5py")

set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "For C++ programs: static libraries, headers and a CMake package,
find_package(tresse).${level}")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libtresse-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS
    "libeigen3-dev, libtbb-dev, libfmt-dev, libhdf5-dev, nlohmann-json3-dev, libtomlplusplus-dev")
include(CPack)
