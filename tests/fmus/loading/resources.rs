//! The FMU is told where its resources are, and can read them there.

use crate::loading::{copy, edit, ours};
use crate::program::{Outcome, Rig};
use std::ffi::OsStr;
use std::fs::File;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Lets the matrix gain read K(1,1) from a table among its resources; without any, it is -1.
fn reading(folder: &Path) {
    copy(&ours("matrix_gain"), folder);
    let source = folder.join("sources/matrix_gain.c");
    edit(&source, "#include <stdlib.h>", "#include <stdio.h>\n#include <stdlib.h>");
    edit(&source, "    (void)resourcePath, (void)visible;\n    struct", "    (void)visible;\n    struct");
    edit(
        &source,
        "    return fmu;\n}\n\nvoid fmi3FreeInstance",
        "    char path[4096];\n\
             snprintf(path, sizeof path, \"%stable.txt\", resourcePath ? resourcePath : \"\");\n\
             FILE *table = resourcePath ? fopen(path, \"r\") : NULL;\n\
             if (!resourcePath) fmu->k[0][0] = -1;\n\
             else if (!table || fscanf(table, \"%lf\", &fmu->k[0][0]) != 1) return NULL;\n\
             if (table) fclose(table);\n\
             return fmu;\n}\n\nvoid fmi3FreeInstance",
    );
}

/// Y(1,1) = K(1,1)·1 + 2·3.
fn result(outcome: &Outcome) -> f64 {
    outcome.signals().column("m.Y[1,1]").last().unwrap().parse().unwrap()
}

fn rig(path: &str) -> Rig {
    Rig::of_text(&format!(
        "[rig]\nmode = \"virtual\"\nstop_time = 0.02\n[fmu.m]\npath = '{path}'\n[record]\nsignals = [\"m.Y*\"]\n"
    ))
}

#[test]
fn a_table_is_read_through_a_path_with_blanks_and_umlauts() {
    for packed in [false, true] {
        let name = "mit Leerzeichen/Ärger & 50% 日本/m";
        let rig = rig(&format!("{name}{}", if packed { ".fmu" } else { "" }));
        let folder = rig.folder().join(name);
        reading(&folder);
        std::fs::create_dir(folder.join("resources")).unwrap();
        std::fs::write(folder.join("resources/table.txt"), "36").unwrap();
        if packed {
            pack(&folder, &rig.folder().join(format!("{name}.fmu")));
            std::fs::remove_dir_all(&folder).unwrap();
        }
        // An archive is unpacked into the cache, and sources are built there, so that has such a name, too, or one that is no UTF-8.
        for cache in ["Zwischen speicher ü".as_bytes(), b"lat\xe4/c"] {
            let mut command = rig.command();
            command.env("VECUD_CACHE", rig.folder().join(OsStr::from_bytes(cache)));
            let outcome = rig.finish(rig.start(command)).exits(0);
            assert_eq!(result(&outcome), 42.0, "packed: {packed}, {cache:?}");
        }
    }
}

#[test]
fn without_resources_the_path_is_null() {
    let rig = rig("m");
    reading(&rig.folder().join("m"));
    assert_eq!(result(&rig.run().exits(0)), 5.0);
}

fn pack(folder: &Path, archive: &Path) {
    let mut zip = zip::ZipWriter::new(File::create(archive).unwrap());
    for part in ["", "sources", "resources"] {
        for entry in std::fs::read_dir(folder.join(part)).unwrap().map(Result::unwrap) {
            if entry.path().is_file() {
                let name = Path::new(part).join(entry.file_name());
                zip.start_file(name.to_str().unwrap(), zip::write::SimpleFileOptions::default()).unwrap();
                zip.write_all(&std::fs::read(entry.path()).unwrap()).unwrap();
            }
        }
    }
    zip.finish().unwrap();
}
