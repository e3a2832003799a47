//! What a file was before.

use std::fs;
use std::path::{Path, PathBuf};

use toolbond_clients::{Lock, Record};

/// A folder for the test of this name.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("records").join(name);
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn path(&self) -> &Path {
        &self.0
    }
}

#[test]
fn a_record_tells_what_was_before_and_what_was_written() {
    let folder = Folder::new("written");
    let (data, path) = (folder.path().join("data"), folder.path().join("a.json"));
    assert_eq!(Record::read(&data, &path), None);
    Record::write(&data, &path, "before", "written").unwrap();
    let record = Record::read(&data, &path).unwrap();
    assert_eq!(record.before, "before");
    assert!(record.is_unchanged("written") && !record.is_unchanged("before"));
    // The record of another file is another one.
    assert_eq!(Record::read(&data, &folder.path().join("b.json")), None);
    record.delete().unwrap();
    assert_eq!(Record::read(&data, &path), None);
}

#[test]
fn a_damaged_record_is_none() {
    let folder = Folder::new("damaged");
    let (data, path) = (folder.path().join("data"), folder.path().join("a.json"));
    let record = Record::write(&data, &path, "before", "written").unwrap();
    fs::write(record.copy(), "something else").unwrap();
    assert_eq!(Record::read(&data, &path), None);
    let record = Record::write(&data, &path, "before", "written").unwrap();
    fs::write(record.copy().with_file_name("wrapped.json"), "{").unwrap();
    assert_eq!(Record::read(&data, &path), None);
}

/// The earlier record is there until the later one is whole.
#[test]
fn a_record_that_is_not_written_leaves_the_earlier_one() {
    let folder = Folder::new("kept");
    let (data, path) = (folder.path().join("data"), folder.path().join("a.json"));
    let record = Record::write(&data, &path, "before", "written").unwrap();
    let obstacle = record.copy().with_file_name("wrapped.new");
    fs::create_dir(&obstacle).unwrap();
    Record::write(&data, &path, "later", "written later").unwrap_err();
    assert_eq!(Record::read(&data, &path), Some(record));
    fs::remove_dir(obstacle).unwrap();
    let later = Record::write(&data, &path, "later", "written later").unwrap();
    assert_eq!(Record::read(&data, &path).as_ref(), Some(&later));
    // No copy of a configuration stays longer than it is needed.
    assert_eq!(fs::read_dir(later.copy().parent().unwrap()).unwrap().count(), 2);
}

/// Configurations have secrets.
#[cfg(unix)]
#[test]
fn others_cannot_read_it() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = Folder::new("private");
    let data = folder.path().join("data");
    let record = Record::write(&data, &folder.path().join("a.json"), "before", "written").unwrap();
    let mode = |path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(record.copy()), 0o600);
    assert_eq!(mode(record.copy().parent().unwrap()), 0o700);
}

#[test]
fn one_command_waits_for_another() {
    let folder = Folder::new("locked");
    let data = folder.path().join("data");
    let held = Lock::acquire(&data).unwrap();
    let (sender, receiver) = std::sync::mpsc::channel();
    let waiting = std::thread::spawn(move || {
        let lock = Lock::acquire(&data).unwrap();
        sender.send(()).unwrap();
        drop(lock);
    });
    assert!(receiver.try_recv().is_err());
    drop(held);
    waiting.join().unwrap();
}
