#include "compiler/physics/spinors/site_blocks.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "compiler/algebra/transform.hpp"
#include "compiler/gauge/cholesky.hpp"
#include "compiler/physics/spinors/even_odd.hpp"

namespace vphi::physics {

namespace {

using gauge::Complex;
using gauge::Matrix;

bool has_links(const SpinorTerm& term) { return !term.path.word.empty(); }

/// Spins that some term mixes, directly or by others.
std::vector<std::vector<int>> mixed_spins(const SpinorForm& local, int spins) {
  std::vector<int> block(static_cast<std::size_t>(spins));
  for (int s = 0; s < spins; ++s) block[static_cast<std::size_t>(s)] = s;
  const auto join = [&](int a, int b) {
    const int from = block[static_cast<std::size_t>(b)], to = block[static_cast<std::size_t>(a)];
    std::ranges::replace(block, from, to);
  };
  for (const SpinorTerm& term : local.terms)
    for (int s = 0; s < spins; ++s)
      for (int t = 0; t < spins; ++t)
        if (!term.spin.at(s, t).zero()) join(s, t);
  std::vector<std::vector<int>> blocks;
  for (int s = 0; s < spins; ++s) {
    std::vector<int> same;
    for (int t = 0; t < spins; ++t)
      if (block[static_cast<std::size_t>(t)] == s) same.push_back(t);
    if (!same.empty()) blocks.push_back(std::move(same));
  }
  return blocks;
}

/// Terms of one spin matrix and the links of one field: their sum is a matrix of colour.
struct Group {
  gauge::SpinMatrix spin;
  int of = 0;
  std::vector<gauge::WeightedLinkPath> paths;
};

Matrix local_matrix(Arena& arena, const SiteBlocks& b, const gauge::LinkOf& link) {
  const int n = b.spins * b.colours;
  Matrix r = gauge::zero(arena, n, n);
  const auto add = [&](const gauge::SpinMatrix& spin, const Matrix& colour) {
    for (int s = 0; s < b.spins; ++s)
      for (int t = 0; t < b.spins; ++t)
        for (int i = 0; i < b.colours && !spin.at(s, t).zero(); ++i)
          for (int j = 0; j < b.colours; ++j) {
            Complex& entry = r.at(s * b.colours + i, t * b.colours + j);
            entry = gauge::plus(entry, gauge::times(spin.at(s, t), colour.at(i, j)));
          }
  };
  std::vector<Group> groups;
  for (const SpinorTerm& term : b.local.terms) {
    if (!has_links(term)) {
      add(term.spin, gauge::times(term.weight, gauge::identity(arena, b.colours)));
      continue;
    }
    auto own = std::ranges::find_if(
        groups, [&](const Group& g) { return g.spin == term.spin && g.of == term.path.of; });
    if (own == groups.end()) own = groups.insert(own, {term.spin, term.path.of, {}});
    own->paths.push_back({term.weight, term.path.word, term.path.start});
  }
  for (const Group& group : groups)
    add(group.spin, gauge::sum_of_paths(group.paths, gauge::links_of_field(link, group.of)));
  return r;
}

int row_of(const SiteBlocks& b, const std::vector<int>& block, int row) {
  return block[static_cast<std::size_t>(row / b.colours)] * b.colours + row % b.colours;
}

int size_of(const SiteBlocks& b, const std::vector<int>& block) {
  return static_cast<int>(block.size()) * b.colours;
}

/// The block number k from its arrays.
Matrix loaded(Arena& arena, const SiteBlocks& b, std::size_t k) {
  std::size_t next = 0;
  for (std::size_t i = 0; i < k; ++i) {
    const auto n = static_cast<std::size_t>(size_of(b, b.blocks[i]));
    next += 2 * n * n;
  }
  const int n = size_of(b, b.blocks[k]);
  Matrix m{n, n, {}};
  for (int i = 0; i < n * n; ++i, next += 2)
    m.parts.push_back({arena.load(b.arrays[next]), arena.load(b.arrays[next + 1])});
  return m;
}

/// The matrix of colour between two spins of one block.
Matrix held_matrix(Arena& arena, const SiteBlocks& b, int s, int t) {
  for (std::size_t k = 0; k < b.blocks.size(); ++k) {
    const std::vector<int>& block = b.blocks[k];
    const auto row = std::ranges::find(block, s) - block.begin(),
               column = std::ranges::find(block, t) - block.begin();
    if (row == std::ssize(block) || column == std::ssize(block)) continue;
    const Matrix all = loaded(arena, b, k);
    Matrix m{b.colours, b.colours, {}};
    for (int i = 0; i < b.colours; ++i)
      for (int j = 0; j < b.colours; ++j)
        m.parts.push_back(all.at(static_cast<int>(row) * b.colours + i,
                                 static_cast<int>(column) * b.colours + j));
    return m;
  }
  return gauge::zero(arena, b.colours, b.colours);
}

void put(NewValues& to, const std::vector<int>& arrays, const std::vector<Expr>& values) {
  for (std::size_t i = 0; i < values.size(); ++i) to.emplace_back(arrays[i], values[i]);
}

void append(std::vector<Expr>& to, const Matrix& m) {
  for (const Complex& part : m.parts) to.insert(to.end(), {part.re, part.im});
}

/// T_S of the blocks of R^-1.
Matrix trace_of(Arena& arena, const SiteBlocks& b, const std::vector<Matrix>& inverse,
                const gauge::SpinMatrix& spin) {
  Matrix trace = gauge::zero(arena, b.colours, b.colours);
  for (std::size_t k = 0; k < b.blocks.size(); ++k) {
    const std::vector<int>& block = b.blocks[k];
    for (std::size_t s = 0; s < block.size(); ++s)
      for (std::size_t t = 0; t < block.size(); ++t)
        for (int i = 0; i < b.colours; ++i)
          for (int j = 0; j < b.colours; ++j) {
            const Complex entry = inverse[k].at(static_cast<int>(s) * b.colours + i,
                                                static_cast<int>(t) * b.colours + j);
            Complex& sum = trace.at(i, j);
            sum = gauge::plus(sum, gauge::times(spin.at(block[t], block[s]), entry));
          }
  }
  return trace;
}

}  // namespace

bool holds_fields(const SpinorTerm& term) {
  return std::ranges::any_of(std::array{term.weight.re, term.weight.im}, [](Expr part) {
    return algebra::contains(part, [](Expr node) { return node.is(algebra::Op::Load); });
  });
}

SiteBlocks site_blocks(const Declared& d, const SpinorForm& local, int colours) {
  SiteBlocks b{local, d.spins, colours, mixed_spins(local, d.spins), {}, -1, {}, {}};
  for (const std::vector<int>& block : b.blocks)
    for (int i = 0; i < 2 * size_of(b, block) * size_of(b, block); ++i)
      b.arrays.push_back(d.new_array());
  b.logarithm = d.new_array();
  for (const SpinorTerm& term : local.terms)
    if ((has_links(term) || holds_fields(term)) &&
        std::ranges::find(b.kinds, term.spin) == b.kinds.end())
      b.kinds.push_back(term.spin);
  for (std::size_t k = 0; k < b.kinds.size(); ++k) {
    std::vector<int>& own = b.traces.emplace_back();
    for (int i = 0; i < 2 * colours * colours; ++i) own.push_back(d.new_array());
  }
  return b;
}

std::vector<int> rows_of_blocks(const SiteBlocks& b) {
  std::vector<int> rows;
  for (const std::vector<int>& block : b.blocks) rows.push_back(size_of(b, block));
  return rows;
}

NewValues local_values(const Declared& d, const SiteBlocks& b, const gauge::LinkOf& link) {
  const Matrix r = local_matrix(d.arena(), b, gauge::remembered(link));
  std::vector<Expr> values;
  for (const std::vector<int>& block : b.blocks)
    for (int i = 0; i < size_of(b, block); ++i)
      for (int j = 0; j < size_of(b, block); ++j) {
        const Complex& entry = r.at(row_of(b, block, i), row_of(b, block, j));
        values.insert(values.end(), {entry.re, entry.im});
      }
  NewValues result;
  put(result, b.arrays, values);
  return result;
}

NewValues inverse_values(const Declared& d, const SiteBlocks& b) {
  Arena& arena = d.arena();
  std::vector<Expr> local, inverse, traces;
  std::vector<Matrix> blocks;
  Expr logarithm;
  for (std::size_t k = 0; k < b.blocks.size(); ++k) {
    const Matrix r = loaded(arena, b, k);
    const gauge::Inverted own = gauge::inverted(r);
    append(local, r);
    append(inverse, own.inverse);
    blocks.push_back(own.inverse);
    logarithm = logarithm ? gauge::plus(logarithm, own.logarithm) : own.logarithm;
  }
  for (const gauge::SpinMatrix& spin : b.kinds) append(traces, trace_of(arena, b, blocks, spin));
  const auto nothing = [&](std::size_t n) { return std::vector<Expr>(n, arena.integer(0)); };
  NewValues result;
  put(result, b.arrays, at_odd(d, local, inverse));
  put(result, {b.logarithm}, at_odd(d, nothing(1), {logarithm}));
  std::vector<int> arrays;
  for (const std::vector<int>& own : b.traces) arrays.insert(arrays.end(), own.begin(), own.end());
  put(result, arrays, at_odd(d, nothing(arrays.size()), traces));
  return result;
}

SpinorForm held_form(Arena& arena, const SiteBlocks& b, int first, bool adjoint) {
  SpinorForm form;
  for (const std::vector<int>& block : b.blocks)
    for (const int s : block)
      for (const int t : block) {
        SpinorTerm term{{}, {arena.integer(1), arena.integer(0)}, {}, {}};
        term.spin.at(s, t) = {1, 0};
        term.path.word = {{t, false}};
        term.path.of = first + s + (adjoint ? kHeldFields / 2 : 0);
        form.terms.push_back(std::move(term));
      }
  return form;
}

gauge::LinkOf with_blocks(Arena& arena, gauge::LinkOf link, const SiteBlocks& b, int first) {
  return [&arena, link = std::move(link), &b, first](int axis, algebra::Offset at) {
    const int field = axis / gauge::kOtherLinks - first, t = axis % gauge::kOtherLinks;
    if (field < 0 || field >= kHeldFields) return link(axis, at);
    const int s = field % (kHeldFields / 2);
    return field == s ? held_matrix(arena, b, s, t) : gauge::adjoint(held_matrix(arena, b, t, s));
  };
}

Expr weighed_fields(const Declared& d, const SiteBlocks& b, const gauge::LinkOf& link) {
  Arena& arena = d.arena();
  Expr sum;
  for (const SpinorTerm& term : b.local.terms) {
    if (!holds_fields(term)) continue;
    Matrix own = trace_at(arena, b, term.spin, {});
    if (has_links(term))
      own = gauge::times(
          gauge::sum_of_paths(
              {{{arena.integer(1), arena.integer(0)}, term.path.word, term.path.start}},
              gauge::links_of_field(link, term.path.of)),
          own);
    const Expr part = gauge::times(term.weight, gauge::trace(own)).re;
    sum = sum ? gauge::plus(sum, part) : part;
  }
  return sum;
}

gauge::Matrix trace_at(Arena& arena, const SiteBlocks& b, const gauge::SpinMatrix& spin,
                       algebra::Offset at) {
  const auto kind = std::ranges::find(b.kinds, spin);
  if (kind == b.kinds.end()) return {};
  const std::vector<int>& arrays = b.traces[static_cast<std::size_t>(kind - b.kinds.begin())];
  Matrix m{b.colours, b.colours, {}};
  for (std::size_t i = 0; i < arrays.size(); i += 2)
    m.parts.push_back({arena.load(arrays[i], at), arena.load(arrays[i + 1], at)});
  return m;
}

}  // namespace vphi::physics
