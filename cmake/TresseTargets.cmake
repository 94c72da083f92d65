# One static library per folder of src/tresse, linked only to what it may use, so that the build keeps
# the layering rule of docs/architecture.md.

add_library(tresse_options INTERFACE)
target_compile_features(tresse_options INTERFACE cxx_std_20)
# The same alignment in the library and in its users, whatever their -march: Eigen's allocator depends on it.
target_compile_definitions(tresse_options INTERFACE EIGEN_MAX_ALIGN_BYTES=64)

# AVX2 rather than all that the machine has: 512-bit vectors gain nothing on 3x3 blocks and short rows.
set(tresse_march "${TRESSE_MARCH}")
if(TRESSE_MARCH STREQUAL "auto")
  set(tresse_march "")
  if(EXISTS /proc/cpuinfo)
    file(READ /proc/cpuinfo cpuinfo LIMIT 8192)
    if(cpuinfo MATCHES " avx2 " AND cpuinfo MATCHES " fma " AND cpuinfo MATCHES " bmi2 ")
      set(tresse_march "x86-64-v3")
    endif()
  endif()
endif()

add_library(tresse_build_options INTERFACE)
target_compile_options(tresse_build_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Wnon-virtual-dtor -Woverloaded-virtual
  "$<$<CXX_COMPILER_ID:Clang>:-Wno-psabi>"  # vectors of four stay within the library
  "$<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized;-Wno-restrict>"  # g++ 12 cries wolf (std::variant, std::string)
  # Of sources that stand together in one file g++ takes all but that file for headers.
  "$<$<AND:$<BOOL:${CMAKE_UNITY_BUILD}>,$<CXX_COMPILER_ID:GNU>>:-Wno-subobject-linkage>"
  $<$<BOOL:${TRESSE_WARNINGS_AS_ERRORS}>:-Werror>
  $<$<BOOL:${tresse_march}>:-march=${tresse_march}>)
if(TRESSE_ASSERTIONS OR CMAKE_BUILD_TYPE STREQUAL "Debug")
  target_compile_definitions(tresse_build_options INTERFACE TRESSE_ASSERTIONS=1)
endif()
if(TRESSE_SANITIZERS)
  # Accesses beyond an object are found by the address sanitizer too; these two cost 8 to 60 % of the compile time.
  target_compile_options(tresse_build_options INTERFACE
    -fsanitize=${TRESSE_SANITIZERS} -fno-sanitize=pointer-overflow,object-size -fno-omit-frame-pointer
    -fno-sanitize-recover=all)
  target_link_options(tresse_build_options INTERFACE -fsanitize=${TRESSE_SANITIZERS})
endif()

# tresse_precompile(<target> <group> [<headers>...] [LINK <targets>]): what nearly every source reads is read once for all
# targets of a group, whose flags are the same. Not where sources stand together in a few files anyway.
function(tresse_precompile target group)
  if(CMAKE_UNITY_BUILD OR CMAKE_DISABLE_PRECOMPILE_HEADERS)
    return()
  endif()
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  set(owner tresse_precompiled_${group})
  if(NOT TARGET ${owner})
    set(source ${PROJECT_BINARY_DIR}/${owner}.cpp)
    file(CONFIGURE OUTPUT ${source} CONTENT "")
    add_library(${owner} OBJECT ${source})
    get_target_property(position_independent ${target} POSITION_INDEPENDENT_CODE)
    set_target_properties(${owner} PROPERTIES POSITION_INDEPENDENT_CODE ${position_independent})
    target_link_libraries(${owner} PRIVATE tresse_options tresse_build_options Eigen3::Eigen ${ARG_LINK})
    target_precompile_headers(${owner} PRIVATE
      <algorithm> <array> <cmath> <functional> <limits> <map> <memory> <optional> <span> <string> <string_view> <utility>
      <variant> <vector> <Eigen/Dense> ${ARG_UNPARSED_ARGUMENTS})
  endif()
  target_precompile_headers(${target} REUSE_FROM ${owner})
  if(TRESSE_CCACHE AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${owner} PRIVATE -fpch-preprocess)
    target_compile_options(${target} PRIVATE -fpch-preprocess)  # without it ccache passes on all that reads them
  endif()
  # From precompiled headers g++ 12 sees overflows within std::string.
  target_compile_options(${target} PRIVATE "$<$<CXX_COMPILER_ID:GNU>:-Wno-stringop-overflow;-Wno-array-bounds>")
endfunction()

# tresse_folder(<name> [DEPENDS <folders>] [PUBLIC <targets>] [PRIVATE <targets>])
function(tresse_folder name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;PUBLIC;PRIVATE" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*.cpp)
  set(target tresse_${name})
  if(NOT sources)
    # A folder of headers alone is a library like the others.
    set(sources ${CMAKE_CURRENT_BINARY_DIR}/${name}_without_sources.cpp)
    file(WRITE ${sources} "")
  endif()
  add_library(${target} STATIC ${sources})
  add_library(tresse::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name} POSITION_INDEPENDENT_CODE ON LINKER_LANGUAGE CXX)
  target_include_directories(${target} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(${target} PUBLIC tresse_options Eigen3::Eigen ${ARG_PUBLIC}
                                  PRIVATE $<BUILD_INTERFACE:tresse_build_options> ${ARG_PRIVATE})
  if(TRESSE_FUZZ)
    # So that the fuzzer sees the branches that an input takes.
    target_compile_options(${target} PRIVATE -fsanitize=fuzzer-no-link)
  endif()
  foreach(dependency IN LISTS ARG_DEPENDS)
    target_link_libraries(${target} PUBLIC tresse_${dependency})
  endforeach()
  tresse_precompile(${target} library)
  set_property(GLOBAL APPEND PROPERTY TRESSE_FOLDERS ${target})
endfunction()
