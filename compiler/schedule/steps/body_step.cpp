// Bodies that are not compositions of flows: their lines in order.
#include <algorithm>
#include <functional>
#include <memory>
#include <utility>

#include "compiler/algebra/rewriting.hpp"
#include "compiler/algebra/transform.hpp"
#include "compiler/schedule/schedule_errors.hpp"
#include "compiler/schedule/steps/charted_links.hpp"
#include "compiler/schedule/steps/flux.hpp"
#include "compiler/schedule/steps/limits.hpp"
#include "compiler/schedule/steps/noise.hpp"
#include "compiler/schedule/steps/step_end.hpp"
#include "compiler/schedule/steps/tolerance.hpp"
#include "compiler/text/arithmetic.hpp"

namespace vphi::schedule {

namespace {

using algebra::Arena;
using algebra::Op;
using dsl::ExprKind;
using text::ArithmeticError;
using text::Meaning;
using text::scalar_value;
using text::Value;

class BodyStep {
 public:
  /// `maps`: the step may make maps in Fourier space; its blocks are then its own.
  BodyStep(const Ingredients& from, const Shares& shares, Block& block, bool maps = false)
      : from_(from),
        shares_(shares),
        arena_(*from.system.arena),
        block_(&block),
        maps_(maps),
        links_(from.system, at_the_middle(from.integrator, from.head)),
        state_(stored_state(from.system)) {
    meaning_.name = [this](const dsl::Expr& at) { return name(at); };
    meaning_.call = [this](const dsl::Expr& at, Value& value) { return call(at, value); };
    meaning_.reshape = [this](Value& value, int group) { return reshape(value, group); };
    meaning_.vector = [this](int array) { return vector_of(from_.system, array); };
  }

  const State& state() const { return state_; }
  int draws() const { return draws_; }

  /// The whole body, with every composition of it.
  bool run(dsl::Diagnostics& diagnostics) {
    return guarded(diagnostics, [&] {
      read_options();
      if (tolerance_of(from_.system.dynamics) != nullptr) return run_trial();
      for (const algebra::Number& weight : from_.integrator.weights) {
        dt_ = block_->scalar("dt", running_dt(from_.system) * arena_.number(weight));
        weight_ = static_cast<double>(weight.real);
        locals_.clear();
        links_.open(state_);
        for (const Statement& statement : from_.integrator.body) run(statement);
        state_ = links_.closed(*block_, state_, true);
      }
    });
  }

  std::optional<Stepping> make(dsl::Diagnostics& diagnostics) {
    Stepping result;
    const bool whole = maps_ || tolerance_of(from_.system.dynamics) != nullptr;
    const auto joint = whole ? std::nullopt : joined_ends();
    recoveries_.kept = from_.keeps;
    const bool done = !joint ? run(diagnostics) : guarded(diagnostics, [&] {
      read_options();
      dt_ = block_->scalar("dt", running_dt(from_.system));
      run_joined(*joint, result);
    });
    if (!done) return std::nullopt;
    fold_angles(*block_, state_);
    Wanted fixed;
    const auto fixes = keep_limits(*block_, state_, fixed, recoveries_.last);
    Wanted wanted = wanted_state(from_.system, state_);
    if (recoveries_.kept) keep_recovered(*block_, recoveries_.last, state_, wanted);
    const bool keepable = recoveries_.at_start && !whole && !joint;
    result.can_keep = keepable && can_keep_recovered(from_.system);
    result.cold = recoveries_.cold;
    wanted.slots.insert(wanted.slots.end(), fixed.slots.begin(), fixed.slots.end());
    if (fixes) result.finish.push_back(*fixes);
    if (!parts_.empty()) {
      finish_parts(wanted, result);
      return result;
    }
    const std::vector<Item> carried = carry(from_, *block_, state_, wanted, result);
    result.sweeps = make_site_loops(*block_, wanted);
    const auto finish = finish_of(state_);
    result.finish.insert(result.finish.end(), finish.begin(), finish.end());
    begin(carried, wanted, result);
    return result;
  }

 private:
  /// What the first step starts from beside the state.
  void begin(const std::vector<Item>& carried, const Wanted& step, Stepping& result) {
    if (!recoveries_.kept)
      return start_carried(from_, carried, block_->slots(), block_->storage(), result);
    Block before(from_.system, block_->slots(), block_->storage());
    State start = stored_state(from_.system);
    Wanted wanted;
    wanted.name = "first";
    first_recovered(before, step, start, wanted);
    first_carried(before, start, carried, wanted);
    result.first = make_site_loops(before, wanted);
    result.first_renews = true;
    result.remarks.insert(
        "recovered values of the start of a step are made at the end of the step before");
  }

  /// The body with a length of its own, and what follows from its error.
  void run_trial() {
    const State start = state_;
    const Trial trial = begin_trial(*block_, start);
    dt_ = trial.length;
    links_.open(state_);
    for (const Statement& statement : from_.integrator.body) run(statement);
    state_ = links_.closed(*block_, state_, true);
    end_trial(*block_, trial, start, locals_.at(kError), locals_.at(kOrder).scalar, state_);
  }

  /// A member of every value that is 1 in a variable: `dt/2*v` has dt/2 there, for which the
  /// background moves when v moves x.
  static constexpr const char* kUnit = "#";

  bool guarded(dsl::Diagnostics& diagnostics, const std::function<void()>& work) {
    try {
      work();
      return true;
    } catch (const ArithmeticError& error) {
      diagnostics.add(
          error.message.starts_with("later:")
              ? errors::not_yet(error.span, error.message.substr(6))
              : errors::cannot_evaluate(error.span, from_.integrator.name, error.message));
    } catch (const dsl::Diagnostic& diagnostic) {
      diagnostics.add(diagnostic);
    }
    return false;
  }

  // ---- `u = u + w*dt*F(...)` as first and last line: one evaluation of F a step
  // ------------------

  struct Joint {
    std::size_t equation = 0, part = 0;
    Expr first, last;  ///< weights
  };

  /// The weight w where a line is `u = u + w*dt*F(...)`, F a hole of u's equation at the head's own
  /// variables, u itself not among them.
  std::optional<Expr> weight_of(const Statement& line, std::size_t& equation,
                                std::size_t& part) const {
    const int e = from_.head.index(line.name);
    if (e < 0) return std::nullopt;
    equation = static_cast<std::size_t>(e);
    const auto& parts = from_.head.parts[equation];
    const Expr dt = arena_.symbol("line:dt"), hole = arena_.symbol("line:F");
    const Expr self = arena_.symbol("line:u");
    Meaning meaning;
    meaning.name = [&](const dsl::Expr& at) {
      if (at.text == line.name) return scalar_value(self);
      if (at.text == "dt") return scalar_value(dt);
      throw ArithmeticError{at.span, ""};
    };
    meaning.call = [&](const dsl::Expr& at, Value& value) {
      for (std::size_t p = 0; p < parts.size(); ++p) {
        if (parts[p].kind != Part::Kind::Hole || parts[p].name != at.text) continue;
        if (std::ranges::count(parts[p].arguments, line.name)) throw ArithmeticError{at.span, ""};
        for (std::size_t i = 0; i < at.args.size(); ++i) {
          const bool plain = at.args[i]->kind == ExprKind::Name && i < parts[p].arguments.size() &&
                             at.args[i]->text == parts[p].arguments[i];
          if (!plain) throw ArithmeticError{at.span, ""};
        }
        part = p;
        value = scalar_value(hole);
        return true;
      }
      return false;
    };
    try {
      const Expr value = evaluate(*line.value, meaning, arena_).scalar;
      const auto weight = algebra::constant((value - self) / (dt * hole));
      return weight ? std::optional(arena_.number(*weight)) : std::nullopt;
    } catch (const ArithmeticError&) {
      return std::nullopt;
    }
  }

  std::optional<Joint> joined_ends() const {
    const auto& body = from_.integrator.body;
    if (body.size() < 3 || from_.integrator.weights.size() != 1) return std::nullopt;
    Joint joint;
    std::size_t equation = 0, part = 0;
    const auto first = weight_of(body.front(), joint.equation, joint.part);
    const auto last = weight_of(body.back(), equation, part);
    if (!first || !last || equation != joint.equation || part != joint.part) return std::nullopt;
    if (limited(from_.system, group(static_cast<int>(equation)).arrays)) return std::nullopt;
    joint.first = *first;
    joint.last = *last;
    return joint;
  }

  /// The last line of a step is joined with the first of the next step. It is postponed, and
  /// observers see the state with it applied.
  void run_joined(const Joint& joint, Stepping& result) {
    const auto& body = from_.integrator.body;
    const auto e = static_cast<int>(joint.equation);
    for (const auto& [array, rate] : shares_[joint.equation][joint.part]) {
      if (!rate.is_zero()) result.missing_members.push_back({array, {}, rate, {}, {}});
    }
    if (first_hole(joint.equation) == joint.part) {
      for (const std::string& name : group(e).scalars) {
        const auto scalar =
            std::ranges::find(from_.system.scalars, name, &physics::ScalarVariable::symbol);
        result.missing_members.push_back({-1, name, scalar->rate, {}, {}});
      }
    }
    const Expr started = arena_.symbol(slot::kStarted);
    result.missing = {arena_.real(from_.system.dt) * joint.last * started};
    const Expr length =
        block_->scalar("h_" + group(e).variable, dt_ * (joint.first + joint.last * started));
    advance(*block_, result.missing_members, length, state_, result.remarks);
    for (std::size_t i = 1; i + 1 < body.size(); ++i) run(body[i]);
    result.remarks.insert("the last " + group(e).variable +
                          " update of a step is joined with the first of the next; output sees it "
                          "done");
  }

  const Group& group(int e) const { return from_.groups[static_cast<std::size_t>(e)]; }

  Value state_of(int e) const {
    Value value;
    value.group = e;
    for (const int array : group(e).arrays) value.arrays[array] = state_.arrays.at(array);
    for (const std::string& name : group(e).scalars) value.scalars[name] = state_.scalars.at(name);
    value.scalars[kUnit] = arena_.integer(1);
    return value;
  }

  /// Reads the options of the head; values given in the model take precedence.
  void read_options() {
    for (const auto& [name, value] : from_.integrator.options) {
      options_[name] = evaluate(*value, meaning_, arena_);
    }
    for (const auto& [name, value] : from_.options) {
      if (options_.contains(name)) options_[name] = scalar_value(value);
    }
  }

  void run(const Statement& statement) {
    const int e = from_.head.index(statement.name);
    Value value = evaluate(*statement.value, meaning_, arena_);
    if (e >= 0 && value.group != e) {
      throw ArithmeticError{statement.span,
                            "`" + statement.name + "` is set to something of another shape"};
    }
    // A register: each member is defined once, so that every later line shares it.
    for (auto& [array, expr] : value.arrays) {
      if (links_.holds_nothing(array)) continue;
      const std::string hint = (e >= 0 ? "" : statement.name + "_") + name_of(from_.system, array);
      expr = block_->array(hint, expr, e >= 0 && !links_.holds_coordinate(array) ? array : -1);
    }
    for (auto& [name, expr] : value.scalars) {
      if (name == kUnit) continue;
      if (e >= 0 && state_.scalars.contains(rest_name(name))) {
        const Expr start = state_.scalars.at(name);
        move_scalar(*block_, name, start, expr - start, state_);
        expr = state_.scalars.at(name);
        continue;
      }
      expr = block_->scalar((e >= 0 ? "" : statement.name + "_") + name, expr);
    }
    if (value.group < 0) value.scalar = block_->scalar(statement.name, value.scalar);
    if (e < 0) {
      locals_[statement.name] = value;
      return;
    }
    for (const auto& [array, expr] : value.arrays) state_.arrays[array] = expr;
    for (const auto& [name, expr] : value.scalars) {
      if (name != kUnit) state_.scalars[name] = expr;
    }
    limit_updated(*block_, state_, group(e).arrays, dt_);
  }

  Value name(const dsl::Expr& at) {
    if (arguments_ && arguments_->contains(at.text)) return arguments_->at(at.text);
    if (const int e = from_.head.index(at.text); e >= 0) return state_of(e);
    if (const auto local = locals_.find(at.text); local != locals_.end()) return local->second;
    if (const auto option = options_.find(at.text); option != options_.end()) return option->second;
    if (at.text == "dt") return scalar_value(dt_);
    if (at.text == "dx") return scalar_value(arena_.real(from_.system.lattice.dx));
    if (at.text == "t") {
      const auto t = state_.scalars.find(from_.system.time);
      return scalar_value(t == state_.scalars.end() ? arena_.integer(0) : t->second);
    }
    if (at.text == "pi") return scalar_value(arena_.real(3.141592653589793238462643L));
    if (at.text == "normal") return drawn(at);
    for (std::size_t e = 0; e < from_.head.parts.size(); ++e) {
      for (std::size_t p = 0; p < from_.head.parts[e].size(); ++p) {
        const Part& part = from_.head.parts[e][p];
        if (part.kind == Part::Kind::Coefficient && part.name == at.text) {
          return coefficient(e, p);
        }
        if (part.kind == Part::Kind::Noise && part.name == at.text && part.arguments.empty()) {
          return coefficient(e, p);
        }
      }
    }
    std::vector<std::string> known = from_.head.variables;
    for (const auto& [local, unused] : locals_) known.push_back(local);
    for (const char* given : {"dt", "dx", "t"}) known.emplace_back(given);
    throw errors::unknown_name(at.span, at.text, from_.integrator.name, known);
  }

  /// gamma of `gamma*v`: one coefficient for each member, at the present background.
  Value coefficient(std::size_t e, std::size_t p) const {
    Value value;
    value.group = static_cast<int>(e);
    for (const auto& [array, expr] : shares_[e][p]) value.arrays[array] = at(state_, expr);
    for (const std::string& name : group(value.group).scalars) {
      value.scalars[name] = arena_.integer(0);
    }
    value.scalars[kUnit] = arena_.integer(1);
    return value;
  }

  /// v of `x' = v`, as what moves x.
  bool reshape(Value& value, int target) const {
    const auto e = static_cast<std::size_t>(target);
    for (std::size_t p = 0; p < from_.head.parts[e].size(); ++p) {
      const Part& part = from_.head.parts[e][p];
      if (part.kind != Part::Kind::Variable || from_.head.index(part.variable) != value.group) {
        continue;
      }
      State there = state_;
      for (const auto& [array, expr] : value.arrays) there.arrays[array] = expr;
      Value moved;
      moved.group = target;
      for (const auto& [array, share] : shares_[e][p]) moved.arrays[array] = at(there, share);
      for (const std::string& name : group(target).scalars) {
        const auto scalar =
            std::ranges::find(from_.system.scalars, name, &physics::ScalarVariable::symbol);
        moved.scalars[name] = at(state_, scalar->rate) * value.scalars.at(kUnit);
      }
      moved.scalars[kUnit] = value.scalars.at(kUnit);
      value = std::move(moved);
      return true;
    }
    return false;
  }

  /// A new random number for each variable of the group that has noise (docs/rules.md rule 17: one
  /// for each place where `normal` stands).
  Value drawn(const dsl::Expr& at_text) {
    for (std::size_t e = 0; e < from_.head.parts.size(); ++e) {
      for (const Part& part : from_.head.parts[e]) {
        if (part.kind != Part::Kind::Noise) continue;
        Value value;
        value.group = static_cast<int>(e);
        std::map<int, Expr> of_stream;
        const auto number = [&](int stream) {
          const auto [found, fresh] = of_stream.try_emplace(stream);
          if (fresh) found->second = random_number(at_text.span);
          return found->second;
        };
        for (const int array : group(value.group).arrays) {
          const NoisyRate noisy = noisy_rate(from_.system, array);
          if (noisy.stream < 0) {
            value.arrays[array] = arena_.integer(0);
            continue;
          }
          value.arrays[array] = noisy.spread ? spread(noisy.spread, number) : number(noisy.stream);
        }
        for (const std::string& name : group(value.group).scalars) {
          value.scalars[name] = arena_.integer(0);
        }
        value.scalars[kUnit] = arena_.integer(1);
        return value;
      }
    }
    throw ArithmeticError{at_text.span, "the head of this integrator has no noise"};
  }

  /// Noise that reads neighbours: the random numbers of each stream are stored in an array, made at
  /// the present state.
  Expr spread(Expr noise, const std::function<Expr(int)>& number) {
    const Expr drawn = algebra::rewrite(noise, [&](Expr node) {
      if (!node.is(Op::Noise)) return node;
      return algebra::shift(block_->array("noise", number(node->index)), node->offset);
    });
    return at(state_, drawn);
  }

  /// Mean 0 and variance 1. Two and three points have the moments that weak order 1 and 2 need
  /// (Kloeden and Platen, section 14.2).
  Expr random_number(dsl::Span span) {
    const int points = from_.system.noise.points;
    const int draw = draws_++;
    if (points == 0) return arena_.random(Op::Normal, draw, {}, span);
    const Expr u = arena_.random(Op::Uniform, draw, {}, span);
    const auto below = [&](Expr bound, Expr then, Expr otherwise) {
      return arena_.make(Op::Select, {arena_.make(Op::Less, {u, bound}), then, otherwise}, span);
    };
    if (points == 2) {
      return below(arena_.rational(1, 2), arena_.integer(-1), arena_.integer(1));
    }
    const Expr root3 = algebra::pow(arena_.integer(3), arena_.rational(1, 2));
    return below(arena_.rational(1, 6), -root3,
                 below(arena_.rational(5, 6), arena_.integer(0), root3));
  }

  // ---- maps in Fourier space: the step is cut into parts, with maps between them
  // ------------------

  /// What a step does up to some maps, and these.
  struct BlockPart {
    std::unique_ptr<Block> block;
    std::vector<ArrayMap> maps;
  };

  /// The map between bare Loads; later lines belong to a new block, which reads what the map gives.
  std::map<int, Expr> made(program::FourierMap map, const std::vector<int>& keys,
                           const std::map<int, Expr>& from) {
    ArrayMap own{std::move(map), {}, {}};
    std::map<int, Expr> result;
    for (const int key : keys) {
      own.from.push_back(from.at(key)->index);
      own.to.push_back(block_->storage().number());
      result[key] = arena_.load(own.to.back());
    }
    if (parts_.empty() || !block_->items().empty())
      parts_.push_back({std::make_unique<Block>(*block_), {}});
    parts_.back().maps.push_back(std::move(own));
    own_ = std::make_unique<Block>(from_.system, block_->slots(), block_->storage());
    block_ = own_.get();
    recoveries_.last.reset();
    return result;
  }

  /// A value in memory as a bare Load: what a map reads.
  Expr stored(Expr value, const std::string& name) {
    const Expr load = block_->array(name, value);
    return load;
  }

  /// Every spectral Laplacian replaced by an array that a map fills.
  std::vector<Expr> transformed(std::vector<Expr> values) {
    while (algebra::contains(values, is_spectral)) {
      std::vector<Expr> found;  // arguments hold no spectral Laplacian
      for (const Expr value : values) {
        algebra::visit(value, [&](Expr node) {
          if (!is_spectral(node) || std::ranges::count(found, node) > 0) return;
          if (!algebra::contains(node.arg(0), is_spectral)) found.push_back(node);
        });
      }
      if (!maps_) throw ArithmeticError{from_.integrator.span, "a spectral Laplacian"};
      program::FourierMap map;
      map.name = "lap";
      map.function = program::FourierMap::Function::Itself;
      std::map<int, Expr> from;
      std::map<int, algebra::Offset> offsets;
      std::map<int, int> place;  // input array -> place
      std::vector<int> keys, of_node;
      for (const Expr node : found) {
        const Expr argument = node.arg(0);
        const bool load = argument.is(Op::Load);
        const Expr input = load ? arena_.load(argument->index) : stored(argument, "field");
        const auto [at_place, fresh] =
            place.try_emplace(input->index, static_cast<int>(keys.size()));
        if (fresh) {
          const int key = at_place->second;
          keys.push_back(key);
          from[key] = input;
          map.matrix.push_back({.row = key, .column = key, .laplacians = 1});
        }
        of_node.push_back(at_place->second);
      }
      const std::map<int, Expr> images = made(std::move(map), keys, from);
      values = algebra::Rewriting([&](Expr node) {
        const auto at_found = std::ranges::find(found, node);
        if (at_found == found.end()) return node;
        const Expr image = images.at(of_node[static_cast<std::size_t>(at_found - found.begin())]);
        const Expr argument = node.arg(0);
        return argument.is(Op::Load) ? algebra::shift(image, argument->offset) : image;
      })(values);
    }
    return values;
  }

  static bool is_spectral(Expr node) {
    return node.is(Op::Stencil) && node->arena->stencil_data(node->index).spectral;
  }

  /// c of c*dt*A, where the expression holds the name of a linear part of the head.
  std::optional<double> weight_of_operator(const dsl::Expr& expr, std::size_t& equation,
                                           std::size_t& part) {
    const Expr dt = arena_.symbol("line:dt"), op = arena_.symbol("line:A");
    bool found = false;
    Meaning meaning;
    meaning.name = [&](const dsl::Expr& at) {
      if (at.text == "dt") return scalar_value(dt);
      for (std::size_t e = 0; e < from_.head.parts.size(); ++e)
        for (std::size_t p = 0; p < from_.head.parts[e].size(); ++p) {
          const Part& candidate = from_.head.parts[e][p];
          if (candidate.kind != Part::Kind::Linear || candidate.name != at.text) continue;
          found = true;
          equation = e, part = p;
          return scalar_value(op);
        }
      if (const auto option = options_.find(at.text); option != options_.end())
        return option->second;
      throw ArithmeticError{at.span, ""};
    };
    meaning.call = [](const dsl::Expr&, Value&) { return false; };
    Value value;
    try {
      value = evaluate(expr, meaning, arena_);
    } catch (const ArithmeticError&) {
      if (!found) return std::nullopt;
    }
    if (!found) return std::nullopt;
    const auto weight = value.scalar ? algebra::constant(value.scalar / (dt * op)) : std::nullopt;
    if (!weight)
      throw ArithmeticError{expr.span,
                            "a function of an operator takes a number times dt times it"};
    return static_cast<double>(weight->real);
  }

  /// exp(c*dt*A, x), phi1(c*dt*A, x), phi2(c*dt*A, x), and exp(c*w(x), x).
  Value exponential(const dsl::Expr& at_text) {
    using Function = program::FourierMap::Function;
    std::size_t e = 0, p = 0;
    const auto weight = weight_of_operator(*at_text.args[0], e, p);
    if (!weight) return multiplied(at_text);
    Value x = evaluate(*at_text.args[1], meaning_, arena_);
    if (x.group != static_cast<int>(e))
      throw ArithmeticError{at_text.span, "the operator acts on variables of another group"};
    if (!maps_) throw ArithmeticError{at_text.span, "a function of an operator"};
    const bool second = at_text.text == "phi2";
    program::FourierMap map;
    map.name = at_text.text;
    map.function = second                   ? Function::Phi2
                   : at_text.text == "phi1" ? Function::Phi1
                                            : Function::Exp;
    map.scale = *weight * weight_ * from_.system.dt;
    const std::vector<int>& arrays = group(x.group).arrays;
    std::map<int, std::vector<WaveTerm>> rows;
    std::set<int> taking_part;
    for (const auto& [array, share] : shares_[e][p]) {
      if (share.is_zero()) continue;
      rows[array] = *wave_terms(from_.system, share, arrays);
      taking_part.insert(array);
      for (const WaveTerm& term : rows[array]) taking_part.insert(term.array);
    }
    const std::vector<int> keys(taking_part.begin(), taking_part.end());
    const auto place = [&](int array) {
      return static_cast<int>(std::ranges::lower_bound(keys, array) - keys.begin());
    };
    for (const auto& [array, terms] : rows)
      for (const WaveTerm& term : terms) {
        program::FourierMap::Term own{
            place(array), place(term.array), term.coefficient, {}, term.laplacians};
        for (std::size_t a = 0; a < 4; ++a) own.offset[a] = term.offset.d[a];
        map.matrix.push_back(own);
      }
    Value result = x;
    if (!keys.empty()) {
      std::map<int, Expr> from;
      for (const int key : keys)
        from[key] = stored(x.arrays.at(key), name_of(from_.system, key) + "_in");
      for (const auto& [array, image] : made(std::move(map), keys, from))
        result.arrays[array] = image;
    }
    if (!second) return result;
    const Expr half = arena_.rational(1, 2);  // phi2(0): what the operator does not touch
    for (auto& [array, value] : result.arrays)
      if (!taking_part.contains(array)) value = half * value;
    for (auto& [name, value] : result.scalars)
      if (name != kUnit) value = half * value;
    return result;
  }

  /// exp(c*w(x), x): each field times the exponential of its number.
  Value multiplied(const dsl::Expr& at_text) {
    const Value w = evaluate(*at_text.args[0], meaning_, arena_);
    Value result = evaluate(*at_text.args[1], meaning_, arena_);
    if (at_text.text != "exp" || w.group < 0 || w.group != result.group)
      throw ArithmeticError{at_text.span,
                            "it takes a linear part of the head, or multiples and their variable"};
    const std::map<int, Expr> x = result.arrays;
    std::set<int> imaginary;
    for (const auto& [u, v] : from_.pairs) imaginary.insert(v);
    for (const auto& [u, number] : w.arrays) {
      if (imaginary.contains(u)) continue;
      const Expr size = arena_.make(Op::Exp, {number});
      const auto pair = from_.pairs.find(u);
      if (pair == from_.pairs.end()) {
        result.arrays[u] = size * x.at(u);
        continue;
      }
      const int v = pair->second;
      const Expr angle = w.arrays.at(v);
      const Expr c = size * arena_.make(Op::Cos, {angle}), s = size * arena_.make(Op::Sin, {angle});
      result.arrays[u] = c * x.at(u) - s * x.at(v);
      result.arrays[v] = s * x.at(u) + c * x.at(v);
    }
    for (auto& [name, value] : result.scalars)
      if (name != kUnit) value = value + w.scalars.at(name);
    return result;
  }

  /// The blocks as parts of the step, with memory for what later ones read.
  void finish_parts(Wanted last, Stepping& result) {
    parts_.push_back({std::make_unique<Block>(*block_), {}});
    map_into_state(last);
    std::vector<Wanted> wanted(parts_.size());
    wanted.back() = last;
    std::map<int, std::pair<std::size_t, std::size_t>> arrays;  // where they are made
    std::map<std::string, std::pair<std::size_t, std::size_t>> slots;
    for (std::size_t b = 0; b < parts_.size(); ++b) {
      const auto& items = parts_[b].block->items();
      for (std::size_t i = 0; i < items.size(); ++i) {
        if (items[i].kind == Item::Kind::Array)
          arrays[items[i].array] = {b, i};
        else
          slots[items[i].name] = {b, i};
      }
    }
    std::set<std::pair<std::size_t, std::size_t>> met;
    const std::function<void(Expr, std::size_t)> need = [&](Expr value, std::size_t here) {
      std::vector<std::pair<std::size_t, std::size_t>> open;
      algebra::visit(value, [&](Expr node) {
        if (node.is(Op::Load)) {
          const auto made_at = arrays.find(node->index);
          if (made_at == arrays.end()) return;
          const std::size_t b = made_at->second.first;
          if (b < here) wanted[b].arrays[node->index] = arena_.load(node->index);
          open.push_back(made_at->second);
        } else if (node.is(Op::Symbol)) {
          const auto made_at = slots.find(node->name);
          if (made_at == slots.end()) return;
          const std::size_t b = made_at->second.first;
          if (b < here && std::ranges::count(wanted[b].slots, node->name) == 0)
            wanted[b].slots.push_back(node->name);
          open.push_back(made_at->second);
        }
      });
      for (const auto& at_item : open)
        if (met.insert(at_item).second)
          need(parts_[at_item.first].block->items()[at_item.second].value, at_item.first);
    };
    for (const auto& [array, value] : last.arrays) need(value, parts_.size() - 1);
    for (const std::string& slot : last.slots) need(arena_.symbol(slot), parts_.size() - 1);
    for (std::size_t b = 0; b < parts_.size(); ++b)
      for (const ArrayMap& map : parts_[b].maps) {
        for (const int array : map.from) need(arena_.load(array), b + 1);
        for (const int array : map.to) allocate(array, "mapped");
      }
    for (std::size_t b = 0; b < parts_.size(); ++b)
      for (const auto& [array, value] : wanted[b].arrays)
        if (b + 1 < parts_.size())
          allocate(array, parts_[b].block->items()[arrays.at(array).second].name);
    for (std::size_t b = 0; b + 1 < parts_.size(); ++b) {
      wanted[b].name = "part_" + std::to_string(b + 1);
      FluxPart& part = result.parts.emplace_back();
      part.sweeps = make_site_loops(*parts_[b].block, wanted[b]);
      part.maps = parts_[b].maps;
    }
    wanted.back().name = "last_part";
    result.sweeps = make_site_loops(*parts_.back().block, wanted.back());
    result.in_order = true;
    std::vector<int> order;
    for (std::size_t b = 0; b < result.parts.size(); ++b) order.push_back(static_cast<int>(b));
    result.cycle = {order};
    const auto finish = finish_of(state_);
    result.finish.insert(result.finish.end(), finish.begin(), finish.end());
  }

  void allocate(int array, const std::string& name) {
    Storage& storage = block_->storage();
    if (storage.allocated(array)) return;
    program::Buffer buffer;
    buffer.name = name;
    buffer.precision = from_.system.numerics.store;
    storage.allocate(array, buffer);
  }

  /// Results of the last maps that are the new state are written there at once.
  void map_into_state(Wanted& last) {
    const auto& items = parts_.back().block->items();
    const bool only_scalars = std::ranges::all_of(
        items, [](const Item& item) { return item.kind == Item::Kind::Scalar; });
    if (!only_scalars || parts_.size() < 2) return;
    ArrayMap& map = parts_[parts_.size() - 2].maps.back();
    std::erase_if(last.arrays, [&](const auto& entry) {
      const auto& [array, value] = entry;
      const auto at_place = std::ranges::find(map.to, value->index);
      if (at_place == map.to.end()) return false;
      *at_place = array;
      return true;
    });
  }

  /// A hole of the head applied to what stands in the body, or `d(g(x), x)` of one, or a function
  /// of the model.
  bool call(const dsl::Expr& at_text, Value& result) {
    const bool function = at_text.text == "exp" || at_text.text == "phi1" || at_text.text == "phi2";
    if (function && at_text.args.size() == 2) {
      result = exponential(at_text);
      return true;
    }
    const bool slope = at_text.text == "d" && at_text.args.size() == 2 &&
                       at_text.args[0]->kind == ExprKind::Call &&
                       at_text.args[1]->kind == ExprKind::Name;
    const dsl::Expr& hole = slope ? *at_text.args[0] : at_text;
    for (std::size_t e = 0; e < from_.head.parts.size(); ++e) {
      for (std::size_t p = 0; p < from_.head.parts[e].size(); ++p) {
        const Part& part = from_.head.parts[e][p];
        const bool callable = part.kind == Part::Kind::Hole || part.kind == Part::Kind::Cross ||
                              part.kind == Part::Kind::Multiple ||
                              (part.kind == Part::Kind::Noise && !part.arguments.empty());
        if (!callable || part.name != hole.text) continue;
        if (slope && from_.head.index(at_text.args[1]->text) != static_cast<int>(e)) {
          throw ArithmeticError{at_text.span, "a hole is differentiated by its own variable"};
        }
        result = applied(hole, e, p, slope);
        return true;
      }
    }
    const auto own = from_.integrator.functions.find(at_text.text);
    if (own == from_.integrator.functions.end()) return false;
    std::map<std::string, Value> arguments;
    for (std::size_t i = 0; i < at_text.args.size(); ++i)
      arguments[own->second.parameters[i]] = evaluate(*at_text.args[i], meaning_, arena_);
    const auto* outer = std::exchange(arguments_, &arguments);
    result = evaluate(*own->second.value, meaning_, arena_);
    arguments_ = outer;
    return true;
  }

  /// `slope`: the derivative of each member by its own variable.
  Value applied(const dsl::Expr& at_text, std::size_t e, std::size_t p, bool slope = false) {
    const Part& part = from_.head.parts[e][p];
    if (at_text.args.size() != part.arguments.size()) {
      throw errors::wrong_arguments(at_text.span, part.name,
                                    "it takes " + std::to_string(part.arguments.size()) +
                                        ", here are " + std::to_string(at_text.args.size()));
    }
    State there = state_;
    for (std::size_t i = 0; i < part.arguments.size(); ++i) {
      const int argument = from_.head.index(part.arguments[i]);
      // Time is a member of the group that steps it, so an argument `t + dt` adds nothing.
      if (argument < 0 && part.arguments.size() > 1) continue;
      const Value value = evaluate(*at_text.args[i], meaning_, arena_);
      if (argument < 0) {
        if (value.group >= 0) {
          throw errors::wrong_arguments(at_text.args[i]->span, part.name, "its argument is a time");
        }
        const auto time = there.scalars.find(from_.system.time);
        if (time != there.scalars.end()) {
          time->second = block_->scalar(from_.system.time + "_there", value.scalar);
        }
        continue;
      }
      if (value.group != argument) {
        throw errors::wrong_arguments(at_text.args[i]->span, part.name,
                                      "argument " + std::to_string(i + 1) +
                                          " is not of the shape of `" + part.arguments[i] + "`");
      }
      for (const auto& [array, expr] : value.arrays) {
        const bool number = links_.holds_coordinate(array) && expr.is_number();
        there.arrays[array] =
            number ? expr : block_->array(name_of(from_.system, array) + "_there", expr);
      }
      for (const auto& [name, expr] : value.scalars) {
        if (name != kUnit) there.scalars[name] = block_->scalar(name + "_there", expr);
      }
    }
    const State coordinates = there;
    there = links_.closed(*block_, coordinates);
    const auto walls = with_fluxes(*block_, there, recoveries_);
    Value result;
    result.group = static_cast<int>(e);
    std::vector<Expr> values;
    for (const auto& [array, expr] : shares_[e][p]) {
      const Expr what = slope ? algebra::local_derivative(expr, arena_.load(array)) : expr;
      values.push_back(walls(at(there, what)));
    }
    // The background's rate is added once, with the first hole.
    const bool first = first_hole(e) == p && !slope;
    for (const std::string& name : group(result.group).scalars) {
      const auto scalar =
          std::ranges::find(from_.system.scalars, name, &physics::ScalarVariable::symbol);
      values.push_back(first ? walls(at(there, scalar->rate)) : arena_.integer(0));
    }
    values = transformed(std::move(values));
    auto value = values.begin();
    for (const auto& [array, expr] : shares_[e][p]) result.arrays[array] = *value++;
    links_.to_coordinates(*block_, coordinates, there, result.arrays);
    for (auto& [array, rate] : result.arrays)
      if (!links_.holds_nothing(array))
        rate = block_->array("rate_" + name_of(from_.system, array), rate);
    for (const std::string& name : group(result.group).scalars)
      result.scalars[name] = block_->scalar("rate_" + name, *value++);
    result.scalars[kUnit] = arena_.integer(1);
    return result;
  }

  std::size_t first_hole(std::size_t e) const {
    const auto& parts = from_.head.parts[e];
    auto found = std::ranges::find(parts, Part::Kind::Hole, &Part::kind);
    if (found == parts.end()) found = std::ranges::find(parts, Part::Kind::Multiple, &Part::kind);
    return static_cast<std::size_t>(found - parts.begin());
  }

  const Ingredients& from_;
  const Shares& shares_;
  Arena& arena_;
  Block* block_;
  bool maps_;
  ChartedLinks links_;
  std::vector<BlockPart> parts_;
  std::unique_ptr<Block> own_;  ///< after the first maps
  State state_;
  Recoveries recoveries_;
  Meaning meaning_;
  Expr dt_;
  double weight_ = 1;  ///< of the substep of a composition
  int draws_ = 0;
  std::map<std::string, Value> locals_, options_;
  const std::map<std::string, Value>* arguments_ = nullptr;  ///< of the model's function called
};

}  // namespace

std::optional<Stepping> make_body_step(const Ingredients& from, const Shares& shares, Slots& slots,
                                       Storage& storage, dsl::Diagnostics& diagnostics) {
  Block block(from.system, slots, storage);
  return BodyStep(from, shares, block, makes_maps(from.system, from.head)).make(diagnostics);
}

bool makes_maps(const physics::System& system, const Head& head) {
  for (const std::vector<Part>& parts : head.parts)
    for (const Part& part : parts)
      if (part.kind == Part::Kind::Linear) return true;
  const auto spectral = [](Expr node) {
    return node.is(Op::Stencil) && node->arena->stencil_data(node->index).spectral;
  };
  return std::ranges::any_of(system.variables, [&](const physics::Variable& v) {
    return algebra::contains(v.rate, spectral);
  });
}

std::optional<BodyResult> run_body(const Ingredients& from, const Shares& shares, Block& block,
                                   dsl::Diagnostics& diagnostics) {
  BodyStep step(from, shares, block);
  if (!step.run(diagnostics)) return std::nullopt;
  return BodyResult{step.state(), step.draws()};
}

}  // namespace vphi::schedule
