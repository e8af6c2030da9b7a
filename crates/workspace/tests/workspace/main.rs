//! Folders and their kept states as their users see them: one program, so that it is linked once.

#[cfg(test)]
mod blobs;
#[cfg(test)]
mod collecting;
#[cfg(test)]
mod damage;
#[cfg(test)]
mod files;
#[cfg(test)]
mod generated;
#[cfg(test)]
mod git;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod scale;
#[cfg(test)]
mod support;
