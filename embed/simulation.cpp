#include "embed/simulation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "dsl/messages/suggest.hpp"
#include "embed/evaluate.hpp"
#include "embed/translate.hpp"
#include "runtime/run/run_state.hpp"

namespace vphi::embed {
/// Stores the tables of outputs, and asks whether to go on.
class Keeper : public runtime::Onlooker {
 public:
  explicit Keeper(std::function<bool(const runtime::Progress&)> stops) : stops_(std::move(stops)) {}

  bool attending() const override { return true; }
  void scalars(std::span<const std::string>, const io::Moment&, std::span<const double>) override {}
  void table(const io::Table& table, const io::Moment& at) override {
    io::Table kept = table;
    io::unpack(kept);
    tables.push_back({std::move(kept), at});
  }
  void checks(const std::vector<runtime::ExpectationResult>&) override {}
  runtime::Wish between(const runtime::Progress& now) override {
    return stops_ && stops_(now) ? runtime::Wish::Stop : runtime::Wish::GoOn;
  }

  std::vector<TakenTable> tables;

 private:
  std::function<bool(const runtime::Progress&)> stops_;
};

struct Simulation::State {
  State(const Model& given, const StartOptions& options)
      : model(given),
        made(given.prepare(options.device)),
        info(made.device->info()),
        keeper(options.stops) {
    runtime::RunOptions how;
    how.out = options.out;
    how.threads = options.threads;
    how.steps = model.overrides().steps;
    how.tell = options.tell;
    how.onlooker = &keeper;
    run = std::make_unique<runtime::Run>(*made.compilation.program, *made.device, how);
    run->start();
  }

  const program::Program& program() const { return *made.compilation.program; }

  int buffer(const std::string& name) const {
    std::vector<std::string> names;
    for (const auto& variable : program().state) {
      const std::string& known = program().buffers[static_cast<std::size_t>(variable.buffer)].name;
      if (known == name) return variable.buffer;
      names.push_back(known);
    }
    const auto near = dsl::suggest(name, names);
    throw Error(fmt::format("there is no array `{}` in the state", name),
                near ? fmt::format("did you mean `{}`?", *near)
                     : fmt::format("the arrays are {}", dsl::enumerate(names)));
  }

  Model model;
  Prepared made;
  runtime::DeviceInfo info;
  Keeper keeper;
  std::unique_ptr<runtime::Run> run;
  std::map<std::string, std::unique_ptr<Evaluator>> formulas;
  std::vector<std::weak_ptr<const View>> views;
  bool finished = false;
};

namespace {

/// Throws where the state must not change now.
void refuse_change(bool finished, std::vector<std::weak_ptr<const View>>& views) {
  if (finished)
    throw Error("the run was finished: its closing values are taken and its files are closed",
                "`start` begins another one");
  std::erase_if(views, [](const auto& view) { return view.expired(); });
  std::string names;
  for (const auto& held : views)
    if (const auto view = held.lock()) names += (names.empty() ? "`" : ", `") + view->name + "`";
  if (!names.empty())
    throw Error(fmt::format("views of {} hold the state still", names),
                "let go of them first, with every array that was made of them", "E0810",
                ErrorKind::InUse);
}

}  // namespace

Simulation::Simulation(const Model& model, const StartOptions& options) {
  translated([&] { s_ = std::make_unique<State>(model, options); }, &model.derived());
}
Simulation::~Simulation() = default;

std::int64_t Simulation::step(std::int64_t count) {
  refuse_change(s_->finished, s_->views);
  if (count < -1) throw Error(fmt::format("{} is no number of steps", count));
  if (count >= 0 && s_->run->parts() > 1)
    throw Error(fmt::format("this sweep has {} instances, which run in {} parts one after the "
                            "other: it goes to its end and not by steps",
                            s_->program().all_instances(), s_->run->parts()),
                "fewer values of the sweep, or a run to the end");
  if (count < 0 && s_->made.endless)
    throw Error("nothing ends this run", "give `until` or a number of steps", "E0804",
                ErrorKind::Run);
  return translated([&] { return s_->run->advance(count); }, &s_->made.compilation);
}

bool Simulation::over() const { return s_->run->over(); }
bool Simulation::interrupted() const { return s_->run->interrupted(); }
std::int64_t Simulation::steps() const { return s_->run->step(); }
double Simulation::time() const { return s_->run->time(); }
const Model& Simulation::model() const { return s_->model; }
const runtime::DeviceInfo& Simulation::device() const { return s_->info; }

std::vector<std::string> Simulation::state() const {
  std::vector<std::string> names;
  for (const auto& variable : s_->program().state)
    names.push_back(s_->program().buffers[static_cast<std::size_t>(variable.buffer)].name);
  return names;
}

Array Simulation::read(const std::string& state) {
  const int buffer = s_->buffer(state);
  return translated([&] {
    Array array = on_lattice(s_->program());
    array.values = s_->run->session().read(buffer);
    return array;
  });
}

void Simulation::write(const std::string& state, std::span<const double> values) {
  refuse_change(s_->finished, s_->views);
  const int buffer = s_->buffer(state);
  const auto wanted = static_cast<std::size_t>(s_->program().sites() * s_->program().instances);
  if (values.size() != wanted)
    throw Error(fmt::format("`{}` has {} numbers, not {}", state, wanted, values.size()));
  const auto bad = std::ranges::find_if_not(values, [](double v) { return std::isfinite(v); });
  if (bad != values.end())
    throw Error(
        fmt::format("number {} of the values for `{}` is {}", bad - values.begin(), state, *bad),
        "every value of the state is a finite number");
  translated([&] { s_->run->session().write(buffer, values); });
}

std::shared_ptr<const View> Simulation::view(const std::string& state) {
  const int buffer = s_->buffer(state);
  if (s_->info.target != program::Target::Native)
    throw Error(fmt::format("`{}` lies in the memory of {}", state, s_->info.name),
                "a copy of it, or device native");
  void* data = translated([&] { return s_->run->session().raw_memory(buffer); });
  if (data == nullptr)
    throw Error(fmt::format("`{}` shares its memory with other arrays of the state", state),
                "a copy of it");
  Array array = on_lattice(s_->program());
  auto view = std::make_shared<View>();
  view->data = data;
  view->precision = s_->program().buffers[static_cast<std::size_t>(buffer)].precision;
  view->name = state;
  view->axes = std::move(array.axes), view->shape = std::move(array.shape);
  s_->views.push_back(view);
  return view;
}

std::vector<std::vector<double>> Simulation::places() const {
  const auto& lines = s_->model.derived().resolved.model.lines;
  const auto is_lattice = [](const dsl::Line& line) {
    return line.kind == dsl::Line::Kind::Clause && line.clause.keyword == "lattice";
  };
  std::vector<std::vector<double>> all;
  if (std::ranges::none_of(lines, is_lattice)) return all;
  const program::Program& p = s_->program();
  for (int axis = 0; axis < p.dims; ++axis) {
    const std::int64_t extent = p.extent[static_cast<std::size_t>(axis)];
    std::vector<double>& along = all.emplace_back();
    for (std::int64_t i = 0; i < extent; ++i)
      along.push_back((static_cast<double>(i) - static_cast<double>(extent - 1) / 2) *
                      p.dx_physical);
  }
  return all;
}

Array Simulation::evaluate(const std::string& expression) {
  auto& kept = s_->formulas[expression];
  if (!kept) {
    auto made = translated([&] {
      return std::make_unique<Evaluator>(s_->model, expression, *s_->made.device, s_->program());
    });
    kept = std::move(made);
  }
  return translated([&] { return kept->value(s_->run->session()); });
}

Result Simulation::finish() {
  refuse_change(s_->finished, s_->views);
  s_->finished = true;
  return translated(
      [&] {
        Result result;
        result.run = s_->run->finish();
        const auto& notes = s_->made.in_results;
        result.run.notes.insert(result.run.notes.end(), notes.begin(), notes.end());
        result.tables = std::move(s_->keeper.tables);
        return result;
      },
      &s_->made.compilation);
}

Result run(const Model& model, const StartOptions& options) {
  Simulation simulation(model, options);
  simulation.step(-1);
  return simulation.finish();
}

}  // namespace vphi::embed
