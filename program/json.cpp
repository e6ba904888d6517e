#include "program/json.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <type_traits>

namespace vphi::program {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kFormat = 1;  ///< raised when a field changes its meaning

// ---- names of enumerators, in the order of their values ---------------------------------------

template <class Enum>
struct Names;
template <>
struct Names<Precision> {
  static constexpr auto& list = kPrecisionNames;
};
template <>
struct Names<Target> {
  static constexpr auto& list = kTargetNames;
};
template <>
struct Names<Argument::Kind> {
  static constexpr std::array list{"current", "next",     "scalars", "partials",
                                   "counter", "gathered", "whole"};
};
template <>
struct Names<Cut::End> {
  static constexpr std::array list{"periodic", "antiperiodic", "mirror", "fixed", "open"};
};
template <>
struct Names<OutputKind> {
  static constexpr auto list = [] {
    std::array<std::string_view, kOutputs.size()> names;
    for (std::size_t i = 0; i < names.size(); ++i) names[i] = kOutputs[i].name;
    return names;
  }();
};
template <>
struct Names<Transform::Kind> {
  static constexpr std::array list{"transverse_traceless"};
};
template <>
struct Names<FourierMap::Function> {
  static constexpr std::array list{"itself", "exp", "phi1", "phi2"};
};
template <>
struct Names<Expectation::Kind> {
  static constexpr std::array list{"condition", "drift", "conserved"};
};
template <>
struct Names<Statistic::Kind> {
  static constexpr std::array list{"mean", "variance", "minimum", "maximum"};
};
template <>
struct Names<RandomField::Kind> {
  static constexpr std::array list{"vacuum", "normal", "uniform", "spectrum",
                                   "file",   "link",   "points"};
};
template <>
struct Names<Formula::Op> {
  static constexpr auto list = std::to_array(kFormulaOps);
};

// ---- one list of fields for both directions ---------------------------------------------------

template <class Io>
void fields(Io& io, Buffer& b) {
  io("name", b.name), io("precision", b.precision), io("doubled", b.doubled);
  io("state", b.state), io("scratch", b.scratch);
  io("file", b.file), io("transposed", b.transposed), io("elements", b.elements);
  io("home", b.home), io("lane", b.lane), io("lanes", b.lanes);
}
template <class Io>
void fields(Io& io, SiteOrder& o) {
  io("modulus", o.modulus), io("weights", o.weights), io("axis", o.axis);
}
template <class Io>
void fields(Io& io, Scalar& s) {
  io("name", s.name), io("initial", s.initial);
}
template <class Io>
void fields(Io& io, Axis& a) {
  io("name", a.name), io("values", a.values), io("ensemble", a.ensemble);
  io("fresh", a.fresh), io("slot", a.slot);
}
template <class Io>
void fields(Io& io, Statistic& s) {
  io("kind", s.kind), io("slot", s.slot), io("axes", s.axes), io("count_slot", s.count_slot);
  io("result_slot", s.result_slot), io("error_slot", s.error_slot);
  io("member_slot", s.member_slot), io("by_rank", s.by_rank), io("from", s.from), io("to", s.to);
}
template <class Io>
void fields(Io& io, Argument& a) {
  io("kind", a.kind), io("index", a.index), io("bytes", a.bytes);
  io("precision", a.precision), io("written", a.written);
}
template <class Io>
void fields(Io& io, Kernel& k) {
  io("name", k.name), io("entry", k.entry), io("finish", k.finish);
  io("arguments", k.arguments), io("partials", k.partials), io("totals", k.totals);
  io("grid", k.grid), io("block", k.block), io("shared_bytes", k.shared_bytes);
  io("together", k.together);
  io("loads", k.loads), io("stores", k.stores), io("bytes", k.bytes);
  io("flops", k.flops), io("special", k.special), io("notes", k.notes);
  io("instructions", k.instructions), io("arithmetic", k.arithmetic);
  io("chain", k.chain), io("chain_special", k.chain_special);
  io("sites", k.sites), io("pairs", k.pairs);
  io("source", k.source);
}
template <class Io>
void fields(Io& io, Halo& h) {
  io("buffer", h.buffer), io("depth", h.depth), io("beside", h.beside), io("classes", h.classes);
}
template <class Io>
void fields(Io& io, Cut::Second& s) {
  io("ranks", s.ranks), io("whole", s.whole), io("slab", s.slab), io("own", s.own);
  io("ghost", s.ghost), io("ends", s.ends), io("origin_slot", s.origin_slot);
}
template <class Io>
void fields(Io& io, Cut& c) {
  io("axis", c.axis), io("whole", c.whole), io("slab", c.slab), io("own", c.own);
  io("ghost", c.ghost), io("all", c.all), io("ends", c.ends), io("fixed_value", c.fixed_value);
  io("origin_slot", c.origin_slot), io("second", c.second);
}
template <class Io>
void fields(Io& io, Launch& l) {
  io("kernel", l.kernel), io("swap", l.swap), io("halos", l.halos), io("solve", l.solve);
  io("maps", l.maps);
}
template <class Io>
void fields(Io& io, FourierMap::Term& t) {
  io("row", t.row), io("column", t.column), io("weight", t.weight), io("offset", t.offset);
  io("laplacians", t.laplacians);
}
template <class Io>
void fields(Io& io, FourierMap& m) {
  io("name", m.name), io("function", m.function), io("scale", m.scale);
  io("from", m.from), io("to", m.to), io("matrix", m.matrix);
}
template <class Io>
void fields(Io& io, Solve& s) {
  io("name", s.name), io("solver", s.solver), io("line", s.line), io("line_number", s.line_number);
  io("iterate", s.iterate), io("finish", s.finish), io("max", s.max);
  io("done_slot", s.done_slot), io("iterations_slot", s.iterations_slot);
  io("residual_slot", s.residual_slot), io("value_slot", s.value_slot);
  io("low", s.low), io("high", s.high);
}
template <class Io>
void fields(Io& io, ScalarOutput& s) {
  io("name", s.name), io("slot", s.slot), io("drift", s.drift);
  io("error_slot", s.error_slot), io("axes", s.axes), io("passage", s.passage);
}
template <class Io>
void fields(Io& io, Symbol& s) {
  io("offsets", s.offsets), io("weights", s.weights);
}
template <class Io>
void fields(Io& io, Transform& t) {
  io("kind", t.kind), io("buffers", t.buffers), io("derivative", t.derivative);
}
template <class Io>
void fields(Io& io, HistogramAxis& a) {
  io("bins", a.bins), io("low", a.low), io("high", a.high), io("find_low", a.find_low);
  io("find_high", a.find_high), io("log", a.log);
}
template <class Io>
void fields(Io& io, SpectrumForm& f) {
  io("type", f.type), io("version", f.version), io("two_bins", f.two_bins);
  io("cross", f.cross), io("single", f.single), io("laplacian", f.laplacian);
}
template <class Io>
void fields(Io& io, FieldPart& f) {
  io("buffer", f.buffer), io("weight", f.weight), io("slot", f.slot);
  io("scale", f.scale), io("offset", f.offset);
}
template <class Io>
void fields(Io& io, SitesOfAxis& s) {
  io("first", s.first), io("last", s.last), io("every", s.every);
}
template <class Io>
void fields(Io& io, FieldOutput& f) {
  io("kind", f.kind), io("name", f.name), io("buffer", f.buffer), io("weight", f.weight);
  io("scale", f.scale), io("offset", f.offset);
  io("more", f.more), io("axis", f.axis), io("plane", f.plane), io("bins", f.bins);
  io("histogram", f.histogram), io("spectrum", f.spectrum);
  io("factor_slot", f.factor_slot), io("mass2_slot", f.mass2_slot);
  io("over", f.over), io("slot", f.slot), io("colours", f.colours);
  io("value", f.value), io("complex", f.complex);
  io("sites", f.sites);
  io("carried", f.carried), io("open_axes", f.open_axes), io("in_time", f.in_time);
}
template <class Io>
void fields(Io& io, Output& o) {
  io("every", o.every), io("after_slot", o.after_slot), io("before", o.before);
  io("transforms", o.transforms), io("launches", o.launches);
  io("scalars", o.scalars), io("fields", o.fields), io("file", o.file);
  io("averages", o.averages), io("statistics", o.statistics), io("then", o.then),
      io("plot_axis", o.plot_axis);
  io("interval", o.interval), io("from", o.from);
}
template <class Io>
void fields(Io& io, Expectation& e) {
  io("kind", e.kind), io("text", e.text), io("value_slot", e.value_slot);
  io("ok_slot", e.ok_slot), io("scale_slot", e.scale_slot), io("bound", e.bound);
  io("at_end", e.at_end);
}
template <class Io>
void fields(Io& io, RandomField& r) {
  io("kind", r.kind), io("buffer", r.buffer), io("stream", r.stream), io("velocity", r.velocity);
  io("mass2", r.mass2), io("amplitude", r.amplitude), io("low", r.low), io("high", r.high);
  io("cutoff", r.cutoff), io("kernel_form", r.kernel_form);
  io("masses", r.masses), io("powers", r.powers), io("file", r.file);
  io("colours", r.colours), io("entry", r.entry);
  io("components", r.components), io("as_it_is", r.as_it_is);
  io("leading", r.leading), io("members", r.members), io("density", r.density);
}
template <class Io>
void fields(Io& io, Formula::Step& s) {
  io("op", s.op), io("of", s.of), io("index", s.index), io("number", s.number);
}
template <class Io>
void fields(Io& io, Formula& f) {
  io("steps", f.steps), io("tables", f.tables);
}
template <class Io>
void fields(Io& io, PointDensity& d) {
  io("components", d.components), io("reach", d.reach), io("apart", d.apart);
  io("centred", d.centred), io("turned", d.turned), io("species", d.species);
  io("profile", d.profile), io("formula", d.formula), io("axes", d.axes);
}
template <class Io>
void fields(Io& io, Expansion& e) {
  io("scale_slot", e.scale_slot), io("residual_slot", e.residual_slot);
  io("explained", e.explained);
}
template <class Io>
void fields(Io& io, StepGrowth& g) {
  io("excess", g.excess), io("equations", g.equations), io("fits", g.fits);
}
template <class Io>
void fields(Io& io, Exchange& e) {
  io("axis", e.axis), io("every", e.every), io("buffers", e.buffers), io("launches", e.launches);
  io("above_slot", e.above_slot), io("below_slot", e.below_slot);
  io("above_value_slot", e.above_value_slot), io("below_value_slot", e.below_value_slot);
  io("tried_slot", e.tried_slot), io("made_slot", e.made_slot);
  io("replica_slot", e.replica_slot);
}
template <class Io>
void fields(Io& io, StateVariable& v) {
  io("buffer", v.buffer), io("shown", v.shown), io("line", v.line);
  io("line_number", v.line_number);
}
template <class Io>
void fields(Io& io, Program& p) {
  io("model", p.model), io("title", p.title), io("model_text", p.model_text);
  io("compiler_version", p.compiler_version), io("target", p.target), io("chain", p.chain);
  io("dims", p.dims);
  io("extent", p.extent), io("instances", p.instances), io("dx", p.dx),
      io("dx_physical", p.dx_physical), io("counted", p.counted), io("dt", p.dt);
  io("dt_physical", p.dt_physical), io("seed", p.seed), io("parameters", p.parameters);
  io("base_unit", p.base_unit), io("length_unit", p.length_unit), io("time_unit", p.time_unit),
      io("units", p.units);
  io("axes", p.axes), io("ensemble", p.ensemble);
  io("buffers", p.buffers), io("order", p.order), io("cut", p.cut), io("scalars", p.scalars),
      io("kernels", p.kernels);
  io("state", p.state), io("random", p.random), io("densities", p.densities),
      io("start_kept_slot", p.start_kept_slot), io("draws_slot", p.draws_slot),
      io("solves", p.solves), io("maps", p.maps), io("prologue", p.prologue), io("step", p.step);
  io("cycle", p.cycle), io("multi_step", p.multi_step), io("multi_step_unit", p.multi_step_unit);
  io("multi_step_slot", p.multi_step_slot);
  io("together", p.together), io("together_steps", p.together_steps);
  io("together_reach", p.together_reach);
  io("watch_before", p.watch_before), io("watch_transforms", p.watch_transforms);
  io("watch", p.watch), io("watch_statistics", p.watch_statistics);
  io("watch_then", p.watch_then), io("outputs", p.outputs), io("expectations", p.expectations);
  io("progress", p.progress), io("ensemble_slot", p.ensemble_slot), io("step_slot", p.step_slot),
      io("time_slot", p.time_slot);
  io("stop_slot", p.stop_slot), io("steps", p.steps), io("unsound_slot", p.unsound_slot);
  io("expansion", p.expansion), io("step_growth", p.step_growth);
  io("exchange", p.exchange);
}

// ---- writing ----------------------------------------------------------------------------------

struct Writer;
template <class T>
Json write(T& value);

struct Writer {
  Json json = Json::object();
  template <class T>
  void operator()(const char* key, T& value) {
    json[key] = write(value);
  }
};

template <class T>
struct IsVector : std::false_type {};
template <class T>
struct IsVector<std::vector<T>> : std::true_type {};
template <class T, std::size_t N>
struct IsVector<std::array<T, N>> : std::true_type {};

template <class T>
constexpr bool kIsPlain = std::is_arithmetic_v<T> || std::is_same_v<T, std::string>;

/// JSON has neither NaN, which is null, nor infinity, which is a word.
Json write_number(double value) {
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

template <class T>
Json write(T& value) {
  if constexpr (std::is_same_v<T, double>) {
    return write_number(value);
  } else if constexpr (std::is_same_v<T, std::pair<std::string, double>>) {
    return Json::array({value.first, write_number(value.second)});
  } else if constexpr (std::is_same_v<T, std::pair<std::string, std::string>>) {
    return Json::array({value.first, value.second});
  } else if constexpr (std::is_enum_v<T>) {
    return Names<T>::list[static_cast<std::size_t>(value)];
  } else if constexpr (IsVector<T>::value) {
    Json list = Json::array();
    for (auto& element : value) list.push_back(write(element));
    return list;
  } else if constexpr (kIsPlain<T>) {
    return Json(value);
  } else {
    Writer writer;
    fields(writer, value);
    return std::move(writer.json);
  }
}

// ---- reading ----------------------------------------------------------------------------------

[[noreturn]] void fail(const std::string& where, const std::string& what) {
  throw ProgramError(fmt::format("not a program: {}: {}", where.empty() ? "top" : where, what));
}

template <class T>
void read(const Json& json, T& value, const std::string& where);

struct JsonReader {
  const Json& json;
  const std::string& where;
  template <class T>
  void operator()(const char* key, T& value) {
    const auto found = json.find(key);
    const std::string place = where.empty() ? key : where + "." + key;
    if (found == json.end()) fail(place, "missing");
    read(*found, value, place);
  }
};

template <class T>
void read_number(const Json& json, T& value, const std::string& where) {
  if constexpr (std::is_same_v<T, bool>) {
    if (!json.is_boolean()) fail(where, "true or false expected");
    value = json.get<bool>();
  } else if constexpr (std::is_integral_v<T>) {
    if (!json.is_number_integer()) fail(where, "an integer expected");
    if (json.is_number_unsigned()) {
      const auto wide = json.get<std::uint64_t>();
      if (!std::in_range<T>(wide)) fail(where, "number out of range");
      value = static_cast<T>(wide);
    } else {
      const auto wide = json.get<std::int64_t>();
      if (!std::in_range<T>(wide)) fail(where, "number out of range");
      value = static_cast<T>(wide);
    }
  } else {
    if (json.is_null()) {  // JSON has no NaN
      value = std::numeric_limits<T>::quiet_NaN();
      return;
    }
    if (json == "inf" || json == "-inf") {
      value =
          json == "inf" ? std::numeric_limits<T>::infinity() : -std::numeric_limits<T>::infinity();
      return;
    }
    if (!json.is_number()) fail(where, "a number expected");
    value = json.get<T>();
  }
}

template <class T>
struct IsArray : std::false_type {};
template <class T, std::size_t N>
struct IsArray<std::array<T, N>> : std::true_type {};

template <class T>
void read(const Json& json, T& value, const std::string& where) {
  if constexpr (std::is_enum_v<T>) {
    const auto& names = Names<T>::list;
    if (!json.is_string()) fail(where, "a word expected");
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (json.get_ref<const std::string&>() == names[i]) {
        value = static_cast<T>(i);
        return;
      }
    }
    fail(where, fmt::format("unknown word `{}`", json.get_ref<const std::string&>()));
  } else if constexpr (IsVector<T>::value) {
    if (!json.is_array()) fail(where, "a list expected");
    if constexpr (IsArray<T>::value) {
      if (json.size() != value.size())
        fail(where, fmt::format("{} entries expected", value.size()));
    } else {
      value.resize(json.size());
    }
    for (std::size_t i = 0; i < json.size(); ++i)
      read(json[i], value[i], fmt::format("{}[{}]", where, i));
  } else if constexpr (std::is_same_v<T, std::string>) {
    if (!json.is_string()) fail(where, "a text expected");
    value = json.get<std::string>();
  } else if constexpr (std::is_same_v<T, std::pair<std::string, double>>) {
    if (!json.is_array() || json.size() != 2) fail(where, "[name, value] expected");
    read(json[0], value.first, where);
    read(json[1], value.second, where);
  } else if constexpr (std::is_same_v<T, std::pair<std::string, std::string>>) {
    if (!json.is_array() || json.size() != 2) fail(where, "[name, text] expected");
    read(json[0], value.first, where);
    read(json[1], value.second, where);
  } else if constexpr (std::is_arithmetic_v<T>) {
    read_number(json, value, where);
  } else {
    if (!json.is_object()) fail(where, "an object expected");
    JsonReader reader{json, where};
    fields(reader, value);
  }
}

}  // namespace

std::string to_json(const Program& program, int indent) {
  Program copy = program;  // the field lists serve both directions, so they take references
  Writer writer;
  writer.json["vphi_program"] = kFormat;
  fields(writer, copy);
  return writer.json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

Program from_json(std::string_view text) {
  const Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) throw ProgramError("not a program: the text is not JSON");
  if (!json.is_object() || !json.contains("vphi_program"))
    throw ProgramError("not a program: the key `vphi_program` is missing");
  if (json["vphi_program"] != kFormat)
    throw ProgramError(fmt::format("program format {} is not the one read here ({})",
                                   json["vphi_program"].dump(), kFormat));
  Program program;
  const std::string top;
  JsonReader reader{json, top};
  fields(reader, program);
  const auto found = problems(program);
  if (!found.empty()) throw ProgramError("not a sound program: " + found.front());
  return program;
}

}  // namespace vphi::program
