// One clause or item of a model, left out or written twice, is missed: see clauses.hpp. Which one
// follows from the bytes; tests/long/clauses_test.cpp looks at every one of the shipped models.
#include "clauses.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace vphi::fuzz;
  if (size > 4000) return 0;
  const Clauses clauses(text_of(data, size));
  if (!clauses.compiles()) return 0;
  const std::vector<Part> parts = clauses.parts();
  if (parts.empty()) return 0;
  std::size_t number = 0;
  for (std::size_t i = 0; i < size; ++i) number = 31 * number + data[i];
  const Part part = parts[number % parts.size()];
  const bool whole = part.item < 0 && part.inner < 0;
  const bool idle = clauses.idle(part) || (whole && clauses.idle_twice(part.line));
  if (idle) std::fprintf(stderr, "changes nothing: %s\n", clauses.shown(part).c_str());
  must(!idle, "what a model says is made use of");
  return 0;
}
