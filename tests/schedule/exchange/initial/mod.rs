//! What FMUs that feed each other start with, through the whole program (semantics S11). The FMU here is y1 = a1·u1 + b1 beside
//! y2 = a2·u2 + b2, in all versions: of two such, each may feed the other without a circle of variables.

use super::program::{Outcome, Rig};
use std::fs;
use std::path::Path;

/// Sources of all versions.
const SOURCES: [(&str, &str); 10] = [
    ("affine.c", include_str!("affine.c")),
    ("equations.h", include_str!("../../../../fmus/common/equations.h")),
    ("equations.c", include_str!("../../../../fmus/common/equations.c")),
    ("fmi1_equations.c", include_str!("../../../../fmus/common/fmi1_equations.c")),
    ("fmi2_equations.c", include_str!("../../../../fmus/common/fmi2_equations.c")),
    ("fmi3_equations.c", include_str!("../../../../fmus/common/fmi3_equations.c")),
    ("fmi3_alike.c", include_str!("../../../../fmus/common/fmi3_alike.c")),
    ("fmi3_alike.h", include_str!("../../../../fmus/common/fmi3_alike.h")),
    ("fmi3_base.c", include_str!("../../../../fmus/common/fmi3_base.c")),
    ("fmi3_base.h", include_str!("../../../../fmus/common/fmi3_base.h")),
];

const BUILD: &str = "<fmiBuildDescription fmiVersion=\"3.0\"><BuildConfiguration modelIdentifier=\"m\"><SourceFileSet language=\"C11\">\
    <SourceFile name=\"affine.c\"/><SourceFile name=\"equations.c\"/>\
    <SourceFile name=\"fmi3_equations.c\"/><SourceFile name=\"fmi3_alike.c\"/><SourceFile name=\"fmi3_base.c\"/><PreprocessorDefinition name=\"_GNU_SOURCE\"/></SourceFileSet><Library name=\"m\" external=\"true\"/></BuildConfiguration></fmiBuildDescription>";

const WHOLE: &str = "#define KEEPS\n#include \"equations.c\"\n#include \"affine.c\"\n#include \"fmi1_equations.c\"\n";

/// The FMU in a version (3, 2, 1), in a folder of its own. In FMI 1.0 its outputs are those of the inputs at the initialisation.
fn write(to: &Path, version: u32) {
    let sources = to.join("sources");
    fs::create_dir_all(&sources).unwrap();
    for (name, text) in SOURCES {
        fs::write(sources.join(name), text).unwrap();
    }
    match version {
        3 => fs::write(sources.join("buildDescription.xml"), BUILD).unwrap(),
        2 => {}
        // FMI 1.0 has no list of sources.
        _ => fs::write(sources.join("m.c"), WHOLE).unwrap(),
    }
    fs::write(to.join("modelDescription.xml"), description(version)).unwrap();
}

fn description(version: u32) -> String {
    let parameters = ["a1", "b1", "a2", "b2"].into_iter().zip(5..);
    match version {
        3 => {
            let parameters = parameters.map(|(name, reference)| {
                format!(
                    "<Float64 name=\"{name}\" valueReference=\"{reference}\" causality=\"parameter\" variability=\"fixed\" start=\"0\"/>"
                )
            });
            format!(
                "<fmiModelDescription fmiVersion=\"3.0\" modelName=\"m\" instantiationToken=\"{{affine}}\">\
                 <ModelExchange modelIdentifier=\"m\"/><ModelVariables>\
                 <Float64 name=\"time\" valueReference=\"0\" causality=\"independent\" variability=\"continuous\"/>\
                 <Float64 name=\"u1\" valueReference=\"1\" causality=\"input\" start=\"0\"/>\
                 <Float64 name=\"u2\" valueReference=\"2\" causality=\"input\" start=\"0\"/>\
                 <Float64 name=\"y1\" valueReference=\"3\" causality=\"output\"/><Float64 name=\"y2\" valueReference=\"4\" causality=\"output\"/>\
                 {}</ModelVariables><ModelStructure><Output valueReference=\"3\" dependencies=\"1\"/>\
                 <Output valueReference=\"4\" dependencies=\"2\"/><InitialUnknown valueReference=\"3\" dependencies=\"1 5 6\"/>\
                 <InitialUnknown valueReference=\"4\" dependencies=\"2 7 8\"/></ModelStructure></fmiModelDescription>",
                parameters.collect::<String>()
            )
        }
        2 => {
            let parameters = parameters.map(|(name, reference)| {
                format!(
                    "<ScalarVariable name=\"{name}\" valueReference=\"{reference}\" causality=\"parameter\" variability=\"fixed\">\
                     <Real start=\"0\"/></ScalarVariable>"
                )
            });
            format!(
                "<fmiModelDescription fmiVersion=\"2.0\" modelName=\"m\" guid=\"{{affine}}\" numberOfEventIndicators=\"0\">\
                 <ModelExchange modelIdentifier=\"m\"><SourceFiles><File name=\"affine.c\"/><File name=\"equations.c\"/>\
                 <File name=\"fmi2_equations.c\"/></SourceFiles></ModelExchange><ModelVariables>\
                 <ScalarVariable name=\"u1\" valueReference=\"1\" causality=\"input\"><Real start=\"0\"/></ScalarVariable>\
                 <ScalarVariable name=\"u2\" valueReference=\"2\" causality=\"input\"><Real start=\"0\"/></ScalarVariable>\
                 <ScalarVariable name=\"y1\" valueReference=\"3\" causality=\"output\"><Real/></ScalarVariable>\
                 <ScalarVariable name=\"y2\" valueReference=\"4\" causality=\"output\"><Real/></ScalarVariable>{}</ModelVariables>\
                 <ModelStructure><Outputs><Unknown index=\"3\" dependencies=\"1\"/><Unknown index=\"4\" dependencies=\"2\"/></Outputs>\
                 <InitialUnknowns><Unknown index=\"3\" dependencies=\"1 5 6\"/><Unknown index=\"4\" dependencies=\"2 7 8\"/>\
                 </InitialUnknowns></ModelStructure></fmiModelDescription>",
                parameters.collect::<String>()
            )
        }
        _ => {
            let parameters = parameters.map(|(name, reference)| {
                format!(
                    "<ScalarVariable name=\"{name}\" valueReference=\"{reference}\" variability=\"parameter\"><Real start=\"0\"/>\
                     </ScalarVariable>"
                )
            });
            format!(
                "<fmiModelDescription fmiVersion=\"1.0\" modelName=\"m\" modelIdentifier=\"m\" guid=\"{{affine}}\" \
                 numberOfContinuousStates=\"0\" numberOfEventIndicators=\"0\"><ModelVariables>\
                 <ScalarVariable name=\"u1\" valueReference=\"1\" causality=\"input\"><Real start=\"0\"/></ScalarVariable>\
                 <ScalarVariable name=\"u2\" valueReference=\"2\" causality=\"input\"><Real start=\"0\"/></ScalarVariable>\
                 <ScalarVariable name=\"y1\" valueReference=\"3\" causality=\"output\"><Real/><DirectDependency><Name>u1</Name>\
                 </DirectDependency></ScalarVariable>\
                 <ScalarVariable name=\"y2\" valueReference=\"4\" causality=\"output\"><Real/><DirectDependency><Name>u2</Name>\
                 </DirectDependency></ScalarVariable>{}</ModelVariables></fmiModelDescription>",
                parameters.collect::<String>()
            )
        }
    }
}

/// The factors; products with them are exact, whether or not a compiler rounds before the sum.
const FACTORS: [f64; 2] = [0.5, -0.25];

/// What an FMU of this name adds.
fn offsets(name: &str) -> [f64; 2] {
    let number = f64::from(name.as_bytes()[0] - b'a');
    [0.1 + number, 1.0 / (3.0 + number)]
}

/// An output for what feeds it.
fn y(name: &str, number: usize, u: f64) -> f64 {
    FACTORS[number - 1] * u + offsets(name)[number - 1]
}

/// A run of such FMUs, which have names and versions, in this order, with connections like `a.y1 b.u1`; all is recorded.
fn run(fmus: &[(&str, u32)], connections: &[&str]) -> Outcome {
    let tables = fmus.iter().map(|(name, version)| {
        let [b1, b2] = offsets(name);
        format!(
            "[fmu.{name}]\npath = 'v{version}'\nstep = '1/10'\n\
             start = {{ a1 = {:?}, b1 = {b1:?}, a2 = {:?}, b2 = {b2:?}, u1 = 7.0, u2 = 7.0 }}\n",
            FACTORS[0], FACTORS[1]
        )
    });
    let connections = connections.iter().map(|ends| {
        let (from, to) = ends.split_once(' ').unwrap();
        format!("[[connect]]\nfrom = '{from}'\nto = '{to}'\n")
    });
    let tables: String = tables.chain(connections).collect();
    let rig = Rig::of_text(&format!("[rig]\nstop_time = 0.2\n[record]\n{tables}"));
    for version in [3, 2, 1] {
        write(&rig.folder().join(format!("v{version}")), version);
    }
    rig.run_virtual().exits(0)
}

/// What a column begins with.
#[track_caller]
fn first(outcome: &Outcome, column: &str) -> f64 {
    outcome.signals().column(column)[0].parse().unwrap()
}

fn notes(outcome: &Outcome) -> Vec<String> {
    let report = outcome.report();
    let all = report["notes"].as_array().unwrap().iter().map(|note| note.as_str().unwrap().to_owned());
    all.filter(|note| note.contains("start value")).collect()
}

/// All orders of three.
fn orders<T: Copy>(of: [T; 3]) -> [[T; 3]; 6] {
    let [a, b, c] = of;
    [[a, b, c], [a, c, b], [b, a, c], [b, c, a], [c, a, b], [c, b, a]]
}

/// There, back, and there again: as whole FMUs all three are one circle, their variables are a chain.
#[test]
fn a_circle_of_fmus_that_is_none_of_variables_starts_right_in_any_order_of_the_rig() {
    let connections = ["a.y1 b.u1", "b.y1 c.u1", "c.y1 a.u2", "a.y2 b.u2", "b.y2 c.u2"];
    let ay1 = y("a", 1, 7.0);
    let by1 = y("b", 1, ay1);
    let cy1 = y("c", 1, by1);
    let ay2 = y("a", 2, cy1);
    let by2 = y("b", 2, ay2);
    let expected = [
        ("b.u1", ay1),
        ("c.u1", by1),
        ("a.u2", cy1),
        ("a.y2", ay2),
        ("b.u2", ay2),
        ("c.u2", by2),
        ("c.y2", y("c", 2, by2)),
    ];
    for order in orders([("a", 3), ("b", 2), ("c", 3)]) {
        let outcome = run(&order, &connections);
        for (column, value) in expected {
            assert_eq!(first(&outcome, column).to_bits(), value.to_bits(), "{column} of {order:?}");
        }
        assert_eq!(notes(&outcome), [""; 0], "{order:?}");
    }
}

/// It gets its inputs before its initialisation and gives outputs after it, wherever it stands in the rig.
#[test]
fn an_fmu_of_fmi_1_in_the_midst_of_others_starts_right_in_any_order_of_the_rig() {
    let ay1 = y("a", 1, 7.0);
    let by1 = y("b", 1, ay1);
    let cy1 = y("c", 1, by1);
    for order in orders([("a", 3), ("b", 1), ("c", 2)]) {
        let outcome = run(&order, &["a.y1 b.u1", "b.y1 c.u1", "c.y1 a.u2"]);
        for (column, value) in [("b.u1", ay1), ("b.y1", by1), ("c.u1", by1), ("a.u2", cy1), ("a.y2", y("a", 2, cy1))] {
            assert_eq!(first(&outcome, column).to_bits(), value.to_bits(), "{column} of {order:?}");
        }
        assert_eq!(notes(&outcome), [""; 0], "{order:?}");
    }
}

/// In a circle of variables one keeps its start value, and others start with what follows from that.
#[test]
fn a_circle_of_variables_keeps_a_start_value_and_is_named() {
    let outcome = run(&[("a", 3), ("b", 2)], &["a.y1 b.u1", "b.y1 a.u1", "b.y2 a.u2"]);
    let ay1 = y("a", 1, 7.0);
    for (column, value) in [("a.u1", 7.0), ("b.u1", ay1), ("b.y1", y("b", 1, ay1)), ("a.u2", y("b", 2, 7.0))] {
        assert_eq!(first(&outcome, column).to_bits(), value.to_bits(), "{column}");
    }
    let [note] = &notes(&outcome)[..] else { panic!("{:?}", notes(&outcome)) };
    assert!(note.starts_with("a.u1 starts with its own start value: it gets b.y1 only"), "{note}");
    assert!(note.ends_with("(a.u1, a.y1, b.u1, b.y1 depend on each other)"), "{note}");
}
