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
        let printed = String::from_utf8(output.stdout).unwrap();
        let mut rest = printed.as_str();
        // `[…]` stands for lines that are left out.
        for part in expected.split("[…]\n") {
            let at = rest.find(part).unwrap_or_else(|| panic!("{part}\nis not in\n{rest}"));
            assert!(at == 0 || rest.len() < printed.len(), "{command} prints more before\n{part}");
            rest = &rest[at + part.len()..];
        }
        assert!(rest.is_empty() || expected.ends_with("[…]\n"), "{command} also prints\n{rest}");
        shown += 1;
    }
    assert!(shown > 0);
}
