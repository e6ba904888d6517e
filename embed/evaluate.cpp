#include "embed/evaluate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "embed/target.hpp"
#include "runtime/device/native/thread_pool.hpp"
#include "runtime/observe/reduce.hpp"

namespace vphi::embed {
namespace {

/// The text with blanks in place of its outputs and expectations.
std::string without_outputs(const Model& model) {
  std::string text = model.text();
  for (const dsl::Line& line : model.derived().resolved.model.lines) {
    if (line.kind != dsl::Line::Kind::Clause) continue;
    const std::string& word = line.clause.keyword;
    if (word != "every" && word != "at end" && word != "expect" && word != "plot") continue;
    for (std::size_t i = line.span.begin; i < std::min<std::size_t>(line.span.end, text.size());
         ++i)
      if (text[i] != '\n') text[i] = ' ';
  }
  return text;
}

/// The model with the formula as a scalar output if it is a scalar, else as a snapshot, else, of
/// links, as a gauge configuration. Where it is none of them, the error of the scalar is thrown.
Model with_formula(const Model& model, const std::string& expression) {
  if (expression.find('\n') != std::string::npos) throw Error("a formula is one line");
  const std::string text = without_outputs(model);
  const auto ends_with = [&](const std::string& output, const char* to = "\"formula.h5\"") {
    return model.with_text(text + "\nat end: " + output + " -> " + to + "\n");
  };
  try {
    return ends_with(expression);
  } catch (const Error& as_scalar) {
    if (as_scalar.kind != ErrorKind::Model) throw;
    try {
      return ends_with("snapshot(" + expression + ")");
    } catch (const Error&) {
    }
    try {
      return ends_with(expression, "ildg(\"formula\")");
    } catch (const Error&) {
      throw as_scalar;
    }
  }
}

/// Whether the program itself gives the slot a value for each instance.
bool of_an_axis(const program::Program& p, std::size_t slot) {
  return std::ranges::any_of(
      p.axes, [&](const program::Axis& axis) { return axis.slot == static_cast<int>(slot); });
}

}  // namespace

Array on_lattice(const program::Program& program) {
  static const char* const kNames[] = {"x", "y", "z", "w"};
  Array array;
  if (program.instances > 1)
    array.axes.emplace_back("instance"), array.shape.push_back(program.instances);
  for (int axis = program.dims; axis-- > 0;) {
    array.axes.emplace_back(kNames[axis]);
    array.shape.push_back(program.extent[static_cast<std::size_t>(axis)]);
  }
  return array;
}

Evaluator::Evaluator(const Model& model, const std::string& expression, runtime::Device& device,
                     const program::Program& of_run) {
  Overrides exact = model.overrides();
  exact.batch = of_run.instances < of_run.all_instances() ? of_run.instances : exact.batch;
  const Model longer = with_formula(model, expression).with(exact);
  compilation_ = longer.compile(target_of(device.info()));
  refuse_mistakes(compilation_);
  if (!output().averages.empty() || !output().statistics.empty())
    throw Error(fmt::format("`{}` is an average over time or over a sweep", expression),
                "an output of the model has it: the result shows it");
  runtime::SessionOptions options;
  session_ = std::make_unique<runtime::Session>(*compilation_.program, device, options);
  session_->start_empty();
}

void Evaluator::take_state(runtime::Session& run) {
  const program::Program& from = run.program();
  const program::Program& to = *compilation_.program;
  for (std::size_t b = 0; b < to.buffers.size(); ++b) {
    if (!to.buffers[b].changes()) continue;
    const auto found = std::ranges::find(from.buffers, to.buffers[b].name, &program::Buffer::name);
    if (found == from.buffers.end() || !found->changes()) continue;
    session_->write(static_cast<int>(b), run.read(static_cast<int>(found - from.buffers.begin())));
  }
  std::vector<double> scalars = session_->scalars();
  const std::vector<double> values = run.scalars();
  const std::size_t slots = to.scalars.size(), known = from.scalars.size();
  for (std::size_t k = 0; k < slots; ++k) {
    const auto found = std::ranges::find(from.scalars, to.scalars[k].name, &program::Scalar::name);
    if (found == from.scalars.end() || of_an_axis(to, k)) continue;
    const auto slot = static_cast<std::size_t>(found - from.scalars.begin());
    for (std::size_t i = 0; i * slots < scalars.size(); ++i)
      scalars[i * slots + k] = values[i * known + slot];
  }
  session_->set_scalars(scalars);
}

Array Evaluator::value(runtime::Session& run) {
  take_state(run);
  const program::Program& p = *compilation_.program;
  const auto read = [&](int buffer) { return session_->read(buffer); };
  const int threads = runtime::usable_threads();
  const auto launch = [&](const std::vector<program::Launch>& before,
                          const std::vector<program::Transform>& transforms,
                          const std::vector<program::Launch>& launches) {
    session_->launch(before);
    for (const program::Transform& transform : transforms)
      observe::apply(
          p, transform, read,
          [&](int buffer, const std::vector<double>& values) { session_->write(buffer, values); },
          threads);
    session_->launch(launches);
  };
  launch(p.watch_before, p.watch_transforms, p.watch);
  session_->release_scratch();
  launch(output().before, output().transforms, output().launches);
  Array array;
  if (!output().fields.empty()) {
    array = on_lattice(p);
    io::Table table = observe::reduce(p, output().fields.back(), read, {}, threads);
    io::unpack(table);
    array.values = std::move(table.values);
    for (const std::string& inner : table.inner) array.axes.push_back(inner);
    if (output().fields.back().kind == program::OutputKind::Links)
      array.axes.insert(array.axes.end(), {"direction", "row", "column", "part"});
    for (std::size_t i = array.shape.size(); i < table.shape.size(); ++i)
      array.shape.push_back(table.shape[i]);
  } else {
    session_->launch(output().then);
    const int slot = output().scalars.back().slot;
    if (p.instances > 1) array.axes = {"instance"}, array.shape = {p.instances};
    const runtime::Slot now = session_->slot(slot);
    for (std::int64_t i = 0; i < p.instances; ++i) array.values.push_back(now[i]);
  }
  session_->release_scratch();
  return array;
}

}  // namespace vphi::embed
