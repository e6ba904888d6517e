#include "compiler/schedule/tables.hpp"

#include <algorithm>
#include <cctype>

namespace vphi::schedule {
namespace {

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

/// The hint, or the hint with the first number from 2 on that is not taken.
std::string unique(const std::string& hint, std::set<std::string>& taken,
                   std::map<std::string, int>& numbers) {
  std::string name = hint;
  int& next = numbers.try_emplace(hint, 2).first->second;
  for (; !taken.insert(lower(name)).second; ++next) name = hint + "_" + std::to_string(next);
  return name;
}

}  // namespace

void Slots::add(const std::string& name, double initial) {
  if (!index_.try_emplace(name, static_cast<int>(names_.size())).second) return;
  taken_.insert(lower(name));
  names_.push_back(name);
  initial_.push_back(initial);
}

void Slots::set(const std::string& name, double initial) {
  initial_[static_cast<std::size_t>(index_.at(name))] = initial;
}

std::string Slots::fresh(const std::string& hint) {
  const std::string name = unique(hint, taken_, numbers_);
  add(name);
  return name;
}

void Storage::allocate(int array, program::Buffer buffer) {
  buffer.name = unique(buffer.name, taken_, numbers_);
  buffer_of_[array] = static_cast<int>(buffers_.size());
  buffers_.push_back(std::move(buffer));
  next_ = std::max(next_, array + 1);
}

int Storage::allocate_new(program::Buffer buffer) {
  const int array = number();
  allocate(array, std::move(buffer));
  return array;
}

bool Storage::allocated(int array) const { return buffer_of_.contains(array); }

std::size_t Storage::buffer_index(int array) const {
  return static_cast<std::size_t>(buffer_of_.at(array));
}

std::vector<int> Storage::buffer_of() const {
  std::vector<int> result(static_cast<std::size_t>(next_), -1);
  for (const auto& [array, buffer] : buffer_of_) result[static_cast<std::size_t>(array)] = buffer;
  return result;
}

}  // namespace vphi::schedule
