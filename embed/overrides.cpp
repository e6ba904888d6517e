#include "embed/overrides.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>

#include "embed/error.hpp"

namespace vphi::embed {

CompileOptions Overrides::compile_options() const {
  CompileOptions options;
  for (const std::string& text : set) {
    const auto equals = text.find('=');
    if (equals == 0 || equals == std::string::npos || equals + 1 == text.size())
      throw Error(fmt::format("--set takes NAME=EXPR, not `{}`", text));
    options.set.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  options.free = free;
  options.lattice = lattice;
  options.until = until;
  options.steps = steps;
  if (!precision.empty() && precision != "f32" && precision != "f64")
    throw Error(fmt::format("--precision takes `f32` or `f64`, not `{}`", precision));
  options.precision = precision;
  options.batch = batch;
  if (!seed.empty()) {
    std::uint64_t number = 0;
    const char* end = seed.data() + seed.size();
    const auto [at, error] = std::from_chars(seed.data(), end, number);
    if (error != std::errc() || at != end)
      throw Error(fmt::format("--seed takes a whole number from 0 to 2^64 - 1, not `{}`", seed));
    options.seed = number;
  }
  return options;
}

std::vector<std::pair<std::string, std::string>> call_of(const Overrides& options) {
  std::vector<std::pair<std::string, std::string>> call;
  for (const auto& text : options.set) call.emplace_back("--set", text);
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) call.emplace_back(name, value);
  };
  add("--lattice", options.lattice);
  add("--until", options.until);
  if (options.steps >= 0) add("--steps", std::to_string(options.steps));
  add("--precision", options.precision);
  add("--seed", options.seed);
  return call;
}

Overrides continued(const Overrides& given,
                    const std::vector<std::pair<std::string, std::string>>& call) {
  Overrides all = given;
  const bool other_end = given.steps >= 0 || !given.until.empty();
  for (const auto& [name, value] : call) {
    if (name == "--set" && given.set.empty()) all.set.push_back(value);
    if (name == "--lattice" && given.lattice.empty()) all.lattice = value;
    if (name == "--precision" && given.precision.empty()) all.precision = value;
    if (name == "--seed" && given.seed.empty()) all.seed = value;
    if (name == "--batch" && given.batch == 0) all.batch = std::atoll(value.c_str());
    if (name == "--until" && !other_end) all.until = value;
    if (name == "--steps" && !other_end) all.steps = std::atoll(value.c_str());
  }
  return all;
}

}  // namespace vphi::embed
