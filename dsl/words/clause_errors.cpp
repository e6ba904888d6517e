// Errors of clauses (E04xx), units (E06xx) and equations (E07xx).
#include "dsl/messages/error_parts.hpp"
#include "dsl/messages/suggest.hpp"
#include "dsl/name_errors.hpp"
#include "dsl/words/clauses.hpp"

namespace vphi::dsl::errors {

// ---- clauses ----------------------------------------------------------------------------------

Diagnostic unknown_clause(Span at, const std::string& keyword,
                          const std::optional<std::string>& near) {
  Diagnostic d = make("E0401", at, "unknown clause " + quoted(keyword));
  d.under = near ? did_you_mean(*near) : "no clause begins with this word";
  d.rule =
      "a line is a definition (name = ...), an equation (x' = ...), or begins with the "
      "keyword of a clause";
  d.hint =
      near ? "write `" + *near + "`"
           : "for a definition write " + (keyword.size() <= kShown ? keyword : "name") + " = ...";
  for (const ClauseRule& rule : clause_rules()) {
    if (rule.keyword != keyword || rule.inside.empty()) continue;
    const std::string outer(rule.inside);
    d.rule = "`" + keyword + "` is a line in the body of `" + outer + "`";
    d.hint = "write it between braces: " + outer + " ... { " + std::string(rule.usage) + " }";
  }
  return d;
}

Diagnostic unknown_option(Span at, const std::string& keyword, const std::string& name,
                          const std::optional<std::string>& near, const Names& known) {
  Diagnostic d = make("E0402", at, "`" + keyword + "` has no option " + quoted(name));
  d.under = near ? did_you_mean(*near) : "unknown option";
  d.rule = known.empty() ? "`" + keyword + "` has no options"
                         : "options of `" + keyword + "`: " + enumerate(known);
  d.hint = near ? "write `" + *near + "`"
                : "leave it out; a value for later is a line of its own: " +
                      (name.size() <= kShown ? name : "name") + " = ...";
  return d;
}

Diagnostic option_word(Span at, const std::string& name, const std::string& found,
                       const std::optional<std::string>& near, const Names& known) {
  Diagnostic d = make("E0403", at, "`" + name + "` cannot be " + quoted(found));
  d.under = near ? did_you_mean(*near) : "unknown choice";
  d.rule = known.empty() ? "the model has nothing that `" + name + "` could name"
                         : "`" + name + "` is " + enumerate(known, "or");
  d.hint = near            ? "write `" + *near + "`"
           : known.empty() ? "leave `" + name + "` out, or declare what it is to name"
                           : "choose one of these";
  return d;
}

Diagnostic clause_missing(const std::string& what, const std::string& why, const std::string& fix,
                          Span at) {
  Diagnostic d = make("E0404", at, "the model has no " + what);
  d.under = "this needs it";
  d.rule = why;
  d.hint = fix;
  return d;
}

Diagnostic option_missing(Span at, const std::string& keyword, const std::string& name,
                          const std::string& fix) {
  Diagnostic d = make("E0405", at, "`" + keyword + "` does not say `" + name + "`");
  d.under = "`" + name + " = ...` is missing";
  d.rule = "`" + keyword + "` cannot do without `" + name + "`";
  d.hint = fix;
  return d;
}

Diagnostic option_twice(Span at, const std::string& name, Span first) {
  Diagnostic d = make("E0406", at, "`" + name + "` is given twice");
  d.under = "given again";
  d.labels.push_back({first, "first given here"});
  d.rule = "an option is given once in a clause";
  d.hint = "delete one of the two";
  return d;
}

Diagnostic listed_twice(Span at, const std::string& name, Span first) {
  Diagnostic d = make("E0406", at, "`" + name + "` stands twice in the list");
  d.under = "here again";
  d.labels.push_back({first, "first here"});
  d.rule = "a list of names has each of them once";
  d.hint = "delete one of the two";
  return d;
}

Diagnostic clause_twice(Span at, const std::string& keyword, Span first) {
  Diagnostic d = make("E0407", at, "the model has a second `" + keyword + "`");
  d.under = "second one";
  d.labels.push_back({first, "first one"});
  d.rule = "a model has at most one `" + keyword + "`";
  d.hint = "delete one, or join the two";
  return d;
}

Diagnostic clause_form(Span at, const std::string& keyword, const std::string& usage) {
  Diagnostic d = make("E0408", at, "this is not how `" + keyword + "` is written");
  d.under = "does not fit";
  d.rule = "form: " + usage;
  d.hint = "write the clause in this form";
  return d;
}

Diagnostic decimal_comma(Span at, const std::string& number) {
  Diagnostic d = make("E0408", at, "a decimal comma?");
  d.under = "did you mean `" + number + "`?";
  d.rule = "a comma separates the items of a clause; decimals follow a point";
  d.hint = "write `" + number + "`";
  return d;
}

Diagnostic relation_swapped(Span at, const std::string& keyword, const std::string& written,
                            const std::string& ours) {
  Diagnostic d =
      make("E0408", at, "`" + keyword + "` takes `" + ours + "` here, not `" + written + "`");
  d.under = "write `" + ours + "`";
  d.rule = "`=` gives a name its value, `==` compares";
  d.hint = ours == "=" ? "write `" + keyword + " name = expression`"
                       : "write `" + keyword + " a == b within 1e-3`, or a bound: `a < b`";
  return d;
}

Diagnostic second_integrator(Span at, Span first) {
  Diagnostic d = make("E0408", at, "`evolve` names two integrators");
  d.under = "second one";
  d.labels.push_back({first, "first one"});
  d.rule = "one integrator moves all variables of a model, of every species, by one text";
  d.hint =
      "name one; where species want different schemes write an `integrator` whose head has the "
      "parts "
      "of both: an equation takes the parts that it has terms for, and the others are 0";
  return d;
}

Diagnostic destination_missing(Span at, const std::string& keyword) {
  Diagnostic d = make("E0409", at, "`" + keyword + "` does not say where its results go");
  d.under = "no `-> file`";
  d.rule = "results go to the file after `->`";
  d.hint = "add -> \"results.h5\" at the end of the line";
  return d;
}

Diagnostic destination_not_wanted(Span at, const std::string& keyword) {
  Diagnostic d = make("E0410", at, "`" + keyword + "` writes nothing, so `->` has no meaning");
  d.under = "delete this";
  d.rule = "only `every`, `at end` and `plot` write files";
  d.hint = "delete the `->` and what follows it";
  return d;
}

Diagnostic destination_outside(Span at, const std::string& name) {
  Diagnostic d = make("E0411", at, quoted(name) + " is outside of the output folder");
  d.under = "absolute, or with `..`";
  d.rule = "names of results are relative and stay inside the output folder";
  d.hint = "name the file alone; `vphi run MODEL --out DIR` chooses the folder";
  return d;
}

Diagnostic destination_ending(Span at, const std::string& name) {
  Diagnostic d = make("E0411", at, "the ending of " + quoted(name) + " names no format");
  d.under = "HDF5? CSV?";
  d.rule = "results are written as HDF5 (.h5), CSV (.csv, series and spectra) or Silo (.silo)";
  d.hint = "write -> \"results.h5\", say";
  return d;
}

Diagnostic destination_kind(Span at, const std::string& file) {
  Diagnostic d = make("E0411", at, "this is no place for results");
  d.under = "unknown kind of file";
  d.rule =
      "the ending of a name says the format: .h5 (HDF5), .csv or .silo; links go to "
      "ildg(\"name\"), nersc, openqcd and milc as well, snapshots "
      "of spinors to scidac(\"name\"), and freeze-out surfaces to music(\"name\", T = T, ...), "
      "vhlle and osu";
  d.hint = "write -> \"" +
           (file.empty()                   ? "results.h5"
            : file.find('.') < file.size() ? file
                                           : file + ".h5") +
           "\"";
  return d;
}

Diagnostic body_missing(Span at, const std::string& keyword, const std::string& usage) {
  Diagnostic d = make("E0412", at, "`" + keyword + "` needs a body in { }");
  d.under = "no { }";
  d.rule = "form: " + usage;
  d.hint = "add { ... } after it, one fact a line";
  return d;
}

Diagnostic body_not_wanted(Span at, const std::string& keyword) {
  Diagnostic d = make("E0413", at, "`" + keyword + "` has no body");
  d.under = "followed by { }";
  d.rule = "recover, sample, integrator and scheme have a body; other clauses are one line";
  d.hint = "write the facts as lines of their own";
  return d;
}

Diagnostic bad_shape(Span at) {
  Diagnostic d = make("E0414", at, "this is not a lattice shape");
  d.under = "must be whole numbers from 1 on";
  d.rule = "a shape is written 256^3, 24^3 * 48, 800, n^2 or [64, 64, 128], with numbers or params";
  d.hint = "write for instance `lattice box: 64^3, length = 10`";
  return d;
}

Diagnostic too_many_dimensions(Span at, int dimensions) {
  Diagnostic d = make("E0415", at, "a lattice of " + std::to_string(dimensions) + " dimensions");
  d.under = "too many";
  d.rule =
      "a lattice has 1 to 4 dimensions; a product of numbers is a shape: `4*8` is 4 by 8 sites";
  d.hint = "write n^d with d from 1 to 4";
  return d;
}

Diagnostic init_of_non_state(Span at, const std::string& name, const Symbol* symbol,
                             const Names& states, const std::string& meant) {
  Diagnostic d = make("E0416", at, "`" + name + "` has no initial value: it is no state");
  if (symbol != nullptr) {
    d.message = "`" + name + "` has no initial value: it is " + a_kind(*symbol);
    point_at(d, *symbol);
  }
  d.under = "no state";
  const auto near = meant.empty() ? suggest(name, states) : std::optional(meant);
  if (near && symbol == nullptr) d.under = did_you_mean(*near);
  d.rule = "init sets what evolves: fields, links, variables, their velocities, and the time t";
  d.hint =
      states.empty() ? "declare a `field` or a `var`" : "state of this model: " + enumerate(states);
  return d;
}

Diagnostic init_twice(Span at, const std::string& name, Span first) {
  Diagnostic d = make("E0417", at, "`" + name + "` gets two initial values");
  d.under = "set again";
  d.labels.push_back({first, "first set here"});
  d.rule = "every piece of state has one initial value";
  d.hint = "delete one, or add the two up in one expression";
  return d;
}

Diagnostic init_rate(Span at, const std::string& name) {
  Diagnostic d = make("E0418", at, "`" + name + "'` has no initial value of its own");
  d.under = "follows from the equation";
  d.rule = "an equation of first order, " + name + "' = ..., needs the value of " + name + " alone";
  d.hint = "delete it, or write an equation of second order, " + name + "'' = ...";
  return d;
}

Diagnostic no_relation(Span at, const std::string& text) {
  Diagnostic d = make("E0419", at, "`expect` needs something that is true or false");
  d.under = "no comparison";
  d.rule = "forms: expect a < b, expect a == b within 3*sigma, expect conserved(u) within 1e-6";
  const bool conserved = text.rfind("conserved(", 0) == 0;
  d.hint = "write for instance `expect " + (text.size() <= kShown ? text : "...") +
           (conserved ? " within 1e-6`" : " < 1e-3`");
  return d;
}

Diagnostic count_missing(Span at, const std::string& keyword) {
  Diagnostic d = make("E0420", at, "`" + keyword + "` does not say how often");
  d.under = "a time, or a whole number and `steps` or `trajectories`";
  d.rule =
      "forms: every 0.5: observables -> \"file.h5\", every N steps: ..., every 1 trajectory: ...";
  d.hint = "write for instance `every 100 steps: mean(phi) -> \"results.h5\"`";
  return d;
}

Diagnostic type_missing(Span at, const std::string& keyword, const std::string& name) {
  Diagnostic d = make("E0421", at, "`" + name + "` has no type");
  d.under = "real? complex?";
  d.rule = "bare names take the type after the next colon: " + keyword + " a, b: real, c: complex";
  d.hint = "write `" + keyword + " " + name + ": real`";
  return d;
}

Diagnostic not_positive(Span at, const std::string& name, const std::string& text) {
  Diagnostic d = make("E0422", at, "`" + name + "` must be positive, and this is " + text);
  d.under = text;
  d.rule = "lengths, spacings, steps and tolerances are positive";
  d.hint = "check the sign, and the params that it is made of";
  return d;
}

Diagnostic swept_here(Span at, const std::string& name, const std::string& place, Span declared) {
  Diagnostic d = make("E0423", at, "`" + name + "` is swept, and " + place + " must be one number");
  d.under = "many values";
  d.labels.push_back({declared, "swept here"});
  d.rule = "shapes, program units and counts are the same for all values of a sweep";
  d.hint = "write a number or a param here";
  return d;
}

Diagnostic free_here(Span at, const std::string& name, const std::string& place, Span declared) {
  Diagnostic d = make("E0423", at, "`" + name + "` is free, and " + place + " is compiled");
  d.under = "any value";
  d.labels.push_back({declared, "a free parameter"});
  d.rule = "shapes, program units, dt and counts are part of the compiled program";
  d.hint = "leave `" + name + "` out of the free names, or write it without `" + name + "`";
  return d;
}

Diagnostic unknown_axis_word(Span at, const std::string& word, int dimensions) {
  Diagnostic d = make("E0424", at, quoted(word) + " is no order of axes");
  d.under = "each axis once";
  d.rule = "split lists orders of the " + std::to_string(dimensions) +
           " axes, each letter once (or there and back), used in turn";
  d.hint = dimensions == 3   ? "write for instance `split [xyz, zxy, yzx]`"
           : dimensions == 2 ? "write `split [xy, yx]`"
                             : "a lattice of one dimension needs no split";
  return d;
}

Diagnostic param_depends(Span at, const std::string& param, const Symbol& on) {
  Diagnostic d = make(
      "E0425", at,
      "the param `" + param + "` depends on `" + on.name + "`, which is not known before the run");
  d.under = on.kind == SymbolKind::Construct ? "given by `" + on.origin + "`" : kind_name(on);
  point_at(d, on);
  d.rule = "a param is one number, known before the run starts; it may depend on other params";
  d.hint = "write it as a definition: " + param + " = ...";
  return d;
}

Diagnostic empty_range(Span at, std::int64_t first, std::int64_t last) {
  Diagnostic d =
      make("E0426", at,
           "the range " + std::to_string(first) + ".." + std::to_string(last) + " is empty");
  d.under = "nothing in it";
  d.rule = "a..b counts up from a to b, both included";
  d.hint = "write " + std::to_string(last) + ".." + std::to_string(first);
  return d;
}

Diagnostic limit_of_non_state(Span at, const std::string& name, const Symbol* symbol) {
  Diagnostic d = make("E0427", at, "`limit` of " + quoted(name) + ", which is no state");
  if (symbol != nullptr) {
    d.message = "`limit` of `" + name + "`, which is " + a_kind(*symbol);
    point_at(d, *symbol);
  }
  d.under = "does not evolve";
  d.rule = "limit x = ... is applied after each update of x";
  d.hint = "limit a field, a variable or a conserved density";
  return d;
}

Diagnostic relaxes_no_primitive(Span at, const std::string& name) {
  Diagnostic d = make("E0428", at, "`relax` of `" + name + "`, which is no primitive variable");
  d.under = "not on a `primitive` line";
  d.rule = "relax q = target, time = tau is the equation of a primitive variable beside laws";
  d.hint = "declare it, `primitive " + name + ": real`, or write a field with an equation";
  return d;
}

Diagnostic beyond_no_primitive(Span at, const std::string& head, bool part) {
  Diagnostic d = make("E0429", at, "`beyond` cannot give `" + head + "`");
  d.under = part ? "not a whole primitive variable" : "not on a `primitive` line";
  d.rule =
      "the state beyond an end is given by primitive variables, `name = formula`; conserved "
      "quantities follow from them";
  d.hint = part ? "write all components: v = [1, v[1]] keeps the second as it is"
                : "give the primitive variables, `beyond low(x): eps = 1, v = [0.5]`";
  return d;
}

Diagnostic not_started(Span at, const std::string& name, bool links) {
  Diagnostic d =
      make("W0401", at, "`" + name + "` has no initial value and starts at " + (links ? "1" : "0"));
  d.severity = Severity::Warning;
  d.under = "declared here, never in `init`";
  d.rule = "init says how state begins";
  d.hint = links ? "write `init " + name + " ~ cold` if this is meant, `init " + name +
                       " ~ hot` for links from the whole group"
                 : "write `init " + name + " = 0` if this is meant";
  return d;
}

// ---- units ------------------------------------------------------------------------------------

Diagnostic unit_clash(Span at, const std::string& op, const std::string& left,
                      const std::string& right) {
  Diagnostic d = make("E0601", at, "units clash: " + left + " " + op + " " + right);
  d.under = left + " on one side, " + right + " on the other";
  d.rule =
      "both sides of a sum or a comparison have one unit; with hbar = c = 1 a length is "
      "1/energy; a number without unit fits anywhere";
  d.hint = "multiply or divide by a quantity that makes both sides alike";
  return d;
}

Diagnostic unknown_unit(Span at, const std::string& unit, const std::optional<std::string>& near) {
  Diagnostic d = make("E0602", at, "unknown unit " + quoted(unit));
  d.under = near ? did_you_mean(*near) : "no unit has this name";
  d.rule =
      "units are eV to TeV, fm to Mpc, s, K, kg, m_pl_reduced, m_pl_full, and products and "
      "powers of them: [GeV/fm^3]";
  d.hint = near ? "write [" + *near + "]" : "use one of these";
  return d;
}

Diagnostic unknown_unit_system(Span at, const std::string& name,
                               const std::optional<std::string>& near, const Names& known) {
  Diagnostic d = make("E0603", at, "unknown system of units " + quoted(name));
  d.under = near ? did_you_mean(*near) : "unknown system";
  d.rule = "`units` names what is 1 beside hbar, c and k_B: " + enumerate(known, "or") +
           ", or any other unit of energy or length";
  d.hint = near ? "write `units " + *near + "`" : "write `units reduced_planck` or `units GeV`";
  return d;
}

Diagnostic argument_with_unit(Span at, const std::string& function, const std::string& unit) {
  Diagnostic d = make("E0604", at, "the argument of `" + function + "` has the unit of " + unit);
  d.under = "not a pure number";
  d.rule = "exp, log, sin and the like take pure numbers";
  d.hint = "divide by a scale of the same unit";
  return d;
}

Diagnostic planck_mass_convention(Span at) {
  Diagnostic d = make("W0601", at, "[m_pl] is read as the reduced Planck mass, 2.435e18 GeV");
  d.severity = Severity::Warning;
  d.under = "which Planck mass?";
  d.rule = "two conventions differ by sqrt(8*pi) = 5.01";
  d.hint = "write [m_pl_reduced] or [m_pl_full]";
  return d;
}

Diagnostic no_unit_system(Span at, const std::string& unit, const std::string& name,
                          bool of_lattice) {
  Diagnostic d =
      make("W0605", at, "no `units` line says what the number 1 is: taken is 1 [" + unit + "]");
  d.severity = Severity::Warning;
  d.under = of_lattice ? "the unit of the lattice" : "the first unit of the model";
  d.rule =
      "hbar = c = k_B = 1, and one unit of energy is left: numbers without a unit, and all "
      "results, "
      "are in powers of it";
  d.hint = "write a line `units " + name + "`, say";
  return d;
}

// ---- equations --------------------------------------------------------------------------------

Diagnostic no_equation(const Symbol& state, bool potential, bool metric) {
  Diagnostic d = make("E0701", state.declared, "`" + state.name + "` has no equation of motion");
  d.under = "how does it evolve?";
  d.rule =
      "every field and variable has an equation, or follows from potential, lagrangian, H or "
      "action";
  if (state.indexed && !state.parameters.empty()) {
    d.hint = "write " + state.name + "[" + state.parameters.front() + "]' = ... or H = ...";
  } else if (state.kind == SymbolKind::Gauge) {
    d.rule = "links, and what stands on them, follow from H, from an action, or have equations";
    d.hint =
        "write H = total(...) of all fields for real time, `action S = ...` for a Markov chain, "
        "or " +
        state.name + "' = ...";
  } else if (potential) {
    d.rule = "`potential` moves the fields of a lattice; a `var` has an equation of its own, or H";
    d.hint = metric ? "a homogeneous box is one site: `field " + state.name +
                          ": real` with `lattice point: 1^3, length = 1`"
                    : "write " + state.name + "'' = -d(V, " + state.name +
                          "), with V a plain definition: V = ...";
  } else {
    d.hint = "write `potential V = ...`, " + state.name + "'' = ... or " + state.name + "' = ...";
  }
  return d;
}

Diagnostic second_equation(Span at, const std::string& name, Span first) {
  Diagnostic d = make("E0702", at, "`" + name + "` has two equations of motion");
  d.under = "second equation";
  d.labels.push_back({first, "first equation"});
  d.rule = "one equation a variable; a written one replaces the derived one";
  d.hint = "join the two in one line; `derived` stands for what potential or H gives";
  return d;
}

Diagnostic equation_of_non_state(Span at, const std::string& name, const Symbol* symbol,
                                 const std::optional<std::string>& near) {
  Diagnostic d =
      make("E0703", at, "an equation of motion for " + quoted(name) + ", which is not declared");
  if (symbol != nullptr) {
    d.message = "an equation of motion for `" + name + "`, which is " + a_kind(*symbol);
    point_at(d, *symbol);
  }
  d.under = near && symbol == nullptr ? did_you_mean(*near) : "no state";
  d.rule = "only a field, a gauge field or a var has an equation of motion";
  d.hint =
      near && symbol == nullptr
          ? "write `" + *near + "`"
          : "declare it: `field " + (name.size() <= kShown ? name : "name") + ": real`, or `var`";
  return d;
}

Diagnostic order_too_high(Span at, const std::string& name, int primes) {
  Diagnostic d =
      make("E0704", at,
           "an equation for derivative number " + std::to_string(primes) + " of `" + name + "`");
  d.under = "first or second order";
  d.rule = "equations of motion are x' = ... or x'' = ...";
  d.hint = "declare the higher derivatives as variables of their own";
  return d;
}

Diagnostic equation_indices(Span at, const Symbol& state) {
  std::string list;
  for (const std::string& name : state.parameters) list += (list.empty() ? "" : ",") + name;
  const bool wanted = state.indexed;
  Diagnostic d = make("E0705", at,
                      wanted ? "the equation of `" + state.name + "` needs its index"
                             : "`" + state.name + "` has no index");
  d.under = wanted ? "for which particle?" : "written with an index";
  point_at(d, state);
  d.rule = "the left side of an equation is written as the variable was declared";
  d.hint =
      wanted ? "write " + state.name + "[" + list + "]' = ..." : "write " + state.name + "' = ...";
  return d;
}

Diagnostic unknown_integrator(Span at, const std::string& name,
                              const std::optional<std::string>& near, const Names& known) {
  Diagnostic d = make("E0706", at, "unknown integrator " + quoted(name));
  d.under = near ? did_you_mean(*near) : "no integrator has this name";
  d.rule = known.empty() ? "integrators are library text (std) or written in the model"
                         : "integrators here: " + enumerate(known);
  d.hint = near ? "write `" + *near + "`"
                : "choose one of these, or write `integrator " +
                      (name.size() <= kShown ? name : "name") + "(x' = f(x)) { ... }`";
  return d;
}

Diagnostic hamiltonian_density(Span at) {
  Diagnostic d = make("E0709", at, "the Hamiltonian `H` has a value at every site");
  d.under = "a density";
  d.rule = "`H` is one number, the sum over all sites or particles";
  d.hint = "write H = total(...) on a lattice, H = sum(..., k) for particles";
  return d;
}

Diagnostic no_momentum(const Symbol& coordinate, const Symbol& energy) {
  Diagnostic d =
      make("E0707", coordinate.declared, "`" + coordinate.name + "` has no momentum beside it");
  d.under = "a coordinate without momentum";
  if (energy.kind == SymbolKind::Hamiltonian) {
    d.labels.push_back({energy.declared, "`H` is the Hamiltonian of the model"});
    d.rule =
        "with `H = ...` a field, var or gauge line lists coordinate, momentum, coordinate, ...";
  } else {
    d.labels.push_back({energy.declared, "the Lagrangian of the model"});
    d.rule = "links that a Lagrangian moves stand beside their momenta, which it makes";
  }
  d.hint =
      "declare the momentum right after it: `" + coordinate.name + ", p_" + coordinate.name + "`";
  return d;
}

Diagnostic odd_hamiltonian_state(Span at, const std::string& keyword) {
  Diagnostic d = make("E0708", at, "a `" + keyword + "` line whose names do not come in pairs");
  d.under = "coordinate, momentum, ...";
  d.rule = "with `H = ...` a line of state lists coordinate, momentum, coordinate, momentum";
  d.hint = "add the missing momentum";
  return d;
}

}  // namespace vphi::dsl::errors
