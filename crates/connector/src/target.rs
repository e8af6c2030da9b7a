//! Where a server is: a program that is run, or an address where one runs already.

use std::{ffi::OsString, fmt, path::PathBuf};

use crate::Oauth;

/// Where a server is.
#[derive(Debug, Clone)]
pub enum Target {
    /// A program, spoken to over its standard streams.
    Program(Program),
    /// An address, spoken to over HTTP.
    Address(Address),
}

/// A program that is a server.
#[derive(Clone)]
pub struct Program {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Its whole environment: nothing is handed down.
    pub environment: Vec<(String, String)>,
    /// The folder that it starts in.
    pub folder: PathBuf,
    /// Where its program is looked for, if it is named without a folder.
    pub search_path: OsString,
    /// What marks everything that it starts: the value of [`crate::MARK`] in its environment.
    pub mark: String,
}

impl fmt::Debug for Program {
    /// Without the values of its variables: some are secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.environment.iter().map(|(name, _)| name.as_str()).collect();
        f.debug_struct("Program")
            .field("command", &self.command)
            .field("environment", &names)
            .field("folder", &self.folder)
            .finish_non_exhaustive()
    }
}

/// Where a server runs already.
#[derive(Clone)]
pub struct Address {
    /// Its address.
    pub url: String,
    /// The bearer token that is shown to it.
    pub bearer: Option<String>,
    /// As which client a token is got that is shown to it, in place of one that is given.
    pub oauth: Option<Oauth>,
    /// What is sent with each request.
    pub headers: Vec<(String, String)>,
}

impl fmt::Debug for Address {
    /// Without the token and the values of what is sent: some are secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.headers.iter().map(|(name, _)| name.as_str()).collect();
        f.debug_struct("Address").field("url", &self.url).field("headers", &names).finish_non_exhaustive()
    }
}
