//! How long a model takes to load that has as many variables as the thesis's robot.

use crate::thesis::simulated::{Place, fmu};
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::Duration;
use vecud::fmu::archive::{Cache, Unpacked};
use vecud::fmu::description;

const VARIABLES: u32 = 7000;

/// Of processor time, for the whole command: a process for the FMU, the archive, the description, the library, initialisation and a
/// step. A program that is not optimised takes a while longer to read a description.
const LIMIT: Duration = Duration::from_millis(if cfg!(debug_assertions) { 1000 } else { 100 });

/// `scale` with 36 states, 98 event indicators and so many variables in all, which have names, units and dependencies as those of
/// multibody systems have.
fn description() -> String {
    let own = fs::read_to_string(fmu("scale").join("modelDescription.xml")).unwrap();
    let (before, after) = own.split_once("  </ModelVariables>").unwrap();
    let (structure, rest) = after.split_once("    <EventIndicator").unwrap();
    let (head, variables) = before.split_once("  <LogCategories>").unwrap();
    let mut text = format!(
        "{head}  <UnitDefinitions><Unit name=\"N.m\"><BaseUnit kg=\"1\" m=\"2\" s=\"-2\"/></Unit></UnitDefinitions>\n  \
         <TypeDefinitions><Float64Type name=\"Torque\" quantity=\"Torque\" unit=\"N.m\"/></TypeDefinitions>\n  \
         <LogCategories>{variables}"
    );
    let there = description::parse(&own).unwrap().variables.len() as u32;
    for number in 0..VARIABLES - there {
        let kind = match number % 4 {
            0 => "<Float64 causality=\"parameter\" variability=\"fixed\" initial=\"exact\" start=\"0.5\"",
            1 => {
                "<Float64 causality=\"local\" variability=\"continuous\" initial=\"calculated\" declaredType=\"Torque\""
            }
            2 => "<Float64 causality=\"calculatedParameter\" variability=\"fixed\" initial=\"calculated\"",
            _ => "<Boolean causality=\"local\" variability=\"discrete\" initial=\"calculated\"",
        };
        let name = format!("axis{}.gear.bearing[{number}].frame_a.t[{}]", number % 6 + 1, number % 3 + 1);
        let reference = 1000 + number;
        writeln!(text, "    {kind} name=\"{name}\" valueReference=\"{reference}\" description=\"torque in frame a\"/>")
            .unwrap();
    }
    text = text + "  </ModelVariables>" + structure;
    for number in (0..VARIABLES - there).filter(|number| number % 4 == 2) {
        let (reference, parameter) = (1000 + number, 998 + number);
        writeln!(text, "    <InitialUnknown valueReference=\"{reference}\" dependencies=\"{parameter}\"/>").unwrap();
    }
    text + "    <EventIndicator" + rest
}

/// The archive of it, with a binary.
fn archive(file: &Path, description: &str) {
    let cache = Cache::at(Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache"));
    let unpacked = Unpacked::open(&fmu("scale"), &cache).unwrap();
    let parsed = description::parse(description).unwrap();
    assert_eq!((parsed.variables.len() as u32, parsed.breaches()), (VARIABLES, Vec::new()));
    let library = unpacked.library_of(parsed.abi, &parsed.interfaces[0], &Default::default(), &cache).unwrap();
    let mut zip = zip::ZipWriter::new(fs::File::create(file).unwrap());
    let options = zip::write::SimpleFileOptions::default();
    let binary = format!("binaries/{}-linux/scale.so", std::env::consts::ARCH);
    for (name, content) in [("modelDescription.xml", description.as_bytes()), (&binary, &fs::read(library).unwrap())] {
        zip.start_file(name, options).unwrap();
        zip.write_all(content).unwrap();
    }
    zip.finish().unwrap();
}

/// Waits for a process that is to succeed: its processor time, and that of those that it has waited for.
fn processor_time(child: &Child) -> Duration {
    let pid = child.id() as libc::pid_t;
    // SAFETY: numbers alone, of which all may be 0.
    let (mut status, mut usage) = (0, unsafe { std::mem::zeroed::<libc::rusage>() });
    // SAFETY: a child of this process that nobody else waits for; both places can be written to.
    let ended = unsafe { libc::wait4(pid, &mut status, 0, &mut usage) };
    assert_eq!((ended, status), (pid, 0));
    let all = [usage.ru_utime, usage.ru_stime];
    all.map(|time| Duration::new(time.tv_sec as u64, time.tv_usec as u32 * 1000)).iter().sum()
}

/// The thesis: less than 2 s, by the clock on the wall.
#[test]
fn seven_thousand_variables_are_loaded_in_a_moment() {
    let place = Place::new();
    archive(&place.path("robot.fmu"), &description());
    let arguments =
        ["--stop-time", "0.001", "--output-interval", "0.001", "--output-variable", "energy", "-o", "out.csv"];
    let least = (0..5).map(|_| {
        let mut command = place.command(Path::new("robot.fmu"), &arguments);
        let took = processor_time(&command.stdin(Stdio::null()).spawn().unwrap());
        assert_eq!(fs::read_to_string(place.path("out.csv")).unwrap().lines().count(), 3);
        took
    });
    let least = least.min().unwrap();
    println!("{least:?}");
    assert!(least < LIMIT, "{least:?}");
}
