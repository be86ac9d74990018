# shellcheck shell=dash disable=SC2154
# The first boot of bench/rt-vm/run: tails beside cyclictest, priorities, priority inheritance, vecud doctor.

vecud_run() {
    rig=$1
    name=$2
    vecud run "/vecud/$rig" --stop-time "$seconds" --mode realtime --out "/tmp/out" --quiet >"$name.log" 2>&1
    echo $? >"$name.code"
    cp /tmp/out/report.json "$name.json"
    cp /tmp/out/histograms.hlog "$name.hlog"
    rm -rf /tmp/out
}

begin engine
vecud_run examples/engine.toml engine &
running=$!
sleep $((seconds / 2))
# In the midst of the run: thread ids, names, policies and priorities of everybody.
cat /proc/[0-9]*/task/*/stat >threads 2>/dev/null
wait $running
end

repetition=1
while [ $repetition -le "$repetitions" ]; do
    begin "tails$repetition"
    bare bare1 "$seconds" 1
    vecud_run bench/rt-vm/one_clock.toml vecud1
    # Two threads, due together.
    bare bare2 "$seconds" 2
    vecud_run bench/rt-vm/two_clocks.toml vecud2
    end
    repetition=$((repetition + 1))
done

begin pi_stress
pi_stress --duration=5 --groups=1 --uniprocessor --quiet >pi_stress.log 2>&1
echo $? >pi_stress.code
end

begin inheritance
# Bursts of many milliseconds above `slow` and below `fast`, at another rhythm than theirs.
# shellcheck disable=SC2016
chrt -f $((priority - 2)) sh -c 'while :; do i=0; while [ $i -lt 300 ]; do i=$((i + 1)); done; usleep 13700; done' 2>busy.log &
hog=$!
vecud_run bench/rt-vm/inheritance.toml inheritance
kill $hog
end

if vecud doctor --help >/dev/null 2>&1; then
    begin doctor
    vecud doctor --json >doctor.json 2>doctor.log
    echo $? >doctor.code
    end
fi
