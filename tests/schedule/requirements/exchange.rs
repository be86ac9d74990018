//! Values between FMUs at one activation time.

use super::program::{Outcome, Rig, real_time_on_own_core};

/// The outputs of `fast` are its inputs plus the number of the activation: the consumer's shows which value it was given.
fn transfers(first: &str, second: &str, run: &Outcome) {
    let signals = run.signals();
    let (sent, got) = (signals.column("producer.out_f64"), signals.column("consumer.in_f64"));
    assert_eq!(sent, got, "{first} before {second} in the rig");
    let numbers: Vec<f64> = sent.iter().map(|value| value.parse().unwrap()).collect();
    assert!(numbers.windows(2).all(|pair| pair[0] < pair[1]), "{numbers:?}");
    assert_eq!(numbers.len(), 100);
}

#[test]
fn a_consumer_that_is_released_with_its_producer_has_the_value_of_that_time() {
    for (first, second) in [("producer", "consumer"), ("consumer", "producer")] {
        let rig = || {
            Rig::new("stop_time = 0.1")
                .tracer(first, "count_up = true")
                .tracer(second, "count_up = true")
                .connect("producer.out_f64", "consumer.in_f64")
                .more("[record]\nsignals = ['producer.out_f64', 'consumer.in_f64']")
        };
        transfers(first, second, &rig().run_virtual().exits(0));
        // Without priorities each FMU takes turns by itself: nothing puts a producer before a consumer.
        real_time_on_own_core("a_consumer_that_is_released_with_its_producer_has_the_value_of_that_time", || {
            transfers(first, second, &rig().run().exits(0));
        });
    }
}
