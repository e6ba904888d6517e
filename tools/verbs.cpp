#include "tools/verbs.hpp"

namespace vphi::tools {

std::span<const Verb> verbs() {
  static constexpr Verb list[] = {
      {"run", run, "compiles a model and runs it"},
      {"check", check, "names, types, index ranges, stability of the step, memory needed"},
      {"explain", explain, "the derived equations, the kernels and their cost; or an error's page"},
      {"emit", emit, "the kernels as readable source"},
      {"bench", bench, "speed against this device's measured ceilings"},
      {"test", test, "a model's own checks on every device, and the order of its integrator"},
      {"report", report, "the page of a run again, or several runs compared on one page"},
      {"doctor", doctor, "what this machine can run, and how to get what is missing"},
      {"fmt", format, "a model in canonical style"},
      {"new", make_new, "a commented model to start from: scalar, wave, expanding, ..."},
      {"lsp", language_server, "the language server for editors"},
      {"completion", completion, "words for a shell to complete, or the manual page"},
  };
  return list;
}

}  // namespace vphi::tools
