//! The shim as its daemon sees it: the real program, driven through a socket pair with frames.
#![forbid(unsafe_code)]

#[cfg(test)]
mod harness;
#[cfg(test)]
mod recorded;

#[cfg(test)]
mod asking;
mod attaching;
#[cfg(test)]
mod cgroups;
#[cfg(test)]
mod cleanup;
#[cfg(test)]
mod commands;
#[cfg(test)]
mod ending;
mod fencing;
#[cfg(test)]
mod full_disk;
#[cfg(test)]
mod inputs;
#[cfg(test)]
mod launching;
#[cfg(test)]
mod nursery;
#[cfg(test)]
mod output;
#[cfg(test)]
mod rotation;
