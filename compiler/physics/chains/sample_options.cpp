#include "compiler/physics/chains/sample_options.hpp"

#include "compiler/physics/chains/exchange.hpp"
#include "compiler/physics/chains/sampling_errors.hpp"
#include "compiler/physics/physics_errors.hpp"

namespace vphi::physics {

bool is_exchange_option(const Context& d, const dsl::Item& item) {
  const std::string& name = item.head->name;
  return name == "exchange" || (name == "exchange_every" && exchanges(d));
}

SampleOptions read_sample_options(const Context& d, Lowerer& lower, const dsl::Clause& clause) {
  SampleOptions options;
  const auto whole = [&](const dsl::Item& item) {
    const auto n = lower.fixed_integer(*item.value, "`" + item.head->name + "`");
    if (n < 0) {
      d.fail(errors::not_positive(item.span, item.head->name, static_cast<double>(n)));
    }
    return n;
  };
  options.sweeps = -1;
  for (const dsl::Item& item : clause.items) {
    if (!item.head && item.value) options.method = item.value->text;
  }
  const std::string& method = options.method;
  for (const dsl::Item& item : clause.items) {
    if (!item.head || !item.value) continue;
    const std::string& name = item.head->name;
    d.ledger.use(item);
    if (name == "sweeps") {
      options.sweeps = whole(item);
    } else if (name == "reunitarise") {
      options.reunitarise = whole(item);
      options.reunitarise_item = &item;
    } else if (name == "overrelax" && method != "overrelax") {
      options.overrelax = whole(item);
    } else if (name == "tries" && method == "heatbath") {
      options.tries = whole(item);
      options.tries_item = &item;
    } else if (name == "hits" && method == "metropolis") {
      options.hits = whole(item);
      options.hits_item = &item;
    } else if (name == "width" && method == "metropolis") {
      options.width = lower.fixed(*item.value, "`width`");
      options.width_item = &item;
    } else if (!is_exchange_option(d, item)) {
      d.fail(errors::sample_option(item.span, name, method));
    }
  }
  if (options.sweeps < 0) d.fail(errors::sweeps_missing(clause.keyword_span));
  return options;
}

}  // namespace vphi::physics
