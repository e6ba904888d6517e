// Updates of a link of Z(N), which is one of the N-th roots of unity, exp(2 pi i n/N).
//
// A link is stored as its angle 2 pi n/N, as links of U(1) are, so that loops, outputs and the sums
// of staples are those of U(1). The weight of a link U is exp(Re(U V)), V the sum of its staples.
// A heatbath draws one of the N values by their weights, whatever the present one is; a proposal of
// Metropolis is any of them, each as likely, the present one too: were it always another one, links
// of Z(2) whose flip leaves S as it is would flip every time, and signs of plaquettes that move in
// step would never part. A mirror image keeps the weight where the phase of V is that of a root or
// halfway between two; elsewhere the roots are mirrored at the nearest such phase, which depends on
// V alone, so that the image of the image is the root itself, and the image is accepted as a
// proposal of Metropolis is. All write the same N numbers in memory, so that no rounding adds up.
// Nothing here fails.
#pragma once

#include <functional>

#include "compiler/gauge/matrix.hpp"
#include "compiler/physics/chains/draws.hpp"

namespace vphi::physics {

/// The new angle.
Expr root_by_weight(Arena& arena, int roots, const gauge::Matrix& staples, Draws& draws);

/// S(proposed) - S(now) of the link's matrix, which is `now`.
using LinkIncrease = std::function<Expr(const gauge::Matrix& now, const gauge::Matrix& proposed)>;
/// The new angle of the link `u` with the angle `angle` after `hits` proposals; `accepted` grows by
/// the number of those accepted.
Expr root_by_proposals(int roots, const gauge::Matrix& u, Expr angle, std::int64_t hits,
                       const LinkIncrease& increase, Draws& draws, Expr& accepted);

/// The angle of the mirror image of the link `u` with the angle `angle`, where it is accepted.
Expr root_mirrored(int roots, const gauge::Matrix& u, Expr angle, const gauge::Matrix& staples,
                   Draws& draws);

/// One of the roots, each as likely, as a matrix of one entry.
gauge::Matrix any_root(Arena& arena, int roots, Expr uniform);

}  // namespace vphi::physics
