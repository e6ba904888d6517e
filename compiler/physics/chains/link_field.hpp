// Links of a gauge field as matrices of Loads.
//
// Where links end at the box (`boundary(t) = open`), the one from the last site to the first is the
// matrix 0, whatever is stored: products along paths through it are 0, and so are loops, staples,
// forces and hops. What the start stores of it stays. With `fixed` the links between sites of the
// first plane stay too, and those of the last; all else reads them as any other link.
#pragma once

#include "compiler/gauge/link_paths.hpp"
#include "compiler/physics/stages/program.hpp"

namespace vphi::physics {

/// A function that gives the matrix of each link of the field from its stored numbers; each is made
/// once. It keeps references to the arena of `d` and to the field.
gauge::LinkOf links_of(const Declared& d, const StateField& field);

/// Whether one of these links, seen from the site, goes from the last site to the first along an
/// axis on which links end; null: none does at any site.
Expr leaves_box(const Declared& d, const StateField& field,
                const std::vector<gauge::LinkAt>& links);

/// `value` where the link of the site along `axis` is in the box, else `otherwise`.
Expr in_box(const Declared& d, const StateField& field, int axis, Expr value, Expr otherwise);

/// Whether links between sites of the first plane across `axis` stay as they start, and those of
/// the last.
bool held_across(const StateField& field, int axis);
/// Where the link of a site along `axis` stays as it starts: outside of the box, or in a plane that
/// is held; null: nowhere.
Expr stays(const Declared& d, const StateField& field, int axis);
/// Whether the site is in a plane that is held; null: none is.
Expr in_held_plane(const Declared& d, const StateField& field);
/// `value` where the link of the site along `axis` moves, else `otherwise`.
Expr where_it_moves(const Declared& d, const StateField& field, int axis, Expr value,
                    Expr otherwise);
/// The force or rate of a link along `axis`: 0 in planes that are held. Outside of the box it is 0
/// already.
Expr of_moving(const Declared& d, const StateField& field, int axis, Expr rate);
/// The number of links along `axis` that move.
std::int64_t moving_links(const Declared& d, const StateField& field, int axis);

/// Keeps what is stored of links that stay: no update changes it.
void keep_links_that_stay(const Program& d, System& system);

}  // namespace vphi::physics
