// include/vphi/vphi.hpp on top of embed/.
#include "include/vphi/vphi.hpp"

#include <utility>

#include "compiler/explain.hpp"
#include "embed/simulation.hpp"
#include "embed/target.hpp"
#include "runtime/device/compile_progress.hpp"

namespace vphi {
namespace {

[[noreturn]] void throw_again(const embed::Error& error) {
  int line = 0, column = 0;
  for (const embed::Problem& p : error.problems)
    if (p.severity == "error" && line == 0) line = p.line, column = p.column;
  if (error.kind == embed::ErrorKind::Broken) line = error.line;
  std::string text = error.text;
  if (text.empty()) {
    text = "error[" + error.code + "]: " + error.what() + "\n";
    if (!error.hint.empty()) text += "   = " + error.hint + "\n";
    text += error.cause + error.log;
  }
  const Error made(error.what(), error.code, error.hint, text, line, column);
  if (error.kind == embed::ErrorKind::Broken)
    throw BrokenState(made, error.step, error.site, error.cause);
  throw made;
}

template <class Work>
decltype(auto) outward(Work&& work) {
  try {
    return std::forward<Work>(work)();
  } catch (const embed::Error& error) {
    throw_again(error);
  }
}

embed::Overrides overrides(const Options& options) {
  embed::Overrides all;
  for (const auto& [name, value] : options.set) all.set.push_back(name + "=" + value);
  all.free = options.free;
  all.lattice = options.lattice, all.until = options.until, all.precision = options.precision;
  if (options.seed) all.seed = std::to_string(*options.seed);
  all.steps = options.steps;
  return all;
}

Array outward_array(embed::Array array) {
  return {std::move(array.axes), std::move(array.shape), std::move(array.values)};
}

Series series_of(const runtime::Series& s, const runtime::RunResult& run) {
  Series out;
  out.name = s.name;
  for (const int axis : s.axes) out.axes.push_back(run.axes[static_cast<std::size_t>(axis)].name);
  if (s.axes.empty()) {
    for (const auto& [t, value] : s.points) out.t.push_back(t), out.values.push_back(value);
    return out;
  }
  out.t = s.times;
  for (const auto& row : s.values) out.values.insert(out.values.end(), row.begin(), row.end());
  return out;
}

}  // namespace

Error::Error(const std::string& message, std::string code, std::string fix, std::string text,
             int line, int column)
    : std::runtime_error(message),
      code_(std::move(code)),
      fix_(std::move(fix)),
      text_(std::move(text)),
      line_(line),
      column_(column) {}
Error::~Error() = default;
const std::string& Error::code() const { return code_; }
const std::string& Error::fix() const { return fix_; }
const std::string& Error::text() const { return text_; }
int Error::line() const { return line_; }
int Error::column() const { return column_; }

BrokenState::BrokenState(const Error& error, std::int64_t step, std::vector<std::int64_t> site,
                         std::string cause)
    : Error(error), step_(step), site_(std::move(site)), cause_(std::move(cause)) {}
BrokenState::~BrokenState() = default;
std::int64_t BrokenState::step() const { return step_; }
const std::vector<std::int64_t>& BrokenState::site() const { return site_; }
const std::string& BrokenState::cause() const { return cause_; }

struct Model::Hidden {
  embed::Model model;
};

struct Simulation::Hidden {
  embed::Simulation simulation;
  Hidden(const embed::Model& model, const embed::StartOptions& options)
      : simulation(model, options) {}
};

Model::Model(std::shared_ptr<const Hidden> hidden) : hidden_(std::move(hidden)) {}

Model Model::from_text(const std::string& text, const std::string& name) {
  return outward([&] {
    return Model(std::make_shared<const Hidden>(Hidden{embed::Model::from_text(text, name)}));
  });
}

Model Model::from_file(const std::string& path) {
  return outward(
      [&] { return Model(std::make_shared<const Hidden>(Hidden{embed::Model::from_file(path)})); });
}

const std::string& Model::name() const { return hidden_->model.name(); }
std::string Model::explain() const { return explain_text(hidden_->model.derived()); }

std::string Model::source(const std::string& device) const {
  return outward([&] { return hidden_->model.source(embed::default_target(device)); });
}

Simulation Model::start(const Options& options) const {
  return outward([&] {
    embed::StartOptions how;
    how.device = options.device, how.out = options.out, how.threads = options.threads;
    how.ranks = options.ranks, how.cut = options.cut, how.resume = options.resume;
    return Simulation(
        std::make_unique<Simulation::Hidden>(hidden_->model.with(overrides(options)), how));
  });
}

Result Model::run(const Options& options) const {
  Simulation simulation = start(options);
  simulation.step(-1);
  return simulation.finish();
}

Simulation::Simulation(std::unique_ptr<Hidden> hidden) : hidden_(std::move(hidden)) {}
Simulation::Simulation(Simulation&&) noexcept = default;
Simulation& Simulation::operator=(Simulation&&) noexcept = default;
Simulation::~Simulation() = default;

std::int64_t Simulation::step(std::int64_t count) {
  return outward([&] { return hidden_->simulation.step(count); });
}
std::int64_t Simulation::step_until(const std::string& condition) {
  return outward([&] { return hidden_->simulation.step_until(condition); });
}
void Simulation::set(const std::string& name, const std::string& value) {
  outward([&] { hidden_->simulation.set(name, value); });
}
void Simulation::changed() {
  outward([&] { hidden_->simulation.changed(); });
}
void Simulation::restart_background() {
  outward([&] { hidden_->simulation.restart_background(); });
}
void Simulation::save(const std::string& path) {
  outward([&] { hidden_->simulation.save(path); });
}
bool Simulation::over() const { return hidden_->simulation.over(); }
std::int64_t Simulation::steps() const { return hidden_->simulation.steps(); }
double Simulation::time() const { return hidden_->simulation.time(); }
std::vector<std::string> Simulation::state() const { return hidden_->simulation.state(); }
Array Simulation::read(const std::string& array) const {
  return outward([&] { return outward_array(hidden_->simulation.read(array)); });
}
void Simulation::write(const std::string& array, const std::vector<double>& values) {
  outward([&] { hidden_->simulation.write(array, values); });
}
Array Simulation::evaluate(const std::string& formula) const {
  return outward([&] { return outward_array(hidden_->simulation.evaluate(formula)); });
}
Result Simulation::finish() {
  return outward([&] {
    const embed::Result made = hidden_->simulation.finish();
    Result out;
    out.steps = made.run.steps, out.time = made.run.time, out.device = made.run.device;
    out.ok = made.run.all_expected() && made.run.failures.empty();
    for (const runtime::Series& s : made.run.series) out.series.push_back(series_of(s, made.run));
    out.files = made.run.files, out.notes = made.run.notes;
    return out;
  });
}

std::int64_t compilations() { return runtime::kernels_compiled(); }

}  // namespace vphi
