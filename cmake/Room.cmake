include(${CMAKE_CURRENT_LIST_DIR}/Turn.cmake)

# The levels of host vector instructions that some code is compiled for (src/semantics/host_isa.h).
set(ATOLL_LEVELS portable avx2 avx512)

# Reading the headers of the C++ library, fmt and LLVM takes a third of a build's time, so they are read once for each
# target. A compiler cache does better without: it would take every file for changed with a precompiled header's path.
if(CMAKE_CXX_COMPILER_LAUNCHER)
  set(precompile OFF)
else()
  set(precompile ON)
endif()
option(ATOLL_PRECOMPILED_HEADERS "Precompile the headers that most files include" ${precompile})
set(ATOLL_COMMON_HEADERS <algorithm> <cstdint> <expected> <functional> <map> <memory> <optional> <span> <string> <vector>
  <fmt/format.h>)

# atoll_precompile(TARGET [headers besides the common ones ...])
function(atoll_precompile target)
  if(ATOLL_PRECOMPILED_HEADERS)
    target_precompile_headers(${target} PRIVATE ${ATOLL_COMMON_HEADERS} ${ARGN})
  endif()
endfunction()

# atoll_room(NAME [SOURCES ...] [PER_HOST_ISA ...] [USES rooms and libraries ...])
#
# One room of the house: the static library atoll_NAME made from the given sources, with src/ and
# include/ on its include path and warnings as errors. PER_HOST_ISA sources are compiled once for each level.
function(atoll_room name)
  cmake_parse_arguments(ROOM "" "" "SOURCES;PER_HOST_ISA;USES" ${ARGN})
  if(NOT ROOM_SOURCES)  # headers only
    add_library(atoll_${name} INTERFACE)
    target_include_directories(atoll_${name} INTERFACE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
    target_link_libraries(atoll_${name} INTERFACE ${ROOM_USES} atoll_fmt)
    return()
  endif()
  add_library(atoll_${name} STATIC ${ROOM_SOURCES})
  target_include_directories(atoll_${name} PUBLIC ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(atoll_${name} PUBLIC ${ROOM_USES} atoll_fmt)
  atoll_warnings(atoll_${name})
  list(LENGTH ROOM_SOURCES source_count)
  if(source_count GREATER 4)  # fewer do not make up for it
    atoll_precompile(atoll_${name})
  endif()
  foreach(level IN LISTS ATOLL_LEVELS)
    if(ROOM_PER_HOST_ISA)
      atoll_level(${name} ${level} ${ROOM_PER_HOST_ISA})
    endif()
  endforeach()
endfunction()

# The sources of a room compiled for one level: the objects atoll_NAME_LEVEL, which become part of atoll_NAME.
#
# Contraction is off because v_mad rounds twice and v_fma once, as the instruction says. Optimised in debug builds too:
# always_inline functions over vectors are unusably slow otherwise.
function(atoll_level name level)
  set(objects atoll_${name}_${level})
  add_library(${objects} OBJECT ${ARGN})
  target_include_directories(${objects} PRIVATE $<TARGET_PROPERTY:atoll_${name},INCLUDE_DIRECTORIES>)
  target_compile_definitions(${objects} PRIVATE ATOLL_LEVEL=${level})
  target_compile_options(${objects} PRIVATE -ffp-contract=off $<$<CONFIG:Debug>:-O2>)
  if(level STREQUAL avx512)
    target_compile_options(${objects} PRIVATE -mprefer-vector-width=512)
  endif()
  atoll_warnings(${objects})
  add_dependencies(${objects} atoll_opcode_names)
  target_sources(atoll_${name} PRIVATE $<TARGET_OBJECTS:${objects}>)
endfunction()

# What Atoll installs runs on other distributions than the one it was built on, so it needs no libraries but the C library's:
# the C++ library, too, is linked into it, and is hidden in shared libraries, as the program's own may be another.
function(atoll_self_contained target)
  if(CMAKE_CXX_FLAGS MATCHES sanitize)  # the sanitizers' own runtime needs the shared one
    return()
  endif()
  target_link_options(${target} PRIVATE -static-libstdc++ -static-libgcc LINKER:--as-needed)
  target_sources(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src/support/arc4random.cpp)
  set_source_files_properties(${PROJECT_SOURCE_DIR}/src/support/arc4random.cpp PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON
    SKIP_PRECOMPILE_HEADERS ON)
  get_target_property(type ${target} TYPE)
  if(NOT type STREQUAL EXECUTABLE)
    target_link_options(${target} PRIVATE LINKER:--exclude-libs,ALL)
  endif()
endfunction()

# The warnings that every target of Atoll is built with.
function(atoll_warnings target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wconversion -Wno-sign-conversion
    -Wshadow -Wno-psabi -Werror)
endfunction()

# atoll_gather(NAME DIRECTORY): the target NAME, which builds every program and library of the directory and those in it.
function(atoll_gather name directory)
  if(NOT TARGET ${name})
    add_custom_target(${name})
  endif()
  get_property(targets DIRECTORY ${directory} PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target IN LISTS targets)
    get_target_property(type ${target} TYPE)
    if(type MATCHES "EXECUTABLE|LIBRARY" AND NOT type STREQUAL INTERFACE_LIBRARY)
      add_dependencies(${name} ${target})
    endif()
  endforeach()
  get_property(inner DIRECTORY ${directory} PROPERTY SUBDIRECTORIES)
  foreach(each IN LISTS inner)
    atoll_gather(${name} ${each})
  endforeach()
endfunction()

# The levels that this host has but does not choose by itself: all but the widest.
function(atoll_other_levels levels)
  file(STRINGS /proc/cpuinfo flags REGEX "^flags" LIMIT_COUNT 1)
  set(others)
  if(flags MATCHES " avx2 ")
    list(APPEND others portable)
    if(flags MATCHES " avx512vl ")
      list(APPEND others avx2)
    endif()
  endif()
  set(${levels} ${others} PARENT_SCOPE)
endfunction()

# What tests run with, so that they leave the user's compiled kernels alone and find their own again; and what makes
# the two engines run whatever a test runs.
set(ATOLL_TEST_ENVIRONMENT ATOLL_CACHE=${CMAKE_BINARY_DIR}/test-cache)
set(ATOLL_INTERPRETER_ENVIRONMENT ${ATOLL_TEST_ENVIRONMENT} ATOLL_ENGINE=interpreter)
set(ATOLL_COMPILED_ENVIRONMENT ${ATOLL_TEST_ENVIRONMENT} ATOLL_ENGINE=compiled ATOLL_COMPILE=wait)

# Lets the tests of that list, which gtest_discover_tests() has made, run with these variables. Among its PROPERTIES
# there can be no list: CMake takes it apart there, and all variables but the first are lost.
function(atoll_test_environment list)
  set(file ${CMAKE_CURRENT_BINARY_DIR}/${list}_environment.cmake)
  file(WRITE ${file} "if(${list})\n  set_tests_properties(\${${list}} PROPERTIES ENVIRONMENT \"${ARGN}\")\nendif()\n")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${file})
endfunction()

# atoll_label(LIST LABEL): the tests of a list that gtest_discover_tests makes get this label.
function(atoll_label list label)
  set(file ${CMAKE_CURRENT_BINARY_DIR}/${list}_label.cmake)
  file(WRITE ${file} "if(${list})\n  set_tests_properties(\${${list}} PROPERTIES LABELS ${label})\nendif()\n")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${file})
endfunction()

# atoll_sample_turn(LIST LABEL PREFIX COUNT TURN [PATTERN]): of the tests that gtest_discover_tests makes for LIST and whose name
# matches PATTERN, those whose turn it is stay in `make test`; the others get the label. The turn depends on the name without
# PREFIX only, so COUNT lists that run the same tests share them out.
function(atoll_sample_turn list label prefix count turn)
  set(file ${CMAKE_CURRENT_BINARY_DIR}/${list}_${label}.cmake)
  string(LENGTH "${prefix}" length)
  file(WRITE ${file} "include(\"${PROJECT_SOURCE_DIR}/cmake/Turn.cmake\")
foreach(test IN LISTS ${list})
  string(SUBSTRING \"\${test}\" ${length} -1 name)
  atoll_turn(turn \"\${name}\" ${count})
  if(test MATCHES \"${ARGN}\" AND NOT turn EQUAL ${turn})
    set_tests_properties(\"\${test}\" PROPERTIES LABELS ${label})
  endif()
endforeach()
")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${file})
endfunction()

# A processor of each instruction set. Processors that share one differ in the few facts that other tests compare.
set(ATOLL_SAMPLED_PROCESSORS gfx600 gfx700 gfx803 gfx900 gfx906 gfx908 gfx90a gfx942 gfx950 gfx1010 gfx1012 gfx1030 gfx1100
  gfx1150 gfx1170 gfx1200 gfx1250 gfx1251)

# Those on which slow tests of all instructions run in the compiled engine; in the interpreter they run on all.
set(ATOLL_SAMPLED_FOR_COMPILER gfx803 gfx90a gfx942 gfx1030 gfx1100 gfx1201 gfx1250)

# atoll_sample_processors(LIST PATTERN PROCESSORS...): of the tests of that list, which gtest_discover_tests() makes, those
# whose name matches the pattern and ends with another processor than these get the label every-processor.
function(atoll_sample_processors list pattern)
  set(file ${CMAKE_CURRENT_BINARY_DIR}/${list}_processors.cmake)
  list(JOIN ARGN "|" sampled)
  file(WRITE ${file} "foreach(test IN LISTS ${list})
  if(test MATCHES \"${pattern}\" AND NOT test MATCHES \"/(${sampled})(_wave[0-9]+)?( |$)\")
    set_tests_properties(\"\${test}\" PROPERTIES LABELS every-processor)
  endif()
endforeach()
")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${file})
endfunction()

# Tests are compiled more often than they run for long: with fewer optimizations, which saves a quarter of the time. Tests
# that only run commands or call a shared library compile without any, which saves a third of the rest.
function(atoll_test_optimization target level)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O${level}>)
endfunction()

# Reading GoogleTest's headers takes half of the time of compiling an average test. They are read once for all tests of an
# optimization level, by the target test_headers_LEVEL; that is a program, as code for programs and for libraries cannot share
# them.
function(atoll_precompile_for_tests name level)
  if(NOT ATOLL_PRECOMPILED_HEADERS)
    return()
  endif()
  set(headers test_headers_${level})
  if(NOT TARGET ${headers})
    file(WRITE ${CMAKE_BINARY_DIR}/test_headers.cpp "int main() {}\n")
    add_executable(${headers} EXCLUDE_FROM_ALL ${CMAKE_BINARY_DIR}/test_headers.cpp)
    target_link_libraries(${headers} PRIVATE atoll_fmt GTest::gtest GTest::gmock)
    atoll_warnings(${headers})
    atoll_test_optimization(${headers} ${level})
    target_precompile_headers(${headers} PRIVATE ${ATOLL_COMMON_HEADERS} <gmock/gmock.h> <gtest/gtest.h>)
  endif()
  target_precompile_headers(${name} REUSE_FROM ${headers})
endfunction()

# atoll_test(NAME [ENGINES] [UNOPTIMIZED] [SOURCES ...] [USES ...] [options ...]) adds a GoogleTest executable and each of its
# tests to ctest; with ENGINES, once for each engine. The other options decide what `make test` leaves to another target:
#
#   LEVELS FILTER        These tests run once more, by each engine, for each narrower level of host vectors. `make test` runs
#                        one in four of these, chosen by name; make test-levels runs the others.
#   PROCESSORS PATTERN   `make test` runs these for the sampled processors (with ENGINES, only the compiled engine is sampled);
#                        make test-processors runs the others.
#   MACHINES FILTER      These tests iterate over test::machines. In the compiled engine, `make test` has them iterate over the
#                        sampled processors, and make test-processors over all, as compiled.machines.*.
#   HALF PATTERN         `make test` runs half of these, chosen by name: with ENGINES, each test in one engine; otherwise every
#                        other test. make test-processors runs the other half.
#   SUITES suites        Test suites with an expensive setup (SetUpTestSuite): each suite is one test of ctest, in one process.
function(atoll_test name)
  cmake_parse_arguments(TEST "ENGINES;UNOPTIMIZED" "LEVELS;PROCESSORS;MACHINES;HALF" "SOURCES;USES;SUITES" ${ARGN})
  set(optimization 1)
  if(TEST_UNOPTIMIZED)
    set(optimization 0)
  endif()
  add_executable(${name} ${TEST_SOURCES})
  target_link_libraries(${name} PRIVATE ${TEST_USES} GTest::gtest GTest::gmock GTest::gtest_main)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  atoll_warnings(${name})
  atoll_test_optimization(${name} ${optimization})
  atoll_precompile_for_tests(${name} ${optimization})
  if(TEST_ENGINES)
    add_dependencies(${name} atoll-compiler)
    gtest_discover_tests(${name} DISCOVERY_TIMEOUT 120 TEST_LIST ${name}_interpreter TEST_PREFIX interpreter.)
    atoll_test_environment(${name}_interpreter ${ATOLL_INTERPRETER_ENVIRONMENT})
    gtest_discover_tests(${name} DISCOVERY_TIMEOUT 120 TEST_LIST ${name}_compiled TEST_PREFIX compiled.)
    set(sample)
    if(TEST_MACHINES)
      list(JOIN ATOLL_SAMPLED_FOR_COMPILER "," sample)
      set(sample ATOLL_TEST_MACHINES=${sample})
      gtest_discover_tests(${name} DISCOVERY_TIMEOUT 120 TEST_LIST ${name}_machines TEST_PREFIX compiled.machines.
        TEST_FILTER ${TEST_MACHINES})
      atoll_test_environment(${name}_machines ${ATOLL_COMPILED_ENVIRONMENT})
      atoll_label(${name}_machines every-processor)
    endif()
    atoll_test_environment(${name}_compiled ${ATOLL_COMPILED_ENVIRONMENT} ${sample})
    if(TEST_PROCESSORS)
      atoll_sample_processors(${name}_compiled ${TEST_PROCESSORS} ${ATOLL_SAMPLED_FOR_COMPILER})
    endif()
    if(TEST_HALF)
      atoll_sample_turn(${name}_interpreter every-processor interpreter. 2 0 ${TEST_HALF})
      atoll_sample_turn(${name}_compiled every-processor compiled. 2 1 ${TEST_HALF})
    endif()
  else()
    set(filter)
    foreach(suite IN LISTS TEST_SUITES)
      add_test(NAME ${suite} COMMAND ${name} --gtest_filter=${suite}.*)
      set_tests_properties(${suite} PROPERTIES TIMEOUT 900 ENVIRONMENT "${ATOLL_TEST_ENVIRONMENT}")
      string(APPEND filter ":${suite}.*")
    endforeach()
    if(filter)
      string(REGEX REPLACE "^:" "-" filter "${filter}")
      set(filter TEST_FILTER ${filter})
    endif()
    gtest_discover_tests(${name} DISCOVERY_TIMEOUT 120 TEST_LIST ${name}_tests ${filter}
      PROPERTIES ENVIRONMENT "${ATOLL_TEST_ENVIRONMENT}")
    if(TEST_PROCESSORS)
      atoll_sample_processors(${name}_tests ${TEST_PROCESSORS} ${ATOLL_SAMPLED_PROCESSORS})
    endif()
    if(TEST_HALF)
      atoll_sample_turn(${name}_tests every-processor "" 2 0 ${TEST_HALF})
    endif()
  endif()
  if(TEST_LEVELS)
    atoll_other_levels(levels)
    list(LENGTH levels runs)
    if(TEST_ENGINES)
      math(EXPR runs "2 * ${runs}")
    endif()
    math(EXPR turns "4 * ${runs}")
    set(turn 0)
    foreach(level IN LISTS levels)
      gtest_discover_tests(${name} DISCOVERY_TIMEOUT 120 TEST_LIST ${name}_${level} TEST_PREFIX ${level}.
        TEST_FILTER ${TEST_LEVELS})
      atoll_test_environment(${name}_${level} ${ATOLL_INTERPRETER_ENVIRONMENT} ATOLL_HOST_VECTORS=${level})
      atoll_sample_turn(${name}_${level} every-level ${level}. ${turns} ${turn})
      math(EXPR turn "${turn} + 1")
      if(TEST_ENGINES)
        gtest_discover_tests(${name} DISCOVERY_TIMEOUT 120 TEST_LIST ${name}_compiled_${level}
          TEST_PREFIX compiled.${level}. TEST_FILTER ${TEST_LEVELS})
        atoll_test_environment(${name}_compiled_${level} ${ATOLL_COMPILED_ENVIRONMENT} ATOLL_HOST_VECTORS=${level})
        atoll_sample_turn(${name}_compiled_${level} every-level compiled.${level}. ${turns} ${turn})
        math(EXPR turn "${turn} + 1")
      endif()
    endforeach()
  endif()
endfunction()
