#include "embed/model.hpp"

#include <algorithm>
#include <utility>

#include "dsl/messages/diagnostic.hpp"
#include "embed/initial_values.hpp"
#include "embed/models.hpp"
#include "embed/readable.hpp"
#include "embed/translate.hpp"

namespace vphi::embed {
namespace {

const char* severity_name(dsl::Severity severity) {
  switch (severity) {
    case dsl::Severity::Error:
      return "error";
    case dsl::Severity::Warning:
      return "warning";
    case dsl::Severity::Note:
      return "note";
  }
  return "error";
}

Problem problem_of(const dsl::Diagnostic& d, const dsl::Sources& sources) {
  Problem p{d.code, severity_name(d.severity), d.message, d.rule, d.hint, {}, 0, 0, 0, 0};
  if (d.span.file >= sources.size() || sources[d.span.file] == nullptr ||
      (d.span.begin == 0 && d.span.end == 0))
    return p;
  const dsl::Source& source = *sources[d.span.file];
  const dsl::Position begin = source.position(d.span.begin), end = source.position(d.span.end);
  p.source = source.name();
  p.line = begin.line, p.column = begin.column;
  p.end_line = end.line, p.end_column = end.column;
  return p;
}

}  // namespace

void refuse_mistakes(const Compilation& compilation) {
  if (!compilation.diagnostics.has_errors()) return;
  const dsl::Sources sources = compilation.resolved.sources();
  const auto& all = compilation.diagnostics.all();
  const auto first = std::ranges::find(all, dsl::Severity::Error, &dsl::Diagnostic::severity);
  Error error(first->message, first->hint, first->code, ErrorKind::Model);
  for (const dsl::Diagnostic& d : all) error.problems.push_back(problem_of(d, sources));
  error.text = dsl::render_text(compilation.diagnostics, sources);
  throw error;
}

Overrides together(Overrides first, const Overrides& second) {
  const auto name = [](const std::string& text) { return text.substr(0, text.find('=')); };
  for (const std::string& text : second.set) {
    std::erase_if(first.set, [&](const auto& before) { return name(before) == name(text); });
    first.set.push_back(text);
  }
  for (const std::string& text : second.free)
    if (std::ranges::find(first.free, text) == first.free.end()) first.free.push_back(text);
  if (!second.lattice.empty()) first.lattice = second.lattice;
  if (!second.precision.empty()) first.precision = second.precision;
  if (!second.seed.empty()) first.seed = second.seed;
  if (second.batch > 0) first.batch = second.batch;
  if (second.steps >= 0 || !second.until.empty())
    first.steps = second.steps, first.until = second.until;  // the two exclude each other
  return first;
}

Model::Model(dsl::ModelSource source, Overrides overrides, std::shared_ptr<const void> files,
             std::string written)
    : source_(std::move(source)),
      overrides_(std::move(overrides)),
      files_(std::move(files)),
      written_(std::move(written)) {
  translated([&] {
    derived_ =
        std::make_shared<const Compilation>(derive_model(source_, overrides_.compile_options()));
  });
  refuse_mistakes(*derived_);
}

Model Model::from_text(std::string text, std::string name, const Overrides& overrides) {
  return {dsl::ModelSource::of_text(std::move(name), std::move(text)), overrides};
}

Model Model::from_file(const std::string& path, const Overrides& overrides) {
  Model model(find_model(path), overrides);
  // A file that is edited later does not change this model.
  model.source_.text = std::string(model.derived_->resolved.model.source->text());
  return model;
}

const std::string& Model::text() const { return *source_.text; }
const std::string& Model::name() const { return derived_->resolved.model.name; }
const std::string& Model::title() const { return derived_->resolved.model.title; }

std::string Model::remarks() const {
  if (derived_->diagnostics.all().empty()) return {};
  return dsl::render_text(derived_->diagnostics, derived_->resolved.sources());
}

Model Model::with(const Overrides& changes) const {
  return {source_, together(overrides_, changes), files_, written_};
}

Model Model::with_text(std::string text) const {
  return {dsl::ModelSource::of_text(source_.name, std::move(text)), overrides_, files_};
}

Model Model::with_initial_values(std::span<const InitialValues> initial) const {
  TextWithFiles read = embed::with_initial_values(*this, initial);
  return {dsl::ModelSource::of_text(source_.name, std::move(read.text)), overrides_,
          std::move(read.folder), written()};
}

std::string Model::source(const emit::TargetInfo& target, const std::string& kernel) const {
  return translated([&] {
    CompileOptions options = overrides_.compile_options();
    options.reading = true;
    const Compilation made = compile_model(source_, options, target);
    refuse_mistakes(made);
    const auto& kernels = made.program->kernels;
    if (!kernel.empty() &&
        std::ranges::find(kernels, kernel, &program::Kernel::name) == kernels.end()) {
      std::string names;
      for (const program::Kernel& one : kernels) names += (names.empty() ? "" : ", ") + one.name;
      throw Error("no kernel is called `" + kernel + "`", "one of " + names);
    }
    return readable_sources(*made.program, kernel);
  });
}

Compilation Model::compile(const emit::TargetInfo& target, bool renewal) const {
  CompileOptions options = overrides_.compile_options();
  options.renewal = renewal;
  return compile_model(source_, options, target);
}

Compiled Model::compile(runtime::RankGroup& ranks, bool renewal) const {
  CompileOptions options = overrides_.compile_options();
  options.renewal = renewal;
  return compile_for_group(source_, options, ranks);
}

Prepared Model::prepare(const std::string& device, const RanksWish& ranks, bool renewal) const {
  return translated([&] {
    CompileOptions options = overrides_.compile_options();
    options.renewal = renewal;
    Prepared made = embed::prepare(source_, options, device, ranks);
    refuse_mistakes(*made.compilation);
    return made;
  });
}

}  // namespace vphi::embed
