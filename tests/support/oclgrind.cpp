#include "tests/support/oclgrind.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>

#include "compiler/compile.hpp"
#include "runtime/run/session.hpp"
#include "tests/support/scratch.hpp"
#include "tools/model.hpp"

namespace vphi::testing {
namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

/// Whether only the last group of a launch reaches this line (1 is the first) of a kernel's source.
/// Such a line is after the counter in the finish, in a function called from there alone, or in the
/// kernel itself after a counter: of the groups that share a block of pairs, or at the end of a
/// kernel of rows.
bool after_the_counter(const std::string& source, int number) {
  const auto lines = lines_of(source);
  bool counted = false, shared = false;
  for (int i = std::min(number, static_cast<int>(lines.size())) - 1; i >= 0; --i) {
    const std::string& line = lines[static_cast<std::size_t>(i)];
    counted = counted || line.find("vphi_count_one(counter) ==") != std::string::npos;
    shared = shared || line.find("vphi_count_one(arrived) ==") != std::string::npos;
    if (line.starts_with("VPHI_KERNEL")) return shared || counted;
    if (!line.starts_with("VPHI_INLINE")) continue;
    for (const char* name : {" vphi_load_shared(", " vphi_epilogue_", " vphi_before_of_"})
      if (line.find(name) != std::string::npos) return true;
    return counted && line.find(" vphi_finish_") != std::string::npos;
  }
  return false;
}

/// Values after a mark, in their order: "Group(" -> "0,0,0", "1,0,0".
std::vector<std::string> behind(const std::string& text, const std::string& mark, const char* end) {
  std::vector<std::string> found;
  for (auto at = text.find(mark); at != std::string::npos; at = text.find(mark, at + 1)) {
    const auto begin = at + mark.size();
    found.push_back(text.substr(begin, text.find_first_of(end, begin) - begin));
  }
  return found;
}

/// The log without accesses of the last group to other groups' data. These are ordered by an atomic
/// counter after fences, which Oclgrind does not model.
std::string without_ordered_by_counter(const std::string& log, const program::Program& p) {
  std::string left, report;
  const auto settle = [&] {
    const auto kernels = behind(report, "Kernel: ", "\n"), groups = behind(report, "Group(", ")"),
               places = behind(report, "At line ", " ");
    bool ordered = kernels.size() == 1 && groups.size() == 2 && places.size() == 2 &&
                   groups[0] != groups[1] && report.find("race") != std::string::npos;
    if (ordered) {
      const auto kernel = std::find_if(p.kernels.begin(), p.kernels.end(),
                                       [&](const auto& k) { return k.entry == kernels[0]; });
      ordered =
          kernel != p.kernels.end() && (after_the_counter(kernel->source, std::stoi(places[0])) ||
                                        after_the_counter(kernel->source, std::stoi(places[1])));
    }
    if (!ordered && report.find_first_not_of(" \t\n") != std::string::npos) left += report;
    report.clear();
  };
  for (const std::string& line : lines_of(log)) {
    if (line.find("race at") != std::string::npos || line.starts_with("Invalid")) settle();
    report += line + "\n";
  }
  settle();
  return left;
}

CompileOptions small(const std::string& path, int side) {
  CompileOptions options;
  const Compilation first = derive_model(path, {});
  if (!first.system) throw std::runtime_error(path + " has no equations");
  const int dims = first.system->lattice.dims;
  if (text_of(path).find("\nparticles ") != std::string::npos) {
    const bool fixed = !first.system->matrices.empty();  // by a file, as its bodies' number
    if (!fixed && text_of(path).find(": N\n") != std::string::npos)
      options.set.emplace_back("N", "64");
  } else if (dims > 1) {
    const int length = dims > 3 ? side / 2 : side;  // an interpreter runs every kernel
    options.lattice = std::to_string(length) + "^" + std::to_string(dims);
  }
  if (first.system->instances() > 3) options.batch = 3;
  return options;
}

}  // namespace

bool oclgrind_here(std::string* why) {
  const char* given = std::getenv("VPHI_OCLGRIND");
  const fs::path driver = given ? given : "/usr/lib/oclgrind/liboclgrind-rt-icd.so";
  if (!fs::exists(driver)) {
    *why = "Oclgrind is not here (apt-get install oclgrind): no race and no stray access is found";
    return false;
  }
  setenv("OCL_ICD_VENDORS", driver.c_str(), 1);
  setenv("OCLGRIND_DATA_RACES", "1", 1);
  setenv("OCLGRIND_CHECK_API", "1", 1);
  setenv("OCLGRIND_LOCAL_MEM_SIZE", "131072", 1);
  setenv("OCLGRIND_MAX_ERRORS", "100000", 1);
  return true;
}

std::string complaints(const std::function<void(runtime::Device&)>& use) {
  const ScratchFolder folder;
  const fs::path log = folder / "oclgrind.log";
  setenv("OCLGRIND_LOG", log.c_str(), 1);
  {
    const auto device = runtime::open_device("opencl");
    if (!device->info().driver.starts_with("Oclgrind"))
      throw std::runtime_error("another OpenCL driver was there first: " + device->info().driver);
    use(*device);
    device->synchronise();
  }
  return text_of(log);
}

namespace {

/// Whether threads without an instance of their own repeat the last one, as in kernels of paths:
/// their stores of equal values are intended.
bool repeats_instances(const std::string& path, int side) {
  const Compilation c = compile_model(path, small(path, side), tools::default_target("opencl"));
  return c.program && !c.program->multi_step.empty();
}

Watched watch_once(const std::string& path, Form form, int side, int steps) {
  Watched result;
  program::Program made;
  result.log = complaints([&](runtime::Device& device) {
    emit::TargetInfo target = tools::target_of(device.info());
    target.is_cpu = form == Form::Processor;
    target.compute_units = 4;
    const Compilation c = compile_model(path, small(path, side), target);
    if (!c.program) throw std::runtime_error(dsl::render_text(c.diagnostics, c.resolved.sources()));
    const program::Program& p = *c.program;
    runtime::SessionOptions options;
    options.fields = runtime::SessionOptions::Fields::Host;
    runtime::Session session(p, device, options);
    const auto launch = [&](const std::vector<program::Launch>& list) {
      session.launch(list);
      result.launches += static_cast<int>(list.size());
    };
    session.start();
    session.advance(steps);
    result.launches += static_cast<int>(p.prologue.size() + p.step.size() * std::size_t(steps));
    launch(p.watch_before);
    launch(p.watch);
    launch(p.watch_then);
    session.release_scratch();
    for (const program::Output& output : p.outputs) {
      launch(output.averages);
      launch(output.before);
      launch(output.launches);
      launch(output.then);
      session.release_scratch();
    }
    made = *c.program;
  });
  result.log = without_ordered_by_counter(result.log, made);
  return result;
}

}  // namespace

Watched watch(const std::string& path, Form form, int side, int steps) {
  unsetenv("VPHI_OPENCL_OPTIONS");
  setenv("OCLGRIND_UNIFORM_WRITES", repeats_instances(path, side) ? "0" : "1", 1);
  try {
    return watch_once(path, form, side, steps);
  } catch (const runtime::DeviceError& error) {
    // Oclgrind 21.10 leaves out kernels with an instruction that it does not know, such as the
    // saturating subtraction that clang makes of an index at an open wall. Only its optimiser does.
    if (std::string(error.what()).find("CL_INVALID_KERNEL_NAME") == std::string::npos) throw;
  }
  setenv("VPHI_OPENCL_OPTIONS", "-cl-opt-disable", 1);
  return watch_once(path, form, side, steps);
}

}  // namespace vphi::testing
