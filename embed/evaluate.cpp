#include "embed/evaluate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "dsl/messages/suggest.hpp"
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

constexpr const char* kPerSite = "E0216";  ///< a value at each site is no scalar output

/// The model with the formula as a scalar output if it is a scalar, else as a snapshot, else, of
/// links, as a gauge configuration. Where it is none of them, the error of the scalar is thrown.
Model with_formula(const Model& model, const std::string& expression) {
  if (expression.find_first_of("\n#") != std::string::npos)
    throw Error("a formula is one line, without a comment");
  if (expression.find_first_not_of(" \t") == std::string::npos)
    throw Error("the formula is empty", "a formula of the model's language, as \"mean(phi)\"");
  const std::string text = without_outputs(model);
  const auto ends_with = [&](const std::string& output, const char* to = "\"formula.h5\"") {
    return model.with_text(text + "\nat end: " + output + " -> " + to + "\n");
  };
  try {
    return ends_with(expression);
  } catch (const Error& as_scalar) {
    if (as_scalar.kind != ErrorKind::Model) throw;
    std::optional<Error> as_snapshot;
    try {
      return ends_with("snapshot(" + expression + ")");
    } catch (const Error& error) {
      as_snapshot = error;
    }
    try {
      return ends_with(expression, "ildg(\"formula\")");
    } catch (const Error&) {
      throw as_scalar.code == kPerSite ? *as_snapshot : as_scalar;
    }
  }
}

/// Throws where the text is more than one formula: a list, a definition, or one with a comment.
void check_is_formula(const Model& longer, const std::string& expression) {
  const auto& lines = longer.derived().resolved.model.lines;  // behind it: free parameters
  const auto last = std::find_if(lines.rbegin(), lines.rend(), [](const dsl::Line& line) {
    return line.kind == dsl::Line::Kind::Clause && line.clause.keyword == "at end";
  });
  if (last == lines.rend() || last->clause.items.size() != 1)
    throw Error(fmt::format("`{}` is not one formula", expression), "a call for each of them");
  const dsl::Item& item = last->clause.items.front();
  if (item.head)
    throw Error(fmt::format("`{}` is a definition, not a formula", expression),
                fmt::format("what stands behind `=`: a formula gives `{}` no other value",
                            item.head->name));
}

/// Throws where an output of the formula is no number and no value at each site.
void check_is_value(const program::Output& output, const std::string& expression) {
  using Kind = program::OutputKind;
  const auto is_whole = [](const program::FieldOutput& field) {
    return field.kind == Kind::Snapshot || field.kind == Kind::Links;
  };
  if (!std::ranges::all_of(output.fields, is_whole))
    throw Error(fmt::format("`{}` is an output with a table of its own, not a formula", expression),
                "`every N steps: ...` or `at end: ...` in the model: the result has the table");
}

/// The scalars of one formula: a number, a complex one, or the components of a vector, which is
/// complex where one of them is. Throws where the formula stands for several quantities.
ScalarParts parts_of(const std::vector<program::ScalarOutput>& scalars,
                     const std::string& expression) {
  struct Number {
    std::string name;
    int re = -1, im = -1;
  };
  std::vector<Number> numbers;
  std::vector<std::string> names;
  for (const program::ScalarOutput& scalar : scalars) {
    names.push_back(scalar.name);
    if (scalar.name.starts_with("im(") && !numbers.empty() &&
        numbers.back().name == "re" + scalar.name.substr(2))
      numbers.back().im = scalar.slot;
    else
      numbers.push_back({scalar.name, scalar.slot});
  }
  if (numbers.size() > 1 && numbers[1].name.find("[1]") == std::string::npos)
    throw Error(fmt::format("`{}` stands for {} quantities", expression, numbers.size()),
                fmt::format("one of them: {}", dsl::enumerate(names)));
  ScalarParts parts;
  const bool complex =
      std::ranges::any_of(numbers, [](const Number& number) { return number.im >= 0; });
  for (const Number& number : numbers) {
    parts.slots.push_back(number.re);
    if (complex) parts.slots.push_back(number.im);
  }
  if (numbers.size() > 1)
    parts.axes = {"component"}, parts.shape = {static_cast<std::int64_t>(numbers.size())};
  if (complex) parts.axes.emplace_back("part"), parts.shape.push_back(2);
  return parts;
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
  check_is_formula(longer, expression);
  compilation_ = longer.compile(target_of(device.info()));
  refuse_mistakes(compilation_);
  if (!output().averages.empty() || !output().statistics.empty())
    throw Error(fmt::format("`{}` is an average over time or over a sweep", expression),
                "an output of the model has it: the result shows it");
  check_is_value(output(), expression);
  parts_ = parts_of(output().scalars, expression);
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
    if (p.instances > 1) array.axes = {"instance"}, array.shape = {p.instances};
    array.axes.insert(array.axes.end(), parts_.axes.begin(), parts_.axes.end());
    array.shape.insert(array.shape.end(), parts_.shape.begin(), parts_.shape.end());
    for (std::int64_t i = 0; i < p.instances; ++i)
      for (const int slot : parts_.slots)
        array.values.push_back(slot < 0 ? 0 : session_->slot(slot)[i]);
  }
  session_->release_scratch();
  return array;
}

}  // namespace vphi::embed
