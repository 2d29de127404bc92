//! What clients send and get, as bytes: frames, headers, the length guard, error codes.
//!
//! Nothing here does I/O. `frame` cuts requests off a connection's bytes, `header` reads who asks for what, `guard` checks
//! every length against the bytes that are there (by the tables in `schema`) before a decoder runs that trusts them.

pub mod client_software;
pub mod error;
pub mod fetch_response;
pub mod frame;
pub mod guard;
pub mod header;
pub mod produce_request;
pub mod produce_response;
mod reader;
pub mod response;
pub mod schema;
mod writer;
