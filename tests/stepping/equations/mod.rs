//! FMUs for Model Exchange that are written as equations (`fmus/common/equations.h`): they compute what their closed forms say, and they
//! answer Error to every call that is out of place.

mod implicit;
mod importer;
mod models;
mod rules;
mod steps;
