//! The text of `vecud check`.

use super::*;
use crate::interval::interval_text;
use crate::table::render;
use vecud_base::time::Fraction;

#[test]
fn a_plan_reads_like_this() {
    let plan = ecu_and_plant(
        "[rig]\nname = \"demo\"\nstop_time = 2\n\
         [fmu.ecu.clock.fast]\nmax_execution_us = 250\nmax_overruns = 3\n\
         [[connect]]\nfrom = \"plant.speed\"\nto = \"ecu.speed\"\n\
         [[trigger]]\nclock = \"ecu.isr\"\nfrom = \"ecu.tick\"\n[record]\nsignals = [\"ecu.*\"]\n",
    );
    let expected = "\
rig demo: real time, from 0 s to 2 s; an error stops the run

Tasks, most urgent first
  FMU    clock  kind       activated    FMI priority  level  FIFO  core  thread      limits
  ecu    isr    triggered  by ecu.tick             0      0    89     3  ecu.isr
  plant  step   constant   every 1 ms              7      0    88     3  plant.step
  ecu    fast   constant   every 1 ms              1      1    87     3  ecu.fast    execution 250 µs, overruns 3
  ecu    slow   constant   every 10 ms             2      2    86     3  ecu.slow

Cores
  core 3  4 tasks  ecu, plant

Connections
  plant.speed  →  ecu.speed  Float64  immediate: without overruns the value of the same time: ecu.fast is less urgent than plant.step

Triggers
  ecu.tick  →  ecu.isr  ticks in ecu.slow

Recorded
  6 columns, ecu.speed to ecu.alive

Recorded with the same bytes in real and in virtual time
  4 of 6 columns, as long as nothing is late
  assumed: columns of ecu depend on no memory that its partitions share, which vecud cannot see
  assumed: no FMU keeps anything for one thread (thread-local variables): in real time each of its tasks has a thread of its own, and another one instantiates it

May differ from run to run in real time
  ecu.alive: several partitions compute it: it belongs to no clock, or to several
  ecu.speed: the connection plant.speed → ecu.speed is immediate
";
    assert_eq!(render(&plan), expected);
}

#[test]
fn intervals_are_shown_exactly_and_in_units_that_people_read() {
    for (counter, resolution, text) in [
        (1, 100, "10 ms"),
        (2, 1, "2 s"),
        (5, 2, "2500 ms"),
        (1, 3, "1/3 s"),
        (1, 4_000_000, "250 ns"),
        (1_630_545, 1_000_000_000, "1.630545 ms"),
        (2_000_500, 1_000_000_000, "2.0005 ms"),
        (1_010, 1_000_000_000, "1.01 µs"),
        (3_000_000_001, 1_000_000_000, "3.000000001 s"),
    ] {
        assert_eq!(interval_text(Fraction::new(counter, resolution).unwrap()), text);
    }
}
