// An ILDG file of unknown origin: a configuration or a message. Once as it says itself, once by
// what a model wants, so that files without a format are reached too.
#include "configuration.hpp"
#include "runtime/io/configurations/ildg.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace vphi;
  fuzz::read_or_say(data, size, io::read_ildg, {});
  fuzz::read_or_say(data, size, io::read_ildg, {.extent = io::Extents{2, 1, 1, 1}});
  return 0;
}
