# -DVPHI_UNITY=ON: files of a folder are compiled together, up to 16 at once. Headers and templates
# are then read once for all of them, but a change in one file compiles its neighbours too. The
# set-up scripts do so (tools/setup.sh); a build for development compiles each file by itself.
# Names without linkage must therefore be distinct within a folder.
option(VPHI_UNITY "Compile files of a folder together" OFF)
set(most_together 16)

# Files whose short names others in the folder have too: each is compiled by itself.
set(compiled_alone
  compiler/algebra/expr.cpp
  compiler/emit/walks/march_steps_shape.cpp
  compiler/emit/walks/march_steps_text.cpp
  compiler/typeset.cpp
  dsl/syntax/syntax_errors.cpp
  runtime/comm/nccl.cpp
  runtime/device/plugin/load.cpp
  runtime/fft/fftw.cpp
  runtime/fft/vkfft.cpp
  runtime/io/link_set.cpp
  runtime/report/read_hdf5.cpp
  tests/algebra/simplify_test.cpp
  tests/device/wave_test.cpp
  tests/emit/kernels_test.cpp
  tests/emit/lines_test.cpp
  tests/emit/march_steps_test.cpp
  tests/emit/march_test.cpp
  tests/emit/near_math_f32_test.cpp
  tests/emit/persistent_test.cpp
  tests/emit/single_site_test.cpp
  tests/gauge/link_products_test.cpp
  tests/physics/fluids/open_walls_test.cpp
  tests/physics/gauge/dirac_test.cpp
  tests/physics/gauge/hmc_test.cpp
  tests/physics/gauge/quark_test.cpp
  tests/physics/gauge/solve_test.cpp
  tests/physics/oracle/link_check_test.cpp
  tests/physics/oracle/start_check_test.cpp
  tests/physics/oracle/table_check_test.cpp
  tests/physics/orders_test.cpp
  tests/physics/particles/noise_test.cpp
  tests/physics/particles/persistent_test.cpp
  tests/physics/recentring_test.cpp
  tests/physics/resonance_test.cpp
  tests/physics/series_test.cpp
  tests/physics/sources_test.cpp
  tests/physics/swept_histogram_test.cpp
  tests/physics/tables_test.cpp
  tests/physics/together_test.cpp
  tests/physics/waves_test.cpp
  tests/report/page_test.cpp
  tests/schedule/passes_test.cpp
  tools/commands/run.cpp
  tools/oracle/precision_check.cpp)
list(TRANSFORM compiled_alone PREPEND ${PROJECT_SOURCE_DIR}/)

# vphi_by_folder(TARGET): for the sources that TARGET has now, in the folder that adds TARGET.
function(vphi_by_folder target)
  if(NOT VPHI_UNITY)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "\\.cpp$")
  list(REMOVE_ITEM sources ${compiled_alone})
  set(folders "")
  foreach(source ${sources})
    get_filename_component(folder ${source} DIRECTORY)
    list(APPEND folders ${folder})
    list(APPEND files_${folder} ${source})
  endforeach()
  list(REMOVE_DUPLICATES folders)
  foreach(folder ${folders})
    list(LENGTH files_${folder} count)
    math(EXPR groups "(${count} + ${most_together} - 1) / ${most_together}")
    string(REGEX REPLACE "[^A-Za-z0-9]" "_" name "${folder}")
    string(REGEX REPLACE "^_+" "" name "${name}")
    set(index 0)
    foreach(source ${files_${folder}})
      math(EXPR group "${index} * ${groups} / ${count}")
      set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${name}_${group})
      math(EXPR index "${index} + 1")
    endforeach()
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()
