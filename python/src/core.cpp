// vphi._core: the library (embed/) as Python sees it. No logic: words come in, plain values go out;
// python/vphi gives them names and axes.
//
// Whatever takes time lets go of the interpreter. Between two chunks of steps it is taken again, to
// report progress and to look for Ctrl-C.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>

#include "compiler/explain.hpp"
#include "dsl/messages/diagnostic.hpp"
#include "embed/initial_values.hpp"
#include "embed/models.hpp"
#include "embed/page.hpp"
#include "embed/simulation.hpp"
#include "embed/target.hpp"
#include "embed/translate.hpp"
#include "runtime/device/ceilings.hpp"
#include "runtime/device/compile_progress.hpp"

namespace nb = nanobind;
using namespace vphi;

namespace {

using Numbers = nb::ndarray<nb::numpy, double>;

/// The numbers become those of an array of numpy, without a copy.
Numbers array_of(std::vector<double> values, const std::vector<std::int64_t>& shape) {
  auto owned = std::make_unique<std::vector<double>>(std::move(values));
  double* data = owned->data();
  const nb::capsule owner(owned.release(), [](void* numbers) noexcept {
    delete static_cast<std::vector<double>*>(numbers);
  });
  const std::vector<std::size_t> extents(shape.begin(), shape.end());
  return {data, extents.size(), extents.data(), owner};
}

Numbers line_of(std::vector<double> values) {
  const auto count = static_cast<std::int64_t>(values.size());
  return array_of(std::move(values), {count});
}

/// Rows of one length.
Numbers rows_of(const std::vector<std::vector<double>>& rows) {
  std::vector<double> all;
  for (const auto& row : rows) all.insert(all.end(), row.begin(), row.end());
  const auto count = static_cast<std::int64_t>(rows.size());
  const auto width = static_cast<std::int64_t>(rows.empty() ? 0 : rows[0].size());
  return array_of(std::move(all), {count, width});
}

nb::object axes_and_values(embed::Array array) {
  nb::object values = nb::cast(array_of(std::move(array.values), array.shape));
  return nb::make_tuple(nb::cast(array.axes), values);
}

nb::dict series_of(const runtime::Series& s) {
  nb::dict out;
  out["name"] = s.name;
  out["axes"] = nb::cast(s.axes);
  out["steps"] = nb::cast(s.steps);
  if (s.axes.empty()) {
    std::vector<double> t, values;
    for (const auto& [time, value] : s.points) t.push_back(time), values.push_back(value);
    out["t"] = nb::cast(line_of(std::move(t)));
    out["values"] = nb::cast(line_of(std::move(values)));
  } else {
    out["t"] = nb::cast(line_of(s.times));
    out["values"] = nb::cast(rows_of(s.values));
  }
  out["errors"] = s.errors.empty() ? nb::none() : nb::object(nb::cast(rows_of(s.errors)));
  return out;
}

nb::dict table_of(embed::TakenTable& taken) {
  io::Table& table = taken.table;
  nb::dict out;
  out["group"] = table.group();
  out["name"] = table.name;
  out["step"] = taken.at.step;
  out["t"] = taken.at.time;
  out["columns"] = nb::cast(table.columns);
  out["leading"] = nb::cast(table.leading);
  out["inner"] = nb::cast(table.inner);
  nb::list edges;
  for (auto& [name, values] : table.axes)
    edges.append(nb::make_tuple(name, line_of(std::move(values))));
  out["edges"] = edges;
  nb::dict numbers;
  for (const auto& [name, value] : table.numbers) numbers[name.c_str()] = value;
  out["numbers"] = numbers;
  out["values"] = nb::cast(array_of(std::move(table.values), table.shape));
  return out;
}

nb::list expectations_of(const runtime::RunResult& run) {
  nb::list all;
  for (const auto& e : run.expectations) {
    nb::dict one;
    one["text"] = e.text;
    one["ok"] = e.ok;
    one["value"] = e.value;
    one["time"] = e.time;
    one["where"] = e.where;
    one["undecided"] = e.undecided;
    all.append(one);
  }
  return all;
}

nb::list chain_of(const runtime::RunResult& run) {
  nb::list all;
  for (const auto& [name, a, early] : run.chain) {
    nb::dict one;
    one["name"] = name;
    one["mean"] = a.mean;
    one["error"] = a.is_known() ? a.error : std::numeric_limits<double>::quiet_NaN();
    one["tau_int"] = a.tau_int;
    one["values"] = a.values;
    all.append(one);
  }
  return all;
}

nb::dict result_of(embed::Result& result) {
  const runtime::RunResult& run = result.run;
  nb::dict out;
  out["model"] = run.model;
  out["device"] = run.device;
  out["steps"] = run.steps;
  out["time"] = run.time;
  out["interrupted"] = run.interrupted;
  nb::list axes, series, tables, plots, failures;
  for (const auto& axis : run.axes)
    axes.append(nb::make_tuple(axis.name, line_of(axis.values), axis.ensemble));
  for (const auto& s : run.series) series.append(series_of(s));
  for (auto& table : result.tables) tables.append(table_of(table));
  for (const auto& p : run.plots)
    plots.append(nb::make_tuple(p.name, p.against, line_of(p.x), line_of(p.y), line_of(p.error)));
  for (const auto& f : run.failures)
    failures.append(nb::make_tuple(f.instance, f.where, f.message));
  out["axes"] = axes, out["series"] = series, out["tables"] = tables;
  out["plots"] = plots, out["failures"] = failures;
  out["chain"] = chain_of(run);
  out["unit"] = run.unit;
  out["expectations"] = expectations_of(run);
  out["seconds"] = run.performance.seconds;
  out["bytes_per_site"] = run.performance.bytes_per_site;
  out["site_updates_per_s"] = run.performance.site_updates_per_s;
  out["files"] = nb::cast(run.files);
  out["notes"] = nb::cast(run.notes);
  return out;
}

/// embed::Error as an exception of vphi.errors, made there.
void raise(const embed::Error& error) {
  static const char* const kinds[] = {"Usage",  "Model",   "Run",  "Broken",
                                      "Device", "Results", "InUse"};
  nb::list problems;
  for (const embed::Problem& p : error.problems) {
    nb::dict one;
    one["code"] = p.code, one["severity"] = p.severity, one["message"] = p.message;
    one["rule"] = p.rule, one["fix"] = p.hint, one["source"] = p.source;
    one["line"] = p.line, one["column"] = p.column;
    one["end_line"] = p.end_line, one["end_column"] = p.end_column;
    problems.append(one);
  }
  const nb::object made =
      nb::module_::import_("vphi.errors")
          .attr("_made")(kinds[static_cast<int>(error.kind)], error.code, std::string(error.what()),
                         error.hint, error.text, problems, error.log, error.cause, error.step,
                         nb::tuple(nb::cast(error.site)), error.line);
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(made.ptr())), made.ptr());
}

embed::Overrides overrides(const std::vector<std::string>& set, const std::string& lattice,
                           const std::string& until, const std::string& precision,
                           const std::string& seed, std::int64_t steps, std::int64_t batch,
                           const std::vector<std::string>& free) {
  embed::Overrides all;
  all.set = set, all.free = free;
  all.lattice = lattice, all.until = until, all.precision = precision, all.seed = seed;
  all.steps = steps, all.batch = batch;
  return all;
}

/// The changes of a model, in the order of the arguments of `overrides`.
nb::tuple overrides_of(const embed::Model& model) {
  const embed::Overrides& all = model.overrides();
  return nb::make_tuple(all.set, all.lattice, all.until, all.precision, all.seed, all.steps,
                        all.batch, all.free);
}

/// The model with initial values: (name, numbers, whether they are complex: a last axis of 2).
embed::Model with_initial_values(const embed::Model& model, const nb::list& initial) {
  using Given = nb::ndarray<const double, nb::c_contig, nb::device::cpu>;
  std::vector<Given> arrays;
  std::vector<embed::InitialValues> all;
  for (const nb::handle one : initial) {
    const Given& array = arrays.emplace_back(nb::cast<Given>(one[1]));
    embed::InitialValues values;
    values.name = nb::cast<std::string>(one[0]);
    for (std::size_t axis = 0; axis < array.ndim(); ++axis)
      values.shape.push_back(static_cast<std::int64_t>(array.shape(axis)));
    values.values = {array.data(), array.size()};
    values.complex = nb::cast<bool>(one[2]);
    all.push_back(std::move(values));
  }
  const nb::gil_scoped_release free;
  return model.with_initial_values(all);
}

/// Compiles for a typical device of a kind, without one. Returns warnings and notes.
std::string check(const embed::Model& model, const std::string& kind) {
  const Compilation made =
      embed::translated([&] { return model.compile(embed::default_target(kind)); });
  embed::refuse_mistakes(made);
  if (made.diagnostics.all().empty()) return {};
  return dsl::render_text(made.diagnostics, made.resolved.sources());
}

/// Equations, stencils and kernels with their costs, for a typical device of a kind, as JSON.
std::string explanation(const embed::Model& model, const std::string& kind) {
  const Compilation made =
      embed::translated([&] { return model.compile(embed::default_target(kind)); });
  embed::refuse_mistakes(made);
  return to_json(explain(made));
}

/// The kernels for a typical device of a kind, or one of them.
std::string source(const embed::Model& model, const std::string& kind, const std::string& kernel) {
  return model.source(embed::default_target(kind), kernel);
}

/// Keeps a view and its simulation as long as an array of numpy shows it.
struct Held {
  std::shared_ptr<const embed::View> view;
  nb::object simulation;
  void order(std::uintptr_t stream) const;
  void wait() const;
};

/// What the page of a run is made of, when it is asked for.
struct Finished {
  std::shared_ptr<const Compilation> compilation;
  embed::Overrides overrides;
  runtime::DeviceInfo device;
  runtime::RunResult run;
  double bandwidth = 0;
  std::string page() const {
    return embed::page_of(*compilation, overrides, device, run, bandwidth);
  }
};

/// A Simulation and whether Ctrl-C was pressed in it.
class Driven {
 public:
  Driven(const embed::Model& model, const std::string& device, std::int64_t ranks,
         const std::string& cut, const std::string& out, int threads, nb::object progress,
         const std::string& resume)
      : progress_(std::move(progress)) {
    embed::StartOptions options;
    options.device = device, options.ranks = ranks, options.cut = cut;
    options.out = out, options.threads = threads, options.resume = resume;
    options.stops = [this](const runtime::Progress& now) { return stops(now); };
    options.tell = [this](const std::string& text) {
      const nb::gil_scoped_acquire held;
      told_.push_back(text);
    };
    const nb::gil_scoped_release free;
    simulation_ = std::make_unique<embed::Simulation>(model, options);
  }

  /// A fork has none of the threads for which this would wait.
  ~Driven() {
    if (getpid() != process_) static_cast<void>(simulation_.release());
  }
  Driven(const Driven&) = delete;
  Driven& operator=(const Driven&) = delete;

  std::int64_t step(std::int64_t count) {
    signalled_ = false;
    const nb::gil_scoped_release free;
    return simulation_->step(count);
  }
  std::int64_t step_until(const std::string& condition) {
    signalled_ = false;
    const nb::gil_scoped_release free;
    return simulation_->step_until(condition);
  }
  void set(const std::string& name, const std::string& value) {
    const nb::gil_scoped_release free;
    simulation_->set(name, value);
  }
  void changed() {
    const nb::gil_scoped_release free;
    simulation_->changed();
  }
  void restart_background() {
    const nb::gil_scoped_release free;
    simulation_->restart_background();
  }
  void save(const std::string& path) {
    const nb::gil_scoped_release free;
    simulation_->save(path);
  }
  /// Coordinates of the sites by the name of the axis.
  nb::dict places() const {
    nb::dict all;
    const auto along = simulation_->places();
    for (std::size_t axis = 0; axis < along.size(); ++axis)
      all[std::string(1, "xyzw"[axis]).c_str()] = line_of(along[axis]);
    return all;
  }
  nb::dict finish() {
    embed::Result result;
    {
      const nb::gil_scoped_release free;
      result = simulation_->finish();
    }
    nb::dict out = result_of(result);
    // GPUs have a memory each; ranks on processors share theirs
    const int memories = simulation_->device().is_cpu ? 1 : simulation_->ranks();
    const double bandwidth =
        memories * runtime::known_copy_bandwidth(simulation_->device()).value_or(0);
    out["bandwidth"] = bandwidth;
    out["finished"] =
        nb::cast(Finished{std::move(result.compilation), simulation_->model().overrides(),
                          simulation_->device(), std::move(result.run), bandwidth});
    out["told"] = nb::cast(told_);
    out["places"] = places();
    return out;
  }
  nb::object read(const std::string& name) {
    embed::Array array;
    {
      const nb::gil_scoped_release free;
      array = simulation_->read(name);
    }
    return axes_and_values(std::move(array));
  }
  nb::object evaluate(const std::string& formula) {
    embed::Array array;
    {
      const nb::gil_scoped_release free;
      array = simulation_->evaluate(formula);
    }
    return axes_and_values(std::move(array));
  }
  void write(const std::string& name,
             const nb::ndarray<const double, nb::c_contig, nb::device::cpu>& values) {
    const std::span<const double> all(values.data(), values.size());
    const nb::gil_scoped_release free;
    simulation_->write(name, all);
  }
  embed::Simulation& simulation() { return *simulation_; }
  /// What keeps it; the array where it lies: one of numpy, or of a GPU one with DLPack's methods;
  /// its address, its shape, the type of its numbers as numpy names it, and the number of the GPU
  /// (-1: none).
  static nb::object view(const nb::handle_t<Driven>& self, const std::string& name) {
    const auto view = nb::cast<Driven&>(self).simulation().view(name);
    const nb::object owner = nb::cast(Held{view, nb::borrow(self)});
    const bool single = view->precision == program::Precision::F32;
    const nb::object array =
        view->opencl_queue != nullptr ? owner
        : view->cuda < 0
            ? (single ? array_at<nb::numpy, float>(*view, owner)
                      : array_at<nb::numpy, double>(*view, owner))
            : (single ? array_at<nb::array_api, nb::device::cuda, float>(*view, owner)
                      : array_at<nb::array_api, nb::device::cuda, double>(*view, owner));
    return nb::make_tuple(owner, array, reinterpret_cast<std::uintptr_t>(view->data),
                          nb::tuple(nb::cast(view->shape)), single ? "<f4" : "<f8", view->cuda,
                          reinterpret_cast<std::uintptr_t>(view->opencl_context),
                          reinterpret_cast<std::uintptr_t>(view->opencl_queue));
  }
  /// "NVIDIA H200", "... (2 ranks)"
  std::string device() const {
    const int ranks = simulation_->ranks();
    const std::string& name = simulation_->device().name;
    return ranks == 1 ? name : name + " (" + std::to_string(ranks) + " ranks)";
  }
  bool signalled() const { return signalled_; }

 private:
  bool stops(const runtime::Progress& now) {
    const nb::gil_scoped_acquire held;
    try {
      if (PyErr_CheckSignals() != 0) throw nb::python_error();
      if (!progress_.is_none())
        progress_(now.step, now.steps, now.time, now.seconds_left, now.site_updates_per_s);
    } catch (nb::python_error& error) {
      if (!error.matches(PyExc_KeyboardInterrupt)) throw;
      signalled_ = true;  // the step ends, then Python hears of it
    }
    return signalled_;
  }

  template <class... Kind>
  static nb::object array_at(const embed::View& view, const nb::object& owner) {
    using There = nb::ndarray<Kind...>;
    const std::vector<std::size_t> shape(view.shape.begin(), view.shape.end());
    return nb::cast(There(view.data, shape.size(), shape.data(), owner, nullptr,
                          nb::dtype<typename There::Scalar>(), There::DeviceType,
                          std::max(0, view.cuda)));
  }

  nb::object progress_;
  const pid_t process_ = getpid();
  std::vector<std::string> told_;
  bool signalled_ = false;
  std::unique_ptr<embed::Simulation> simulation_;
};

void Held::order(std::uintptr_t stream) const {
  nb::cast<Driven&>(simulation).simulation().order(*view, stream);
}

void Held::wait() const {
  auto& driven = nb::cast<Driven&>(simulation);
  const nb::gil_scoped_release free;
  driven.simulation().wait(*view);
}

}  // namespace

NB_MODULE(_core, m) {
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const embed::Error& error) {
      raise(error);
    }
  });
  m.attr("version") = VPHI_VERSION;
  m.def("set_models_folder", &embed::set_models_folder);
  m.def("compilations", &runtime::kernels_compiled);
  m.def("shipped_models", &embed::shipped_models);
  m.def("exists", [](const std::string& name) { return embed::try_model(name).has_value(); });

  nb::class_<embed::Overrides>(m, "Overrides");
  m.def("overrides", &overrides);
  nb::class_<embed::Model>(m, "Model")
      .def_static("from_text", &embed::Model::from_text, nb::call_guard<nb::gil_scoped_release>())
      .def_static("from_file", &embed::Model::from_file, nb::call_guard<nb::gil_scoped_release>())
      .def("changed", &embed::Model::with, nb::call_guard<nb::gil_scoped_release>())
      .def("with_initial_values", &with_initial_values)
      .def_prop_ro("overrides", &overrides_of)
      .def("check", &check, nb::call_guard<nb::gil_scoped_release>())
      .def("source", &source, nb::call_guard<nb::gil_scoped_release>())
      .def("explanation", &explanation, nb::call_guard<nb::gil_scoped_release>())
      .def_prop_ro("text", &embed::Model::text)
      .def_prop_ro("name", &embed::Model::name)
      .def_prop_ro("title", &embed::Model::title)
      .def_prop_ro("remarks", &embed::Model::remarks)
      .def("mathml", [](const embed::Model& model) { return explain_mathml(model.derived()); })
      .def("latex", [](const embed::Model& model) { return explain_latex(model.derived()); })
      .def("explain", [](const embed::Model& model) { return explain_text(model.derived()); });
  nb::class_<Held>(m, "Held").def("order", &Held::order).def("wait", &Held::wait);
  nb::class_<Finished>(m, "Finished")
      .def("page", &Finished::page, nb::call_guard<nb::gil_scoped_release>());
  nb::class_<Driven>(m, "Simulation")
      .def("view", &Driven::view)
      .def(nb::init<const embed::Model&, const std::string&, std::int64_t, const std::string&,
                    const std::string&, int, nb::object, const std::string&>(),
           nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none(),
           nb::arg())
      .def("step", &Driven::step)
      .def("step_until", &Driven::step_until)
      .def("set", &Driven::set)
      .def("changed", &Driven::changed)
      .def("restart_background", &Driven::restart_background)
      .def("save", &Driven::save)
      .def_prop_ro("model", [](Driven& d) { return d.simulation().model(); })
      .def("finish", &Driven::finish)
      .def("read", &Driven::read)
      .def("evaluate", &Driven::evaluate)
      .def_prop_ro("places", &Driven::places)
      .def("write", &Driven::write)
      .def_prop_ro("signalled", &Driven::signalled)
      .def_prop_ro("over", [](Driven& d) { return d.simulation().over(); })
      .def_prop_ro("steps", [](Driven& d) { return d.simulation().steps(); })
      .def_prop_ro("time", [](Driven& d) { return d.simulation().time(); })
      .def_prop_ro("state", [](Driven& d) { return d.simulation().state(); })
      .def_prop_ro("device", &Driven::device);
}
