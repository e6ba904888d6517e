# vphi_embed(TARGET NAMESPACE FILES...): makes the text of FILES available to TARGET as
#   namespace NAMESPACE { std::span<const std::pair<std::string_view, std::string_view>> files(); }
# (file name, contents), declared in "embedded/NAMESPACE.hpp". Rebuilt when a file changes.
function(vphi_embed target namespace)
  set(out ${PROJECT_BINARY_DIR}/embedded/${namespace})
  string(JOIN "|" list ${ARGN})
  add_custom_command(
    OUTPUT ${out}.cpp ${out}.hpp
    COMMAND ${CMAKE_COMMAND} "-DFILES=${list}" -DNAMESPACE=${namespace} -DOUT=${out}
            -P ${PROJECT_SOURCE_DIR}/cmake/embed_script.cmake
    DEPENDS ${ARGN} ${PROJECT_SOURCE_DIR}/cmake/embed_script.cmake
    VERBATIM)
  target_sources(${target} PRIVATE ${out}.cpp ${out}.hpp)
endfunction()
