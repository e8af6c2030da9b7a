//! The switches that a supervisor sets on itself for good.
//!
//! In a test program of its own: no other test could run beside them.

use edgeplane_os::signals;
use rustix::process::{DumpableBehavior, dumpable_behavior, getpgrp, getpid, getsid};

#[test]
fn supervisor_is_untraceable_and_leads_its_session() {
    signals::forbid_tracing().unwrap();
    assert_eq!(dumpable_behavior().unwrap(), DumpableBehavior::NotDumpable);
    let led_already = getpgrp() == getpid();
    assert_eq!(signals::start_session().is_err(), led_already);
    assert!(led_already || getsid(None).unwrap() == getpid());
}
