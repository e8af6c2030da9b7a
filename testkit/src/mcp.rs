//! A scripted server of the Model Context Protocol, well-behaved or hostile.

/// The program of the server, in Python, to be written to a file; its first argument says how it behaves.
pub const SERVER: &str = include_str!("mcp_server.py");
