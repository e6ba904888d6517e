#include "compiler/algebra/expr.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <deque>
#include <functional>
#include <memory_resource>
#include <type_traits>

#include "compiler/algebra/node_map.hpp"
#include "compiler/algebra/op_cases.hpp"
#include "compiler/algebra/ops.hpp"
#include "compiler/algebra/rational.hpp"
#include "compiler/algebra/simplify.hpp"

namespace vphi::algebra {
namespace {

/// What makes two nodes equal: everything but number, arena and span.
struct Key {
  Op op = Op::Number;
  std::span<const Expr> args{};
  const Number* number = nullptr;
  std::string_view name{};
  int index = 0;
  Offset offset{};
  bool fixed_order = false;
};

Key key_of(const Node& node) {
  return {node.op,         node.args,  node.op == Op::Number ? &node.number : nullptr,
          node.name,       node.index, node.offset,
          node.fixed_order};
}

void mix(std::size_t& seed, std::size_t value) {
  seed ^= value + 0x9e3779b97f4a7c15ULL + (seed << 6) + (seed >> 2);
}

std::size_t hash(const Key& key) {
  std::size_t h = static_cast<std::size_t>(key.op) * 2 + key.fixed_order;
  for (const Expr& arg : key.args) mix(h, arg->id * 0x9e3779b97f4a7c15ULL);
  if (key.number && key.number->exact) {
    mix(h, static_cast<std::size_t>(key.number->rational.num));
    mix(h, static_cast<std::size_t>(key.number->rational.den));
  } else if (key.number) {
    mix(h, std::hash<long double>{}(key.number->real));
  }
  if (!key.name.empty()) mix(h, std::hash<std::string_view>{}(key.name));
  mix(h, static_cast<std::size_t>(key.index));
  mix(h, std::bit_cast<std::uint64_t>(key.offset.d));
  return h;
}

bool equal(const Key& a, const Key& b) {
  return a.op == b.op && a.fixed_order == b.fixed_order && a.index == b.index &&
         a.offset == b.offset && a.name == b.name && std::ranges::equal(a.args, b.args) &&
         (!a.number || same(*a.number, *b.number));
}

/// The nodes of an arena by what makes them equal. Open addressing, with each hash beside its node:
/// most searches end without a look at a node that is another one.
class NodeIndex {
 public:
  /// The node that is equal to the key; null where there is none.
  Node* find(const Key& key, std::size_t hash) const {
    return slots_.empty() ? nullptr : slots_[place(key, hash)].node;
  }
  /// Adds a node that is equal to none so far.
  void add(Node* node, std::size_t hash) {
    if (2 * (count_ + 1) > slots_.size()) grow();
    slots_[free_place(hash)] = {hash, node};
    ++count_;
  }

 private:
  struct Slot {
    std::size_t hash = 0;
    Node* node = nullptr;
  };

  std::size_t first_place(std::size_t hash) const {
    return (hash * std::uint64_t{0x9E3779B97F4A7C15} >> 20) & (slots_.size() - 1);
  }
  std::size_t place(const Key& key, std::size_t hash) const {
    std::size_t i = first_place(hash);
    while (slots_[i].node && (slots_[i].hash != hash || !equal(key, key_of(*slots_[i].node))))
      i = (i + 1) & (slots_.size() - 1);
    return i;
  }
  std::size_t free_place(std::size_t hash) const {
    std::size_t i = first_place(hash);
    while (slots_[i].node) i = (i + 1) & (slots_.size() - 1);
    return i;
  }
  void grow() {
    std::vector<Slot> old(std::max<std::size_t>(1024, 2 * slots_.size()));
    old.swap(slots_);
    for (const Slot& slot : old)
      if (slot.node) slots_[free_place(slot.hash)] = slot;
  }

  std::vector<Slot> slots_;
  std::size_t count_ = 0;
};

bool has_value_per_site(const Key& key) {
  if (key.op >= Op::Load && key.op <= Op::Uniform) return true;
  if (reduces_sites(key.op)) return false;
  return std::ranges::any_of(key.args, [](Expr arg) { return arg->per_site; });
}

}  // namespace

static_assert(std::is_trivially_destructible_v<Node>);  // their memory is given back as it is

struct Arena::State {
  std::pmr::monotonic_buffer_resource memory;  ///< of nodes and of their arguments
  std::vector<Node*> nodes;
  std::deque<Number> numbers;
  std::deque<std::string> names;
  NodeIndex index;
  std::vector<StencilData> stencils;
  std::deque<std::vector<double>> tables;
  NodeMap in_fixed_order;

  Expr intern(Arena* arena, const Key& key, dsl::Span span) {
    if (span.empty()) span = inherited_span(key.args);
    const std::size_t own_hash = hash(key);
    if (Node* found = index.find(key, own_hash)) {
      if (found->span.empty()) found->span = span;
      return Expr(found);
    }
    static const Number no_number;
    static const std::string no_name;
    void* const place = memory.allocate(sizeof(Node), alignof(Node));
    Node* const node = new (place) Node{
        .op = key.op,
        .fixed_order = key.fixed_order,
        .per_site = has_value_per_site(key),
        .settled = false,
        .id = static_cast<std::uint32_t>(nodes.size()),
        .arena = arena,
        .args = kept(key.args),
        .number = key.number ? numbers.emplace_back(*key.number) : no_number,
        .name = key.name.empty() ? no_name : names.emplace_back(key.name),
        .index = key.index,
        .offset = key.offset,
        .span = span,
    };
    nodes.push_back(node);
    index.add(node, own_hash);
    return Expr(node);
  }

  /// The arguments where they stay as long as the arena.
  std::span<const Expr> kept(std::span<const Expr> args) {
    if (args.empty()) return {};
    Expr* const place = static_cast<Expr*>(memory.allocate(args.size_bytes(), alignof(Expr)));
    std::ranges::uninitialized_copy(args, std::span(place, args.size()));
    return {place, args.size()};
  }

  /// The node as it may be changed.
  Node* own(Expr expr) { return nodes[expr->id]; }
};

Arena::Arena() : state_(std::make_unique<State>()) {}
Arena::~Arena() = default;

Expr Arena::number(const Number& value) {
  return state_->intern(this, {.op = Op::Number, .number = &value}, {});
}
Expr Arena::integer(std::int64_t value) { return number(exact(value)); }
Expr Arena::real(long double value) { return number(inexact(value)); }
Expr Arena::rational(std::int64_t num, std::int64_t den) {
  if (den == 0) return raw(Op::Mul, {integer(num), raw(Op::Pow, {integer(0), integer(-1)})});
  return number(exact(num, den));
}

Expr Arena::symbol(std::string_view name, dsl::Span span) {
  return state_->intern(this, {.op = Op::Symbol, .name = name}, span);
}
Expr Arena::load(int array, Offset offset, dsl::Span span) {
  return state_->intern(this, {.op = Op::Load, .index = array, .offset = offset}, span);
}
Expr Arena::site(int axis, Offset offset) {
  return state_->intern(this, {.op = Op::Site, .index = axis, .offset = offset}, {});
}
Expr Arena::random(Op op, int index, Offset offset, dsl::Span span) {
  return state_->intern(this, {.op = op, .index = index, .offset = offset}, span);
}

Expr Arena::stencil(int index, Expr argument, dsl::Span span) {
  return stencil_of(*this, index, argument, span);
}

Expr Arena::make(Op op, std::vector<Expr> args, dsl::Span span) {
  const auto minus_one = [this] { return integer(-1); };
  switch (op) {
    case Op::Add:
      return sum(*this, args, span);
    case Op::Mul:
      return product(*this, args, span);
    case Op::Pow:
      return power(*this, args[0], args[1], span);
    case Op::Neg:
      return product(*this, std::vector{minus_one(), args[0]}, span);
    case Op::Sub:
      return sum(*this, std::vector{args[0], make(Op::Neg, {args[1]}, span)}, span);
    case Op::Div:
      return product(*this, std::vector{args[0], power(*this, args[1], minus_one(), span)}, span);
    case Op::Sqrt:
      return power(*this, args[0], rational(1, 2), span);
    case Op::Fma:
      return sum(*this, std::vector{product(*this, std::span(args).first(2), span), args[2]}, span);
    case VPHI_DRAWS:
    case VPHI_DEVICE_FUNCTIONS:
    case VPHI_CONDITIONS:
    case VPHI_SITE_REDUCTIONS:
#include "compiler/algebra/function_cases.def"
    case Op::Number:
    case Op::Symbol:
    case Op::Load:
    case Op::Site:
    case Op::Atan2:
    case Op::Min:
    case Op::Max:
    case Op::Select:
    case Op::Lookup:
    case Op::Stencil:
    case Op::PairSum:
    case Op::Count_:
      break;
  }
  return function(*this, op, args, span);
}

Expr Arena::raw(Op op, std::vector<Expr> args, dsl::Span span) {
  const bool fixed_order = op == Op::Add || op == Op::Mul || op == Op::Pow;
  return state_->intern(this, {.op = op, .args = args, .fixed_order = fixed_order}, span);
}

Expr Arena::canonical(Op op, std::span<const Expr> args, dsl::Span span, int index) {
  return state_->intern(this, {.op = op, .args = args, .index = index}, span);
}

Expr Arena::mark(Expr expr, dsl::Span span) {
  if (!expr || expr->args.empty() || !expr->span.empty()) return expr;
  state_->own(expr)->span = span;
  return expr;
}

Expr Arena::settle(Expr expr, dsl::Span span, std::size_t since) {
  if (!expr || expr->args.empty() || expr->settled || span.empty()) return expr;
  if (!expr->span.empty() && expr->id < since) return expr;
  Node* own = state_->own(expr);
  const dsl::Span old = own->span;
  const bool narrower = !old.empty() && old.file == span.file && span.begin <= old.begin &&
                        old.end <= span.end;  // the part of this text that it comes from
  if (!narrower) own->span = span;
  own->settled = true;
  return expr;
}

NodeMap& Arena::in_fixed_order() { return state_->in_fixed_order; }

std::size_t Arena::size() const { return state_->nodes.size(); }

int Arena::add_stencil(StencilData data) {
  // One order of the points, so that equal operators are found equal.
  std::vector<std::size_t> order(data.offsets.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto position = [&](std::size_t i) {
    const auto& d = data.offsets[i].d;
    return std::array{d[3], d[2], d[1], d[0]};
  };
  std::ranges::sort(order, {}, position);
  StencilData sorted = data;
  for (std::size_t i = 0; i < order.size(); ++i) {
    sorted.offsets[i] = data.offsets[order[i]];
    sorted.weights[i] = data.weights[order[i]];
  }
  auto& stencils = state_->stencils;
  for (std::size_t i = 0; i < stencils.size(); ++i) {
    const StencilData& s = stencils[i];
    if (s.dims == sorted.dims && s.offsets == sorted.offsets && s.weights == sorted.weights &&
        s.denominator == sorted.denominator && s.dx_power == sorted.dx_power &&
        s.spectral == sorted.spectral) {
      return static_cast<int>(i);
    }
  }
  stencils.push_back(std::move(sorted));
  return static_cast<int>(stencils.size() - 1);
}

int Arena::add_table(std::vector<double> values) {
  auto& tables = state_->tables;
  const auto found = std::ranges::find(tables, values);
  if (found != tables.end()) return static_cast<int>(found - tables.begin());
  tables.push_back(std::move(values));
  return static_cast<int>(tables.size() - 1);
}

const std::vector<double>& Arena::table_data(int index) const {
  return state_->tables.at(static_cast<std::size_t>(index));
}

Expr Arena::lookup(int table, Expr position) {
  return make(Op::Lookup, {integer(table), position});
}

const std::vector<double>& table_of(const Node& lookup) {
  return lookup.arena->table_data(static_cast<int>(lookup.args[0]->number.rational.num));
}

double table_entry(const std::vector<double>& table, double position) {
  const double last = static_cast<double>(table.size() - 1);
  const double at = position >= 0 ? std::min(position, last) : 0;
  return table[static_cast<std::size_t>(at)];
}

const StencilData& Arena::stencil_data(int index) const {
  return state_->stencils.at(static_cast<std::size_t>(index));
}

dsl::Span inherited_span(std::span<const Expr> args) {
  const auto worth = [](Expr e) {
    if (e->span.empty() || e->args.empty()) return 0;
    if (!e->per_site) return 1;
    return e->op == Op::Pow && e->args[0]->args.empty() ? 2 : 3;
  };
  dsl::Span span;
  int best = 0;
  for (const Expr& arg : args) {
    const int w = worth(arg);
    if (w > best) {
      best = w;
      span = arg->span;
    }
  }
  return span;
}

Expr operator+(Expr a, Expr b) { return a->arena->make(Op::Add, {a, b}); }
Expr operator-(Expr a, Expr b) { return a->arena->make(Op::Sub, {a, b}); }
Expr operator*(Expr a, Expr b) { return a->arena->make(Op::Mul, {a, b}); }
Expr operator/(Expr a, Expr b) { return a->arena->make(Op::Div, {a, b}); }
Expr operator-(Expr a) { return a->arena->make(Op::Neg, {a}); }
Expr pow(Expr base, Expr exponent) { return base->arena->make(Op::Pow, {base, exponent}); }
Expr pow(Expr base, int exponent) { return pow(base, base->arena->integer(exponent)); }

}  // namespace vphi::algebra
