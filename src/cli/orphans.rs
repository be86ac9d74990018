//! Processes that FMU code starts and leaves behind.

use vecud_linux::offspring;

/// Makes orphans of FMU code children of this process, so that they are ended with the FMU. Tells whether they are; `outlive` hears
/// why not.
pub fn adopts(outlive: impl FnOnce(String)) -> bool {
    let adopted = offspring::adopt();
    if let Err(error) = &adopted {
        outlive(format!("PROCESSES THAT FMU CODE STARTS MAY OUTLIVE THE RUN: {error}"));
    }
    adopted.is_ok()
}
