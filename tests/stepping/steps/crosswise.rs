//! Two FMUs that feed each other (requirements, row 74): the founding text's example, of which the solution is known.

use super::program::{Rig, real_time};
use super::{numbers, run};
use std::path::Path;

/// x' = y, y' = −x, from (1, 0), h = 0.01 s, 0 to 10 s. Each holds over a step what the other had at its begin, so that n steps are
/// the power (1 + ih)ⁿ: radius √(1 + h²)ⁿ, angle −n·atan h. The exact solution, cos t and −sin t, is as far away as that.
#[test]
fn two_fmus_that_feed_each_other_follow_the_known_solution() {
    let fmu = Path::new(env!("CARGO_MANIFEST_DIR")).join("fmus/integrator");
    let text = format!(
        "[rig]\nstop_time = 10\n[record]\n[fmu.x]\npath = '{0}'\nstart = {{ y_0 = 1 }}\n[fmu.y]\npath = '{0}'\nstart = {{ gain = -1 }}\n\
         [[connect]]\nfrom = 'y.y'\nto = 'x.u'\n[[connect]]\nfrom = 'x.y'\nto = 'y.u'\n",
        fmu.display()
    );
    let rig = Rig::of_text(&text);
    let outcome = run(&rig, "virtual").exits(0);
    let (x, y) = (numbers(&outcome, "x.y"), numbers(&outcome, "y.y"));
    assert_eq!(x.len(), 1001);
    let h = 0.01_f64;
    for (n, (x, y)) in x.iter().zip(&y).enumerate() {
        let (radius, angle) = ((1.0 + h * h).sqrt().powi(n as i32), n as f64 * h.atan());
        assert!((x - radius * angle.cos()).abs() < 1e-12 && (y + radius * angle.sin()).abs() < 1e-12, "{n}: {x} {y}");
        let t = n as f64 * h;
        assert!((x - t.cos()).hypot(y + t.sin()) <= radius - 1.0 + t * h * h / 3.0 + 1e-12, "{n}");
    }
    real_time("two_fmus_that_feed_each_other_follow_the_known_solution", || {
        let short = Rig::of_text(&text.replace("stop_time = 10", "stop_time = 0.5"));
        let [real, same] = ["realtime", "virtual"].map(|mode| run(&short, mode).exits(0).file("signals.csv"));
        assert_eq!(real, same);
    });
}
