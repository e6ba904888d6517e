// Bodies that are not compositions of flows: their lines in order.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/schedule/steps/charted_links.hpp"
#include "compiler/schedule/steps/flux.hpp"
#include "compiler/schedule/steps/step.hpp"
#include "compiler/text/arithmetic.hpp"

namespace vphi::schedule {

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
  bool run(dsl::Diagnostics& diagnostics);

  std::optional<Stepping> make(dsl::Diagnostics& diagnostics);

 private:
  using Arena = algebra::Arena;
  using Meaning = text::Meaning;
  using Value = text::Value;

  /// What the first step starts from beside the state.
  void begin(const std::vector<Item>& carried, const Wanted& step, Stepping& result);

  /// The body with a length of its own, and what follows from its error.
  void run_trial();

  /// A member of every value that is 1 in a variable: `dt/2*v` has dt/2 there, for which the
  /// background moves when v moves x.
  static constexpr const char* kUnit = "#";

  bool guarded(dsl::Diagnostics& diagnostics, const std::function<void()>& work);

  // ---- `u = u + w*dt*F(...)` as first and last line: one evaluation of F a step

  struct Joint {
    std::size_t equation = 0, part = 0;
    Expr first, last;  ///< weights
  };

  /// The weight w where a line is `u = u + w*dt*F(...)`, F a hole of u's equation at the head's own
  /// variables, u itself not among them.
  std::optional<Expr> weight_of(const Statement& line, std::size_t& equation,
                                std::size_t& part) const;

  std::optional<Joint> joined_ends() const;

  /// The last line of a step is joined with the first of the next step. It is postponed, and
  /// observers see the state with it applied.
  void run_joined(const Joint& joint, Stepping& result);

  const Group& group(int e) const { return from_.groups[static_cast<std::size_t>(e)]; }

  // ---- values of names and calls in the lines (body_values.cpp)

  Value state_of(int e) const;

  /// Reads the options of the head; values given in the model take precedence.
  void read_options();

  void run(const Statement& statement);

  Value name(const dsl::Expr& at);

  /// gamma of `gamma*v`: one coefficient for each member, at the present background.
  Value coefficient(std::size_t e, std::size_t p) const;

  /// v of `x' = v`, as what moves x.
  bool reshape(Value& value, int target) const;

  /// A new random number for each variable of the group that has noise (docs/rules.md rule 17: one
  /// for each place where `normal` stands).
  Value drawn(const dsl::Expr& at_text);

  /// Noise that reads neighbours: the random numbers of each stream are stored in an array, made at
  /// the present state.
  Expr spread(Expr noise, const std::function<Expr(int)>& number);

  /// Mean 0 and variance 1. Two and three points have the moments that weak order 1 and 2 need
  /// (Kloeden and Platen, section 14.2).
  Expr random_number(dsl::Span span);

  // ---- maps in Fourier space: the step is cut into parts, with maps between them (body_maps.cpp)

  /// What a step does up to some maps, and these.
  struct BlockPart {
    std::unique_ptr<Block> block;
    std::vector<ArrayMap> maps;
  };

  /// The map between bare Loads; later lines belong to a new block, which reads what the map gives.
  std::map<int, Expr> made(program::FourierMap map, const std::vector<int>& keys,
                           const std::map<int, Expr>& from);

  /// A value in memory as a bare Load: what a map reads.
  Expr stored(Expr value, const std::string& name);

  /// Every spectral Laplacian replaced by an array that a map fills.
  std::vector<Expr> transformed(std::vector<Expr> values);

  static bool is_spectral(Expr node);

  /// c of c*dt*A, where the expression holds the name of a linear part of the head.
  std::optional<double> weight_of_operator(const dsl::Expr& expr, std::size_t& equation,
                                           std::size_t& part);

  /// exp(c*dt*A, x), phi1(c*dt*A, x), phi2(c*dt*A, x), and exp(c*w(x), x).
  Value exponential(const dsl::Expr& at_text);

  /// exp(c*w(x), x): each field times the exponential of its number.
  Value multiplied(const dsl::Expr& at_text);

  /// The blocks as parts of the step, with memory for what later ones read.
  void finish_parts(Wanted last, Stepping& result);

  void allocate(int array, const std::string& name);

  /// Results of the last maps that are the new state are written there at once.
  void map_into_state(Wanted& last);

  // ---- calls (body_values.cpp)

  /// A hole of the head applied to what stands in the body, or `d(g(x), x)` of one, or a function
  /// of the model.
  bool call(const dsl::Expr& at_text, Value& result);

  /// `slope`: the derivative of each member by its own variable.
  Value applied(const dsl::Expr& at_text, std::size_t e, std::size_t p, bool slope = false);

  std::size_t first_hole(std::size_t e) const;

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

}  // namespace vphi::schedule
