//! Counters and gauges of the running broker; names are given here and nowhere else.
