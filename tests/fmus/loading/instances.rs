//! Several instances of one FMU in one rig: each with its own state, all with one library.

use crate::loading::{copy, edit, ours};
use crate::program::{Rig, changed_tracer, real_time, shared_core};
use std::path::Path;

/// Instances of `own_state` with these periods of their clock `a`.
fn rig(instances: &[(&str, &str)]) -> Rig {
    let path = ours("own_state");
    instances.iter().fold(Rig::new("stop_time = 0.2\noverrun = \"queue\""), |rig, (name, interval)| {
        rig.more(&format!("[fmu.{name}]\npath = '{}'\nclock.a = {{ interval = {interval} }}", path.display()))
            .trigger(&format!("{name}.out_low"), &format!("{name}.later"))
    })
}

#[test]
fn instances_of_one_fmu_have_states_of_their_own() {
    let instances = [("x", "0.004"), ("y", "0.01"), ("z", "0.004")];
    let together = rig(&instances).run_virtual().exits(0);
    let columns = ["x_a", "x_b", "x_c", "x_d", "x_later", "n_a", "n_later"];
    for instance in instances {
        let alone = rig(&[instance]).run_virtual().exits(0);
        for column in columns {
            let name = format!("{}.{column}", instance.0);
            let last = |outcome: &crate::program::Outcome| outcome.signals().column(&name).last().unwrap().to_string();
            assert_eq!(last(&together), last(&alone), "{name}: as if it were alone");
        }
    }
    assert_eq!(together.signals().last("x.n_a"), 50);
    assert_eq!(together.signals().last("y.n_a"), 20);
    let statuses = ["x", "y", "z"].map(|name| together.status(name));
    assert_eq!(statuses, ["terminated"; 3]);
}

#[test]
fn so_they_have_in_real_time() {
    real_time("so_they_have_in_real_time", || {
        let instances = [("x", "0.015"), ("y", "0.02"), ("z", "0.015")];
        let expected = rig(&instances).run_virtual().exits(0);
        let found = rig(&instances).run().exits(0);
        for (name, _) in instances {
            // However late on this machine: releases, at most 14 of a clock, are queued and run at their own times.
            for column in ["x_a", "x_b", "x_c", "x_d"] {
                let last = |outcome: &crate::program::Outcome| {
                    outcome.signals().column(&format!("{name}.{column}")).last().unwrap().to_string()
                };
                assert_eq!(last(&found), last(&expected), "{name}.{column}");
            }
        }
    });
}

#[test]
fn their_library_is_loaded_once() {
    shared_core(|| {
        let rig = Rig::new("stop_time = 0.02\nmode = \"virtual\"");
        let loads = rig.folder().join("loads");
        let constructor = format!(
            "#include \"tracer.h\"\n#include <fcntl.h>\n#include <unistd.h>\n\
         __attribute__((constructor)) static void note_the_load(void)\n{{\n\
             int file = open(\"{}\", O_WRONLY | O_CREAT | O_APPEND, 0600);\n\
             if (write(file, \"x\", 1) == 1) close(file);\n}}\n",
            loads.display()
        );
        let fmu = changed_tracer(rig.folder(), "fmu.c", &[("#include \"tracer.h\"\n", &constructor)]);
        // By three ways that lead to the same folder.
        let round: &Path = &fmu.join("sources/..");
        let outcome = rig
            .fmu("a", fmu.clone(), "", "")
            .fmu("b", fmu.clone(), "", "")
            .fmu("c", round.to_owned(), "", "")
            .run()
            .exits(0);
        assert_eq!(std::fs::read_to_string(loads).unwrap(), "x");
        for name in ["a", "b", "c"] {
            assert_eq!(outcome.status(name), "terminated");
            let trace = outcome.trace(name);
            assert_eq!((trace.activations(1).len(), trace.violations()), (20, 0), "{name}");
        }
    });
}

/// What an instance is told when it is made: its name in the rig, the token of its description, that nobody watches.
#[test]
fn an_instance_is_told_who_it_is() {
    let rig = Rig::of_text(
        "[rig]\nmode = \"virtual\"\nstop_time = 0.02\n[fmu.first]\npath = 'm'\n[fmu.second]\npath = 'm'\n",
    );
    let folder = rig.folder().join("m");
    copy(&ours("matrix_gain"), &folder);
    edit(&folder.join("modelDescription.xml"), "{vecud-matrix-gain-1}", " {a &lt;token> ü  } ");
    let source = folder.join("sources/matrix_gain.c");
    edit(&source, "{vecud-matrix-gain-1}", " {a <token> ü  } ");
    edit(
        &source,
        "    (void)resourcePath, (void)visible;\n    struct",
        "    (void)resourcePath;\n\
             static int made;\n\
             if (visible || strcmp(instanceName, made++ ? \"second\" : \"first\") != 0) return NULL;\n    struct",
    );
    let outcome = rig.run().exits(0);
    assert_eq!([outcome.status("first"), outcome.status("second")], ["terminated"; 2]);
}

#[test]
fn references_in_log_messages_become_names() {
    let rig = Rig::of_text("[rig]\nmode = \"virtual\"\nstop_time = 0.02\n[fmu.m]\npath = 'm'\n");
    let folder = rig.folder().join("m");
    copy(&ours("matrix_gain"), &folder);
    edit(
        &folder.join("sources/matrix_gain.c"),
        "    return enter(instance, FMU_INITIALIZATION",
        "    static char message[] = \"#3# must be larger than zero (used in IO channel ##4)\\nand #99# too\";\n\
             struct fmu_base *base = instance;\n\
             base->log_message(base->environment, fmi3OK, \"logEvents\", message);\n\
             memset(message, 'x', sizeof message - 1); /* what is logged is the importer's for the call only */\n\
             return enter(instance, FMU_INITIALIZATION",
    );
    let log = rig.run().exits(0).file("run.log");
    assert!(log.contains("m: [logEvents] K must be larger than zero (used in IO channel #4)\n"), "{log}");
    assert!(log.contains("and #99# too\n") && !log.contains("xxx"), "{log}");
}
