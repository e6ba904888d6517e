// Records of a LIME file of unknown origin: every one within the file, each text short, and an end.
#include "runtime/io/configurations/configuration.hpp"
#include "runtime/io/configurations/configuration_text.hpp"
#include "runtime/io/configurations/lime.hpp"
#include "target.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace vphi;
  io::ByteStream stream(std::as_bytes(std::span(data, size)), "fuzzed");
  try {
    io::LimeReader lime(stream);
    std::size_t records = 0;
    while (const auto record = lime.next()) {
      fuzz::must(++records * 144 <= size, "a record has a header");
      fuzz::must(record->bytes <= size, "a record lies within the file");
      if (record->bytes % 2 != 0) continue;  // skipped
      const std::string text = lime.text();
      fuzz::must(text.size() <= record->bytes, "a text lies within its record");
      for (const char* name : {"lx", "field", "suma"}) io::xml_element(text, name);
      io::name_value_lines(text);
    }
    fuzz::must(stream.left() == 0, "nothing is left behind the last record");
  } catch (const io::ConfigurationError&) {
    // said so
  }
  return 0;
}
