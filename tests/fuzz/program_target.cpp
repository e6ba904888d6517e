// A program from a file: refused with a sentence, or sound and the same after another way out.
#include <cmath>

#include "program/json.hpp"
#include "target.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace vphi;
  using namespace vphi::fuzz;
  try {
    const program::Program read = program::from_json(text_of(data, size));
    must(program::problems(read).empty(), "a program that was read is sound");
    const std::string text = program::to_json(read);
    must(program::to_json(program::from_json(text)) == text, "programs survive both ways");
  } catch (const program::ProgramError&) {
    // said so
  }
  return 0;
}
