//! Master steps of model slaves: traces against the lines of the slides, random groups, slaves that lie, and algorithms that are
//! known to be wrong.

mod agreement;
mod classes;
mod liars;
mod model;
mod order;
mod traces;
mod variants;
