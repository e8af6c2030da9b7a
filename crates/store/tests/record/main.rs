//! The record as its users see it: one program, so that it is linked once.

#[cfg(test)]
mod appending;
#[cfg(test)]
mod artifacts;
#[cfg(test)]
mod auditing;
#[cfg(test)]
mod automations;
#[cfg(test)]
mod calls;
#[cfg(test)]
mod commands;
#[cfg(test)]
mod crashing;
#[cfg(test)]
mod deciding;
#[cfg(test)]
mod decisions;
#[cfg(test)]
mod erasing;
#[cfg(test)]
mod fates;
#[cfg(test)]
mod filling;
#[cfg(test)]
mod folding;
#[cfg(test)]
mod invocations;
#[cfg(test)]
mod leading;
#[cfg(test)]
mod offers;
#[cfg(test)]
mod opening;
#[cfg(test)]
mod resources;
#[cfg(test)]
mod scheduling;
#[cfg(test)]
mod subagents;
#[cfg(test)]
mod support;
#[cfg(test)]
mod threads;
#[cfg(test)]
mod traces;
#[cfg(test)]
mod turns;
#[cfg(test)]
mod workspaces;
