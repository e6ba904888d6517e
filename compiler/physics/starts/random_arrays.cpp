#include "compiler/physics/starts/random_arrays.hpp"

#include <fmt/format.h>

#include "compiler/algebra/ops.hpp"
#include "compiler/algebra/transform.hpp"
#include "compiler/physics/chains/link_field.hpp"
#include "compiler/physics/chains/link_values.hpp"
#include "compiler/physics/chains/sampling_errors.hpp"
#include "compiler/physics/chains/site_values.hpp"
#include "compiler/physics/clauses/sweep_axes.hpp"
#include "compiler/physics/fields/coordinates.hpp"
#include "compiler/physics/fields/link_motion.hpp"
#include "compiler/physics/lower/displacement.hpp"
#include "compiler/physics/lower/lower.hpp"
#include "compiler/physics/physics_errors.hpp"
#include "compiler/physics/stages/start.hpp"
#include "compiler/physics/starts/init_errors.hpp"
#include "compiler/physics/starts/point_start.hpp"
#include "compiler/physics/starts/spectrum_start.hpp"
#include "compiler/physics/starts/start_files.hpp"

namespace vphi::physics {

using algebra::Op;

Value RandomArrays::links(bool hot, const StateField& field) {
  const gauge::Group& group = field.links->group;
  Arena& arena = d_.arena();
  Value v{field.rows, field.columns, {}};
  for (int axis = 0; axis < field.rows; ++axis) {
    gauge::Matrix u = gauge::identity(arena, group.n);
    if (hot && field.roots > 0) {
      u = any_root(arena, field.roots, arena.random(Op::Uniform, link_draws_++));
    } else if (hot) {
      std::vector<Expr> normals;
      for (int i = 0; i < gauge::haar_draws(group); ++i) {
        normals.push_back(arena.random(Op::Normal, link_draws_++));
      }
      u = gauge::haar(group, normals);
    }
    if (field.angle) {
      v.parts.push_back({u.at(0, 0).re, u.at(0, 0).im});
      continue;
    }
    for (const Expr part : gauge::store(*field.links, u)) v.parts.push_back({part, {}});
  }
  return v;
}

Reading RandomArrays::reading(const InitItem& init) {
  Reading reading;
  reading.random = [this, &init](const dsl::Expr& e, const Reading& here) {
    return draw(e, init, here);
  };
  return reading;
}

Value RandomArrays::draw(const dsl::Expr& e, const InitItem& init, const Reading& reading) {
  const StateField& field = *init.field;
  if (is_file(e)) {
    return file_start(d_, lower_, e, field, reading, [&](const RandomField& random) {
      return add(random, d_.arena().integer(1), e.span);
    });
  }
  if (field.links && (e.text == "hot" || e.text == "cold")) return links(e.text == "hot", field);
  if (e.text == "hot") return any_value(field, e.span);
  const bool of_numbers = e.text == "normal" || e.text == "spectrum";
  if (field.link && (field.links || !of_numbers)) {  // momenta are numbers
    d_.fail(errors::not_yet(e.span, fmt::format("`{}` for a gauge field", e.text)));
  }
  if (e.text == "vacuum") {
    if (curvilinear(d_)) d_.fail(errors::not_yet(e.span, "`vacuum` beside `metric scale`"));
    Value v{field.rows, field.columns, {}};
    std::map<int, Component> cells;
    for (const int cell : field.cells) {
      auto it = cells.find(cell);
      if (it == cells.end()) {
        Component c;
        const auto part = [&](int component) {
          return vacuum_.draw(e, field, component, init.velocity);
        };
        c = field.complex ? Component{part(2 * cell), part(2 * cell + 1)}
                          : Component{part(cell), {}};
        it = cells.emplace(cell, c).first;
      }
      v.parts.push_back(it->second);
    }
    return v;
  }
  if (e.text == "spectrum") return waves(e, field, reading);
  if (init.by_component && e.text == "normal") return Value{1, 1, {complex_normal(e, reading)}};
  if (field.spinor && e.text == "normal") return spinor(e, field, reading);
  if (e.text == "ball") return ball(e, field, reading);
  if (e.text == "density") return points(e, field, reading);
  if (field.cells.size() == 1) return Value::of(number(e, reading));
  // a real number of its own for each component
  Value v{field.rows, field.columns, {}};
  std::map<int, Expr> cells;
  for (const int cell : field.cells) {
    const auto [found, fresh] = cells.try_emplace(cell);
    if (fresh) found->second = number(e, reading);
    v.parts.push_back({found->second, {}});
  }
  return v;
}

Value RandomArrays::waves(const dsl::Expr& e, const StateField& field, const Reading& reading) {
  if (field.spinor || field.particle || !field.values.empty())
    d_.fail(errors::not_yet(e.span,
                            "`spectrum` of what is not a field of real or complex "
                            "numbers"));
  const RandomField drawn = spectrum_draw(d_, lower_, e, reading, field.complex ? 0.5 : 1);
  const auto part = [&] { return add(drawn, d_.arena().integer(1), e.span); };
  Value v{field.rows, field.columns, {}};
  std::map<int, Component> cells;
  for (const int cell : field.cells) {
    const auto [found, fresh] = cells.try_emplace(cell);
    if (fresh) {
      found->second.re = part();
      if (field.complex) found->second.im = part();
    }
    v.parts.push_back(found->second);
  }
  return v;
}

Value RandomArrays::any_value(const StateField& field, dsl::Span span) {
  Arena& arena = d_.arena();
  if (field.values.empty() && !field.length && !field.periodic)
    d_.fail(errors::hot_without_norm(span, field.name));
  link_draws_ += link_draws_ % 2;  // pairs of normal numbers share random words
  Value v{field.rows, field.columns, {}};
  if (field.length) {
    for (int i = 0; i < field.rows; ++i)
      v.parts.push_back({arena.random(Op::Normal, link_draws_++), {}});
  } else {
    const Expr uniform = arena.random(Op::Uniform, link_draws_++);
    v.parts.push_back({field.periodic ? arena.real(angle_period(d_, field)) * uniform
                                      : value_at(arena, field.values, uniform),
                       {}});
  }
  link_draws_ += link_draws_ % 2;
  return v;
}

Component RandomArrays::complex_normal(const dsl::Expr& e, const Reading& reading) {
  Arena& arena = d_.arena();
  const auto arg = [&](std::size_t i, const char* what, Expr otherwise) {
    if (i >= e.args.size()) return otherwise;
    return parameter(*e.args[i], what, reading);
  };
  const Expr shift = arg(0, "the mean", arena.integer(0));
  Expr width = arg(1, "the width", arena.integer(1));
  if (e.args.size() > 1) width = not_below_zero(width, *e.args[1], "the width");
  const Expr re = arena.random(Op::Normal, link_draws_++);
  const Expr im = arena.random(Op::Normal, link_draws_++);
  return {shift + width * re, width * im};
}

Value RandomArrays::spinor(const dsl::Expr& e, const StateField& field, const Reading& reading) {
  Value v{field.rows, field.columns, {}};
  v.spinor = true;
  for (std::size_t i = 0; i < field.cells.size(); ++i)
    v.parts.push_back(complex_normal(e, reading));
  return v;
}

Expr RandomArrays::number(const dsl::Expr& e, const Reading& reading) {
  Arena& arena = d_.arena();
  RandomField random;
  Expr shift = arena.integer(0), width = arena.integer(1);
  const auto arg = [&](std::size_t i, const char* what) {
    return parameter(*e.args[i], what, reading);
  };
  if (e.text == "normal") {
    random.kind = RandomField::Kind::Normal;
    if (!e.args.empty()) shift = arg(0, "the mean");
    if (e.args.size() > 1) width = not_below_zero(arg(1, "the width"), *e.args[1], "the width");
  } else if (e.text == "uniform") {
    random.kind = RandomField::Kind::Uniform;
    if (e.args.size() == 2) {
      shift = arg(0, "a bound");
      width = arg(1, "a bound") - shift;
      if (is_below_zero(width)) d_.fail(errors::bounds_reversed(e.span));
    }
  } else if (e.text == "waterbag") {
    random.kind = RandomField::Kind::Uniform;
    shift = -not_below_zero(arg(0, "the largest value"), *e.args[0], "the largest value");
    width = arena.integer(-2) * shift;
  } else if (e.text == "cauchy" || e.text == "exponential") {
    // by the inverse of the distribution function
    random.kind = RandomField::Kind::Uniform;
    const Expr u = add(random, arena.integer(1), e.span);
    if (e.text == "exponential") {
      return -not_below_zero(arg(0, "the mean"), *e.args[0], "the mean") *
             arena.make(Op::Log, {arena.integer(1) - u});
    }
    const Expr angle = arena.real(acosl(-1.0L)) * (u - arena.rational(1, 2));
    return arg(0, "the centre") + not_below_zero(arg(1, "the width"), *e.args[1], "the width") *
                                      arena.make(Op::Tan, {angle});
  } else {
    d_.fail(errors::not_yet(e.span, fmt::format("`{}` as an initial value", e.text)));
  }
  return shift + width * add(random, arena.integer(1), e.span);
}

Value RandomArrays::ball(const dsl::Expr& e, const StateField& field, const Reading& reading) {
  Arena& arena = d_.arena();
  if (field.columns != 1 || field.complex) {
    d_.fail(errors::wrong_shape(e.span, "a ball is filled by vectors"));
  }
  const auto draw = [&](RandomField::Kind kind) {
    RandomField random;
    random.kind = kind;
    return add(random, arena.integer(1), e.span);
  };
  std::vector<Expr> direction;
  Expr square = arena.integer(0);
  for (int i = 0; i < field.rows; ++i) {
    direction.push_back(draw(RandomField::Kind::Normal));
    square = square + algebra::pow(direction.back(), 2);
  }
  const Expr radius =
      not_below_zero(lower_.fixed(*e.args[0], "the radius", Scope::in(reading)), *e.args[0],
                     "the radius") *
      algebra::pow(draw(RandomField::Kind::Uniform), arena.rational(1, field.rows)) *
      algebra::pow(square, arena.rational(-1, 2));
  std::vector<Component> parts;
  for (const Expr n : direction) parts.push_back({radius * n, {}});
  return Value::vector(std::move(parts));
}

Value RandomArrays::points(const dsl::Expr& e, const StateField& field, const Reading& reading) {
  if (!field.particle || field.columns != 1 || field.complex || field.rows > 3)
    d_.fail(errors::density_of_no_points(e.span, field.name));
  RandomField drawn = point_draw(d_, lower_, e, reading, field);
  std::vector<Component> parts;
  int stream = -1;
  for (drawn.entry = 0; drawn.entry < field.rows; ++drawn.entry) {
    parts.push_back({add(drawn, d_.arena().integer(1), e.span), {}});
    RandomField& made = d_.collected.random.back();
    stream = made.stream = stream < 0 ? made.stream : stream;
  }
  return field.rows == 1 ? Value::of(parts[0].re) : Value::vector(std::move(parts));
}

Expr RandomArrays::parameter(const dsl::Expr& at, const char* what, const Reading& reading) {
  const Expr v = lower_.real(at, what, Scope::in(reading));
  if (!known_per_instance(d_, v)) d_.fail(errors::not_fixed(at.span, what));
  return v;
}

bool RandomArrays::is_below_zero(Expr v) const {
  const auto range = range_of(d_, v);
  return range && range->low < 0;
}

Expr RandomArrays::not_below_zero(Expr v, const dsl::Expr& at, const char* what) const {
  if (is_below_zero(v)) d_.fail(errors::negative_width(at.span, what, range_of(d_, v)->low));
  return v;
}

Expr RandomArrays::add(const RandomField& random, Expr factor, dsl::Span span) {
  return add_random(d_, units_, random, factor, span);
}

}  // namespace vphi::physics
