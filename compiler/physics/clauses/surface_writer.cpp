#include "compiler/physics/clauses/surface_writer.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compiler/algebra/transform.hpp"
#include "compiler/physics/clauses/output_errors.hpp"
#include "compiler/physics/clauses/output_units.hpp"
#include "compiler/physics/physics_errors.hpp"
#include "dsl/types/unit_check.hpp"
#include "dsl/words/clauses.hpp"
#include "program/surface_formats.hpp"

namespace vphi::physics {
namespace {

class SurfaceColumns {
 public:
  SurfaceColumns(const Program& d, Lowerer& lower, ProgramUnits& units, const dsl::Expr& target,
                 OutputClause& out)
      : d_(d),
        lower_(lower),
        units_(units),
        target_(target),
        format_(*program::find_surface_format(target.text)),
        out_(out) {}

  void read() {
    fits();
    Observable& surface = out_.observables.front();
    std::vector<std::string> units;
    for (const dsl::NamedArgument& argument : target_.named) column(surface, argument, units);
    for (const std::string& wanted : dsl::split_words(format_.needs))
      if (!given_.contains(wanted))
        refuse(
            target_.span, fmt::format("`{}` is not given", wanted),
            fmt::format("{} needs {}, and may have {}", format_.word, format_.needs, format_.may),
            fmt::format("add `{} = ...` to the arguments of `{}`", wanted, format_.word));
    surface.unit = units_of_surface(d_, surface, units);
  }

 private:
  [[noreturn]] void refuse(dsl::Span span, const std::string& what, const std::string& rule,
                           const std::string& fix) const {
    d_.fail(errors::surface_format(span, std::string(format_.word), what, rule, fix));
  }

  /// The clause and the model.
  void fits() const {
    const auto& all = out_.observables;
    if (all.size() != 1 || all[0].kind != Observable::Kind::Surface || !all[0].form.in_time)
      refuse(out_.span, "the clause has other outputs than one surface in time",
             "a file of this format holds the elements of one surface",
             fmt::format("write `every 2 steps: surface(T, level = T_f, time = on) -> {}(\"gold\", "
                         "...)`, and other outputs in a clause of their own",
                         format_.word));
    if (!all[0].more.empty())
      refuse(all[0].span, "the surface carries columns of its own",
             "the columns of this format are the arguments of its writer", "leave `carry` out");
    if (dsl::base_unit(d_.resolved) != "fm")
      refuse(target_.span, "lengths are not in fm", "the format is in powers of fm and GeV",
             "write `units fm`");
    const auto& factors = d_.coordinates.factors;
    const bool milne = factors.size() == 3 && factors[0].is_one() && factors[1].is_one() &&
                       factors[2] == d_.time();
    const int dims = d_.grid.dims;
    if (!milne || (dims != 2 && (dims != 3 || format_.plane_alone)))
      refuse(target_.span, "the coordinates are others",
             format_.plane_alone
                 ? "the format has proper time and a plane"
                 : "the format has proper time, a plane, and the rapidity where it is an axis",
             fmt::format("write `metric scale(1, 1, t)` and a lattice of {} axes",
                         format_.plane_alone ? "two" : "two or three"));
  }

  void column(Observable& surface, const dsl::NamedArgument& argument,
              std::vector<std::string>& units) {
    std::vector<std::string> known = dsl::split_words(format_.needs);
    std::ranges::move(dsl::split_words(format_.may), std::back_inserter(known));
    const bool has_place = std::ranges::count(known, argument.name) > 0;
    if (!has_place || !given_.insert(argument.name).second)
      refuse(argument.span,
             has_place ? fmt::format("`{}` is given twice", argument.name)
                       : fmt::format("it has no place for `{}`", argument.name),
             fmt::format("known are: {}", fmt::join(known, ", ")), "leave it out");
    const dsl::Expr& e = *argument.value;
    const Value value = lower_.value(e);
    const int plane = d_.grid.dims == 2 ? 1 : 0;
    const std::size_t wanted = argument.name == "v"    ? (plane ? 2 : 3)
                               : argument.name == "pi" ? (plane ? 3 : 5)
                                                       : 1;
    if (value.parts.size() != wanted)
      d_.fail(errors::wrong_shape(
          e.span, argument.name == "pi"
                      ? plane ? "shear stress in a plane is [xx, xy, yy]"
                              : "shear stress is [xx, xy, xz, yy, yz]; zz follows from the trace"
                      : fmt::format("`{}` has {} component{} here", argument.name, wanted,
                                    wanted == 1 ? "" : "s")));
    for (std::size_t i = 0; i < wanted; ++i) {
      const Component& part = value.parts[i];
      if (!part.real()) d_.fail(errors::not_real(e.span, "a column of a surface"));
      surface.form.carried.push_back(wanted == 1 ? argument.name
                                                 : fmt::format("{}[{}]", argument.name, i));
      surface.more.push_back({units_.quantity(part.re), 1});
      units.push_back(unit_of(d_, e));
      if (!algebra::per_site(surface.more.back().value))
        d_.fail(errors::not_site_output(e.span, written(d_, e.span)));
    }
  }

  const Program& d_;
  Lowerer& lower_;
  ProgramUnits& units_;
  const dsl::Expr& target_;
  const program::SurfaceFormat& format_;
  OutputClause& out_;
  std::set<std::string> given_;
};

}  // namespace

void give_columns(const Program& d, Lowerer& lower, ProgramUnits& units, const dsl::Expr& target,
                  OutputClause& out) {
  SurfaceColumns(d, lower, units, target, out).read();
}

}  // namespace vphi::physics
