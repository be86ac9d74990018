//! FMUs for Co-Simulation of FMI 1.0 and 2.0: their descriptions, archives and sources. What is not refused runs.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

use crate::mutations::chance::Chance;
use crate::mutations::raw_zip::{Entry, archive, stored};
use crate::mutations::trial::{Outcome, words};
use crate::mutations::{Kind, archives, campaign, descriptions, text};

/// A good FMU of one version.
struct Seed {
    description: &'static str,
    /// What the source begins with.
    head: &'static str,
    functions: &'static str,
    /// The files of `sources/` that the description lists, or that the version finds without a list.
    sources: [&'static str; 2],
    platform: &'static str,
}

static SEEDS: [Seed; 2] = [
    Seed {
        description: include_str!("fmi1.xml"),
        head: "#define MODEL_IDENTIFIER integrator\n#include \"fmiFunctions.h\"\n",
        functions: include_str!("../../archive/earlier/integrator1.c"),
        sources: ["model.c", "gain.c"],
        platform: "linux64",
    },
    Seed {
        description: include_str!("fmi2.xml"),
        head: "#define FMI2_FUNCTION_PREFIX integrator_\n#include \"fmi2Functions.h\"\n",
        functions: include_str!("../../archive/earlier/integrator2.c"),
        sources: ["model.c", "lib/gain.c"],
        platform: "linux64",
    },
];

impl Seed {
    /// What is in `sources/`.
    fn files(&self) -> [(&'static str, String); 2] {
        let model =
            format!("{}#include <string.h>\ndouble gain(void);\n#define GAIN gain()\n{}", self.head, self.functions);
        [(self.sources[0], model), (self.sources[1], "double gain(void) { return 3.0; }\n".to_owned())]
    }

    /// Its library, built once, as another tool would build it: with the headers of the FMI standard and without vecud.
    fn library(&self) -> Vec<u8> {
        let folder = crate::program::tempdir().unwrap();
        let (source, built) = (folder.path().join("all.c"), folder.path().join("integrator.so"));
        let text: String = self.files().into_iter().rev().map(|(_, text)| text).collect();
        // FMI 2.0 has plain names in shared libraries.
        fs::write(&source, text.replace("#define FMI2_FUNCTION_PREFIX integrator_\n", "")).unwrap();
        let headers = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/fmu/src/headers");
        let mut compiler = Command::new("cc");
        compiler.args(["-shared", "-fPIC", "-O1", "-w", "-I"]).arg(headers).arg("-o").arg(&built).arg(&source);
        assert!(compiler.status().unwrap().success());
        fs::read(built).unwrap()
    }
}

/// The libraries of [`SEEDS`].
fn libraries() -> &'static [Vec<u8>; 2] {
    static BUILT: OnceLock<[Vec<u8>; 2]> = OnceLock::new();
    BUILT.get_or_init(|| [SEEDS[0].library(), SEEDS[1].library()])
}

/// A rig of one FMU with nearly all that a step can be connected to and recorded with, and the words that read it.
fn rig(fmu: &str, folder: &Path, chance: &mut Chance) -> Vec<String> {
    let rig = format!(
        "[rig]\nmode = 'virtual'\nstop_time = 0.1\n[fmu.a]\npath = '{fmu}'\nstep = 0.01\nstart = {{ u = 2.0 }}\n\
         [[connect]]\nfrom = 'a.x'\nto = 'a.u'\n[record]\nsignals = ['*']\n"
    );
    fs::write(folder.join("suspect.toml"), rig).unwrap();
    let how =
        ["inspect FMU", "inspect --json FMU", "check FMU", "check suspect.toml", "run suspect.toml --out out --quiet"];
    // Each third one is run, since that reads most.
    let how = if chance.below(3) == 0 { how[4] } else { chance.word(&how) };
    words(&how.replace("FMU", fmu))
}

/// A refusal begins with its place: a line of the rig or of the description, a file of the FMU, or the FMU as a whole.
fn has_a_place(_: &Path, outcome: &Outcome) -> Result<(), String> {
    let first = outcome.stderr.lines().next().unwrap_or_default();
    let places = ["suspect.toml:", "suspect: ", "suspect/", "fmu `a` (suspect): "];
    if outcome.accepted() || places.iter().any(|place| first.starts_with(place)) {
        return Ok(());
    }
    Err("no place in the first line".to_owned())
}

#[test]
fn descriptions_of_earlier_versions_run_or_are_refused() {
    let libraries = libraries();
    campaign(&Kind {
        test: "descriptions_of_earlier_versions_run_or_are_refused",
        usually: 200,
        culprit: "suspect",
        lay: &|chance, folder| {
            let number = chance.below(2);
            let seed = &SEEDS[number];
            let binaries = folder.join("suspect/binaries").join(seed.platform);
            fs::create_dir_all(&binaries).unwrap();
            fs::write(binaries.join("integrator.so"), &libraries[number]).unwrap();
            let mut text = seed.description.to_owned();
            descriptions::mutate(&mut text, chance);
            fs::write(folder.join("suspect/modelDescription.xml"), text).unwrap();
            rig("suspect", folder, chance)
        },
        look: &has_a_place,
    });
}

#[test]
fn archives_of_earlier_versions_run_or_are_refused() {
    let libraries = libraries();
    let entries = |number: usize| -> Vec<Entry> {
        let seed = &SEEDS[number];
        let sources = seed.files().map(|(name, text)| stored(format!("sources/{name}"), text));
        let mut all = vec![
            stored("modelDescription.xml", seed.description),
            stored("resources/", ""),
            stored("resources/data.bin", [7; 300]),
            stored(format!("binaries/{}/integrator.so", seed.platform), &libraries[number]),
        ];
        all.extend(sources);
        all
    };
    campaign(&Kind {
        test: "archives_of_earlier_versions_run_or_are_refused",
        usually: 200,
        culprit: "suspect.fmu",
        lay: &|chance, folder| {
            let mut entries = entries(chance.below(2));
            for _ in 0..chance.below(4) {
                archives::change(&mut entries, chance);
            }
            let mut bytes = archive(&entries);
            // The code of a library is nobody's to check: what is damaged lies before or behind it.
            if chance.below(2) > 0 {
                let library = entries.iter().position(|entry| entry.name.ends_with(b".so")).unwrap_or(0);
                damage_around(&mut bytes, &entries[library].data, chance);
            }
            fs::write(folder.join("suspect.fmu"), bytes).unwrap();
            fs::create_dir(folder.join("cache")).unwrap();
            rig("suspect.fmu", folder, chance)
        },
        look: &archives::unpacked,
    });
}

/// Damages an archive before or behind these bytes of it.
fn damage_around(bytes: &mut Vec<u8>, kept: &[u8], chance: &mut Chance) {
    let start = bytes.windows(kept.len().max(1)).position(|window| window == kept).unwrap_or(bytes.len());
    let end = (start + kept.len()).min(bytes.len());
    let (mut before, mut behind) = (bytes[..start].to_vec(), bytes[end..].to_vec());
    let kept = bytes[start..end].to_vec();
    let damaged = if chance.below(2) == 0 { &mut before } else { &mut behind };
    chance.damage(damaged);
    *bytes = [before, kept, behind].concat();
}

/// A compiler runs for each of them, so there are few.
#[test]
fn sources_of_earlier_versions_are_built_or_refused() {
    campaign(&Kind {
        test: "sources_of_earlier_versions_are_built_or_refused",
        usually: 40,
        culprit: "suspect",
        lay: &|chance, folder| {
            let seed = &SEEDS[chance.below(2)];
            let mut description = seed.description.to_owned();
            let mut files = seed.files().map(|(name, text)| (name.to_owned(), text));
            match chance.below(4) {
                0 => text::replace(&mut description, &listed(seed.description), chance),
                1 => text::damage(&mut files[chance.below(2)].1, chance),
                2 => {
                    files[chance.below(2)].0 =
                        chance.word(&["all.c", "model.h", "a b.c", "integrator.c", "x/y/z.c"]).to_owned()
                }
                _ => descriptions::mutate(&mut description, chance),
            }
            for (name, text) in &files {
                let file = folder.join("suspect/sources").join(name);
                fs::create_dir_all(file.parent().unwrap()).unwrap();
                fs::write(file, text).unwrap();
            }
            fs::write(folder.join("suspect/modelDescription.xml"), description).unwrap();
            fs::create_dir(folder.join("cache")).unwrap();
            rig("suspect", folder, chance)
        },
        look: &has_a_place,
    });
}

/// The places of names of source files and of the library in a description.
fn listed(text: &str) -> Vec<std::ops::Range<usize>> {
    let of = |range: &std::ops::Range<usize>| {
        let before = &text[..range.start];
        before.ends_with("<File name=\"") || before.ends_with("modelIdentifier=\"") || before.ends_with("fmiVersion=\"")
    };
    text::quoted(text, '"').into_iter().filter(of).collect()
}
