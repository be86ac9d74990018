//! The derivatives of an algebraic loop's response with respect to its inputs, from directional derivatives of its FMUs.

use super::engine::Engine;
use super::group::{Failed, Group};
use super::wires::Wire;
use crate::activation_error::ActivationError;
use vecud_description::ValueReference;
use vecud_fmi::{DerivativeError, Jacobian, Provides, SparsityPattern, Status};
use vecud_solver::master::{LoopError, LuMatrix};

/// The derivatives of one FMU of a loop. All memory is taken when it is made.
pub struct Slopes {
    member: usize,
    pattern: SparsityPattern,
    values: Vec<f64>,
    /// Of each value of the pattern: an element of the loop's matrix, and the wire that leads to its row. One output may lead to several.
    elements: Vec<(usize, (usize, usize), usize)>,
}

/// A wire of a loop at one of its FMUs: its number, where its values are among the loop's, and its variable.
type AtMember = (usize, usize, (ValueReference, usize));

impl Slopes {
    /// The derivatives of an algebraic loop that goes `along` these of the wires, by FMU; `None`: a variable of it is not carried as a whole.
    pub fn of(wires: &[Wire], along: &[usize]) -> Option<Vec<Slopes>> {
        let mut first = 0;
        let mut ends = Vec::new();
        for &number in along {
            let wire = &wires[number];
            let source = wire.source()?;
            let target = wire.target()?;
            ends.push((wire.from, (number, first, source), wire.to, (number, first, target)));
            first += wire.len();
        }
        let mut members: Vec<usize> = ends.iter().map(|(from, ..)| *from).collect();
        members.sort_unstable();
        members.dedup();
        let of = |member: usize| {
            let outputs: Vec<AtMember> = ends.iter().filter(|end| end.0 == member).map(|end| end.1).collect();
            let inputs: Vec<AtMember> = ends.iter().filter(|end| end.2 == member).map(|end| end.3).collect();
            Slopes::new(member, &outputs, &inputs)
        };
        Some(members.into_iter().map(of).collect())
    }

    fn new(member: usize, outputs: &[AtMember], inputs: &[AtMember]) -> Slopes {
        // An output that leads to several inputs is asked for once.
        let mut unknowns: Vec<(ValueReference, usize)> = outputs.iter().map(|(_, _, variable)| *variable).collect();
        unknowns.sort_unstable();
        unknowns.dedup();
        let knowns: Vec<(ValueReference, usize)> = inputs.iter().map(|(_, _, variable)| *variable).collect();
        let row_of = |variable: ValueReference| {
            unknowns.iter().take_while(|(other, _)| *other != variable).map(|(_, elements)| elements).sum::<usize>()
        };
        let columns: Vec<usize> =
            inputs.iter().flat_map(|(_, first, (_, elements))| *first..first + elements).collect();
        let rows: usize = unknowns.iter().map(|(_, elements)| elements).sum();
        let places: Vec<(usize, usize)> =
            (0..rows).flat_map(|row| (0..columns.len()).map(move |column| (row, column))).collect();
        let mut elements = Vec::new();
        for &(wire, first, (variable, length)) in outputs {
            for element in 0..length {
                let row = row_of(variable) + element;
                let own = columns.iter().enumerate();
                elements.extend(own.map(|(at, &column)| (row * columns.len() + at, (first + element, column), wire)));
            }
        }
        let provides = Provides { directional: true, ..Provides::default() };
        let pattern = SparsityPattern::new(Jacobian::new(provides, &unknowns, &knowns), places);
        Slopes { member, values: vec![0.0; pattern.places().len()], pattern, elements }
    }

    /// Its elements of the loop's matrix. `false`: they are not to be had.
    pub fn read(
        &mut self,
        group: &mut Group,
        wires: &[Wire],
        matrix: &mut LuMatrix,
    ) -> Result<bool, LoopError<Failed>> {
        let Slopes { member, pattern, values, elements } = self;
        let read = group.with(*member, |own, calls, _, _| {
            let Engine::Equations(model) = &mut own.engine else { return Ok(Ok(false)) };
            let Some(mut now) = model.continuous_time() else { return Ok(Ok(false)) };
            match pattern.read(&mut now, values) {
                Ok(outcome) => calls.allow(outcome).map(|()| Ok(true)),
                Err(DerivativeError::Failed(failure)) if failure.status == Status::Discard => Ok(Err(())),
                Err(DerivativeError::Failed(failure)) => Err(ActivationError::Call(failure)),
                // Differences replace derivatives that cannot be called.
                Err(_) => Ok(Ok(false)),
            }
        });
        match read.map_err(LoopError::Failed)? {
            Ok(true) => {
                for &(value, place, wire) in elements.iter() {
                    matrix.set(place.0, place.1, wires[wire].derivative(values[value]));
                }
                Ok(true)
            }
            Ok(false) => Ok(false),
            Err(()) => Err(LoopError::Discard),
        }
    }
}
