//! Reference FMUs for Model Exchange, integrated through the library by Euler's method: what the equations of three versions of FMI come
//! to is what a few lines of Rust come to.

use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;

use crate::tools::foreign::skipped;
use crate::tools::reference_fmus::{ReferenceFmu, reference_fmus};
use vecud::ffi::{
    Attempt, Failure, ForeignCall, InstanceControl, InstanceHost, Jacobian, Library, MadeFor, Model, Numbers, Provides,
    Reasons, SparsityPattern, Status,
};
use vecud::fmu::description::{Abi, Interface, ValueReference};
use zip::ZipArchive;

/// Steps of Euler's method a second.
const STEPS: u32 = 1000;

struct Host;

impl InstanceHost for Host {
    fn log(&self, status: Status, _: Option<&[u8]>, message: &[u8]) {
        assert!(status <= Status::Warning, "{}", String::from_utf8_lossy(message));
    }

    fn foreign_call(&self, what: ForeignCall) {
        panic!("{what:?}");
    }
}

/// An FMU in a folder of its own.
struct Loaded {
    library: Arc<Library>,
    token: String,
    _folder: tempfile::TempDir,
}

fn load(fmu: &ReferenceFmu, abi: Abi) -> Loaded {
    let folder = crate::program::tempdir().unwrap();
    ZipArchive::new(File::open(&fmu.path).unwrap()).unwrap().extract(folder.path()).unwrap();
    let platform = if abi == Abi::Fmi3 { "x86_64-linux" } else { "linux64" };
    // As the archives are called, so are the libraries in them.
    let name = fmu.path.file_stem().unwrap();
    let path: PathBuf = folder.path().join("binaries").join(platform).join(name).with_extension("so");
    let library = Library::load(&path, abi, Interface::ModelExchange).unwrap_or_else(|error| panic!("{error}"));
    let token = [fmu.attribute("guid"), fmu.attribute("instantiationToken")].concat();
    Loaded { library: Arc::new(library), token, _folder: folder }
}

impl Loaded {
    /// Its equations in the Event Mode at the start.
    fn model(&self, numbers: Numbers) -> (InstanceControl, Model) {
        let made =
            self.library.instantiate(&MadeFor::ModelExchange, "i", &self.token, None, false, Arc::new(Host)).unwrap();
        let instance = made.enter_initialization_mode(0.0, None, None).unwrap();
        let (control, mut model) = instance.exit_initialization_mode().unwrap().into_model(numbers);
        model.is_in_initial_event_mode(0.0);
        assert_eq!(model.numbers(), Ok(numbers));
        (control, model)
    }
}

/// Iterates until nothing is to be updated.
fn handle(model: &mut Model) -> Result<(), Failure> {
    let mut event = model.event_mode().expect("it is in Event Mode");
    while event.update()?.needs_update {}
    model.enter_continuous_time_mode()?;
    Ok(())
}

fn done(attempt: Result<Attempt, Failure>) {
    assert!(matches!(attempt, Ok(Attempt::Done(_))), "{attempt:?}");
}

/// The states at each step, and how often the FMU had an event.
fn integrate(loaded: &Loaded, numbers: Numbers, seconds: u32) -> (Vec<Vec<f64>>, usize) {
    let (control, mut model) = loaded.model(numbers);
    handle(&mut model).unwrap();
    let mut states = vec![0.0; numbers.states];
    let mut derivatives = states.clone();
    let (mut before, mut now) = (vec![0.0; numbers.event_indicators], vec![0.0; numbers.event_indicators]);
    let (mut all, mut events) = (Vec::new(), 0);
    let mut continuous = model.continuous_time().unwrap();
    continuous.states(&mut states).unwrap();
    done(continuous.indicators(&mut before));
    let step = 1.0 / f64::from(STEPS);
    for number in 1..=seconds * STEPS {
        let time = f64::from(number) * step;
        let mut continuous = model.continuous_time().unwrap();
        done(continuous.derivatives(&mut derivatives));
        done(continuous.set_time(time));
        states.iter_mut().zip(&derivatives).for_each(|(x, dx)| *x += step * dx);
        done(continuous.set_states(&states));
        let completed = continuous.completed_integrator_step(true).unwrap();
        done(continuous.indicators(&mut now));
        if completed.enter_event_mode || before.iter().zip(&now).any(|(before, now)| (*before > 0.0) != (*now > 0.0)) {
            events += 1;
            model.enter_event_mode(time, &Reasons::default()).unwrap();
            handle(&mut model).unwrap();
            let mut continuous = model.continuous_time().unwrap();
            continuous.states(&mut states).unwrap();
            done(continuous.indicators(&mut now));
        }
        before.copy_from_slice(&now);
        all.push(states.clone());
    }
    control.terminate(vec![model]).unwrap();
    (all, events)
}

/// Calls `check` with each Reference FMU of that name, in each version in which it has Model Exchange.
fn in_each_version(test: &str, name: &str, mut check: impl FnMut(Abi, &Loaded)) {
    let Some(found) = reference_fmus(test) else { return };
    for (abi, version) in [(Abi::Fmi3, "3.0"), (Abi::Fmi2, "2.0"), (Abi::Fmi1, "1.0")] {
        let is_it = |fmu: &&ReferenceFmu| {
            let has_equations = fmu.has("ModelExchange") || (abi == Abi::Fmi1 && !fmu.has("Implementation"));
            has_equations && fmu.attribute("fmiVersion") == version && fmu.path.file_stem().unwrap() == name
        };
        match found.iter().find(is_it) {
            Some(fmu) => check(abi, &load(fmu, abi)),
            None => skipped(&format!("{test}: VECUD_REFERENCE_FMUS has no {name} of FMI {version}")),
        }
    }
}

fn is_near(one: f64, other: f64) -> bool {
    (one - other).abs() <= 1e-9
}

#[test]
fn dahlquist_decays() {
    in_each_version("dahlquist_decays", "Dahlquist", |abi, loaded| {
        let (states, events) = integrate(loaded, Numbers { states: 1, event_indicators: 0 }, 10);
        assert_eq!(events, 0);
        let mut x = 1.0;
        for state in states {
            x -= x / f64::from(STEPS);
            assert!(is_near(state[0], x), "{abi:?}: {state:?} {x}");
        }
        assert!(x > 0.0 && x < 5e-5);
    });
}

/// Its directional derivatives, where it has them, are those of its equations.
#[test]
fn van_der_pol_swings() {
    in_each_version("van_der_pol_swings", "VanDerPol", |abi, loaded| {
        let numbers = Numbers { states: 2, event_indicators: 0 };
        let (states, events) = integrate(loaded, numbers, 20);
        assert_eq!(events, 0);
        let mut x = [2.0, 0.0];
        for state in &states {
            let derivative = [x[1], (1.0 - x[0] * x[0]) * x[1] - x[0]];
            x = [x[0] + derivative[0] / f64::from(STEPS), x[1] + derivative[1] / f64::from(STEPS)];
            assert!(is_near(state[0], x[0]) && is_near(state[1], x[1]), "{abi:?}: {state:?} {x:?}");
        }
        if abi == Abi::Fmi1 {
            return;
        }
        let references = |all: [u32; 2]| all.map(|reference| (ValueReference(reference), 1));
        let provides = Provides { directional: true, ..Provides::default() };
        let jacobian = Jacobian::new(provides, &references([2, 4]), &references([1, 3]));
        let mut pattern = SparsityPattern::new(jacobian, vec![(0, 1), (1, 0), (1, 1)]);
        let (control, mut model) = loaded.model(numbers);
        handle(&mut model).unwrap();
        let mut continuous = model.continuous_time().unwrap();
        let [x0, x1] = [1.5, -0.5];
        done(continuous.set_states(&[x0, x1]));
        let mut values = [0.0; 3];
        pattern.read(&mut continuous, &mut values).unwrap();
        let expected = [1.0, -2.0 * x0 * x1 - 1.0, 1.0 - x0 * x0];
        assert!(values.iter().zip(expected).all(|(value, expected)| is_near(*value, expected)), "{values:?}");
        control.terminate(vec![model]).unwrap();
    });
}

#[test]
fn a_ball_bounces_lower_and_lower() {
    in_each_version("a_ball_bounces_lower_and_lower", "BouncingBall", |abi, loaded| {
        let (states, events) = integrate(loaded, Numbers { states: 2, event_indicators: 1 }, 3);
        assert!(states.iter().flatten().all(|value| value.is_finite()));
        // Where it is highest between two bounces.
        let mut highest = vec![1.0];
        for pair in states.windows(2) {
            if pair[0][1] > 0.0 && pair[1][1] <= 0.0 {
                highest.push(pair[1][0]);
            }
        }
        println!("{abi:?}: {events} events, {highest:?}");
        assert!(events > 3 && highest.len() > 3);
        for pair in highest.windows(2) {
            // A height shrinks by the square of the coefficient of restitution.
            assert!(pair[1] < 0.6 * pair[0], "{abi:?}: {highest:?}");
        }
        assert!((highest[1] - 0.49).abs() < 0.02, "{abi:?}: {highest:?}");
    });
}
