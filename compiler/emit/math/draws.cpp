#include "compiler/emit/math/draws.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numbers>
#include <set>
#include <stdexcept>

#include "compiler/algebra/axis_names.hpp"
#include "compiler/emit/math/sincos.hpp"
#include "compiler/emit/text/reading.hpp"
#include "compiler/kernel/draw.hpp"

namespace vphi::emit {
namespace {

using algebra::Op;

const char* wide(const Job& job) { return job.dialect.words.draw_type; }

Code slot(const Bindings& bindings, const std::string& name, const Code& scalars) {
  return code("{}[{}]", scalars, slot_text(bindings, slot_number(bindings, name)));
}

// The device's approximations, in f32.
bool has_fast_math(const Job& job) {
  return job.body.real == Precision::F32 && job.dialect.can.approximate;
}

// Function of the device; the fast ones where they are good enough.
Code call(const Job& job, Op op, const Code& argument) {
  if ((op == Op::Sin || op == Op::Cos) && !has_fast_math(job))
    return code("{}({})", sincos_function(op, job.body.real), argument);
  return code("{}{}({})", has_fast_math(job) ? job.dialect.words.quick_prefix : "",
              function_name(op, job.body.real, job.dialect), argument);
}

// The word with a number from 0 to 3 that follows from the step.
Code word(const Code& block, bool step_bit_0, bool step_bit_1, int fixed) {
  const char letters[] = "abcd";
  if (!step_bit_0 && !step_bit_1) return code("{}.{}", block, letters[fixed & 3]);
  const auto half = [&](int low) {
    return code("vphi_select_word(second_half, {0}.{1}, {0}.{2})", block, letters[low + 2],
                letters[low]);
  };
  if (!step_bit_0) return half(fixed & 1);
  return code("vphi_select_word(odd_word, {}, {})", half(1), half(0));
}

// Draws of one bit each, the first of them `shift` from the end.
Code bit_lines(const Job& job, const Code& bits, std::int64_t shift) {
  Code text;
  for (const Draw& draw : job.body.draws)
    text += code("in.{} = vphi_bit({} >> {}u);\n", draw.member, bits, shift + draw.index);
  return text;
}

// Moves of a state over the blocks before its own. PoCL 3.1 (LLVM 15) crashes over the loop.
Code skip_text(bool unrolled) {
  if (!unrolled)
    return "for (unsigned i = 0u; i < (unsigned)(block & 7u) * 4u; ++i) state = "
           "vphi_moved(state);\n";
  Code text = "const unsigned skip = (unsigned)(block & 7u);\n";
  for (int k = 0; k < 7; ++k)
    text += code(
        "state = vphi_select_word({}u < skip,\n"
        "    vphi_moved(vphi_moved(vphi_moved(vphi_moved(state)))), state);\n",
        k);
  return text;
}

}  // namespace

Code walker_of_site(const Job& job, const Code& site) {
  const kernel::Random& random = job.kernel.random;
  const std::int64_t together = kernel::across_sites(random) ? kernel::sites_of_block(random) : 1;
  const std::int64_t apart = random.apart;
  if (together == 1) return code("first_walker + ({0})({1})", wide(job), site);
  if (apart == 1) return code("first_walker + ({0})({1}) / {2}u", wide(job), site, together);
  return code("first_walker + ({0})({1}) / {2}u * {3}u + ({0})({1}) % {3}u", wide(job), site,
              together * apart, apart);
}

Code draw_functions(const Job& job) {
  const kernel::Random& random = job.kernel.random;
  const Precision real = job.body.real;
  const auto number = [&](long double v) { return literal(v, real); };
  Slots slots;
  slots["wide"] = wide(job);
  // Written as a product of 64-bit numbers, NVIDIA's compiler adds the zeros of the upper halves.
  slots["product"] = job.dialect.words.product;
  slots["real"] = type_name(real);
  slots["stream"] = std::to_string(random.stream);
  const bool xorshift = random.generator == kernel::Generator::Xorshift32;
  const int rounds = kernel::philox_rounds(random.generator);
  slots["multiply_first"] = code("0x{:X}u", philox::kMultiply[0]);
  slots["multiply_third"] = code("0x{:X}u", philox::kMultiply[1]);
  slots["round_count"] = std::to_string(rounds);
  slots["philox"] = std::string(xorshift ? "vphi_philox" : "vphi_block");
  // without a loop: one would keep clang from taking instances side by side
  slots["skip"] = skip_text(job.dialect.processor());
  slots["xorshift"] = xorshift ? fill("draws_xorshift.txt", slots) : "";
  slots["suffix"] = real == Precision::F32 ? "f32" : "f64";
  slots["high"] = number(0.75L);
  slots["low"] = number(0.25L);
  for (int round = 0; round < rounds; ++round) {
    const philox::Key key = philox::round_key(philox::key_of(random.seed), round);
    slots["rounds"] += code("c = vphi_round(c, {:#x}u, {:#x}u);\n", key[0], key[1]);
  }
  slots["cell"] = number(0x1p-32L);
  slots["half_cell"] = number(0x1p-33L);
  // Rounding must not make the argument of the root negative. NVIDIA's logarithm is to base 2 and
  // may have the wrong sign for a number near 1. The absolute value is as accurate and costs
  // nothing.
  const bool fast_math = has_fast_math(job);
  const Code log =
      fast_math ? "vphi_log2_f32(vphi_unit(word))" : call(job, Op::Log, "vphi_unit(word)");
  const Code square = fast_math
                          ? code("{}({}*{})", function_name(Op::Abs, real, job.dialect),
                                 number(-2 * std::numbers::ln2_v<long double>), log)
                          : code("vphi_max_{}({}*{}, {})", real == Precision::F32 ? "f32" : "f64",
                                 number(-2), log, number(0));
  slots["radius"] = fast_math ? "vphi_root_f32(" + square + ")" : call(job, Op::Sqrt, square);
  slots["quick"];
  if (fast_math) slots["quick"] = fill(job.dialect.texts.quick_draws, {});
  slots["turn_cell"] = number(2 * std::numbers::pi_v<long double> * 0x1p-32L);
  slots["half_turn_cell"] = number(std::numbers::pi_v<long double> * 0x1p-32L);
  // The site's own code may contain the functions of the angle already.
  const bool there = job.body.calls.turns(real);
  return (fast_math || there ? "" : sincos_functions(real, job.dialect)) + fill("draws.txt", slots);
}

namespace {

/// Sites of the whole lattice before the first one in memory, where a rank has some of its planes.
Code sites_before(const Job& job, const Bindings& bindings, const Code& scalars) {
  const kernel::Kernel& k = job.kernel;
  if (!k.planes) return {};
  if (k.planes->second)
    return code("const {0} first_plane = ({0}){1}, first_line = ({0}){2};\n", wide(job),
                slot(bindings, k.planes->origin, scalars),
                slot(bindings, k.planes->second->origin, scalars));
  const std::int64_t plane = k.walked_sites() / k.planes->own;
  return code("const {0} sites_before = (({0}){1} - {2}u) * {3}u;\n", wide(job),
              slot(bindings, k.planes->origin, scalars), k.planes->first - k.planes->below, plane);
}

}  // namespace

Code sites_before_row(const Job& job, const Code& row) {
  const kernel::Kernel& k = job.kernel;
  if (job.body.draws.empty() || !k.planes || !k.planes->second) return {};
  const RowsOfLines rows(k);
  return code(
      "const {0} sites_before = (((first_plane + ({0})({1}) / {2}u) * {3}u + first_line) * {4}u +\n"
      "    ({0})({1}) % {2}u) * {5}u + ({0})x0 - ({0})at;\n",
      wide(job), row, rows.own, k.planes->second->whole, rows.of_line, k.extent[0]);
}

Code sites_before_place(const Job& job) {
  const kernel::Kernel& k = job.kernel;
  if (job.body.draws.empty() || !k.planes || !k.planes->second) return {};
  Code number;
  for (int axis = k.dims - 1; axis >= 0; --axis) {
    const std::int64_t whole = k.whole()[static_cast<std::size_t>(axis)];
    Code here = code("({}){}", wide(job), algebra::kAxisNames[axis]);
    if (axis == k.planes->axis) here = code("({} + first_plane - {}u)", here, k.planes->first);
    if (axis == k.planes->axis - 1)
      here = code("({} + first_line - {}u)", here, k.planes->second->first);
    number = number.empty() ? here : code("({}*{}u + {})", number, whole, here);
  }
  return code("const {0} sites_before = {1} - ({0})at;\n", wide(job), number);
}

Code draw_start(const Job& job, const Bindings& bindings, const Code& instance) {
  return draw_walker(job, bindings, instance, "scalars") +
         draw_word(job, bindings, "scalars", false);
}

Code draw_walker(const Job& job, const Bindings& bindings, const Code& instance,
                 const Code& scalars) {
  if (job.body.draws.empty()) return {};
  const kernel::Random& random = job.kernel.random;
  const bool global = scalars == "scalars" && bindings.by_slot;
  Code number = instance;
  if (!random.instance.empty())
    number = global ? scalar_of(job, bindings, scalars, slot_number(bindings, random.instance))
                    : slot(bindings, random.instance, scalars);
  const bool across = kernel::across_sites(random);
  const std::int64_t together = across ? kernel::sites_of_block(random) : 1;
  const std::int64_t sites = job.kernel.planes ? random.sites : job.kernel.sites();
  return code("const {0} first_walker = ({0}){1} * {2}u;\n", wide(job), number,
              (sites + together - 1) / together) +
         sites_before(job, bindings, scalars);
}

const char* widest_integer(const Job& job) { return wide(job); }

Code draw_word(const Job& job, const Bindings& bindings, const Code& scalars, bool aligned) {
  if (job.body.draws.empty()) return {};
  return draw_word_at(
      job, code("({}){}", wide(job), slot(bindings, job.kernel.random.step, scalars)), aligned);
}

Code draw_word_at(const Job& job, const Code& step, bool aligned) {
  if (job.body.draws.empty()) return {};
  if (kernel::across_sites(job.kernel.random)) {
    const std::int64_t blocks = kernel::blocks_per_step(job.kernel.random);
    return code("const {} first_block = {}{};\n", wide(job), step,
                blocks == 1 ? "" : code(" * {}u", blocks));
  }
  const std::int64_t words = kernel::words_per_step(job.kernel.random);
  Code text = code("const {} first_word = {}{};\n", wide(job), step,
                   words == 1 ? "" : code(" * {}u", words));
  if (aligned || job.kernel.random.bits) return text;
  if (words == 1) text += "const int odd_word = (int)(first_word & 1u);\n";
  if (words <= 2) text += "const int second_half = (int)(first_word >> 1 & 1u);\n";
  return text;
}

Code draw_lines(const Job& job, const Code& site) {
  Code text;
  for (const Code& piece : draw_pieces(job, site)) text += piece;
  return text;
}

namespace {

/// Which of the sites that share a block this one is.
Code place_in_block(const Job& job, const Code& site) {
  const kernel::Random& random = job.kernel.random;
  const std::int64_t last = kernel::sites_of_block(random) - 1;
  if (random.apart == 1) return code("(unsigned)({}) & {}u", site, last);
  return code("(unsigned)(({})({}) / {}u) & {}u", wide(job), site, random.apart, last);
}

/// `place`: which of the sites of blocks that are declared this one is; empty: its walker and
/// blocks are declared here.
std::vector<Code> pieces_of_draws(const Job& job, const Code& in_memory, const Code& place) {
  if (job.body.draws.empty()) return {};
  const Code site = job.kernel.planes ? "sites_before + " + in_memory : in_memory;
  const kernel::Random& random = job.kernel.random;
  const bool across = kernel::across_sites(random);
  const std::int64_t words =
      across ? kernel::words_of_site(random) : kernel::words_per_step(random);
  const bool bit_0 = words == 1, bit_1 = words <= 2;
  const char* real = type_name(job.body.real);
  const std::int64_t together = across ? kernel::sites_of_block(random) : 1;
  const bool blocks = place.empty();
  Code text;
  if (blocks) text += code("const {} walker = {};\n", wide(job), walker_of_site(job, site));
  if (together > 1)
    text += code("const unsigned place = {};\n", blocks ? place_in_block(job, site) : place);
  if (random.bits) {
    text +=
        "const unsigned bits = vphi_word_of(vphi_block(walker, first_word >> 7),\n"
        "    (unsigned)(first_word >> 5 & 3u)) >> (unsigned)(first_word & 31u);\n";
    std::vector<Code> pieces(job.body.draws.size() + 1);
    pieces.front() = text + bit_lines(job, "bits", 0);
    return pieces;
  }
  if (across && bit_0) text += "const int odd_word = (int)(place & 1u);\n";
  if (across && bit_1)
    text += code("const int second_half = (int)({});\n", bit_0 ? "place >> 1" : "place");
  std::set<std::int64_t> known, pairs;
  std::vector<Code> pieces{text};
  for (const Draw& draw : job.body.draws) {
    Code& own = pieces.emplace_back();
    const std::int64_t flat = across ? kernel::word_of_draw(random, draw.index) : draw.index;
    const std::int64_t block = flat / 4, pair = flat / 2;
    const Code name = code("words_{}", block);
    if (known.insert(block).second && blocks)
      own += code("const vphi_words {} = vphi_block(walker, {} + {}u);\n", name,
                  across ? "first_block" : "(first_word >> 2)", block);
    if (draw.op == Op::Uniform) {
      own += code("in.{} = vphi_unit({});\n", draw.member,
                  word(name, bit_0, bit_1, static_cast<int>(flat)));
      continue;
    }
    const auto first = static_cast<int>(pair * 2);
    const auto part = [&](int which) { return word(name, false, bit_1, first + which); };
    if (pairs.insert(pair).second)
      own +=
          code("const {0} radius_{1} = vphi_radius({2});\nconst {0} angle_{1} = vphi_angle({3});\n",
               real, pair, part(0), part(1));
    const Code angle = code("angle_{}", pair);
    const Code cosine = call(job, Op::Cos, angle), sine = call(job, Op::Sin, angle);
    const Code direction = bit_0
                               ? code("vphi_select_{}(odd_word, {}, {})",
                                      job.body.real == Precision::F32 ? "f32" : "f64", sine, cosine)
                           : flat % 2 == 0 ? cosine
                                           : sine;
    own += code("in.{} = radius_{}*{};\n", draw.member, pair, direction);
  }
  return pieces;
}

}  // namespace

std::vector<Code> draw_pieces(const Job& job, const Code& site) {
  return pieces_of_draws(job, site, {});
}

Code blocks_of_walker(const Job& job) {
  std::set<std::int64_t> known;
  Code text;
  for (const Draw& draw : job.body.draws) {
    const std::int64_t block = kernel::word_of_draw(job.kernel.random, draw.index) / 4;
    if (known.insert(block).second)
      text += code("const vphi_words words_{0} = vphi_block(walker, first_block + {0}u);\n", block);
  }
  return text;
}

Code draw_lines_of_blocks(const Job& job, const Code& site, const Code& number) {
  Code text;
  for (const Code& piece :
       pieces_of_draws(job, site, number.empty() ? place_in_block(job, site) : number))
    text += piece;
  return text;
}

namespace {

constexpr int kHalfBlock = 2;

/// Two sites that share half of a block: both numbers of a pair of Gaussians, or two words.
Code half_block_draws(const Job& job, const Code& strip_number) {
  const char* real = type_name(job.body.real);
  Code text = code(
      "const {0} walker = first_walker + ({0})({1}) / 2u;\n"
      "const int second_half = (int)(({1}) & 1u);\n",
      wide(job), strip_number);
  for (const Draw& draw : job.body.draws) {
    const std::int64_t block = kernel::word_of_draw(job.kernel.random, draw.index) / 4;
    const Code words = code("words_{}", block);
    text += code("const vphi_words {0} = vphi_block(walker, first_block + {1}u);\n", words, block);
    const Code first = code("vphi_select_word(second_half, {0}.c, {0}.a)", words),
               second = code("vphi_select_word(second_half, {0}.d, {0}.b)", words);
    if (draw.op == Op::Uniform) {
      text += code("const {0} {1}_strip[2] = {{vphi_unit({2}), vphi_unit({3})}};\n", real,
                   draw.member, first, second);
      continue;
    }
    const Code angle = code("angle_{}", block);
    text += code(
        "const {0} radius_{1} = vphi_radius({2});\nconst {0} angle_{1} = vphi_angle({3});\n"
        "const {0} {4}_strip[2] = {{radius_{1}*{5}, radius_{1}*{6}}};\n",
        real, block, first, second, draw.member, call(job, Op::Cos, angle),
        call(job, Op::Sin, angle));
  }
  return text;
}

}  // namespace

bool draws_of_strip(const Job& job, int strip) {
  const kernel::Random& random = job.kernel.random;
  if (job.body.draws.empty() || strip < 2 || !kernel::across_sites(random)) return false;
  const std::int64_t together = kernel::sites_of_block(random);
  return strip % together == 0 || (strip == kHalfBlock && together == 2 * kHalfBlock);
}

Code strip_draws(const Job& job, const Code& in_memory, int strip) {
  // planes are whole strips
  const Code strip_number =
      job.kernel.planes ? code("sites_before / {}u + {}", strip, in_memory) : in_memory;
  const kernel::Random& random = job.kernel.random;
  if (strip < kernel::sites_of_block(random)) return half_block_draws(job, strip_number);
  const char* real = type_name(job.body.real);
  const std::int64_t words = kernel::words_of_site(random),
                     together = kernel::sites_of_block(random);
  Code text, values;
  for (const Draw& draw : job.body.draws)
    text += code("{} {}_strip[{}];\n", real, draw.member, strip);
  std::set<Code> known;
  for (int k = 0; k < strip; ++k)
    for (const Draw& draw : job.body.draws) {
      const std::int64_t walker = k / together;
      const std::int64_t flat =
          kernel::word_of_draw(random, draw.index) + k % together * (words < 4 ? words : 0);
      const Code block = code("{}_{}", walker, flat / 4), pair = code("{}_{}", walker, flat / 2);
      if (known.insert("block " + block).second)
        text += code(
            "const vphi_words words_{0} =\n    vphi_block(first_walker + ({1})({2}) * {3}u + {4}u, "
            "first_block + {5}u);\n",
            block, wide(job), strip_number, strip / together, walker, flat / 4);
      const auto letter = [](std::int64_t w) { return "abcd"[w % 4]; };
      if (draw.op == Op::Uniform) {
        values +=
            code("{}_strip[{}] = vphi_unit(words_{}.{});\n", draw.member, k, block, letter(flat));
        continue;
      }
      if (known.insert("pair " + pair).second)
        text += code(
            "const {0} radius_{1} = vphi_radius(words_{2}.{3});\n"
            "const {0} angle_{1} = vphi_angle(words_{2}.{4});\n",
            real, pair, block, letter(flat / 2 * 2), letter(flat / 2 * 2 + 1));
      values += code("{}_strip[{}] = radius_{}*{};\n", draw.member, k, pair,
                     call(job, flat % 2 == 0 ? Op::Cos : Op::Sin, "angle_" + pair));
    }
  return text + values;
}

Code strip_draw_lines(const Job& job, const Code& k) {
  Code text;
  for (const Draw& draw : job.body.draws)
    text += code("in.{0} = {0}_strip[{1}];\n", draw.member, k);
  return text;
}

bool keeps_state(const Job& job) {
  return !job.body.draws.empty() && kernel::steps_of_run(job.kernel.random) > 0;
}

Code draw_state(const Job& job, const Code& step) {
  const std::int64_t words = kernel::words_per_step(job.kernel.random);
  Code text = code("const {} run_word = {} * {}u;\n", wide(job), step, words);
  if (!job.kernel.random.bits)
    return text + "noise_state = vphi_state_before(first_walker, run_word >> 2);\n";
  return text +
         "noise_state = vphi_word_of(vphi_block(first_walker, run_word >> 7),\n"
         "    (unsigned)(run_word >> 5 & 3u)) >> (unsigned)(run_word & 31u);\n";
}

Code draw_run(const Job& job, const Code& low, const Code& step, const Code& fresh,
              const Code& words) {
  return code(
      "const unsigned run_word = {1} * {3}u & 127u;\n"
      "if ({4} || run_word >> 5 == 0u)\n"
      "  {5} = vphi_block(first_walker, ({0})({2}) * {3}u >> 7);\n"
      "unsigned noise_state = vphi_word_of({5}, run_word >> 5) >> (run_word & 31u);\n",
      wide(job), low, step, kernel::words_per_step(job.kernel.random), fresh, words);
}

Code shared_draws(const Job& job, bool state, std::int64_t steps) {
  const std::int64_t words = kernel::words_per_step(job.kernel.random);
  const char* real = type_name(job.body.real);
  if (job.kernel.random.bits) {
    if (!state)
      return "const unsigned bits = vphi_word_of(vphi_block(first_walker, first_word >> 7),\n"
             "    (unsigned)(first_word >> 5 & 3u)) >> (unsigned)(first_word & 31u);\n";
    // a shift by all 32 bits is undefined, and the bits left after it are not used
    return code("const unsigned bits = noise_state;\nnoise_state = noise_state >> {}u;\n",
                std::min<std::int64_t>(words * steps, 31));
  }
  Code text = "const vphi_words words_0 = vphi_block(first_walker, first_word >> 2);\n";
  if (state)
    text = "const vphi_words words_0 = vphi_four(noise_state);\nnoise_state = words_0.d;\n";
  const bool normal = std::ranges::count(job.body.draws, Op::Normal, &Draw::op) > 0;
  for (std::size_t pair = 0; normal && (words < 4 || state) && pair < 2; ++pair)
    text += code(
        "const {0} radius_{1} = vphi_radius(words_0.{2});\n"
        "const {0} angle_{1} = vphi_angle(words_0.{3});\n",
        real, pair, "ac"[pair], "bd"[pair]);
  return text;
}

Code draws_of_step(const Job& job, std::int64_t k) {
  const std::int64_t words = kernel::words_per_step(job.kernel.random);
  Code text;
  if (job.kernel.random.bits) return bit_lines(job, "bits", k * words);
  for (const Draw& draw : job.body.draws) {
    const std::int64_t d = k * words + draw.index;
    if (draw.op == Op::Uniform) {
      text += code("in.{} = vphi_unit(words_0.{});\n", draw.member, "abcd"[d]);
      continue;
    }
    const Code angle = code("angle_{}", d / 2);
    text += code("in.{} = radius_{}*{};\n", draw.member, d / 2,
                 call(job, d % 2 == 0 ? Op::Cos : Op::Sin, angle));
  }
  return text;
}

}  // namespace vphi::emit
