// Names: what a bare name refers to and which type it has there (docs/rules.md rules 5, 10, 17,
// 26).
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <deque>
#include <map>
#include <set>

#include "dsl/collect.hpp"
#include "dsl/messages/suggest.hpp"
#include "dsl/name_errors.hpp"
#include "dsl/syntax/parse.hpp"
#include "dsl/types/infer.hpp"
#include "dsl/types/types.hpp"

namespace vphi::dsl {

using Base = Type::Base;

namespace {

constexpr int kDeepestLevel = 1500;       // levels of expressions below one another, names included
constexpr std::size_t kInt64Digits = 19;  // 2^63 has 19 digits

std::string usage_of(const Symbol& symbol) {
  std::string text = symbol.name + "(";
  for (std::size_t i = 0; i < symbol.parameters.size(); ++i) {
    text += (i > 0 ? ", " : "") + symbol.parameters[i];
  }
  return text + ")";
}

/// Names of distributions in other programs.
std::optional<std::string> distribution_habit(const std::string& name) {
  static const std::map<std::string, std::string> kHabits = {
      {"gaussian", "normal"}, {"gauss", "normal"},      {"randn", "normal"},
      {"random", "uniform"},  {"rand", "uniform"},      {"flat", "uniform"},
      {"lorentz", "cauchy"},  {"lorentzian", "cauchy"}, {"exponentially", "exponential"},
  };
  const auto found = kHabits.find(name);
  if (found != kHabits.end()) return found->second;
  std::vector<std::string> known;
  for (const Builtin& builtin : builtins()) {
    if (builtin.rule == Rule::Distribution) known.emplace_back(builtin.name);
  }
  return suggest(name, known);
}

bool given_by_lattice(const std::string& name) {
  for (const GivenName& given : given_names()) {
    if (given.name == name) return given.construct == "lattice";
  }
  return false;
}

}  // namespace

Inference::Inference(Resolved& resolved) : resolved_(resolved) {
  const auto h = resolved.symbols.find("H");
  hubble_or_hamiltonian_ = h != resolved.symbols.end() &&
                           h->second.kind == SymbolKind::Hamiltonian &&
                           resolved.symbols.count("frw.H") > 0;
}

Value Inference::set(const Expr& expr, Value value) {
  Type shown = value.type;
  shown.per_site = shown.per_site || !value.free.empty();
  resolved_.types[&expr] = shown;
  return value;
}

Value Inference::infer(const Expr& expr, const Scope& scope) {
  if (depth_ > kDeepestLevel) {
    report(errors::too_deep(expr.span));
    return {};
  }
  ++depth_;
  Value value;
  switch (expr.kind) {
    case ExprKind::Number:
      check_number(expr);
      value.type = type_of(expr.imaginary                                        ? Base::Complex
                           : expr.text.find_first_of(".eE") != std::string::npos ? Base::Real
                                                                                 : Base::Integer);
      break;
    case ExprKind::String:
      report(errors::not_a_value(expr.span, "\"" + expr.text.substr(0, 40) + "\"", "string",
                                 "strings name files: table(\"file:set\", ...), -> \"file.h5\""));
      break;
    case ExprKind::Name:
      value = name(expr, scope);
      break;
    case ExprKind::Sign:
      report(errors::not_a_value(expr.span, expr.text, "sign", "write directions(+,-)"));
      break;
    case ExprKind::Unary:
      value = unary(expr, scope);
      break;
    case ExprKind::Binary:
      value = binary(expr, scope);
      break;
    case ExprKind::Select:
      value = select(expr, scope);
      break;
    case ExprKind::Call:
      value = call(expr, scope);
      break;
    case ExprKind::Index:
      value = index(expr, scope);
      break;
    case ExprKind::Prime:
      value = prime(expr, scope);
      break;
    case ExprKind::Shift:
      value = shift(expr, scope);
      break;
    case ExprKind::List:
      value = list(expr, scope);
      break;
    case ExprKind::Range:
      report(errors::not_a_value(expr.span, "..", "range",
                                 "ranges stand in `sweep` and give an index its values: k = 1..8"));
      break;
    case ExprKind::Unit:
      value = infer(*expr.args[0], scope);
      value.type = type_of(Base::Real);
      break;
  }
  --depth_;
  return set(expr, std::move(value));
}

void Inference::check_number(const Expr& expr) {
  const bool integer = expr.text.find_first_of(".eE") == std::string::npos;
  const std::size_t first = expr.text.find_first_not_of('0');
  const std::string digits = first == std::string::npos ? "0" : expr.text.substr(first);
  const bool too_large = integer ? digits.size() > kInt64Digits || (digits.size() == kInt64Digits &&
                                                                    digits > "9223372036854775807")
                                 : std::isinf(std::strtod(expr.text.c_str(), nullptr));
  if (too_large) report(errors::number_too_large(expr.span, expr.text));
}

// ---- one name ---------------------------------------------------------------------------------

Value Inference::name(const Expr& expr, const Scope& scope) {
  const std::string& name = expr.text;
  if (const Scope::Local* local = scope.find(name)) {
    if (local->value) return *local->value;
    return {type_of(Base::Integer), {}};
  }
  if (const Symbol* symbol = resolved_.find(name)) {
    if (symbol->kind == SymbolKind::Hamiltonian && hubble_or_hamiltonian_) {
      report(errors::hubble_or_hamiltonian(expr.span, *symbol));
      return {};
    }
    return value_of(*symbol, scope, expr.span);
  }
  if (name == "noise") {
    const bool allowed = scope.inherited(&Scope::equation) || scope.inherited(&Scope::definition) ||
                         scope.inherited(&Scope::law) || scope.inherited(&Scope::free_names);
    if (!allowed) report(errors::noise_out_of_place(expr.span));
    return {};
  }
  if (name == "derived") {
    if (!scope.inherited(&Scope::equation)) report(errors::derived_out_of_place(expr.span));
    return {};
  }
  if (find_constant(name) != nullptr) return {type_of(Base::Real), {}};
  if (auto drawn = distribution(expr, scope)) return *drawn;
  if (find_builtin(name) != nullptr) {
    report(errors::not_a_value(expr.span, name, "function",
                               "give it its argument: " + name + "(...)"));
    return {};
  }
  if (scope.inherited(&Scope::free_names)) return {};
  Diagnostic diagnostic = unknown(expr, scope);
  const bool silent = diagnostic.code == "E0111" && resolved_.clause("lattice") == nullptr &&
                      resolved_.clause("field") != nullptr && given_by_lattice(name);
  if (!silent) report(std::move(diagnostic));  // the missing lattice is reported at `field`
  return {};
}

namespace {

/// The variable of bodies, `var x[k]`, that an item of `init` around `at` starts without an index.
std::string started_for_all(const Resolved& resolved, Span at) {
  for (const Clause* init : resolved.clauses("init"))
    for (const Item& item : init->items) {
      if (!item.head || item.head->form != Head::Form::Plain) continue;
      if (at.begin < item.span.begin || item.span.end < at.end) continue;
      for (const Clause* var : resolved.clauses("var"))
        for (const TypedName& typed : typed_names(*var))
          if (typed.name->kind == ExprKind::Index && typed.name->args[0]->text == item.head->name)
            return item.head->name;
    }
  return {};
}

/// What to write for dV of a quotient dV/dphi, where V is a name of the model; else "".
std::string quotient_of_differentials(const Resolved& resolved, const std::string& name) {
  if (name.size() < 2 || name[0] != 'd' || resolved.find(name.substr(1)) == nullptr) return {};
  return "a derivative is written d(" + name.substr(1) + ", u), u the name by which it is taken";
}

/// Whether a place is in a line that says what is written or promised.
bool in_outputs(const Resolved& resolved, Span at) {
  return std::ranges::any_of(resolved.model.lines, [&](const Line& line) {
    const std::string& word = line.clause.keyword;
    const bool output = word == "every" || word == "at end" || word == "expect" || word == "plot";
    return line.kind == Line::Kind::Clause && output && line.span.begin <= at.begin &&
           at.end <= line.span.end;
  });
}

/// Whether a name is that of floating-point numbers which the language does not have.
bool names_no_number(const std::string& name) {
  static const std::set<std::string> kNames = {"nan", "NaN", "NAN",      "inf",
                                               "Inf", "INF", "infinity", "Infinity"};
  return kNames.contains(name);
}

}  // namespace

Diagnostic Inference::unknown(const Expr& expr, const Scope& scope) const {
  const std::string& name = expr.text;
  const std::size_t dot = name.find('.');
  if (dot != std::string::npos) {
    const std::string construct = name.substr(0, dot);
    std::vector<std::string> known;
    for (const auto& [full, symbol] : resolved_.symbols) {
      if (full.rfind(construct + ".", 0) == 0) known.push_back(full);
    }
    return errors::unknown_member(expr.span, construct, name.substr(dot + 1), known);
  }
  const Symbol* energy = resolved_.find("H");
  const bool hamiltonian = energy != nullptr && energy->kind == SymbolKind::Hamiltonian;
  for (const GivenName& given : given_names()) {
    if (given.name == name) {
      const bool axis = given.construct == "lattice" && dimensions() > 0;
      if (axis) return errors::axis_missing(expr.span, name, dimensions());
      Diagnostic missing = errors::construct_missing(expr.span, name, std::string(given.doc),
                                                     std::string(given.construct), hamiltonian);
      if (given.construct == "metric" && dimensions() == 0)  // nothing that could expand
        missing.hint = "declare `" + name + "`, for instance as a `param` or a `var`";
      if (given.construct == "evolve" && resolved_.clause("sample") != nullptr) {
        missing.under = "given by `evolve`; this model has `sample`";
        missing.hint = "a chain counts `sweep`, with `sample hmc` `trajectory`: after = sweep > 50";
      }
      return missing;
    }
  }
  if (names_no_number(name)) {
    Diagnostic d = errors::unknown_name(expr.span, name, nullptr, std::nullopt);
    d.under = "no number of the language";
    d.rule = "every number of a model is finite";
    d.hint = "write a finite number";
    return d;
  }
  if (!helps()) {
    return errors::unknown_name(expr.span, name, nullptr, std::nullopt);
  }
  std::vector<std::string> own, std_names;
  for (const Scope* s = &scope; s != nullptr; s = s->outer) {
    for (const auto& [local, meaning] : s->locals) own.push_back(local);
  }
  for (const auto& [known, symbol] : resolved_.symbols) {
    const bool library = symbol.kind == SymbolKind::Integrator ||
                         symbol.kind == SymbolKind::Scheme || symbol.kind == SymbolKind::Stencil ||
                         symbol.kind == SymbolKind::Solver;
    if (known.find('.') != std::string::npos || library) continue;
    (symbol.kind == SymbolKind::Construct ? std_names : own).push_back(known);
  }
  for (const BuiltinConstant& constant : constants()) std_names.emplace_back(constant.name);
  for (const Builtin& builtin : builtins()) {
    // `D` and `Re` are quantities that are not declared, and hardly meant as `d` and `re`.
    const bool short_name = builtin.name.size() < 3;
    if (!short_name && (builtin.rule != Rule::Distribution || scope.inherited(&Scope::drawn)))
      std_names.emplace_back(builtin.name);
  }
  std_names.emplace_back("noise");
  auto near = suggest(name, own);
  const Symbol* symbol = near ? resolved_.find(*near) : nullptr;
  static const std::map<std::string, std::string> kHabits = {
      {"energy", "energies"}, {"i", "1i"}, {"I", "1i"}, {"j", "1i"}, {"J", "1i"}};
  const auto habit = kHabits.find(name);
  if (!near && habit != kHabits.end() &&
      (habit->second == "1i" || resolved_.find(habit->second) != nullptr))
    near = habit->second;
  const Clause* recover = resolved_.clause("recover");
  const bool in_recover =
      recover && std::ranges::any_of(recover->body, [&](const Line& line) {
        return line.span.begin <= expr.span.begin && expr.span.end <= line.span.end;
      });
  Diagnostic d = errors::unknown_name(expr.span, name, symbol,
                                      near ? near : suggest(name, std_names), in_recover);
  const bool advises_param = d.hint.starts_with("declare it, for instance `param");
  if (advises_param && in_outputs(resolved_, expr.span))
    d.hint = "write a quantity of the model, or define this one on a line of its own: `" + name +
             " = ...`";
  for (const char* keyword : {"every", "at end"})
    for (const Clause* clause : resolved_.clauses(keyword))
      if (const ExprPtr value = option(*clause, name))
        d.hint =
            "only `plot` and `expect` know outputs by name; define it on a line of its own: `" +
            name + " = " + to_text(*value) + "`";
  if (const std::string derivative = quotient_of_differentials(resolved_, name);
      !near && !derivative.empty())
    d.hint = derivative;
  if (const std::string body = started_for_all(resolved_, expr.span); !body.empty())
    d.hint =
        "a value for each body has its index on the left: `init " + body + "[" + name + "] = ...`";
  return d;
}

Value Inference::value_of(const Symbol& symbol, const Scope& scope, Span at) {
  switch (symbol.kind) {
    case SymbolKind::Parameter:
    case SymbolKind::Swept:
    case SymbolKind::Definition:
    case SymbolKind::Drawn:
    case SymbolKind::Potential:
    case SymbolKind::Action:
    case SymbolKind::Hamiltonian:
      return bare_definition(symbol, scope, at);
    case SymbolKind::Conserved:
      definition(symbol);
      return known_[&symbol];
    case SymbolKind::Gauge: {
      Symbol link = symbol;
      link.parameters = {"mu"};
      std::string advice = with_indices(link, scope, at);
      if (advice.empty() && in_outputs(resolved_, at))
        advice = "`" + symbol.name +
                 " -> ildg(\"name\")` for the whole configuration, or a number made of links: "
                 "mean(re(tr(P[mu,nu])), mu < nu) with P[mu,nu] = loop(mu, nu, -mu, -nu)";
      report(errors::indices_missing(at, link, advice));
      return {};
    }
    case SymbolKind::Field:
    case SymbolKind::Fermion:
    case SymbolKind::Variable:
    case SymbolKind::Primitive:
    case SymbolKind::Construct:
      return {symbol.type, {}};
    case SymbolKind::Particles:
      report(errors::not_a_value(at, symbol.name, "species", "use its variables, such as x[k]"));
      return {};
    case SymbolKind::Stencil:
      report(errors::not_a_value(at, symbol.name, "stencil",
                                 "name the Laplacian's stencil by `laplacian = " + symbol.name +
                                     "`, or apply it: " + symbol.name + "(u)"));
      return {};
    case SymbolKind::Integrator:
    case SymbolKind::Scheme:
      report(errors::not_a_value(at, symbol.name, errors::kind_name(symbol),
                                 "use it by `evolve " + symbol.name + ", dt = ...`"));
      return {};
    case SymbolKind::Solver:
      report(errors::not_a_value(
          at, symbol.name, "solver",
          "name it where a system is solved: solve(A, b, solver = " + symbol.name + ")"));
      return {};
    case SymbolKind::Function:
      return {};
  }
  return {};
}

Value Inference::bare_definition(const Symbol& symbol, const Scope& scope, Span at) {
  if (symbol.indexed) {
    definition(symbol);
    const auto& ranges = ranges_[&symbol];
    if (symbol.kind == SymbolKind::Drawn && ranges.size() == 1 &&
        ranges[0].kind == IndexRange::Kind::Particle) {
      Value value = known_[&symbol];
      value.type.per_site = true;
      return value;
    }
    report(errors::indices_missing(at, symbol, with_indices(symbol, scope, at)));
    return {};
  }
  if (symbol.parameters.empty()) {
    definition(symbol);
    return known_[&symbol];
  }
  // A function without arguments: its parameters' names are looked up where it stands
  // (docs/rules.md rule 10).
  std::vector<Value> arguments;
  for (const std::string& parameter : symbol.parameters) {
    const Symbol* found = resolved_.find(parameter);
    const Scope::Local* local = scope.find(parameter);
    if (local != nullptr && local->value) {
      arguments.push_back(*local->value);
    } else if (found != nullptr && found != &symbol) {
      arguments.push_back(value_of(*found, scope, at));
    } else {
      report(errors::wrong_arity(at, symbol.name, usage_of(symbol),
                                 static_cast<int>(symbol.parameters.size()), 0, "",
                                 symbol.declared));
      return {};
    }
  }
  return function_body(symbol, arguments).value;
}

// ---- definitions ------------------------------------------------------------------------------

Inference::Called Inference::function_body(const Symbol& symbol,
                                           const std::vector<Value>& arguments,
                                           const std::set<std::size_t>& indices) {
  std::string key = symbol.name;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const Value& argument = arguments[i];
    key += " " + to_string(argument.type) + (argument.type.per_site ? "@" : "");
    if (argument.type.base == Base::Spinor)  // of a field, or written down
      key += std::to_string(argument.type.rows) + "*" + std::to_string(argument.type.columns);
    if (indices.contains(i)) key += "#";
    for (const std::string& index : argument.free) key += "[" + index + "]";
  }
  const auto found = calls_.find(key);
  if (found != calls_.end()) return found->second;
  if (!symbol.value || !busy_.insert(&symbol).second) return {};
  Scope scope;
  scope.definition = true;
  Called made;
  std::deque<bool> conditions(symbol.parameters.size());
  for (std::size_t i = 0; i < symbol.parameters.size() && i < arguments.size(); ++i) {
    Scope::Local& local = scope.locals[symbol.parameters[i]];
    if (indices.contains(i)) {
      local.index = &made.ranges[i];
    } else {
      local.value = arguments[i];
      local.condition = &conditions[i];
    }
  }
  const int errors = resolved_.diagnostics.errors();
  made.value = infer(*symbol.value, scope);
  for (const std::size_t i : indices) made.value.free.erase(symbol.parameters[i]);
  for (std::size_t i = 0; i < conditions.size(); ++i)
    if (conditions[i]) made.conditions.insert(i);
  busy_.erase(&symbol);
  if (resolved_.diagnostics.errors() > errors) made.value = {};
  calls_[key] = made;
  return made;
}

void Inference::definition(const Symbol& symbol) {
  if (known_.count(&symbol) > 0 || !symbol.value) return;
  const bool function = !symbol.parameters.empty() && !symbol.indexed;
  if (function) {
    // Checked with open parameters; each call checks it again with the types of its arguments.
    function_body(symbol, std::vector<Value>(symbol.parameters.size()));
    known_[&symbol] = {};
    return;
  }
  if (!busy_.insert(&symbol).second) return;  // a cycle, which has a message of its own
  // `laplacian = iso27` chooses a stencil and is not a value; choose_stencils checks it.
  if (symbol.kind == SymbolKind::Definition && symbol.name == "laplacian") {
    known_[&symbol] = {type_of(Base::Operator), {}};
    busy_.erase(&symbol);
    return;
  }
  Scope scope;
  scope.definition = true;
  const Type drawn = type_of(Base::Real);
  if (symbol.kind == SymbolKind::Drawn) scope.drawn = &drawn;
  std::vector<IndexRange>& ranges = ranges_[&symbol];
  ranges.resize(symbol.parameters.size());
  if (ranges.size() == 1) ranges[0] = range_of_place(symbol, 0);  // w[i] ~ ...: one for each body
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    Scope::Local& local = scope.locals[symbol.parameters[i]];
    local.index = &ranges[i];
    local.declared = symbol.declared;
    if (const Symbol* other = resolved_.find(symbol.parameters[i])) {
      const bool own = other->kind != SymbolKind::Construct && other->declared.file == 0;
      if (own) {
        report(errors::index_named_like_value(symbol.declared, symbol.parameters[i],
                                              errors::a_kind(*other), other->declared));
      }
    }
  }
  Value value;
  if (symbol.kind == SymbolKind::Swept && symbol.value->kind == ExprKind::Range) {
    for (const ExprPtr& end : symbol.value->args) number(*end, scope, "the end of a range");
    value.type = type_of(Base::Integer);
  } else {
    value = infer(*symbol.value, scope);
    if (symbol.kind == SymbolKind::Swept && value.type.base == Base::Vector) {
      const auto whole = [&](const ExprPtr& each) {
        return infer(*each, scope).type.base == Base::Integer;
      };
      value.type = std::ranges::all_of(symbol.value->args, whole)
                       ? type_of(Base::Integer)
                       : type_of(value.type.complex ? Base::Complex : Base::Real);
    }
  }
  for (const std::string& parameter : symbol.parameters) value.free.erase(parameter);
  const bool of_sites = symbol.kind == SymbolKind::Drawn && symbol.parameters.empty() &&
                        resolved_.clause("lattice") != nullptr;
  if (symbol.kind == SymbolKind::Conserved || of_sites) value.type.per_site = true;
  busy_.erase(&symbol);
  known_[&symbol] = value;
  Symbol& stored = resolved_.symbols.at(symbol.name);
  if (&stored == &symbol) {
    stored.type = value.type;
    for (const IndexRange& range : ranges) {
      if (range.kind == IndexRange::Kind::Particle) stored.type.per_site = true;
    }
  }
}

// ---- distributions ----------------------------------------------------------------------------

/// The place of a point as a density names it: coordinates, where the model has no such names, and
/// the name of what is drawn.
void Inference::name_places(const Type& drawn, const Scope& scope, Scope& inner) const {
  const int components = drawn.base == Base::Vector ? drawn.rows : 1;
  for (int i = 0; i < std::min(components, 3); ++i) {
    const std::string axis(1, "xyz"[i]);
    const Symbol* other = resolved_.find(axis);
    if (other == nullptr || other->kind == SymbolKind::Construct)
      inner.locals[axis].value = Value{type_of(Base::Real), {}};
  }
  if (const std::string* name = scope.inherited(&Scope::drawn_name))
    inner.locals[*name].value =
        Value{components == 1 ? type_of(Base::Real) : vector_of(components), {}};
}

std::optional<Value> Inference::distribution(const Expr& expr, const Scope& scope) {
  const Type* drawn = scope.inherited(&Scope::drawn);
  const Builtin* builtin = find_distribution(expr.text);
  const Builtin* elsewhere = find_builtin(expr.text);
  if (builtin == nullptr || (drawn == nullptr && elsewhere != builtin)) {
    if (drawn == nullptr || expr.kind != ExprKind::Call || elsewhere != nullptr)
      return std::nullopt;
    report(errors::unknown_distribution(expr.span, expr.text, distribution_habit(expr.text)));
    return Value{};
  }
  if (drawn == nullptr) {
    const bool library = scope.inherited(&Scope::free_names);
    if (!library) report(errors::distribution_in_value(expr.span, expr.text));
    return Value{};
  }
  const Type wanted = *drawn;
  const bool links = expr.text == "hot" || expr.text == "cold";
  // values and norm of a field are looked at where it is drawn
  const bool spins =
      expr.text == "hot" &&
      (wanted.base == Base::Integer || wanted.base == Base::Vector || wanted.base == Base::Angle);
  if (!spins && links != (wanted.base == Base::Group) && wanted.base != Base::Unknown) {
    report(errors::argument_type(
        expr.span, expr.text, links ? "links of a gauge field" : "numbers, not links", wanted,
        links ? "for a field write ~ normal or ~ vacuum" : "for links write ~ hot or ~ cold"));
    return Value{};
  }
  const bool spectrum = expr.text == "spectrum";
  if ((spectrum || expr.text == "vacuum") && dimensions() == 0) {
    report_no_lattice(expr.span, "`" + expr.text + "`");
    return Value{};
  }
  if (expr.kind == ExprKind::Call) {
    if (!arity(expr, *builtin)) return Value{};
    options(expr, *builtin, scope);
    Scope plain;
    plain.outer = nullptr;
    if (spectrum || expr.text == "density") {
      const std::string name(spectrum ? kWaveNumber : std::string_view("r"));
      plain.locals[name].value = Value{type_of(Base::Real), {}};
      const Symbol* other = resolved_.find(name);
      if (other != nullptr && other->kind != SymbolKind::Construct)
        report(spectrum ? errors::wave_number_named_twice(expr.span, other->declared)
                        : errors::distance_named_twice(expr.span, other->declared));
    }
    if (expr.text == "density") name_places(wanted, scope, plain);
    for (const ExprPtr& argument : expr.args) {
      if (spectrum && argument->kind == ExprKind::String) continue;
      if (expr.text == "density" && infer(*argument, plain).type.per_site) {
        report(errors::density_of_places(argument->span, to_text(*argument)));
        continue;
      }
      const Value value = infer(*argument, plain);
      if (is_real(value.type) && (value.type.per_site || !value.free.empty())) {
        report(errors::site_in_distribution(argument->span, to_text(*argument), expr));
        continue;
      }
      number(*argument, plain, "an argument of `" + expr.text + "`");
    }
  } else if (builtin->least > 0) {
    arity(expr, *builtin);
  }
  return Value{wanted, {}};
}

// ---- what a place needs -----------------------------------------------------------------------

Value Inference::condition(const Expr& expr, const Scope& scope, const std::string& place) {
  Value value = infer(expr, scope);
  const Scope::Local* local = expr.kind == ExprKind::Name ? scope.find(expr.text) : nullptr;
  if (local != nullptr && local->condition != nullptr) *local->condition = true;
  if (!is_unknown(value.type) && value.type.base != Base::Boolean) {
    report(errors::condition_wanted(expr.span, place, value.type));
  }
  return value;
}

Value Inference::number(const Expr& expr, const Scope& scope, const std::string& place) {
  Value value = infer(expr, scope);
  if (is_unknown(value.type)) return value;
  if (!is_real(value.type)) {
    report(errors::number_wanted(expr.span, place, value.type));
  } else if (value.type.per_site || !value.free.empty()) {
    report(errors::per_site_in_scalar(expr.span, to_text(expr), place));
  }
  return value;
}

void Inference::require(const Expr& expr, const Value& value, const Type& wanted,
                        const std::string& place, Span declared) {
  const bool zero = expr.kind == ExprKind::Number && std::strtod(expr.text.c_str(), nullptr) == 0;
  const bool one = expr.kind == ExprKind::Number && std::strtod(expr.text.c_str(), nullptr) == 1;
  if (zero || (one && wanted.base == Base::Group) || fits(value.type, wanted)) return;
  const bool complex = is_scalar(wanted) && value.type.base == Base::Complex;
  const bool components = wanted.base == Base::Vector && value.type.base == Base::Vector &&
                          wanted.rows == value.type.rows;
  if (complex || components) {
    report(errors::complex_in_real_place(expr.span, place, declared));
  } else {
    report(errors::wrong_type(expr.span, place, wanted, value.type, declared));
  }
}

}  // namespace vphi::dsl
