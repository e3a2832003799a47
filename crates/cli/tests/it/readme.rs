//! The commands that the README shows print what it says.

use crate::command::toolpact;

#[test]
fn shows_what_the_command_prints() {
    let readme = include_str!("../../../../README.md");
    let mut shown = 0;
    for block in readme.split("```console\n").skip(1) {
        let block = block.split("```").next().unwrap();
        let (command, expected) = block.split_once('\n').unwrap();
        let arguments: Vec<_> = command.split(' ').skip(2).collect();
        let output = toolpact(&arguments).output().unwrap();
        assert_eq!(String::from_utf8(output.stdout).unwrap().trim_end(), expected.trim_end());
        shown += 1;
    }
    assert!(shown > 0);
}
