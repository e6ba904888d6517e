# Writes OUT.hpp and OUT.cpp from FILES (parted by |); see embed.cmake.
string(REPLACE "|" ";" files "${FILES}")
set(entries "")
foreach(file ${files})
  file(READ ${file} text)
  get_filename_component(name ${file} NAME)
  # Raw string literals have a length limit in some compilers; 12 kB pieces are safe everywhere.
  string(LENGTH "${text}" length)
  set(pieces "")
  set(at 0)
  while(at LESS length)
    string(SUBSTRING "${text}" ${at} 12000 piece)
    string(APPEND pieces "R\"vphi_text(${piece})vphi_text\"\n")
    math(EXPR at "${at} + 12000")
  endwhile()
  if(pieces STREQUAL "")
    set(pieces "\"\"")
  endif()
  string(APPEND entries "    {\"${name}\", ${pieces}},\n")
endforeach()
file(WRITE ${OUT}.hpp "#pragma once
#include <span>
#include <string_view>
#include <utility>
namespace ${NAMESPACE} {
std::span<const std::pair<std::string_view, std::string_view>> files();
}
")
file(WRITE ${OUT}.cpp "#include \"${OUT}.hpp\"
namespace ${NAMESPACE} {
static constexpr std::pair<std::string_view, std::string_view> kFiles[] = {
${entries}};
std::span<const std::pair<std::string_view, std::string_view>> files() { return kFiles; }
}
")
