#include "tests/support/simulate.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include <map>
#include <stdexcept>

#include "tools/model.hpp"

namespace vphi::testing {

namespace {

CompileOptions options_of(const Simulation& setup) {
  CompileOptions options;
  options.set = setup.set;
  options.lattice = setup.lattice;
  options.until = setup.until;
  options.precision = setup.precision;
  options.steps = setup.steps;
  options.batch = setup.batch;
  return options;
}

}  // namespace

runtime::Device* device(const std::string& id) {
  static std::map<std::string, std::unique_ptr<runtime::Device>> open;
  auto it = open.find(id);
  if (it == open.end()) {
    std::unique_ptr<runtime::Device> opened;
    try {
      opened = runtime::open_device(id);
    } catch (const runtime::DeviceError&) {
    }
    it = open.emplace(id, std::move(opened)).first;
  }
  return it->second.get();
}

namespace {

Compilation compile(const dsl::ModelSource& model, const Simulation& setup) {
  runtime::Device* on = device(setup.device);
  if (!on) throw std::runtime_error("no device " + setup.device);
  emit::TargetInfo target = tools::target_of(on->info());
  target.contract = setup.contract;
  Compilation compilation = compile_model(model, options_of(setup), target);
  if (!compilation.program)
    throw std::runtime_error(
        dsl::render_text(compilation.diagnostics, compilation.resolved.sources()));
  return compilation;
}

}  // namespace

Compilation compile_file(const std::string& path, const Simulation& setup) {
  return compile(path, setup);
}

Compilation compile_text(const std::string& text, const Simulation& setup) {
  return compile(dsl::ModelSource::of_text("model.vphi", text), setup);
}

std::string refusal_of_text(const std::string& text) {
  try {
    compile_text(text, {});
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return {};
}

runtime::RunResult run_program(const program::Program& program, const Simulation& setup) {
  runtime::RunOptions options;
  options.steps = setup.steps;
  options.keep_state = setup.keep_state;
  options.out = setup.out;
  return runtime::run(program, *device(setup.device), options);
}

runtime::RunResult run_file(const std::string& path, const Simulation& setup) {
  return run_program(*compile_file(path, setup).program, setup);
}

runtime::RunResult run_text(const std::string& text, const Simulation& setup) {
  return run_program(*compile_text(text, setup).program, setup);
}

std::string shipped(const std::string& name) {
  return std::string(VPHI_MODELS_FOLDER) + "/" + name + ".vphi";
}

std::string exact(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.17g", value);
  return text;
}

double largest(const runtime::RunResult& result, const std::string& name) {
  const auto* series = result.find(name);
  if (!series) throw std::runtime_error("the run wrote no series `" + name + "`");
  double most = 0;
  for (const auto& [t, value] : series->points) most = std::max(most, std::abs(value));
  return most;
}

double last(const runtime::RunResult& result, const std::string& name) {
  const auto value = result.scalar(name);
  if (!value) throw std::runtime_error("the run wrote no `" + name + "`");
  return *value;
}

}  // namespace vphi::testing
