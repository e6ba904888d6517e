#include "compiler/emit/memory/memory_layout.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>

#include "compiler/algebra/transform.hpp"
#include "compiler/emit/dialects/dialect.hpp"

namespace vphi::emit {
namespace {

using algebra::Expr;
using algebra::Op;

constexpr int kBytesTogether = 16;

/// How the kernels use an array: the kernel, what it does, and the offsets at which it is read.
/// Arrays with equal uses may share their memory.
struct Use {
  std::set<std::tuple<std::size_t, bool, bool>> kernels;
  std::set<std::tuple<std::size_t, int, int, int, int>> offsets;
  bool plain = false;  ///< another pattern than one site a thread needs it as it is
  friend bool operator==(const Use&, const Use&) = default;
};

/// Neighbours have different classes, where the extents allow it.
program::SiteOrder order_of(const kernel::Kernel& kernel) {
  program::SiteOrder order;
  for (int axis = 0; axis < kernel.dims; ++axis)
    if (kernel.extent[static_cast<std::size_t>(axis)] % 2 != 0) return order;
  order.modulus = 2;
  for (int axis = 0; axis < kernel.dims; ++axis) order.weights[static_cast<std::size_t>(axis)] = 1;
  return order;
}

void see(const kernel::Kernel& kernel, std::size_t number, std::map<int, Use>& uses) {
  for (const kernel::ArrayParam& array : kernel.arrays) {
    Use& use = uses[array.array];
    use.kernels.insert({number, array.read, array.written});
    if (array.next || array.elements > 0 || kernel.along >= 0 || kernel.steps > 1 ||
        sums_pairs(kernel))
      use.plain = true;
  }
  algebra::visit(kernel.values(), [&](Expr, Expr node) {
    if (node.is(Op::Stencil))
      algebra::visit(node.arg(0), [&](Expr leaf) {
        if (leaf.is(Op::Load)) uses[leaf->index].plain = true;
      });
    if (!node.is(Op::Load)) return;
    const auto& d = node->offset.d;
    uses[node->index].offsets.insert({number, d[0], d[1], d[2], d[3]});
  });
}

/// Each array that is written has its store.
bool stored_as_written(const kernel::Kernel& kernel) {
  return std::ranges::all_of(kernel.arrays, [&](const kernel::ArrayParam& array) {
    return !array.written || std::ranges::count(kernel.stores, array.array, &kernel::Store::array);
  });
}

}  // namespace

void share_memory(std::span<const kernel::Kernel> kernels, const TargetInfo& target,
                  Bindings& bindings, program::Program& program) {
  // In fewer dimensions planes are marched through, whole vectors along x, but for the colours of
  // a Markov chain.
  constexpr int kDims = 4;
  const bool sites = program.dims == kDims || (program.chain && program.dims > 1);
  if (dialect_of(target).processor() || !sites) return;
  std::map<int, Use> uses;
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    if (!stored_as_written(kernels[k])) return;
    see(kernels[k], k, uses);
  }
  const auto buffer_of = [&](int array) -> program::Buffer& {
    const int buffer = bindings.buffer_of[static_cast<std::size_t>(array)];
    return program.buffers[static_cast<std::size_t>(buffer)];
  };
  const auto free = [&](int array) {
    const auto use = uses.find(array);
    if (use == uses.end() || use->second.plain) return false;
    const program::Buffer& buffer = buffer_of(array);
    return !buffer.doubled && buffer.file.empty();
  };
  bindings.places.assign(bindings.buffer_of.size(), {});
  const auto all = static_cast<int>(bindings.buffer_of.size());
  for (int first = 0, next = 0; first < all; first = next) {
    next = first + 1;
    if (!free(first)) continue;
    const program::Buffer& like = buffer_of(first);
    while (next < all && free(next) && uses[next] == uses[first] &&
           buffer_of(next).precision == like.precision && buffer_of(next).scratch == like.scratch)
      ++next;
    if (next - first < 2) continue;
    const int most = kBytesTogether / (like.precision == program::Precision::F32 ? 4 : 8);
    for (int home = first, lanes = 1; home < next; home += lanes) {
      for (lanes = most; lanes > next - home;) lanes /= 2;
      for (int lane = 0; lane < lanes; ++lane) {
        bindings.places[static_cast<std::size_t>(home + lane)] = {home, lane, lanes};
        program::Buffer& buffer = buffer_of(home + lane);
        buffer.home = bindings.buffer_of[static_cast<std::size_t>(home)];
        buffer.lane = lane;
        buffer.lanes = lanes;
      }
    }
  }
  bindings.order = program.order = order_of(kernels[0]);
}

}  // namespace vphi::emit
