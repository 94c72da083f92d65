# cmake -DBUILD=<build of tresse> -DCONSUMER=<folder of the consumer> -DWORK=<scratch folder> -DPYTHON=<interpreter> -P package_test.cmake
# Installs tresse, moves the installed tree (a package must not remember where it was), and builds and runs a project
# that finds it with find_package(tresse). The scratch folder's name has a space on purpose.

function(run name)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${name} failed (${status}):\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE "${WORK}")
run("install" ${CMAKE_COMMAND} --install "${BUILD}" --prefix "${WORK}/first place")
file(RENAME "${WORK}/first place" "${WORK}/second place")
run("configure the consumer" ${CMAKE_COMMAND} -S "${CONSUMER}" -B "${WORK}/build" -G Ninja
    "-DCMAKE_PREFIX_PATH=${WORK}/second place" -DCMAKE_BUILD_TYPE=Release "-DCMAKE_CXX_COMPILER=${CXX}")
run("build the consumer" ${CMAKE_COMMAND} --build "${WORK}/build")
run("run the consumer" "${WORK}/build/consumer")
message(STATUS "consumer: ${output}")
run("configure the example" ${CMAKE_COMMAND} -S "${CONSUMER}/../../examples/step_a_scene" -B "${WORK}/example" -G Ninja
    "-DCMAKE_PREFIX_PATH=${WORK}/second place" -DCMAKE_CXX_COMPILER=${CXX})
run("build the example" ${CMAKE_COMMAND} --build "${WORK}/example")
run("run the example" "${WORK}/example/step_a_scene" "${WORK}/second place/share/tresse/scenes/comb.toml" 50)
message(STATUS "example: ${output}")
run("run the installed program" "${WORK}/second place/bin/tresse" --version)
message(STATUS "program: ${output}")
file(GLOB scenes "${WORK}/second place/share/tresse/scenes/*.toml")
if(NOT scenes)
  message(FATAL_ERROR "no scene is installed")
endif()
file(GLOB package "${WORK}/second place/lib/python3*/dist-packages")
if(package)
  run("import the installed Python package" ${CMAKE_COMMAND} -E env "PYTHONPATH=${package}" ${PYTHON} -B -c
      "import tresse; print(tresse.rods.SuperHelix([0.1], [[0, 0, 1]], section=1e-4))")
  message(STATUS "Python: ${output}")
endif()
file(REMOVE_RECURSE "${WORK}")
