#!/usr/bin/env bash
# labels: gpu
# compute-sanitizer on the kernels of dense products: memcheck, racecheck and synccheck of every stencil, with whole tiles,
# edges and columns that are not aligned, of batches, of products by three real ones, and of transposed factors. Sizes are small, since racecheck is
# slow. Results are checked in the same runs. Skipped where there is no GPU or no compute-sanitizer, or where that does
# not support the device. TOOLS names other tools.
set -euo pipefail
weft=${WEFT_BUILD:?}/weft
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
sanitizer=$(command -v compute-sanitizer || echo /usr/local/cuda/bin/compute-sanitizer)
if [ ! -x "$sanitizer" ]; then
    echo "skipped: compute-sanitizer is not installed"
    exit 77
fi
if ! "$weft" gemm D NN 8 8 8 --device cuda > /dev/null 2> "$folder/why"; then
    grep -q "no CUDA driver\|no GPU\|no cuda:0" "$folder/why" && { head -1 "$folder/why"; exit 77; }
    cat "$folder/why"
    exit 1
fi

# type, orders, sizes, then the point (-: the default) and other options
cat > "$folder/cases" <<'EOC'
D|NN,TT|64 64 64|mma 32,32,1,16,16,3,2,8,0,1,8,0
D|all|66 38 40|mma 32,32,1,32,16,4,2,4,2,1,1,1
D|NN,TN|65 33 17|mma 64,32,2,32,32,2,4,16,1,1,8,0
D|NT|65 33 17|mma 32,32,1,16,16,3,2,0,2,1,8,1
Z|CN,TT|33 33 20|mma 32,32,1,16,16,3,1,4,1,1,8,0
Z|NC|64 32 32|mma 32,32,1,16,32,3,2,8,0,1,8,1
D|NN,TT|65 33 17|fma 64,32,8,4,4,8,2,3,1,8,1
S|all|66 70 20|fma 64,64,16,8,4,4,2,3,1,8,0
S|NN,TT|65 33 17|fma 64,64,16,8,4,4,1,4,1,8,1
C|NN,CT|33 65 18|fma 64,32,8,4,4,8,2,3,1,8,0
D|TN|33 17 25|direct 2,3,64,1,1|--batch 9
D|TN|32 17 25|direct 1,3,64,0,1|--batch 9
D|NN,TT|64 64 64|direct 4,2,128,1,1|--batch 3
S|NN,TT|24 20 31|direct 2,3,64,1,1|--batch 9
D|NN,TT|5 3 4|small 3,2,64|--batch 70
Z|NN,TC|44 28 29|direct 3,2,64,4,1|--batch 5
S|NN,TT|18 18 18|batch 6,3,3,4,1,1|--batch 9
S|all|28 32 44|batch 8,4,1,1,3,1|--batch 5
C|NN,CT,NT|28 21 18|batch 7,7,2,3,2,1|--batch 7
C|TN|7 5 9|batch 3,2,1,5,1,1|--batch 13
C|NC|17 9 12|-|--batch 7
Z|CN|33 29 20|-|--algorithm 3m
S|TN,CC|66 70 20|fma 64,64,16,8,4,4,2,3,1,8,0+AB
Z|CN|33 29 21|mma 32,32,1,16,16,3,1,4,1,1,8,0+A
C|NC|65 66 18|fma 64,32,8,4,4,8,2,3,1,8,0+B
C|all|66 34 22|fma 64,32,8,4,8,8,2,4,4,8,1
D|all|34 50 24|mma 48,48,1,48,16,4,2,4,2,1,8,0
D|NT|66 34 23|mma 64,64,1,32,32,4,2,8,2,2,8,0
D|NN,TT|68 76 36|mma 64,64,1,32,32,4,2,8,2,2,8,0
S|all|68 76 36|fma 64,64,16,8,4,4,2,3,1,8,0
C|NC,CN|66 34 22|fma 64,32,8,4,8,8,2,4,4,8,1
EOC

# one TOOL CASE: prints what the tool prints if it finds an error, or if a result is wrong
one() {
    local tool=$1 type orders sizes point options words at=$folder/log.$BASHPID
    IFS='|' read -r type orders sizes point options <<< "$2"
    read -ra words <<< "$sizes --device cuda --check $options"
    local -a command=("$weft" gemm "$type" "$orders" "${words[@]}")
    [ "$point" = - ] || command+=(--point "$point")
    [ "$tool" = none ] || command=("$sanitizer" --tool "$tool" --error-exitcode 9 "${command[@]}")
    if timeout 300 "${command[@]}" > "$at" 2>&1; then
        return 0
    fi
    if grep -q "Device not supported" "$at"; then
        touch "$folder/unsupported"
        return 0
    fi
    echo "$tool: $2"
    head -40 "$at"
    return 1
}

failed=0
# first without a tool, which compiles the kernels into the cache
for tool in none ${TOOLS:-memcheck synccheck racecheck}; do
    running=()
    while read -r case; do
        one "$tool" "$case" &
        running+=($!)
        if [ ${#running[@]} -ge "$(nproc)" ]; then
            wait "${running[0]}" || failed=1
            running=("${running[@]:1}")
        fi
    done < "$folder/cases"
    for process in "${running[@]}"; do
        wait "$process" || failed=1
    done
    if [ -e "$folder/unsupported" ]; then
        echo "skipped: compute-sanitizer does not support this device"
        exit 77
    fi
    [ "$tool" = none ] || [ $failed -ne 0 ] || echo "$tool: no errors in $(wc -l < "$folder/cases") cases"
done
exit $failed
