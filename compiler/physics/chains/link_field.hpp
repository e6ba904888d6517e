// Links of a gauge field as matrices of Loads.
//
// Where links end at the box (`boundary(t) = open`), the one from the last site to the first is the
// matrix 0, whatever is stored: products along paths through it are 0, and so are loops, staples,
// forces and hops. What the start stores of it stays.
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

/// Keeps what is stored of links outside of the box: no update changes it.
void keep_links_outside(const Program& d, System& system);

}  // namespace vphi::physics
