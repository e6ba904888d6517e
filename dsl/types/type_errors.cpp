// Errors of types and indices: E02xx.
#include <algorithm>
#include <map>

#include "dsl/messages/error_parts.hpp"
#include "dsl/messages/suggest.hpp"
#include "dsl/name_errors.hpp"
#include "dsl/syntax/parse.hpp"
#include "dsl/words/builtins.hpp"

namespace vphi::dsl::errors {

namespace {

using Base = Type::Base;

void declared_here(Diagnostic& d, Span declared, const std::string& text) {
  if (!declared.empty()) d.labels.push_back({declared, text});
}

bool both_vectors(const Type& a, const Type& b) {
  return a.base == Base::Vector && b.base == Base::Vector;
}

std::string operand_hint(const std::string& op, const Type& left, const Type& right) {
  if (op == "*" && both_vectors(left, right)) {
    return "write dot(a, b) for a number, cross(a, b) for a vector, outer(a, b) for a matrix";
  }
  if (op == "^") {
    if (left.base == Base::Group || left.base == Base::Matrix)
      return "a power of a matrix is a product: U[i]*U[i], and adj(U[i]) is the inverse of a link";
    if (left.base == Base::Vector) return "for the square of a vector write norm2(v)";
    return "the exponent is a real number, the base a real or complex number";
  }
  if (op == "/") return "divide by a number; for a vector's length write norm(v)";
  if (op == "and" || op == "or" || op == "not") {
    return "join conditions such as `x > 0`; a number is not a condition";
  }
  if (both_vectors(left, right)) return "give both the same number of components";
  const bool vector = left.base == Base::Vector || right.base == Base::Vector;
  if (vector) return "take a component, v[0], or a length, norm(v)";
  return "bring both to one type, for instance with tr, norm2, re or a component [k]";
}

bool is_determinant(const Type& type) { return type.base == Base::Determinant; }

std::string determinant_hint(const std::string& op) {
  if (op == "/") {
    return "write 1/pseudofermion(D), the weight of a boson, or "
           "pseudofermion(D1)/pseudofermion(D2): a number changes no weight";
  }
  if (op == "+" || op == "-") {
    return "write an action for each term, `action S = ...` and `action T = pseudofermion(D)`; "
           "`level S, T: ...` integrates both together";
  }
  if (op == "^") return "the exponent is one number, the same at all sites";
  return "write pseudofermion(D) as an action of its own";
}

constexpr const char* kDeterminantRule =
    "determinants multiply and divide each other and have numbers as powers: the action is minus "
    "the logarithm of their product";

}  // namespace

Diagnostic operand_types(Span at, const std::string& op, const Type& left, const Type& right) {
  Diagnostic d =
      make("E0201", at,
           "`" + op + "` does not go between " + to_string(left) + " and " + to_string(right));
  d.under = to_string(left) + " " + op + " " + to_string(right);
  if (is_determinant(left) || is_determinant(right)) {
    d.rule = kDeterminantRule;
    d.hint = determinant_hint(op);
    return d;
  }
  d.rule = "sums and comparisons need one type on both sides; products scale, or apply a matrix";
  d.hint = operand_hint(op, left, right);
  return d;
}

Diagnostic number_beside_determinant(Span at, const std::string& op, const Type& left,
                                     const Type& right, const std::string& determinant,
                                     const std::string& number) {
  Diagnostic d = operand_types(at, op, left, right);
  d.rule += ", to which a number in it adds a constant";
  d.hint = "write " + determinant + "^" + (op == "/" ? "(1/" + number + ")" : number) +
           " for this power of the weight, or " + determinant + " alone";
  return d;
}

Diagnostic sign_of_determinant(Span at, const std::string& determinant) {
  Diagnostic d = make("E0201", at, "a determinant has no sign");
  d.under = "- det";
  d.rule = kDeterminantRule;
  d.hint = "write " + determinant +
           "; as a weight below the line it goes with one above it, "
           "pseudofermion(D1)/pseudofermion(D2)";
  return d;
}

Diagnostic complex_in_real_place(Span at, const std::string& place, Span declared) {
  Diagnostic d = make("E0202", at, "a complex value stands where " + place + " must be real");
  d.under = "complex";
  declared_here(d, declared, "declared real here");
  d.rule = "a complex number becomes real only by re, im, abs, arg or norm2";
  d.hint = "write re(...) or norm2(...), or declare the place `complex`";
  return d;
}

Diagnostic limit_of_component(Span at, const Symbol& symbol, std::size_t index,
                              const std::string& bound) {
  Diagnostic d =
      make("E0203", at,
           "`limit` sets the whole of `" + symbol.name + "`, which is " + to_string(symbol.type));
  d.under = "one component";
  declared_here(d, symbol.declared, "declared " + to_string(symbol.type) + " here");
  d.rule = "a limit acts on a variable after each of its updates, on all of its components at once";
  std::string list;
  for (std::size_t i = 0; i < static_cast<std::size_t>(symbol.type.rows); ++i) {
    list +=
        (i > 0 ? ", " : "") + (i == index ? bound : symbol.name + "[" + std::to_string(i) + "]");
  }
  d.hint = "write limit " + symbol.name + " = [" + list + "]";
  return d;
}

Diagnostic wrong_type(Span at, const std::string& place, const Type& wanted, const Type& found,
                      Span declared) {
  Diagnostic d =
      make("E0203", at, place + " is " + to_string(wanted) + ", but this is " + to_string(found));
  d.under = to_string(found);
  declared_here(d, declared, "declared " + to_string(wanted) + " here");
  d.rule = "both sides of an equation have one type; the number 0 fits everywhere";
  d.hint = "write an expression of type " + to_string(wanted) + ", or change the declaration";
  const bool number = found.base == Type::Base::Real || found.base == Type::Base::Integer;
  if (wanted.base == Type::Base::Vector && number) {
    d.hint = wanted.rows == 1 ? "a vector is a list of its components: write [...] around it"
                              : "a vector is a list of its components: write " +
                                    std::to_string(wanted.rows) + " of them, [a, b, ...]";
  }
  return d;
}

Diagnostic wrong_arity(Span at, const std::string& name, const std::string& usage, int wanted,
                       int found, const std::string& doc, Span declared) {
  Diagnostic d =
      make("E0204", at,
           "`" + name + "` takes " + (wanted == 0 ? "no" : std::to_string(wanted)) +
               (wanted == 1 ? " argument" : " arguments") + ", but has " + std::to_string(found));
  d.under = std::to_string(found) + (found == 1 ? " argument" : " arguments");
  declared_here(d, declared, "defined here");
  d.rule = doc.empty() ? "a call has as many arguments as the definition" : usage + ": " + doc;
  d.hint = "write " + usage;
  return d;
}

Diagnostic argument_type(Span at, const std::string& function, const std::string& wanted,
                         const Type& found, const std::string& hint) {
  Diagnostic d =
      make("E0205", at, "`" + function + "` takes " + wanted + ", but this is " + to_string(found));
  d.under = to_string(found);
  const Builtin* builtin = find_builtin(function);
  d.rule = builtin != nullptr ? function + ": " + std::string(builtin->doc)
                              : "functions check the type of their arguments";
  d.hint = hint;
  return d;
}

Diagnostic index_named_like_value(Span at, const std::string& name, const std::string& what,
                                  Span declared) {
  Diagnostic d = make("E0206", at, "`" + name + "` cannot be an index here: it is " + what);
  d.under = "already has a meaning";
  declared_here(d, declared, "declared here");
  d.rule = "an index is a name without another meaning; it gets its range where it is used";
  d.hint = "choose another letter for the index";
  return d;
}

Diagnostic index_without_range(Span at, const std::string& name) {
  Diagnostic d = make("E0207", at, "nothing says which values the index `" + name + "` takes");
  d.under = "no range";
  d.rule = "an index gets its range from what it indexes: a direction, a component, a particle";
  d.hint = "use it as an index in the expression, or give a range: " + name + " = 0..9";
  return d;
}

Diagnostic formula_of_one_name(Span at, const std::string& function) {
  Diagnostic d = make("E0237", at, "`" + function + "` is of a formula of one name with a range");
  d.under = "one range";
  const Builtin* builtin = find_builtin(function);
  d.rule = builtin != nullptr ? std::string(builtin->doc) : std::string();
  d.hint = function == "integral" ? "write integral(f(x), x = 0..1)"
                                  : "write " + function + "(f(x), y, x = 0..1)";
  return d;
}

Diagnostic index_conflict(Span at, const std::string& name, const std::string& is,
                          const std::string& was, Span first) {
  Diagnostic d =
      make("E0208", at, "the index `" + name + "` is " + is + " here and " + was + " elsewhere");
  d.under = is;
  declared_here(d, first, was);
  d.rule = "one index has one range";
  d.hint = "use two indices, or check which place the index belongs to";
  return d;
}

Diagnostic index_free(Span at, const std::string& name, const std::string& advice) {
  Diagnostic d = make("E0209", at, "the index `" + name + "` is bound by nothing here");
  d.under = "which values?";
  d.rule = "an index is bound by sum, mean, min, max, by the left side, or by `" + name +
           " = 0..2` in the clause";
  d.hint = "for all values write sum(..., " + name + ") or mean(..., " + name +
           "), for one of them a number";
  if (!advice.empty()) d.hint = "for all values write " + advice + ", for one of them a number";
  return d;
}

Diagnostic component_out_of_range(Span at, const std::string& what, std::int64_t index,
                                  std::int64_t count) {
  Diagnostic d =
      make("E0210", at,
           what + " has " + std::to_string(count) + (count == 1 ? " component" : " components") +
               ", and this is number " + std::to_string(index));
  d.under = "out of range";
  d.rule = "indices count from 0";
  d.hint = count == 1 ? "the only one is [0]" : "use 0 to " + std::to_string(count - 1);
  return d;
}

Diagnostic indices_missing(Span at, const Symbol& symbol, const std::string& advice) {
  std::string list;
  for (const std::string& name : symbol.parameters) list += (list.empty() ? "" : ",") + name;
  Diagnostic d = make("E0211", at,
                      "`" + symbol.name + "` needs its indices: " + symbol.name + "[" + list + "]");
  d.under = "without indices";
  point_at(d, symbol);
  d.rule =
      "only the index of the domain (site or particle) may be left out, inside a reduction "
      "or in init";
  d.hint = "write " + symbol.name + "[" + list + "] and bind the indices, for instance with sum";
  if (!advice.empty()) d.hint = "write " + advice;
  return d;
}

Diagnostic index_count(Span at, const std::string& name, int wanted, int found, Span declared) {
  Diagnostic d =
      make("E0212", at,
           "`" + name + "` has " + std::to_string(wanted) + (wanted == 1 ? " index" : " indices") +
               ", but here are " + std::to_string(found));
  d.under = std::to_string(found) + (found == 1 ? " index" : " indices");
  declared_here(d, declared, "declared here");
  d.rule = "a name is used with as many indices as it was declared with";
  d.hint = "write " + std::to_string(wanted) + (wanted == 1 ? " index" : " indices");
  return d;
}

Diagnostic not_indexable(Span at, const std::string& name, const Type& type, bool field) {
  Diagnostic d = make("E0213", at,
                      quoted(name) + " is " + to_string(type) + " and has no components to index");
  d.under = "no components";
  d.rule = "[k] takes a component, a direction or a particle; @k is the neighbouring site";
  d.hint = field ? "for the value at the next site write " + name + "@k" : "leave the index out";
  return d;
}

Diagnostic index_not_integer(Span at, const Type& type) {
  Diagnostic d = make("E0214", at, "an index is a whole number, but this is " + to_string(type));
  d.under = to_string(type);
  d.rule = "an index is an integer from 0, an index name, or an axis";
  d.hint = "use an index name such as k, or a number";
  return d;
}

Diagnostic particle_neighbour(Span at, const std::string& name) {
  Diagnostic d = make(
      "E0215", at, "particles have no neighbours: `" + name + "` cannot be shifted by arithmetic");
  d.under = "arithmetic on a particle's index";
  d.rule = "particles are a set without order; sites of a lattice have neighbours";
  d.hint = "for a chain use a `lattice` of one dimension and q@x, q@-x";
  return d;
}

Diagnostic per_site_in_scalar(Span at, const std::string& text, const std::string& place) {
  Diagnostic d = make("E0216", at,
                      quoted(text) + " has a value at every site, but " + place + " is one number");
  d.under = "one value per site";
  d.rule =
      "mean, var, total, min and max make one number of a field; slice and snapshot write it "
      "whole";
  d.hint = "write mean(" + (text.size() <= kShown ? text : "...") + "), or another reduction";
  return d;
}

Diagnostic scalar_in_per_site(Span at, const std::string& function) {
  Diagnostic d = make("E0217", at,
                      "`" + function +
                          "` needs a value at every site, but this is "
                          "one number");
  d.under = "the same everywhere";
  d.rule = "spectra, slices, snapshots, profiles and lattice derivatives are made of fields";
  d.hint = "give it a field, or write the number itself into the list of outputs";
  return d;
}

Diagnostic mean_of_angle(Span at, const std::string& function, const std::string& argument) {
  Diagnostic d = make("E0218", at,
                      "`" + function +
                          "` of an angle depends on where the circle is "
                          "cut");
  d.under = "an angle";
  d.rule = "an angle is known up to 2*pi, so sums and means of it have no meaning";
  d.hint = "average the point on the circle: mean(exp(1i*" +
           (argument.size() <= kShown ? argument : "x") + "))";
  return d;
}

Diagnostic order_of_complex(Span at, const std::string& what) {
  Diagnostic d = make("E0219", at, "complex numbers have no order: " + what);
  d.under = "complex";
  d.rule = "<, <=, >, >=, min and max compare real numbers";
  d.hint = "compare abs(...), re(...) or norm2(...)";
  return d;
}

Diagnostic condition_wanted(Span at, const std::string& place, const Type& found) {
  Diagnostic d = make("E0220", at, place + " is a condition, but this is " + to_string(found));
  d.under = "no comparison";
  d.rule = "a condition compares: <, <=, >, >=, ==, !=, joined by `and`, `or`, `not`";
  d.hint = "compare it with something, for instance `t > 100`";
  return d;
}

Diagnostic number_wanted(Span at, const std::string& place, const Type& found) {
  Diagnostic d = make("E0221", at, place + " is a real number, but this is " + to_string(found));
  d.under = to_string(found);
  d.rule = "this place takes one real number";
  d.hint = "write a number or an expression of parameters";
  return d;
}

Diagnostic whole_number_wanted(Span at, const std::string& place, std::int64_t least) {
  Diagnostic d =
      make("E0222", at, place + " is a whole number from " + std::to_string(least) + " on");
  d.under = "not such a number";
  d.rule = "counts are whole numbers, known before the run starts";
  d.hint = "write a number such as 100, or a param that is one";
  return d;
}

Diagnostic links_wanted(Span at, const std::string& function, const std::string& parameter,
                        const std::string& doc) {
  Diagnostic d = make("E0205", at, "`" + function + "` takes links here, for its " + parameter);
  d.under = "not the name of links";
  d.rule = doc.empty() ? "links are those of a `gauge` line, or of a definition V[mu] = ..."
                       : function + ": " + doc.substr(0, doc.find('\n'));
  d.hint = "write the name of links, or a call that makes them";
  return d;
}

Diagnostic link_steps(Span at, int most) {
  Diagnostic d =
      make("E0222", at, "the number of steps is a whole number from 1 to " + std::to_string(most));
  d.under = "not such a number";
  d.rule = "behind its arguments a function of links has the number of times that it is applied";
  d.hint = "write a number such as 2, or a param that is one";
  return d;
}

Diagnostic number_too_large(Span at, const std::string& text) {
  Diagnostic d = make("E0223", at, "the number " + quoted(text) + " is too large");
  d.under = "out of range";
  d.rule = "integers are exact below 2^63, and real numbers end at 1.8e308";
  d.hint = "write it with a decimal point or an exponent, or choose other units";
  return d;
}

Diagnostic unknown_type(Span at, const std::string& text, const std::optional<std::string>& near) {
  Diagnostic d =
      make("E0224", at, text.empty() ? "this is not a type" : quoted(text) + " is not a type");
  d.under = near ? did_you_mean(*near) : "unknown type";
  d.rule =
      "types are real, complex, angle, int, vec(n), vec(n, complex), mat(n,m), sym(n), SU(n), "
      "U(1), Z(n), su(n), spinor";
  d.hint = near ? "write `" + *near + "`; f32 or f64 is chosen by `precision`" : "use one of these";
  return d;
}

Diagnostic bad_type_size(Span at, const std::string& type, std::int64_t least) {
  const bool spinor = type == "spinor";
  const std::string range =
      spinor ? "1, 2 or 4" : "a whole number from " + std::to_string(least) + " to 64";
  Diagnostic d = make("E0225", at, "the size of `" + type + "` must be " + range);
  d.under = "bad size";
  d.rule = "sizes of vectors, matrices and groups are known before the run starts";
  d.hint = spinor ? "write spinor for four components, or spinor(2), spinor(1)"
                  : "write a number, for instance " + type + (type == "mat" ? "(3,3)" : "(3)");
  return d;
}

Diagnostic no_lattice(Span at, const std::string& what, bool derivative) {
  Diagnostic d = make("E0226", at, what + " needs a lattice, and the model has none");
  d.under = "no neighbouring sites";
  d.rule = "fields, neighbours and lattice derivatives live on the sites of a `lattice`";
  d.hint = "add a line such as `lattice 64^3, length = 10`";
  if (derivative) d.hint += "; d(f, u) is the derivative of a formula by a variable u, without one";
  return d;
}

Diagnostic shift_of_constant(Span at, const std::string& text) {
  Diagnostic d = make("E0227", at,
                      quoted(text) +
                          " is the same at every site: its neighbour has no "
                          "meaning");
  d.under = "not a field";
  d.rule = "@k takes the value at the next site of what lives on the lattice";
  d.hint = "leave the @ out";
  return d;
}

Diagnostic shift_operand(Span at, const std::string& found, int dimensions) {
  static const char* const kAxes[] = {"", "x", "x or y", "x, y or z", "x, y, z or t"};
  Diagnostic d = make("E0228", at, quoted(found) + " is not a direction of the lattice");
  d.under = "no direction";
  d.rule = "after @ stands an index, an axis (" +
           std::string(kAxes[dimensions >= 1 && dimensions <= 4 ? dimensions : 3]) +
           "), either with a minus, or a list of whole numbers";
  d.hint =
      "write u@x, u@-k, or u@(1,0,0); a definition takes a direction in square brackets: "
      "f[k] = u@k - u";
  return d;
}

Diagnostic shift_length(Span at, int found, int dimensions) {
  Diagnostic d =
      make("E0229", at,
           "this shift has " + std::to_string(found) + (found == 1 ? " number" : " numbers") +
               ", the lattice has " + std::to_string(dimensions) +
               (dimensions == 1 ? " dimension" : " dimensions"));
  d.under = std::to_string(found) + (found == 1 ? " number" : " numbers");
  d.rule = "u@(i, j, k) says how many sites to go along each axis";
  d.hint = "write " + std::to_string(dimensions) + (dimensions == 1 ? " number" : " numbers");
  return d;
}

Diagnostic prime_of_constant(Span at, const std::string& text) {
  Diagnostic d = make("E0230", at, quoted(text) + " does not change with time");
  d.under = "its time derivative is 0";
  d.rule = "' is the time derivative of state, or of a definition that depends on state";
  d.hint = "leave the ' out; for a derivative by a variable write d(f, x)";
  return d;
}

Diagnostic derivative_by(Span at, const std::string& text) {
  Diagnostic d = make("E0231", at, quoted(text) + " is nothing to differentiate by");
  d.under = "not a variable";
  d.rule = "d(f, x) is the derivative by a variable, parameter, conj(field), or along an axis";
  d.hint = "write the name of a variable, or differentiate by hand";
  return d;
}

Diagnostic wave_number_named_twice(Span at, Span declared) {
  Diagnostic d = make("E0236", at, "`k` is the wave number here, and the model has another `k`");
  d.under = "k would have two meanings";
  declared_here(d, declared, "declared here");
  d.rule = "in init phi ~ spectrum(P) the power P is a formula of the wave number k";
  d.hint = "give the model's k another name";
  return d;
}

Diagnostic site_in_distribution(Span at, const std::string& text, const Expr& drawn) {
  const std::string name = drawn.text;
  Diagnostic d = make(
      "E0216", at,
      quoted(text) + " has a value at every site, but an argument of `" + name + "` is one number");
  d.under = "one value per site";
  d.rule =
      "a distribution is the same at every site; it may be scaled and shifted from site to site";
  const auto two = [&](const std::string& text) { return text.size() <= kShown ? text : "..."; };
  d.hint = "multiply and add outside: mean + width*normal, a + (b - a)*uniform(0, 1)";
  if (name == "normal" && drawn.args.size() == 2)
    d.hint = "write " + two(to_text(*drawn.args[0])) + " + (" + two(to_text(*drawn.args[1])) +
             ")*normal";
  if (name == "uniform" && drawn.args.size() == 2)
    d.hint = "write " + two(to_text(*drawn.args[0])) + " + (" + two(to_text(*drawn.args[1])) +
             " - (" + two(to_text(*drawn.args[0])) + "))*uniform(0, 1)";
  return d;
}

Diagnostic density_of_places(Span at, const std::string& text) {
  Diagnostic d = make("E0216", at, quoted(text) + " has a value at every site or body");
  d.under = "a density is a formula of the place of a point";
  d.rule =
      "in init X ~ density(f, reach = R) the density f is a formula of the distance r from the "
      "origin and of the place: x, y, z where the model has no such names, or X[0], X[1], X[2]";
  d.hint =
      "write it with r and the place, exp(-r^2/2 - z^2); what depends on bodies goes into formulas "
      "of the points that are drawn";
  return d;
}

Diagnostic distance_named_twice(Span at, Span declared) {
  Diagnostic d =
      make("E0236", at, "`r` is the distance from the origin here, and the model has another `r`");
  d.under = "r would have two meanings";
  declared_here(d, declared, "declared here");
  d.rule = "in init x ~ density(f, reach = R) the density f is a formula of the distance r";
  d.hint = "give the model's r another name";
  return d;
}

Diagnostic output_at_start(Span at, const std::string& name) {
  Diagnostic d = make("E0232", at, "`" + name + "` is an output, no distribution");
  d.under = "inside `init`";
  d.rule =
      "distributions are normal, uniform and their like, independent at each site, and waves: "
      "vacuum, or spectrum(P) of any power P(k)";
  d.hint = "a field that was written before is read by init phi = file(\"start.h5:phi\")";
  return d;
}

Diagnostic stands_alone(Span at, const std::string& name, const std::string& clause) {
  Diagnostic d = make("E0232", at, "`" + name + "` stands alone in " + clause);
  d.under = "inside an expression";
  d.rule = "`" + name + "` is not a number, so nothing can be computed from it";
  d.hint = "make it an item of its own in " + clause;
  return d;
}

namespace {

/// Words of other programs for options.
const std::map<std::string, std::string> kOtherWords = {
    {"from", "low"},   {"min", "low"},   {"start", "low"},       {"lower", "low"},
    {"to", "high"},    {"max", "high"},  {"stop", "high"},       {"upper", "high"},
    {"nbins", "bins"}, {"n", "bins"},    {"number", "bins"},     {"range", "low"},
    {"axis", "along"}, {"dim", "along"}, {"direction", "along"}, {"log", "scale"}};

}  // namespace

Diagnostic option_of_function(Span at, const std::string& option, const std::string& function,
                              const Names& known) {
  Diagnostic d = make("E0233", at, "`" + function + "` has no option `" + option + "`");
  d.under = "unknown option";
  d.rule = known.empty() ? "`" + function + "` has no options"
                         : "the options of `" + function + "` are " + enumerate(known);
  auto near = suggest(option, known);
  if (const auto other = kOtherWords.find(option);
      !near && other != kOtherWords.end() && std::ranges::find(known, other->second) != known.end())
    near = other->second;
  if (near) d.under = did_you_mean(*near);
  d.hint = near ? "write `" + *near + "`" : "leave it out";
  return d;
}

Diagnostic no_gauge_field(Span at, const std::string& function) {
  Diagnostic d = make("E0234", at, "`" + function + "` multiplies links, and the model has none");
  d.under = "no gauge field";
  d.rule = "loop and path go along the links of the `gauge` field";
  d.hint = "add a line such as `gauge U: SU(3)`";
  return d;
}

Diagnostic too_deep(Span at) {
  Diagnostic d = make("E0235", at, "definitions are nested too deeply here");
  d.under = "more than 1500 levels down";
  d.rule = "names may refer to names up to a depth of 1500 levels";
  d.hint = "write the expression with fewer intermediate names";
  return d;
}

}  // namespace vphi::dsl::errors
