# labels: long
# Mutation test: bugs in the compiler and in multigrid, one at a time (core/base/fault.h). Each must be caught by a test that
# passes without it. Prints which test catches which.
set -euo pipefail
folder=${WEFT_BUILD:?}/mutations
source=${WEFT_SOURCE:?}
scripts=300 # at random, where a bug is looked for by these
export XDG_CACHE_HOME=$folder/test-cache

# bug: the tests that may catch it, cheapest first
bugs=(
    "missing_barrier        unit_fusion_codegen_cuda_kernels" # a thread reads shared memory that another has not written yet
    "missing_load_barrier   unit_fusion_codegen_cuda_kernels" # a late load overwrites shared memory that another thread still reads
    "mapping_ignored        emulated"        # threads of two functions are taken to have the same data
    "part_ignored           unit_fusion_library_thread_pattern" # a thread may read what its pattern gives to another
    "result_shared          unit_fusion_library_thread_pattern" # a thread may read a result that another thread writes
    "kept_plan_unchecked    unit_fusion_compile_kept" # a kept plan of another script is taken for this one's
    "phase_ignored          unit_fusion_library_thread_pattern" # a thread may read what another one writes between the same barriers
    "barrier_lost           unit_fusion_codegen_body_barriers" # the threads of a body do not wait for each other
    "two_writers            unit_fusion_library_thread_pattern" # two threads may write one component
    "order_ignored          unit_fusion_plan_permutation" # every sum over cells is taken to be free of the order of their entries
    "ordered_permuted       unit_fusion_plan_permutation" # an ordered connectivity is taken for any other
    "overlapped_shared      emulated"        # two data in shared memory overlap by a component
    "thread_too_many        emulated"        # the last thread block works on an element that is not there
    "wrong_neutral          unit_fusion_codegen_cuda_kernels" # a greatest value starts from 0
    "few_rows_lost          unit_fusion_runtime_nested_few" # the last of few rows that count is left out
    "lanes_unmasked         batch"           # spare lanes of the last block accumulate too
    "last_chunk_lost        batch"           # a reduction leaves out its last, partial chunk
    "missed_clear           batch emulated"  # an accumulated list does not start from zero
    "barrier_skipped        batch emulated"  # no global barrier before a list is read through a map
    "sum_unfinished         batch emulated"  # no global barrier before a reduction's result is read
    "target_incomplete      batch emulated"  # no global barrier before an accumulated list is read
    "dropped_store          batch emulated"  # a result that another kernel loads through a map is not stored
    "overlapped_buffers     batch emulated"  # a kernel writes a buffer that it still reads
    "gather_overwrites      unit_fusion_runtime_accumulate" # the second gather into a list does not add
    "wrong_order            batch emulated"  # kernels stand in an order that data do not allow
    "update_too_early       batch emulated"  # a list is overwritten before its last reader
    "update_reads_around    unit_fusion_runtime_update_cycle" # a list is overwritten by what is only loaded from its other elements
    "parts_merged           unit_fusion_runtime_arithmetic" # calls on other parts of a list are taken for the same
    "offset_lost            batch emulated"  # a part of a list seen through a map starts at 0
    "tail_transposed        batch emulated"  # a gather reads the last block at wrong places
    "old_name_updated       unit_fusion_runtime_update_cycle" # another name for the old value of a list gets the next one
    "stale_double_buffer    unit_fusion_runtime_double_buffers" # a list that alternated between two memories keeps its old value
    "one_iteration_more     batch emulated"  # a loop does one iteration more
    "colours_collide        unit_fusion_connectivity_cell_colouring" # cells of a colour share a target
    "columns_lost           unit_fusion_runtime_nested" # the last, partial vector of a row is left out
    "rows_lost              unit_fusion_runtime_nested" # a part leaves out its last row
    "row_length_transposed  unit_fusion_runtime_nested" # rows are taken to be as long as columns
    "slices_mixed           unit_fusion_runtime_nested" # one kernel uses sums over rows and sums over columns again
    "overwritten_early      unit_fusion_runtime_nested" # a matrix is overwritten before a later pass computes from it
    "open_restarted         unit_fusion_runtime_nested" # each row starts the sums of the columns again
    "part_unfinished        unit_fusion_runtime_nested" # the last part is not in a combined sum
    "mirror_lost            unit_fusion_runtime_triangles" # the entries of a symmetric matrix count only where they are stored
    "diagonal_twice         unit_fusion_runtime_triangles" # and those on its diagonal twice
    "triangle_exceeded      unit_fusion_runtime_triangles" # rows of a triangle are taken to be whole
    "plan_for_other_sizes   unit_fusion_runtime_nested" # the second plan of a script runs where the first one fits
    "rank_lost              unit_fusion_runtime_nested_clusters" # all blocks of a cluster have the first one's part of a row
    "late_row_elsewhere     unit_fusion_runtime_nested_clusters" # what is received one row later belongs to another row
    "panel_part_twice       unit_fusion_runtime_nested_clusters" # all blocks of a cluster have the first one's part of a panel
    "place_shared           unit_fusion_runtime_nested_clusters" # all steps of a panel in shared memory have one place
    "lane_sum_elsewhere     unit_fusion_runtime_nested_clusters" # a lane stores the sum of another row
    "second_plan_lost       unit_fusion_compile_cover_choose" # a plan that holds columns has no second one
    "partial_dropped        unit_fusion_codegen_cuda_kernels" # blocks that join partial results leave out the last one
    "order_of_lanes         unit_fusion_runtime_own_operators" # lanes of a vector are combined in another order
    "order_of_threads       unit_fusion_runtime_own_operators" # threads of a warp are combined in another order
    "identity_zero          unit_fusion_runtime_own_operators" # an operator starts from zero
    "joint_threads_apart    emulated"        # threads of an element that shuffle are not in one warp
    "joint_threads_masked   emulated"        # threads without an element do not take part in native bodies
    "scratch_of_all         emulated"        # the elements of a block have one and the same shared memory in native bodies
    "scratch_without_barrier unit_fusion_library_native_bodies" # a native body writes shared memory that the one before still reads
    "native_load_elsewhere  emulated"        # a native body's own routine loads through a connectivity
    "native_part_ignored    emulated"        # the first thread stores every thread's part of a result
    "tiles_interleaved      unit_fusion_runtime_own_operators" # threads with several tiles ignore the order of elements
    "tiles_overwritten      unit_fusion_runtime_own_operators" # of several tiles a thread keeps the last one alone
    "constraint_ignored     unit_fusion_tune_parameters" # a search tries settings that where lines exclude
    "key_without_text       unit_fusion_tune_parameters" # values of parameters are used after the function has changed
    "chance_decides         unit_fusion_tune_parameters" # noise replaces the default values of parameters
    "rank_ignored           unit_core_search_halving" # all finalists of a search are as fast as the fastest
    "stride_off             unit_fusion_runtime_coarsening" # a coarsened thread's elements are one too near
    "member_offset          unit_fusion_runtime_horizontal" # blocks of a shared launch are one off
    "member_size            unit_fusion_runtime_horizontal" # a member of a shared launch has the first one's size
    "surplus_threads        unit_fusion_runtime_horizontal" # threads beyond those of a member work on elements
    "zeroed_late            unit_fusion_runtime_horizontal" # a list is zeroed after a kernel that has moved ahead adds to it
    "launch_shared_too_early unit_fusion_plan_horizontal" # a kernel shares the launch of one that it needs
    "chunks_collide         unit_fusion_connectivity_chunk_colouring" # chunks of a colour share a target
    "edge_swapped           unit_fem_space_degrees" # nodes on an edge are in the order of each cell
    "face_rotated           unit_fem_space_degrees" # nodes on a face are in the order of each cell
    "facet_unsorted         unit_fem_space_degrees" # the two cells of a facet have its vertices in their own orders
    "normal_rotated         forms"           # the normal on side '-' points into its cell
    "facet_permuted         forms"           # points on a quadrilateral facet are another cell's in another order
    "degree_lowered         forms"           # a quadrature rule has a degree too low
    "metadata_merged        forms"           # integrals of different metadata are summed
    "component_transposed   forms"           # the components of a symmetric tensor are numbered by columns
    "piola_without_determinant forms"        # vectors with continuous normal components are not divided by det J
    "tangent_reversed       unit_fem_element_vectors" # a dof of an edge has the other direction
    "gradient_reversed      solve_vector_elements" # a gradient has the other sign at one node of each cell
    "cells_unsorted         unit_fem_space_vectors" # two cells see an edge in their own directions
    "point_missing          unit_fem_element_quadrature" # a product rule has a point too few in each direction
    "wrong_parent           unit_fem_precondition_multigrid" # a refined dof has its first parent's value
    "coarse_dof_free        unit_fem_precondition_multigrid" # a coarse dof is not constrained as the same fine one is
    "mask_lost              unit_fem_precondition_multigrid" # residuals of constrained dofs are restricted
    "restriction_scaled     unit_fem_precondition_multigrid" # restriction is not the transpose of prolongation
    "product_stale          solve_ranks_multigrid" # a product on a level reads old values of other ranks' rows
    "residual_stale         solve_ranks_multigrid" # restriction reads no residuals of other ranks' rows
    "solution_stale         solve_ranks_multigrid" # interpolation reads an old solution of other ranks' rows
    "missing_exchange       solve_ranks_on_gpus" # products on GPUs of ranks read old values of other ranks' rows
    "start_stale            solve_ranks_multigrid" # full multigrid interpolates an old solution of other ranks' rows
    "side_incomplete        solve_ranks_multigrid" # each rank computes a level from its own rows of the right-hand side
    "far_ignored            solve_single_levels" # a product of floats is not compared with that of doubles
    "gain_lost              solve_single_levels" # a correction is not scaled back
    "narrow_stale           solve_single_levels" # inputs in single precision are those of another matrix
    "eigenvalue_low         solve_multigrid_degrees" # a smoother's bound is half of the largest eigenvalue
    "diagonal_unmasked      solve_multigrid_degrees" # the diagonal of a lowered degree has the rows of Dirichlet conditions
    "copies_stale           solve_ranks_time" # products have old values of other ranks' dofs
    "copies_counted         solve_ranks_time" # sums of ranks count copies of other ranks' dofs
    "conditions_untimed     solve_ranks_time" # exchange by conditions is that at another time, where ranks collect it
    "block_of_first_rows    solve_ranks_blocks" # a rank has the first rows of a diagonal, not its own
    "viscosity_stale        solve_ranks_blocks" # viscosities at copies are those of the cells that a rank has
    "cell_behind_missing    solve_ranks_facets" # ranks lack cells behind facets of those that they assemble
    "facet_counted_twice    solve_ranks_facets" # parts of ranks have each facet between cells twice
    "cell_not_reached       solve_ranks_constraints" # ranks lack cells round dofs that depend on theirs
    "weights_stale          solve_ranks_constraints" # the first rank has no masses of others where it projects the start
    "list_not_spread        solve_ranks_resume" # ranks besides the first continue from where they start, not from a checkpoint
    "mean_kept              solve_ranks_resume" # the first rank collects a pressure with the constant that equations leave open
    "chunk_of_sums_lost     unit_fem_eigen_columns_on_device" # sums over rows of blocks of vectors lack those of the last chunk
    "dropped_row_kept       unit_fem_eigen_columns_on_device" # products have the rows that are left out
    "iterate_not_exchanged  solve_ranks_newton" # ranks compute a residual without each other's part of the iterate
    "coefficient_stale      solve_multigrid_degrees" # lowered degrees keep the coefficient of the first tangent
    "weights_of_lower_degree unit_fem_precondition_multigrid" # a smoother has the weights of another degree
)

if [ ! -f "$folder/build.ninja" ]; then
    cmake -S "$source" -B "$folder" -G Ninja -DCMAKE_BUILD_TYPE=Release -DWEFT_FAULT_INJECTION=ON \
        >"$folder.log" 2>&1 || { cat "$folder.log"; exit 1; }
fi
# script TEST: the file of a test that is a shell script
script() { echo "$source/tests/solve/test_${1#solve_}.sh"; }
targets=(fuzz_plans forms_conformance solve poisson emulated_cuda emulated_nvrtc unit_fusion_runtime_ranks)
for test in $(printf '%s\n' "${bugs[@]}" | grep -oE '(unit|solve)_[a-z_]*' | sort -u); do
    [ -e "$(script "$test")" ] || targets+=("$test")
done
! ninja -C "$folder" -t query weft-gmsh >/dev/null 2>&1 || targets+=(weft-gmsh)
ninja -C "$folder" "${targets[@]}" >"$folder.log" 2>&1 ||
    { tail -n 40 "$folder.log"; exit 1; }

# the list names exactly the bugs that the sources can inject
injected=$(grep -ohE 'weft_fault\([^;)]*"[a-z_]+"\)' -r "$source"/{core,fusion,fem,forms} | grep -oE '"[a-z_]+"' | tr -d \" | sort -u)
listed=$(printf '%s\n' "${bugs[@]}" | sed 's/ .*//' | sort)
diff <(echo "$injected") <(echo "$listed") || { echo "the list differs from the bugs in the sources"; exit 1; }

run() { # does this test pass?
    case $1 in
    batch | emulated)
        "$folder/fuzz_plans" --plain --device "$1" --count "$scripts" --seed 1 --jobs "$(nproc)"
        ;;
    forms) "$folder/forms_conformance" "$source/tests/conformance/own" ;;
    *)
        if [ -e "$(script "$1")" ]; then
            WEFT_BUILD=$folder bash "$(script "$1")"
        else
            "$folder/tests/$1"
        fi
        ;;
    esac >"$folder.out" 2>&1
}

# A test has seen something wrong, and not only could not run.
saw() {
    grep -qE 'is [^ ]*, not |ended by signal|does not (fit|compile)|^\[  FAILED  \]|^FAILED: |is not that of one rank|differs by|has the degrees' "$folder.out"
}

for test in $(printf '%s\n' "${bugs[@]}" | tr ' ' '\n' | grep -E '^(batch|emulated|forms|(unit|solve)_.*)$' | sort -u); do
    run "$test" || { tail -n 20 "$folder.out"; echo "$test fails without any bug"; exit 1; }
    ! saw || { echo "$test passes and speaks of failures"; exit 1; }
done
status=0
for entry in "${bugs[@]}"; do
    read -r bug tests <<<"$entry"
    caught=
    for test in $tests; do
        WEFT_FAULT=$bug run "$test" || { caught=$test; break; }
    done
    if [ -n "$caught" ] && ! saw; then
        printf '%-24s STOPS %s, which does not say that anything is wrong\n' "$bug" "$caught"
        tail -n 5 "$folder.out"
        status=1
    elif [ -n "$caught" ]; then
        printf '%-24s caught by %s: %s\n' "$bug" "$caught" \
            "$(grep -m1 -E 'is [^ ]*, not |ended by signal|does not (fit|compile)|error: Failure|FAILED|differs by|has the degrees' "$folder.out" | cut -c1-120)"
    else
        printf '%-24s NOT CAUGHT by %s\n' "$bug" "$tests"
        status=1
    fi
done
echo "${#bugs[@]} bugs"
exit $status
