#include "compiler/gauge/word.hpp"

#include <algorithm>

namespace vphi::gauge {

Offset operator+(Offset a, Offset b) {
  for (int i = 0; i < 4; ++i) a.d[i] = static_cast<std::int16_t>(a.d[i] + b.d[i]);
  return a;
}
Offset operator-(Offset a, Offset b) {
  for (int i = 0; i < 4; ++i) a.d[i] = static_cast<std::int16_t>(a.d[i] - b.d[i]);
  return a;
}
Offset one_step(Step step) {
  Offset o;
  o.d[step.axis % kOtherLinks] = step.back ? -1 : 1;
  return o;
}

Word inverse(const Word& word) {
  Word back(word.rbegin(), word.rend());
  for (Step& step : back) step.back = !step.back;
  return back;
}

Offset displacement(const Word& word) {
  Offset at;
  for (const Step& step : word) at = at + one_step(step);
  return at;
}

bool closed(const Word& word) { return displacement(word).zero(); }

namespace {

bool undoes(const Step& a, const Step& b) { return a.axis == b.axis && a.back != b.back; }

}  // namespace

Word reduced(const Word& word) {
  Word result;
  for (const Step& step : word) {
    if (!result.empty() && undoes(result.back(), step)) {
      result.pop_back();
    } else {
      result.push_back(step);
    }
  }
  if (!closed(word)) return result;
  while (result.size() > 1 && undoes(result.front(), result.back())) {
    result.pop_back();
    result.erase(result.begin());
  }
  return result;
}

Word canonical_loop(const Word& loop, bool* reversed) {
  const auto least = [](Word word) {
    Word best = word;
    for (std::size_t i = 1; i < word.size(); ++i) {
      std::ranges::rotate(word, word.begin() + 1);
      best = std::min(best, word);
    }
    return best;
  };
  const Word there = least(loop), back = least(inverse(loop));
  if (reversed != nullptr) *reversed = back < there;
  return std::min(there, back);
}

// What `reduced` takes from both ends of a loop begins and ends at the same site, so that the first
// steps of the word lead to where the rest begins.
Offset canonical_start(const Word& loop) {
  const Word rest = reduced(loop);
  Word open;  // reduced, but not across the end
  for (const Step& step : loop) {
    if (!open.empty() && undoes(open.back(), step))
      open.pop_back();
    else
      open.push_back(step);
  }
  const auto stripped = static_cast<std::ptrdiff_t>((open.size() - rest.size()) / 2);
  Offset at = displacement(Word(open.begin(), open.begin() + stripped));
  bool reversed = false;
  const Word canonical = canonical_loop(rest, &reversed);
  Word word = reversed ? inverse(rest) : rest;
  for (std::size_t i = 0; i < word.size() && word != canonical; ++i) {
    at = at + one_step(word.front());
    std::ranges::rotate(word, word.begin() + 1);
  }
  return at;
}

std::string to_text(const Word& word) {
  std::string text;
  for (const Step& step : word) {
    if (!text.empty()) text += ' ';
    text += (step.back ? '-' : '+') + std::to_string(step.axis);
  }
  return text;
}

std::vector<LinkAt> links(const Word& word, Offset from) {
  std::vector<LinkAt> result;
  for (const Step& step : word) {
    const Offset next = from + one_step(step);
    result.push_back({step.axis, step.back ? next : from, step.back});
    from = next;
  }
  return result;
}

std::vector<Rest> rests(const Word& loop, int axis) {
  std::vector<Rest> result;
  for (std::size_t i = 0; i < loop.size(); ++i) {
    if (loop[i].axis != axis) continue;
    const bool reversed = loop[i].back;
    Word rest(loop.begin() + static_cast<std::ptrdiff_t>(i) + 1, loop.end());
    rest.insert(rest.end(), loop.begin(), loop.begin() + static_cast<std::ptrdiff_t>(i));
    // behind -axis the walk stands at x and goes to x + axis: its way back is the path
    result.push_back({reversed ? inverse(rest) : rest, reversed});
  }
  return result;
}

}  // namespace vphi::gauge
