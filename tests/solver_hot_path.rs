//! What an integration does between its construction and its end allocates nothing, events and refusals among it.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use vecud::solver::{Bound, Drive, Equations, Goal, Indicators, Method, Reached, Refused};

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

struct Counting;
// SAFETY: every call goes on to the system's allocator; counting touches a thread-local that allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller's contract is the same.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }
}
#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// A ball that bounces, and that refuses every hundredth answer.
struct Ball {
    x: [f64; 2],
    asked: u64,
}

impl Equations for Ball {
    type Failure = &'static str;

    fn tell(&mut self, _: f64, x: &[f64]) -> Result<(), Refused<&'static str>> {
        self.x.copy_from_slice(x);
        Ok(())
    }

    fn derivatives(&mut self, dx: &mut [f64]) -> Result<(), Refused<&'static str>> {
        self.asked += 1;
        dx.copy_from_slice(&[self.x[1], -9.81 - 0.1 * self.x[1]]);
        if self.asked.is_multiple_of(100) { Err(Refused::Discard("now and then")) } else { Ok(()) }
    }
}

impl Indicators for Ball {
    fn indicators(&mut self, z: &mut [f64]) -> Result<(), Refused<&'static str>> {
        z[0] = self.x[0];
        Ok(())
    }
}

#[test]
fn nothing_is_allocated_under_way() {
    let (internal_step, tolerance) = (1e-3, 1e-6);
    for method in [
        Method::Euler { internal_step },
        Method::Rk4 { internal_step },
        Method::Dopri5 { tolerance },
        Method::Bdf { tolerance },
        Method::Auto { tolerance },
    ] {
        let mut ball = Ball { x: [0.0; 2], asked: 0 };
        let mut drive = Drive::new(method, 2, 1);
        let before = ALLOCATIONS.get();
        drive.states_mut().copy_from_slice(&[1.0, 0.0]);
        drive.set_nominals(&[1.0, 0.0]);
        drive.restart(&mut ball, 0.0).unwrap();
        let mut bound = Bound { events: 1000, right_hand_sides: 1_000_000 };
        while let Reached::Event { .. } = drive.to(&mut ball, &Goal::end(0.0, 2.0), &mut bound).unwrap() {
            let (now, speed) = (drive.time(), drive.states()[1]);
            drive.states_mut().copy_from_slice(&[f64::MIN_POSITIVE, -0.7 * speed]);
            drive.restart(&mut ball, now).unwrap();
        }
        assert_eq!(ALLOCATIONS.get(), before, "{method:?}");
        let counts = drive.counts();
        assert!(counts.events >= 4 && counts.discarded > 0 && drive.time() == 2.0, "{counts:?}");
    }
}
