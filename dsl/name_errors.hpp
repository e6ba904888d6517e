// Messages of the resolver, one function each.
//
// Codes: E01xx names, E02xx types and indices, E04xx clauses, E06xx units, E07xx equations, W....
// warnings, N.... notes. Each function returns the whole diagnostic: message, place, the rule in
// one sentence, one concrete fix, and a second label at the declaration concerned, where there is
// one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "dsl/messages/diagnostic.hpp"
#include "dsl/resolve.hpp"

namespace vphi::dsl::errors {

using Names = std::vector<std::string>;

/// The kind of a symbol without its place (which the renderer adds): "field", "param".
std::string kind_name(const Symbol& symbol);
std::string with_article(const std::string& noun);  ///< "a field", "an integrator"
std::string a_kind(const Symbol& symbol);           ///< kind_name with its article

// ---- files ------------------------------------------------------------------------------------
Diagnostic unreadable_file(const std::string& path, const std::string& problem,
                           const std::string& near);

// ---- names ------------------------------------------------------------------------------------
Diagnostic declared_twice(Span at, const std::string& name, const Symbol& first);
Diagnostic cycle(Span at, const std::vector<const Symbol*>& chain);
Diagnostic hubble_or_hamiltonian(Span at, const Symbol& hamiltonian);
Diagnostic unknown_name(Span at, const std::string& name, const Symbol* near,
                        const std::optional<std::string>& near_std, bool in_recover = false);
/// E0119: `plot` or `expect` uses the name of two outputs with different expressions.
Diagnostic output_unclear(Span at, const std::string& name, Span first, Span other);
/// E0119: the output is one number for each value of `index`.
Diagnostic output_runs(Span at, const std::string& name, Span output, const std::string& index);
/// E0119: averages over time of the output begin at another time than those of expectations and
/// plots, which begin at `common`, or at the start of the run where that is empty.
Diagnostic output_begins_elsewhere(Span at, const std::string& name, Span output,
                                   const std::string& common);
Diagnostic unknown_function(Span at, const std::string& name, const Symbol* near,
                            const std::optional<std::string>& near_std);
Diagnostic not_a_function(Span at, const Symbol& symbol);
Diagnostic not_a_value(Span at, const std::string& name, const std::string& what,
                       const std::string& usage);
Diagnostic bad_identifier(Span at, const std::string& why);
Diagnostic bad_text(Span at, const std::string& why);
Diagnostic unknown_member(Span at, const std::string& construct, const std::string& name,
                          const Names& known);
Diagnostic construct_missing(Span at, const std::string& name, const std::string& doc,
                             const std::string& clause, bool hamiltonian);
Diagnostic axis_missing(Span at, const std::string& name, int dimensions);
Diagnostic unknown_in_body(Span at, const std::string& name,
                           const std::optional<std::string>& near);
Diagnostic function_in_body(Span at, const std::string& name, const std::string& function,
                            Span called);
Diagnostic unknown_distribution(Span at, const std::string& name,
                                const std::optional<std::string>& near);
/// E0236: the model declares the name of the wave number of `spectrum(P)`.
Diagnostic wave_number_named_twice(Span at, Span declared);
/// `density` of what has a value at every site or body.
/// An argument of a distribution with a value at each site.
Diagnostic site_in_distribution(Span at, const std::string& text, const Expr& drawn);
Diagnostic density_of_places(Span at, const std::string& text);
/// The same of the distance r in `density`.
Diagnostic distance_named_twice(Span at, Span declared);
Diagnostic distribution_in_value(Span at, const std::string& name);
Diagnostic not_a_parameter(Span at, const std::string& name, const Symbol* symbol,
                           const std::optional<std::string>& near);
/// The same for a name that is to stay free.
Diagnostic no_free_parameter(const std::string& name, const std::optional<std::string>& near);
/// `in_law`: in the flux of a conservation law.
Diagnostic noise_out_of_place(Span at);
Diagnostic derived_out_of_place(Span at);
/// W0103: a number times a field or variable that has the name of a constant.
Diagnostic hidden_constant(Span at, const Symbol& own, const std::string& what);
Diagnostic shadows_std(Span at, const std::string& name, const std::string& what,
                       const std::string& reachable);
/// W0102: a name that is defined and never used; `clause`: a clause with an option of that name, or
/// empty.
Diagnostic unused(const Symbol& symbol, const std::string& clause);
Diagnostic hubble_and_hamiltonian(Span at);

// ---- types and indices ------------------------------------------------------------------------
Diagnostic operand_types(Span at, const std::string& op, const Type& left, const Type& right);
/// A number times a determinant, or below it; with the texts of both.
Diagnostic number_beside_determinant(Span at, const std::string& op, const Type& left,
                                     const Type& right, const std::string& determinant,
                                     const std::string& number);
Diagnostic sign_of_determinant(Span at, const std::string& determinant);
Diagnostic complex_in_real_place(Span at, const std::string& place, Span declared);
/// `limit u[0] = bound`: a limit must name the whole variable.
Diagnostic limit_of_component(Span at, const Symbol& symbol, std::size_t index,
                              const std::string& bound);
Diagnostic wrong_type(Span at, const std::string& place, const Type& wanted, const Type& found,
                      Span declared);
Diagnostic wrong_arity(Span at, const std::string& name, const std::string& usage, int wanted,
                       int found, const std::string& doc, Span declared);
Diagnostic argument_type(Span at, const std::string& function, const std::string& wanted,
                         const Type& found, const std::string& hint);
Diagnostic index_named_like_value(Span at, const std::string& name, const std::string& what,
                                  Span declared);
Diagnostic index_without_range(Span at, const std::string& name);
/// inverse, tabulate, integral without the range of a name, or with two.
Diagnostic formula_of_one_name(Span at, const std::string& function);
Diagnostic index_conflict(Span at, const std::string& name, const std::string& is,
                          const std::string& was, Span first);
/// `advice`: the corrected reduction around it, or empty; also below.
Diagnostic index_free(Span at, const std::string& name, const std::string& advice = {});
Diagnostic component_out_of_range(Span at, const std::string& what, std::int64_t index,
                                  std::int64_t count);
Diagnostic indices_missing(Span at, const Symbol& symbol, const std::string& advice);
Diagnostic index_count(Span at, const std::string& name, int wanted, int found, Span declared);
Diagnostic not_indexable(Span at, const std::string& name, const Type& type, bool field);
Diagnostic index_not_integer(Span at, const Type& type);
Diagnostic particle_neighbour(Span at, const std::string& name);
Diagnostic per_site_in_scalar(Span at, const std::string& text, const std::string& place);
Diagnostic scalar_in_per_site(Span at, const std::string& function);
Diagnostic mean_of_angle(Span at, const std::string& function, const std::string& argument);
Diagnostic order_of_complex(Span at, const std::string& what);
Diagnostic condition_wanted(Span at, const std::string& place, const Type& found);
Diagnostic number_wanted(Span at, const std::string& place, const Type& found);
Diagnostic whole_number_wanted(Span at, const std::string& place, std::int64_t least);
Diagnostic number_too_large(Span at, const std::string& text);
/// An argument that is not the name of links, where the text of the function needs one.
Diagnostic links_wanted(Span at, const std::string& function, const std::string& parameter,
                        const std::string& doc);
/// The number behind the arguments of a function of links is not a whole number from 1 to `most`.
Diagnostic link_steps(Span at, int most);
Diagnostic unknown_type(Span at, const std::string& text, const std::optional<std::string>& near);
/// `least`: the smallest size of such a type; no matter for spinors.
Diagnostic bad_type_size(Span at, const std::string& type, std::int64_t least);
Diagnostic no_lattice(Span at, const std::string& what, bool derivative);
Diagnostic shift_of_constant(Span at, const std::string& text);
Diagnostic shift_operand(Span at, const std::string& found, int dimensions);
Diagnostic shift_length(Span at, int found, int dimensions);
Diagnostic prime_of_constant(Span at, const std::string& text);
Diagnostic derivative_by(Span at, const std::string& text);
/// An output after `~`, in the place of a distribution.
Diagnostic output_at_start(Span at, const std::string& name);
Diagnostic stands_alone(Span at, const std::string& name, const std::string& clause);
Diagnostic option_of_function(Span at, const std::string& option, const std::string& function,
                              const Names& known);
Diagnostic no_gauge_field(Span at, const std::string& function);
Diagnostic too_deep(Span at);

// ---- clauses ----------------------------------------------------------------------------------
Diagnostic unknown_clause(Span at, const std::string& keyword,
                          const std::optional<std::string>& near);
Diagnostic unknown_option(Span at, const std::string& keyword, const std::string& name,
                          const std::optional<std::string>& near, const Names& known);
Diagnostic option_word(Span at, const std::string& name, const std::string& found,
                       const std::optional<std::string>& near, const Names& known);
Diagnostic clause_missing(const std::string& what, const std::string& why, const std::string& fix,
                          Span at);
Diagnostic option_missing(Span at, const std::string& keyword, const std::string& name,
                          const std::string& fix);
Diagnostic option_twice(Span at, const std::string& name, Span first);
Diagnostic listed_twice(Span at, const std::string& name, Span first);
Diagnostic clause_twice(Span at, const std::string& keyword, Span first);
Diagnostic clause_form(Span at, const std::string& keyword, const std::string& usage);
Diagnostic decimal_comma(Span at, const std::string& number);
/// `==` in a declaration, or `=` in a comparison.
Diagnostic relation_swapped(Span at, const std::string& keyword, const std::string& written,
                            const std::string& ours);
Diagnostic second_integrator(Span at, Span first);
Diagnostic destination_missing(Span at, const std::string& keyword);
Diagnostic destination_not_wanted(Span at, const std::string& keyword);
/// `file`: the file name in it; may be empty.
Diagnostic destination_kind(Span at, const std::string& file);
Diagnostic destination_outside(Span at, const std::string& name);
Diagnostic destination_ending(Span at, const std::string& name);
Diagnostic body_missing(Span at, const std::string& keyword, const std::string& usage);
Diagnostic body_not_wanted(Span at, const std::string& keyword);
Diagnostic bad_shape(Span at);
Diagnostic too_many_dimensions(Span at, int dimensions);
/// `meant`: the variable of which the name is another spelling, if any.
Diagnostic init_of_non_state(Span at, const std::string& name, const Symbol* symbol,
                             const Names& states, const std::string& meant = {});
Diagnostic init_twice(Span at, const std::string& name, Span first);
Diagnostic init_rate(Span at, const std::string& name);
Diagnostic no_relation(Span at, const std::string& text);
Diagnostic count_missing(Span at, const std::string& keyword);
Diagnostic type_missing(Span at, const std::string& keyword, const std::string& name);
Diagnostic not_positive(Span at, const std::string& name, const std::string& text);
Diagnostic swept_here(Span at, const std::string& name, const std::string& place, Span declared);
/// The same for a parameter that is free.
Diagnostic free_here(Span at, const std::string& name, const std::string& place, Span declared);
Diagnostic unknown_axis_word(Span at, const std::string& word, int dimensions);
Diagnostic param_depends(Span at, const std::string& param, const Symbol& on);
Diagnostic empty_range(Span at, std::int64_t first, std::int64_t last);
Diagnostic limit_of_non_state(Span at, const std::string& name, const Symbol* symbol);
/// `relax` of something that is no primitive variable.
Diagnostic relaxes_no_primitive(Span at, const std::string& name);
/// E0429: `beyond` gives something else than a primitive variable, or a part of one.
Diagnostic beyond_no_primitive(Span at, const std::string& head, bool part);
Diagnostic not_started(Span at, const std::string& name, bool links);

// ---- units ------------------------------------------------------------------------------------
Diagnostic unit_clash(Span at, const std::string& op, const std::string& left,
                      const std::string& right);
Diagnostic unknown_unit(Span at, const std::string& unit, const std::optional<std::string>& near);
Diagnostic unknown_unit_system(Span at, const std::string& name,
                               const std::optional<std::string>& near, const Names& known);
Diagnostic argument_with_unit(Span at, const std::string& function, const std::string& unit);
Diagnostic planck_mass_convention(Span at);
/// W0605, a warning: `unit` is the base by default; `name` is one that a `units` line can name.
Diagnostic no_unit_system(Span at, const std::string& unit, const std::string& name,
                          bool of_lattice);

// ---- equations --------------------------------------------------------------------------------
Diagnostic no_equation(const Symbol& state, bool potential, bool metric);
Diagnostic second_equation(Span at, const std::string& name, Span first);
Diagnostic equation_of_non_state(Span at, const std::string& name, const Symbol* symbol,
                                 const std::optional<std::string>& near);
Diagnostic order_too_high(Span at, const std::string& name, int primes);
Diagnostic equation_indices(Span at, const Symbol& state);
Diagnostic unknown_integrator(Span at, const std::string& name,
                              const std::optional<std::string>& near, const Names& known);
Diagnostic hamiltonian_density(Span at);
Diagnostic no_momentum(const Symbol& coordinate, const Symbol& hamiltonian);
Diagnostic odd_hamiltonian_state(Span at, const std::string& keyword);

}  // namespace vphi::dsl::errors
