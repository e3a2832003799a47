//! Each verb as a user meets it: what it prints, and its exit code.
//!
//! The commands of a file of `transcripts` run one after the other in a copy of the folder `data`. With `UPDATE=1` in the
//! environment, the tests write what the commands print instead of comparing it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use toolbond_harness::files::Folder;
use toolbond_harness::peers;
use toolbond_harness::transcript::{Shell, replay};

fn here(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it").join(name)
}

/// One test, one file.
macro_rules! transcripts {
    ($($name:ident),*) => {
        $(
            #[test]
            fn $name() {
                let folder = Folder::copy_of(&here("data"));
                let servers = &peers::path("servers");
                let file = concat!("transcripts/", stringify!($name), ".txt");
                // Clients have their configurations in the home folder, unless these variables name others.
                let home = folder.path().to_str().unwrap();
                let shell = Shell::new(folder.path()).env("HOME", home).env("SERVERS", servers.to_str().unwrap());
                let others = ["XDG_CONFIG_HOME", "XDG_DATA_HOME", "CODEX_HOME", "CLAUDE_CONFIG_DIR"];
                let shell = others.into_iter().fold(shell, |shell, name| shell.env(name, ""));
                replay(&here(file), shell);
            }
        )*

        #[test]
        fn every_transcript_is_run() {
            let files = fs::read_dir(here("transcripts")).unwrap();
            let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
            let expected = [$(concat!(stringify!($name), ".txt")),*].map(str::to_owned);
            assert_eq!(names.collect::<BTreeSet<_>>(), BTreeSet::from(expected));
        }
    };
}

transcripts! {
    bowtie, bundle, check, convert, demo, doctor, explain, ext_proc, guard, lift, lint, lint_baseline, lint_usage, project, targets,
    toolbond, unwrap, view, wrap
}
