#include "compiler/physics/starts/gauss_projection.hpp"

#include <algorithm>
#include <set>

#include "compiler/algebra/ops.hpp"
#include "compiler/algebra/transform.hpp"
#include "compiler/physics/chains/link_field.hpp"
#include "compiler/physics/lower/calculus.hpp"
#include "compiler/physics/starts/init_errors.hpp"
#include "compiler/text/solver.hpp"

namespace vphi::physics {

namespace {

using algebra::Op;

class MomentumProjection {
 public:
  MomentumProjection(const Program& d, const std::vector<GeneratorLaw>& laws, dsl::Span span)
      : d_(d), arena_(d.arena()), laws_(laws), span_(span) {
    for (const GeneratorLaw& law : laws) {
      momenta_.insert(law.electric.begin(), law.electric.end());
      for (const auto& [array, change] : law.rotation) momenta_.insert(array);
      system_.arrays.push_back(d.new_array());
    }
  }

  Projected make(const std::function<Expr(Expr)>& in_program,
                 const std::function<Expr(int, Expr)>& stored) {
    Projected result;
    LinearMap::Stage stage;
    for (const auto& [array, change] : changes()) {
      stage.arrays.push_back(d_.new_array());
      stage.values.push_back(in_program(change));
      instead_[array] = stage.arrays.back();
      result.change[array] = stored(array, change);
    }
    Expr size = arena_.integer(0);
    for (const GeneratorLaw& law : laws_) {
      system_.op.image.push_back(in_program(-of_changes(law.law)));
      system_.source.push_back(in_program(law.law));
      for (const Expr read : algebra::reads(law.law))
        if (momentum(read))
          size = size + algebra::pow(algebra::local_derivative(law.law, read) * read, 2);
    }
    result.size = in_program(size);
    system_.op.stages.push_back(std::move(stage));
    choose_solver();
    result.system = std::move(system_);
    return result;
  }

 private:
  bool momentum(Expr node) const { return node.is(Op::Load) && momenta_.contains(node->index); }

  /// -K^-1 L^T chi, by momentum: L^T chi is the derivative of the total of chi law.
  std::map<int, Expr> changes() const {
    Expr product = arena_.integer(0);
    for (std::size_t g = 0; g < laws_.size(); ++g)
      product = product + arena_.load(system_.arrays[g]) * laws_[g].law;
    std::map<int, Expr> result;
    for (const int array : momenta_) {
      const Expr velocity = hamiltonian_force(d_, d_.hamiltonian_density, array, span_);
      const Expr weight = algebra::local_derivative(velocity, arena_.load(array));
      if (weight.is_zero())
        d_.fail(errors::gauss_not_obeyed(span_, "H is not quadratic in a momentum",
                                         "start E and momenta by formulas that obey the law"));
      result[array] =
          where_it_moves(array, -(hamiltonian_force(d_, product, array, span_) / weight));
    }
    return result;
  }

  /// The change of a momentum, which for E is 0 at links that stay.
  Expr where_it_moves(int momentum, Expr change) const {
    for (const GeneratorLaw& law : laws_) {
      const auto found = std::ranges::find(law.electric, momentum);
      if (found == law.electric.end()) continue;
      const auto axis = static_cast<int>(found - law.electric.begin());
      return physics::where_it_moves(d_, *law.links, axis, change, arena_.integer(0));
    }
    return change;
  }

  /// A law with the stored changes in the place of the momenta.
  Expr of_changes(Expr law) const {
    return algebra::rewrite(law, [&](Expr node) {
      return momentum(node) ? arena_.load(instead_.at(node->index), node->offset, node->span)
                            : node;
    });
  }

  void choose_solver() {
    system_.name = "Gauss's law";
    system_.iterations = "solve_iterations_gauss";
    system_.residual = "solve_residual_gauss";
    system_.rows = static_cast<int>(laws_.size());
    system_.span = span_;
    system_.positive = system_.at_start = system_.wide = true;
    system_.solver = text::singular_text(d_.resolved);
    system_.options = {{"tol", arena_.real(1e-14L)},
                       {"max", arena_.integer(20000)},
                       {text::kCancelled, arena_.symbol(GaussProjection::kSize)}};
  }

  const Program& d_;
  Arena& arena_;
  const std::vector<GeneratorLaw>& laws_;
  dsl::Span span_;
  std::set<int> momenta_;
  std::map<int, int> instead_;  ///< momentum -> the array of its change
  LinearSystem system_;
};

}  // namespace

Projected gauss_projection(const Program& d, const std::vector<GeneratorLaw>& laws, dsl::Span span,
                           const std::function<Expr(Expr)>& in_program,
                           const std::function<Expr(int, Expr)>& stored) {
  return MomentumProjection(d, laws, span).make(in_program, stored);
}

}  // namespace vphi::physics
