//! The three standard streams of this process.
//!
//! Owns turning them away from whatever the starter left there. It deliberately does not touch any other descriptor.

use std::{fs::File, io};

/// Makes standard input, output and error `/dev/null`: for a process that must hold on to no terminal, file or pipe of
/// whoever started it.
///
/// # Errors
/// When `/dev/null` cannot be opened or the kernel refuses.
pub fn silence() -> io::Result<()> {
    let null = File::options().read(true).write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdin(&null)?;
    rustix::stdio::dup2_stdout(&null)?;
    rustix::stdio::dup2_stderr(&null)?;
    Ok(())
}
