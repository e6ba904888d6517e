#include "tools/model.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>

#include "tools/say.hpp"
#include "tools/verbs.hpp"

namespace vphi::tools {

void ModelOptions::declare(CommandLine& line) {
  line.list("--set", "NAME=EXPR", set, "gives a parameter another value; may be repeated")
      .value("--lattice", "SHAPE", lattice, "another lattice: 64^3, 128 * 32")
      .number("--steps", "N", steps, 0, "ends after N steps")
      .value("--until", "EXPR", until, "ends when EXPR holds: 't > 16/m'")
      .choice("--precision", {"f32", "f64"}, precision, "of fields and their arithmetic")
      .value("--seed", "N", seed, "of all random numbers")
      .number("--batch", "N", batch, 1,
              "instances of a sweep at once (default: what memory holds)");
}

void print_error(const std::string& code, const std::string& message, const std::string& hint) {
  std::fflush(stdout);
  say("error[{}]: {}\n", code, message);
  if (!hint.empty()) say("   = {}\n", hint);
}

bool terminal(std::FILE* stream) { return isatty(fileno(stream)) != 0; }

bool report(const Compilation& compilation, std::FILE* to) {
  if (!compilation.diagnostics.all().empty()) {
    dsl::RenderOptions options;
    options.colour = terminal(to) && std::getenv("NO_COLOR") == nullptr;
    const auto text =
        dsl::render_text(compilation.diagnostics, compilation.resolved.sources(), options);
    std::fwrite(text.data(), 1, text.size(), to);
  }
  return compilation.diagnostics.has_errors();
}

int refused(const Compilation& compilation, bool json) {
  if (json)
    fmt::print("{{\"ok\": false, \"diagnostics\": {}}}\n",
               dsl::render_json(compilation.diagnostics, compilation.resolved.sources()));
  return kUserError;
}

}  // namespace vphi::tools
