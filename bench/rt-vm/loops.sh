# shellcheck shell=dash disable=SC2154
# The second boot of bench/rt-vm/run: closed loops of a plant and a control unit.

# What a closed loop records in real time, and then in virtual time.
closed_loop() { # stage, rig
    begin "$1"
    for mode in realtime virtual; do
        vecud run "/vecud/$2" --stop-time "$loop_seconds" --mode $mode --out /tmp/$mode --quiet >$mode.log 2>&1
        echo $? >$mode.code
        cp /tmp/$mode/report.json $mode.json
        wc -l </tmp/$mode/signals.csv >$mode.lines
    done
    # The first line, with its time in front, that is another one in virtual time.
    cmp /tmp/realtime/signals.csv /tmp/virtual/signals.csv >cmp.log 2>&1 ||
        awk '(getline expected <"/tmp/virtual/signals.csv") < 1 || $0 != expected { print; exit }' /tmp/realtime/signals.csv >differs
    rm -rf /tmp/realtime /tmp/virtual
    end
}

# What a thread with the priority of the plants' steps misses that has the core for itself.
begin bare
bare bare "$loop_seconds" 1
end

# A plant that makes steps itself, and one that is integrated and has events, each with a control unit of clocks.
closed_loop steps examples/engine_cs.toml
closed_loop equations examples/suspension.toml
