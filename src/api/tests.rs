//! The APIs at their boundary: frames in, frames out, over a broker whose disk is memory.

mod admin;
mod cluster;
mod configs;
mod consumer_groups;
mod group_configs;
mod groups;
mod offsets;
mod operator;
mod positions;
mod records;
mod security;
mod table;
mod test_broker;
mod transaction_codes;
mod transaction_tools;
mod transactions;

use test_broker::TestBroker;
