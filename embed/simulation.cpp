#include "embed/simulation.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "dsl/messages/suggest.hpp"
#include "embed/evaluate.hpp"
#include "embed/resume.hpp"
#include "embed/same_state.hpp"
#include "embed/target.hpp"
#include "embed/translate.hpp"
#include "program/scalar_names.hpp"
#include "runtime/device/cuda/cuda.hpp"
#include "runtime/io/files/folder_lock.hpp"
#include "runtime/io/results.hpp"
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
      : State(given, options, checkpoint(given, options.resume)) {}

  /// `from`: where the run goes on, if it has a reader.
  State(const Model& given, const StartOptions& options, const runtime::FoundCheckpoint& from)
      : model(from.reader ? with_changes_of(given, from.reader->head()) : given),
        made(model.prepare(options.device, {options.ranks, options.cut}, from.reader != nullptr)),
        info(made.first().info()),
        keeper(options.stops) {
    how.out = options.out;
    how.threads = options.threads;
    how.steps = model.overrides().steps;
    how.tell = options.tell;
    how.onlooker = &keeper;
    lock_folder();
    if (from.reader) go_on(from, made.shown(), model.overrides().until, how);
    open();
  }

  /// That of `place`; none where it is empty.
  static runtime::FoundCheckpoint checkpoint(const Model& model, const std::string& place) {
    if (place.empty()) return {};
    return translated([&] { return runtime::find_checkpoint(place, model.name()); });
  }
  static Model with_changes_of(const Model& given, const runtime::CheckpointHead& head) {
    return given.with(continued(given.overrides(), head.call));
  }

  /// Throws where a run of another process writes into the folder. Simulations of this process may
  /// follow each other there.
  void lock_folder() {
    if (how.out.empty()) return;
    lock = io::FolderLock(how.out, model.name());
    if (lock.other() && lock.other()->process != getpid())
      throw Error(fmt::format("{} is in use by another run: process {} on {}", how.out,
                              lock.other()->process, lock.other()->host),
                  "wait until it has ended, or end it; `out` names another folder", "E0855",
                  ErrorKind::Run);
  }

  void open() {
    made.share(how);
    how.leave_queued = info.target != program::Target::Native && !ends_by_state(*made.compilation);
    run = std::make_unique<runtime::Run>(*made.compilation->program, made.first(), how);
    run->start();
    how.resume.reset();
    how.renewal = runtime::RunOptions::Renewal::Nothing;
    how.past_stop = false;
  }

  /// Goes on with another program from the present state. Where it does not start, the one before
  /// goes on. `stopped`: the instances that its end has stopped already.
  void go_on_with(Compiled next, const std::vector<bool>& stopped,
                  runtime::RunOptions::Renewal renewal);
  /// Which instances have stopped.
  std::vector<bool> stopped() const;
  void stop(const std::vector<bool>& instances);

  Compiled compiled(const Model& other) const {
    Compiled next;
    translated([&] {
      if (made.ranks)
        next = other.compile(*made.ranks, true);
      else
        *next.compilation = other.compile(target_of(info), true);
    });
    refuse_mistakes(*next.compilation);
    return next;
  }

  /// Before steps: those of the calls before may still be queued.
  void begin_steps();
  void begin_change();
  /// The same before another program goes on from the present state. Throws where that cannot be.
  void begin_change_of_program(const std::string& what);
  Array evaluate(const std::string& expression);
  /// The instances in which a condition on the present state holds, with the model's parameters.
  std::vector<bool> holds(const Model& of, const std::string& condition) const;
  /// The same of the end of the run, where it is a condition that the program looks at.
  std::vector<bool> has_ended(const Model& of, const Compilation& program_of_it) const;
  std::int64_t visit(Compiled other, const std::vector<bool>& held, Compiled before);
  /// The end of the run in the model's language; empty: by steps or not at all.
  static std::string end(const Model& of) {
    const std::string& given = of.overrides().until;
    return given.empty() ? until_of(of.text()) : given;
  }

  /// With the instances and the lattice of all ranks.
  const program::Program& program() const { return run->session().program(); }
  /// Steps that are queued from now on begin after what the program around this has queued on the
  /// memory of views.
  void follow_views() {
    if (!viewed_there) return;
    made.first().follow_others();
    std::erase_if(views, [](const auto& view) { return view.expired(); });
    viewed_there = !views.empty();
  }
  /// What the host reads or writes next is the present state, and it is sound.
  void settle() {
    follow_views();
    run->look();
  }

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

  io::FolderLock lock;  ///< of the folder of results, while files may be written there
  Model model;
  Prepared made;
  runtime::DeviceInfo info;
  Keeper keeper;
  runtime::RunOptions how;
  std::unique_ptr<runtime::Run> run;
  std::vector<std::string> changes;  ///< of parameters, for the notes
  bool was_interrupted = false;
  std::map<std::string, std::unique_ptr<Evaluator>> formulas;
  std::vector<std::weak_ptr<const View>> views;
  bool viewed_there = false;  ///< views in the memory of a GPU are there, or were
  bool finished = false;
};

namespace {

/// Throws where the state must not change now.
void refuse_views(bool finished, std::vector<std::weak_ptr<const View>>& views) {
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

/// Throws where the sweep runs in parts.
void refuse_parts(const runtime::Run& run, const program::Program& program) {
  if (run.parts() > 1)
    throw Error(fmt::format("this sweep has {} instances, which run in {} parts one after the "
                            "other: it goes to its end and not by steps",
                            program.all_instances(), run.parts()),
                "fewer values of the sweep, or a run to the end");
}

/// Throws where files would have to go on beside another program of several ranks.
void refuse_files(const std::string& out, const std::string& what) {
  if (!out.empty())
    throw Error(fmt::format("`{}` takes another program, and the files of results that ranks share "
                            "belong to the present one",
                            what),
                "a simulation without `out`, whose result has the outputs; or one device");
}

/// Exchanges two programs where they are: open files refer to the place of theirs.
void swap_in_place(Compiled& one, Compiled& other) {
  std::swap(one, other);
  std::swap(one.compilation, other.compilation);
  std::swap(*one.compilation, *other.compilation);
}

}  // namespace

/// Throws where the state must not change now.
void Simulation::State::begin_steps() {
  refuse_views(finished, views);
  translated([&] { follow_views(); });
}

/// The same; all steps have ended and are sound.
void Simulation::State::begin_change() {
  refuse_views(finished, views);
  translated([&] { settle(); }, made.compilation.get());
}

void Simulation::State::begin_change_of_program(const std::string& what) {
  begin_change();
  refuse_parts(*run, program());
  if (made.ranks) refuse_files(how.out, what);
}

/// The formula, made at its first use.
Array Simulation::State::evaluate(const std::string& expression) {
  translated([&] { settle(); }, made.compilation.get());
  auto& kept = formulas[expression];
  if (!kept) {
    auto made_now = translated(
        [&] { return std::make_unique<Evaluator>(model, expression, made.first(), program()); });
    kept = std::move(made_now);
  }
  return translated([&] { return kept->value(run->session()); });
}

std::vector<bool> Simulation::State::holds(const Model& of, const std::string& condition) const {
  std::vector<bool> all;
  Evaluator formula(of, "1*(" + condition + ")", made.first(), program());
  for (const double value : formula.value(run->session()).values) all.push_back(value != 0);
  return all;
}

std::vector<bool> Simulation::State::has_ended(const Model& of,
                                               const Compilation& program_of_it) const {
  if (ends_by_state(program_of_it)) return holds(of, end(of));
  return std::vector<bool>(static_cast<std::size_t>(program().instances));
}

std::vector<bool> Simulation::State::stopped() const {
  std::vector<bool> all;
  const runtime::Slot now = run->session().slot(program().stop_slot);
  for (std::int64_t i = 0; i < now.instances; ++i) all.push_back(now[i] != 0);
  return all;
}

void Simulation::State::stop(const std::vector<bool>& instances) {
  for (std::size_t i = 0; i < instances.size(); ++i)
    run->session().set_scalar(program().stop_slot, instances[i] ? 1 : 0,
                              static_cast<std::int64_t>(i));
}

void Simulation::State::go_on_with(Compiled next, const std::vector<bool>& stopped_now,
                                   runtime::RunOptions::Renewal renewal) {
  using Renewal = runtime::RunOptions::Renewal;
  const std::vector<bool> before = stopped();
  stop(stopped_now);
  const auto state = run->save(renewal != Renewal::Averages);
  how.files = run->open_files();
  if (how.files) how.files->finish();  // what is queued speaks of this program
  run.reset();
  swap_in_place(made, next);
  try {
    how.resume = state, how.renewal = renewal;
    open();
  } catch (...) {
    run.reset();
    swap_in_place(made, next);
    how.resume = state, how.renewal = Renewal::Nothing;
    open();
    stop(before);
    run->advance(0);
    throw;
  }
  made.endless = endless(*made.compilation);
}

/// Steps of a program with another end, then the one before goes on.
std::int64_t Simulation::State::visit(Compiled other, const std::vector<bool>& held,
                                      Compiled before) {
  using Renewal = runtime::RunOptions::Renewal;
  go_on_with(std::move(other), held, Renewal::Scalars);
  const std::int64_t made_now = run->advance(-1);
  was_interrupted = run->interrupted();
  const std::vector<bool> ended = has_ended(model, *before.compilation);
  go_on_with(std::move(before), ended, Renewal::Scalars);
  return made_now;
}

Simulation::Simulation(const Model& model, const StartOptions& options) {
  translated([&] { s_ = std::make_unique<State>(model, options); }, &model.derived());
}
Simulation::~Simulation() {
  const runtime::CallersContext context;
  s_.reset();
}

std::int64_t Simulation::step(std::int64_t count) {
  s_->begin_steps();
  if (count < -1) throw Error(fmt::format("{} is no number of steps", count));
  if (count >= 0) refuse_parts(*s_->run, s_->program());
  if (count < 0 && s_->made.endless)
    throw Error("nothing ends this run", "give `until` or a number of steps", "E0804",
                ErrorKind::Run);
  s_->was_interrupted = false;
  return translated([&] { return s_->run->advance(count); }, s_->made.compilation.get());
}

std::int64_t Simulation::step_until(const std::string& condition) {
  s_->begin_change();
  refuse_parts(*s_->run, s_->program());
  if (condition.find_first_not_of(" \t\n") == std::string::npos)
    throw Error("the condition is empty", "a condition of the model's language, as \"t > 10\"");
  Overrides end;
  end.until = condition;
  Compiled alone = s_->compiled(s_->model.with(end));
  const Compilation& ended = *alone.compilation;
  if (ended.program->steps >= 0 && ended.system->end_time > 0)  // a time: the step is known
    return step(std::max<std::int64_t>(0, ended.program->steps - steps()));
  const std::vector<bool> held = translated([&] { return s_->holds(s_->model, condition); });
  if (std::ranges::find(held, false) == held.end()) return 0;
  if (s_->made.ranks) refuse_files(s_->how.out, condition);
  const std::string own = s_->end(s_->model);
  if (!own.empty()) {
    end.until = fmt::format("({}) or ({})", condition, own);
    alone = s_->compiled(s_->model.with(end));
  }
  Compiled before = s_->compiled(s_->model);
  return translated([&] { return s_->visit(std::move(alone), held, std::move(before)); },
                    s_->made.compilation.get());
}

void Simulation::set(const std::string& name, const std::string& value) {
  s_->begin_change_of_program(name);
  Overrides change;
  change.set = {name + "=" + value};
  Model next = s_->model.with(change);
  Compiled program = s_->compiled(next);
  check_same_state(*s_->made.compilation, *program.compilation, name);
  const std::string when =
      fmt::format("{} = {} from step {}, t = {:.6g} on", name, value, steps(), time());
  translated(
      [&] {
        const std::vector<bool> ended = s_->has_ended(next, *program.compilation);
        s_->go_on_with(std::move(program), ended, runtime::RunOptions::Renewal::Averages);
      },
      s_->made.compilation.get());
  s_->model = std::move(next);
  s_->formulas.clear();
  s_->changes.push_back(when);
  if (s_->how.files) translated([&] { s_->how.files->add_change(when); });
}

void Simulation::changed() {
  s_->begin_change_of_program("the state");
  Compiled program = s_->compiled(s_->model);
  translated(
      [&] {
        s_->go_on_with(std::move(program), s_->stopped(), runtime::RunOptions::Renewal::Averages);
      },
      s_->made.compilation.get());
}

void Simulation::restart_background() {
  const std::string& scale = s_->made.compilation->system->scale_factor;
  if (scale.empty())
    throw Error("the rate of expansion of this model does not follow from its energy",
                "`metric frw(a)` in the model, without a formula for a");
  s_->begin_change_of_program("the state");
  translated([&] { s_->run->restart_expansion(program::slope_of(scale)); },
             s_->made.compilation.get());
  changed();
}

void Simulation::save(const std::string& path) {
  refuse_parts(*s_->run, s_->program());
  translated(
      [&] {
        s_->settle();
        s_->run->save_to(path, {s_->model.written(), call_of(s_->model.overrides())});
      },
      s_->made.compilation.get());
}

bool Simulation::over() const { return s_->run->over(); }
bool Simulation::interrupted() const { return s_->was_interrupted || s_->run->interrupted(); }
std::int64_t Simulation::steps() const { return s_->run->step(); }
double Simulation::time() const { return s_->run->time(); }
const Model& Simulation::model() const { return s_->model; }
const runtime::DeviceInfo& Simulation::device() const { return s_->info; }
int Simulation::ranks() const { return s_->made.size(); }

std::vector<std::string> Simulation::state() const {
  std::vector<std::string> names;
  for (const auto& variable : s_->program().state)
    names.push_back(s_->program().buffers[static_cast<std::size_t>(variable.buffer)].name);
  return names;
}

Array Simulation::read(const std::string& state) {
  const int buffer = s_->buffer(state);
  return translated(
      [&] {
        s_->settle();
        Array array = on_lattice(s_->program());
        array.values = s_->run->session().read(buffer);
        return array;
      },
      s_->made.compilation.get());
}

void Simulation::write(const std::string& state, std::span<const double> values) {
  s_->begin_change();
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
  if (ranks() > 1)
    throw Error(
        fmt::format("{} ranks have a part of `{}` each, in a memory of its own", ranks(), state),
        "`read` makes a copy of the whole and `write` deals it out; or one device");
  const program::Target target = s_->info.target;
  if (target != program::Target::Cuda)
    translated([&] { s_->run->look(); }, s_->made.compilation.get());
  void* data = translated([&] { return s_->run->session().raw_memory(buffer); });
  if (data == nullptr)
    throw Error(fmt::format("`{}` shares its memory with other arrays of the state", state),
                "`read` makes a copy");
  Array array = on_lattice(s_->program());
  auto view = std::make_shared<View>();
  view->data = data;
  if (target == program::Target::Cuda) {
    view->cuda = std::stoi(s_->info.id.substr(s_->info.id.find(':') + 1));
    s_->viewed_there = true;
  }
  if (target == program::Target::OpenCL) {
    const runtime::RawQueue there = s_->made.first().raw_queue();
    view->opencl_context = there.context, view->opencl_queue = there.queue;
  }
  view->precision = s_->program().buffers[static_cast<std::size_t>(buffer)].precision;
  view->name = state;
  view->axes = std::move(array.axes), view->shape = std::move(array.shape);
  s_->views.push_back(view);
  return view;
}

void Simulation::order(const View& view, std::uintptr_t stream) {
  if (view.cuda >= 0)
    translated([&] { s_->made.first().let_follow(reinterpret_cast<void*>(stream)); });
}

void Simulation::wait(const View& view) {
  if (view.cuda >= 0) translated([&] { s_->made.first().synchronise(); });
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

Array Simulation::evaluate(const std::string& expression) { return s_->evaluate(expression); }

Result Simulation::finish() {
  s_->begin_change();
  s_->finished = true;
  return translated(
      [&] {
        Result result;
        result.run = s_->run->finish();
        result.run.interrupted = result.run.interrupted || (s_->was_interrupted && !over());
        result.run.notes.insert(result.run.notes.end(), s_->changes.begin(), s_->changes.end());
        const auto& notes = s_->made.in_results;
        result.run.notes.insert(result.run.notes.end(), notes.begin(), notes.end());
        result.tables = std::move(s_->keeper.tables);
        result.compilation = s_->made.compilation;
        return result;
      },
      s_->made.compilation.get());
}

Result run(const Model& model, const StartOptions& options) {
  Simulation simulation(model, options);
  simulation.step(-1);
  return simulation.finish();
}

}  // namespace vphi::embed
