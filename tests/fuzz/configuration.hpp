// Functions common to the fuzz targets of gauge configurations.
#pragma once

#include <span>

#include "runtime/io/configurations/configuration.hpp"
#include "target.hpp"

namespace vphi::fuzz {

/// Reads the bytes; the result must be a complete configuration within the size of the file, or a
/// message.
template <class Read>
void read_or_say(const std::uint8_t* data, std::size_t size, const Read& read,
                 const io::ConfigurationWish& wish) {
  io::ByteStream stream(std::as_bytes(std::span(data, size)), "fuzzed");
  try {
    const io::ConfigurationFile file = read(stream, wish);
    const io::Configuration& c = file.configuration;
    must(c.links.size() == static_cast<std::size_t>(c.sites()) * 4 * c.entries(),
         "every site has its links");
    must(c.links.size() * 8 <= 2 * size, "no more links than the file has bytes for");
    must(!wish.extent || *wish.extent == c.extent, "the lattice that was wanted");
    must(!wish.colours || *wish.colours == c.colours, "the group that was wanted");
  } catch (const io::ConfigurationError& error) {
    must(std::string(error.what()).find("fuzzed") != std::string::npos, "a message names the file");
  }
}

}  // namespace vphi::fuzz
