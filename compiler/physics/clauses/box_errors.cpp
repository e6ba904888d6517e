#include "compiler/physics/clauses/box_errors.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dsl/messages/error.hpp"

namespace vphi::physics::errors {

using dsl::error;
using dsl::with_label;

namespace {

std::string sites(std::int64_t n) { return fmt::format("{} site{}", n, n == 1 ? "" : "s"); }

}  // namespace

Diagnostic other_dimensions(Span given_at, int given, int axes, std::int64_t extent, Span lattice) {
  const std::string shape =
      axes == 1 ? fmt::format("{}", extent) : fmt::format("{}^{}", extent, axes);
  return with_label(
      error("E0313", given_at,
            fmt::format("this shape has {} axes, and the model's lattice has {}", given, axes), "",
            "--lattice gives other extents to the lattice of the model, not other dimensions; one "
            "number is the extent along every axis",
            fmt::format("--lattice {}, or write the other dimensions into the model", shape)),
      lattice, "the lattice of the model");
}

Diagnostic wider_than_box(Span span, const std::string& stencil, int points,
                          const std::string& axis, std::int64_t extent, Span lattice) {
  Diagnostic d =
      error("W0314", span,
            fmt::format("`{}` is {} points wide along {}, the box {}", stencil, points, axis,
                        sites(extent)),
            "",
            "in a periodic box it then reaches a site from both sides: the sum is correct, but "
            "such a box holds no wave that is resolved to the order of the stencil",
            fmt::format("take {} or more along {}, or 1 for a field that does not depend on {}",
                        sites(points), axis, axis));
  d.severity = dsl::Severity::Warning;
  return lattice == span ? d : with_label(std::move(d), lattice, "the box");
}

Diagnostic reach_beyond_mirror(Span span, const std::string& stencil, int reach,
                               const std::string& axis, std::int64_t extent, Span lattice) {
  Diagnostic d = error(
      "E0315", span,
      fmt::format("`{}` reaches {} sites along {}, the box has {}", stencil, reach, axis, extent),
      "", "beyond a mirror (`neumann`) lie the images of the sites before it, as many as there are",
      fmt::format("take {} or more along {}", sites(reach), axis));
  return lattice == span ? d : with_label(std::move(d), lattice, "the box");
}

Diagnostic not_one_for_each_axis(Span span, const std::string& option, std::size_t given,
                                 int axes) {
  return error(
      "E0318", span,
      fmt::format("this list has {} value{}, and the lattice has {} ax{}", given,
                  given == 1 ? "" : "s", axes, axes == 1 ? "is" : "es"),
      "", fmt::format("a list after `{}` has one value for each axis, in order", option),
      fmt::format("write {} value{}, or one alone for all axes", axes, axes == 1 ? "" : "s"));
}

Diagnostic unequal_spacings(Span span, const std::vector<double>& each, bool length,
                            bool stretches) {
  std::vector<double> stretched;
  for (const double one : each) stretched.push_back(one / each.front());
  while (stretched.size() < 3) stretched.push_back(1);
  return error("E0320", span, fmt::format("sites lie {:.6g} apart", fmt::join(each, ", ")), "",
               "the distance of neighbouring sites is the same along every axis",
               std::string(length ? "make the numbers of sites proportional to the lengths"
                                  : "give one spacing and other numbers of sites") +
                   (stretches ? fmt::format(", or take the first spacing and stretch the "
                                            "coordinates: metric scale({:.6g})",
                                            fmt::join(stretched, ", "))
                              : ""));
}

Diagnostic length_of_one_axis(Span span, const std::vector<double>& lengths) {
  Diagnostic d = error("W0321", span, "this length is that of the axis x", "",
                       "sites lie equally far apart along every axis, so the first one decides",
                       fmt::format("write length = [{:.10g}] if this is meant, or spacing = ...",
                                   fmt::join(lengths, ", ")));
  d.severity = dsl::Severity::Warning;
  return d;
}

Diagnostic absorbing_boundary(Span span) {
  return error("E0901", span, "an absorbing boundary is not yet in this version", "",
               "what absorbs is written in the equations, as a layer in front of a wall",
               "add -s(x)*u' to the equation of u, with s that grows towards the wall, or the "
               "matched layer of docs/fields.md, Boxes without walls");
}

Diagnostic walls_differ(Span span, const std::string& one, const std::string& other,
                        const std::string& axis, Span declared) {
  return with_label(
      error("E0319", span,
            fmt::format("a term here couples neighbours along {} of `{}` and `{}`, which have "
                        "different boundaries",
                        axis, one, other),
            "",
            "equations are derived from sums over the box, and what such a term gives at an edge "
            "is another term for each of the fields",
            fmt::format("give both the same boundary along {}, or write their equations of motion "
                        "(`u' = ...`) in place of what is derived",
                        axis)),
      declared, "declared here");
}

Diagnostic phase_on_open_axis(Span span, const std::string& spinor, const std::string& axis,
                              const std::string& links, Span declared) {
  return with_label(
      error("E0333", span,
            fmt::format("`{}` has a phase from end to end along {}, and `{}` has no links there",
                        spinor, axis, links),
            "",
            "where links are open no hop leads from the last site to the first, so that a phase "
            "there changes nothing",
            fmt::format("leave the boundary of `{}` along {} out, or that of `{}`", spinor, axis,
                        links)),
      declared, "declared here");
}

Diagnostic twist_seen(Span span, const std::string& field, const std::string& axis, bool sign,
                      Span declared) {
  const std::string first = sign ? field : "conj(" + field + ")";
  return with_label(
      error("E0327", span,
            fmt::format("a term here couples neighbours along {} and is another one for another "
                        "{} of `{}`",
                        axis, sign ? "sign" : "phase", field),
            "",
            fmt::format("equations are derived from sums over the box, and across {} boundary a "
                        "sum has no place where the edge is only if nothing changes with the {} "
                        "there",
                        sign ? "an antiperiodic" : "a twisted", sign ? "signs" : "phases"),
            fmt::format("write products such as {1}*{0}@{2} and norm2(grad({0})), or equations "
                        "of motion (`{0}' = ...`) in place of what is derived",
                        field, first, axis)),
      declared, "declared here");
}

Diagnostic sum_at_end(Span span, const std::string& field, const std::string& axis, Span declared) {
  return with_label(
      error("E0330", span,
            fmt::format("this sum has other equations at the ends of `{}` along {} than inside",
                        field, axis),
            "",
            "equations are derived for the inside and have mirrored or repeated sites at such an "
            "end: a sum of differences of neighbours has them too, one of products does not, and "
            "its energy would drift",
            fmt::format("write differences such as ({0}@{1} - {0})^2, or equations of motion "
                        "(`{0}' = ...`) in place of what is derived",
                        field, axis)),
      declared, "declared here");
}

Diagnostic twist_of_real(Span span, const std::string& field, const std::string& axis) {
  return error(
      "E0328", span, fmt::format("`{}` has no phase that `twisted` could turn", field), "",
      "beyond a twisted boundary a field is multiplied by exp(i theta), which makes real "
      "values complex unless it is a sign",
      fmt::format("declare `{}` as complex, or write boundary({}) = antiperiodic, which is "
                  "theta = pi",
                  field, axis));
}

Diagnostic twist_of_lattice(Span span) {
  return error("E0328", span, "`twisted` is a boundary of one field, not of the lattice", "",
               "a phase belongs to complex fields and spinors alone",
               "write it where the field is declared: field phi: complex, boundary(x) = "
               "twisted(theta)");
}

Diagnostic twisted_waves(Span span, const std::string& what, const std::string& field,
                         const std::string& axis) {
  return error("E0329", span, fmt::format("`{}` of a field with a twisted boundary", what), "",
               fmt::format("the waves of `{}` along {} lie between those of the box, so that a sum "
                           "over the waves of the box would see a jump at its end",
                           field, axis),
               fmt::format("take the phase out, {0}*exp(-1i*theta*index({1})/N) with the N sites "
                           "along {1}, whose wave numbers are those of the field less theta/L",
                           field, axis));
}

Diagnostic twisted_start(Span span, const std::string& what) {
  return error(
      "E0329", span, fmt::format("`{}` in a box with a twisted field", what), "",
      "it is a sum over the waves of the box, and those of a twisted field lie between them",
      "start by a formula, phi = exp(1i*theta*index(x)/N) times what is periodic, or with "
      "numbers at each site (phi ~ normal)");
}

Diagnostic waves_of_open_box(Span span, const std::string& what, const std::string& field,
                             Span declared) {
  return with_label(
      error(
          "E0329", span, fmt::format("`{}` of `{}`, which is not periodic", what, field), "",
          "it is a sum over the waves of a periodic box, which would jump at the ends of this one",
          fmt::format("make `{}` periodic, or start by a formula or with numbers at each site "
                      "({} ~ normal)",
                      field, field)),
      declared, "declared here");
}

namespace {

constexpr const char* kShift =
    "beyond the last site of an axis with `shifted(x = n)` every field goes on at its first site, "
    "n sites further along x";

}  // namespace

Diagnostic shift_along(Span span, const std::string& along, const std::string& axis) {
  return error("E0331", span, fmt::format("`{}` is not another axis of the lattice", along), "",
               kShift,
               fmt::format("name axes of the lattice other than {}: boundary({}) = shifted({} = 1)",
                           axis, axis, axis == "x" ? "y" : "x"));
}

Diagnostic shift_too_far(Span span, std::int64_t most) {
  return error("E0331", span, fmt::format("this shift is longer than {}", sites(most)), "", kShift,
               "leave out whole turns around the axis along which it goes");
}

Diagnostic shift_meets_end(Span span, const std::string& along, const std::string& axis) {
  return error(
      "E0331", span,
      fmt::format("the end of {} is shifted along {}, which does not close by itself", axis, along),
      "", kShift,
      fmt::format("make {} periodic or antiperiodic, or shift along another axis", along));
}

Diagnostic shift_of_field(Span span) {
  return error("E0331", span, "`shifted` is a boundary of the lattice, not of one field", "",
               kShift, "write it in the line of the lattice: boundary(t) = shifted(x = 3)");
}

Diagnostic own_end_of_shift(Span span, const std::string& axis) {
  return error(
      "E0331", span,
      fmt::format("a field has an end of its own along {}, where the lattice is shifted", axis), "",
      kShift, "leave it out, or the shift of the lattice");
}

Diagnostic shifted_box(Span span, const std::string& what, Span lattice) {
  return with_label(
      error("E0332", span, fmt::format("{} in a box with a shifted end", what), "",
            "it takes each axis to close by itself, and beyond a shifted end a row goes on in "
            "another one",
            "leave `shifted` out of the lattice, or take equations, sums, local updates and "
            "outputs of sites"),
      lattice, "the lattice");
}

}  // namespace vphi::physics::errors
