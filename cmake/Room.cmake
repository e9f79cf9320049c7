# atoll_room(NAME [SOURCES ...] [USES rooms and libraries ...])
#
# One room of the house: the static library atoll_NAME made from the given sources, with src/ and
# include/ on its include path and warnings as errors.
function(atoll_room name)
  cmake_parse_arguments(ROOM "" "" "SOURCES;USES" ${ARGN})
  if(NOT ROOM_SOURCES)  # headers only
    add_library(atoll_${name} INTERFACE)
    target_include_directories(atoll_${name} INTERFACE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
    target_link_libraries(atoll_${name} INTERFACE ${ROOM_USES} fmt::fmt)
    return()
  endif()
  add_library(atoll_${name} STATIC ${ROOM_SOURCES})
  target_include_directories(atoll_${name} PUBLIC ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(atoll_${name} PUBLIC ${ROOM_USES} fmt::fmt)
  atoll_warnings(atoll_${name})
endfunction()

# The warnings that every target of Atoll is built with.
function(atoll_warnings target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wconversion -Wno-sign-conversion
    -Wshadow -Wno-psabi -Werror)
endfunction()

# atoll_test(NAME [SOURCES ...] [USES ...]): a GoogleTest executable, each of its tests known to ctest.
function(atoll_test name)
  cmake_parse_arguments(TEST "" "" "SOURCES;USES" ${ARGN})
  add_executable(${name} ${TEST_SOURCES})
  target_link_libraries(${name} PRIVATE ${TEST_USES} GTest::gtest GTest::gmock GTest::gtest_main)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  atoll_warnings(${name})
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 120 ${TEST_DISCOVERY})
endfunction()
