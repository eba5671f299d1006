# labels: long
# Bugs planted in the compiler, one at a time (fusion/plant.h): each must be caught by a test that
# passes without it. Prints which test catches which.
set -euo pipefail
folder=${WEFT_BUILD:?}/planted
source=${WEFT_SOURCE:?}
export XDG_CACHE_HOME=$folder/test-cache

# bug: the tests that may catch it, cheapest first
bugs=(
    "missing_barrier        emulated"        # a thread reads shared memory that another has not written yet
    "missing_store_barrier  emulated"        # the same where results are stored
    "mapping_ignored        emulated"        # threads of two functions are taken to have the same data
    "overlapped_shared      emulated"        # two data in shared memory overlap by a component
    "thread_too_many        emulated"        # the last thread block works on an instance that is not there
    "wrong_neutral          emulated"        # a greatest value starts from 0
    "lanes_unmasked         batch"           # spare lanes of the last block accumulate too
    "last_chunk_lost        batch"           # a reduction leaves out its last, partial chunk
    "missed_clear           batch emulated"  # an accumulated list does not start from zero
    "barrier_skipped        batch emulated"  # no global barrier before a list is read through a map
    "sum_unfinished         batch emulated"  # no global barrier before a reduction's result is read
    "target_incomplete      batch emulated"  # no global barrier before an accumulated list is read
    "dropped_store          batch emulated"  # a result that another kernel loads through a map is not stored
    "overlapped_buffers     batch emulated"  # a kernel writes a buffer that it still reads
    "gather_overwrites      test_program_accumulate" # the second gather into a list does not add
    "wrong_order            batch emulated"  # kernels stand in an order that data do not allow
    "update_too_early       batch emulated"  # a list is overwritten before its last reader
    "parts_merged           test_program_arithmetic" # calls on other parts of a list are taken for the same
    "offset_lost            batch emulated"  # a part of a list seen through a map starts at 0
    "tail_transposed        batch emulated"  # a gather reads the last block at wrong places
    "old_name_updated       batch emulated"  # another name for the old value of a list gets the next one
    "stale_twin             emulated"        # a list that alternated between two memories keeps its old value
    "one_turn_more          batch emulated"  # a loop does one turn more
    "colours_collide        test_cell_colours" # cells of a colour share a target
    "chunks_collide         test_connectivity" # chunks of a colour share a target
)

if [ ! -f "$folder/build.ninja" ]; then
    cmake -S "$source" -B "$folder" -G Ninja -DCMAKE_BUILD_TYPE=Release -DWEFT_PLANT_BUGS=ON \
        >"$folder.log" 2>&1 || { cat "$folder.log"; exit 1; }
fi
ninja -C "$folder" fuzz_plans test_cell_colours test_connectivity \
    test_program_accumulate test_program_arithmetic >"$folder.log" 2>&1 ||
    { tail -n 40 "$folder.log"; exit 1; }

run() { # does this test pass?
    case $1 in
    batch | emulated) "$folder/fuzz_plans" --plain --device "$1" --count 340 --seed 1 ;;
    *) "$folder/tests/$1" ;;
    esac >"$folder.out" 2>&1
}

for test in batch emulated test_cell_colours test_connectivity test_program_accumulate test_program_arithmetic; do
    run "$test" || { tail -n 20 "$folder.out"; echo "$test fails without any bug"; exit 1; }
done
status=0
for entry in "${bugs[@]}"; do
    read -r bug tests <<<"$entry"
    caught=
    for test in $tests; do
        WEFT_PLANTED_BUG=$bug run "$test" || { caught=$test; break; }
    done
    if [ -n "$caught" ]; then
        printf '%-24s caught by %s: %s\n' "$bug" "$caught" \
            "$(grep -m1 -E 'is .*, not|signal|refused|error|FAILED' "$folder.out" | cut -c1-120 || true)"
    else
        printf '%-24s NOT CAUGHT by %s\n' "$bug" "$tests"
        status=1
    fi
done
echo "${#bugs[@]} bugs"
exit $status
