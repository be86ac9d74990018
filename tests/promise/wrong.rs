//! The same judge over exchanges that are known to be wrong, which are compiled in for this test only:
//!
//!     cargo test --features wrong_exchange --test promise

use super::program::real_time;
use super::rigs::twenty;
use super::{Judgement, judge};

fn is_noticed(wrong: &str) {
    real_time("a wrong exchange", || match judge(&twenty(1), &[("VECUD_WRONG_EXCHANGE", wrong)]) {
        Judgement::Different(how) => println!("{wrong}: {how}"),
        Judgement::Same(_) => panic!("{wrong} was not noticed"),
        Judgement::Late(promise) => panic!("something was too late in every trial: {promise}"),
    });
}

#[test]
fn an_exchange_that_gives_the_latest_value_is_noticed() {
    is_noticed("latest");
}

#[test]
fn an_exchange_that_is_a_double_buffer_is_noticed() {
    is_noticed("double");
}
