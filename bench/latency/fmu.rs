//! The FMUs of the benchmark, made for each rig: what they do is `bench/idle` and `bench/tick`, which clocks they have is
//! written here.

use std::fmt::Write as _;
use std::path::Path;

/// A clock of an FMU, with as many inputs and as many outputs.
pub struct Clock {
    /// Seconds as in the XML; `None`: triggered.
    pub interval: Option<&'static str>,
    /// Seconds as in the XML.
    pub shift: &'static str,
    pub priority: u32,
    pub values: usize,
}

/// An unpacked FMU with that library and these clocks, `c0` and so on, in `folder/name`; with an output clock `tick` of the
/// first one if that is wanted.
pub fn write(folder: &Path, name: &str, library: &Path, clocks: &[Clock], ticks: bool) -> Result<(), String> {
    let model = library.file_stem().expect("a library").to_string_lossy();
    let folder = folder.join(name);
    let binaries = folder.join("binaries").join(format!("{}-linux", std::env::consts::ARCH));
    let all = || -> std::io::Result<()> {
        std::fs::create_dir_all(&binaries)?;
        std::fs::copy(library, binaries.join(format!("{model}.so")))?;
        std::fs::write(folder.join("modelDescription.xml"), description(&model, clocks, ticks))
    };
    all().map_err(|error| format!("{}: {error}", folder.display()))
}

fn description(model: &str, clocks: &[Clock], ticks: bool) -> String {
    let mut xml = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<fmiModelDescription fmiVersion=\"3.0\" modelName=\"{model}\" \
         instantiationToken=\"{{vecud-idle}}\">\n<ScheduledExecution modelIdentifier=\"{model}\"/>\n<ModelVariables>\n\
         <Float64 name=\"time\" valueReference=\"0\" causality=\"independent\" variability=\"continuous\"/>\n"
    );
    let mut outputs = Vec::new();
    let mut next = clocks.len() as u32 + 2;
    for (number, clock) in clocks.iter().enumerate() {
        let reference = number + 1;
        let kind = match clock.interval {
            Some(interval) => format!(
                "intervalVariability=\"constant\" intervalDecimal=\"{interval}\" shiftDecimal=\"{}\"",
                clock.shift
            ),
            None => "intervalVariability=\"triggered\"".to_owned(),
        };
        let _ = writeln!(
            xml,
            "<Clock name=\"c{number}\" valueReference=\"{reference}\" causality=\"input\" priority=\"{}\" {kind}/>",
            clock.priority
        );
        for value in 0..clock.values {
            let _ = writeln!(
                xml,
                "<Float64 name=\"u{number}_{value}\" valueReference=\"{next}\" causality=\"input\" variability=\"discrete\" \
                 clocks=\"{reference}\" start=\"0\"/>\n<Float64 name=\"y{number}_{value}\" valueReference=\"{}\" \
                 causality=\"output\" variability=\"discrete\" clocks=\"{reference}\"/>",
                next + 1
            );
            outputs.push(next + 1);
            next += 2;
        }
    }
    if ticks {
        let reference = clocks.len() + 1;
        let _ = writeln!(
            xml,
            "<Clock name=\"tick\" valueReference=\"{reference}\" causality=\"output\" variability=\"discrete\" clocks=\"1\" \
             intervalVariability=\"triggered\"/>"
        );
        outputs.push(reference as u32);
    }
    xml += "</ModelVariables>\n<ModelStructure>\n";
    for output in outputs {
        let _ = writeln!(xml, "<Output valueReference=\"{output}\"/>");
    }
    xml + "</ModelStructure>\n</fmiModelDescription>\n"
}
