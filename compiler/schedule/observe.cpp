#include "compiler/schedule/observe.hpp"

#include <cctype>

namespace vphi::schedule {

using algebra::Op;

std::string plain(const std::string& name) {
  std::string result;
  for (const char c : name) {
    const auto u = static_cast<unsigned char>(c);
    if (u < 128 && std::isalnum(u)) {
      result += c;
    } else if (!result.empty() && result.back() != '_') {
      result += '_';
    }
  }
  while (!result.empty() && result.back() == '_') result.pop_back();
  if (result.empty() || std::isdigit(static_cast<unsigned char>(result[0]))) result = "q" + result;
  return result.substr(0, 40);
}

int Observer::scalar(const std::string& hint, Expr value) {
  const std::string slot = block_.slots().fresh("out_" + plain(hint));
  assign(slot, value);
  return block_.slots().index(slot);
}

void Observer::assign(const std::string& name, Expr value) {
  block_.assign(name, at(state_, value));
  wanted_.slots.push_back(name);
}

int Observer::field(const std::string& hint, Expr value) {
  Storage& storage = block_.storage();
  const Expr load = block_.array(plain(hint), at(state_, value));
  if (load.is(Op::Load) && storage.allocated(load->index)) {
    return static_cast<int>(storage.buffer_index(load->index));
  }
  for (const auto& [array, known] : wanted_.arrays) {
    if (known == load) return static_cast<int>(storage.buffer_index(array));
  }
  program::Buffer buffer;
  buffer.name = "out_" + plain(hint);
  buffer.precision = block_.system().numerics.store == physics::Precision::F32
                         ? program::Precision::F32
                         : program::Precision::F64;
  buffer.scratch = true;
  const int array = storage.allocate_new(buffer);
  wanted_.arrays[array] = load;
  return static_cast<int>(storage.buffer_index(array));
}

Observer::Result Observer::finish(const std::string& name) {
  wanted_.pure = true;
  wanted_.name = name;
  Sweeps sweeps = make_sweeps(block_, wanted_);
  Result result;
  result.chain.sweeps = std::move(sweeps.sweeps);
  result.chain.swaps = std::move(sweeps.swaps);
  result.alone = std::move(sweeps.alone);
  return result;
}

}  // namespace vphi::schedule
