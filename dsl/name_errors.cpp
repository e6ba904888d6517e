// Errors of names, W.... and N.... of names: E01xx.
#include "dsl/name_errors.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include "dsl/messages/error_parts.hpp"
#include "dsl/messages/suggest.hpp"
#include "dsl/words/clauses.hpp"

namespace vphi::dsl::errors {

namespace {

/// Adds the nearest known name, beside the underline and at its declaration.
void nearest(Diagnostic& d, const Symbol* near, const std::optional<std::string>& near_std) {
  if (near != nullptr) {
    d.under = did_you_mean(near->name);
    point_at(d, *near);
    d.hint = "write `" + near->name + "`";
  } else if (near_std) {
    d.under = did_you_mean(*near_std);
    d.hint = "write `" + *near_std + "`";
  }
}

}  // namespace

std::string with_article(const std::string& noun) {
  const bool vowel = !noun.empty() && std::string("aeiou").find(noun[0]) != std::string::npos;
  return (vowel ? "an " : "a ") + noun;
}

std::string a_kind(const Symbol& symbol) { return with_article(kind_name(symbol)); }

std::string kind_name(const Symbol& symbol) {
  switch (symbol.kind) {
    case SymbolKind::Parameter:
      return "param";
    case SymbolKind::Swept:
      return "sweep axis";
    case SymbolKind::Definition:
      if (symbol.parameters.empty()) return "definition";
      return symbol.indexed ? "indexed definition" : "function";
    case SymbolKind::Drawn:
      return "random value";
    case SymbolKind::Field:
      return "field";
    case SymbolKind::Gauge:
      return "gauge field";
    case SymbolKind::Fermion:
      return "fermion";
    case SymbolKind::Variable:
      return "variable";
    case SymbolKind::Particles:
      return "species";
    case SymbolKind::Potential:
      return symbol.line != nullptr ? symbol.line->clause.keyword : "potential";
    case SymbolKind::Action:
      return "action";
    case SymbolKind::Hamiltonian:
      return "Hamiltonian";
    case SymbolKind::Conserved:
      return "conserved density";
    case SymbolKind::Primitive:
      return "primitive variable";
    case SymbolKind::Construct:
      return "name given by `" + symbol.origin + "`";
    case SymbolKind::Stencil:
      return "stencil";
    case SymbolKind::Integrator:
      return "integrator";
    case SymbolKind::Scheme:
      return "scheme";
    case SymbolKind::Solver:
      return "solver";
    case SymbolKind::Function:
      return "function";
  }
  return "name";
}

Diagnostic unreadable_file(const std::string& path, const std::string& problem,
                           const std::string& near) {
  Diagnostic d = make("E0100", {}, "cannot read " + quoted(path) + ": " + problem);
  d.rule = "a model is a text file, for instance preheating.vphi";
  d.hint = near.empty() ? "check the path" : "did you mean " + quoted(near) + "?";
  return d;
}

Diagnostic declared_twice(Span at, const std::string& name, const Symbol& first) {
  Diagnostic d = make("E0101", at, "`" + name + "` is declared twice");
  d.under = "declared again here";
  d.labels.push_back({first.declared, "first declared here, as " + a_kind(first)});
  d.rule = "one name has one meaning; a Greek letter and its ASCII spelling are one name";
  const bool law = first.kind == SymbolKind::Field || first.kind == SymbolKind::Conserved;
  d.hint = std::string("give one of the two another name, or delete it") +
           (law ? "; what `conserve` declares needs no `field` line, and what it is made of is "
                  "declared by `primitive`"
                : "");
  return d;
}

Diagnostic cycle(Span at, const std::vector<const Symbol*>& chain) {
  constexpr std::size_t kLinks = 8;  // links of a cycle that are shown
  std::string path;
  for (std::size_t i = 0; i < std::min(chain.size(), kLinks); ++i) {
    path += "`" + chain[i]->name + "` needs ";
  }
  if (chain.size() > kLinks) {
    path += "... (" + std::to_string(chain.size() - kLinks) + " more) ... needs ";
  }
  path += "`" + chain.front()->name + "`";
  Diagnostic d = make("E0102", at, "definitions form a cycle: " + path);
  d.under = chain.size() == 1 ? "defined by itself" : "the circle closes here";
  for (std::size_t i = 1; i < std::min(chain.size(), kLinks); ++i) {
    const std::string& next = chain[(i + 1) % chain.size()]->name;
    d.labels.push_back({chain[i]->declared, "`" + chain[i]->name + "` needs `" + next + "`"});
  }
  d.rule =
      "definitions are resolved before anything runs; only state may depend on itself, "
      "through time";
  d.hint = "give one of them a value of its own; what depends on its own past is state: " +
           chain.front()->name + "' = ...";
  return d;
}

Diagnostic hubble_or_hamiltonian(Span at, const Symbol& hamiltonian) {
  Diagnostic d = make("E0103", at, "`H` could be the Hubble rate or the Hamiltonian");
  d.under = "which one?";
  d.labels.push_back(
      {hamiltonian.declared, "the Hamiltonian; `metric frw` gives a Hubble rate `H`"});
  d.rule = "where two constructs give one name, the name of the construct goes before it";
  d.hint =
      "write `frw.H` for the Hubble rate; for the Hamiltonian define `energy = ...` with its "
      "formula and `H = energy`";
  return d;
}

namespace {

/// How a word of an option is written, where a name is one: `boundary(x) = periodic` on a line of
/// its own. Empty for other names.
std::string as_option(const std::string& name) {
  for (const ClauseRule& rule : clause_rules())
    for (const OptionRule& option : rule.options) {
      const std::vector<std::string> words = split_words(option.words);
      if (std::ranges::find(words, name) == words.end()) continue;
      return quoted(name) + " is a word of the option `" + std::string(option.name) + "` of `" +
             std::string(rule.keyword) + "`: write `" + std::string(rule.keyword) + " ..., " +
             std::string(option.name) + " = " + name + "`";
    }
  return {};
}

}  // namespace

Diagnostic unknown_name(Span at, const std::string& name, const Symbol* near,
                        const std::optional<std::string>& near_std, bool in_recover) {
  Diagnostic d = make("E0104", at, "unknown name " + quoted(name));
  d.under = "nothing has this name";
  d.rule = "every name is declared in the model, given by one of its clauses, or in `std`";
  const std::string shown = name.size() <= kShown ? name : "name";
  d.hint = "declare it, for instance `param " + shown + " = 1`";
  if (in_recover)
    d.hint = "a conserved quantity has a law: `conserve " + shown + " = density: flux`";
  if (const std::string option = as_option(name); !near && !in_recover && !option.empty()) {
    d.hint = option;
    return d;
  }
  nearest(d, near, near_std);
  return d;
}

Diagnostic output_unclear(Span at, const std::string& name, Span first, Span other) {
  Diagnostic d = make("E0119", at, quoted(name) + " is the name of two different outputs");
  d.under = "which of the two?";
  d.labels.push_back({first, "one output of this name"});
  d.labels.push_back({other, "another, with another expression"});
  d.rule = "in `plot` and `expect` the name of an output stands for its expression";
  d.hint = "give one of the two outputs another name, or write the expression here";
  return d;
}

Diagnostic output_runs(Span at, const std::string& name, Span output, const std::string& index) {
  Diagnostic d = make("E0119", at, quoted(name) + " is one output for each " + index);
  d.under = "which of them?";
  d.labels.push_back({output, "runs over " + index});
  d.rule = "in `plot` and `expect` the name of an output stands for its expression";
  d.hint = "write the expression here, with a number in the place of " + index;
  return d;
}

Diagnostic output_begins_elsewhere(Span at, const std::string& name, Span output,
                                   const std::string& common) {
  Diagnostic d = make("E0119", at, quoted(name) + " would be another average here");
  d.under = "begins " + (common.empty() ? "with the run" : "when " + common);
  d.labels.push_back({output, "its average over time begins elsewhere"});
  d.rule =
      "averages over time in `plot` and `expect` begin at the `after` that all outputs with one "
      "share, and else with the run";
  d.hint = "give all outputs the same `after`, or write the expression here";
  return d;
}

namespace {

/// How to write a common function that the language does not have.
std::string way_without(const std::string& name) {
  struct Way {
    std::vector<std::string_view> names;
    const char* text;
  };
  static const std::vector<Way> kWays = {
      {{"proj", "reunitarise", "reunitarize", "unitarise", "unitarize", "smear"},
       "project(M) makes a link of a sum of products of links: V[mu] = project(U[mu] + "
       "sum(path(nu, mu, -nu), nu != mu))"},
      {{"plaquette", "plaq"}, "define it: P[mu,nu] = loop(mu, nu, -mu, -nu)"},
      {{"wilson_loop", "wilson", "wilsonloop"},
       "write loop(2*mu, 3*nu, -2*mu, -3*nu), a closed path of links"},
      {{"staple", "staples"}, "write sum(path(nu, mu, -nu), nu != mu), open paths of links"},
      {{"det", "determinant"}, "write it out by components; |det D|^2 of quarks is not there yet"},
      {{"inverse", "inv"}, "adj(U) is the inverse of a link; A^-1 of an operator is `solve(A, b)`"},
      {{"transpose"}, "write adj(m), the adjoint; of real matrices it is the transpose"},
      {{"commutator"}, "write a*b - b*a"},
      {{"rot", "rotation", "vorticity"}, "write curl(v)"},
      {{"heaviside", "step", "stepfunction"}, "a condition is 1 or 0: (x > 0)"},
      {{"kronecker", "delta", "kron"}, "a condition is 1 or 0: (i == j), (index(x) == 0)"},
      {{"where", "ifelse", "piecewise", "iif"}, "write a if condition else b"},
      {{"rand", "random", "randn", "rng", "gauss", "gaussian"},
       "random starts are drawn with `~ normal` or `~ uniform(a, b)`; noise of an equation is "
       "`noise`"},
      {{"levy", "stable"},
       "`noise` is Gaussian and white; jumps of other distributions are not there"},
      {{"fft", "fourier", "dft", "ifft", "power_spectrum"},
       "Fourier transforms are outputs: spectrum(u), correlator(u)"},
      {{"convolve", "convolution"},
       "of a potential that is a Green's function: solve(A, b); short ranges are written with u@x"},
      {{"wolff", "swendsen_wang", "cluster"},
       "clusters are not there: `sample heatbath, overrelax = 3` updates sites and links, and "
       "`exchange` carries chains past barriers"},
      {{"noise"},
       "`noise` has no arguments: it is white, of mean 0, and a factor sets its size, as in "
       "sqrt(2*T)*noise"},
      {{"susceptibility"}, "write volume*(mean(m^2, over = time) - mean(abs(m), over = time)^2)"},
      {{"besselj", "bessel", "jn", "j0", "j1", "yn", "kn", "gamma", "zeta", "legendre", "hermite",
        "airy", "lgamma"},
       "a tabulated function: table(\"file.txt\", x)"},
      {{"std", "stddev", "stdev", "rms"}, "write sqrt(var(u)), or sqrt(mean(u^2))"},
      {{"median", "percentile", "quantile"}, "take histogram(u)"},
      {{"normalize", "normalise", "unit_vector"}, "write u/norm(u)"},
      {{"magnitude", "len", "length"}, "write norm(v)"},
      {{"erfc"}, "write 1 - erf(x)"},
      {{"square", "sqr"}, "write u^2"},
      {{"cot", "sec", "csc", "coth", "csch"}, "write it with sin, cos, tan, sinh, cosh, tanh"},
  };
  for (const Way& way : kWays)
    if (std::ranges::find(way.names, name) != way.names.end()) return way.text;
  return {};
}

}  // namespace

Diagnostic unknown_function(Span at, const std::string& name, const Symbol* near,
                            const std::optional<std::string>& near_std) {
  Diagnostic d = make("E0105", at, "unknown function " + quoted(name));
  d.under = "no function has this name";
  d.rule = "a function is built in, or defined in the model: name(arguments) = expression";
  d.hint = "define it: " + (name.size() <= kShown ? name : "name") + "(u) = ...";
  // types are called where something is declared, and nowhere else
  if (name == "vec") d.hint = "`vec(n)` is a type; a vector is a list of its components: [a, b, c]";
  if (name == "mat")
    d.hint = "`mat(n, m)` is a type; a matrix is a list of its rows: [[a, b], [c, d]]";
  std::string way = near ? std::string() : way_without(name);
  if (way.empty() && !near) way = as_option(name);
  if (!way.empty()) {
    d.hint = way;
    return d;
  }
  nearest(d, near, near_std);
  return d;
}

Diagnostic not_a_function(Span at, const Symbol& symbol) {
  Diagnostic d =
      make("E0106", at, "`" + symbol.name + "` is " + a_kind(symbol) + ", not a function");
  d.under = "called like a function";
  point_at(d, symbol);
  d.rule = "`name(...)` calls a function; there is no product without `*`";
  d.hint = symbol.indexed ? "indices stand in square brackets: " + symbol.name + "[...]"
                          : "for a product write " + symbol.name + "*(...)";
  return d;
}

Diagnostic not_a_value(Span at, const std::string& name, const std::string& what,
                       const std::string& usage) {
  Diagnostic d =
      make("E0107", at, "`" + name + "` is " + with_article(what) + " and has no value by itself");
  d.under = "used like a value";
  d.rule = "a value is a param, a definition, state, or a function with its arguments";
  d.hint = usage;
  return d;
}

Diagnostic bad_identifier(Span at, const std::string& why) {
  Diagnostic d = make("E0108", at, "this cannot be a name: " + why);
  d.under = "not a name";
  d.rule = "a name is a letter followed by letters, digits and `_`, at most 64 in all";
  d.hint = "choose a shorter name, and explain it in a `##` comment";
  return d;
}

Diagnostic bad_text(Span at, const std::string& why) {
  Diagnostic d = make("E0109", at, "this text cannot be used here: " + why);
  d.under = "in this string";
  d.rule =
      "strings name files and data sets: printable characters, at most 4096, no `..` folders "
      "that climb out";
  d.hint = "write a plain file name such as \"output.h5\"";
  return d;
}

Diagnostic unknown_member(Span at, const std::string& construct, const std::string& name,
                          const Names& known) {
  Diagnostic d = make("E0110", at, "`" + construct + "` gives no `" + name + "`");
  d.under = "not given";
  d.rule = "`construct.name` is a name that a clause of the model gives";
  d.hint = known.empty() ? "`" + construct + "` is not a clause of this model that gives names"
                         : "it gives " + enumerate(known);
  return d;
}

Diagnostic construct_missing(Span at, const std::string& name, const std::string& doc,
                             const std::string& clause, bool hamiltonian) {
  Diagnostic d = make("E0111", at, "`" + name + "` (" + doc + ") is not there in this model");
  d.under = "given by `" + clause + "`, which the model does not have";
  d.rule = "some clauses bring names along; without the clause there is no such name";
  if (clause == "metric") {
    d.hint = "add `metric frw(a)` for an expanding box, or declare `" + name + "` yourself";
  } else if (clause == "potential" && hamiltonian) {
    d.under = "given by `potential`; this model has H";
    d.rule = "a written H is one number, whose terms are known by what they read alone";
    d.hint =
        "write H, kinetic (the total of its terms with momenta), gradient (that of the others "
        "which read neighbours), or terms of your own";
  } else if (clause == "H") {
    d.hint = "write the dynamics as `H = ...`, or declare `" + name + "` yourself";
  } else if (clause == "lattice") {
    d.hint = "add a lattice with such an axis, for instance `lattice 64^3, length = 1`";
  } else {
    d.hint = "add a `" + clause + "` clause, or declare `" + name + "` yourself";
  }
  return d;
}

Diagnostic axis_missing(Span at, const std::string& name, int dimensions) {
  const int needed = name == "y" ? 2 : name == "z" ? 3 : 4;
  Diagnostic d = make("E0117", at,
                      "`" + name + "` needs a lattice of " + std::to_string(needed) +
                          " dimensions, and this one has " + std::to_string(dimensions));
  d.under = "no such axis";
  d.rule = "the axes of a lattice are x, y, z, as many as it has dimensions";
  d.hint = "use " + std::string(dimensions == 1 ? "x" : "x or y") +
           ", or give the lattice another dimension";
  return d;
}

Diagnostic unknown_in_body(Span at, const std::string& name,
                           const std::optional<std::string>& near) {
  Diagnostic d = make("E0118", at, "unknown name " + quoted(name) + " in this body");
  d.under = near ? did_you_mean(*near) : "not in the head, not assigned, not in std";
  d.rule = "the body of an integrator or scheme sees its head, what it assigns, dt, dx, t and std";
  d.hint =
      near ? "write `" + *near + "`" : "make it an option of the head: " + quoted(name + " = 1");
  return d;
}

Diagnostic function_in_body(Span at, const std::string& name, const std::string& function,
                            Span called) {
  Diagnostic d =
      make("E0118", at, "`" + function + "` reads `" + name + "`, which a body does not see");
  d.under = "no argument of " + quoted(function);
  d.labels.push_back({called, "called in a body here"});
  d.rule = "a function that the body of an integrator or scheme calls is made of its arguments";
  d.hint = "make " + quoted(name) + " an argument of " + quoted(function) +
           ", and an option of the body's head";
  return d;
}

Diagnostic unknown_distribution(Span at, const std::string& name,
                                const std::optional<std::string>& near) {
  Diagnostic d = make("E0112", at, "unknown distribution " + quoted(name));
  d.under = near ? did_you_mean(*near) : "no distribution has this name";
  d.rule =
      "distributions are normal(mean, width), uniform(low, high), cauchy(centre, half width), "
      "exponential(mean), waterbag(p), ball(radius), density(f, reach = R), vacuum, hot, cold";
  d.hint = near ? "write `" + *near + "`" : "use one of these";
  return d;
}

Diagnostic distribution_in_value(Span at, const std::string& name) {
  Diagnostic d = make("E0113", at, "`" + name + "` is a distribution, not a value");
  d.under = "needs `~`";
  d.rule = "random initial values are drawn with `~`; randomness in an equation is `noise`";
  d.hint = "write `name ~ " + name + "` in a definition or in `init`";
  return d;
}

Diagnostic not_a_parameter(Span at, const std::string& name, const Symbol* symbol,
                           const std::optional<std::string>& near) {
  Diagnostic d = make("E0114", at, "--set " + name + ": no parameter has this name");
  if (symbol != nullptr) {
    d.message = "--set " + name + ": `" + name + "` is " + a_kind(*symbol) + ", not a parameter";
    point_at(d, *symbol);
  }
  d.under = near ? did_you_mean(*near) : "not a param";
  d.rule = "--set changes what a `param` line declares";
  d.hint = near ? "use --set " + *near + "=..." : "declare it with `param`, or edit the model";
  return d;
}

Diagnostic no_free_parameter(const std::string& name, const std::optional<std::string>& near) {
  Diagnostic d = make("E0114", {}, "free " + name + ": no parameter has this name");
  d.rule = "a free name is one that a `param` line declares";
  d.hint = near ? "free = " + *near : "declare it with `param`, or leave it out of the free names";
  return d;
}

Diagnostic noise_out_of_place(Span at) {
  Diagnostic d = make("E0115", at, "`noise` has no meaning here");
  d.under = "only in equations of motion, and in fluxes and sources of laws";
  d.rule = "`noise` is white noise along the time of an equation, or of a definition used in one";
  d.hint = "for a random initial value write `~ normal`";
  return d;
}

Diagnostic derived_out_of_place(Span at) {
  Diagnostic d = make("E0116", at, "`derived` has no meaning here");
  d.under = "only on the right of an equation of motion";
  d.rule = "`derived` is the right side that potential, H or action would have given";
  d.hint = "write it in an equation: phi'' = derived - gamma*phi'";
  return d;
}

Diagnostic shadows_std(Span at, const std::string& name, const std::string& what,
                       const std::string& reachable) {
  Diagnostic d = make("N0101", at, "`" + name + "` hides a name that vphi gives (" + what + ")");
  d.severity = Severity::Note;
  d.under = "in this model it means this";
  d.rule = "a model may use such a name for itself";
  d.hint = reachable.empty() ? "choose another name if you meant the one from `std`"
                             : "the hidden one is `" + reachable + "`";
  return d;
}

Diagnostic hidden_constant(Span at, const Symbol& own, const std::string& what) {
  Diagnostic d = make("W0103", at, "`" + own.name + "` is " + a_kind(own) + " here, not a number");
  d.severity = Severity::Warning;
  d.under = "a multiple of " + a_kind(own);
  point_at(d, own);
  d.rule = "a model's own name hides what vphi gives, here the " + what;
  d.hint = "if the number is meant, give the " + kind_name(own) + " another name, `" + own.name +
           "_phi`, say; if not, write `" + own.name + "*...` with the number after it";
  return d;
}

Diagnostic unused(const Symbol& symbol, const std::string& clause) {
  Diagnostic d = make("W0102", symbol.declared, "nothing uses " + quoted(symbol.name));
  d.severity = Severity::Warning;
  d.under = "changes nothing";
  d.rule = "a name means something where an equation, a clause or another definition names it";
  d.hint = !clause.empty() ? quoted(symbol.name) + " is an option of the clause `" + clause +
                                 "`: `" + clause + " ..., " + symbol.name + " = ...`"
                           : "remove it, or use it";
  return d;
}

Diagnostic hubble_and_hamiltonian(Span at) {
  Diagnostic d = make("W0101", at, "this model has a Hamiltonian `H` and a Hubble rate `H`");
  d.severity = Severity::Warning;
  d.under = "the Hamiltonian";
  d.rule = "the dynamics come from `H = ...`; the Hubble rate is `frw.H` in this model";
  d.hint = "write `frw.H` where the Hubble rate is meant";
  return d;
}

}  // namespace vphi::dsl::errors
