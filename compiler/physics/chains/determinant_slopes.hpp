// Slopes of the weights of an action's determinants by the links.
//
// With the fields X and Y of a determinant fixed, S changes with the links by sums of Re <X, dD Y>:
// for each word of links P of D by Re tr(dP M), M the outer product of X and Y over spin
// (gauge/insertions.hpp). Where a word leads to a neighbour, as in a hop, M is made where it is
// used. Where the spinor is read at the site itself, as by the loops of a clover term, M is a
// matrix of the site that every link of every such loop needs: it is summed once over the fields
// and the fractions of the action and kept in memory, in the precision of the links, by updates
// before the kicks. A loop and its reverse are one, P^+ with M is P with M^+. Numbers of these
// matrices that are equal but for their signs stand in memory once: the four leaves of a clover
// term share one antihermitian matrix, N^2 numbers. Nothing here fails.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compiler/gauge/insertions.hpp"
#include "compiler/physics/spinors/site_blocks.hpp"
#include "compiler/physics/stages/motion.hpp"

namespace vphi::physics {

/// log|det R| at even sites, which the force has beside a pair of X and Y; null: it has not.
struct LogarithmSlope {
  const SiteBlocks* blocks = nullptr;
  long double scale = 1;  ///< in units of the pair
};

class DeterminantSlopes {
 public:
  /// By number of links and axis: -dS/dt = Re tr(A U V); no parts: 0.
  using Staples = std::map<int, std::vector<gauge::Matrix>>;

  /// `link`: the links of all fields; `name`: of the action; `span`: where it is written.
  DeterminantSlopes(const Motion& d, gauge::LinkOf link, std::string name, dsl::Span span);

  /// Adds the slope of factor*(Re <left, D right> + scale*log|det R|), D the sum of `words`.
  void add(const std::vector<gauge::WordTerm>& words, const gauge::SpinorOf& left,
           const gauge::SpinorOf& right, Expr factor, LogarithmSlope log = {});

  /// The staples of all that was added. Their matrices at the sites get arrays in `memory`, and
  /// `updates` that set them where X and Y are known.
  Staples finish(std::vector<Trajectory::Memory>& memory, std::vector<Update>& updates);

 private:
  struct Loop {
    gauge::Offset from;
    gauge::Word word;
    gauge::Matrix middle;
  };
  gauge::Matrix middle(const gauge::WordTerm& term, const gauge::SpinorOf& left,
                       const gauge::SpinorOf& right, LogarithmSlope log, gauge::Offset site) const;
  void add_staples(int of, const std::vector<gauge::WordTerm>& words, const gauge::MiddleAt& middle,
                   Expr factor);
  Expr held(Expr part, std::vector<Trajectory::Memory>& memory, Update& update);

  const Motion& d_;
  const gauge::LinkOf link_;
  const std::string name_;
  const dsl::Span span_;
  Staples staples_;
  std::map<int, std::vector<Loop>> loops_;        ///< by number of links
  std::map<const algebra::Node*, int> array_of_;  ///< of numbers in memory
};

}  // namespace vphi::physics
