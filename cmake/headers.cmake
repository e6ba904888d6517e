# Precompiled headers: half of a file's compile time goes into headers that are the same for all.
# They hold libraries from outside alone, so that no change of the project makes them anew. Every
# file still names what it uses: -DVPHI_PCH=OFF builds without them.
if(VPHI_SANITIZE OR VPHI_FUZZ)
  set(VPHI_PCH OFF)
endif()

# vphi_header_set(NAME LIBRARIES... HEADERS <h>...): a set that other targets may reuse.
function(vphi_header_set name)
  cmake_parse_arguments(set "" "" "LIBRARIES;HEADERS" ${ARGN})
  if(NOT VPHI_PCH)
    return()
  endif()
  file(WRITE ${PROJECT_BINARY_DIR}/headers/${name}.cpp.in "// Compiled for its headers alone.\n")
  configure_file(${PROJECT_BINARY_DIR}/headers/${name}.cpp.in
    ${PROJECT_BINARY_DIR}/headers/${name}.cpp COPYONLY)
  add_library(${name} OBJECT ${PROJECT_BINARY_DIR}/headers/${name}.cpp)
  target_link_libraries(${name} PUBLIC vphi_options ${set_LIBRARIES})
  target_precompile_headers(${name} PRIVATE ${set_HEADERS})
endfunction()

# vphi_precompiled(TARGET SET): TARGET is compiled with a set's headers.
function(vphi_precompiled target set)
  if(VPHI_PCH)
    target_precompile_headers(${target} REUSE_FROM ${set})
    get_target_property(type ${target} TYPE)
    if(type STREQUAL "EXECUTABLE")  # -fPIC as the set was compiled, where CMake would take -fPIE
      set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
      target_compile_options(${target} PRIVATE -fPIC)
    endif()
  endif()
endfunction()

# Libraries from outside that many files use.
set(standard_headers <algorithm> <array> <cmath> <cstdint> <filesystem> <functional> <limits> <map>
  <memory> <numeric> <optional> <set> <span> <sstream> <stdexcept> <string> <string_view>
  <unordered_map> <utility> <variant> <vector> <fmt/format.h> <fmt/ranges.h>)
vphi_header_set(vphi_headers LIBRARIES fmt::fmt HEADERS ${standard_headers})
vphi_header_set(vphi_json_headers LIBRARIES fmt::fmt nlohmann_json::nlohmann_json
  HEADERS ${standard_headers} <nlohmann/json.hpp>)
vphi_header_set(vphi_fast_headers LIBRARIES fmt::fmt HEADERS ${standard_headers})
if(TARGET vphi_fast_headers)  # a set serves targets of the same optimisation only
  target_compile_options(vphi_fast_headers PRIVATE ${VPHI_FAST})
endif()
