// A MILC file of unknown origin: a configuration or a message.
#include "configuration.hpp"
#include "runtime/io/configurations/milc.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace vphi;
  fuzz::read_or_say(data, size, io::read_milc, {});
  fuzz::read_or_say(data, size, io::read_milc, {.colours = 3});
  return 0;
}
